"""Corpus to documents of ranking after scoring: cues treated, information levels, versions.

Three transforms, each a pure function per row: `leakage_hits` (rows for a report), `treated` (a
policy applied, excluded resumes still there, as rows without a text) and `ranking_versions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fairscreen.documents import chunking, information, labels
from fairscreen.documents.keys import content_key
from fairscreen.documents.leakage import KINDS, find_hits
from fairscreen.documents.leakage_cues import load_cues
from fairscreen.documents.neutralise import Policy, treat
from fairscreen.errors import InputError
from fairscreen.settings.ranking import Information, Labels

Row = Mapping[str, Any]
_CORPUS = ("resume_id", "occupation", "role", "resume", "text")
HITS = (
    "resume_id STRING, occupation STRING, kind STRING, attribute STRING, start INT, end INT, "
    "text STRING"
)
TREATED = (
    "resume_id STRING, occupation STRING, role STRING, resume STRING, text STRING, "
    "flagged BOOLEAN, changed BOOLEAN"
)
VERSIONS = (
    "resume_id STRING, occupation STRING, role STRING, flagged BOOLEAN, information INT, "
    "words INT, chunks INT, chunks_shown INT, version STRING, version_kind STRING, label STRING, "
    "replicate INT, content_key STRING, text STRING"
)
_ARROW = {"STRING": pa.string(), "INT": pa.int32(), "BOOLEAN": pa.bool_()}


def leakage_hits(
    corpus: DataFrame, *, kinds: Sequence[str] = KINDS, cues: str | None = None
) -> DataFrame:
    """Every cue of rows of `corpus_resume`: text[start:end] of the resume's `text` is the hit."""

    def rows(row: Row) -> Iterator[Row]:
        for hit in find_hits(row["text"], cues=load_cues(cues), kinds=tuple(kinds)):
            yield {
                "resume_id": row["resume_id"], "occupation": row["occupation"], "kind": hit.kind,
                "attribute": hit.attribute, "start": hit.start, "end": hit.end, "text": hit.text,
            }  # fmt: skip

    return _mapped(corpus, rows, HITS)


def treated(
    corpus: DataFrame,
    policy: Policy,
    *,
    kinds: Sequence[str] = KINDS,
    cues: str | None = None,
) -> DataFrame:
    """A policy (`neutralise.treat`) on rows of `corpus_resume`; one row each (`TREATED`).

    text is null where the resume is excluded: it is counted, never silently gone.
    """

    def rows(row: Row) -> Iterator[Row]:
        done = treat(row["text"], policy, kinds=tuple(kinds), cues=load_cues(cues))
        yield {**row, "text": done.text, "flagged": done.flagged, "changed": done.changed}

    return _mapped(corpus, rows, TREATED)


def ranking_versions(
    resumes: DataFrame,
    *,
    labels_of: Labels,
    shown: Information,
    seed: int,
    replicates: int = 1,
    shards: int = 1,
) -> DataFrame:
    """Documents of rows of `treated` (those with a text): one per level, version and replicate.

    Columns `VERSIONS`: words are those of the resume as shown, without the label line; content_key
    and text are what is sent in the place of {resume}, and `role` goes in that of the job
    description. shards: how many workers embed at once, for the limits of an embeddings endpoint.
    Raises InputError (through `errors.from_worker`) as `information` does, ConfigError before any
    work where the embedder cannot be used.
    """
    where = "information.embedder_params"
    ready = None if shown.chunk_file is None else information.read_ready(shown.chunk_file, shown)
    embeds = ready is None and any(level < information.FULL for level in shown.levels)
    params = None
    if embeds:
        chunking.check_embedder(shown.embedder, shown.embedder_params, where)
        params = chunking.prepared(shown.embedder, shown.embedder_params, where, shards)
    make = partial(
        version_rows, labels_of=labels_of, shown=shown, seed=seed, replicates=replicates,
        ready=ready,
    )  # fmt: skip
    ready_rows = resumes.where("text IS NOT NULL")

    def opener() -> Callable[[Row], Iterator[Row]]:
        similar = chunking.opened(shown.embedder, params) if params is not None else _no_embedder
        return partial(make, similarities=similar)

    return _mapped(ready_rows, opener, VERSIONS, opens=True, keep=(*_CORPUS, "flagged"))


def version_rows(
    row: Row,
    *,
    labels_of: Labels,
    shown: Information,
    seed: int,
    replicates: int,
    similarities: chunking.Similarities,
    ready: information.Ready | None = None,
) -> Iterator[Row]:
    """The documents of one resume, as rows of `VERSIONS`; row: resume_id, occupation, role, resume,
    text, flagged."""
    key, text = row["resume_id"], row["text"]
    if ready is None:
        levels = information.levels(key, text, shown, similarities, seed=seed)
    else:
        levels = information.from_ready(row["resume"], text, ready, shown)
    versions = labels.versions(key, labels_of, seed=seed, replicates=replicates)
    for level in levels:
        for version in versions:
            sent = version.sent(level.text)
            yield {
                "resume_id": key, "occupation": row["occupation"], "role": row["role"],
                "flagged": row["flagged"], "information": level.level, "words": level.words,
                "chunks": level.chunks, "chunks_shown": level.chunks_shown,
                "version": version.version, "version_kind": version.kind, "label": version.label,
                "replicate": version.replicate, "content_key": content_key(sent), "text": sent,
            }  # fmt: skip


def _no_embedder(texts: Sequence[str]) -> Any:
    raise AssertionError("nothing is to be embedded")


def _mapped(
    rows: DataFrame,
    make: Callable[..., Any],
    ddl: str,
    *,
    opens: bool = False,
    keep: Sequence[str] = _CORPUS,
) -> DataFrame:
    """`make` per row, in workers. opens: `make()` gives the function, once per partition."""
    fields = [part.split() for part in ddl.split(", ")]
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in fields])

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        one = None
        for batch in batches:
            if one is None:
                one = make() if opens else make
            for row in batch.to_pylist():
                try:
                    made = list(one(row))
                except InputError as error:
                    raise error.marked() from None
                yield pa.RecordBatch.from_pylist(made, schema=schema)

    return rows.select(*keep).mapInArrow(work, ddl)
