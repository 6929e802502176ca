"""Size and power of the ranking tests, by simulation. Run: make study-ranking (half an hour).

Nulls: labels exchangeable within the resume. A pair of ranks (favored, other) of a resume has
correlation -1/2 where they are ranks of three versions with independent scores; 0, 0.5 and 0.9
where, with that probability, both are one draw from five ranks, else two. Default tests: level
(sign flip), spread (paired swap, 19,999 swaps), information slope (fixed effects, CR1, t(G - 1),
four levels of words a resume). Bar: rejection at most nominal + 3 Monte Carlo errors. Shown
without a bar: the published tests, the interval of the impact ratio, a skewed gap whose mean is 0,
levels flipped one by one.

The tests are those of the package, many samples at a time: level from the characteristic function
of counts, spread by the same signs for a block of samples (a block of 1,000 samples has signs of
its own). Each is compared with the package's function on some samples first. Swaps: 999 at first,
19,999 where those leave the verdict open (p up to 0.006, 0.027 to 0.08).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from fairscreen.estimators.information import information
from fairscreen.estimators.pooled_permutation import pooled_permutation
from fairscreen.estimators.rank_level import level_test
from fairscreen.estimators.rank_spread import spread_test
from fairscreen.estimators.ranks import ranks

A = NDArray[np.float64]
LEVELS = (0.05, 0.0005)
BLOCK = 1_000
SHARES = np.array([0.1, 0.4, 0.6, 1.0])


@dataclass(frozen=True)
class Law:
    """Joint law of the ranks of favored and other: values (C, 2), probabilities (C,)."""

    name: str
    values: A
    p: A

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> NDArray[np.int64]:
        return np.searchsorted(np.cumsum(self.p)[:-1], rng.random(size), side="right")

    @property
    def correlation(self) -> float:
        mean = self.p @ self.values
        centred = self.values - mean
        both = (centred * self.p[:, None]).T @ centred
        return float(both[0, 1] / np.sqrt(both[0, 0] * both[1, 1]))


def three_versions(name: str, lean: float = 0.0, wide: float = 0.0) -> Law:
    """Ranks of three versions with independent scores 0 to 8; other's lean up, or are wider."""
    score = np.arange(9)
    plain = np.exp(-0.5 * ((score - 4) / 1.2) ** 2)
    moved = np.exp(-0.5 * ((score - 4 - lean) / (1.2 * np.exp(wide))) ** 2)
    plain, moved = plain / plain.sum(), moved / moved.sum()
    grid = np.stack(np.meshgrid(score, score, score, indexing="ij"), axis=-1).reshape(-1, 3)
    p = plain[grid[:, 0]] * moved[grid[:, 1]] * plain[grid[:, 2]]
    place = ranks(grid)[:, :2]
    values, at = np.unique(place, axis=0, return_inverse=True)
    return Law(name, values, np.bincount(at.reshape(-1), weights=p))


def mixture(rho: float, scale: float = 1.0) -> Law:
    """Both one draw with probability rho, else two; scale widens favored's distance from 2."""
    value, m = np.array([1, 1.5, 2, 2.5, 3]), np.array([0.25, 0.15, 0.2, 0.15, 0.25])
    joint = (1 - rho) * np.outer(m, m) + rho * np.diag(m)
    grid = np.stack(np.meshgrid(2 + scale * (value - 2), value, indexing="ij"), axis=-1)
    return Law(f"correlation {rho:g}", grid.reshape(-1, 2), joint.reshape(-1))


def sign_flip_p(units: NDArray[np.int64]) -> A:
    """Exact two-sided p (R,) of sums of differences (R, n) in units."""
    largest = int(np.abs(units).max())
    counts = np.stack([(np.abs(units) == u).sum(axis=1) for u in range(1, largest + 1)], axis=1)
    total = counts @ np.arange(1, largest + 1)
    length = 1 << int(np.ceil(np.log2(total.max() + 1)))
    angle = np.pi * np.arange(length // 2 + 1) / length
    wave = np.cos(np.outer(np.arange(1, largest + 1), angle))
    size = np.exp(counts @ np.log(np.maximum(np.abs(wave), 1e-300)))
    size *= 1 - 2 * ((counts @ (wave < 0)) % 2)
    law = np.fft.irfft(size * np.exp(-1j * np.outer(total, angle)), n=length, axis=1)
    first = (total + np.abs(units.sum(axis=1)) + 1) // 2
    tail = np.where(np.arange(length) >= first[:, None], law, 0.0)
    tail = np.where(np.arange(length) <= total[:, None], tail, 0.0).sum(axis=1)
    return np.where(units.sum(axis=1) == 0, 1.0, np.minimum(1.0, 2 * tail))


def swap_p(one: A, two: A, rng: np.random.Generator) -> A:
    """p (R,) of the paired swap of ranks (R, n); NaN where a side does not vary."""
    n = one.shape[1]
    a, b = (v - v.mean(axis=1, keepdims=True) for v in (one, two))
    h, g, q = (a - b) / 2, (a**2 - b**2) / 2, (a**2 + b**2).sum(axis=1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (a**2).sum(axis=1) / (b**2).sum(axis=1)
        size = np.maximum(ratio, 1 / ratio) * (1 - 1e-12)

    def swapped(at: NDArray[np.int64], draws: int) -> A:
        signs = 2.0 * rng.integers(0, 2, (draws, n), dtype=np.int8) - 1
        big_h, big_g = signs @ h[at].T, signs @ g[at].T
        larger = np.abs(big_g) * (size[at] + 1) >= (q[at] - big_h**2 / n) * (size[at] - 1)
        return larger.sum(axis=0)

    everybody = np.arange(len(one))
    p = (1 + swapped(everybody, 999)) / 1_000
    left = np.flatnonzero((p <= 0.006) | ((p >= 0.027) & (p <= 0.08)))
    if len(left):
        beyond = sum(swapped(left, draws) for draws in (5_000, 5_000, 5_000, 4_999))
        p[left] = (1 + beyond) / 20_000
    return np.where(np.isfinite(ratio) & (ratio > 0), p, np.nan)


def slope_p(d: A, log: A) -> A:
    """p (R,) of the information slope: gaps d (R, n, 4) at log words (n, 4)."""
    n, levels = log.shape
    dev = log - log.mean(axis=1, keepdims=True)
    sxx_i = (dev**2).sum(axis=1)
    sxy_i = (d * dev).sum(axis=2)
    beta = sxy_i.sum(axis=1) / sxx_i.sum()
    score = sxy_i - beta[:, None] * sxx_i
    factor = n / (n - 1) * (n * levels - 1) / (n * levels - 2)
    error = np.sqrt(factor * (score**2).sum(axis=1)) / sxx_i.sum()
    return 2 * student.sf(np.abs(beta) / error, n - 1)


def impact_p(one: A, two: A) -> A:
    x, y = (one <= two).mean(axis=1), (one >= two).mean(axis=1)
    apart = (one != two).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.log(x / y) / np.sqrt(apart / (x * y * one.shape[1]))
    return np.where(np.isfinite(z), 2 * norm.sf(np.abs(z)), 1.0)


def words_of(rng: np.random.Generator, n: int) -> A:
    """log words (n, 4): resumes of 150 to 1,500 words at about 10, 40, 60 and 100%."""
    full = np.exp(rng.normal(6.1, 0.4, (n, 1)))
    return np.log(np.maximum(1, np.rint(full * SHARES * rng.uniform(0.8, 1.2, (n, 4)))))


def told(p: A, draws: int) -> list[str]:
    """Share rejected at each level, starred where above nominal + 3 Monte Carlo errors."""
    cells = []
    for level in LEVELS:
        share = float(np.mean(np.nan_to_num(p, nan=1.0) <= level * (1 + 1e-12)))
        bar = level + 3 * np.sqrt(level * (1 - level) / draws)
        cells.append(f"{share:.5f}{' *' if share > bar else '  '}")
    return cells


def checked(seed: int = 7) -> None:
    """The block forms are the package's tests, on samples of every kind."""
    rng = np.random.default_rng(seed)
    for law in (three_versions("three"), mixture(0.5)):
        pairs = law.values[law.draw(rng, (40, 60))]
        one, two = pairs[..., 0], pairs[..., 1]
        mine = sign_flip_p(np.rint(2 * (one - two)).astype(np.int64))
        for r in range(40):
            own = level_test(d=one[r] - two[r], item=np.arange(60)).p_value
            assert abs(own - mine[r]) < 1e-11, (own, mine[r])
        swaps = swap_p(one, two, rng)
        for r in range(40):
            own = spread_test(a=one[r], b=two[r], item=np.arange(60)).p_value
            draws = 20_000 if swaps[r] <= 0.006 or 0.027 <= swaps[r] <= 0.08 else 1_000
            error = np.sqrt(own * (1 - own) * (1 / draws + 1 / 20_000))
            assert abs(own - swaps[r]) < 4.5 * error + 2e-3, (own, swaps[r])
        log, d = words_of(rng, 50), rng.choice([-1, -0.5, 0, 1], (5, 50, 4))
        slopes = slope_p(d, log)
        for r in range(5):
            own = information(
                d=d[r].reshape(-1), words=np.exp(log).reshape(-1), item=np.repeat(np.arange(50), 4)
            )
            assert abs(own.slope.p_value - slopes[r]) < 1e-10


def sampled(
    law: Law, n: int, draws: int, rng: np.random.Generator, *, spread: bool = True
) -> dict[str, A]:
    """p-values by test over `draws` samples of n resumes."""
    found: dict[str, list[A]] = {}
    for start in range(0, draws, BLOCK):
        size = min(BLOCK, draws - start)
        pairs = law.values[law.draw(rng, (size, n))]
        one, two = pairs[..., 0], pairs[..., 1]
        d = np.rint(2 * (one - two)).astype(np.int64)
        part = {"level": sign_flip_p(d), "impact": impact_p(one, two)}
        if spread:
            part["spread"] = swap_p(one, two, rng)
        gap = law.values[law.draw(rng, (size, n, 4))]
        part["slope"] = slope_p(gap[..., 0] - gap[..., 1], words_of(rng, n))
        for name, p in part.items():
            found.setdefault(name, []).append(p)
    return {name: np.concatenate(p) for name, p in found.items()}


def published(law: Law, n: int, draws: int, rng: np.random.Generator) -> tuple[A, A]:
    """p of level and spread by the published test (1,999 shuffles)."""
    level, spread = np.empty(draws), np.empty(draws)
    for r in range(draws):
        pairs = law.values[law.draw(rng, (n,))]
        got = pooled_permutation(x=pairs[:, 0], y=pairs[:, 1], draws=1_999, seed=r)
        level[r], spread[r] = got.p_level, 1.0 if got.p_spread is None else got.p_spread
    return level, spread


def size_tables(draws: int, few: int, say: Callable[[str], None]) -> None:
    nulls = [three_versions("three versions"), *(mixture(rho) for rho in (0, 0.5, 0.9))]
    say(
        f"Size, {draws:,} samples each (published tests {few:,}); * = above nominal + 3 Monte Carlo"
    )
    say("errors. Rejected at 5% and at 0.05%.\n")
    say(f"{'within-resume':<15}{'n':>5}  {'test':<22}{'5%':>10}{'0.05%':>11}")
    for k, law in enumerate(nulls):
        for n in (100, 400):
            rng = np.random.default_rng([1, k, n])
            p = sampled(law, n, draws, rng)
            for name in ("level", "spread", "slope"):
                cells = "".join(f"{c:>12}" for c in told(p[name], draws))
                say(f"{law.correlation:<+15.2f}{n:>5}  {name:<20}{cells}")
            level, spread = published(law, n, few, rng)
            for name, values in (
                ("impact interval", p["impact"]), ("published level", level),
                ("published spread", spread),
            ):  # fmt: skip
                shown = "".join(f"{np.mean(values <= a):>10.5f}  " for a in LEVELS)
                say(f"{'':<20}  ({name}){'':<{18 - len(name)}}{shown}")


def other_tables(draws: int, few: int, say: Callable[[str], None]) -> None:
    rng = np.random.default_rng(2)
    say(f"\nOutside the null, no bar: D is +2 with probability p, -0.5 with 4 p, else 0; {draws:,}")
    say("samples. Its mean is 0, but it is skewed.\n")
    say(f"{'p':>6}{'n':>5}  {'test':<24}{'5%':>10}{'0.05%':>11}")
    for p_up, n in ((0.2, 100), (0.2, 400), (0.03, 100), (0.03, 400)):
        flips, ts = [], []
        for start in range(0, draws, BLOCK):
            u = rng.random((min(BLOCK, draws - start), n))
            d = np.where(u < p_up, 4, np.where(u < 5 * p_up, -1, 0))
            flips.append(sign_flip_p(d))
            with np.errstate(divide="ignore", invalid="ignore"):
                z = d.mean(axis=1) / d.std(axis=1, ddof=1) * np.sqrt(n)
            ts.append(2 * student.sf(np.abs(np.nan_to_num(z)), n - 1))
        for name, p in (("sign flip", flips), ("t interval", ts)):
            shown = "".join(f"{np.mean(np.concatenate(p) <= a):>11.5f}" for a in LEVELS)
            say(f"{p_up:>6g}{n:>5}  {name:<24}{shown}")
    say(
        f"\nFour sets of a resume, gaps correlated 0.5 within it; {few:,} samples of 100 resumes.\n"
    )
    law, whole, single = three_versions("three"), [], []
    for start in range(0, few, BLOCK):
        size = min(BLOCK, few - start)
        same = rng.random((size, 100, 4)) < np.sqrt(0.5)
        shared, own = law.draw(rng, (size, 100, 1)), law.draw(rng, (size, 100, 4))
        pairs = law.values[np.where(same, shared, own)]
        d = np.rint(2 * (pairs[..., 0] - pairs[..., 1])).astype(np.int64)
        whole.append(sign_flip_p(d.sum(axis=2)))
        single.append(sign_flip_p(d.reshape(size, -1)))
    for name, p in (("whole resumes flipped", whole), ("(sets flipped one by one)", single)):
        cells = "".join(f"{c:>12}" for c in told(np.concatenate(p), few))
        say(f"{'':>5}  {name:<30}{cells}")


def power_tables(few: int, say: Callable[[str], None]) -> None:
    say(
        f"\nPower, {few:,} samples (published level and spread {few // 4:,}). Level: other's scores"
    )
    say("lean up; spread: other's scores vary more.\n")
    say(f"{'alternative':<26}{'n':>5}  {'test':<20}{'5%':>10}{'0.05%':>11}")
    for k, (lean, wide) in enumerate(((0.2, 0), (0.4, 0), (0, 0.2), (0, 0.4))):
        law = three_versions("power", lean, wide)
        gap = float(law.p @ (law.values[:, 0] - law.values[:, 1]))
        mean = law.p @ law.values
        ratio = float(np.divide(*(law.p @ (law.values - mean) ** 2)))
        label = f"rank gap {gap:+.3f}" if lean else f"variance ratio {ratio:.2f}"
        for n in (100, 400):
            rng = np.random.default_rng([3, k, n])
            p = sampled(law, n, few, rng, spread=bool(wide))
            level, spread = published(law, n, few // 4, rng)
            pairs = (
                [("level", p["level"]), ("published level", level)]
                if lean
                else [("spread", p["spread"]), ("published spread", spread)]
            )
            for name, values in pairs:
                shown = "".join(f"{np.nanmean(values <= a):>11.5f}" for a in LEVELS)
                say(f"{label:<26}{n:>5}  {name:<20}{shown}")
    slope_power(few, say)


def slope_power(few: int, say: Callable[[str], None]) -> None:
    """Gaps in halves whose mean moves with log words: rounded up or down by a coin of that mean."""
    law = three_versions("slope")
    for slope in (-0.1, -0.2):
        for n in (100, 400):
            rng, found = np.random.default_rng([4, n]), []
            for start in range(0, few, BLOCK):
                pairs = law.values[law.draw(rng, (min(BLOCK, few - start), n, 4))]
                log, gap = words_of(rng, n), pairs[..., 0] - pairs[..., 1]
                lean = slope * (log - log.mean())
                found.append(slope_p(np.floor(2 * (gap + lean) + rng.random(gap.shape)) / 2, log))
            shown = "".join(f"{np.mean(np.concatenate(found) <= a):>11.5f}" for a in LEVELS)
            say(f"{f'slope {slope:+.1f}':<26}{n:>5}  {'slope':<20}{shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200_000, help="samples of the size tables")
    parser.add_argument("--few", type=int, default=10_000, help="of published tests and power")
    parser.add_argument("--out", type=Path, help="also write the tables there")
    args = parser.parse_args()
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)
        if args.out:
            args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")

    load, began = Path("/proc/loadavg").read_text(encoding="ascii").split()[0], time.process_time()
    say(f"{date.today()}, one core, load {load} at the start; made by tests/bench/ranking_size.py")
    say(f"--draws {args.draws} --few {args.few}. See there for the designs.\n")
    checked()
    size_tables(args.draws, args.few, say)
    other_tables(args.draws, args.few, say)
    power_tables(args.few, say)
    say(f"\nprocessor time {time.process_time() - began:,.0f} s")


if __name__ == "__main__":
    main()
