"""Structural models with a known truth: Z, X, R, B, Y all discrete but Y, effects by enumeration.

A sample is counted, not listed: how many people fall in each (fold, X, Z, R, B) is multinomial,
and given that count the sum of Y and of Y^2 in a cell are drawn exactly (normal and chi-squared,
or binomial). So a sample costs what its cells cost, whatever the number of people.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from fairscreen.estimators.data import PathData
from fairscreen.estimators.results import CONTRASTS

A = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Counted:
    """People, sum of Y and of Y^2 by (fold, x, Z, R, B); a leading axis of samples may be there."""

    n: A
    y: A
    yy: A


@dataclass(frozen=True, eq=False)
class Design:
    """pz (Z,), px (Z,) = P(x1 | Z), pr (2, Z, R), pb (2, Z, R, B), mean (2, Z, R, B) of Y; noise
    sd (2, Z, R, B) or None: Y is Bernoulli. z, r, b (., k): the codes of a joint value.

    coarse_r (R,), coarse_b (B,): the group of each value, where the estimator sees groups; z, r, b
    are then the codes of the groups.
    """

    name: str
    pz: A
    px: A
    pr: A
    pb: A
    mean: A
    sd: A | None
    z: Ints
    r: Ints
    b: Ints
    coarse_r: Ints | None = None
    coarse_b: Ints | None = None

    @cached_property
    def law(self) -> A:
        """P(x, Z, R, B)."""
        px = np.stack([1 - self.px, self.px])
        return self.pz[:, None, None] * px[:, :, None, None] * self.pr[..., None] * self.pb

    def truth(self) -> A:
        """TE, NDE, NIE, BIE, RIE of what the estimator sees."""
        law = self.grouped(self.law)
        mean = self.grouped(self.law * self.mean) / law
        pr = law.sum(axis=3) / law.sum(axis=(2, 3))[..., None]
        return effects(self.pz, pr, law / law.sum(axis=3, keepdims=True), mean)

    def raw_truth(self) -> A:
        """The same given the values themselves, not their groups."""
        return effects(self.pz, self.pr, self.pb, self.mean)

    def grouped(self, values: A) -> A:
        """Sums of values (..., R, B) over the values of each group."""
        if self.coarse_r is None or self.coarse_b is None:
            return values
        r, b = one_hot(self.coarse_r), one_hot(self.coarse_b)
        return np.einsum("...rb,rj,bk->...jk", values, r, b, optimize=True)

    def sample(self, n: int, rng: np.random.Generator) -> Counted:
        """n people in FOLDS folds, as counts."""
        p = np.broadcast_to(self.law / FOLDS, (FOLDS, *self.law.shape))
        count = rng.multinomial(n, p.ravel() / p.sum())
        some = np.flatnonzero(count)
        m = count[some]
        mean = np.broadcast_to(self.mean, p.shape).ravel()[some]
        if self.sd is None:
            y = rng.binomial(m, np.clip(mean, 0, 1)).astype(float)
            yy = y
        else:
            sd = np.broadcast_to(self.sd, p.shape).ravel()[some]
            y = m * mean + np.sqrt(m) * sd * rng.standard_normal(len(m))
            left = np.zeros(len(m))
            left[m > 1] = rng.chisquare(m[m > 1] - 1)
            yy = y**2 / m + sd**2 * left
        found = []
        for values in (m, y, yy):
            full = np.zeros(p.size)
            full[some] = values
            found.append(self.grouped(full.reshape(p.shape)))
        return Counted(*found)

    def samples(self, n: int, reps: range, study: str) -> Counted:
        """Samples number `reps` of a study, stacked."""
        drawn = [self.sample(n, rng_of(self.name, n, rep, study)) for rep in reps]
        parts = [(one.n, one.y, one.yy) for one in drawn]
        return Counted(*(np.stack(part) for part in zip(*parts, strict=True)))

    def cells(self, drawn: Counted) -> PathData:
        """The same sample as the library takes it."""
        fold, x, z, r, b = np.nonzero(drawn.n)
        at = (fold, x, z, r, b)
        return PathData(
            x=x.astype(np.int8), z=self.z[z], r=self.r[r], b=self.b[b],
            n=drawn.n[at].astype(np.int64), w=np.ones(len(x)),
            sum_y=drawn.y[at], sum_yy=drawn.yy[at], fold=fold[:, None].astype(np.int64),
        )  # fmt: skip


def effects(pz: A, pr: A, pb: A, mean: A) -> A:
    """TE, NDE, NIE, BIE, RIE of a structural model, by summing over all values."""

    def value(y: int, b: int, r: int) -> float:
        law = pz[:, None, None] * pr[r][:, :, None] * pb[b]
        return float((law * mean[y]).sum())

    levels = [value(1, 1, 1), value(0, 0, 0), value(1, 0, 0), value(1, 0, 1), value(1, 1, 0)]
    return CONTRASTS @ np.array(levels)


def rng_of(name: str, n: int, rep: int, study: str) -> np.random.Generator:
    """The generator of one sample: any row of a table can be made again alone."""
    keys = [zlib.crc32(f"{study}/{name}".encode()), n, rep]
    return np.random.default_rng(np.random.SeedSequence(keys))


def grid(*sizes: int) -> Ints:
    """All combinations of codes, one row each."""
    return np.stack([g.ravel() for g in np.meshgrid(*map(np.arange, sizes), indexing="ij")], 1)


def softmax(u: A) -> A:
    e = np.exp(u - u.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def one_hot(code: Ints) -> A:
    return (code[:, None] == np.arange(code.max() + 1)).astype(float)


# What a rule of a design sees: code columns that broadcast over (x, Z, R, B).
Rule = Callable[[A, list[A], list[A], list[A]], A]


def build(
    name: str, sizes: tuple[tuple[int, ...], ...], *, pz: A, px: Callable[[list[A]], A],
    r_logit: Rule, b_logit: Rule, mean: Rule, sd: Rule | float | None,
) -> Design:  # fmt: skip
    """A design from rules: R and B are softmaxes of logits over all their joint values."""
    z, r, b = (grid(*s) for s in sizes)
    x = np.arange(2.0)[:, None, None, None]
    zs = [c[None, :, None, None].astype(float) for c in z.T]
    rs = [c[None, None, :, None].astype(float) for c in r.T]
    bs = [c[None, None, None, :].astype(float) for c in b.T]
    full = (2, len(z), len(r), len(b))
    pr = softmax(np.broadcast_to(r_logit(x, zs, rs, bs)[..., 0], full[:3]))
    pb = softmax(np.broadcast_to(b_logit(x, zs, rs, bs), full))
    spread = sd(x, zs, rs, bs) if callable(sd) else sd
    return Design(
        name, pz / pz.sum(), np.broadcast_to(px([c.astype(float) for c in z.T]), len(z)), pr, pb,
        np.broadcast_to(mean(x, zs, rs, bs), full).copy(),
        None if spread is None else np.broadcast_to(np.asarray(spread, dtype=float), full),
        z, r, b,
    )  # fmt: skip


def binary() -> Design:
    """The all-binary model of the golden test."""
    x, z, w, v = np.meshgrid([0, 1], [0, 1], [0, 1], [0, 1], indexing="ij")
    pz1 = float(ndtr(-0.2))
    pw1 = ndtr(x[..., 0, 0] - z[..., 0, 0] - 0.8)
    pv1 = ndtr(x[..., 0] - z[..., 0] + w[..., 0] - 0.8)
    return Design(
        "binary", np.array([1 - pz1, pz1]), np.array([0.6, 0.35]),
        np.stack([1 - pw1, pw1], -1), np.stack([1 - pv1, pv1], -1),
        ndtr(x - z + 2 * (w - v) - 0.5), None, grid(2), grid(2), grid(2),
    )  # fmt: skip


def office(
    name: str, *, own: float = 0.6, other: float = 0.15, direct: float = 2.0, edu: float = 0.5,
    of_name: float = 1.5, of_place: float = 1.0, of_edu: float = 2.0, place_edu: float = 0.3,
    interact: float = 0.0, confounded: float = 0.0, odds: float = 0.0, sd: Rule | float = 5.0,
) -> Design:  # fmt: skip
    """A small audit: Z race (2) x age (3); R first name (own gender's, the other's, neutral),
    surname (2), region (2); B education (3), experience (3). 648 joint values of Z, R, B.

    own, other: how many carry a name of their own gender or of the other. edu, place_edu: log odds
    by which X and region lift education. of_name, of_place, of_edu: what the score gives for them.
    confounded: log odds of x1 per step of race and age; odds: log odds beside.
    """
    table = np.array([[own, other], [other, own]])  # x: names of group 0, of group 1
    names = np.log(np.concatenate([table, 1 - table.sum(axis=1, keepdims=True)], axis=1))

    def r_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        of_x = names[x.astype(int), r[0].astype(int)]
        return of_x + 1.7 * (r[1] == z[0]) + (0.3 + 0.2 * x) * r[2] * (1 - 0.3 * z[1])

    def b_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        lean = edu * x + place_edu * (r[2] - 0.5) + 0.2 * (z[0] - 0.5) + 0.2 * interact * x * r[1]
        return b[0] * (lean - 0.3) - 0.6 * (b[1] - z[1] - 0.3 * edu * x + 0.2 * b[0]) ** 2

    def mean(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        male = (r[0] == 1) * 1.0 - (r[0] == 0)
        through_r = of_name * male + of_place * (0.5 * r[1] + 0.8 * r[2])
        both = male * b[0] * (0.5 + x) + (2 * x - 1) * b[1] * 0.5
        level = 50 + direct * x - 0.5 * z[1] + z[0] + through_r
        return level + of_edu * (b[0] + 0.5 * b[1]) + interact * both

    pz = (np.array([0.7, 0.3])[:, None] * np.array([0.3, 0.4, 0.3])).ravel()
    return build(
        name, ((2, 3), (3, 2, 2), (3, 3)), pz=pz,
        px=lambda z: expit(confounded * (z[0] - z[1] + 0.7) + odds),
        r_logit=r_logit, b_logit=b_logit, mean=mean, sd=sd,
    )  # fmt: skip


def null() -> Design:
    """X moves names and places and the score reads neither: every effect is 0."""
    return office(
        "null", own=0.7, other=0.1, direct=0.0, edu=0.0, place_edu=0.0, of_name=0.0, of_place=0.0
    )


def rough(name: str = "rough", own: float = 0.6, other: float = 0.15) -> Design:
    """Nothing adds up: random deviations (fixed) of every cell's mean and of P(R|.), P(B|.)."""
    draw = np.random.default_rng(11)
    d = office(name, own=own, other=other, confounded=0.4)
    pr = softmax(np.log(d.pr) + draw.normal(0, 0.35, d.pr.shape))
    pb = softmax(np.log(d.pb) + draw.normal(0, 0.35, d.pb.shape))
    return replace(d, pr=pr, pb=pb, mean=d.mean + draw.normal(0, 2.0, d.mean.shape))


def bernoulli(name: str = "bernoulli", own: float = 0.6, other: float = 0.15) -> Design:
    """Yes or no, curved in everything."""
    d = office(name, own=own, other=other)
    return replace(d, mean=expit((d.mean - 57) / 3), sd=None)


def uneven(x: A, z: list[A], r: list[A], b: list[A]) -> A:
    """Noise from 2 to 8 points."""
    return 2 + 2 * x + 2 * (b[0] == 2) + z[1]


def linear(name: str = "linear", reach: float = 1.0, sizes: tuple[int, int] = (7, 9)) -> Design:
    """X -> R 0.5, X -> B 0.6, R -> B 0.5, Y = 50 + 2X + 1.5R + 3B + noise on lattices: NDE 2 and,
    with reach 1, BIE about 1.8, RIE about 1.5. Z is noise. reach: of the lattices; with 1 their
    ends are rare (of 6,000 people 2 of group x1 have the lowest B, 25 of x0)."""
    points_r = 0.25 + reach * np.linspace(-2.5, 2.5, sizes[0])
    points_b = 0.5 + reach * np.linspace(-3.5, 3.5, sizes[1])

    def r_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        return -0.5 * (points_r[r[0].astype(int)] - 0.5 * x) ** 2

    def b_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        centre = 0.6 * x + 0.5 * points_r[r[0].astype(int)]
        return -0.5 * (points_b[b[0].astype(int)] - centre) ** 2

    def mean(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        return 50 + 2 * x + 1.5 * points_r[r[0].astype(int)] + 3 * points_b[b[0].astype(int)]

    return build(
        name, ((3,), sizes[:1], sizes[1:]), pz=np.ones(3), px=lambda z: 0.5 + 0 * z[0],
        r_logit=r_logit, b_logit=b_logit, mean=mean, sd=1.0,
    )  # fmt: skip


def coarsened() -> Design:
    """X is not in the document (raw NDE 0); the estimator sees names in 3 groups of 6, education in
    3 groups of 6. Grouping leaves some of the path through names to look direct."""

    def r_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        return (2 * x - 1) * (r[0] - 2.5) * 0.55 - 0.1 * (r[0] - 2.5) ** 2 + 0.3 * x * r[1]

    def b_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        return b[0] * (0.2 * x + 0.05 * (r[0] - 2.5) + 0.1 * z[0]) - 0.25 * (b[0] - 2.5) ** 2

    def mean(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        return 50 + 0.8 * (r[0] - 2.5) + 0.5 * r[1] + 1.5 * b[0] + 0.5 * z[0]

    fine = build(
        "coarsened", ((4,), (6, 2), (6,)), pz=np.array([0.3, 0.3, 0.2, 0.2]),
        px=lambda z: 0.5 + 0 * z[0], r_logit=r_logit, b_logit=b_logit, mean=mean, sd=4.0,
    )  # fmt: skip
    return replace(
        fine, r=grid(3, 2), b=grid(3),
        coarse_r=fine.r[:, 0] // 2 * 2 + fine.r[:, 1], coarse_b=fine.b[:, 0] // 2,
    )  # fmt: skip


def nurses(
    name: str, *, men: float = 0.5, own: float = 0.80, other: float = 0.06, direct: float = 2.0,
    edu: float = 0.5,
) -> Design:  # fmt: skip
    """Like one job of the demo, 2,916 joint values: Z race (3) x age (3); R first name (own
    gender's, the other's, neutral), its cohort (2), surname (3), region (2); B education (3),
    experience (3). men: P(x1)."""
    table = np.array([[own, other], [other, own]])
    names = np.log(np.concatenate([table, 1 - table.sum(axis=1, keepdims=True)], axis=1))

    def r_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        of_x = names[x.astype(int), r[0].astype(int)]
        return (
            of_x + (z[1] - 1) * (2 * r[1] - 1) + np.log(7.0) * (r[2] == z[0])
            + (0.2 + 0.2 * x) * r[3]
        )  # fmt: skip

    def b_logit(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        low = np.array([0.0, 0.6, -0.6])[b[0].astype(int)]
        lean = (edu * x + 0.3 * r[3]) * b[0]
        return low + lean - 0.8 * (b[1] - z[1] - 0.3 * x + 0.3 * b[0]) ** 2

    def mean(x: A, z: list[A], r: list[A], b: list[A]) -> A:
        male = (r[0] == 1) * 1.0 - (r[0] == 0)
        through_r = 1.5 * male + 0.8 * r[3] + 0.5 * (r[2] == 0)
        return 50 + direct * x - 0.5 * z[1] + (z[0] == 0) + through_r + 2.0 * b[0] + 1.5 * b[1]

    race, age = np.array([0.65, 0.2, 0.15]), np.array([0.3, 0.4, 0.3])
    return build(
        name, ((3, 3), (3, 2, 3, 2), (3, 3)), pz=(race[:, None] * age).ravel(),
        px=lambda z: men + 0 * z[0], r_logit=r_logit, b_logit=b_logit, mean=mean, sd=5.0,
    )  # fmt: skip


@dataclass(frozen=True)
class Linear:
    """X -> R 0.5, X -> B 0.6, R -> B 0.5, Y = 50 + 2X + 1.5R + 3B, all noises standard normal; Z
    is noise. R and B enter as numbers beside their quintiles, as in `fairscreen analyze paths`."""

    name: str = "linear_continuous"

    def truth(self) -> A:
        """TE, NDE, NIE, BIE, RIE."""
        return np.array([5.3, 2.0, 3.3, 1.8, 1.5])

    def rows(self, n: int, rng: np.random.Generator) -> PathData:
        """n people, each a cell."""

        def quintile(v: A) -> Ints:
            return np.searchsorted(np.quantile(v, [0.2, 0.4, 0.6, 0.8]), v, side="right")

        x = rng.integers(0, 2, n)
        r = 0.5 * x + rng.normal(size=n)
        b = 0.6 * x + 0.5 * r + rng.normal(size=n)
        return PathData.from_rows(
            x=x, z=rng.integers(0, 3, n), r=quintile(r), b=quintile(b), r_values=r, b_values=b,
            y=50 + 2 * x + 1.5 * r + 3 * b + rng.normal(size=n),
            fold=rng.integers(0, FOLDS, size=(n, 1)),
        )  # fmt: skip


# Of the study, easy ones first.
DESIGNS: dict[str, Callable[[], Design | Linear]] = {
    "binary": binary,
    "null": null,
    "office": lambda: office("office"),
    # BIE and RIE cancel in NIE.
    "cancellation": lambda: office(
        "cancellation", direct=-1.0, edu=0.8, of_name=-1.25, of_place=0.3
    ),
    "interaction": lambda: office("interaction", interact=1.0),
    "uneven_noise": lambda: office("uneven_noise", confounded=1.0, sd=uneven),
    "bernoulli": bernoulli,
    "linear": linear,
    "linear_inner": lambda: linear("linear_inner", reach=0.55, sizes=(5, 7)),
    "linear_continuous": Linear,
    "coarsened": coarsened,
    "rough": rough,
    "weak_overlap": lambda: office("weak_overlap", own=0.9, other=0.03, edu=0.8),
    "hopeless": lambda: office("hopeless", own=0.9, other=0.002),
    "nurses": lambda: nurses("nurses"),
    "nurses_14_percent": lambda: nurses("nurses_14_percent", men=0.14),
}
