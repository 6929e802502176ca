"""What names tell: the gender of a first name by the SSA's births, the race of a surname by the
Census.

The share of a name's bearers that are of the group it stands for, with bounds for what privacy
keeps from the files: the SSA leaves out a name with fewer than five births of a year and sex, the
Census suppresses cells. The race that a first name tells is in neither file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from fairscreen.errors import ConfigError
from fairscreen.population.naming import SURNAME_RACES, published, suppressed_sum

NONE = "none"  # the race or gender of a name that tells none
NOT_IN_SSA = "not_in_ssa: no births of this name in the file and in names.birth_years"
NOT_IN_CENSUS = "not_in_census: the surname file has no such name"
SUPPRESSED = "suppressed: the surname file does not give the share of this race"
RACE_NOT_IN_CENSUS = "race_not_in_census: the surname file counts no such race"
Array = NDArray[np.float64]
_COUNTS = ["female", "male", "hidden_female", "hidden_male"]
#: Table name_signals without audit_id.
SCHEMA = pa.schema(
    [
        *(pa.field(c, pa.string()) for c in ("kind", "race", "gender", "name", "source", "signal")),
        *(pa.field(c, pa.float64()) for c in ("share", "share_low", "share_high")),
        pa.field("bearers", pa.int64()),
        *(pa.field(c, pa.bool_()) for c in ("weak", "used")),
        *(pa.field(c, pa.float64()) for c in ("mother_education", "cohort")),
        pa.field("reason", pa.string()),
    ]
)
#: What races are called elsewhere -> the surname file's.
_CALLED = {
    "asian": "asian_pacific", "asian pacific": "asian_pacific", "api": "asian_pacific",
    "african american": "black", "african-american": "black",
    "latino": "hispanic", "latina": "hispanic", "native american": "native",
}  # fmt: skip


@dataclass(frozen=True)
class Signal:
    """share in [low, high], of `bearers` people; reason: why share is not known."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    bearers: int | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Name:
    """One name of the audit: the group it stands for, and what its bearers say of that.

    reasons: why it is not used; empty = profiles may bear it
    """

    kind: Literal["first", "surname"]
    race: str
    gender: str
    name: str
    source: str | None
    signal: Signal = Signal()
    mother_education: float | None = None
    cohort: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def group(self) -> tuple[str, str]:
        return self.race, self.gender

    @property
    def used(self) -> bool:
        return not self.reasons

    def weak(self, below: float) -> bool | None:
        return None if self.signal.share is None else self.signal.share < below


def key(name: str) -> str:
    """What is alike in a name's spellings: O'Brien, OBRIEN and obrien are one, as the files of the
    SSA and the Census have letters only."""
    if name.isascii() and name.isalpha():
        return name.lower()  # nearly every name, five times as fast
    bare = unicodedata.normalize("NFKD", name)
    return "".join(c for c in bare if c.isalpha()).casefold()


def census_race(race: str) -> str | None:
    """The surname file's word for a race; None where it counts no such race."""
    plain = _CALLED.get(race, race)
    return plain if plain in SURNAME_RACES else None


def required_census_race(race: str) -> str:
    """The same; ConfigError where there is none."""
    if (found := census_race(race)) is None:
        raise ConfigError(
            "contrasts",
            f"the surname file counts no race {race}, so it gives no surnames of it",
            f"Name lists that have it in names.surnames, or take {', '.join(SURNAME_RACES)}.",
        )
    return found


def by_key(births: pd.DataFrame) -> pd.DataFrame:
    """Births summed over the spellings of a name: key as index, sorted; name (one spelling),
    female, male, hidden_female, hidden_male (births at most that the file leaves out)."""
    ordered = births.sort_values("name", kind="stable")
    keys = [key(str(name)) for name in ordered["name"]]
    spelled = pd.Series(ordered["name"].to_numpy(), index=keys).groupby(level=0, sort=True).first()
    sums = ordered.set_axis(keys)[_COUNTS].groupby(level=0, sort=True).sum()
    return sums.assign(name=spelled)


def gender_signals(counts: pd.DataFrame, gender: str) -> list[Signal]:
    """What the births of names (rows of `by_key`) say of each as a name of this gender."""
    rows = counts[_COUNTS].to_numpy(dtype=np.int64).tolist()
    if gender == "female":
        return [_of(female, male, less, more) for female, male, less, more in rows]
    return [_of(male, female, more, less) for female, male, less, more in rows]


def _of(mine: int, others: int, hidden_mine: int, hidden_others: int) -> Signal:
    born = mine + others
    return Signal(
        share=mine / born,
        low=mine / (born + hidden_others),
        high=(mine + hidden_mine) / (born + hidden_mine),
        bearers=born,
    )


def race_signals(
    census: pd.DataFrame, races: Iterable[str], wanted: Iterable[str]
) -> Mapping[tuple[str, str], Signal]:
    """By race and `key` of the surname: what the Census says of it. wanted: keys to look up.

    census: name, bearers, pct_* (NaN = suppressed). A key that several spellings of a list share
    has their bearers together.
    """
    keys = set(wanted)
    rows, pct = published(census)
    at: dict[str, list[int]] = {}
    for i, name in enumerate(rows["name"]):
        if (known := key(str(name))) in keys:
            at.setdefault(known, []).append(i)
    bearers = rows["bearers"].to_numpy(dtype=np.float64)
    hidden = suppressed_sum(pct)
    found = {}
    for race in races:
        column = census_race(race)
        for name in sorted(keys):
            if column is None:
                found[race, name] = Signal(reason=RACE_NOT_IN_CENSUS)
            elif name not in at:
                found[race, name] = Signal(reason=NOT_IN_CENSUS)
            else:
                shares = pct[at[name], SURNAME_RACES.index(column)]
                found[race, name] = _together(bearers[at[name]], shares, hidden[at[name]])
    return found


def _together(bearers: Array, pct: Array, hidden: Array) -> Signal:
    """hidden: percent that the suppressed cells of a row hold together."""
    people = float(bearers.sum())
    unknown = np.isnan(pct)
    low = float((bearers * np.where(unknown, 0.0, pct)).sum() / people / 100)
    high = float((bearers * np.where(unknown, hidden, pct)).sum() / people / 100)
    if unknown.any():
        return Signal(low=low, high=min(high, 1.0), bearers=int(people), reason=SUPPRESSED)
    return Signal(share=low, low=low, high=high, bearers=int(people))


def row(name: Name, weak_below: float) -> dict[str, object]:
    """A row of table name_signals without audit_id."""
    why = [*name.reasons, *([name.signal.reason] if name.signal.reason else [])]
    return {
        "kind": name.kind,
        "race": name.race,
        "gender": name.gender,
        "name": name.name,
        "source": name.source,
        "signal": "gender" if name.kind == "first" else "race",
        "share": name.signal.share,
        "share_low": name.signal.low,
        "share_high": name.signal.high,
        "bearers": name.signal.bearers,
        "weak": name.weak(weak_below),
        "used": name.used,
        "mother_education": name.mother_education,
        "cohort": name.cohort,
        "reason": "; ".join(why) or None,
    }
