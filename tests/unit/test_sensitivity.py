"""Bounds under an omitted confounder: a planted one, whose strengths and bias are known exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData
from fairscreen.estimators.path_specific import LearnerName, PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS
from fairscreen.estimators.sensitivity import confounding_bounds, robustness_value

PEOPLE = 4_000_000
OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0)


@dataclass(frozen=True)
class Planted:
    """All-binary population with a hidden U: kind `mediator` moves B and Y, `attribute` X and Y,
    `qualified` X and B and Y."""

    kind: str
    on_y: float

    def cells(self) -> dict[str, np.ndarray]:
        u, x, r, b = (g.ravel() for g in np.meshgrid(*[[0, 1]] * 4, indexing="ij"))
        p_x = 0.5 + np.where(self.kind != "mediator", 0.3 * (u - 0.5), 0.0)
        p_r = 0.3 + 0.3 * x
        p_b = 0.3 + 0.2 * x + 0.1 * r + np.where(self.kind != "attribute", 0.25 * u, 0.0)
        p = 0.5 * np.where(x == 1, p_x, 1 - p_x)
        p = p * np.where(r == 1, p_r, 1 - p_r) * np.where(b == 1, p_b, 1 - p_b)
        y = 2 * x + 1.5 * r + 3 * b + self.on_y * u
        return {"u": u, "x": x, "r": r, "b": b, "p": p, "y": y}

    def data(self, seen: bool) -> PathData:
        """The population as cells; U is a confounder that is `seen`, or left out. Y has
        variance 1 around its mean."""
        c = self.cells()
        n = np.rint(PEOPLE * c["p"] / 5).astype(np.int64)
        parts = []
        for fold in range(5):  # five folds alike: what is fitted is the population
            parts.append(
                PathData(
                    x=c["x"], z=c["u"][:, None] if seen else np.zeros((len(n), 1), dtype=np.int64),
                    r=c["r"][:, None], b=c["b"][:, None], n=n, w=np.ones(len(n)),
                    sum_y=n * c["y"], sum_yy=n * (c["y"] ** 2 + 1),
                    fold=np.full((len(n), 1), fold),
                )
            )  # fmt: skip
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total.grouped()


@pytest.mark.parametrize("kind", ["mediator", "attribute", "qualified"])
@pytest.mark.parametrize("on_y", [1.0, -2.0])
def test_a_planted_confounder_is_recovered(kind: str, on_y: float) -> None:
    """At the planted strengths the bounds hold every true effect, and times the correlation of what
    U does to g and to alpha, known here, they are the bias itself."""
    planted = Planted(kind, on_y)
    long, short = planted.data(seen=True), planted.data(seen=False)
    truth, biased = path_effects(long, OPTIONS), path_effects(short, OPTIONS)
    key = 4 * long.x + 2 * long.r[:, 0] + long.b[:, 0]
    place = np.argsort(4 * short.x + 2 * short.r[:, 0] + short.b[:, 0])
    assert len(place) == 8 * 5
    folds = long.fold[:, 0]
    at = place.reshape(8, 5)[key, folds]
    checked = 0
    for j, name in enumerate(EFFECTS):
        bias = biased.effects[name].estimate - truth.effects[name].estimate
        # A common cause of X and a mediator is in the scope of TE only.
        if abs(bias) < 1e-3 or (kind == "qualified" and name != "TE"):
            continue
        checked += 1
        seen = long.x if name == "TE" else key
        off_g = _mean(long, 2 * seen + long.z[:, 0]) - _mean(long, seen)
        # Strengths of this confounder for this effect, from both fits.
        norm_long = long.n @ truth.c[:, j] ** 2 / PEOPLE
        norm_short = long.n @ biased.c[at, j] ** 2 / PEOPLE
        cf_d = 1 - norm_short / norm_long
        explained = long.n @ off_g**2 / PEOPLE
        left = (long.sum_yy - 2 * _mean(long, seen) * long.sum_y).sum() / PEOPLE
        left += long.n @ _mean(long, seen) ** 2 / PEOPLE
        cf_y = explained / left
        bound = confounding_bounds(short, biased, OPTIONS, cf_y=cf_y, cf_d=cf_d)[name]
        assert bound.scale**2 == pytest.approx(left * norm_short, rel=1e-3)
        slack = 1e-3
        assert bound.low - slack <= truth.effects[name].estimate <= bound.high + slack, name
        off_alpha = truth.c[:, j] - biased.c[at, j]
        assert long.n @ (off_g * off_alpha) / PEOPLE == pytest.approx(-bias, abs=2e-3), name
        size = np.sqrt((long.n @ off_g**2) * (long.n @ off_alpha**2)) / PEOPLE
        correlation = long.n @ (off_g * off_alpha) / PEOPLE / size
        width = (bound.high - bound.low) / 2
        assert abs(correlation) * width == pytest.approx(abs(bias), rel=0.02, abs=2e-3), name
    assert checked


def _mean(data: PathData, key: np.ndarray) -> np.ndarray:
    """Mean score (C,) of the people who share a key."""
    total = np.bincount(key, weights=data.n)
    mean = np.bincount(key, weights=data.sum_y)
    return (mean / np.where(total > 0, total, 1))[key]


def test_no_confounder_no_width_and_more_strength_more_width() -> None:
    data = Planted("mediator", 1.0).data(seen=True)
    result = path_effects(data, OPTIONS)
    none = confounding_bounds(data, result, OPTIONS, cf_y=0, cf_d=0)
    some, more = (
        confounding_bounds(data, result, OPTIONS, cf_y=s, cf_d=0.05) for s in (0.02, 0.08)
    )
    for name in EFFECTS:
        effect = result.effects[name]
        assert (none[name].low, none[name].ci_high) == pytest.approx(
            (effect.estimate, effect.ci_high)
        )
        # Half the square root of four times the strength: twice as wide.
        width = some[name].high - some[name].low
        assert more[name].high - more[name].low == pytest.approx(2 * width)
        # E[(Y - g)^2] given all is 1 by construction.
        alpha = np.sqrt(data.n @ result.c[:, EFFECTS.index(name)] ** 2 / PEOPLE)
        if name == "TE":
            assert some[name].scale > 1.2 * alpha
        else:
            assert some[name].scale == pytest.approx(alpha, rel=1e-3)


@given(st.floats(1e-6, 1e4), st.floats(1e-6, 1e4))
def test_the_robustness_value_solves_its_equation(distance: float, scale: float) -> None:
    r = robustness_value(distance, scale)
    assert 0 < r <= 1
    if r < 1 - 1e-9:
        assert scale * r / np.sqrt(1 - r) == pytest.approx(distance, rel=1e-6)


def test_at_its_robustness_value_the_bound_reaches_zero() -> None:
    data = Planted("attribute", 1.0).data(seen=False)
    result = path_effects(data, OPTIONS)
    first = confounding_bounds(data, result, OPTIONS, cf_y=0.1, cf_d=0.1)
    for name, bound in first.items():
        r = bound.robustness
        at = confounding_bounds(data, result, OPTIONS, cf_y=r, cf_d=r)[name]
        assert min(abs(at.low), abs(at.high)) == pytest.approx(0, abs=1e-6), name
        assert bound.robustness_interval < r
    assert robustness_value(0.0, 1.0) == 0.0


@pytest.mark.parametrize(("cf_y", "cf_d"), [(-0.1, 0.1), (1.1, 0.1), (0.1, 1.0), (0.1, np.nan)])
def test_strengths_that_are_no_shares_are_refused(cf_y: float, cf_d: float) -> None:
    data = Planted("mediator", 1.0).data(seen=True)
    with pytest.raises(InputError, match="confounder: strengths"):
        confounding_bounds(data, path_effects(data, OPTIONS), OPTIONS, cf_y=cf_y, cf_d=cf_d)


@pytest.mark.parametrize("learner", ["stack", "xgboost"])
def test_trees_are_tuned_for_the_regressions_of_the_bound(learner: LearnerName) -> None:
    """Additive and with noise of variance 1: S of what is given all is then the size of alpha, by
    any learner."""
    data = Planted("mediator", 1.0).data(seen=True)
    options = PathOptions(learner=learner, bootstrap_draws=0)
    result = path_effects(data, options)
    found = confounding_bounds(data, result, options, cf_y=0.02, cf_d=0.05)
    for name in [effect for effect in found if effect != "TE"]:
        alpha = np.sqrt(data.n @ result.c[:, EFFECTS.index(name)] ** 2 / PEOPLE)
        assert found[name].scale == pytest.approx(alpha, rel=0.01)
