"""Trends, contrasts and covariances: exact cases, the likelihood's equation, coverage, reversal."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import norm

from callback_designs import audit
from fairscreen.errors import InputError
from fairscreen.estimators.callbacks import CallbackOptions, callbacks
from fairscreen.estimators.panel import contrasts, gap_covariance, sampling_only, trend
from fairscreen.estimators.panel_rows import trend_rows

YEARS = np.array([2023.3, 2024.2, 2024.5, 2024.5, 2024.8, 2024.9, 2025.4, 2025.6, 2025.6, 2025.8,
                  2026.1, 2026.2, 2026.2, 2026.3])  # fmt: skip


def sampling(models: int = 14, share: float = 0.3) -> np.ndarray:
    """Covariance with unequal errors, correlated as those of gaps of the same postings are."""
    error = np.linspace(0.1, 0.35, models)
    return np.outer(error, error) * (share + (1 - share) * np.eye(models))


def test_equal_errors_are_ordinary_least_squares() -> None:
    rng = np.random.default_rng(1)
    y = 0.4 * (YEARS - 2025) + rng.normal(0, 0.8, 14)
    fit = sm.OLS(y, sm.add_constant(YEARS)).fit()
    found = trend(gap=y, covariance=np.full(14, 0.04), years=YEARS)
    assert found.slope == pytest.approx(fit.params[1])
    assert found.tau**2 == pytest.approx(fit.mse_resid - 0.04, rel=1e-6)
    assert found.factor == pytest.approx(1, rel=1e-6)
    assert found.std_error == pytest.approx(fit.bse[1], rel=1e-6)
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[1]), rel=1e-5)
    assert found.p_value == pytest.approx(fit.pvalues[1], rel=1e-5)
    assert found.i2 == pytest.approx(found.tau**2 / (found.tau**2 + 0.04))


def test_the_line_and_its_error_at_the_ends_are_those_of_ordinary_least_squares() -> None:
    rng = np.random.default_rng(1)
    y = 0.4 * (YEARS - 2025) + rng.normal(0, 0.8, 14)
    fit = sm.OLS(y, sm.add_constant(YEARS)).fit()
    ends = np.array([YEARS.min(), YEARS.max()])
    wanted = fit.get_prediction(sm.add_constant(ends))
    told = {
        r.estimand: r
        for r in trend_rows(gap=y / 100, covariance=np.diag(np.full(14, 0.04)) / 1e4, years=YEARS,
                            model=[f"m{k}" for k in range(14)])
    }  # fmt: skip
    rows = [told["gap_at_first_date_pp"], told["gap_at_last_date_pp"]]
    assert [r.estimate for r in rows] == pytest.approx(wanted.predicted_mean)
    assert [r.std_error for r in rows] == pytest.approx(wanted.se_mean, rel=1e-5)
    assert [(r.ci_low, r.ci_high) for r in rows] == pytest.approx(wanted.conf_int(), rel=1e-4)


def test_tau_solves_the_equation_of_the_restricted_likelihood() -> None:
    rng = np.random.default_rng(2)
    v = np.diag(np.diag(sampling()))
    y = rng.multivariate_normal(np.zeros(14), v + 0.3 * np.eye(14))
    found = trend(gap=y, covariance=v, years=YEARS)
    inverse = np.linalg.inv(v + found.tau**2 * np.eye(14))
    x = np.column_stack([np.ones(14), YEARS - YEARS.mean()])
    p = inverse - inverse @ x @ np.linalg.inv(x.T @ inverse @ x) @ x.T @ inverse
    assert found.tau > 0.2
    assert y @ p @ p @ y == pytest.approx(np.trace(p), rel=1e-4)
    beta = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)
    assert (found.level_at_centre, found.slope) == pytest.approx(tuple(beta))


def test_errors_that_are_shared_are_in_the_errors_and_not_in_the_weights() -> None:
    """statsmodels weighs by own variances; the rest is written out with the whole covariance."""
    v = sampling()
    for tau, seed in ((0.0, 1), (0.6, 2), (0.6, 3)):
        rng = np.random.default_rng(seed)
        y = rng.multivariate_normal(np.zeros(14), v) + rng.normal(0, 1, 14) * tau
        found = trend(gap=y, covariance=v, years=YEARS, leave_one_out=False)
        sigma = v + found.tau**2 * np.eye(14)
        x = np.column_stack([np.ones(14), YEARS - YEARS.mean()])
        fit = sm.WLS(y, x, weights=1 / np.diag(sigma)).fit()
        assert (found.level_at_centre, found.slope) == pytest.approx(tuple(fit.params))
        w = np.diag(1 / np.diag(sigma))
        sums = np.linalg.inv(x.T @ w @ x) @ x.T @ w
        p = w - w @ x @ sums
        error = np.sqrt((sums @ sigma @ sums.T)[1, 1])
        factor = (y @ p @ y) / np.trace(p @ sigma)
        assert found.factor == pytest.approx(factor)
        assert found.plain.std_error == pytest.approx(error * np.sqrt(factor))
        assert found.std_error == pytest.approx(error * max(1.0, np.sqrt(factor)))
        if found.tau > 0:
            assert y @ p @ p @ y == pytest.approx(np.trace(p @ p @ sigma), rel=1e-6)
        slope, alone, _ = sampling_only(gap=y, covariance=v, years=YEARS)
        fit = sm.WLS(y, x, weights=1 / np.diag(v)).fit()
        assert slope == pytest.approx(fit.params[1])
        w = np.diag(1 / np.diag(v))
        sums = np.linalg.inv(x.T @ w @ x) @ x.T @ w
        assert alone == pytest.approx(np.sqrt((sums @ v @ sums.T)[1, 1]))
    assert found.tau > 0


def test_the_plain_factor_is_generalised_least_squares_with_its_own_scale() -> None:
    """statsmodels scales the covariance by the weighted residual mean square, which is the factor;
    without spread between models it is below 1 in some samples and above in others."""
    v, factors = np.diag(np.diag(sampling())), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = 2 - (YEARS - YEARS[0]) + rng.multivariate_normal(np.zeros(14), v)
        found = trend(gap=y, covariance=v, years=YEARS, leave_one_out=False)
        fit = sm.GLS(y, sm.add_constant(YEARS), sigma=v + found.tau**2 * np.eye(14)).fit()
        assert (found.factor, found.slope) == pytest.approx((fit.scale, fit.params[1]))
        plain = found.plain
        assert plain.std_error == pytest.approx(fit.bse[1])
        assert (plain.low, plain.high) == pytest.approx(tuple(fit.conf_int()[1]))
        assert plain.p_value == pytest.approx(fit.pvalues[1])
        more = max(1.0, 1 / np.sqrt(fit.scale))  # what raising the factor to 1 adds
        assert found.std_error == pytest.approx(more * plain.std_error)
        factors.append(found.factor)
    assert min(factors) < 0.7
    assert max(factors) > 1 - 1e-6


def test_without_spread_between_models_tau_is_0_and_errors_are_not_lessened() -> None:
    y = 0.1 * (YEARS - 2025)  # on the line exactly
    v = sampling()
    found = trend(gap=y, covariance=v, years=YEARS)
    slope, error, p = sampling_only(gap=y, covariance=v, years=YEARS)
    assert found.tau == 0
    assert found.factor == pytest.approx(0, abs=1e-12)
    assert found.std_error == pytest.approx(error)  # the factor is raised to 1
    assert found.slope == pytest.approx(slope) == pytest.approx(0.1)
    assert p == pytest.approx(2 * norm.sf(0.1 / error))
    names = [f"m{k}" for k in range(14)]
    rows = trend_rows(gap=y / 100, covariance=v / 1e4, years=YEARS, model=names)
    by = {r.method: r for r in rows if r.estimand == "gap_trend_pp_per_year" and r.part is None}
    plain = by["reml_knapp_hartung_plain"]  # all points on the line: no error can be told
    assert (plain.status, plain.std_error, plain.p_value) == ("flagged", None, None)
    assert plain.estimate == by["reml_knapp_hartung"].estimate
    assert by["reml_knapp_hartung"].status == "ok"


def test_a_planted_reversal_is_recovered_at_the_stated_rate() -> None:
    """From +2 for the first model to -1 for the last, tau 0.5: covered by 93 to 97%, in 4 errors
    of the 400 samples; the plain regression is not."""
    planted, v, hits, plain = -1.0, sampling(), [], []
    rng, z = np.random.default_rng(3), norm.ppf(0.975)
    for _ in range(400):
        y = 2 + planted * (YEARS - YEARS[0])
        y = y + rng.multivariate_normal(np.zeros(14), v) + rng.normal(0, 0.5, 14)
        found = trend(gap=y, covariance=v, years=YEARS, leave_one_out=False)
        hits.append((found.low <= planted <= found.high, found.slope, found.high < 0))
        slope, error, _ = sampling_only(gap=y, covariance=v, years=YEARS)
        plain.append(abs(slope - planted) <= z * error)
    covered, slopes, reversed_ = (np.array(c, dtype=float) for c in zip(*hits, strict=True))
    assert slopes.mean() == pytest.approx(planted, abs=4 * slopes.std() / 20)
    assert 0.95 - 4 * 0.0109 <= covered.mean() <= 0.95 + 4 * 0.0109
    assert reversed_.mean() > 0.95
    assert np.mean(plain) < 0.6


def test_leaving_out_models_and_rows() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(0, 1, 14)
    y[0] = 9.0  # the oldest model alone makes the trend
    v = sampling()
    found = trend(gap=y, covariance=v, years=YEARS)
    at = np.arange(1, 14)
    part = trend(gap=y[at], covariance=v[np.ix_(at, at)], years=YEARS[at])
    assert found.without[0] == pytest.approx((part.slope, part.p_value))
    assert found.slope < found.without[0][0]
    names = [f"m{k}" for k in range(14)]
    rows = trend_rows(gap=y / 100, covariance=v / 1e4, years=YEARS, model=names,
                      family=["a"] * 2 + ["b"] * 3 + [None] * 9)  # fmt: skip
    by = {(r.estimand, r.method, r.part): r for r in rows}
    row = by["gap_trend_pp_per_year", "reml_knapp_hartung", None]
    assert (row.estimate, row.std_error, row.p_value) == pytest.approx(
        (found.slope, found.std_error, found.p_value), rel=1e-5
    )
    own = by["gap_trend_pp_per_year", "reml_knapp_hartung_plain", None]
    assert (own.estimate, own.std_error, own.ci_low, own.ci_high, own.p_value) == pytest.approx(
        (found.slope, *(getattr(found.plain, k) for k in ("std_error", "low", "high", "p_value"))),
        rel=1e-5,
    )
    left = by["gap_trend_pp_per_year", "reml_knapp_hartung", ("without_model", "m0")]
    assert (left.estimate, left.n) == (pytest.approx(part.slope, rel=1e-5), 13)
    assert by["gap_tau_pp", "reml_knapp_hartung", None].estimate == pytest.approx(
        found.tau, rel=1e-4
    )
    assert 0 < by["gap_i2", "reml_knapp_hartung", None].estimate < 1
    assert len([r for r in rows if r.estimand == "gap_difference_pp"]) == 1 + 3


def test_contrasts_are_later_minus_earlier_with_the_shared_error_taken_out() -> None:
    v = np.array([[0.04, 0.03, 0.0], [0.03, 0.04, 0.0], [0.0, 0.0, 0.04]])
    found = contrasts(
        gap=[1.0, 3.0, 5.0], covariance=v, years=[2025, 2024, 2026], family=["a", "a", "b"]
    )
    assert [(c.earlier, c.later, c.value) for c in found] == [(1, 0, -2.0)]
    assert found[0].std_error == pytest.approx(np.sqrt(0.04 + 0.04 - 2 * 0.03))
    assert found[0].p_value == pytest.approx(2 * norm.sf(2 / found[0].std_error))


def test_what_has_no_trend_and_what_is_refused() -> None:
    v = sampling()
    assert trend(gap=[1, 2, 3], covariance=v[:3, :3], years=[1, 2, 3]).startswith("few_models")
    assert trend(gap=np.ones(5), covariance=v[:5, :5], years=np.ones(5)).startswith("one_date")
    rows = trend_rows(gap=[0.1, 0.2], covariance=v[:2, :2], years=[1, 2], model=["a", "b"])
    assert {r.status for r in rows} == {"not_computable"}
    assert trend(gap=np.arange(4.0), covariance=v[:4, :4], years=np.arange(4)).without is None
    with pytest.raises(InputError, match="array years"):
        trend(gap=np.ones(5), covariance=v[:5, :5], years=[1, 2, 3, 4, np.nan])
    with pytest.raises(InputError, match="a variance that is not above 0"):
        trend(gap=np.ones(5), covariance=np.zeros(5), years=np.arange(5))


def test_models_with_the_same_answers_have_a_trend() -> None:
    v = 1e-4 * np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    rows = trend_rows(gap=[0.1, 0.1, 0.2, 0.3], covariance=v, years=[2023, 2024, 2025, 2026],
                      model=list("abcd"), family=["f", "f", None, None])  # fmt: skip
    slopes = [r for r in rows if r.estimand == "gap_trend_pp_per_year"]
    assert [r.status for r in slopes] == ["ok"] * 3
    x = np.array([-1.5, -0.5, 0.5, 1.5]) / 5  # one variance: ordinary least squares
    assert [r.estimate for r in slopes] == pytest.approx([x @ [10, 10, 20, 30]] * 3)
    assert slopes[-1].std_error == pytest.approx(100 * np.sqrt(x @ v @ x))
    (same,) = [r for r in rows if r.estimand == "gap_difference_pp"]
    assert (same.estimate, same.status, same.std_error, same.p_value) == (0, "flagged", None, None)


def test_what_an_error_cannot_be_told_of_has_a_reason() -> None:
    """One sampling error of all models, and one that never varies: rows with a reason, no crash."""
    names, years = list("abcde"), [2023, 2024, 2025, 2026, 2027]
    together = np.full((5, 5), 1e-4)
    rows = trend_rows(gap=np.full(5, 0.1), covariance=together, years=years, model=names)
    assert {r.status for r in rows} == {"not_computable"}
    assert all(r.reason.startswith("shared_error") for r in rows)
    assert sampling_only(gap=np.full(5, 0.1), covariance=together, years=years).startswith("shared")
    spread = trend_rows(gap=[0.1, 0.3, 0.1, 0.2, 0.3], covariance=together, years=years,
                        model=names)  # fmt: skip
    by = {r.method: r for r in spread if r.estimand == "gap_trend_pp_per_year" and not r.part}
    assert by["reml_knapp_hartung"].status == "ok"
    assert by["sampling_errors_only"].reason.startswith("shared_error")
    still = together * (1 + np.eye(5))
    still[2] = still[:, 2] = 0
    rows = trend_rows(gap=np.full(5, 0.1), covariance=still, years=years, model=names)
    assert {(r.status, r.reason) for r in rows} == {
        ("not_computable", "no_spread: nothing varies in c")
    }
    # Without the last model all are of one date.
    dates = [2023, 2023, 2023, 2023, 2024]
    rows = trend_rows(gap=np.arange(5) / 100, covariance=np.eye(5) / 1e4, years=dates, model=names)
    left = {r.part[1]: r for r in rows if r.part}
    assert left["e"].reason.startswith("one_date")
    assert [left[m].status for m in "abcd"] == ["ok"] * 4


def test_an_estimated_covariance_does_not_make_a_trend() -> None:
    """14 models without a trend, 150 postings, 40 names that each model takes its own way: the
    covariance is singular or close to it, so that its inverse must not be what weighs. At most 5%
    in 3 errors of the 60 samples."""
    years, rejected, small = 2020 + 0.3 * np.arange(14), [], []
    for seed in range(60):
        rng = np.random.default_rng([1, seed])
        posting = np.repeat(np.arange(150), 4)
        names = [rng.integers(0, 20, 600) + arm * 20 for arm in (0, 1)]
        lean = 0.2 * rng.normal(size=(40, 14))
        own = rng.normal(size=(150, 14))[posting]
        one, two = (own + 0.7 * rng.normal(size=(600, 14)) + lean[n] > 0 for n in names)
        gap, v = gap_covariance(one.astype(float) - two, np.ones((600, 14)), [posting, *names])
        small.append(np.linalg.eigvalsh(v)[0] / np.trace(v) * 14)
        found = trend(gap=gap, covariance=v, years=years, leave_one_out=False)
        alone = sampling_only(gap=gap, covariance=v, years=years)
        rejected.append((found.p_value < 0.05, found.plain.p_value < 0.05, alone[2] < 0.05))
        assert alone[2] > 1e-5
    assert np.median(small) < 0.1
    assert (np.mean(rejected, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)).all()


def test_covariance_of_gaps_is_what_one_model_has_and_what_models_share() -> None:
    models = [audit(seed, postings=120, name_sd=0.05) for seed in (5, 5, 6)]
    same = models[0]  # postings and names are shared; answers of the third are its own
    d, n = (np.stack([getattr(m, k) for m in models], axis=1) for k in ("d", "n"))
    gap, v = gap_covariance(d, n, same.ways)
    row = next(r for r in callbacks(same, CallbackOptions(draws=100, permutations=99)).rows
               if r.method == "cluster_posting_names")  # fmt: skip
    assert 100 * gap[0] == pytest.approx(row.estimate)
    # Setting negative eigenvalues to 0 can only add.
    assert row.std_error * 0.999 <= 100 * np.sqrt(v[0, 0]) <= row.std_error * 1.05
    assert v[0, 1] == pytest.approx(v[0, 0])
    assert abs(v[0, 2]) < 0.9 * v[0, 0]
    with pytest.raises(InputError, match="model 1: has no complete pair"):
        gap_covariance(d[:, :2], np.stack([n[:, 0], 0 * n[:, 0]], axis=1), same.ways)


def test_gaps_of_two_contrasts_covary_through_their_postings() -> None:
    race, gender = audit(7, postings=60), audit(8, postings=60)
    nothing = np.zeros(len(race))
    d = np.stack([np.append(race.d, nothing), np.append(nothing, gender.d)], axis=1)
    n = np.stack([np.append(race.n, nothing), np.append(nothing, gender.n)], axis=1)
    _, v = gap_covariance(d, n, [np.append(race.posting, gender.posting)])
    left = [
        (p.d - p.d.mean()).reshape(60, 4).sum(axis=1) / len(p) for p in (race, gender)
    ]  # fmt: skip
    assert v[0, 1] == pytest.approx(left[0] @ left[1] * 60 / 59)
    assert v[1, 1] == pytest.approx(left[1] @ left[1] * 60 / 59)
