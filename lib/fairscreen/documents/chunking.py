"""Semantic chunks: a text divided where neighbouring sentences say something else.

Each sentence is embedded with `buffer` sentences on either side; a chunk ends where the cosine
distance to the next is above a percentile of all such distances of the text. JobFair uses
percentile 30 with text-embedding-3-small; any screener kind that gives cosines serves here.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fairscreen.documents.keys import content_key
from fairscreen.errors import InputError
from fairscreen.scoring.calls import Call, Params, Reply, Screener
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.screeners.embedding import EmbeddingParams, Encoder, cosine
from fairscreen.scoring.screeners.params import checked

#: Texts in their order -> cosine of each with the next (n - 1).
Similarities = Callable[[Sequence[str]], NDArray[np.float64]]
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\s*\n\s*|\s+(?=[•●▪◦➢])")


def sentences(text: str) -> list[str]:
    """Sentences, lines and bullets of a text; joined by spaces they are its words in order."""
    return [part for part in (p.strip() for p in _SENTENCE_END.split(text)) if part]


def combined(parts: Sequence[str], buffer: int) -> list[str]:
    """Each part with `buffer` neighbours on either side."""
    return [" ".join(parts[max(0, i - buffer) : i + buffer + 1]) for i in range(len(parts))]


def breaks(similarities: NDArray[np.float64], percentile: float) -> NDArray[np.int64]:
    """Indices of sentences after which a chunk ends: distances above their percentile."""
    if not len(similarities):
        return np.array([], dtype=np.int64)
    distances = 1.0 - similarities
    return np.flatnonzero(distances > np.percentile(distances, percentile))


def chunks(
    text: str, similarities: Similarities, *, percentile: float, buffer: int
) -> tuple[str, ...]:
    """The chunks of a text in their order; one where it has a single sentence, none if it is empty.

    Their words in order are the text's. percentile (0 to 100) and buffer: see the module.
    """
    parts = sentences(text)
    if len(parts) < 2:
        return tuple(parts)
    ends = breaks(similarities(combined(parts, buffer)), percentile)
    edges = [0, *(int(e) + 1 for e in ends), len(parts)]
    return tuple(" ".join(parts[a:b]) for a, b in itertools.pairwise(edges))


def check_embedder(kind: str, params: Mapping[str, Any], where: str) -> None:
    """ConfigError or MissingPartError where this embedder cannot be used."""
    KINDS[kind].check(params, where)


def prepared(kind: str, params: Mapping[str, Any], where: str, shards: int = 1) -> Params:
    """What goes to the workers in the place of `params`: keys and limits are the driver's."""
    return KINDS[kind].prepare(params, where, shards)


def opened(kind: str, params: Params) -> Similarities:
    """The embedder, in the process that uses it. kind: embedding (local) or embedding_api."""
    if kind == "embedding":
        return _local(checked(EmbeddingParams, params, "params").window_tokens)
    screener = cast(Screener, KINDS[kind].open(params))  # the client has `ask` as well

    def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
        calls = [
            Call(f"{i}", resume=a, prompt_key=content_key(b), prompt=b)
            for i, (a, b) in enumerate(itertools.pairwise(texts))
        ]
        replies = dict(screener.ask(calls))
        return np.array([_cosine(replies[call.call_key]) for call in calls])

    return similarities


def _cosine(reply: Reply) -> float:
    if reply.transport != "answered" or reply.reply is None:
        problem = f"gave no embedding ({reply.error or reply.transport})"
        raise InputError("information.embedder", problem, "Run the same command again: it goes on.")
    return float(json.loads(reply.reply)["cosine"])


def _local(window_tokens: int) -> Similarities:
    encoder = Encoder(window_tokens)

    def similarities(texts: Sequence[str]) -> NDArray[np.float64]:
        vectors = [encoder.embed(text)[0] for text in texts]
        return np.array([cosine(a, b) for a, b in itertools.pairwise(vectors)])

    return similarities
