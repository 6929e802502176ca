"""Pairs of applications to one posting that differ in the name: what each side got, counted.

An answer is no, yes, or none (missing or unparseable). A pair with both sides answered is complete;
favored minus other is then 1, 0 or -1. Cells are added up and put together in any order: pairs
count, not rows.
Source: the paired audits of Bertrand & Mullainathan (2004) and Kline, Rose & Walters (2022).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairscreen.errors import InputError
from fairscreen.estimators.clustered import Ways
from fairscreen.estimators.ranks import RankRow

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
NO, YES, NONE = 0, 1, 2
FAVORED, OTHER = "favored", "other"


@dataclass(frozen=True)
class CallbackRow(RankRow):
    """One number: the columns of `estimates` that the estimator knows. n: pairs (applications,
    where they are not paired) behind it. part: what narrows the slice further, such as
    ("arm", "favored"), ("name", "12"): arms by role, names by code."""

    part: tuple[str, str] | None = None


def not_computable(
    estimand: str, method: str, n: int, reason: str, part: tuple[str, str] | None = None
) -> CallbackRow:
    return CallbackRow(
        estimand, method, None, None, None, None, None, n, "not_computable", reason, part
    )


@dataclass(frozen=True, eq=False)
class CallbackPairs:
    """Cells of pairs that share posting and names; cells add (`+`), and may repeat.

    table    (C, 3, 3) int: pairs by what favored (axis 1) and other (axis 2) got: no, yes, none
    posting  (C,) int: the cluster
    favored, other   (C,) int: codes of the names, one list for both arms; None: not known
    stratum  (C,) int: within which labels may be permuted over names (their gender); None: names
             that are paired with each other, directly or through others
    p_pairs, p_gap   (C,): pairs in which both sides have P(yes), and the sum of favored minus
             other over them; None: none asked for
    Raises InputError for other shapes, numbers below 0, names of one side only.
    """

    table: Ints
    posting: Ints
    favored: Ints | None = None
    other: Ints | None = None
    stratum: Ints | None = None
    p_pairs: Ints | None = None
    p_gap: Array | None = None

    def __post_init__(self) -> None:
        if self.table.ndim != 3 or self.table.shape[1:] != (3, 3):
            raise InputError("array table", f"has shape {self.table.shape}", "Give (C, 3, 3).")
        if (self.table < 0).any():
            raise InputError("array table", "holds a number below 0", "Give counts of pairs.")
        for names in (("favored", "other"), ("p_pairs", "p_gap")):
            if len({getattr(self, n) is None for n in names}) > 1:
                raise InputError(f"arrays {', '.join(names)}", "only one is given", "Give both.")
        for field in fields(self):
            values = getattr(self, field.name)
            if values is not None and len(values) != len(self.table):
                raise InputError(
                    f"array {field.name}", f"has {len(values)} values for {len(self)} cells",
                    "Give one per cell.",
                )  # fmt: skip
        if self.p_gap is not None and not np.isfinite(self.p_gap).all():
            raise InputError("array p_gap", "holds no finite number", "Leave such pairs out.")

    @classmethod
    def of_answers(
        cls, *, favored: ArrayLike, other: ArrayLike, posting: ArrayLike, **more: Any
    ) -> CallbackPairs:
        """One cell per pair. favored, other (N,): 1 yes, 0 no, NaN none; posting (N,) int;
        more: favored_name, other_name, stratum (N,) int; favored_p, other_p (N,): P(yes) or NaN."""
        sides = []
        for name, given in (("favored", favored), ("other", other)):
            y = np.asarray(given, dtype=np.float64)
            if not (np.isnan(y) | (y == 0) | (y == 1)).all():
                raise InputError(f"array {name}", "is not 0, 1 or NaN", "Give callbacks.")
            sides.append(np.where(np.isnan(y), NONE, y).astype(np.int64))
        table = np.zeros((len(sides[0]), 3, 3), dtype=np.int64)
        table[np.arange(len(table)), sides[0], sides[1]] = 1

        def codes(name: str) -> Ints | None:
            return None if more.get(name) is None else np.asarray(more[name], dtype=np.int64)

        p_pairs = p_gap = None
        if more.get("favored_p") is not None:
            gap = np.asarray(more["favored_p"], float) - np.asarray(more["other_p"], float)
            p_pairs = np.isfinite(gap).astype(np.int64)
            p_gap = np.where(p_pairs > 0, gap, 0.0)
        return cls(
            table, np.asarray(posting, dtype=np.int64), codes("favored_name"),
            codes("other_name"), codes("stratum"), p_pairs, p_gap,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.table)

    def __add__(self, other: CallbackPairs) -> CallbackPairs:
        parts = []
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            if (one is None) != (two is None):
                raise InputError(
                    f"array {field.name}", "is on one side only", "Give both or neither."
                )
            parts.append(None if one is None else np.concatenate([one, two]))
        return CallbackPairs(*parts)  # type: ignore[arg-type]

    def take(self, at: Mask | Ints) -> CallbackPairs:
        """The cells at a mask or at positions."""
        values = (getattr(self, field.name) for field in fields(self))
        return CallbackPairs(*(None if v is None else v[at] for v in values))  # type: ignore[arg-type]

    @cached_property
    def some(self) -> CallbackPairs:
        """The cells with a complete pair."""
        return self if (self.n > 0).all() else self.take(self.n > 0)

    @cached_property
    def n(self) -> Ints:
        """(C,): complete pairs."""
        return np.asarray(self.table[:, :NONE, :NONE].sum(axis=(1, 2)), dtype=np.int64)

    @cached_property
    def d(self) -> Ints:
        """(C,): complete pairs in which only favored is called, minus only other."""
        return np.asarray(self.table[:, YES, NO] - self.table[:, NO, YES], dtype=np.int64)

    @cached_property
    def cells(self) -> tuple[int, int, int, int]:
        """Complete pairs: both called, only favored (b), only other (c), neither."""
        t = self.table.sum(axis=0)
        return int(t[YES, YES]), int(t[YES, NO]), int(t[NO, YES]), int(t[NO, NO])

    @cached_property
    def pairs(self) -> Ints:
        """(C,): all pairs, complete or not."""
        return np.asarray(self.table.sum(axis=(1, 2)), dtype=np.int64)

    @property
    def lacking(self) -> tuple[int, int]:
        """Pairs in which favored, other has no answer; a pair may count in both."""
        t = self.table.sum(axis=0)
        return int(t[NONE].sum()), int(t[:, NONE].sum())

    @cached_property
    def ways(self) -> Ways:
        """The clusters of the headline interval: posting, and both names where they are known."""
        if self.favored is None or self.other is None:
            return Ways((self.posting,))
        return Ways((self.posting, self.favored, self.other))

    def called(self, side: str) -> Ints:
        """(C,): complete pairs in which `favored` or `other` is called."""
        complete = self.table[:, :NONE, :NONE]
        part = complete[:, YES, :] if side == FAVORED else complete[:, :, YES]
        return np.asarray(part.sum(axis=1), dtype=np.int64)
