"""Which postings an audit takes: entry-level ones, complete ones, in the shares that are asked for.

Three transforms of rows of `job_posting`. `judged` gives every posting once, with what keeps it
out; `counts` counts that; `chosen` takes what is left, or a stratified sample of it.

A posting is entry-level if its title holds one of the words, as published (Gao, Jiang & Yan filter
raw titles by keywords): a whole word in any case, singular or plural. So "Sales Associates" is and
"Associated Press reporter" is not, but an "Associate Director" is as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES
from fairscreen.settings.postings import FIELDS, Postings, word_pattern

#: Columns of `chosen`.
CHOSEN = (
    "posting_id", "company", "title", "metro", "state", "region", "posted", "description",
    "industry", "job_type", "synthetic",
)  # fmt: skip
_PURPOSE = "callbacks/postings"
_LISTED = 20  # strata that a message names
_REASONS = ("not_entry_level", "incomplete", "without_stratum")


def judged(postings: DataFrame, settings: Postings) -> DataFrame:
    """Every posting of rows of `job_posting` once, whatever its sources: columns CHOSEN, `missing`
    (required fields that it lacks) and `reason` (what keeps it out; null = nothing).

    Reasons, the first that applies: not_entry_level; incomplete (a posting without a title lacks
    the title, if that is required); without_stratum (it lacks what the sample is stratified by).
    job_type: as told; else the first entry-level word of the title, in lower case; else null.
    """
    # Of the same posting in two sources, the row that is labelled synthetic stays.
    first = Window.partitionBy("posting_id").orderBy(
        sf.col("synthetic").desc_nulls_last(), "source_sha256"
    )
    rows = postings.withColumn("_first", sf.row_number().over(first)).where("_first = 1")
    word = _word(settings.entry_level)
    lacking = sf.array(
        *(sf.when(sf.col(f).isNull(), sf.lit(f)) for f in FIELDS if f in settings.require)
    )
    by = settings.sample.by
    rows = rows.select(
        "posting_id", "company", "title", "metro", "state",
        _regions()[sf.col("state")].alias("region"),
        "posted", "description", "industry",
        sf.coalesce("job_type", word).alias("job_type"),
        "synthetic",
        sf.array_compact(lacking.cast("array<string>")).alias("missing"),
        (word.isNotNull() if settings.entry_level else sf.lit(True)).alias("_entry"),
    )  # fmt: skip
    untitled = sf.col("title").isNull() & sf.lit("title" in settings.require)
    reason = (
        sf.when(~sf.col("_entry") & ~untitled, _REASONS[0])
        .when(sf.size("missing") > 0, _REASONS[1])
        .when(sf.lit(False) if by is None else sf.col(by).isNull(), _REASONS[2])
    )
    return rows.withColumn("reason", reason).drop("_entry")


def counts(postings: DataFrame, settings: Postings) -> dict[str, Any]:
    """What becomes of rows of `job_posting`, before a sample is drawn.

    rows, postings   rows of the sources; different postings among them
    not_entry_level, incomplete, without_stratum: postings left out, each once
    missing          required field -> entry-level postings that lack it; one may lack several
    complete         postings that are left
    synthetic        postings left that say that a script made up some of their columns
    """
    reason, missing = sf.col("reason"), sf.col("missing")
    entry = sf.coalesce(reason != _REASONS[0], sf.lit(True))
    found = judged(postings, settings).agg(
        sf.count("*").alias("postings"),
        *(sf.count_if(reason == name).alias(name) for name in _REASONS),
        *(
            sf.count_if(entry & sf.array_contains(missing, field)).alias(f"missing_{field}")
            for field in settings.require
        ),
        sf.count_if(reason.isNull()).alias("complete"),
        sf.count_if(reason.isNull() & sf.col("synthetic").isNotNull()).alias("synthetic"),
    )
    row = found.crossJoin(postings.agg(sf.count("*").alias("rows"))).collect()[0].asDict()
    return {
        "rows": row["rows"],
        "postings": row["postings"],
        **{name: row[name] for name in _REASONS},
        "missing": {field: row[f"missing_{field}"] for field in settings.require},
        "complete": row["complete"],
        "synthetic": row["synthetic"],
    }


def chosen(postings: DataFrame, settings: Postings, seed: int) -> DataFrame:
    """The audit's postings of rows of `job_posting`: columns CHOSEN, one row per posting_id.

    With sample.n those with the smallest hashes of (seed, posting_id), in each stratum as many as
    `quotas` says; never by order or partition. Company and industry are told apart without regard
    to case. Raises InputError where no posting is left, and naming a stratum that has too few or is
    not there.
    """
    sample = settings.sample

    def enough(there: int) -> None:
        if there == 0:
            raise _none_left(counts(postings, settings))
        if sample.n is not None and there < sample.n:
            raise InputError(
                "postings.sample.n", f"{sample.n:,} postings are asked for, and {there:,} are left",
                "Ask for fewer, or ingest more.",
            )  # fmt: skip

    left = judged(postings, settings).where("reason IS NULL").select(*CHOSEN)
    key = random.hash_column(seed, _PURPOSE, sf.col("posting_id"))
    if sample.by is None:
        enough(left.count())
        return left if sample.n is None else left.orderBy(key, "posting_id").limit(sample.n)
    assert sample.n is not None  # settings see to it
    stratum = sf.lower(sample.by)
    held = {
        row["_stratum"]: (row["_name"], row["count"])
        for row in left.groupBy(stratum.alias("_stratum"))
        .agg(sf.min(sample.by).alias("_name"), sf.count("*").alias("count"))
        .collect()
    }
    enough(sum(count for _, count in held.values()))
    weights = _weights(held, sample.by, sample.target)
    taken = quotas(sample.n, weights)
    _fits(taken, weights, held, sample.by)
    # One literal, looked up by name: strata with nothing to give are not in it.
    wanted = sf.from_json(
        sf.lit(json.dumps({name: n for name, n in taken.items() if n})), "map<string,int>"
    )
    at = sf.row_number().over(Window.partitionBy(stratum).orderBy(key, "posting_id"))
    ranked = left.withColumns({"_at": at, "_wanted": wanted[stratum]})
    return ranked.where("_at <= _wanted").select(*CHOSEN)


def quotas(n: int, weights: Mapping[str, Fraction]) -> dict[str, int]:
    """How many of n each stratum gets, in proportion to positive weights, by largest remainder.

    Whole parts first; what they leave of n goes to the largest remainders, ties by name.
    """
    total = sum(weights.values())
    exact = {name: n * weight / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    order = sorted(exact, key=lambda name: (whole[name] - exact[name], name))
    for name in order[: n - sum(whole.values())]:
        whole[name] += 1
    return whole


def largest_n(weights: Mapping[str, Fraction], held: Mapping[str, int]) -> int:
    """The largest n whose quotas no stratum lacks postings for."""
    total = sum(weights.values())
    # A quota is above the exact share less one, so none is met beyond this. It need not grow
    # with n (the Alabama paradox): down from there, the first that fits is the largest.
    n = min(int((held[name] + 1) * total / weight) for name, weight in weights.items())
    while any(held[name] < k for name, k in quotas(n, weights).items()):
        n -= 1
    return n


def _word(words: Sequence[str]) -> Column:
    """The first of the words that the title holds, in lower case; null = none."""
    if not words:
        return sf.lit(None).cast("string")
    # Java: \w of all scripts and case of all letters, as in Python.
    found = sf.regexp_extract("title", f"(?iU){word_pattern(words)}", 1)
    plain = sf.regexp_replace(sf.lower(found), r"\s+", " ")
    return sf.when(found != "", plain)


def _regions() -> Column:
    parts = [sf.lit(p) for state in STATES.values() for p in (state.usps, state.region)]
    return sf.create_map(*parts)


def _none_left(told: Mapping[str, Any]) -> InputError:
    said = {
        _REASONS[0]: "hold no word of postings.entry_level in their title",
        _REASONS[1]: "lack a field of postings.require ("
        + ", ".join(f"{field} {n:,}" for field, n in told["missing"].items() if n)
        + ")",
        _REASONS[2]: "lack what postings.sample.by names",
    }
    why = "; ".join(f"{told[name]:,} {text}" for name, text in said.items() if told[name])
    return InputError(
        "postings", f"none of {told['postings']:,} is left: {why or 'the sources hold none'}",
        "Change these settings, name columns under postings.columns, or give other postings.",
    )  # fmt: skip


def _weights(
    held: Mapping[str, tuple[str, int]], by: str, target: Mapping[str, float] | None
) -> dict[str, Fraction]:
    """Stratum -> weight: of the target, else how many postings it has."""
    if target is None:
        return {name: Fraction(count) for name, (_, count) in held.items()}
    # As written: 0.1 is a tenth.
    weights = {" ".join(name.split()).lower(): Fraction(str(w)) for name, w in target.items()}
    if len(weights) < len(target):
        raise InputError(
            "postings.sample.target", f"names one {by} twice, in another case",
            "Keep it once.",
        )  # fmt: skip
    asked = {" ".join(name.split()).lower(): name for name in target}
    if gone := [asked[name] for name in weights if name not in held]:
        names = sorted(name for name, _ in held.values())
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        raise InputError(
            "postings.sample.target",
            f"no posting that is left has the {by} {', '.join(gone[:_LISTED])}",
            f"They have {', '.join(names[:_LISTED])}{more}.",
        )
    return weights


def _fits(
    taken: Mapping[str, int], weights: Mapping[str, Fraction],
    held: Mapping[str, tuple[str, int]], by: str,
) -> None:  # fmt: skip
    short = [name for name, k in taken.items() if held[name][1] < k]
    if not short:
        return
    worst = max(short, key=lambda name: (Fraction(taken[name], held[name][1]), name))
    more = f" (and {len(short) - 1} more have too few)" if len(short) > 1 else ""
    most = largest_n(weights, {name: count for name, (_, count) in held.items()})
    raise InputError(
        "postings.sample",
        f"{by} {held[worst][0]} has {held[worst][1]:,} of the {taken[worst]:,} postings that its "
        f"share of {sum(taken.values()):,} asks for{more}",
        f"With these shares n can be {most:,} at most: lower n, change target, or ingest more.",
    )
