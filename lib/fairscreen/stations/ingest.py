"""Upstream files to bronze tables; the same content again is a no-op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import functions as sf

from fairscreen import resources
from fairscreen.config import Config
from fairscreen.errors import ConfigError
from fairscreen.progress import say
from fairscreen.settings.population import Sources
from fairscreen.sources import (
    acs_pums,
    acs_survey,
    corpus,
    corpus_files,
    correspondence,
    names,
    posting_files,
    postings,
    psid,
)
from fairscreen.sources.acs_survey import Survey
from fairscreen.sources.corpus_files import Given
from fairscreen.sources.psid_crosswalk import load_crosswalk
from fairscreen.sources.result import IngestResult
from fairscreen.tables import Warehouse


@dataclass(frozen=True)
class Bronze:
    """What an audit stands on: content hashes by kind, and whether anything is synthetic."""

    sha256: dict[str, tuple[str, ...]]
    synthetic: tuple[str, ...]
    surveys: tuple[tuple[int, int], ...]  # vintage and period of the audit's ACS files
    rows: int
    notes: tuple[str, ...]


def check(
    kind: str,
    paths: Sequence[str],
    *,
    vintage: int | None = None,
    crosswalk: str | None = None,
    given: Given | None = None,
    columns: Mapping[str, str] | None = None,
) -> Survey | None:
    """What can be known of the files before Spark starts. Raises InputError as `ingest`.

    ACS files get one cheap pass: what that gives is for `ingest`, whose workers check the rest.
    Resumes, postings and lists of names that a user brings are read whole; of the others, which
    are small, the archive and its headers. kind: acs, psid, surnames, corpus, postings, and ssa for
    first names of any source.
    """
    files = [resources.resolve(path) for path in paths]
    if kind == "acs":
        return acs_survey.survey_files(files, vintage=vintage)
    if kind == "psid":
        psid.inspect(files, load_crosswalk(_file(crosswalk)))
        return None
    if kind == "corpus":
        for file in files:
            list(corpus_files.read(file, given or Given()))
        return None
    if kind == "postings":
        for file in files:
            posting_files.read(file, columns or {})
        return None
    one = {
        "ssa": names.inspect_first_names,
        "surnames": names.inspect_surnames,
    }[kind]
    for file in files:
        one(file)
    return None


def ingest(
    warehouse: Warehouse,
    kind: str,
    paths: Sequence[str],
    *,
    vintage: int | None = None,
    survey: Survey | None = None,
    crosswalk: str | None = None,
    given: Given | None = None,
    columns: Mapping[str, str] | None = None,
) -> IngestResult:
    """One kind of source. Raises InputError naming file, member, line or column.

    `survey`: what `check` gave for these paths, so that they are not read once more.
    `crosswalk`: of psid, a file in place of conf/psid_crosswalk.yml. `given`: of corpus, what the
    resumes do not tell. `columns`: of postings, our field -> what the files call it.
    """
    files = [resources.resolve(path) for path in paths]
    if kind == "acs":
        return acs_pums.ingest_acs(warehouse, files, vintage=vintage, survey=survey)
    if kind == "psid":
        return psid.ingest_psid(warehouse, files, crosswalk=_file(crosswalk))
    readers: dict[str, Callable[[Warehouse, Path], IngestResult]] = {
        "ssa": names.ingest_first_names,
        "surnames": names.ingest_surnames,
        "corpus": partial(corpus.ingest_corpus, given=given or Given()),
        "correspondence_first": partial(correspondence.ingest, kind="first"),
        "correspondence_surname": partial(correspondence.ingest, kind="surname"),
        "postings": partial(postings.ingest_postings, columns=columns or {}),
    }
    results = [readers[kind](warehouse, file) for file in files]
    return IngestResult(
        kind=kind,
        rows=sum(r.rows for r in results),
        files=tuple(f for r in results for f in r.files),
        skipped=tuple(f for r in results for f in r.skipped),
        sha256=tuple(s for r in results for s in r.sha256),
        notes=tuple(n for r in results for n in r.notes),
    )


def wanted(sources: Sources) -> dict[str, tuple[str, ...]]:
    """Files of an audit by kind."""
    return {
        "acs": sources.acs,
        "ssa": (sources.first_names,),
        "surnames": (sources.surnames,),
        "psid": (sources.psid,) if isinstance(sources.psid, str) else sources.psid,
    }


def require_files(cfg: Config) -> None:
    """ConfigError naming the setting where a file that the audit reads is not there.

    One look at each, so that this can go before Spark, lease and tables. What is in the files is
    checked as they are read.
    """
    sources, select = cfg.sources, cfg.population.select
    kinds = {"ssa": "first_names"}
    named = [
        (f"sources.{kinds.get(kind, kind)}", path)
        for kind, paths in wanted(sources).items()
        for path in paths
    ]
    if sources.psid_crosswalk is not None:
        named.append(("sources.psid_crosswalk", sources.psid_crosswalk))
    for code, path in select.content.items() if select else ():
        named.append((f"population.select.content.{code}", path))
    for where, path in named:
        file = resources.resolve(path)
        if not file.is_file():
            raise ConfigError(
                where,
                f"{path or repr(path)} is {'a folder' if file.is_dir() else 'no file'}",
                "Give the path of a file (a relative one starts in the current folder).",
            )


def _file(path: str | None) -> Path | None:
    return None if path is None else resources.resolve(path)


def source_names(warehouse: Warehouse, sha256: Sequence[str]) -> dict[str, str]:
    """Names of ingested files by their hashes."""
    ledger = warehouse.read("source_file").where(sf.col("sha256").isin(*sha256))
    return {row["sha256"]: row["file"] for row in ledger.select("sha256", "file").collect()}


def run(warehouse: Warehouse, sources: Sources) -> Bronze:
    """All sources of an audit."""
    results: dict[str, IngestResult] = {}
    for kind, paths in wanted(sources).items():
        say(f"ingest: {kind}: reading {', '.join(paths)}")
        results[kind] = result = ingest(
            warehouse, kind, paths, crosswalk=sources.psid_crosswalk if kind == "psid" else None
        )
        done = f"{result.rows:,} rows" if result.files else "already there"
        say(f"ingest: {kind}: {done}")
    ledger = warehouse.read("source_file").select(
        "kind", "sha256", "synthetic", "vintage", "period"
    )
    entries = {(row["kind"], row["sha256"]): row for row in ledger.collect()}
    synthetic = {key for key, row in entries.items() if row["synthetic"]}
    files = [entries["acs", s] for s in results["acs"].sha256]
    surveys = {(f["vintage"], f["period"] or 1) for f in files}
    return Bronze(
        sha256={kind: r.sha256 for kind, r in results.items()},
        synthetic=tuple(
            k for k, r in results.items() if any((k, s) in synthetic for s in r.sha256)
        ),
        surveys=tuple(sorted(surveys)),
        rows=sum(r.rows for r in results.values()),
        notes=tuple(n for r in results.values() for n in r.notes),
    )
