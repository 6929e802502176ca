"""The stations of a ranking audit, from a corpus of resumes to its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairscreen import resources
from fairscreen.documents import chunking, information
from fairscreen.documents.leakage_cues import load_cues
from fairscreen.errors import ConfigError
from fairscreen.progress import say
from fairscreen.settings.rank_audit import RankingConfig
from fairscreen.sources.corpus_files import Given
from fairscreen.stations import ingest, rank_documents, rank_estimate, rank_report, score
from fairscreen.stations.common import Begun, Run, StationResult
from fairscreen.tables import Warehouse

STATIONS = ("render", "score", "estimate", "report")


def check(cfg: RankingConfig) -> None:
    """Everything that can be refused before there is work to lose."""
    for path in cfg.corpus.paths:
        if not resources.resolve(path).exists():
            raise ConfigError(
                "corpus.paths",
                f"{path or repr(path)} is not there",
                "Give a table or a folder of resumes (a relative path starts in this folder).",
            )
    load_cues(cfg.leakage.cues)
    shown = cfg.information
    if shown.chunk_file is not None:
        information.read_ready(shown.chunk_file, shown)
    elif any(level < information.FULL for level in shown.levels):
        chunking.check_embedder(
            shown.embedder, shown.embedder_params, "information.embedder_params"
        )


def begin(
    cfg: RankingConfig, warehouse: Warehouse, *, command: str | None, retry: Sequence[str],
    reparse: bool,
) -> Begun:  # fmt: skip
    """The corpus to bronze; the stations that follow."""
    given = Given(cfg.corpus.industry, cfg.corpus.role, cfg.corpus.role_from)
    say(f"ingest: corpus: reading {', '.join(cfg.corpus.paths)}")
    corpus = ingest.ingest(warehouse, "corpus", cfg.corpus.paths, given=given)
    done = f"{corpus.rows:,} rows" if corpus.files else "already there"
    say(f"ingest: corpus: {done}")
    run = Run(cfg, warehouse, command)
    return Begun(
        run,
        {
            "render": lambda done: rank_documents.run(run, corpus),
            "score": lambda done: score.run(run, done["render"], retry=retry, reparse=reparse),
            "estimate": lambda done: rank_estimate.run(run, done["score"]),
            "report": lambda done: rank_report.run(run, corpus, done),
        },
    )


def facts(cfg: RankingConfig, done: Mapping[str, StationResult]) -> dict[str, Any]:
    """What summary.json says of this design."""
    made = done["render"].detail
    return {
        "resumes": {key: made.get(key) for key in ("resumes", "excluded", "flagged")},
        "effects": done["report"].detail.get("effects", []) if "report" in done else [],
    }
