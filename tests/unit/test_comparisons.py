"""Rows of differences between two models or formats: against applicants' influence, and truth."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import binom

from fairscreen import resources
from fairscreen.audits import comparisons, path_rows
from fairscreen.audits.cells import cases
from fairscreen.audits.influence import Shared
from fairscreen.config import load
from fairscreen.estimators.contrasts import difference
from fairscreen.estimators.data import Floats, PathData, assign_folds
from fairscreen.estimators.joint import PRIMARY, Joint, correlation
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS, PathResult

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0, min_effective_n=5)
MODELS = "scoring.models={old: {kind: planted}, new: {kind: planted}, silent: {kind: planted}}"


@pytest.fixture(scope="module")
def cfg():
    contrasts = (
        "estimation.contrasts={g: {attribute: gender, x1: [male], x0: [female], x1_label: men,"
        " x0_label: women}}"
    )
    return load(resources.path("conf", "audits", "demo.yml"), [MODELS, contrasts])


@pytest.fixture(scope="module")
def context(cfg):
    return path_rows.Context(cfg, "hash", "{}")


def screened(seed: int, n: int = 900) -> tuple[PathData, PathData, dict[str, float]]:
    """Two planted screeners on the same applicants, rows kept apart, and the true differences.

    B favors x1 by 2 points less, weighs qualifications by 1 point more; half of the noise is of
    the applicant and shared.
    """
    draw = np.random.default_rng(seed)
    z, x = draw.integers(0, 2, (2, n))
    r = draw.binomial(1, 0.3 + 0.4 * x)
    b = draw.binomial(1, 0.3 + 0.3 * x + 0.2 * z)
    own = draw.normal(0, 2, n)
    shared = {
        "x": x, "z": z, "r": r, "b": b, "cells": False,
        "fold": assign_folds(seed, [str(i) for i in range(n)], 4, 1),
    }  # fmt: skip
    one = 50 + 3 * x + 2 * r + 3 * b + z + own + draw.normal(0, 2, n)
    two = 50 + 1 * x + 2 * r + 4 * b + z + own + draw.normal(0, 2, n)
    truth = {"NDE": 2.0, "BIE": -0.3, "RIE": 0.0, "TE": 1.7, "NIE": -0.3}
    return PathData.from_rows(y=one, **shared), PathData.from_rows(y=two, **shared), truth


def influence(result: PathResult, data: PathData) -> Floats:
    """Centred influence (N, 3) of every applicant on NDE, BIE, RIE."""
    assert result.influence is not None
    assert result.c is not None
    at = [EFFECTS.index(name) for name in PRIMARY]
    phi = result.influence[:, at] + result.c[:, at] * data.sum_y[:, None]
    return np.asarray(phi - phi.mean(axis=0))


def payload(result: PathResult, data: PathData) -> dict[str, object]:
    assert result.covariance is not None
    effects = [asdict(e) for e in result.effects.values()]
    return {"effects": effects, "covariance": result.covariance.tolist(), "n": int(data.n.sum())}


def shared(one: Floats, two: Floats, pair: tuple[int, int]) -> Shared:
    sizes = np.outer(*(np.sqrt((phi**2).sum(axis=0)) for phi in (one, two)))
    return Shared({pair: one.T @ two / sizes}, {pair: len(one)})


@pytest.fixture(scope="module")
def compared(cfg, context):
    """Rows by (models, estimand, method) of old and new in one job; nobody asked silent."""
    one, two, _ = screened(1)
    a, b = path_effects(one, OPTIONS), path_effects(two, OPTIONS)
    at = {c.model: c.index for c in cases(cfg) if c.slice == "job=accountants"}
    results = {at["old"]: payload(a, one), at["new"]: payload(b, two)}
    between = shared(influence(a, one), influence(b, two), (at["old"], at["new"]))
    rows, notes = comparisons.rows(context, results, between)
    mine = [r for r in rows if r["slice"] == "job=accountants"]
    direct = difference(a, b, data_a=one, data_b=two)
    return {(r["model"], r["estimand"], r["method"]): r for r in mine}, direct, notes, rows


@pytest.mark.parametrize("name", EFFECTS)
def test_a_row_is_the_difference_of_the_applicants_influence(compared, name) -> None:
    found, direct, _, _ = compared
    row, expected = found["old minus new", name, "eif_difference"], direct[name]
    for column in ("estimate", "std_error", "ci_low", "ci_high", "p_value"):
        assert row[column] == pytest.approx(getattr(expected, column), rel=1e-9, abs=1e-12)
    assert (row["n"], row["status"], row["reason"]) == (900, "ok", None)
    assert row["design"] == "comparison"
    assert row["title"].endswith(": old minus new")
    assert row["favors_when_positive"] == "men"
    beside = found["old minus new", name, "tost_difference"]
    assert beside["estimate"] == row["estimate"]
    assert row["ci_low"] < beside["ci_low"] < beside["ci_high"] < row["ci_high"]


def test_errors_are_below_those_of_independent_samples(compared) -> None:
    one, two, _ = screened(1)
    sides = [path_effects(d, OPTIONS).effects["TE"].std_error for d in (one, two)]
    row = compared[0]["old minus new", "TE", "eif_difference"]
    assert row["std_error"] < 0.85 * np.hypot(*sides)


def test_families_are_of_pairs_and_slices_and_hold_what_is_computable(compared) -> None:
    found, _, notes, rows = compared
    able = [r for r in rows if r["family"]]
    assert {r["family"] for r in able} == {
        "NDE BIE RIE differences of models by job", "TE NIE differences of models by job"
    }  # fmt: skip
    assert {(r["model"], r["method"]) for r in able} == {("old minus new", "eif_difference")}
    for row in able:
        assert row["p_value"] <= row["p_bh"] <= row["p_holm"]
        assert 0 < row["p_maxt"] <= 1
    # 3 pairs x 5 jobs x 3 effects, of which one pair in one job has numbers.
    assert notes[0] == (
        "Family NDE BIE RIE differences of models by job: 3 tests; 42 more are not computable and "
        "are left out of the correction."
    )
    silent = found["new minus silent", "NDE", "eif_difference"]
    assert silent["estimate"] is None
    assert silent["reason"] == "silent: no_answer: no applicant of this case has a score"


def test_status_and_answered_sets_are_told_by_side(cfg, context) -> None:
    one, two, _ = screened(2)
    a, b = path_effects(one, OPTIONS), path_effects(two, OPTIONS)
    at = {c.model: c.index for c in cases(cfg) if c.pooled}
    between = shared(influence(a, one), influence(b, two), (at["old"], at["new"]))
    results = {at["old"]: payload(a, one) | {"n": 905}, at["new"]: payload(b, two)}
    for effect in results[at["new"]]["effects"]:  # type: ignore[attr-defined]
        if effect["estimand"] == "RIE":
            effect |= {"status": "flagged", "reason": "clip: moves"}

    def pick(shared: Shared) -> dict[str, dict[str, object]]:
        rows, _ = comparisons.rows(context, results, shared)
        return {
            str(r["estimand"]): r
            for r in rows
            if (r["model"], r["slice"], r["method"]) == ("old minus new", "all", "eif_difference")
        }

    got = pick(between)
    answered = "answered: old 905, new 900, both 900"
    assert (got["RIE"]["status"], got["RIE"]["reason"]) == (
        "flagged", f"new: clip: moves; {answered}"
    )  # fmt: skip
    assert (got["TE"]["status"], got["TE"]["n"]) == ("ok", 900)
    assert got["TE"]["reason"] == answered
    lost = pick(Shared({}, {}))["TE"]
    assert lost["status"] == "not_computable"
    assert lost["reason"].startswith("the cells of these cases are too many")  # type: ignore[attr-defined]


def test_equal_scores_have_no_difference_to_test(cfg, context) -> None:
    one, _, _ = screened(3)
    a = path_effects(one, OPTIONS)
    at = {c.model: c.index for c in cases(cfg) if c.pooled}
    phi = influence(a, one)
    results = {at[m]: payload(a, one) for m in ("old", "new")}
    rows, _ = comparisons.rows(context, results, shared(phi, phi, (at["old"], at["new"])))
    (row,) = (
        r for r in rows
        if (r["model"], r["slice"], r["estimand"]) == ("old minus new", "all", "NDE")
    )  # fmt: skip
    assert row["status"] == "not_computable"
    assert row["reason"] == "the difference does not vary: there is no standard error"


def test_formats_are_compared_within_a_model_and_models_within_a_format(cfg) -> None:
    documents = cfg.documents.model_copy(update={"formats": ("text", "image", "image_photo")})
    both = cfg.model_copy(update={"documents": documents})
    found = comparisons.pairs(both)
    # 6 slices: 3 pairs of models x 3 formats, and 3 pairs of formats x 3 models.
    assert len(found) == 6 * (9 + 9)
    assert len({(p.case.model, p.case.document_format, p.case.slice) for p in found}) == len(found)
    for pair in found:
        same = pair.a.document_format == pair.b.document_format
        assert same is (pair.kind == "models")
        assert (pair.a.contrast, pair.a.slice) == (pair.b.contrast, pair.b.slice)
    (photo,) = (
        p for p in found
        if p.labels == ("text", "image_photo") and p.a.model == "old" and p.a.pooled
    )  # fmt: skip
    assert (photo.case.model, photo.case.document_format) == ("old", "text minus image_photo")
    context = path_rows.Context(both, "hash", "{}")
    row = comparisons._row(context, photo, "NDE", "eif_difference", n=0, status="ok")
    assert row["title"] == "Effect not through the grouped mediators: text minus image_photo"


def test_config_names_the_pairs(cfg) -> None:
    chosen = load(
        resources.path("conf", "audits", "demo.yml"), [MODELS, "estimation.compare=[[new, old]]"]
    )
    assert {p.case.model for p in comparisons.pairs(chosen)} == {"new minus old"}
    none = cfg.model_copy(update={"estimation": cfg.estimation.model_copy(update={"compare": ()})})
    assert comparisons.pairs(none) == []
    one = load(resources.path("conf", "audits", "demo.yml"))
    assert comparisons.pairs(one) == []
    assert comparisons.rows(path_rows.Context(one, "h", "{}"), {}, Shared({}, {})) == ([], [])


def test_joint_covariance_is_that_of_the_values() -> None:
    draw = np.random.default_rng(4)
    parts = draw.normal(size=(400, 9)) @ draw.normal(size=(9, 9))
    phi = {}
    for case in (3, 7, 8):
        nde, bie, rie = parts[:, 3 * len(phi) : 3 * len(phi) + 3].T
        phi[case] = np.stack([nde + bie + rie, nde, bie + rie, bie, rie], axis=1)
    at = [EFFECTS.index(name) for name in PRIMARY]
    primary = np.concatenate([phi[case][:, at] for case in (3, 7, 8)], axis=1)
    whole = np.corrcoef(primary.T)
    between = {(3, 7): whole[:3, 3:6], (8, 3): whole[6:, :3], (7, 8): whole[3:6, 6:]}
    joint = Joint.of({case: np.cov(v.T) for case, v in phi.items()}, between)
    wanted = [[(3, "TE", 1.0), (7, "TE", -1.0)], [(8, "NIE", 2.0)], [(3, "BIE", 1.0)]]
    values = np.stack(
        [sum(f * phi[c][:, EFFECTS.index(e)] for c, e, f in terms) for terms in wanted]
    )
    np.testing.assert_allclose(joint.of_combinations(wanted), np.cov(values), rtol=1e-9)
    np.testing.assert_allclose(
        correlation(joint.of_combinations(wanted)), np.corrcoef(values), rtol=1e-9
    )


def test_the_interval_covers_the_difference_of_two_planted_screeners() -> None:
    draws, hits = 200, dict.fromkeys(PRIMARY, 0)
    for seed in range(draws):
        one, two, truth = screened(seed, 600)
        a, b = path_effects(one, OPTIONS), path_effects(two, OPTIONS)
        for name, effect in difference(a, b, data_a=one, data_b=two).items():
            if name in hits:
                assert effect.ci_low is not None
                assert effect.ci_high is not None
                hits[name] += effect.ci_low <= truth[name] <= effect.ci_high
    for name, count in hits.items():
        assert binom.cdf(count, draws, 0.95) > 0.001, (name, count)
        assert binom.sf(count - 1, draws, 0.95) > 0.001, (name, count)
