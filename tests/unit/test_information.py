"""Fixed-effects regression against statsmodels, its levels against truth, the wild bootstrap
against a plain refit of every sign vector."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm

from fairscreen.estimators.information import Information, information


def panel(seed: int, items: int = 60, levels: int = 4, slope: float = 0.1):
    """Gaps in halves of ranks at `levels` numbers of words of each resume."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), levels)
    full = rng.integers(200, 900, items)[item]
    words = np.maximum(np.tile([0.1, 0.4, 0.6, 1.0, 0.8][:levels], items) * full, 1).round()
    lean = rng.normal(-0.2, 0.6, items)[item] + slope * np.log(words)
    return np.rint(2 * (lean + rng.normal(0, 0.8, len(item)))) / 2, words, item


def with_dummies(d, words, item):
    x = np.column_stack([np.log(words), item[:, None] == np.unique(item)])
    fit = sm.OLS(d, x.astype(float)).fit(
        cov_type="cluster", cov_kwds={"groups": item, "use_correction": True}
    )
    n, k = x.shape
    return fit, np.sqrt((n - k) / (n - 2))  # statsmodels counts the dummies


@pytest.mark.parametrize(("seed", "items", "levels"), [(1, 60, 4), (2, 25, 2), (3, 8, 5)])
def test_slope_and_error_are_those_of_statsmodels(seed, items, levels) -> None:
    d, words, item = panel(seed, items, levels)
    fit, match = with_dummies(d, words, item)
    got = information(d=d, words=words, item=item)
    assert got.slope.estimate == pytest.approx(fit.params[0], rel=1e-8)
    assert got.slope.std_error == pytest.approx(fit.bse[0] * match, rel=1e-8)
    assert got.at_one_word.estimate == pytest.approx(fit.params[1:].mean(), rel=1e-8)
    mean_log = np.mean([np.log(words[item == i]).mean() for i in np.unique(item)])
    assert got.mean_log_words == pytest.approx(mean_log)
    assert got.at_mean.estimate == pytest.approx(
        fit.params[1:].mean() + fit.params[0] * mean_log, rel=1e-8
    )
    full = np.array([np.log(words[item == i].max()) for i in np.unique(item)])
    assert got.at_full.estimate == pytest.approx(
        (fit.params[1:] + fit.params[0] * full).mean(), rel=1e-8
    )
    assert (got.sets, got.items, got.left_out) == (items * levels, items, 0)


def test_errors_of_the_levels_are_those_of_resampled_resumes() -> None:
    d, words, item = panel(4, 120)
    got = information(d=d, words=words, item=item)
    rng, found = np.random.default_rng(1), []
    rows = [np.flatnonzero(item == i) for i in range(120)]
    for _ in range(400):
        chosen = rng.integers(0, 120, 120)
        at = np.concatenate([rows[i] for i in chosen])
        again = information(d=d[at], words=words[at], item=np.repeat(np.arange(120), 4))
        found.append([again.slope, again.at_one_word, again.at_mean, again.at_full])
    spread = np.std([[c.estimate for c in row] for row in found], axis=0)
    ours = [c.std_error for c in (got.slope, got.at_one_word, got.at_mean, got.at_full)]
    np.testing.assert_allclose(ours, spread, rtol=0.12)
    # One word is far outside the data.
    assert got.at_one_word.std_error > 3 * got.at_mean.std_error


def test_intervals_cover_the_truth() -> None:
    hits = np.zeros(3)
    for seed in range(400):
        rng = np.random.default_rng(5_000 + seed)
        item = np.repeat(np.arange(50), 4)
        log = np.tile(np.log([40, 160, 240, 400]), 50) + rng.normal(0, 0.2, 50)[item]
        lean = rng.normal(0.3, 0.5, 50)[item]
        d = lean - 0.07 * log + rng.normal(0, 0.6, 200)
        got = information(d=d, words=np.exp(log), item=item, few=0)
        middle = 0.3 - 0.07 * np.log([40, 160, 240, 400]).mean()
        for k, (c, truth) in enumerate(
            [(got.slope, -0.07), (got.at_one_word, 0.3), (got.at_mean, middle)]
        ):
            hits[k] += c.low <= truth <= c.high
    assert (hits / 400 >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 400)).all()
    assert (hits / 400 <= 0.95 + 4 * np.sqrt(0.95 * 0.05 / 400)).all()


def refitted(d, words, item, null: float) -> tuple[float, list[float]]:
    """|t| of beta = null, and of all sign vectors with the null imposed, by refitting."""
    log, names = np.log(words), np.unique(item)

    def within(v):
        return v - np.array([v[item == i].mean() for i in item])

    x, y = within(log), within(d)

    def t(gap, value):
        beta = (x @ gap) / (x @ x)
        scores = np.array([x[item == i] @ (gap - beta * x)[item == i] for i in names])
        return abs(beta - value) / (np.sqrt((scores**2).sum()) / (x @ x))

    left = y - null * x
    star = [
        t(null * x + left * np.array([dict(zip(names, w, strict=True))[i] for i in item]), null)
        for w in product((-1, 1), repeat=len(names))
    ]
    return t(y, null), star


def test_the_wild_bootstrap_is_a_refit_of_every_sign_vector() -> None:
    d, words, item = panel(6, items=9, slope=0.5)
    got = information(d=d, words=words, item=item)
    t, star = refitted(d, words, item, 0.0)
    wild = got.slope_wild
    assert (wild.draws, wild.exact) == (2**9, True)
    assert wild.p_value == pytest.approx(np.mean(np.array(star) >= t * (1 - 1e-9)))
    # The ends of the interval are values that are just (not) rejected.
    for end, step in ((wild.low, -1e-6), (wild.high, 1e-6)):
        t, star = refitted(d, words, item, end + step)
        assert np.mean(np.array(star) >= t * (1 - 1e-9)) <= 0.05
        t, star = refitted(d, words, item, end - step)
        assert np.mean(np.array(star) >= t * (1 - 1e-9)) > 0.05


def test_wild_bootstrap_of_the_mean_flips_resumes() -> None:
    d, words, item = panel(7, items=10)
    got = information(d=d, words=words, item=item)
    alpha = np.array(
        [(d - got.slope.estimate * np.log(words))[item == i].mean() for i in range(10)]
    )
    assert got.at_one_word.estimate == pytest.approx(alpha.mean())
    assert 0 < got.alpha_wild.p_value <= 1
    assert got.alpha_wild.low < got.at_one_word.estimate < got.alpha_wild.high


def test_few_resumes_get_the_wild_bootstrap_and_many_do_not() -> None:
    assert information(**dict(zip(("d", "words", "item"), panel(8, 39), strict=True))).slope_wild
    many = information(**dict(zip(("d", "words", "item"), panel(8, 40), strict=True)))
    assert (many.slope_wild, many.alpha_wild) == (None, None)


def test_the_wild_bootstrap_keeps_its_size_with_few_resumes() -> None:
    rejected = wild = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        item = np.repeat(np.arange(8), 4)
        words = np.exp(rng.normal(5, 1, 32) + (item == 0) * rng.normal(0, 2, 32))
        d = rng.choice([-1, -0.5, 0, 0.5, 1], 32)
        got = information(d=d, words=words, item=item)
        rejected += got.slope.p_value <= 0.05
        wild += got.slope_wild.p_value <= 0.05
    assert wild / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert rejected > wild  # what it is for


def test_what_cannot_be_computed_has_a_reason() -> None:
    d, words, item = panel(9, 5)
    assert information(d=d, words=np.full(20, 50.0), item=item).startswith("one_level")
    one = np.where(item == 0, words, 50.0)
    assert information(d=d, words=one, item=item).startswith("one_resume")
    two = np.where(item <= 1, words, 50.0)
    got = information(d=d, words=two, item=item)
    assert isinstance(got, Information)
    assert (got.items, got.sets, got.left_out) == (2, 8, 12)


def test_equal_gaps_are_certain() -> None:
    _, words, item = panel(10, 6)
    got = information(d=np.full(24, 0.5), words=words, item=item)
    assert got.slope.estimate == pytest.approx(0, abs=1e-12)
    assert got.at_full.estimate == pytest.approx(0.5)
