"""When path effects are refused, flagged or stopped: a reason, never NaN and never a crash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS, Effect, PathResult

Rows = dict[str, Any]


def rows(n: int = 400, seed: int = 1, own: float = 0.5, other: float = 0.2) -> Rows:
    """Like one job of the demo. r: name typical of the own sex with P `own`, of the other sex
    with P `other`, else neutral; and a region. b: education; x1 has more of it."""
    draw = np.random.default_rng(seed)
    x = np.arange(n) % 2
    z = draw.integers(0, 3, n)
    u = draw.random(n)
    name = np.where(u < own, x, np.where(u < own + other, 1 - x, 2))
    r = np.stack([name, draw.integers(0, 4, n)], axis=1)
    b = draw.binomial(2, 0.4 + 0.2 * x)
    y = 50 + 2 * x + (name == 1) + 3 * b + z + draw.normal(0, 3, n)
    fold = assign_folds(seed, [f"{seed}/{i}" for i in range(n)], 5, 3)
    return {"x": x, "z": z, "r": r, "b": b, "y": y, "fold": fold}


def run(given: Rows, **options: Any) -> PathResult:
    return path_effects(
        PathData.from_rows(**given), PathOptions(**{"learner": "saturated", **options})
    )


def no_x1(d: Rows) -> Rows:
    return {**d, "x": np.minimum(d["x"], 0)}


def no_x0(d: Rows) -> Rows:
    return {**d, "x": np.where(d["x"] == 0, -1, 1)}


def one_fold(d: Rows) -> Rows:
    return {**d, "fold": d["fold"] * [1, 0, 1]}


def gathered(d: Rows) -> Rows:
    fold = d["fold"].copy()
    fold[d["x"] == 1, 1] = 3
    return {**d, "fold": fold}


def four_people(d: Rows) -> Rows:
    return {**{k: v[:4] for k, v in d.items()}, "fold": np.array([[0], [1], [1], [0]])}


def constant(d: Rows) -> Rows:
    return {**d, "y": np.full(len(d["x"]), 0.1)}


def one_cluster(d: Rows) -> Rows:
    return {**d, "cluster": np.zeros(len(d["x"]), dtype=int)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (no_x1, "no applicant of group x1"),
        (no_x0, "no applicant of group x0"),
        (one_fold, "repeat 2 has one fold; cross-fitting needs two"),
        (gathered, "all applicants of group x1 are in one fold; none is left to train on"),
        (constant, "all scores are 0.1: without variation there is no standard error"),
        (one_cluster, "one cluster gives no standard error"),
    ],
)
def test_nothing_to_compute_has_a_reason(change: Callable[[Rows], Rows], reason: str) -> None:
    result = run(change(rows()))
    assert [e.reason for e in result.effects.values()] == [reason] * 5
    for row in result.to_rows():
        assert row["status"] == "not_computable"
        assert [row[k] for k in ("estimate", "std_error", "ci_low", "ci_high", "p_value")] == (
            [None] * 5
        )
    assert result.influence is None
    assert set(result.functionals.values()) == {None}


@pytest.mark.parametrize("n", range(2, 40, 3))
def test_small_samples_never_crash(n: int) -> None:
    """Whatever is too small ends as not computable with a reason, with finite numbers elsewhere."""
    result = run(rows(n))
    for row in result.to_rows():
        assert row["status"] == "not_computable"
        assert row["reason"]
    few = run(four_people(rows()))
    assert {e.status for e in few.effects.values()} == {"not_computable"}


def test_no_people_at_all() -> None:
    empty = {k: v[:0] for k, v in rows().items()}
    assert run(empty).effects["TE"].reason == "no applicant of group x1"


@pytest.mark.parametrize(
    ("role", "effect", "kind"), [("r", "RIE", "redlining"), ("b", "BIE", "business")]
)
def test_a_path_without_mediators_has_no_effect_to_test(role: str, effect: str, kind: str) -> None:
    d = rows()
    one_value = np.zeros(400, dtype=int)
    for given, reason in (
        (np.zeros((400, 0), dtype=int), f"no_{kind}_mediators"),
        (one_value, f"no_{kind}_mediators: none of them varies"),
    ):
        result = run({**d, role: given})
        for effects in (result.effects, result.bootstrap):
            assert effects[effect].reason == reason
            assert effects[effect].estimate is None
            assert {e.status for n, e in effects.items() if n != effect} == {"ok"}
        other, whole = result.effects["BIE" if effect == "RIE" else "RIE"], result.effects["NIE"]
        assert other.estimate == pytest.approx(whole.estimate, abs=0.1 * (whole.std_error or 0))


# --- overlap -----------------------------------------------------------------------------------


def test_weak_overlap_refuses_the_paths_and_keeps_the_total_effect() -> None:
    result = run(rows(own=0.93, other=0.02))
    assert result.effects["TE"].status == "ok"
    for name in ("NDE", "NIE", "BIE", "RIE"):
        effect = result.effects[name]
        assert effect.status == "not_computable"
        assert effect.estimate is None
        assert effect.reason is not None
        assert effect.reason.startswith("overlap: E_W:Y effective n ")
        assert " < 30" in effect.reason
    assert result.functionals["E_W"] is None
    assert result.functionals["E1"] is not None


def test_each_rule_can_refuse() -> None:
    d = rows(800)
    assert run(d).effects["NDE"].status == "ok"
    reasons = {
        "min_effective_n": (500, "effective n "),
        "max_unit_share": (0.005, "one unit holds "),
    }
    for rule, (value, text) in reasons.items():
        assert text in str(run(d, **{rule: value}).effects["NDE"].reason)
    assert "clipped" in str(run(d, clip=0.3).effects["NDE"].reason)


def test_values_that_a_group_never_takes_are_noticed() -> None:
    """Women alone take r = 3. The men's weights look even, and stand for too few women."""
    d = rows(2000)
    women = (d["x"] == 0) & (np.arange(2000) % 3 == 0)
    d["r"][women, 0] = 3
    result = run(d)
    row = next(r for r in result.overlap if r.weight_set == "E_W:Y")
    assert row.effective_n is not None
    assert row.effective_n > 30
    assert row.mean_weight is not None
    assert row.mean_weight < 0.8
    assert "where 1 is due" in row.verdict or "clipped" in row.verdict
    assert result.effects["NDE"].status == "not_computable"
    assert result.effects["TE"].status == "ok"


def test_a_known_propensity_of_zero_is_an_infinite_weight() -> None:
    d = rows()
    p = np.full(400, 0.5)
    bad = p.copy()
    bad[[1, 3]] = 0.0  # two men, where men are said not to exist
    result = run({**d, "p_z": p, "p_rz": p, "p_brz": bad}, propensity="known")
    row = next(r for r in result.overlap if r.weight_set == "E_W:Y")
    assert (row.mean_weight, row.max_weight) == (None, None)
    assert row.effective_n == 2
    assert row.verdict.startswith("a propensity of 0 for 2 people")
    assert result.effects["NDE"].status == "not_computable"
    assert result.effects["TE"].status == "ok"
    assert result.covariance is not None
    assert np.isfinite(result.covariance).all()


def test_an_effect_that_hangs_on_the_clip_is_flagged() -> None:
    """2% of the men carry a name that 99.9% of its bearers' sex do not, and score far off."""
    d = rows(8000, own=0.5, other=0.2)
    p = np.full(8000, 0.5)
    rare = (d["x"] == 1) & (np.arange(8000) % 40 == 1)
    d["y"][rare] += 40
    p_brz = np.where(rare, 0.005, 0.5)
    known = {**d, "p_z": p, "p_rz": p, "p_brz": p_brz}
    result = run(known, propensity="known", sensitivity_clips=(0.0001, 0.01))
    nde = result.effects["NDE"]
    assert nde.status == "flagged"
    assert str(nde.reason).startswith("clip: 0.01 moves the estimate by ")
    assert nde.estimate is not None
    assert nde.std_error is not None
    assert abs(nde.clip_sensitivity[0.01] - nde.estimate) > nde.std_error / 2
    assert result.effects["TE"].status == "ok"
    assert result.effects["TE"].clip_sensitivity[0.01] == result.effects["TE"].estimate


@pytest.mark.parametrize("seed", range(8))
def test_total_effect_is_there_in_every_job_of_the_demo(seed: int) -> None:
    """400 people, half of each gender, names that all but give the gender away."""
    te = run(rows(400, seed, own=0.9, other=0.005), bootstrap_draws=0).effects["TE"]
    assert te.status == "ok"


def test_known_one_half_gives_no_wider_interval_than_fitted() -> None:
    d = rows()
    p = np.full(400, 0.5)
    known = run({**d, "p_z": p, "p_rz": p, "p_brz": p}, propensity="known").effects["TE"]
    fitted = run(d).effects["TE"]
    assert known.std_error is not None
    assert known.std_error == pytest.approx(fitted.std_error, rel=0.1)


def test_where_nothing_depends_on_x_the_effects_are_null() -> None:
    """Rejections at 5% over 30 samples of a null design; 5 effects, far below 1 in 4."""
    rejected = 0
    for seed in range(30):
        d = rows(400, seed)
        draw = np.random.default_rng(1000 + seed)
        d["b"] = draw.binomial(2, 0.5, 400)
        d["y"] = 50 + 3 * d["b"] + d["z"] + draw.normal(0, 3, 400)
        effects = run(d, bootstrap_draws=0).effects
        rejected += sum(1 for e in effects.values() if e.p_value is not None and e.p_value < 0.05)
    assert 1 <= rejected <= 18  # expected 7.5 of 150


# --- input -------------------------------------------------------------------------------------

SMALL = rows(6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("y", [1, 2, np.nan, 4, 5, 6], "array y: is not finite at index 2."),
        ("y", [1, 2, 3, 4, 5, np.inf], "array y: is not finite at index 5."),
        ("y", list("abcdef"), "array y: holds a value that is no number."),
        ("x", [1, 0, 2, 0, 1, 0], "array x: holds a code other than 1, 0 and -1."),
        ("x", [1, 0, np.nan, 0, 1, 0], "array x: holds a value that is not finite."),
        ("z", [0, 1, -1, 0, 0, 0], "array z: holds a value below 0."),
        ("r", [0, 1, 0.5, 0, 0, 0], "array r: holds a value that is no whole number."),
        ("b", list("abcdef"), "array b: holds a value that is no number."),
        ("b", [0, 1], "array b: has 2 cells where x has 6."),
        ("w", [1, 1, 0, 1, 1, 1], "array w: holds a weight that is not above 0."),
        ("w", [1, 1, np.nan, 1, 1, 1], "array w: is not finite at index 2."),
        ("p_rz", [0.5, 0.5, 1.5, 0.5, 0.5, 0.5], "array p_rz: holds a probability outside"),
        ("cluster", [0.5] * 6, "array cluster: holds a value that is no whole number."),
    ],
)  # fmt: skip
def test_bad_input_names_its_array(name: str, value: list[Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        PathData.from_rows(**{**SMALL, name: np.array(value)})
    assert str(error.value).startswith(message)


def test_sums_that_cannot_be_are_refused() -> None:
    data = PathData.from_rows(**SMALL)
    with pytest.raises(InputError, match="array sum_yy: is below sum_y"):
        replace(data, sum_yy=data.sum_yy / 2)
    with pytest.raises(InputError, match="array n: holds a value below 1"):
        replace(data, n=np.zeros(len(data)))
    with pytest.raises(InputError, match="array cluster: is given on one side only"):
        data + replace(data, cluster=np.zeros(len(data)))


@pytest.mark.parametrize("clip", [0.0, 0.5, 0.7, float("nan")])
def test_a_clip_must_leave_room(clip: float) -> None:
    with pytest.raises(InputError, match="leaves no propensity between its bounds"):
        PathOptions(learner="saturated", clip=clip)


def test_results_refuse_to_hide_a_missing_number() -> None:
    with pytest.raises(ValueError, match="needs nulls and a reason"):
        Effect("TE", 0.0, 0.0, 0.0, 0.0, 1.0, 5, "not_computable", "why")
    with pytest.raises(ValueError, match="needs finite numbers"):
        Effect("TE", float("nan"), 1.0, 0.0, 0.0, 1.0, 5, "ok")


def test_summary_reads_as_a_table() -> None:
    lines = run(rows(own=0.93, other=0.02)).summary().splitlines()
    assert lines[0].split() == ["effect", "estimate", "error", "interval", "p", "status"]
    assert [line.split()[0] for line in lines if line.split()[0] in EFFECTS] == list(EFFECTS)
    assert lines[2].split() == ["NDE", "not_computable"]
    assert lines[3].strip().startswith("overlap: E_W:Y")
