"""A panel of models as rows of `estimates`: trend, contrasts within families, race beside gender.

Rows about the trend say what it rests on: `reml_knapp_hartung` is the one to read. Beside it
`reml_knapp_hartung_plain`, the same slope with Knapp & Hartung's factor as it is, which covers at
its level where models differ by sampling alone, errors are known and the other covers more (see
`panel` for errors from few names); `sampling_errors_only`,
the slope without each model in turn, tau and I^2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairscreen.estimators.callback_pairs import CallbackRow, not_computable
from fairscreen.estimators.gap_correlation import Correlation, correlations
from fairscreen.estimators.panel import Trend, contrasts, sampling_only, trend
from fairscreen.estimators.ranks import settled

TREND, REML, SAMPLING = "gap_trend_pp_per_year", "reml_knapp_hartung", "sampling_errors_only"
PLAIN = "reml_knapp_hartung_plain"
DIFFERENCE, CORRELATION = "gap_difference_pp", "gap_correlation"


def trend_rows(
    *, gap: ArrayLike, covariance: ArrayLike, years: ArrayLike, model: Sequence[str],
    family: Sequence[str | None] | None = None, level: float = 0.95,
) -> list[CallbackRow]:  # fmt: skip
    """Rows of gaps (M,), shares, with covariance (M, M) at release dates (M,) in years.

    gap_trend_pp_per_year  the three methods; and `reml_knapp_hartung` without each model (part)
    gap_at_mean_date_pp    level of the fitted line at the mean date
    gap_at_first_date_pp, gap_at_last_date_pp    and at the ends, with intervals: what a band needs
    gap_tau_pp, gap_i2     spread between models beyond sampling, and its share of variance
    gap_difference_pp      later minus earlier model of a family, method `contrast`
    n counts models. Not computable as `panel.trend`; "no_spread" where a gap has no variance.
    """
    points = 100 * np.asarray(gap, dtype=np.float64)
    v = 1e4 * np.asarray(covariance, dtype=np.float64)
    m = len(points)
    still = [name for name, own in zip(model, np.diag(v), strict=True) if not own > 0]
    found: Trend | str
    if still:
        found = f"no_spread: nothing varies in {', '.join(still)}"
    else:
        found = trend(gap=points, covariance=v, years=years, level=level)
    rows: list[CallbackRow] = []
    if isinstance(found, str):
        wanted = ((TREND, REML), (TREND, PLAIN), (TREND, SAMPLING),
                  ("gap_at_mean_date_pp", REML), ("gap_tau_pp", REML),
                  ("gap_i2", REML))  # fmt: skip
        rows += [not_computable(e, how, m, found) for e, how in wanted]
    else:
        f = found
        rows.append(CallbackRow(TREND, REML, f.slope, f.std_error, f.low, f.high, f.p_value, m))
        own = f.plain
        rows.append(settled(CallbackRow(TREND, PLAIN, f.slope, own.std_error, own.low, own.high,
                                        own.p_value, m)))  # fmt: skip
        alone = sampling_only(gap=points, covariance=v, years=years)
        if isinstance(alone, str):
            rows.append(not_computable(TREND, SAMPLING, m, alone))
        else:
            rows.append(CallbackRow(TREND, SAMPLING, *alone[:2], None, None, alone[2], m))
        for name, left in zip(model, f.without or (), strict=False):
            part = ("without_model", name)
            if isinstance(left, str):
                rows.append(not_computable(TREND, REML, m - 1, left, part))
            else:
                rows.append(CallbackRow(TREND, REML, left[0], None, None, None, left[1], m - 1,
                                        part=part))  # fmt: skip
        rows.append(CallbackRow("gap_at_mean_date_pp", REML, f.level_at_centre, f.level_error,
                                None, None, None, m))  # fmt: skip
        reach = (f.high - f.slope) / f.std_error
        dates = np.asarray(years, dtype=np.float64)
        for end, year in (("first", dates.min()), ("last", dates.max())):
            value, error = f.at(float(year))
            rows.append(CallbackRow(f"gap_at_{end}_date_pp", REML, value, error,
                                    value - reach * error, value + reach * error, None,
                                    m))  # fmt: skip
        rows.append(CallbackRow("gap_tau_pp", REML, f.tau, None, None, None, None, m))
        rows.append(CallbackRow("gap_i2", REML, f.i2, None, None, None, None, m))
    if still:
        return rows
    for c in contrasts(gap=points, covariance=v, years=years, family=family or [None] * m,
                       level=level):  # fmt: skip
        part = ("models", f"{model[c.later]} minus {model[c.earlier]}")
        # Models with the same answers differ by 0 without an error.
        rows.append(settled(CallbackRow(DIFFERENCE, "contrast", c.value, c.std_error, c.low, c.high,
                                        c.p_value, 2, part=part)))  # fmt: skip
    return rows


def correlation_rows(
    *, one: ArrayLike, two: ArrayLike, variance_one: ArrayLike, variance_two: ArrayLike,
    covariance: ArrayLike, level: float = 0.95,
) -> list[CallbackRow]:  # fmt: skip
    """Correlation of two gaps across M models, three ways, each with its range when one model is
    left out (method `leave_one_model_out`, part = which end)."""
    rows = []
    for c in correlations(one=one, two=two, variance_one=variance_one, variance_two=variance_two,
                          covariance=covariance, level=level):  # fmt: skip
        rows += _coefficient(c)
    return rows


def _coefficient(c: Correlation) -> list[CallbackRow]:
    if c.value is None:
        rows = [not_computable(CORRELATION, c.method, c.models, c.reason or "")]
    else:
        rows = [CallbackRow(CORRELATION, c.method, c.value, None, c.low, c.high, c.p_value,
                            c.models)]  # fmt: skip
    for end, value in (("least", c.least), ("most", c.most)):
        if value is not None:
            rows.append(CallbackRow(CORRELATION, f"{c.method}_leave_one_model_out", value, None,
                                    None, None, None, c.models - 1, part=("end", end)))  # fmt: skip
    return rows
