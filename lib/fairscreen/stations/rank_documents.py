"""Corpus to documents: resumes chosen, cues treated, information levels, labelled versions."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from fairscreen import resources
from fairscreen.documents import ranking
from fairscreen.documents.keys import MEDIA_TYPE_TEXT, content_key
from fairscreen.documents.leakage import KINDS
from fairscreen.documents.selection import select_resumes
from fairscreen.errors import InputError
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.sources.archive import file_sha256
from fairscreen.sources.result import IngestResult
from fairscreen.stations.common import Run, StationResult, fingerprint, run_station

# What a document is; its replicates are requests.
_DOCUMENT = (
    "resume_id", "occupation", "role", "flagged", "information", "words", "version",
    "version_kind", "label", "content_key",
)  # fmt: skip


def run(run: Run[RankingConfig], corpus: IngestResult) -> StationResult:
    """Rows of `documents`, `rank_documents` and `leakage_hits` of this audit, and the `contents`
    that were not there yet.

    Raises InputError where an industry is unknown or has too few resumes, or none is left.
    """
    cfg, warehouse = run.cfg, run.warehouse

    def work() -> dict[str, Any]:
        rows = warehouse.read("corpus_resume").where(sf.col("source_sha256").isin(*corpus.sha256))
        taken = chosen(rows, cfg)
        hits = ranking.leakage_hits(taken, kinds=cfg.leakage.kinds or KINDS, cues=cfg.leakage.cues)
        hits = hits.withColumnRenamed("occupation", "industry")
        warehouse.replace(
            "leakage_hits", hits.withColumn("audit_id", sf.lit(cfg.audit_id)), where=run.mine
        )
        treated = treat(taken, cfg)
        # Chunks are embedded once: everything else is from the table, not from the plan behind it.
        warehouse.replace("rank_documents", documents(treated, cfg), where=run.mine)
        made = warehouse.read("rank_documents").where(run.mine)
        roles = {row["role"] for row in made.select("role").distinct().collect()}
        prompts = [
            {"content_key": content_key(role), "media_type": MEDIA_TYPE_TEXT, "text": role}
            for role in sorted(roles)
        ]
        contents = made.select(
            "content_key", sf.lit(MEDIA_TYPE_TEXT).alias("media_type"), "text",
            sf.lit(None).cast("binary").alias("data"),
        ).dropDuplicates(["content_key"])  # fmt: skip
        contents = contents.unionByName(warehouse.rows("contents", prompts))
        warehouse.insert_new(
            "contents", contents.dropDuplicates(["content_key"]), keys=["content_key"]
        )
        warehouse.replace("documents", _plain(made), where=run.mine)
        counts = {
            "resumes": taken.count(),
            "excluded": treated.where("text IS NULL").count(),
            "flagged": treated.where("flagged").count(),
            "rows": warehouse.read("documents").where(run.mine).count(),
        }
        if not counts["rows"]:
            raise InputError(
                "leakage.policy", "exclude leaves no resume", "Take flag, or fewer kinds."
            )
        return {**counts, "notes": _notes(counts, cfg)}

    settings = cfg.model_dump(
        mode="json", include={"corpus", "labels", "runs", "information", "leakage", "seed"}
    )
    mark = fingerprint(settings, corpus.sha256, _file_mark(cfg.information.chunk_file))
    return run_station(run, "render", mark, work)


def chosen(corpus: DataFrame, cfg: RankingConfig) -> DataFrame:
    """The audit's resumes of rows of `corpus_resume`, one row for each text whatever its source."""
    first = sf.row_number().over(Window.partitionBy("resume_id").orderBy("source_sha256"))
    rows = corpus.withColumn("_first", first).where("_first = 1").drop("_first")
    names = {row["occupation"] for row in rows.select("occupation").distinct().collect()}
    for name in cfg.corpus.industries or ():
        if name not in names:
            raise InputError(
                "corpus.industries", f"{name} is none of the corpus",
                f"Industries are: {', '.join(sorted(names))}.",
            )  # fmt: skip
    if cfg.corpus.industries is not None:
        rows = rows.where(sf.col("occupation").isin(*cfg.corpus.industries))
    if cfg.corpus.per_industry is None:
        return rows
    return select_resumes(rows, n=cfg.corpus.per_industry, how=cfg.corpus.choose, seed=cfg.seed)


def treat(taken: DataFrame, cfg: RankingConfig) -> DataFrame:
    """Rows of `ranking.treated`: the policy on cues applied."""
    told = cfg.leakage
    return ranking.treated(taken, told.policy, kinds=told.kinds or KINDS, cues=told.cues)


def documents(treated: DataFrame, cfg: RankingConfig) -> DataFrame:
    """Rows of `rank_documents`, one per resume, level and version of rows of `ranking.treated`."""
    versions = ranking.ranking_versions(
        treated, labels_of=cfg.labels, shown=cfg.information, seed=cfg.seed,
        replicates=cfg.runs, shards=cfg.scoring.shards,
    )  # fmt: skip
    slots = [sf.lit(p) for label in enumerate(cfg.labels.labels) for p in reversed(label)]
    place = sf.coalesce(sf.create_map(*slots)[sf.col("label")], sf.lit(0))
    pair = Window.partitionBy("resume_id", "information", "version_kind").orderBy("version")
    grouped = versions.groupBy(*_DOCUMENT).agg(
        sf.count("*").cast("int").alias("runs"), sf.min("replicate").alias("first_replicate"),
        sf.first("text").alias("text"),
    )  # fmt: skip
    kind = sf.col("version_kind")
    slot = sf.when(kind == "placebo", sf.row_number().over(pair) - 1).otherwise(place)
    return grouped.select(
        sf.lit(cfg.audit_id).alias("audit_id"),
        sf.concat_ws("/", "resume_id", "information", "version").alias("document_id"),
        "resume_id",
        sf.col("occupation").alias("industry"),
        "role",
        "version",
        kind.alias("kind"),
        slot.cast("int").alias("slot"),
        "label",
        "information",
        "words",
        "flagged",
        "runs",
        "first_replicate",
        sf.substring(sf.sha2("role", 256), 1, 32).alias("prompt_key"),
        "content_key",
        "text",
    )


def _plain(made: DataFrame) -> DataFrame:
    """The rows of table `documents`: a resume stands in the place of an applicant, its industry in
    that of a job."""
    return made.select(
        "audit_id",
        "document_id",
        sf.col("resume_id").alias("applicant_id"),
        sf.col("industry").alias("job"),
        sf.lit("text").alias("document_format"),
        "content_key",
        sf.lit(None).cast("string").alias("contrast"),
        "version",
    )


def _notes(counts: dict[str, int], cfg: RankingConfig) -> list[str]:
    """What a reader must know of the resumes."""
    policy, flagged = cfg.leakage.policy, counts["flagged"]
    if not flagged:
        return []
    done = {
        "exclude": "they are left out",
        "neutralise": "it was reworded; effects are told without them too",
    }.get(policy, "effects are told without them too")
    return [
        f"{flagged:,} of {counts['resumes']:,} resumes came with a cue in their own text "
        f"(leakage.policy {policy}): {done}. Table leakage_hits has each."
    ]


def _file_mark(path: str | None) -> str | None:
    """Content hash of a chunk file, so that another one makes other documents."""
    if path is None:
        return None
    return file_sha256(resources.resolve(path), "Give the path of a chunk file.")
