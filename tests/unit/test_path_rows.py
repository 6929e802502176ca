"""Rows of an audit from results of its cases: correlations, titles, arms, notes. No Spark."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.audits import notes, path_rows
from fairscreen.audits.cells import cases
from fairscreen.audits.path_specific import outcome_items
from fairscreen.config import load
from fairscreen.estimators.results import EFFECTS


@pytest.fixture(scope="module")
def cfg():
    return load(resources.path("conf", "audits", "demo.yml"))


@pytest.fixture
def context(cfg):
    return path_rows.Context(cfg, "hash", "{}")


def influence(seed: int, n: int = 500) -> np.ndarray:
    """Made-up influence (n, 5) of the effects, with the exact identities among them."""
    nde, bie, rie = np.random.default_rng(seed).normal(0, (1.0, 2.0, 0.5), (n, 3)).T
    return np.stack([nde + bie + rie, nde, bie + rie, bie, rie], axis=1)


def test_correlation_of_effects_across_cases_follows_from_the_primary_ones(cfg) -> None:
    one, two = cases(cfg)[0], cases(cfg)[6]
    first = influence(1)
    second = influence(2) + 0.5 * first
    covariance = {one.index: np.cov(first.T, ddof=0), two.index: np.cov(second.T, ddof=0)}
    results = {k: {"covariance": v.tolist()} for k, v in covariance.items()}
    primary = [EFFECTS.index(e) for e in ("NDE", "BIE", "RIE")]
    both = np.corrcoef(first[:, primary].T, second[:, primary].T)
    members = [(case, effect) for case in (two, one) for effect in EFFECTS]
    got = path_rows._correlation(members, results, {(one.index, two.index): both[:3, 3:]})
    np.testing.assert_allclose(got, np.corrcoef(second.T, first.T), atol=1e-12)


def test_cases_without_shared_applicants_are_independent(cfg) -> None:
    one, two = cases(cfg)[0], cases(cfg)[1]
    covariance = np.cov(influence(3).T).tolist()
    results = {c.index: {"covariance": covariance} for c in (one, two)}
    got = path_rows._correlation([(one, "TE"), (two, "TE")], results, {})
    np.testing.assert_allclose(got, np.eye(2), atol=1e-15)


def test_cases_are_every_model_contrast_and_slice_once(cfg) -> None:
    found = cases(cfg)
    assert [c.index for c in found] == list(range(12))
    assert len({(c.model, c.contrast, c.slice) for c in found}) == 12
    assert [c.slice for c in found if c.pooled] == ["all", "all"]


def test_arms_are_named_in_the_slice_and_favor_nobody(context, cfg) -> None:
    found = {(c.contrast, c.slice): c for c in cases(cfg)}
    item = {
        "estimand": "selection_rate", "method": "local_law_144", "group": 0, "estimate": 0.4,
        "std_error": 0.1, "ci_low": 0.2, "ci_high": 0.6, "p_value": None, "n": 10,
        "status": "ok", "reason": None,
    }  # fmt: skip
    (row,) = path_rows._outcome_rows(context, found["white_vs_rest", "job=accountants"], [item])
    assert row["slice"] == "job=accountants; race=black+asian_pacific"
    assert row["favors_when_positive"] is None
    (row,) = path_rows._outcome_rows(context, found["male_vs_female", "all"], [item])
    assert row["slice"] == "gender=female"


def test_nde_without_a_photo_is_never_called_direct(context, cfg) -> None:
    row = context.row(
        cases(cfg)[0], "path_specific", estimand="NDE", method="eif", n=0,
        status="not_computable", reason="none",
    )  # fmt: skip
    assert row["title"] == "Effect not through the grouped mediators"
    assert row["favors_when_positive"] == "men"


def test_lost_answers_are_told_by_group(cfg) -> None:
    counts = pd.DataFrame(
        [
            ("male", "ok", 90),
            ("male", "failed", 10),
            ("female", "ok", 60),
            ("female", "refused", 40),
        ],
        columns=["gender", "outcome", "count"],
    ).assign(model="m", document_format="text", race="white")
    assert notes.margin_note(cfg) == (
        "Negligible means within 1 points of score. Two one-sided tests reach 80% power at "
        "2.93 standard errors."
    )
    (note,) = notes.answer_notes(counts, cfg)
    assert note == (
        "m, text: 50 of 200 requests have no score (failed 10, refused 40) and are left out. "
        "Scored: men 90.0%, women 60.0% (Fisher p 1.2e-06: answers differ by group)."
    )


def test_weight_0_is_said_of_what_it_leaves_out_and_of_nothing_else(cfg) -> None:
    zero = {"applicants": 2000, "design_weight": 12, "z_weight_gender": 0, "z_weight_race": 3}
    assert notes.weight_notes(zero, cfg) == [
        "12 of 2,000 applicants have design weight 0: nobody surveyed in their job has their "
        "gender, race and age. This leaves them out of design-weighted raw gaps and selection "
        "rates only; the effects weight by confounders alone.",
        "3 of 2,000 applicants have weight 0 in white_vs_rest: nobody surveyed in their job has "
        "their gender and age. They are left out of the effects there.",
    ]
    none = dict.fromkeys(zero, 0)
    assert notes.weight_notes(none, cfg) == []


def test_the_sample_as_drawn_holds_who_has_no_weight(cfg) -> None:
    histogram = {
        "x": np.array([1, 1, 0, 0, -1], dtype=np.int8), "y": np.array([4.0, 8.0, 1.0, 3.0, 9.0]),
        "w": np.array([1.0, 0.0, 2.0, 1.0, 1.0]), "n": np.array([30, 30, 30, 30, 5]),
    }  # fmt: skip
    rows = {(r.estimand, r.method): r for r in outcome_items(**histogram, cfg=cfg)}
    drawn, weighted = (rows["raw_gap", m] for m in ("difference_unweighted", "difference"))
    assert (drawn.estimate, drawn.n) == (6.0 - 2.0, 120)
    assert weighted.estimate == pytest.approx(4.0 - 5 / 3)
    assert weighted.n == 90
    # Nobody of x1 has a weight: no weighted number, and why; the drawn sample has one still.
    histogram["w"] = np.array([0.0, 0.0, 2.0, 1.0, 1.0])
    rows = {(r.estimand, r.method): r for r in outcome_items(**histogram, cfg=cfg)}
    assert rows["raw_gap", "difference_unweighted"].estimate == 4.0
    assert rows["raw_gap", "difference"].reason == (
        "empty_group: no answered applicant of design weight above 0 in x1; "
        "fewer_than_30_in_a_group"
    )


def test_a_pooled_small_group_carries_both_reasons(context, cfg) -> None:
    pooled = next(c for c in cases(cfg) if c.pooled)
    item = {
        "estimand": "raw_gap", "method": "difference", "group": None, "estimate": 0.4,
        "std_error": 0.1, "ci_low": 0.2, "ci_high": 0.6, "p_value": 0.1, "n": 10,
        "status": "flagged", "reason": "fewer_than_30_in_a_group",
    }  # fmt: skip
    (row,) = path_rows._outcome_rows(context, pooled, [item])
    assert row["status"] == "flagged"
    assert row["reason"] == "fewer_than_30_in_a_group; mixes_differences_between_jobs"
