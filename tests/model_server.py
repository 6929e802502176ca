"""A model API on loopback: OpenAI, Azure, Anthropic, Gemini, Bedrock and embeddings; with faults.

The scorer is deterministic and biased: a hash of the prompt gives the score, and a prompt that
holds a name of `FAVORED` gets 10 points more; `says` puts another in its place. What goes wrong is
drawn by hash too, so that a run repeats; every call is counted by the hash of its body.

In a thread:          with serving(faults={"429": 0.2}) as server: ... server.url ... server.counts
As its own process:   python tests/model_server.py --latency 0.5 --faults '{"500": 0.1}'
(prints its address; GET /_stats gives the counts)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial
from typing import Any

from aiohttp import web

FAVORED = ("Greg", "Emily")
# Everything that can be switched on. "ok" is an answer; of the others, `HEALS` lists those after
# which asking again brings one.
HEALS = (
    "429", "429_seconds", "429_date", "429_reset", "500", "502", "503", "529", "hang", "reset",
    "truncated", "malformed", "html_200", "html_502", "empty_choices", "error_200",
)  # fmt: skip
FINAL = ("400", "401", "403", "404", "422", "402", "quota", "301")
HARMLESS = ("slow", "wrong_type", "gzip")
FAULTS = (*HEALS, *FINAL, *HARMLESS, "refusal", "filter_400", "expired")


@dataclass
class ModelServer:
    """faults      fault -> share of attempts (0 to 1), drawn by hash of body and attempt
    script      body hash or "*" -> faults of its attempts, in order; after them it answers
    heal_after  from this attempt of a body on nothing heals-by-itself goes wrong any more
    latency     seconds before an answer. wait: seconds that 429 and 503 ask for
    hold        answers wait for this event
    echo        the message of every error; {prompt} and {key} in it are what was sent, {account}
                is what this server knows of the account's keys, by dialect
    tokens_out  as reported with every answer
    says        the answer to a prompt, (model as asked for, prompt) -> text
    on_answer   told of every attempt: fault, tokens in and out that it would be billed
    own         answers in place of the server: (request, its body) -> response; None: the server
    """

    faults: dict[str, float] = field(default_factory=dict)
    script: dict[str, list[str]] = field(default_factory=dict)
    heal_after: int = 3
    latency: float = 0.0
    wait: float = 0.0
    hold: threading.Event | None = None
    echo: str = "as switched on"
    account: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)  # faults that were played
    keys: Counter[str] = field(default_factory=Counter)  # key as sent, in whatever header
    answered: Counter[str] = field(default_factory=Counter)
    on_attempt: Callable[[str, int], None] | None = None
    tokens_out: int = 2
    says: Callable[[str, str], str] | None = None
    on_answer: Callable[[str, int, int], None] | None = None
    own: Callable[[web.Request, str], Awaitable[web.StreamResponse | None]] | None = None
    under_way: int = 0
    most: int = 0
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, provider: str) -> str:
        paths = {"openai": "/v1", "openai_embeddings": "/v1", "gemini": "/v1beta"}
        return self.url + paths.get(provider, "")

    def fault(self, key: str, attempt: int) -> str:
        """What happens to this attempt (1, 2, ...) of this body."""
        planned = self.script.get(key) or self.script.get("*")
        if planned is not None:
            return planned[attempt - 1] if attempt <= len(planned) else "ok"
        u = _uniform(f"{key}/{attempt}")
        for name, share in self.faults.items():
            if u < share:
                return "ok" if name in HEALS and attempt >= self.heal_after else name
            u -= share
        return "ok"


def body_key(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]


def score(text: str) -> int:
    """0 to 90 by hash, 10 more for a favored name."""
    return int(_uniform(text) * 91) + (10 if any(n in text for n in FAVORED) else 0)


def _uniform(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2.0**48


def dialect(path: str) -> str:
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith(":generateContent"):
        return "gemini"
    if path.endswith("/embeddings"):
        return "embeddings"
    return "bedrock" if path.endswith("/converse") else "openai"


def prompt_of(kind: str, body: dict[str, Any]) -> str:
    """All text that was sent, in order."""
    texts: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in {"text", "content", "system"} and isinstance(inner, str):
                    texts.append(inner)
                else:
                    walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk({k: v for k, v in body.items() if k not in {"model"}})
    return "\n".join(texts)


def reply(
    kind: str, body: dict[str, Any], *, refuse: bool = False,
    says: Callable[[str, str], str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A whole answer in the dialect's form."""
    if kind == "embeddings":
        data = [
            {"object": "embedding", "index": i, "embedding": [1.0, _uniform(text)]}
            for i, text in enumerate(body["input"])
        ]
        tokens = sum(len(text) for text in body["input"]) // 4
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data[::-1], "model": "server-model", "usage": usage}
    prompt = prompt_of(kind, body)
    said_by = says or (lambda model, asked: str(score(asked)))
    text = "I can't help with that." if refuse else said_by(str(body.get("model")), prompt)
    tokens = len(prompt) // 4
    if kind == "anthropic":
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "server-model",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "refusal" if refuse else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": tokens, "output_tokens": 2},
        }  # fmt: skip
    if kind == "gemini":
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 2}
        common = {"usageMetadata": usage, "modelVersion": "server-model", "responseId": "r1"}
        if refuse:
            return {"promptFeedback": {"blockReason": "SAFETY"}, **common}
        content = {"role": "model", "parts": [{"text": text}]}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], **common}
    if kind == "bedrock":
        message = {"role": "assistant", "content": [{"text": text}]}
        reason = "content_filtered" if refuse else "end_turn"
        usage = {"inputTokens": tokens, "outputTokens": 2, "totalTokens": tokens + 2}
        return {
            "output": {"message": message}, "stopReason": reason, "usage": usage,
            "metrics": {"latencyMs": 1},
        }  # fmt: skip
    said: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if refuse:
        said |= {"content": None, "refusal": text}
    choice: dict[str, Any] = {"index": 0, "message": said, "finish_reason": "stop"}
    if body.get("logprobs"):
        tops = [{"token": text, "logprob": math.log(0.6)}, {"token": "0", "logprob": math.log(0.4)}]
        choice["logprobs"] = {
            "content": [{"token": text, "logprob": math.log(0.6), "top_logprobs": tops}]
        }
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": "server-model",
        "system_fingerprint": "fp_1", "choices": [choice],
        "usage": {"prompt_tokens": tokens, "completion_tokens": 2, "total_tokens": tokens + 2},
    }  # fmt: skip


def error(kind: str, status: int, code: str, message: str) -> dict[str, Any]:
    if kind == "anthropic":
        return {"type": "error", "error": {"type": code, "message": message}}
    if kind == "gemini":
        return {"error": {"code": status, "status": code.upper(), "message": message}}
    if kind == "bedrock":
        return {"message": message, "__type": code}
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


_STATUS = {
    "400": "invalid_request_error", "401": "invalid_api_key", "402": "payment_required",
    "403": "permission_denied", "404": "model_not_found", "422": "unprocessable",
    "429": "rate_limit_exceeded", "500": "server_error", "502": "bad_gateway",
    "503": "service_unavailable", "529": "overloaded_error",
}  # fmt: skip


def _app(server: ModelServer) -> web.Application:
    async def handle(request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        kind, key = dialect(request.path), body_key(raw)
        server.counts[key] += 1
        attempt = server.counts[key]
        server.keys[_key(request)] += 1
        if server.on_attempt:
            server.on_attempt(key, attempt)
        fault = server.fault(key, attempt)
        server.seen[fault] += 1
        server.under_way += 1
        server.most = max(server.most, server.under_way)
        try:
            if server.latency:
                await asyncio.sleep(server.latency)
            while server.hold is not None and not server.hold.is_set():
                await asyncio.sleep(0.005)
            if server.own and (response := await server.own(request, raw.decode())) is not None:
                return response
            return await _play(server, request, kind, json.loads(raw), fault, key)
        finally:
            server.under_way -= 1

    async def stats(_: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": sum(server.counts.values()), "bodies": len(server.counts),
                "most": server.most, "seen": server.seen, "counts": server.counts,
            }
        )  # fmt: skip

    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_get("/_stats", stats)
    app.router.add_post("/{path:.*}", handle)
    return app


def _key(request: web.Request) -> str:
    sent = request.headers
    names = ("x-api-key", "x-goog-api-key", "api-key", "authorization")
    return next((sent[name] for name in names if sent.get(name)), "")


async def _play(
    server: ModelServer, request: web.Request, kind: str, body: dict[str, Any], fault: str, key: str
) -> web.StreamResponse:
    said = reply(kind, body, refuse=fault == "refusal", says=server.says)
    if server.tokens_out != 2:
        said["usage"]["completion_tokens"] = server.tokens_out
    if server.on_answer:
        server.on_answer(fault, len(prompt_of(kind, body)) // 4, server.tokens_out)
    whole = json.dumps(said).encode()
    headers: dict[str, str] = {}
    if fault in {"429_seconds", "503"}:
        headers["Retry-After"] = f"{server.wait:g}"
    elif fault == "429_date":
        headers["Retry-After"] = formatdate(time.time() + server.wait, usegmt=True)
    elif fault == "429_reset":
        headers |= {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "12ms"}
    echo = server.echo.replace("{prompt}", prompt_of(kind, body)).replace("{key}", _key(request))
    echo = echo.replace("{account}", server.account.get(kind, ""))
    status = fault.split("_")[0]
    if status in _STATUS and fault != "html_502":
        data = error(kind, int(status), _STATUS[status], echo)
        return web.json_response(data, status=int(status), headers=headers)
    if fault == "expired":
        return web.json_response(error(kind, 401, "token_expired", echo), status=401)
    if fault == "quota":
        return web.json_response(error(kind, 429, "insufficient_quota", echo), status=429)
    if fault == "filter_400":
        return web.json_response(error(kind, 400, "content_filter", echo), status=400)
    if fault == "301":
        return web.Response(status=301, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    if fault.startswith("html"):
        status_code = 502 if fault.endswith("502") else 200
        page = "<html><body>Bad gateway</body></html>"
        return web.Response(text=page, content_type="text/html", status=status_code)
    if fault == "malformed":
        return web.Response(body=b"{'choices': [", content_type="application/json")
    if fault == "empty_choices":
        return web.json_response({"id": "x", "choices": [], "content": [], "candidates": []})
    if fault == "error_200":
        return web.json_response({"error": {"code": 502, "message": "provider is down"}})
    if fault == "hang":
        await asyncio.sleep(3600)
    if fault in {"reset", "truncated", "slow"}:
        return await _in_pieces(request, whole, fault)
    if fault == "gzip":
        return web.Response(
            body=gzip.compress(whole),
            headers={"Content-Encoding": "gzip"},
            content_type="application/json",
        )
    server.answered[key] += 1
    if fault == "wrong_type":
        return web.Response(body=whole, content_type="text/plain")
    return web.Response(body=whole, content_type="application/json")


async def _in_pieces(request: web.Request, whole: bytes, fault: str) -> web.StreamResponse:
    """Half of the body, and then: the rest (slow), nothing (truncated), a reset connection."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(whole)
    await response.prepare(request)
    await response.write(whole[: len(whole) // 2])
    await asyncio.sleep(0.02)
    if fault == "slow":
        await response.write(whole[len(whole) // 2 :])
        await response.write_eof()
        return response
    transport = request.transport
    if transport is not None:
        if fault == "reset":
            transport.abort()
        else:
            transport.close()
    return response


@contextlib.contextmanager
def serving(port: int = 0, **how: Any) -> Iterator[ModelServer]:
    """The server in a thread of its own."""
    server = ModelServer(**how)
    started = threading.Event()
    ends: list[Callable[[], object]] = []

    async def run() -> None:
        stop = asyncio.Event()
        ends.append(partial(asyncio.get_running_loop().call_soon_threadsafe, stop.set))
        runner = web.AppRunner(
            _app(server), access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=4096)
        await site.start()
        server.port = runner.addresses[0][1]
        started.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    if not started.wait(10):
        raise RuntimeError("the server did not start")
    try:
        yield server
    finally:
        for end in ends:
            end()
        thread.join(10)


def main() -> None:
    parser = argparse.ArgumentParser(description="A model API on loopback, with faults.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--wait", type=float, default=0.0)
    parser.add_argument("--heal-after", type=int, default=3)
    parser.add_argument("--faults", type=json.loads, default={}, help='such as {"429": 0.1}')
    parser.add_argument("--rankers", type=json.loads, help="planted rankers: model to parameters")
    parser.add_argument("--callers", type=json.loads, help="planted callers: models, groups")
    args = parser.parse_args()
    unknown = set(args.faults) - set(FAULTS)
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}; there are {', '.join(FAULTS)}")
    how = {"latency": args.latency, "wait": args.wait, "heal_after": args.heal_after}
    if args.rankers:  # answers of tests/planted_ranker.py
        import planted_ranker as ranker

        models = {m: ranker.PlantedRankingParams(**p) for m, p in args.rankers.items()}
        how["says"] = ranker.replies(models)
    if args.callers:  # answers of tests/planted_caller.py
        import planted_caller as caller

        models = {m: caller.PlantedCallbacksParams(**p) for m, p in args.callers["models"].items()}
        how["says"] = caller.replies(models, args.callers["groups"])
    with serving(args.port, faults=args.faults, **how) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
