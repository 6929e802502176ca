"""Columns of a result on somebody's file: those of the `estimates` table that make sense there."""

ROW = (
    "slice", "estimand", "method", "estimate", "std_error", "ci_low", "ci_high", "p_value",
    "family", "p_holm", "p_bh", "p_maxt", "n", "favors_when_positive", "status", "reason",
)  # fmt: skip
