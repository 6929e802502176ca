"""The paired-callback design: scores of an audit to pairs, and what they say, slice by slice.

Spark puts the two answers of each pair side by side, as integer codes; each model's pairs of one
contrast are analysed by numpy in a grouped pandas UDF (`callback_slices`), those of all models
together in one more group of the same pass (`callback_panel`). Families are in `callback_rows`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import callback_panel, callback_rows, callback_slices
from fairscreen.audits.callback_slices import ANSWERS, FIRM, WITHIN, Asked
from fairscreen.errors import InputError
from fairscreen.estimators.callback_pairs import NONE
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig

# Groups are few and heavy: one task each, up to this many.
_TASKS = 32
_PAIR = ("contrast", "posting_id", "pair_id", "within")
_RESULT = "slot INT, payload STRING"


@dataclass(frozen=True)
class CallbackAudit:
    """Rows of the tables of the same names, notes for the report, processor seconds in numpy."""

    estimates: list[dict[str, Any]]
    diagnostics: list[dict[str, Any]]
    notes: list[str]
    seconds: float


@dataclass(frozen=True)
class Codes:
    """Texts of the integer codes, sorted: a code is a place in its list."""

    names: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]


def sliced(cfg: CallbackConfig) -> tuple[str, ...]:
    """Columns of a pair that are coded: those to report by, and the firm."""
    return tuple(dict.fromkeys((WITHIN, *cfg.estimation.slices, FIRM)))


def person(cfg: CallbackConfig) -> Column:
    """The name that intervals cluster by: the full one where a first name keeps its surname, so
    that what the surname does is part of it, else the first name."""
    whole = cfg.names.surname_of == "name"
    return sf.concat_ws(" ", "first_name", "surname") if whole else sf.col("first_name")


def codes(documents: DataFrame, cfg: CallbackConfig) -> Codes:
    """All names and values of the columns of `sliced` among documents."""
    columns = ("person", *sliced(cfg))
    row = (
        documents.withColumn("person", person(cfg))
        .select(*(sf.sort_array(sf.collect_set(sf.col(c))).alias(c) for c in columns))
        .first()
    )
    lists = {c: tuple(row[c]) if row else () for c in columns}
    return Codes(lists.pop("person"), lists)


def pairs(
    scores: DataFrame, documents: DataFrame, replies: DataFrame, cfg: CallbackConfig, lists: Codes
) -> DataFrame:
    """One row per model and pair: `model`, `contrast` (places in the config; the placebo is last),
    `posting` (a hash), `pair_id`, `within`, `replicate`, `placebo`; names and slices as codes
    (`codes`; -1: none); `favored`, `other`: 0 no, 1 yes, 2 no valid answer; `favored_p`,
    `other_p`: P(yes), null where there are no log-probabilities.

    scores, documents: this audit's rows of scores and pair_documents; replies: the table.
    """
    models, contrasts = list(cfg.scoring.models), [*cfg.contrasts, PLACEBO]
    columns = sliced(cfg)

    def of(side: str, value: Column) -> Column:
        return sf.max(sf.when(sf.col("side") == side, value))

    shown = [sf.first(c).alias(c) for c in columns if c != WITHIN]
    both = documents.groupBy(*_PAIR).agg(
        *(of(side, sf.col("document_id")).alias(f"{side}_id") for side in ANSWERS),
        *(of(side, person(cfg)).alias(f"{side}_person") for side in ANSWERS),
        *shown,
    )
    whole = both.where(sf.col("favored_id").isNotNull() & sf.col("other_id").isNotNull())
    sides = whole.select(
        _place(contrasts, sf.col("contrast")).alias("contrast"),
        sf.xxhash64("posting_id").alias("posting"),
        "pair_id",
        (sf.col("contrast") == PLACEBO).alias("placebo"),
        *(_place(lists.names, sf.col(f"{s}_person")).alias(f"{s}_name") for s in ANSWERS),
        *(_place(lists.values[c], sf.col(c)).alias(c) for c in columns),
        sf.explode(sf.array(_side("favored", True), _side("other", False))).alias("one"),
    )  # fmt: skip
    keys = [c for c in sides.columns if c != "one"]
    sides = sides.select(*keys, "one.document_id", "one.first")
    mine = scores.where(sf.col("model").isin(*models)).select(
        "document_id", _place(models, sf.col("model")).alias("model"), "replicate", "call_key",
        "reply_wave", sf.coalesce(sf.col("score").cast("int"), sf.lit(NONE)).alias("answer"),
    )  # fmt: skip
    known = replies.where(sf.col("p_yes").isNotNull()).select(
        "call_key", sf.col("wave_id").alias("reply_wave"), "p_yes"
    )
    answers = mine.join(known, ["call_key", "reply_wave"], "left").drop("call_key", "reply_wave")
    first = sf.col("first")
    return (
        answers.join(sides, "document_id")
        .groupBy("model", *keys, "replicate")
        .agg(
            sf.coalesce(sf.max(sf.when(first, sf.col("answer"))), sf.lit(NONE)).alias("favored"),
            sf.coalesce(sf.max(sf.when(~first, sf.col("answer"))), sf.lit(NONE)).alias("other"),
            sf.max(sf.when(first, sf.col("p_yes"))).alias("favored_p"),
            sf.max(sf.when(~first, sf.col("p_yes"))).alias("other_p"),
        )
    )


def _side(side: str, first: bool) -> Column:
    return sf.struct(sf.col(f"{side}_id").alias("document_id"), sf.lit(first).alias("first"))


def _place(values: Sequence[str], value: Column) -> Column:
    """Place of a text in a list, INT; -1 for none."""
    listed = sf.array(*(sf.lit(v) for v in values)).cast("array<string>")
    return sf.coalesce(sf.array_position(listed, value) - 1, sf.lit(-1)).cast("int")


def estimate(rows: DataFrame, cfg: CallbackConfig, lists: Codes) -> DataFrame:
    """(slot, payload): JSON of `callback_slices.analyse` for each model and contrast of `pairs`, of
    `analyse_placebo` for each model's placebo pairs, of `callback_panel.gathered` for the last."""
    models, contrasts = list(cfg.scoring.models), list(cfg.contrasts)
    asked = Asked.of(cfg, lists.values, lists.names)
    wide = len(contrasts) + 1
    last = len(models) * wide
    names = [(model, contrast) for model in models for contrast in (*contrasts, PLACEBO)]
    used = {(m, c) for c in contrasts for m in cfg.asked(c)}
    columns = [pair for pair in names if pair in used]
    place = {slot: columns.index(pair) for slot, pair in enumerate(names) if pair in used}

    def one(frame: pd.DataFrame) -> pd.DataFrame:
        slot, began = int(frame["slot"].iloc[0]), time.process_time()
        try:
            if slot == last:
                at = frame["model"].to_numpy() * wide + frame["contrast"].to_numpy()
                frame = frame.assign(column=pd.Series(at).map(place).to_numpy())
                found = callback_panel.gathered(frame, columns)
            elif names[slot][1] == PLACEBO:
                found = callback_slices.analyse_placebo(frame, asked)
            else:
                found = callback_slices.analyse(frame, asked, contrast=names[slot][1])
        except InputError as error:
            raise error.marked() from None
        payload = {**found, "seconds": time.process_time() - began}
        return pd.DataFrame(
            {
                "slot": np.array([slot], dtype=np.int32),
                "payload": [json.dumps(payload, allow_nan=False)],
            }
        )

    own = sf.col("model") * wide + sf.col("contrast")
    # A placebo pair stands beside the real ones of each contrast; a real one is in the panel too.
    goes = sf.when(~sf.col("placebo"), sf.array(own, sf.lit(last)))
    for k, model in enumerate(models):
        beside = [
            s for s, (m, c) in enumerate(names) if m == model and (c == PLACEBO or (m, c) in used)
        ]
        goes = goes.when(sf.col("model") == k, sf.array(*(sf.lit(s) for s in beside)))
    tasks = min(_TASKS, last + 1)
    spread = (
        rows.withColumn("slot", sf.explode(goes))
        .withColumn("task", sf.col("slot") % tasks)
        .repartitionById(tasks, "task")
    )
    return spread.groupBy("task", "slot").applyInPandas(one, _RESULT)


def run(
    scores: DataFrame,
    documents: DataFrame,
    replies: DataFrame,
    cfg: CallbackConfig,
    *,
    config_hash: str,
    input_versions: Mapping[str, int],
) -> CallbackAudit:
    """Everything that a paired-callback audit says, from its documents, scores and replies."""
    lists = codes(documents, cfg)
    found = estimate(pairs(scores, documents, replies, cfg, lists), cfg, lists).collect()
    wide = len(cfg.contrasts) + 1
    names = [(m, c) for m in cfg.scoring.models for c in (*cfg.contrasts, PLACEBO)]
    parts, panel, seconds = [], None, 0.0
    for row in sorted(found, key=lambda r: int(r["slot"])):
        slot, payload = int(row["slot"]), json.loads(row["payload"])
        seconds += payload.pop("seconds")
        if slot == len(cfg.scoring.models) * wide:
            panel = payload
        else:
            parts.append({"model": names[slot][0], "contrast": names[slot][1], **payload})
    versions = json.dumps(dict(input_versions), sort_keys=True)
    context = callback_rows.Context(cfg, config_hash, versions)
    words = Asked.of(cfg, lists.values, lists.names).words
    estimates, notes = callback_rows.estimates(context, parts, panel, words)
    return CallbackAudit(
        estimates=estimates,
        diagnostics=callback_rows.diagnostics(context, parts),
        notes=[*callback_rows.missing_notes(parts, words), *notes],
        seconds=seconds,
    )
