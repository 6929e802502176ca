"""PSID packaged extract: reference persons and spouses of each wave, with their work history.

A Data Center job's zip holds fixed-width text and the set-up file that describes it. Variables
are named anew in every wave; `conf/psid_crosswalk.yml` says which is which. The PSID's licence
forbids passing its data on: fairscreen ships a synthetic extract in the same form.
Source: Panel Study of Income Dynamics, public use data, University of Michigan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.sources import (
    archive,
    editions,
    fixed_width,
    psid_checks,
    setup_files,
    setup_sas,
    setup_spss,
    setup_stata,
)
from fairscreen.sources.psid_crosswalk import Crosswalk, load_crosswalk
from fairscreen.sources.psid_rows import DDL, Extract, extract
from fairscreen.sources.result import IngestResult
from fairscreen.sources.setup_files import REMEDY, Setup
from fairscreen.tables import Warehouse

Array = NDArray[np.float64]

_LANGUAGES = {
    ".sas": setup_sas.take_apart,
    ".do": setup_stata.take_apart,
    ".sps": setup_spss.take_apart,
}


@dataclass(frozen=True)
class Described:
    """A package as its set-up file describes it; `text` is the member with the data."""

    path: Path
    setup: Setup
    text: str


def read(paths: Path | Sequence[Path], crosswalk: Crosswalk | None = None) -> Extract:
    """Reference persons and spouses or partners with a main job, of every wave there is.

    Several packages are joined by person; none may repeat a variable of another, keys apart.
    Raises InputError naming file, member, line and columns: not a zip, damaged, no set-up file
    or no text, set-up files that disagree, a variable missing (with its wave), a short record,
    text in a number, counts that disagree with the set-up file, a person twice, family answers
    of another interview, an impossible answer (`valid` of the crosswalk).
    """
    packages = [describe(p) for p in ([paths] if isinstance(paths, Path) else paths)]
    part, skipped = present(packages, crosswalk or load_crosswalk())
    data = _joined([_columns(p, part) for p in packages], packages, part)
    synthetic = any(p.setup.synthetic for p in packages)
    where = " + ".join(f"{p.path}, member {p.text}" for p in packages)
    found = extract(data, part, synthetic, where, lines=len(packages) == 1)
    return replace(found, skipped=skipped)


def inspect(paths: Path | Sequence[Path], crosswalk: Crosswalk | None = None) -> None:
    """Whether the packages have their parts and all variables; InputError as `read`.

    Reads no data.
    """
    packages = [describe(p) for p in ([paths] if isinstance(paths, Path) else paths)]
    present(packages, crosswalk or load_crosswalk())


def describe(path: Path) -> Described:
    """The set-up files of a package, read and compared. Raises InputError as `read`."""
    with archive.opened(path, REMEDY) as package:
        members, text = _members(package, path)
        setups = []
        for suffix, member in members.items():
            with archive.streamed(package, path, member, REMEDY) as stream:
                # Labels are plain ASCII or Windows text; names and columns are ASCII.
                content = stream.read().decode("latin-1")
            where = f"{path}, member {member}"
            setups.append(setup_files.parse(content, where, _LANGUAGES[suffix]))
    setup_files.check_agreement(setups)
    if setups[0].domain == "FAM":
        remedy = "In the Data Center, choose all individuals, not families, as the file's rows."
        raise InputError(setups[0].where, "DATA_DOMAIN is FAM: its rows are families", remedy)
    return Described(path, setups[0], text)


def _members(package: ZipFile, path: Path) -> tuple[dict[str, str], str]:
    """Set-up files by suffix, and the data they belong to: of the same name, and `.txt`."""
    stems: dict[str, dict[str, str]] = {}
    for member in archive.members(package):
        stem, dot, suffix = archive.basename(member).rpartition(".")
        kind = dot + suffix.lower()
        if (kind in _LANGUAGES or kind == ".txt") and not stem.lower().endswith("_formats"):
            stems.setdefault(stem.lower(), {})[kind] = member
    setups = {stem for stem, kinds in stems.items() if set(kinds) - {".txt"}}
    texts = {stem for stem, kinds in stems.items() if ".txt" in kinds}
    if not setups:
        remedy = "In the Data Center, choose SAS, Stata or SPSS statements for the set-up file."
        raise InputError(str(path), "holds no set-up file (.sas, .do or .sps)", remedy)
    if not texts:
        raise InputError(str(path), "holds no data (.txt)", REMEDY)
    both = sorted(setups & texts)
    if len(both) != 1:
        problem = f"holds {len(both)} set-up files with a text of the same name; one is expected"
        raise InputError(str(path), problem, REMEDY)
    found = stems[both[0]]
    return {kind: found[kind] for kind in _LANGUAGES if kind in found}, found[".txt"]


def present(
    packages: Sequence[Described], crosswalk: Crosswalk
) -> tuple[Crosswalk, tuple[int, ...]]:
    """The part of the crosswalk that the packages hold, and the waves that they do not.

    A wave of which nothing is there is skipped. `earlier` waves count when they are there whole.
    Raises InputError: a variable of a wave or of the person missing, no wave at all, a variable
    in two packages.
    """
    names = _all_names(packages, crosswalk)
    shared = {v for early in crosswalk.earlier.values() for v in early.variables()}
    where = packages[0].setup.where if len(packages) == 1 else _together(packages)
    for key in (crosswalk.person.person_1968, crosswalk.person.person_number):
        for package in packages:
            if key not in package.setup.fields:
                raise _missing(package.setup.where, key, "")
    waves = {}
    for year, wave in crosswalk.waves.items():
        own = wave.variables()
        if not any(name in names and name not in shared for name in own):
            continue
        for name in own:
            if name not in names:
                raise _missing(where, name, f" of wave {year}")
        waves[year] = wave
    if not waves:
        years = ", ".join(map(str, crosswalk.waves))
        remedy = "Add the variables of one wave of the crosswalk to the Data Center's cart."
        raise InputError(where, f"holds nothing of the crosswalk's waves ({years})", remedy)
    earlier = {
        year: early
        for year, early in crosswalk.earlier.items()
        if year not in waves and names.issuperset(early.variables()) and year < max(waves)
    }
    part = crosswalk.model_copy(update={"waves": waves, "earlier": earlier})
    return part, tuple(y for y in crosswalk.waves if y not in waves)


def _missing(where: str, name: str, of: str) -> InputError:
    remedy = f"Add {name} to the Data Center's cart and download again."
    return InputError(where, f"variable {name}{of} is missing", remedy)


def _together(packages: Sequence[Described]) -> str:
    return " + ".join(str(p.path) for p in packages)


def _all_names(packages: Sequence[Described], crosswalk: Crosswalk) -> set[str]:
    """Variables of all packages; those that the crosswalk names stand in one package only."""
    wanted = {v for wave in crosswalk.waves.values() for v in wave.variables()}
    wanted |= {v for early in crosswalk.earlier.values() for v in early.variables()}
    held: dict[str, Path] = {}
    for package in packages:
        for name in package.setup.fields:
            if name in wanted and name in held:
                problem = f"variable {name} is in {held[name]}, too"
                raise InputError(str(package.path), problem, "Give each variable once.")
            held[name] = package.path
    return set(held)


def _columns(package: Described, crosswalk: Crosswalk) -> dict[str, Array]:
    """The package's columns of the crosswalk's variables, keys included."""
    wanted = [*crosswalk.person.model_dump().values()]
    wanted += [v for early in crosswalk.earlier.values() for v in early.variables()]
    wanted += [v for wave in crosswalk.waves.values() for v in wave.variables()]
    names = [n for n in dict.fromkeys(wanted) if n in package.setup.fields]
    where = f"{package.path}, member {package.text}"
    with (
        archive.opened(package.path, REMEDY) as opened,
        archive.streamed(opened, package.path, package.text, REMEDY) as stream,
    ):
        parts = list(fixed_width.read_columns(stream, package.setup, names, where))
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _joined(
    parts: Sequence[dict[str, Array]], packages: Sequence[Described], crosswalk: Crosswalk
) -> dict[str, Array]:
    """Columns of all packages, one row per person; NaN where a package lacks the person."""
    if len(parts) == 1:
        return parts[0]
    person = crosswalk.person
    keys = []
    for part, package in zip(parts, packages, strict=True):
        own = np.column_stack([part[person.person_1968], part[person.person_number]])
        if np.isnan(own).any() or len(np.unique(own, axis=0)) != len(own):
            problem = "a person has no key, or stands there twice"
            raise InputError(f"{package.path}, member {package.text}", problem, REMEDY)
        keys.append(own)
    everybody, place = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    out = {person.person_1968: everybody[:, 0], person.person_number: everybody[:, 1]}
    ends = np.cumsum([len(k) for k in keys])
    for part, end, own in zip(parts, ends, keys, strict=True):
        rows = place.reshape(-1)[end - len(own) : end]
        for name, values in part.items():
            if name not in (person.person_1968, person.person_number):
                column = out.setdefault(name, np.full(len(everybody), np.nan))
                column[rows] = values
    return out


def ingest_psid(
    warehouse: Warehouse,
    paths: Path | str | Sequence[Path | str],
    *,
    crosswalk: Path | None = None,
) -> IngestResult:
    """Append this extract to table `psid_person`, in one transaction.

    Extracts lie side by side, synthetic and real ones too, and an audit reads the one that it
    names: one package, or several that are joined. `crosswalk`: a file that replaces the shipped
    one. Raises InputError as `read` does, before anything is written.
    """
    from pyspark.sql import functions as sf

    given = [paths] if isinstance(paths, Path | str) else list(paths)
    files = [resources.resolve(str(path)) for path in given]
    name = " + ".join(file.name for file in files)

    def load() -> editions.Loaded:
        found = read(files, load_crosswalk(crosswalk))
        rows = editions.frame(warehouse, [editions.packed(found.rows)], DDL)
        rows = rows.withColumn("synthetic", sf.lit(found.synthetic))
        return editions.Loaded(rows, found.rows.num_rows, notes(found, name), found.synthetic)

    return editions.ingest(
        warehouse,
        table="psid_person",
        kind="psid",
        file=name,
        sha256=edition(files, crosswalk),
        load=load,
    )


def edition(files: Sequence[Path], crosswalk: Path | None = None) -> str:
    """SHA-256 of one package; of several, or with a crosswalk of the user's, that of their hashes.

    The order of the packages does not matter.
    """
    hashes = sorted(archive.file_sha256(file, REMEDY) for file in files)
    if crosswalk is not None:
        load_crosswalk(crosswalk)  # says what is wrong with it before its bytes are read
        hashes.append(archive.file_sha256(crosswalk, "conf/psid_crosswalk.yml shows the form."))
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def notes(found: Extract, name: str) -> list[str]:
    """What the user should know of an extract, in sentences."""
    out = []
    if found.synthetic:
        out.append(f"{name} is SYNTHETIC: made by a script, no real PSID record.")
    waves = found.rows["wave"].unique().to_pylist()
    reasons = "; ".join(f"{why}: {n:,}" for why, n in found.left_out.items() if n)
    out.append(
        f"{found.rows.num_rows:,} answers of reference persons and spouses with a main job, "
        f"from {found.records:,} persons in {len(waves)} waves. Left out: {reasons or 'nobody'}."
    )
    if found.skipped:
        years = ", ".join(map(str, found.skipped))
        out.append(f"Waves of the crosswalk that {name} does not hold: {years}.")
    answered = found.rows.filter(pc.is_valid(found.rows["years_worked_answered"]))
    asked = answered["years_worked_asked"]
    grown = pc.sum(pc.not_equal(answered["years_worked"], answered["years_worked_answered"]))
    unknown = asked.null_count
    if answered.num_rows:
        out.append(
            f"Years worked: {answered.num_rows:,} answers, {grown.as_py() or 0:,} of them brought "
            f"up to date. {unknown:,} were asked in the earliest wave of the extract or before: "
            f"what came before that wave is missing from them. {_unchanged(found)}"
        )
    return out + psid_checks.doubts(found.rows)


def _unchanged(found: Extract) -> str:
    """How many people with a main job in two waves have a number the PSID did not change."""
    columns = ["wave", "person_1968", "person_number", "years_worked_answered"]
    rows = found.rows.select(columns).to_pandas().dropna()
    years = sorted(rows["wave"].unique())
    same = both = 0
    for one, other in pairwise(years):
        pairs = rows[rows["wave"] == one].merge(
            rows[rows["wave"] == other], on=["person_1968", "person_number"]
        )
        unchanged = pairs["years_worked_answered_x"] == pairs["years_worked_answered_y"]
        same, both = same + int(unchanged.sum()), both + len(pairs)
    if not both:
        return "Nobody is there in two waves."
    return f"{same:,} of {both:,} people in two waves in a row gave the same number in both."
