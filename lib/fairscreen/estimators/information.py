"""Does the gap in ranks move with how much the resume says?

    D_it = alpha_i + beta log(words_it) + u_it
with a fixed effect for each resume i over its information levels t. beta: the model's gap moves
with information ("statistical"); alpha: what does not move. Mean alpha is the gap at *one word*,
far outside the data, so the gap at the mean log words and at the full text stand beside it. A beta
that is not significant is no proof that information does not matter, and alpha is no proof of
taste.

Errors are cluster-robust by resume (CR1): scores summed within resumes, times
G / (G - 1) (N - 1) / (N - K). Fixed effects are nested in the clusters and not counted; K = 2 is
the slope and the overall mean. t with G - 1. Software that counts the dummies (OLS with dummies)
has larger errors. Resumes with one level of words have no slope and are left out, counted.
With fewer than 40 resumes the wild cluster bootstrap stands beside it: Rademacher weights, the
null imposed, all 2^G of them where they are few.
Sources: JobFair, section 3.8; Cameron, Gelbach & Miller (2008); Kline & Santos (2012) for alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from fairscreen import random
from fairscreen.estimators.ranks import Array, Ints, grouped, item_sums

FEW_CLUSTERS = 40
WILD_DRAWS = 9_999
_MAX_ENUMERATED = 13  # 2^13 sign vectors: fewer than the draws
_BISECTIONS = 40


@dataclass(frozen=True)
class Coefficient:
    """estimate, CR1 std_error, interval and two-sided p with t(G - 1)."""

    estimate: float
    std_error: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Wild:
    """Interval and p of the wild cluster bootstrap; low, high None where the inverted test finds
    no end within 100 errors. draws: sign vectors, all of them where `exact`."""

    low: float | None
    high: float | None
    p_value: float
    draws: int
    exact: bool


@dataclass(frozen=True)
class Information:
    """slope: beta, rank points per unit of log words. at_one_word: mean alpha. at_mean: gap at the
    mean log words (resumes weigh alike); at_full: gap at each resume's own longest text.
    slope_wild, alpha_wild: where resumes are fewer than asked. sets, items: in the regression;
    left_out: sets of resumes whose words do not vary."""

    slope: Coefficient
    at_one_word: Coefficient
    at_mean: Coefficient
    at_full: Coefficient
    mean_log_words: float
    slope_wild: Wild | None
    alpha_wild: Wild | None
    sets: int
    items: int
    left_out: int


def information(
    *,
    d: ArrayLike,
    words: ArrayLike,
    item: ArrayLike,
    level: float = 0.95,
    few: int = FEW_CLUSTERS,
    seed: int | str = 0,
) -> Information | str:
    """d (N,) gaps in ranks of sets with words (N,) > 0, of resumes item (N,).

    Where it cannot be computed, the reason: "one_level" (no resume has sets with different words),
    "one_resume" (one has).
    """
    gap, log = np.asarray(d, dtype=np.float64), np.log(np.asarray(words, dtype=np.float64))
    at, items = grouped(item)
    low, high = np.full(items, np.inf), np.full(items, -np.inf)
    np.minimum.at(low, at, log)
    np.maximum.at(high, at, log)
    varies = (high > low)[at]
    left_out = int((~varies).sum())
    gap, log = gap[varies], log[varies]
    at, items = grouped(at[varies])
    if items < 2:
        return (
            "one_level: no resume has sets with different numbers of words"
            if items == 0
            else "one_resume: only one has sets with different numbers of words"
        )
    fit = _Fit.of(gap, log, at, items)
    wild = items < few
    return Information(
        slope=fit.coefficient(fit.beta, fit.score / fit.sxx, level),
        at_one_word=fit.at(np.zeros(items), level),
        at_mean=fit.at(fit.log, level),
        at_full=fit.at(_most(log, at, items), level),
        mean_log_words=float(fit.log.mean()),
        slope_wild=_wild_slope(fit, level, f"{seed}/slope") if wild else None,
        alpha_wild=_wild_mean(fit, level, f"{seed}/alpha") if wild else None,
        sets=len(gap),
        items=items,
        left_out=left_out,
    )


def _most(log: Array, at: Ints, items: int) -> Array:
    most = np.full(items, -np.inf)
    np.maximum.at(most, at, log)
    return most


@dataclass(frozen=True)
class _Fit:
    """Sums within resumes (G,): means of gap and log words; sxx_i, sxy_i of deviations; score of
    beta = sum of deviation times residual."""

    beta: float
    gap: Array
    log: Array
    sxx_i: Array
    sxy_i: Array
    score: Array
    sets: int

    @classmethod
    def of(cls, gap: Array, log: Array, at: Ints, items: int) -> _Fit:
        sizes = np.bincount(at, minlength=items)
        mean_gap, mean_log = (item_sums(v, at, items) / sizes for v in (gap, log))
        dev = log - mean_log[at]
        sxx_i, sxy_i = (
            item_sums(dev**2, at, items),
            item_sums(dev * (gap - mean_gap[at]), at, items),
        )
        beta = float(sxy_i.sum() / sxx_i.sum())
        return cls(beta, mean_gap, mean_log, sxx_i, sxy_i, sxy_i - beta * sxx_i, len(gap))

    @property
    def sxx(self) -> float:
        return float(self.sxx_i.sum())

    @property
    def items(self) -> int:
        return len(self.gap)

    @property
    def factor(self) -> float:
        """CR1: G / (G - 1) (N - 1) / (N - K), K = 2."""
        return self.items / (self.items - 1) * (self.sets - 1) / (self.sets - 2)

    def coefficient(self, value: float, influence: Array, level: float) -> Coefficient:
        error = math.sqrt(self.factor * float((influence**2).sum()))
        df = self.items - 1
        reach = float(stdtrit(df, (1 + level) / 2)) * error
        certain = 1.0 if value == 0 else 0.0  # the same for every resume
        p = 2 * float(stdtr(df, -abs(value) / error)) if error > 0 else certain
        return Coefficient(value, error, value - reach, value + reach, p)

    def influence_at(self, log: Array) -> tuple[float, Array]:
        """Mean over resumes of alpha_i + beta log_i, and the influence (G,) of each resume.

        The resume's own words are part of the draw, so their spread counts where log is theirs.
        """
        predicted = self.gap + self.beta * (log - self.log)
        value = float(predicted.mean())
        own = (predicted - value) / self.items
        return value, own + float((log - self.log).mean()) * self.score / self.sxx

    def at(self, log: Array, level: float) -> Coefficient:
        return self.coefficient(*self.influence_at(log), level)


def _signs(items: int, seed: str) -> tuple[Array, bool]:
    """(B, G) of +-1; all of them where they are no more than the draws."""
    if items <= _MAX_ENUMERATED:
        codes = np.arange(1 << items)[:, None] >> np.arange(items) & 1
        return _plus_minus(codes), True
    key = int(random.hashes(seed, "wild_cluster", ["philox"])[0])
    words = -(-items // 64)
    raw = np.asarray(np.random.Philox(key=key).random_raw(WILD_DRAWS * words))
    bits = np.unpackbits(raw.reshape(WILD_DRAWS, words).view(np.uint8), axis=1)[:, :items]
    return _plus_minus(bits), False


def _plus_minus(bits: NDArray[Any]) -> Array:
    return np.asarray(2.0 * bits - 1, dtype=np.float64)


def _wild_slope(fit: _Fit, level: float, seed: str) -> Wild:
    """beta under beta = b: scores s = sxy_i - b sxx_i get random signs w; their sum makes beta*,
    and w s - beta* sxx_i the scores of its error."""
    signs, exact = _signs(fit.items, seed)
    sums = tuple(signs @ v for v in (fit.sxy_i, fit.sxx_i))
    cross = tuple(signs @ (v * fit.sxx_i) for v in (fit.sxy_i, fit.sxx_i))
    square, sxx = float((fit.sxx_i**2).sum()), fit.sxx
    spread = math.sqrt(float((fit.score**2).sum()))

    def p_value(null: float) -> float:
        score = fit.sxy_i - null * fit.sxx_i
        total = sums[0] - null * sums[1]
        star = total / sxx
        own = float((score**2).sum())
        left = own - 2 * star * (cross[0] - null * cross[1]) + star**2 * square
        return _p(np.abs(total), left, own, abs(float(score.sum())), spread, exact)

    error = math.sqrt(fit.factor) * spread / sxx
    return _inverted(p_value, fit.beta, error, level, len(signs), exact)


def _wild_mean(fit: _Fit, level: float, seed: str) -> Wild:
    """Mean alpha under mean alpha = c: the resumes' influence, moved to c, with random signs."""
    signs, exact = _signs(fit.items, seed)
    value, influence = fit.influence_at(np.zeros(fit.items))
    sums = signs @ influence, signs.sum(axis=1)
    spread = math.sqrt(float((influence**2).sum()))

    def p_value(null: float) -> float:
        shift = (value - null) / fit.items
        total = sums[0] + shift * sums[1]
        own = float(((influence + shift) ** 2).sum())
        return _p(np.abs(total), own - total**2 / fit.items, own, abs(value - null), spread, exact)

    return _inverted(p_value, value, math.sqrt(fit.factor) * spread, level, len(signs), exact)


def _p(top: Array, left: Array, own: float, total: float, spread: float, exact: bool) -> float:
    """Share of |t*| = top / sqrt(left) of at least |t| = total / spread: of all sign vectors, or
    with the observed one among the draws. own: what rounding of left is small against."""
    bottom = np.sqrt(np.maximum(left, 0.0))
    perfect = bottom <= 1e-7 * math.sqrt(own)
    if spread <= 1e-7 * math.sqrt(own):  # a perfect fit: only a draw as perfect is as large
        beyond = int(perfect.sum())
    else:
        beyond = int((perfect | (top * spread >= total * bottom * (1 - 1e-9))).sum())
    return beyond / len(top) if exact else (1 + beyond) / (1 + len(top))


def _inverted(
    p_value: Callable[[float], float], value: float, error: float, level: float, draws: int,
    exact: bool,
) -> Wild:  # fmt: skip
    """Interval = the values that are not rejected, found by bisection on each side."""

    def end(side: int) -> float | None:
        inside, outside = value, value + side * error
        for _ in range(7):
            if p_value(outside) <= 1 - level:
                break
            inside, outside = outside, value + 2 * (outside - value)
        else:
            return None
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            if p_value(middle) <= 1 - level:
                outside = middle
            else:
                inside = middle
        return outside

    p = p_value(0.0)
    if error == 0:
        return Wild(value, value, p, draws, exact)
    return Wild(end(-1), end(1), p, draws, exact)
