"""Diagnostics of the path estimates: losses, stack weights, balance, spread of the splits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fairscreen import resources
from fairscreen.audits import diagnostic_rows, path_rows
from fairscreen.audits.cells import cases
from fairscreen.config import load
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.functionals import influence_coefficients, score_e_w
from fairscreen.estimators.glm import Glm
from fairscreen.estimators.levels import Problem
from fairscreen.estimators.nuisance import Nuisances, cross_fit
from fairscreen.estimators.path_specific import PathOptions, effects_given, path_effects
from fairscreen.estimators.results import CONTRASTS, EFFECTS, PathResult
from fairscreen.estimators.saturated import Saturated

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)


def sample(n: int = 2000, seed: int = 1, cells: bool = True) -> PathData:
    draw = np.random.default_rng(seed)
    z = draw.integers(0, 3, n)
    x = draw.binomial(1, 0.3 + 0.15 * z)
    r = draw.binomial(1, 0.3 + 0.3 * x)
    b = draw.binomial(2, 0.3 + 0.2 * x + 0.1 * r)
    y = 50 + 2 * x + 3 * r * b + z + draw.normal(0, 4, n)
    return PathData.from_rows(
        x=x, z=z, r=r, b=b, y=y, w=1 + (z == 2), cells=cells,
        fold=assign_folds(seed, [str(i) for i in range(n)], 5, 2),
    )  # fmt: skip


def values(result: PathResult, kind: str) -> dict[str, float | None]:
    return {d.name: d.value for d in result.diagnostics if d.kind == kind}


def fitted(data: PathData, *learners: object) -> list[Nuisances]:
    problem = Problem.of(data)
    return [cross_fit(problem, list(learners), k, known=False) for k in range(2)]  # type: ignore[arg-type]


def test_losses_are_those_of_the_people_left_out() -> None:
    data = sample(cells=False)
    nuisances = fitted(data, Saturated())
    result = effects_given(data, nuisances, OPTIONS)
    x1 = data.x == 1
    for name, rows, target in (
        ("e_brz", np.ones(len(data), dtype=bool), x1.astype(float)),
        ("mu3", x1, data.sum_y),
        ("mu2_r", x1, data.sum_y),
    ):
        weight = data.w[rows]
        squares = [(target - getattr(nu, name))[rows] ** 2 for nu in nuisances]
        loss = float(np.mean([np.average(s, weights=weight) for s in squares]))
        centre = np.average(target[rows], weights=weight)
        spread = np.average((target[rows] - centre) ** 2, weights=weight)
        assert values(result, "loss")[name] == pytest.approx(loss)
        assert values(result, "skill")[name] == pytest.approx(1 - loss / spread)
    # mu3 knows R and B, m1 does not; q is known, and has no loss.
    assert values(result, "skill")["mu3"] > values(result, "skill")["m1"]  # type: ignore[operator]
    assert "q" not in values(result, "loss")


def test_cells_give_the_losses_of_their_rows() -> None:
    found = [
        effects_given(d, fitted(d, Glm(), Saturated()), OPTIONS)
        for d in (sample(), sample(cells=False))
    ]
    for kind in ("loss", "skill", "balance", "split_sd"):
        one, two = (values(result, kind) for result in found)
        assert one.keys() == two.keys()
        assert list(one.values()) == pytest.approx(list(two.values()), rel=1e-6, abs=1e-9)


def test_a_known_propensity_has_a_loss_and_one_learner_has_no_weights() -> None:
    data = sample()
    p = np.full(len(data), 0.5)
    known = replace(data, p_z=p, p_rz=p, p_brz=p)
    nuisances = [cross_fit(Problem.of(known), Saturated(), k, known=True) for k in range(2)]
    result = effects_given(known, nuisances, OPTIONS)
    assert values(result, "loss")["e_rz"] == pytest.approx(0.25)
    assert values(result, "stack_weight") == {}


def test_stack_weights_are_by_learner_and_sum_to_one() -> None:
    data = sample()
    p = np.full(len(data), 0.5)
    result = path_effects(replace(data, p_z=p, p_rz=p, p_brz=p), PathOptions(bootstrap_draws=0))
    found = values(result, "stack_weight")
    assert {name.split("/")[1] for name in found} == {"glm", "saturated", "xgboost", "known"}
    for name in ("mu3", "e_rz", "mu1_w"):
        mine = {k: v for k, v in found.items() if k.startswith(f"{name}/")}
        assert ("known" in {k.split("/")[1] for k in mine}) is (name == "e_rz")
        assert sum(mine.values()) == pytest.approx(1)  # type: ignore[arg-type]


def test_balance_is_the_difference_left_between_those_who_should_be_alike() -> None:
    data = sample()
    nuisances = fitted(data, Saturated())
    found = values(effects_given(data, nuisances, OPTIONS), "balance")
    # Recomputed for E_W:Y and B: x1 people, weighted, against x0 people as E_W:mu3 weighs them.
    people = data.n * data.w
    stages = [score_e_w(data.x, nu.clipped(OPTIONS.clip)).stages for nu in nuisances]
    before, after = (np.mean([s[k].weight for s in stages], axis=0) for k in (0, 1))
    largest = 0.0
    for level in range(3):
        hit = data.b[:, 0] == level
        share = np.average(hit, weights=people)
        gap = np.average(hit, weights=people * after) - np.average(hit, weights=people * before)
        largest = max(largest, abs(gap) / np.sqrt(share * (1 - share)))
    assert found["E_W:Y/b0"] == pytest.approx(largest)
    assert set(found) == {
        *(f"{s}/z0" for s in ("E1:Y", "E0:Y", "E_W:mu3", "E_W:Y", "E_B:mu2", "E_B:mu3", "E_B:Y",
                              "E_R:mu2", "E_R:Y")),
        *(f"{s}/r0" for s in ("E_W:Y", "E_B:mu3", "E_B:Y", "E_R:Y")),
        *(f"{s}/b0" for s in ("E_W:Y", "E_B:Y")),
    }  # fmt: skip


def test_right_weights_balance_and_wrong_ones_are_seen() -> None:
    data = sample(20_000)
    right = fitted(data, Saturated())
    at = values(effects_given(data, right, OPTIONS), "balance")
    assert max(v for v in at.values() if v is not None) < 0.05
    wrong = [replace(nu, e_rz=np.full(len(data), 0.5)) for nu in right]
    off = values(effects_given(data, wrong, OPTIONS), "balance")
    assert off["E_R:Y/r0"] > 0.2  # type: ignore[operator]
    assert off["E_W:Y/r0"] == pytest.approx(at["E_W:Y/r0"])  # which e_rz does not enter


def test_a_number_is_balanced_beyond_its_bins() -> None:
    draw = np.random.default_rng(5)
    n = 3000
    x, number = draw.integers(0, 2, n), draw.normal(0, 1, n)
    number = number + 0.3 * x  # one bin: only the number differs
    data = PathData.from_rows(
        x=x, z=draw.integers(0, 2, n), r=np.zeros(n, dtype=int), b=draw.integers(0, 2, n),
        r_values=number, y=draw.normal(size=n), fold=draw.integers(0, 4, (n, 1)),
    )  # fmt: skip
    flat = np.full(n, 0.5)
    base = cross_fit(Problem.of(data), Glm(), 0, known=False)
    blind = replace(base, e_z=flat, e_rz=flat, e_brz=flat)
    found = values(effects_given(data, [blind], OPTIONS), "balance")
    gap = number[x == 1].mean() - number[x == 0].mean()
    assert found["E_R:Y/r0"] == pytest.approx(gap / number.std(), rel=1e-9)


def test_the_spread_of_the_splits_is_that_of_the_repeats() -> None:
    data = sample()
    nuisances = fitted(data, Saturated())
    found = values(effects_given(data, nuisances, OPTIONS), "split_sd")
    alone = []
    for nu in nuisances:
        a, c = influence_coefficients(data, [nu], OPTIONS.clip, normalize=False)
        phi = data.n[:, None] * a + data.sum_y[:, None] * c
        alone.append(CONTRASTS @ (data.w @ phi) / (data.w @ data.n))
    assert list(found) == list(EFFECTS)
    assert list(found.values()) == pytest.approx(list(np.std(alone, axis=0, ddof=1)))
    once = effects_given(data, nuisances[:1], OPTIONS)
    (row,) = (d for d in once.diagnostics if (d.kind, d.name) == ("split_sd", "TE"))
    assert (row.value, row.reason) == (None, "one repeat: there is nothing to compare")


def test_nuisances_that_are_given_have_no_losses() -> None:
    data = sample()
    bare = [replace(nu, quality=()) for nu in fitted(data, Saturated())]
    result = effects_given(data, bare, OPTIONS)
    assert values(result, "loss") == {}
    assert values(result, "balance")


def test_rows_of_the_table_name_columns_and_say_what_is_missing() -> None:
    cfg = load(resources.path("conf", "audits", "demo.yml"))
    case = next(c for c in cases(cfg) if c.pooled and c.contrast == "white_vs_rest")
    payload = {
        "effects": [
            {"estimand": "TE", "reason": None, "clip_sensitivity": {"0.0001": 1.0, "0.01": 2.0}},
            {"estimand": "RIE", "reason": "overlap: thin", "clip_sensitivity": {}},
        ],
        "diagnostics": [
            {"kind": "balance", "name": "E_W:Y/z1", "value": 0.1, "reason": None},
            {"kind": "balance", "name": "E_W:Y/r3", "value": 0.2, "reason": None},
            {"kind": "loss", "name": "mu3", "value": 9.0, "reason": None},
        ],
    }
    found = diagnostic_rows.rows(path_rows.Context(cfg, "h", "{}"), {case.index: payload})
    told = {(r["kind"], r["name"]): (r["value"], r["reason"]) for r in found}
    assert told["clip", "TE@0.01"] == (2.0, None)
    assert told["clip", "RIE@0.01"] == (None, "overlap: thin")
    assert told["balance", "E_W:Y/gender"] == (0.1, None)
    assert told["balance", "E_W:Y/region"] == (0.2, None)
    assert told["loss", "mu3"] == (9.0, None)
    assert {r["slice"] for r in found} == {"all"}
