"""Placebo pairs beside real ones: how often two names of one race and gender part ways."""

from __future__ import annotations

from fairscreen.estimators.callback_pairs import CallbackPairs, CallbackRow, not_computable
from fairscreen.estimators.callbacks import BY_POSTING, gap_row
from fairscreen.estimators.clustered import difference


def placebo_rows(
    pairs: CallbackPairs, placebo: CallbackPairs, *, level: float = 0.95
) -> list[CallbackRow]:
    """What two names of one race and gender do: share of discordant pairs, real and placebo, and
    the difference. Which side of a placebo pair counts as favored is nobody's choice: its gap is
    noise around 0, its discordance what names and hosting do without race.

    Codes of postings are shared by both. Errors cluster by posting, with degrees of freedom of the
    side that stands in fewer postings (clustered.difference); flagged "one_group" where that is
    one.
    """
    shares = []
    for name, given in (("real", pairs), ("placebo", placebo)):
        some = given.some  # a posting without a complete pair is no cluster
        if not some.n.any():
            return [not_computable("discordant_share_gap_pp", BY_POSTING, 0,
                                   f"no_pairs: no {name} pair is complete")]  # fmt: skip
        b_c = some.table[:, 1, 0] + some.table[:, 0, 1]
        shares.append((some, b_c, float(b_c.sum()) / float(some.n.sum())))
    rows = [
        CallbackRow("discordant_share", "counts", share, None, None, None, None,
                    int(some.n.sum()), part=("pairs", name))
        for name, (some, _, share) in zip(("real", "placebo"), shares, strict=True)
    ]  # fmt: skip
    one, two = (
        sign * (b_c - share * some.n) / some.n.sum()
        for sign, (some, b_c, share) in zip((1, -1), shares, strict=True)
    )
    codes = (shares[0][0].posting, shares[1][0].posting)
    found = difference(shares[0][2] - shares[1][2], one, two, codes, level=level)
    rows.append(gap_row("discordant_share_gap_pp", BY_POSTING, found, rows[0].n + rows[1].n))
    return rows
