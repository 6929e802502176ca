"""What the effects survive: wrong nuisances one at a time, on an exact population.

The population is a table of weighted cells with arbitrary laws, so bias is a plain difference.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from fairscreen.estimators.data import Floats, PathData
from fairscreen.estimators.functionals import influence_coefficients
from fairscreen.estimators.nuisance import Nuisances
from fairscreen.estimators.path_specific import PathOptions, effects_given
from fairscreen.estimators.results import CONTRASTS, FUNCTIONALS

SIZE = (3, 2, 3)  # z, r, b
OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0, clip=1e-6)


class World:
    """Random laws over z (3), x (three groups), r (2), b (3) and a mean of Y."""

    def __init__(self, seed: int = 11) -> None:
        draw = np.random.default_rng(seed)
        self.pz = draw.dirichlet(np.full(3, 5.0))
        self.px = draw.dirichlet(np.full(3, 5.0), size=3)  # z, x
        self.pr = draw.dirichlet(np.full(2, 4.0), size=(3, 3))  # x, z, r
        self.pb = draw.dirichlet(np.full(3, 4.0), size=(3, 3, 2))  # x, z, r, b
        self.mean = draw.normal(50, 5, (3, 3, 2, 3))  # x, z, r, b
        self.x, self.z, self.r, self.b = np.array(
            list(itertools.product((0, 1, 2), range(3), range(2), range(3)))
        ).T
        self.share = (
            self.pz[self.z]
            * self.px[self.z, self.x]
            * self.pr[self.x, self.z, self.r]
            * self.pb[self.x, self.z, self.r, self.b]
        )

    def data(self) -> PathData:
        people = 10**6
        y = self.mean[self.x, self.z, self.r, self.b]
        return PathData(
            x=np.where(self.x == 2, -1, self.x), z=self.z[:, None], r=self.r[:, None],
            b=self.b[:, None], n=np.full(len(y), people), w=self.share, sum_y=people * y,
            sum_yy=people * (y**2 + 4), fold=np.zeros((len(y), 1), dtype=int),
        )  # fmt: skip

    def functionals(self) -> dict[str, float]:
        def value(y: int, b: int, r: int) -> float:
            law = self.pz[:, None, None] * self.pr[r][:, :, None] * self.pb[b]
            return float((law * self.mean[y]).sum())

        return {
            "E1": value(1, 1, 1), "E0": value(0, 0, 0), "E_W": value(1, 0, 0),
            "E_B": value(1, 0, 1), "E_R": value(1, 1, 0),
        }  # fmt: skip

    def average_b(self, x: int, values: Floats) -> Floats:
        """E[values | r, x, z]: (z, r, b) -> (z, r)."""
        return (self.pb[x] * values).sum(axis=-1)

    def average_r(self, x: int, values: Floats) -> Floats:
        """E[values | x, z]: (z, r) -> (z,)."""
        return (self.pr[x] * values).sum(axis=-1)

    def nuisances(self, mu3: Floats | None = None, mu2: Floats | None = None) -> Nuisances:
        """The right ones; later stages are right relative to a wrong mu3 (z, r, b), or to wrong
        mu2 (z, r), where given."""
        m3 = self.mean[1] if mu3 is None else mu3
        m2b = self.average_b(0, m3) if mu2 is None else mu2
        m2r = self.average_b(1, self.mean[1]) if mu2 is None else mu2
        law = self.px.T[:, :, None, None] * self.pr[..., None] * self.pb  # x, z, r, b given z
        e_brz = law[1] / (law[1] + law[0])
        e_rz = (law[1].sum(-1)) / (law[1] + law[0]).sum(-1)
        e_z = self.px[:, 1] / (self.px[:, 0] + self.px[:, 1])
        z, r, b = self.z, self.r, self.b
        return Nuisances(
            q=(self.px[:, 0] + self.px[:, 1])[z], e_z=e_z[z], e_rz=e_rz[z, r],
            e_brz=e_brz[z, r, b],
            m1=self.average_r(1, self.average_b(1, self.mean[1]))[z],
            m0=self.average_r(0, self.average_b(0, self.mean[0]))[z],
            mu3=m3[z, r, b], mu1_w=self.average_r(0, self.average_b(0, m3))[z],
            mu2_b=m2b[z, r], mu1_b=self.average_r(1, m2b)[z],
            mu2_r=m2r[z, r], mu1_r=self.average_r(0, m2r)[z],
        )  # fmt: skip

    def bias(self, nuisances: Nuisances) -> dict[str, float]:
        """Estimated functionals minus truth, whatever the overlap rules say."""
        data = self.data()
        a, c = influence_coefficients(data, [nuisances], 1e-6, False)
        phi = a + c * (data.sum_y / data.n)[:, None]
        truth = self.functionals()
        found = np.average(phi, axis=0, weights=data.w)
        return {f: float(found[j]) - truth[f] for j, f in enumerate(FUNCTIONALS)}


@pytest.fixture(scope="module")
def world() -> World:
    return World()


REGRESSIONS = ("m1", "m0", "mu3", "mu1_w", "mu2_b", "mu1_b", "mu2_r", "mu1_r")
PROPENSITIES = ("q", "e_z", "e_rz", "e_brz")


def broken(world: World, nu: Nuisances, *names: str) -> Nuisances:
    """These nuisances made wrong: still functions of what each is conditional on."""
    draw = np.random.default_rng(7)
    z, r, b = world.z, world.r, world.b
    changed = {}
    for name in names:
        shift, factor = draw.normal(0, 5, SIZE), draw.uniform(0.5, 1.5, SIZE)
        at = {"mu2": (z, r, 0), "e_r": (z, r, 0), "mu3": (z, r, b), "e_b": (z, r, b)}
        index = at.get(name[:3], (z, 0, 0))
        value = getattr(nu, name)
        changed[name] = (
            value + shift[index]
            if name in REGRESSIONS
            else np.clip(value * factor[index], 0.05, 0.95)
        )
    return replace(nu, **changed)


def off(values: Floats) -> Floats:
    """A wrong table of a regression."""
    return values + np.random.default_rng(3).normal(0, 5, values.shape)


def assert_unbiased(bias: dict[str, float], functionals: str = "E1 E0 E_W E_B E_R") -> None:
    for name in functionals.split():
        assert abs(bias[name]) < 1e-9, (name, bias)


def test_right_nuisances_give_the_truth_with_other_groups_in_p_z(world: World) -> None:
    bias = world.bias(world.nuisances())
    assert_unbiased(bias)
    truth = world.functionals()
    contrast = CONTRASTS @ np.array([truth[f] for f in FUNCTIONALS])
    assert np.abs(contrast).min() > 0.05  # a world in which every effect is there


def test_right_propensities_forgive_every_regression(world: World) -> None:
    assert_unbiased(world.bias(broken(world, world.nuisances(), *REGRESSIONS)))


def test_right_regressions_forgive_every_propensity(world: World) -> None:
    assert_unbiased(world.bias(broken(world, world.nuisances(), *PROPENSITIES)))


def test_wrong_last_regression_needs_the_last_weight_only(world: World) -> None:
    """mu3 wrong, mu2 and mu1 right relative to it: the weights of Y correct it alone."""
    nu = world.nuisances(mu3=off(world.mean[1]))
    assert_unbiased(world.bias(nu), "E_W E_B")
    assert_unbiased(world.bias(broken(world, nu, "e_rz")), "E_W")


def test_wrong_middle_regression_needs_the_middle_weight_only(world: World) -> None:
    nu = world.nuisances(mu2=off(world.average_b(0, world.mean[1])))
    assert_unbiased(world.bias(broken(world, nu, "e_brz")), "E_B E_R")


def test_wrong_first_regression_needs_the_first_weight_only(world: World) -> None:
    names = ("mu1_w", "mu1_b", "mu1_r", "e_rz", "e_brz")
    assert_unbiased(world.bias(broken(world, world.nuisances(), *names)), "E_W E_B E_R")


@pytest.mark.parametrize(
    ("stage", "weight", "functional"),
    [
        ("m1", "e_z", "E1"), ("m0", "e_z", "E0"), ("mu3", "e_brz", "E_W"),
        ("mu3", "e_brz", "E_B"), ("mu2_b", "e_rz", "E_B"), ("mu2_r", "e_rz", "E_R"),
        ("mu1_w", "e_z", "E_W"), ("mu1_b", "e_z", "E_B"), ("mu1_r", "e_z", "E_R"),
    ],
)  # fmt: skip
def test_both_wrong_is_wrong(world: World, stage: str, weight: str, functional: str) -> None:
    """The tests above can fail: one stage with both its parts wrong is biased."""
    nu = broken(world, world.nuisances(), stage, weight)
    assert abs(world.bias(nu)[functional]) > 1e-4


def test_the_middle_weight_of_e_b_stands_on_the_other_group(world: World) -> None:
    """Table 1's pattern for E_R (all weight on x1), copied to E_B, misses by points: with mu2
    wrong the correction must come from x0."""
    data, nu = world.data(), world.nuisances(mu2=off(world.average_b(0, world.mean[1])))
    one = (data.x == 1).astype(float)
    p1 = nu.q * nu.e_z
    y = data.sum_y / data.n
    copied = (
        nu.mu1_b
        + one / p1 * (nu.mu2_b - nu.mu1_b)
        + one * (1 - nu.e_rz) / (nu.e_rz * nu.q * (1 - nu.e_z)) * (y - nu.mu2_b)
    )
    assert abs(np.average(copied, weights=data.w) - world.functionals()["E_B"]) > 1.0
    assert_unbiased(world.bias(nu), "E_B")


def test_normalized_weights_leave_the_truth_alone(world: World) -> None:
    data, nu = world.data(), world.nuisances(mu3=off(world.mean[1]))
    result = effects_given(data, [nu], replace(OPTIONS, normalize=True))
    assert result.functionals["E_W"] == pytest.approx(world.functionals()["E_W"], abs=1e-9)
    # Propensities wrong by a factor are put right by the normalisation, and only by it.
    scaled = replace(nu, q=nu.q * 0.8, mu3=nu.mu3 - 3)
    plain = effects_given(data, [scaled], OPTIONS).functionals["E_W"]
    normal = effects_given(data, [scaled], replace(OPTIONS, normalize=True)).functionals["E_W"]
    assert plain is not None
    assert normal is not None
    truth = world.functionals()["E_W"]
    assert abs(normal - truth) < 1e-9 < abs(plain - truth)
