"""The kinds of screeners, by the name that `scoring.models.X.kind` gives."""

from __future__ import annotations

from collections.abc import Mapping

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring.calls import Kind
from fairscreen.scoring.money import Terms, unbounded
from fairscreen.scoring.screeners import (
    chat,
    embedding,
    embedding_api,
    planted,
    planted_callbacks,
    planted_ranking,
)
from fairscreen.settings.audit import AuditConfig

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        embedding.KIND, planted.KIND, planted_ranking.KIND, planted_callbacks.KIND, chat.KIND,
        embedding_api.KIND,
    )
}  # fmt: skip
_COSINE = "cosine/1"


def _require_bound(terms: Terms | None, where: str) -> None:
    """Under a cap on the costs every call needs a price, and an answer of bounded length."""
    if terms is None:
        return
    if terms.spec.prices is None:
        raise ConfigError(
            f"{where}.prices",
            "are not known, and scoring.max_cost is set",
            "Give {tokens_in: 0.15, tokens_out: 0.60} (US dollars per million tokens; 0 for a "
            "server of your own), or take max_cost away.",
        )
    field = unbounded(terms.spec.decoding.extra)
    if field:
        raise ConfigError(
            f"{where}.decoding.extra",
            f"sets {field}, so that scoring.max_cost cannot say what an answer costs at most",
            "Use decoding.max_tokens, or take max_cost away.",
        )


def keys_missing(cfg: AuditConfig, kinds: Mapping[str, Kind] = KINDS) -> list[str]:
    """What asking would fail for: keys that are not there. No error yet, since an audit whose calls
    are all answered needs none; but nobody should learn of it after minutes of other work.

    Raises ConfigError where limits cannot be shared among the shards.
    """
    found = []
    at_once = cfg.scoring.shards if cfg.scoring.where == "executors" else 1
    for name, screener in cfg.scoring.models.items():
        kind = kinds[screener.kind]
        try:
            kind.prepare(screener.params, f"scoring.models.{name}.params", at_once)
        except ConfigError:
            raise
        except InputError as error:
            found.append(str(error))
    return found


def check(cfg: AuditConfig, kinds: Mapping[str, Kind] = KINDS) -> None:
    """Every model's parameters and parts; ConfigError or MissingPartError before any work."""
    for name, screener in cfg.scoring.models.items():
        kind = kinds[screener.kind]
        kind.check(screener.params, f"scoring.models.{name}.params")
        if cfg.scoring.max_cost is not None:
            _require_bound(kind.terms(screener.params), f"scoring.models.{name}.params")
        # Replies of embedding models are JSON of a cosine, of all others text: the parsers of one
        # find no score in any reply of the other.
        for field, parsers in (("parser", (screener.parser,)),
                               ("also_parsers", screener.also_parsers)):  # fmt: skip
            for parser in parsers:
                if parser and (parser == _COSINE) != (kind.parser == _COSINE):
                    replies = "cosines" if kind.parser == _COSINE else "text"
                    raise ConfigError(
                        f"scoring.models.{name}.{field}",
                        f"{parser} reads no reply of kind {kind.name}, whose replies are {replies}",
                        f"Its own parser is {kind.parser}; leave the setting out to have it.",
                    )
