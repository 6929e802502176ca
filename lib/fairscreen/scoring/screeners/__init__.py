"""The kinds of screeners, by the name that `scoring.models.X.kind` gives."""

from __future__ import annotations

from collections.abc import Mapping

from fairscreen.config import Config
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.screeners import chat, embedding, embedding_api, planted

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (embedding.KIND, planted.KIND, chat.KIND, embedding_api.KIND)
}


def check(cfg: Config, kinds: Mapping[str, Kind] = KINDS) -> None:
    """Every model's parameters and parts; ConfigError or MissingPartError before any work."""
    for name, screener in cfg.scoring.models.items():
        kinds[screener.kind].check(screener.params, f"scoring.models.{name}.params")
