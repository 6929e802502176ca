"""Rows of population effects from results of their cases. No Spark."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.audits import population_effects as whole
from fairscreen.audits.cells import cases
from fairscreen.audits.influence import VALUES
from fairscreen.audits.path_rows import NO_ANSWER, Context
from fairscreen.config import load
from fairscreen.errors import ConfigError
from fairscreen.estimators.joint import FROM_PRIMARY
from fairscreen.estimators.replicates import ReplicateSums, design_based
from fairscreen.estimators.results import EFFECTS
from fairscreen.population.survey import REPLICATES

DEMO = resources.path("conf", "audits", "demo.yml")
N = 50


def config(mode: str):
    return load(DEMO, [f"population.mode={mode}", "estimation.weights=population"])


def survey(cfg, **lacking: str) -> SimpleNamespace:
    jobs = list(cfg.population.jobs)
    return SimpleNamespace(
        workforce=dict.fromkeys(jobs, 1_000), lacking={job: lacking.get(job) for job in jobs}
    )


def summed(n: int = N) -> whole.Summed:
    draw = np.random.default_rng(3)
    phi, w = draw.normal(2, 1, (N, 5)), draw.integers(1, 9, N).astype(float)
    replicates = w[:, None] * draw.choice([0.3, 1.0, 1.7], (N, REPLICATES))
    return whole.Summed(ReplicateSums.of(phi=phi, w=w, replicates=replicates), n)


def result(**change) -> dict:
    effect = {
        "estimate": 2.0, "std_error": 0.5, "ci_low": 1.0, "ci_high": 3.0, "p_value": 0.0001,
        "n": N, "status": "flagged", "reason": "clip: moves", "clip_sensitivity": {},
    }  # fmt: skip
    effects = [{"estimand": e, **effect} for e in EFFECTS]
    effects[3] |= dict.fromkeys(("estimate", "std_error", "ci_low", "ci_high", "p_value"))
    effects[3] |= {"status": "not_computable", "reason": "overlap: E_B:Y effective n 3 < 30"}
    return {"effects": effects, **change}


def test_both_errors_of_an_effect_stand_beside_each_other() -> None:
    cfg = config("surveyed")
    case, mine = cases(cfg)[0], summed()
    rows = whole.effect_rows(Context(cfg, "hash", "{}"), case, result(), mine, None)
    assert [r["method"] for r in rows] == ["eif_population"] * 5 + ["replicate_weights"] * 5
    assert [r["estimand"] for r in rows] == [*EFFECTS, *EFFECTS]
    designed = design_based(mine.sums)
    for one, two, expected in zip(rows[:5], rows[5:], designed, strict=True):
        assert one["estimate"] == two["estimate"]
        assert (one["status"], one["reason"], one["family"]) == (two["status"], two["reason"], None)
        if one["status"] != "not_computable":
            assert (one["std_error"], two["std_error"]) == (0.5, expected.std_error)
            assert (two["ci_low"], two["p_value"]) == (expected.ci_low, expected.p_value)
        assert two["title"].endswith("total error, of survey and draws, by replicate weights")
        assert one["title"].endswith(", in the population")
    assert rows[6]["title"].startswith("Effect not through the grouped mediators")


@pytest.mark.parametrize(
    ("mode", "mine", "lacking", "reason"),
    [
        ("balanced", None, {}, whole.NO_SURVEY),
        ("surveyed", None, {"accountants": "no replicate weights in a.zip"},
         "no replicate weights in a.zip"),
        ("draws", None, {}, whole.TOO_MANY),
        ("draws", summed(40), {}, "replicate weights are known of 40 of 50 applicants"),
    ],
)  # fmt: skip
def test_without_replicate_weights_there_is_a_reason(mode, mine, lacking, reason) -> None:
    cfg = config(mode)
    (case,) = (
        c for c in cases(cfg) if (c.contrast, c.slice) == ("male_vs_female", "job=accountants")
    )
    why = whole.unreplicated(case, survey(cfg, **lacking), cfg)
    rows = whole.effect_rows(Context(cfg, "hash", "{}"), case, result(), mine, why)
    for row in rows[5:]:
        assert (row["status"], row["estimate"], row["std_error"]) == ("not_computable", None, None)
        own = row["estimand"] == "BIE"
        assert row["reason"] == ("overlap: E_B:Y effective n 3 < 30" if own else reason)
        assert row["n"] == N
    assert rows[0]["estimate"] == 2.0
    text = whole.note(cfg, survey(cfg, **lacking))
    assert "5,000 people over all jobs" in text
    assert ("no surveyed person" in text) == (mode == "balanced")


def test_a_pooled_case_needs_the_weights_of_every_job() -> None:
    cfg = config("surveyed")
    pooled = next(c for c in cases(cfg) if c.pooled)
    told = {"accountants": "none in a.zip", "school_teachers": "none in b.zip"}
    assert whole.unreplicated(pooled, survey(cfg), cfg) is None
    assert whole.unreplicated(pooled, survey(cfg, **told), cfg) == "none in b.zip; none in a.zip"


def test_nobody_answered() -> None:
    cfg = config("surveyed")
    rows = whole.effect_rows(Context(cfg, "hash", "{}"), cases(cfg)[0], None, None, None)
    assert len(rows) == 10
    assert {(r["reason"], r["n"]) for r in rows} == {(NO_ANSWER, 0)}


def test_a_part_sums_draws_of_its_people() -> None:
    """Draws of three people in two cases, in any order; a person without weights is left out."""
    draw = np.random.default_rng(4)
    keys = ["a", "b", "a", "c", "a", "nobody"]
    phi = draw.normal(0, 1, (6, 3))
    theirs = pd.DataFrame({
        "part": 3, "case": [1, 0, 0, 1, 1, 1], "applicant_id": list("uvwxyz"),
        "person_key": keys, "w": draw.random(6), **dict(zip(VALUES, phi.T, strict=True)),
    })  # fmt: skip
    behind = pd.DataFrame({
        "part": 3, "person_key": ["c", "a", "b", "d"], "pwgtp": [10, 20, 30, 40],
        "replicate_weights": list(draw.integers(-3, 50, (4, REPLICATES)).astype(np.int32)),
    })  # fmt: skip
    got = whole._sums_of_part(theirs.sample(frac=1, random_state=1), behind).set_index("case")
    known = behind.set_index("person_key")
    for case, members in ((0, [1, 2]), (1, [0, 3, 4])):
        weight, value = np.zeros(1 + REPLICATES), np.zeros((1 + REPLICATES, 5))
        for i in members:
            mine = known.loc[keys[i]]
            v = theirs["w"][i] * np.append(1.0, mine["replicate_weights"] / mine["pwgtp"])
            weight += v
            value += np.outer(v, FROM_PRIMARY @ phi[i])
        assert got.loc[case, "applicants"] == len(members)
        np.testing.assert_allclose(got.loc[case, "weight"], weight, rtol=1e-12)
        np.testing.assert_allclose(got.loc[case, "value"], value.ravel(), rtol=1e-9, atol=1e-12)
    nobody = theirs[theirs["person_key"] == "nobody"]
    assert len(whole._sums_of_part(nobody, behind)) == 0


def test_rescoring_alone_has_nothing_to_weigh() -> None:
    with pytest.raises(ConfigError, match="approach rescoring makes none; set approach: both"):
        load(DEMO, ["estimation.approach=rescoring", "estimation.weights=population"])
