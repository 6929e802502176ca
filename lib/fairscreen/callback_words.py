"""Rows of callbacks in words: arms and names by what they are called, whom a value favors, the
families of tests. Of audits and of files alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairscreen.estimators import callbacks_unpaired
from fairscreen.estimators.callback_pairs import FAVORED, CallbackRow
from fairscreen.estimators.callbacks import TESTS
from fairscreen.estimators.multiplicity import adjust
from fairscreen.result_rows import ROW

_TESTS = frozenset((*TESTS, *callbacks_unpaired.TESTS))
#: Estimands that tell nothing about whom.
_NOBODY = (
    "callback_rate", "missing_gap_pp", "name_sd_pp", "firm_variance_pp2", "discordant_share",
    "discordant_share_gap_pp", "gap_tau_pp", "gap_i2", "gap_correlation",
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """arms: favored and other as slices have them (race=white); favored: whom positive gaps favor;
    name: what the column of names is called; names: text of each name code."""

    arms: tuple[str, str]
    favored: str
    name: str | None
    names: Sequence[str]


def in_words(row: CallbackRow, text: str, kind: str, words: Words) -> dict[str, Any]:
    """A row with the columns of ROW. text, kind: the slice's canonical name and its columns."""
    more, reason = [], row.reason
    if row.part is not None:
        what, value = row.part
        if what == "arm":
            more = [words.arms[value != FAVORED]]
        elif what.startswith("name of "):
            side = words.arms[not what.endswith(FAVORED)]
            more = [side, f"{words.name}={words.names[int(value)]}"]
        elif what == "without_name":
            reason = f"without {words.names[int(value)]}"
        else:
            more = [f"{what}={value}"]
    favors: str | None = words.favored
    if row.estimand in _NOBODY:
        favors = None
    elif row.estimand == "callback_ratio":
        favors = f"{words.favored} (below 1)"
    test = (row.estimand, row.method) in _TESTS and row.p_value is not None
    return {
        **_EMPTY,
        "estimand": row.estimand, "method": row.method, "estimate": row.estimate,
        "std_error": row.std_error, "ci_low": row.ci_low, "ci_high": row.ci_high,
        "p_value": row.p_value, "n": row.n, "status": row.status,
        "slice": "; ".join([*([] if text == "all" else [text]), *more]) or "all",
        "family": f"{row.estimand} {row.method} by {kind}" if test else None,
        "favors_when_positive": favors, "reason": reason,
    }  # fmt: skip


_EMPTY: dict[str, Any] = dict.fromkeys(ROW)


def fill_families(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Adjusted p-values of each family, in place; what to say of them."""
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["family"] is not None:
            families[row["family"]].append(row)
    for mine in families.values():
        for row, member in zip(mine, adjust([r["p_value"] for r in mine]).members, strict=True):
            if member is not None:
                row["p_holm"], row["p_bh"] = member.holm, member.bh
    return [
        "Holm and Benjamini-Hochberg are within families: one test over the values of one slice "
        f"column or combination ({len(families):,} families)."
    ]
