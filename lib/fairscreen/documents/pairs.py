"""Postings and names to documents of paired callbacks: rows of `pair_documents`.

Per posting a pure function (`pair_rows`): profiles (`profiles`), the names of their arms
(`pair_names`), and both as JSON. The two profiles of a pair are the same text but for the name,
and for the gender where profiles tell it and the arms differ in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fairscreen.documents import pair_names
from fairscreen.documents.keys import content_key
from fairscreen.documents.pair_names import Arm, Names
from fairscreen.documents.posting_text import posting_text
from fairscreen.documents.profile_reference import ProfileReference
from fairscreen.documents.profiles import Profile, profile
from fairscreen.errors import InputError
from fairscreen.settings.pairs import Contrast, Pairs

Row = Mapping[str, Any]
_POSTING = (
    "posting_id", "company", "title", "metro", "state", "region", "posted", "description",
    "industry", "job_type",
)  # fmt: skip
_COPIED = ("company", "industry", "state", "region", "metro", "job_type")
_NUMBERS = ("pair_id", "age")
#: Of table `pair_documents`, without audit_id.
COLUMNS = (
    "document_id", "posting_id", "pair_id", "contrast", "kind", "within", "side", "race", "gender",
    "first_name", "surname", "age", *_COPIED, "prompt_key", "content_key", "text",
)  # fmt: skip
_ROWS = 2000  # of one batch: a posting with its description is some kilobytes


@dataclass(frozen=True)
class PairOptions:
    """What all postings share. names: must have passed `pair_names.check_pools`."""

    contrasts: Mapping[str, Contrast]
    pairs: Pairs
    names: Names
    reference: ProfileReference
    seed: int


def pair_documents(postings: DataFrame, options: PairOptions) -> DataFrame:
    """Rows of `pair_documents` (COLUMNS) of rows of `posting_choice.chosen`.

    Raises InputError, through `errors.from_worker`, where a posting has nothing to show.
    """
    return _mapped(postings, partial(pair_rows, options=options), COLUMNS)


def posting_contents(postings: DataFrame, pairs: Pairs) -> DataFrame:
    """content_key and text of each posting, as the prompt shows it."""

    def rows(posting: Row) -> Iterator[Row]:
        text = posting_text(posting, pairs.posting_fields)
        yield {"content_key": content_key(text), "text": text}

    return _mapped(postings, rows, ("content_key", "text"))


def pair_rows(posting: Row, options: PairOptions) -> Iterator[Row]:
    """The documents of one posting: two of each pair."""
    posting_id, seed = posting["posting_id"], options.seed
    shared = {
        "posting_id": posting_id,
        **{name: posting[name] for name in _COPIED},
        "prompt_key": content_key(posting_text(posting, options.pairs.posting_fields)),
    }
    profiles = [
        profile(
            posting_id, pair_id, region=posting["region"], industry=posting["industry"],
            reference=options.reference, ages=options.pairs.ages, seed=seed,
        )
        for pair_id in range(options.pairs.per_posting)
    ]  # fmt: skip
    pairs = pair_names.posting_pairs(
        posting_id, options.contrasts, options.names, options.pairs, seed
    )
    for pair in pairs:
        own = profiles[pair.pair_id]
        for side, arm in pair.arms:
            text = profile_text(own, arm, show_gender=options.pairs.show_gender)
            at = (posting_id, pair.pair_id, pair.contrast, pair.within, side)
            yield {
                **shared,
                "document_id": "/".join(map(str, at)),
                "pair_id": pair.pair_id,
                "contrast": pair.contrast,
                "kind": pair.kind,
                "within": pair.within,
                "side": side,
                "race": arm.race,
                "gender": arm.gender,
                "first_name": arm.first_name,
                "surname": arm.surname,
                "age": own.age,
                "content_key": content_key(text),
                "text": text,
            }


def profile_text(own: Profile, arm: Arm, *, show_gender: bool) -> str:
    """JSON of a profile as it is sent: keys in this order, on one line."""
    told = {
        "name": arm.name,
        **({"gender": arm.gender.capitalize()} if show_gender else {}),
        "age": own.age,
        "education": {
            "school": own.school,
            "degree": own.degree,
            **({"major": own.major} if own.major else {}),
            "gpa": own.gpa,
        },
        "work_experience": [
            {"employer": role.employer, "title": role.title, "tenure": role.tenure}
            for role in own.work
        ],
    }
    return json.dumps(told, ensure_ascii=False)


def _mapped(
    postings: DataFrame, make: Callable[[Row], Iterator[Row]], columns: Iterable[str]
) -> DataFrame:
    """`make` per posting, in workers; every column but two is text."""
    whole = {name: name in _NUMBERS for name in columns}
    schema = pa.schema([(n, pa.int32() if number else pa.string()) for n, number in whole.items()])
    ddl = ", ".join(f"{n} {'INT' if number else 'STRING'}" for n, number in whole.items())

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made: list[Row] = []
        for batch in batches:
            for posting in batch.to_pylist():
                try:
                    made.extend(make(posting))
                except InputError as error:
                    raise error.marked() from None
                if len(made) >= _ROWS:
                    yield pa.RecordBatch.from_pylist(made, schema=schema)
                    made = []
        yield pa.RecordBatch.from_pylist(made, schema=schema)

    return postings.select(*_POSTING).mapInArrow(work, ddl)
