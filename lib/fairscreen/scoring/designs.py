"""What the audits of each design ask, and by which groups their answers are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.scoring import pair_requests, rank_requests, requests
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.screeners import KINDS
from fairscreen.settings.audit import AuditConfig
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.tables import Warehouse


@dataclass(frozen=True)
class Groups:
    """rows: `key` (a column of `scores`) and the columns that outcomes are counted by.

    own    which rows of `scores` are counted by group: all requests are counted by model
    apart  what the others ask about
    """

    rows: DataFrame
    key: str
    columns: tuple[str, ...]
    own: Column
    apart: str


def requests_of(
    warehouse: Warehouse,
    cfg: AuditConfig,
    prompt_keys: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind] = KINDS,
) -> DataFrame:
    """The requests of an audit whose documents are there: columns of `requests`, document_format
    and payload. `prompt_keys`: of path-specific audits, see `requests.of_audit`."""
    if isinstance(cfg, Config):
        return requests.of_audit(warehouse, cfg, prompt_keys, kinds)
    mine = f"audit_id = '{cfg.audit_id}'"
    documents = warehouse.read("documents").where(mine)
    if isinstance(cfg, RankingConfig):
        told = warehouse.read("rank_documents").where(mine)
        return rank_requests.of_documents(documents, told, cfg, kinds)
    if isinstance(cfg, CallbackConfig):
        told = warehouse.read("pair_documents").where(mine)
        return pair_requests.of_documents(documents, told, cfg, kinds)
    raise ValueError(f"nothing is asked by design {cfg.design}")


def groups_of(warehouse: Warehouse, cfg: AuditConfig) -> Groups:
    """By what a reader compares outcomes: gender and race of applicants, of own documents alone (a
    version is somebody of another group); label and industry of ranked resumes, controls left out;
    gender and race that a name stands for, placebo pairs left out.
    """
    mine = f"audit_id = '{cfg.audit_id}'"
    if isinstance(cfg, RankingConfig):
        documents = warehouse.read("rank_documents").where(mine)
        rows = documents.select("document_id", "kind", sf.col("version").alias("label"), "industry")
        own = sf.col("kind").isin("label", "none")
        return Groups(rows, "document_id", ("label", "industry"), own, "controls")
    columns = ("gender", "race")
    if isinstance(cfg, CallbackConfig):
        pairs = warehouse.read("pair_documents").where(mine)
        rows = pairs.select("document_id", "kind", *columns)
        return Groups(rows, "document_id", columns, sf.col("kind") == "real", "placebo pairs")
    people = warehouse.read("applicants").where(mine).select("applicant_id", *columns)
    own = sf.col("version").isNull()
    return Groups(people, "applicant_id", columns, own, "versions of applicants")
