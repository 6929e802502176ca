"""Size and coverage of the paired callback tests, by simulation. Run: make study-callbacks.

Postings: G with four pairs each. A pair is called on both sides, one or none; with probability
sqrt(rho) it copies the posting's own draw, so that pairs of a posting have correlation rho. What
the statistics see of a posting is one of 35 kinds, so a sample is one multinomial draw of counts
of kinds, whatever G. Null: 4% only favored, 4% only other. Coverage: 5% and 3%, a gap of 2 points.
Bars: sign flip at most nominal + 3 Monte Carlo errors; cluster t 93 to 96%; percentile bootstrap
93 to 96.5% from 500 postings. McNemar, Wald and Newcombe take pairs for independent: without a bar.

Names: 38 per arm (19 of a gender), 4 pairs a posting, names drawn uniformly; a name moves its own
chance by a normal effect; pairs copy the posting's uniform number with probability sqrt(0.2). No
effect of race. Bar: the headline interval covers 93 to 97.5%. Twice: 8% of pairs are discordant, as
above (models of Gao, Jiang & Yan have 2 to 15%), and 1.5%. The fewer there are, the smaller is the
error by posting beside what names do. An effect that would take a chance below 0 stops there.

Gaps of several models and firms: callbacks_between.py, a part of the same run.

Block forms are compared with the package's functions on some samples first.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
from callbacks_between import correlation_table, firm_table, trend_table
from numpy.typing import NDArray
from scipy.stats import binom, chi2, norm
from scipy.stats import t as student

from fairscreen.estimators.callback_names import permutation
from fairscreen.estimators.callback_pairs import CallbackPairs
from fairscreen.estimators.clustered import ratio
from fairscreen.estimators.paired_tests import bootstrap_interval, mcnemar, newcombe, wald
from fairscreen.estimators.sign_flip import sign_flip

A = NDArray[np.float64]
N = NDArray[np.int64]
PAIRS = 4
NULL, GAP = (0.46, 0.04, 0.04, 0.46), (0.46, 0.05, 0.03, 0.46)  # both, only f, only o, neither
KINDS = np.array([k for k in itertools.product(range(PAIRS + 1), repeat=4) if sum(k) == PAIRS])
D = KINDS[:, 1] - KINDS[:, 2]
DRAWS = 2_000
Z = norm.ppf(0.975)


def law_of_kinds(p: tuple[float, ...], rho: float) -> A:
    """(35,) probabilities of the counts of cells among the pairs of a posting."""
    copy = math.sqrt(rho)
    ways = np.array(
        [math.factorial(PAIRS) / np.prod([math.factorial(c) for c in k]) for k in KINDS]
    )
    found = np.zeros(len(KINDS))
    for cell, share in enumerate(p):
        each = (1 - copy) * np.array(p) + copy * (np.arange(4) == cell)
        found += share * ways * np.prod(each**KINDS, axis=1)
    return found / found.sum()


def flip_p(kinds: N) -> A:
    """(R,) exact two-sided sign-flip p of counts of kinds (R, 35), by characteristic function."""
    sizes = np.arange(1, PAIRS + 1)
    counts = np.stack([kinds[:, np.abs(D) == s].sum(axis=1) for s in sizes], axis=1)
    observed, total = np.abs(kinds @ D), counts @ sizes
    length = 1 << int(np.ceil(np.log2(total.max() + 2)))
    angle = np.pi * np.arange(length // 2 + 1) / length
    wave = np.cos(np.outer(sizes, angle))
    size = np.exp(counts @ np.log(np.maximum(np.abs(wave), 1e-300)))
    size *= 1 - 2 * ((counts @ (wave < 0)) % 2)
    law = np.fft.irfft(size * np.exp(-1j * np.outer(total, angle)), n=length, axis=1)
    place = np.arange(length)
    inside = (place >= ((total + observed + 1) // 2)[:, None]) & (place <= total[:, None])
    return np.where(observed == 0, 1.0, np.minimum(1.0, 2 * np.where(inside, law, 0).sum(axis=1)))


def interval_t(kinds: N) -> tuple[A, A]:
    """Gap (R,) and half width of the cluster t interval."""
    g = kinds.sum(axis=1)
    gap = kinds @ D / (PAIRS * g)
    squares = (kinds @ D**2 - (kinds @ D) ** 2 / g) / PAIRS**2
    error = np.sqrt(squares / (g * (g - 1.0)))
    return gap, student.ppf(0.975, g - 1) * error


def interval_bootstrap(kinds: N, rng: np.random.Generator) -> tuple[A, A]:
    """Ends (R,) of the percentile interval, 2,000 draws of postings each."""
    values = np.unique(D)
    counts = np.stack([kinds[:, v == D].sum(axis=1) for v in values], axis=1)
    g = counts.sum(axis=1)
    ends = np.empty((len(kinds), 2))
    for r in range(len(kinds)):
        some = counts[r] > 0
        drawn = rng.multinomial(g[r], counts[r, some] / g[r], size=DRAWS) @ values[some]
        ends[r] = np.quantile(drawn, (0.025, 0.975)) / (PAIRS * g[r])
    return ends[:, 0], ends[:, 1]


def by_pairs(kinds: N) -> dict[str, A]:
    """(R,) p-values and limits of the methods that take pairs for independent."""
    both, b, c, neither = (kinds @ KINDS).T.astype(float)
    n, less = both + b + c + neither, np.minimum(b, c)
    tail, point = binom.cdf(less, b + c, 0.5), binom.pmf(less, b + c, 0.5)
    cc = chi2.sf(np.maximum(np.abs(b - c) - 1, 0) ** 2 / np.maximum(b + c, 1), 1)
    half = Z * np.sqrt(np.maximum(0, b + c - (b - c) ** 2 / n)) / n

    def wilson(k: A) -> tuple[A, A]:
        p, root = k / n, np.sqrt(k / n * (1 - k / n) / n + Z**2 / (4 * n**2))
        return ((p + Z**2 / (2 * n) - Z * root) / (1 + Z**2 / n),
                (p + Z**2 / (2 * n) + Z * root) / (1 + Z**2 / n))  # fmt: skip

    one, two, gap = (both + b) / n, (both + c) / n, (b - c) / n
    (l1, u1), (l2, u2) = wilson(both + b), wilson(both + c)
    sizes = (both + b) * (c + neither) * (both + c) * (b + neither)
    top = both * neither - b * c
    top = np.where(top > 0, np.maximum(top - n / 2, 0), top)
    phi = np.where(sizes > 0, top / np.sqrt(np.maximum(sizes, 1)), 0)

    def reach(x: A, y: A) -> A:
        return np.sqrt(np.maximum(0, x * x - 2 * phi * x * y + y * y))

    return {
        "mcnemar_cc": cc, "mcnemar_exact": np.minimum(1, 2 * tail),
        "mcnemar_midp": np.where(b == c, 1 - point / 2, 2 * tail - point),
        "wald": np.stack([gap - half, gap + half]),
        "newcombe": np.stack([gap - reach(one - l1, u2 - two), gap + reach(u1 - one, two - l2)]),
    }  # fmt: skip


def checked() -> None:
    """The block forms are the package's functions."""
    rng = np.random.default_rng(1)
    for g, rho in ((50, 0.6), (500, 0.2)):
        kinds = rng.multinomial(g, law_of_kinds(GAP, rho), size=20)
        p, (gap, half), pairs = flip_p(kinds), interval_t(kinds), by_pairs(kinds)
        for r in range(20):
            d = np.repeat(D, kinds[r])
            both, b, c, neither = (int(x) for x in kinds[r] @ KINDS)
            assert abs(p[r] - sign_flip(d, unit=1.0).p_value) < 1e-10
            own = ratio(d, np.full(g, PAIRS), [np.arange(g)])
            assert np.allclose((own.low, own.high), (gap[r] - half[r], gap[r] + half[r]))
            for name, value in mcnemar(b, c).items():
                assert abs(pairs[name][r] - value) < 1e-12
            for name, found in (("wald", wald(b, c, 4 * g)),
                                ("newcombe", newcombe(both, b, c, neither))):  # fmt: skip
                assert np.allclose(pairs[name][:, r], (found.low, found.high))
        d = np.repeat(D, kinds[0])
        own = bootstrap_interval(d, np.full(g, PAIRS), draws=20_000)
        low, high = interval_bootstrap(np.repeat(kinds[:1], 10, axis=0), rng)
        near = 0.1 * (own.std_error or 0) + 1 / (PAIRS * g)  # quantiles sit on a lattice
        assert np.allclose((low.mean(), high.mean()), (own.low, own.high), atol=near)


def posting_tables(draws: int, few: int, say: Callable[[str], None]) -> None:
    say(f"Size at nominal 5% (and 1% of the sign flip), {draws:,} samples; coverage of 95%")
    say(
        f"intervals of a gap of 2 points, percentile bootstrap {few:,} samples; * = outside the bar"
    )
    say("(sign flip, t, bootstrap; the others have none).\n")
    say(f"{'rho':>4}{'G':>6}  {'flip 5%':>9}{'flip 1%':>9}{'cc':>7}{'exact':>7}{'mid-p':>7}"
        f"{'t':>9}{'bootstrap':>11}{'wald':>7}{'newcombe':>10}")  # fmt: skip
    for rho, g in itertools.product((0.0, 0.2, 0.6), (50, 500, 6006)):
        rng = np.random.default_rng([2, round(10 * rho), g])
        size: dict[str, list[A]] = {}
        cover: dict[str, list[A]] = {}
        for start in range(0, draws, 2_000):
            block = min(2_000, draws - start)
            kinds = rng.multinomial(g, law_of_kinds(NULL, rho), size=block)
            size.setdefault("flip", []).append(flip_p(kinds))
            for name, p in by_pairs(kinds).items():
                if name.startswith("mcnemar"):
                    size.setdefault(name, []).append(p)
            kinds = rng.multinomial(g, law_of_kinds(GAP, rho), size=block)
            gap, half = interval_t(kinds)
            cover.setdefault("t", []).append(np.abs(gap - 0.02) <= half)
            pairs = by_pairs(kinds)
            for name in ("wald", "newcombe"):
                low, high = pairs[name]
                cover.setdefault(name, []).append((low <= 0.02) & (high >= 0.02))
            if start < few:
                low, high = interval_bootstrap(kinds[: few - start], rng)
                cover.setdefault("bootstrap", []).append((low <= 0.02) & (high >= 0.02))
        p = {k: np.concatenate(v) for k, v in size.items()}
        covered = {k: float(np.concatenate(v).mean()) for k, v in cover.items()}
        flips = []
        for level in (0.05, 0.01):
            share = float((p["flip"] <= level * (1 + 1e-9)).mean())
            bad = share > level + 3 * math.sqrt(level * (1 - level) / draws)
            flips.append(f"{share:.4f}{'*' if bad else ' '}")
        mcn = [f"{(p[f'mcnemar_{k}'] <= 0.05).mean():.3f}" for k in ("cc", "exact", "midp")]
        t = f"{covered['t']:.4f}{' ' if 0.93 <= covered['t'] <= 0.96 else '*'}"
        held = g < 500 or 0.93 <= covered["bootstrap"] <= 0.965
        boot = f"{covered['bootstrap']:.4f}{' ' if held else '*'}"
        say(f"{rho:>4g}{g:>6}  {flips[0]:>9}{flips[1]:>9}{mcn[0]:>7}{mcn[1]:>7}{mcn[2]:>7}"
            f"{t:>9}{boot:>11}{covered['wald']:>7.3f}{covered['newcombe']:>10.3f}")  # fmt: skip


def named_sample(g: int, sd: float, rng: np.random.Generator, each: float = 0.04) -> tuple[N, N, N]:
    """d, favored and other name (G, 4); names 0..37, those of the second gender from 19. each:
    share of pairs in which one side alone is called, of either side."""
    effect = rng.normal(0, sd, (2, 38))
    names = rng.integers(0, 19, (2, g, PAIRS)) + 19 * rng.integers(0, 2, (g, PAIRS))
    lean = (effect[0][names[0]] - effect[1][names[1]]) / 2
    copies = rng.random((g, PAIRS)) < math.sqrt(0.2)
    u = np.where(copies, rng.random((g, 1)), rng.random((g, PAIRS)))
    d = (u < each + lean).astype(np.int64) - (u > 1 - each + lean)
    return d, names[0], names[1]


def three_ways(d: N, f: N, o: N) -> tuple[float, float, float]:
    """Gap, its error by posting, posting and both names; never below the first."""
    g, n = len(d), d.size
    gap = d.mean()
    r = (d - gap) / n
    by_posting = float((r.sum(axis=1) ** 2).sum()) * g / (g - 1)
    variance = by_posting
    for sign, code in ((1, f), (1, o), (-1, f * 38 + o)):
        flat = code.ravel()
        sums, groups = np.bincount(flat, weights=r.ravel()), int((np.bincount(flat) > 0).sum())
        variance += sign * float(sums @ sums) * groups / (groups - 1)
    own = float((r**2).sum())
    # Pairs of a posting that share a name: few, so their products are summed where they are.
    left, right = np.triu_indices(PAIRS, 1)
    same_f, same_o = f[:, left] == f[:, right], o[:, left] == o[:, right]
    for sign, same in ((-1, same_f), (-1, same_o), (1, same_f & same_o)):
        at, k = np.nonzero(same)
        shared = own + 2 * float((r[at, left[k]] * r[at, right[k]]).sum())
        # A pair like an earlier one is no new group.
        groups = n - len(np.unique(at * PAIRS + right[k]))
        variance += sign * shared * groups / (groups - 1)
    return float(gap), math.sqrt(by_posting), math.sqrt(max(by_posting, variance))


def name_tables(few: int, say: Callable[[str], None]) -> None:
    rng = np.random.default_rng(4)
    for sd, each in ((0.0, 0.04), (0.02, 0.04), (0.02, 0.0075)):
        d, f, o = named_sample(200, sd, rng, each)
        posting = np.repeat(np.arange(200), PAIRS)
        own = ratio(d.ravel(), np.ones(d.size), [posting, f.ravel(), o.ravel()])
        assert abs(own.std_error - three_ways(d, f, o)[2]) < 1e-12
    say(f"\nNo race effect, names of SD given: coverage of 95% intervals, {few:,} samples; size of")
    perms = max(20, few // 4)
    say(f"the name permutation at 5% (999 labellings, {perms:,} samples); * = outside the bar.")
    for each, key in ((0.04, 5), (0.0075, 7)):
        say(f"Without effects of names {200 * each:g}% of pairs are discordant.\n")
        say(f"{'SD pp':>6}{'G':>6}{'discordant':>12}{'headline':>11}{'by posting':>12}"
            f"{'permutation':>13}")  # fmt: skip
        for sd, g in itertools.product((0.0, 0.5, 1.0, 2.0), (500, 6006)):
            name_row(each, key, sd, g, few, perms, say)
        say("")


def name_row(
    each: float, key: int, sd: float, g: int, few: int, perms: int, say: Callable[[str], None]
) -> None:
    rng = np.random.default_rng([key, round(10 * sd), g])
    inside, posting_only, p, unlike = [], [], [], []
    for r in range(few):
        d, f, o = named_sample(g, sd / 100, rng, each)
        unlike.append(np.abs(d).mean())
        gap, first, error = three_ways(d, f, o)
        inside.append(abs(gap) <= student.ppf(0.975, 37) * error)
        posting_only.append(abs(gap) <= student.ppf(0.975, g - 1) * first)
        if r < perms:
            one = (d.ravel() > 0).astype(float)
            two = (d.ravel() < 0).astype(float)
            pairs = CallbackPairs.of_answers(
                favored=one, other=two, posting=np.repeat(np.arange(g), PAIRS),
                favored_name=f.ravel(), other_name=o.ravel() + 38,
            )  # fmt: skip
            p.append(permutation(pairs, draws=999, seed=r).p_value)
    held = 0.93 <= np.mean(inside) <= 0.975
    say(f"{sd:>6g}{g:>6}{np.mean(unlike):>12.1%}{np.mean(inside):>10.3f}{' ' if held else '*'}"
        f"{np.mean(posting_only):>12.3f}{np.mean(np.array(p) <= 0.05):>13.3f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000, help="samples of the size table")
    parser.add_argument("--few", type=int, default=4_000, help="of bootstrap, names and trend")
    parser.add_argument(
        "--part", choices=("postings", "names", "models", "firms"), help="only this"
    )
    parser.add_argument("--out", type=Path, help="also write the tables there")
    args = parser.parse_args()
    lines: list[str] = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)
        if args.out:
            args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")

    load, began = os.getloadavg()[0], time.process_time()
    say(f"{date.today()}, one core, load {load:.2f} at the start; tests/bench/callbacks_size.py")
    say(f"--draws {args.draws} --few {args.few}. See there for the designs.")
    if args.draws < 100_000 or args.few < 4_000:
        say("Fewer samples than the study asks for (100,000 and 4,000): a first look. Monte Carlo")
        errors = [100 * math.sqrt(0.0475 / n) for n in (args.draws, args.few)]
        say(f"error of a share of 95%: {errors[0]:.2f} points, and {errors[1]:.2f} where few.")
    say("")
    checked()
    if args.part in (None, "postings"):
        posting_tables(args.draws, args.few, say)
    if args.part in (None, "names"):
        name_tables(args.few, say)
    if args.part in (None, "models"):
        trend_table(args.few, say)
        correlation_table(args.few, say)
    if args.part in (None, "firms"):
        firm_table(args.few, say)
    say(f"\nprocessor time {time.process_time() - began:,.0f} s")


if __name__ == "__main__":
    main()
