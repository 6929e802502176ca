"""Postings and names to documents: postings chosen, names checked, profiles in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.documents import pair_names, posting_choice
from fairscreen.documents.keys import MEDIA_TYPE_TEXT
from fairscreen.documents.pair_names import Names
from fairscreen.documents.pairs import PairOptions, pair_documents, posting_contents
from fairscreen.documents.profile_reference import FINISHED, load_reference
from fairscreen.errors import ConfigError
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.parse import PARSERS
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.callback_audit import PLACEBO, CallbackConfig
from fairscreen.stations import callback_names
from fairscreen.stations.callback_sources import CallbackBronze
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station

#: `job` of documents whose posting tells no industry.
NOT_TOLD = "not told"


def check(cfg: CallbackConfig, kinds: Mapping[str, Kind] = KINDS) -> None:
    """What can be refused before Spark starts: the table of profiles, models that do not answer
    with yes or no, names."""
    reference = load_reference(cfg.pairs.reference)
    for name, industry in reference.industries.items():
        youngest = min(FINISHED[e.school] for e in industry.education)
        if cfg.pairs.ages[0] < youngest:
            raise ConfigError(
                "pairs.ages",
                f"somebody of {cfg.pairs.ages[0]} has finished nothing that industries.{name} of "
                f"the table of profiles has; its first degree comes at {youngest}",
                "Raise the first age, or give the industry a high school degree.",
            )
    for name, screener in cfg.scoring.models.items():
        parser = screener.parser or kinds[screener.kind].parser
        if PARSERS[parser].top != 1:
            known = ", ".join(name for name, one in PARSERS.items() if one.top == 1)
            raise ConfigError(
                f"scoring.models.{name}.parser",
                f"{parser} reads scores of 0 to {PARSERS[parser].top}, and a callback is yes or no",
                f"Take a kind that answers so (chat, planted_callbacks) and one of: {known}.",
            )
    callback_names.check(cfg)


def run(run: Run[CallbackConfig], bronze: CallbackBronze) -> StationResult:
    """Rows of `name_signals`, `pair_documents` and `documents` of this audit, and the `contents`
    that were not there yet.

    Raises InputError where no posting is left, ConfigError where names do not suffice.
    """
    cfg, warehouse = run.cfg, run.warehouse
    reference = load_reference(cfg.pairs.reference)

    def work() -> dict[str, Any]:
        found = warehouse.read("job_posting")
        found = found.where(sf.col("source_sha256").isin(*bronze.postings))
        postings = posting_choice.chosen(found, cfg.postings, cfg.seed)
        names = callback_names.choose(warehouse, cfg, bronze)
        pair_names.check_pools(names.pools, cfg.contrasts, cfg.pairs)
        signals = callback_names.signals(warehouse, names, cfg.audit_id)
        warehouse.replace("name_signals", signals, where=run.mine)
        options = PairOptions(
            cfg.contrasts, cfg.pairs, Names.of(names.pools), reference, cfg.seed
        )  # fmt: skip
        rows = pair_documents(postings, options).withColumn("audit_id", sf.lit(cfg.audit_id))
        warehouse.replace("pair_documents", rows, where=run.mine)
        made = warehouse.read("pair_documents").where(run.mine)
        shown = made.select("content_key", "text").unionByName(
            posting_contents(postings, cfg.pairs)
        )
        contents = shown.dropDuplicates(["content_key"]).select(
            "content_key", sf.lit(MEDIA_TYPE_TEXT).alias("media_type"), "text",
            sf.lit(None).cast("binary").alias("data"),
        )  # fmt: skip
        warehouse.insert_new("contents", contents, keys=["content_key"])
        warehouse.replace("documents", plain(made), where=run.mine)
        counts = _counts(made)
        judged = posting_choice.counts(found, cfg.postings)
        first, last = sorted(names.pools.first.items()), sorted(names.pools.surnames.items())
        return {
            "postings": {**judged, "taken": counts["taken"]},
            "names": {
                "first": {" ".join(group): len(pool) for group, pool in first},
                "surnames": {race: len(pool.names) for race, pool in last},
            },
            "pairs": counts["pairs"],
            "rows": counts["rows"],
            "notes": [*bronze.notes, *_notes(counts, judged, cfg), *names.notes],
        }  # fmt: skip

    settings = cfg.model_dump(
        mode="json", include={"postings", "names", "pairs", "contrasts", "seed"}
    )
    sources = {k: v for k, v in asdict(bronze).items() if k != "notes"}
    mark = fingerprint(settings, sources, reference.model_dump(mode="json"))
    return run_station(run, "render", mark, work)


def plain(made: DataFrame) -> DataFrame:
    """The rows of table `documents`: a profile stands in the place of an applicant, the posting's
    industry in that of a job, the side in that of a version."""
    return made.select(
        "audit_id",
        "document_id",
        sf.concat_ws("/", "posting_id", "pair_id").alias("applicant_id"),
        sf.coalesce("industry", sf.lit(NOT_TOLD)).alias("job"),
        sf.lit("text").alias("document_format"),
        "content_key",
        "contrast",
        sf.col("side").alias("version"),
    )


def _counts(made: DataFrame) -> dict[str, Any]:
    """taken: postings; regionless: those without a region; pairs: by contrast; controlled: postings
    with placebo pairs; rows."""
    posting = sf.col("posting_id")
    row = made.agg(
        sf.count_distinct(posting).alias("taken"),
        sf.count_distinct(sf.when(sf.col("region").isNull(), posting)).alias("regionless"),
        sf.count_distinct(sf.when(sf.col("contrast") == PLACEBO, posting)).alias("controlled"),
        sf.count("*").alias("rows"),
    ).collect()[0]
    found = made.where("side = 'favored'").groupBy("contrast").count().orderBy("contrast").collect()
    return {**row.asDict(), "pairs": {r["contrast"]: r["count"] for r in found}}


def _notes(counts: Mapping[str, Any], judged: Mapping[str, Any], cfg: CallbackConfig) -> list[str]:
    """What a reader must know of postings and pairs."""
    notes = []
    if judged["not_entry_level"]:
        notes.append(
            f"{judged['not_entry_level']:,} of {judged['postings']:,} postings are left out: "
            "their title holds no word of postings.entry_level."
        )
    if judged["incomplete"]:
        fields = ", ".join(f"{field} {n:,}" for field, n in judged["missing"].items() if n)
        notes.append(
            f"{judged['incomplete']:,} of {judged['postings']:,} postings are left out because "
            f"fields are missing ({fields})."
        )
    if judged["synthetic"]:
        notes.append(
            f"{judged['synthetic']:,} of the {judged['complete']:,} postings have fields that a "
            "script made up (SYNTHETIC; job_posting.synthetic names them): they show that the "
            "audit works, not how real postings fare."
        )
    if counts["regionless"]:
        notes.append(
            f"{counts['regionless']:,} of {counts['taken']:,} postings tell no state with a Census "
            "region: the schools and employers of their profiles are of a region that was drawn, "
            "one for each posting."
        )
    if cfg.pairs.placebo and not counts["controlled"]:
        notes.append(
            f"pairs.placebo {cfg.pairs.placebo:g} gave none of the {counts['taken']:,} postings "
            "placebo pairs: raise it."
        )
    return notes
