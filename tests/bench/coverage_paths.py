"""Coverage of the path-specific intervals in designs whose truth is known exactly.

Run: python tests/bench/coverage_paths.py [--n 400 2000] [--sims 400] [--designs demo binary]
Prints one row per design, n and effect: the truth, bias, RMSE, mean standard error, coverage of
the nominal 95% interval over all samples and over those that pass the overlap rules, and the share
that pass. The table of the last run is kept in coverage_paths.txt.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from fairscreen.estimators.data import PathData
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import CONTRASTS, EFFECTS

A = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """Discrete structural model: pz (Z,), px (Z,), pr (2, Z, R), pb (2, Z, R, B), mean
    (2, Z, R, B) of Y, noise sd (None: Y is Bernoulli). Columns decode joint codes."""

    name: str
    pz: A
    px: A
    pr: A
    pb: A
    mean: A
    sd: float | None
    z: NDArray[np.int64]
    r: NDArray[np.int64]
    b: NDArray[np.int64]

    def truth(self) -> A:
        """TE, NDE, NIE, BIE, RIE."""

        def value(y: int, b: int, r: int) -> float:
            law = self.pz[:, None, None] * self.pr[r][:, :, None] * self.pb[b]
            return float((law * self.mean[y]).sum())

        levels = [value(1, 1, 1), value(0, 0, 0), value(1, 0, 0), value(1, 0, 1), value(1, 1, 0)]
        return CONTRASTS @ np.array(levels)

    def sample(self, n: int, rng: np.random.Generator, folds: int, repeats: int) -> PathData:
        def draw(p: A) -> NDArray[np.int64]:
            return (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)

        z = draw(np.tile(self.pz, (n, 1)))
        x = (rng.random(n) < self.px[z]).astype(np.int64)
        r = draw(self.pr[x, z])
        b = draw(self.pb[x, z, r])
        mean = self.mean[x, z, r, b]
        y = rng.random(n) < mean if self.sd is None else rng.normal(mean, self.sd)
        return PathData.from_rows(
            x=x, z=self.z[z], r=self.r[r], b=self.b[b], y=y.astype(float),
            fold=rng.integers(0, folds, size=(n, repeats)),
        )  # fmt: skip


@dataclass(frozen=True)
class Linear:
    """X -> R 0.5, X -> B 0.6, R -> B 0.5, Y = 50 + 2X + 1.5R + 3B, all noises standard normal; Z
    is noise. R and B enter as numbers beside their quintiles, as in `fairscreen analyze paths`."""

    name: str = "linear_continuous"

    def truth(self) -> A:
        """TE, NDE, NIE, BIE, RIE."""
        return np.array([5.3, 2.0, 3.3, 1.8, 1.5])

    def sample(self, n: int, rng: np.random.Generator, folds: int, repeats: int) -> PathData:
        def quintile(v: A) -> NDArray[np.int64]:
            return np.searchsorted(np.quantile(v, [0.2, 0.4, 0.6, 0.8]), v, side="right")

        x = rng.integers(0, 2, n)
        r = 0.5 * x + rng.normal(size=n)
        b = 0.6 * x + 0.5 * r + rng.normal(size=n)
        return PathData.from_rows(
            x=x, z=rng.integers(0, 3, n), r=quintile(r), b=quintile(b), r_values=r, b_values=b,
            y=50 + 2 * x + 1.5 * r + 3 * b + rng.normal(size=n),
            fold=rng.integers(0, folds, size=(n, repeats)),
        )  # fmt: skip


def grid(*sizes: int) -> NDArray[np.int64]:
    """All combinations of codes, one row each."""
    return np.stack([g.ravel() for g in np.meshgrid(*map(np.arange, sizes), indexing="ij")], 1)


def softmax(u: A) -> A:
    e = np.exp(u - u.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def binary() -> Design:
    """The all-binary model of the golden test."""
    x, z, w, v = np.meshgrid([0, 1], [0, 1], [0, 1], [0, 1], indexing="ij")
    pz1 = float(ndtr(-0.2))
    pw1 = ndtr(x[..., 0, 0] - z[..., 0, 0] - 0.8)
    pv1 = ndtr(x[..., 0] - z[..., 0] + w[..., 0] - 0.8)
    return Design(
        "binary", np.array([1 - pz1, pz1]), np.array([0.5, 0.5]),
        np.stack([1 - pw1, pw1], -1), np.stack([1 - pv1, pv1], -1),
        ndtr(x - z + 2 * (w - v) - 0.5), None, grid(2), grid(2), grid(2),
    )  # fmt: skip


def demo(
    name: str = "demo",
    *,
    own_name: float = 0.80,
    other_name: float = 0.06,
    direct: float = 2.0,
    interact: float = 0.0,
    sd: float = 5.0,
    edu: float = 0.5,
    region_edu: float = 0.3,
    signs: tuple[float, float] = (1.0, 1.0),
) -> Design:
    """Like one job of the demo: gender balanced; Z race x age band; R name gender, name cohort,
    surname race, region; B education group, experience band."""
    race, age = grid(3, 5).T
    gender, cohort, surname, region = grid(3, 4, 4, 4).T  # name gender: own/other/neutral by x
    level, exp = grid(3, 5).T
    pz = np.array([0.65, 0.2, 0.15])[race] * np.array([0.15, 0.25, 0.25, 0.2, 0.15])[age]
    px = np.full(15, 0.5)
    pg = np.array([[own_name, other_name], [other_name, own_name]])  # x, (female, male)
    pg = np.concatenate([pg, 1 - pg.sum(axis=1, keepdims=True)], axis=1)
    pc = softmax(-0.8 * (np.arange(4) - np.array([0, 0, 1, 2, 2])[:, None]) ** 2)  # age, cohort
    ps = np.where(np.eye(3, 4, dtype=bool), 0.7, 0.1)  # race, surname
    pl = softmax(np.array([[0.0, 0.2, 0.3, 0.1], [0.1, 0.2, 0.2, 0.3]]))  # x, region
    pr = np.stack([
        pg[x][gender] * pc[age][:, cohort] * ps[race][:, surname] * pl[x][region] for x in (0, 1)
    ])  # fmt: skip
    low = np.array([0.0, 0.6, -0.6])  # education leans
    pb = np.zeros((2, 15, 192, 15))
    for x in (0, 1):
        lean = edu * x + region_edu * (region == 0)
        pe = softmax(low + lean[:, None] * np.arange(3))  # R, education
        mid = np.array([0, 1, 2, 3, 4])[age][:, None, None] + 0.3 * x - 0.3 * np.arange(3)
        px_ = softmax(-0.5 * (np.arange(5) - mid[:, 0, :, None]) ** 2)  # Z, edu, exp
        pb[x] = pe[:, level][None] * px_[:, level, exp][:, None, :]
    sr, sb = signs
    male = (gender == 1).astype(float) - (gender == 0)
    of_r = sr * (1.5 * male + 0.8 * (region == 3)) + 0.5 * (surname == 0)
    of_b = sb * (2.0 * level + 1.0 * exp)
    mean = np.zeros((2, 15, 192, 15))
    for x in (0, 1):
        mean[x] = (
            50 + direct * x - 0.5 * age[:, None, None] + 1.0 * (race == 0)[:, None, None]
            + of_r[:, None] + of_b
            + interact * (male[:, None] * level * (0.5 + x) + (2 * x - 1) * exp * 0.5)
        )  # fmt: skip
    return Design(name, pz, px, pr, pb, mean, sd, grid(3, 5), grid(3, 4, 4, 4), grid(3, 5))


def null() -> Design:
    """X moves names and regions, and the score reads neither."""
    d = demo("null", direct=0.0, edu=0.0, region_edu=0.0, signs=(0.0, 1.0))
    pb = np.stack([d.pb[0], d.pb[0]])
    return Design(**{**d.__dict__, "pb": pb})


def logistic() -> Design:
    """Bernoulli answers, rare and curved."""
    d = demo("bernoulli", own_name=0.6, other_name=0.15)
    return Design(**{**d.__dict__, "mean": expit((d.mean - 58) / 3), "sd": None})


DESIGNS: dict[str, Callable[[], Design | Linear]] = {
    "binary": binary,
    "demo": demo,
    "demo_mild": lambda: demo("demo_mild", own_name=0.55, other_name=0.2),
    "demo_weak": lambda: demo("demo_weak", own_name=0.90, other_name=0.01),
    "interaction": lambda: demo("interaction", own_name=0.55, other_name=0.2, interact=1.0),
    "cancellation": lambda: demo("cancellation", direct=-1.5, signs=(-0.5, 1.0)),
    "null": null,
    "bernoulli": logistic,
    "linear_continuous": Linear,
}


def study(design: Design | Linear, n: int, sims: int, options: PathOptions, repeats: int) -> None:
    truth = design.truth()
    estimates, errors, computed = np.zeros((3, sims, 5))
    start = time.perf_counter()
    for s in range(sims):
        data = design.sample(n, np.random.default_rng([s, n]), 5, repeats)
        result = path_effects(data, options)
        if result.influence is None or result.c is None or result.covariance is None:
            raise RuntimeError(f"sample {s}: {result.summary()}")
        phi = result.influence * data.n[:, None] + result.c * data.sum_y[:, None]
        estimates[s] = phi.sum(axis=0) / data.n.sum()
        errors[s] = np.sqrt(np.diag(result.covariance))
        computed[s] = [e.status != "not_computable" for e in result.effects.values()]
    seconds = (time.perf_counter() - start) / sims
    inside = np.abs(estimates - truth) <= ndtri(0.975) * errors
    for j, effect in enumerate(EFFECTS):
        ok = computed[:, j] == 1
        passing = f"{inside[ok, j].mean():8.1%}" if ok.any() else f"{'none':>8}"
        off = estimates[:, j] - truth[j]
        print(
            f"{design.name:<18}{n:>6} {effect:<5}{truth[j]:>9.4f}{off.mean():>9.4f}"
            f"{np.sqrt((off**2).mean()):>9.4f}{errors[:, j].mean():>9.4f}"
            f"{inside[:, j].mean():>8.1%}{passing}{ok.mean():>8.1%}",
            flush=True,
        )
    print(f"  {sims} samples, {seconds:.2f} s each", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[400, 2000])
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=list(DESIGNS))
    parser.add_argument("--learner", default="saturated", choices=["saturated", "xgboost"])
    parser.add_argument("--normalize", action="store_true")
    given = parser.parse_args()
    options = PathOptions(
        learner=given.learner, bootstrap_draws=0, sensitivity_clips=(), normalize=given.normalize
    )
    print(
        f"{'design':<18}{'n':>6} {'eff.':<5}{'truth':>9}{'bias':>9}{'rmse':>9}{'mean se':>9}"
        f"{'cover':>8}{'passing':>8}{'pass':>8}"
    )
    for name in given.designs:
        for n in given.n:
            study(DESIGNS[name](), n, given.sims, options, given.repeats)


if __name__ == "__main__":
    main()
