"""The kind `chat`: shipped models and prompts, identity, shares, and where a key never shows."""

from __future__ import annotations

import ast
import contextlib
import json
import logging
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from test_scoring_client import STAMP, calls, nap

from fairscreen.config import load
from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring import models, prompts, secrets
from fairscreen.scoring.ask import ask_shard
from fairscreen.scoring.client import Client
from fairscreen.scoring.journal import ShardJournal
from fairscreen.scoring.providers.base import Text
from fairscreen.scoring.requests import identity
from fairscreen.scoring.screeners import KINDS, check, keys_missing
from fairscreen.scoring.secrets import Secret
from fairscreen.scoring.waves import shards_of
from fairscreen.settings.scoring import Screener
from model_server import serving

CHAT = KINDS["chat"]
OWN = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
KEY = "k-0123456789abcdef"


def test_the_published_panels_stand_ready() -> None:
    registry = models.shipped()
    sizes = {name: len(ids) for name, ids in registry.panels.items()}
    assert sizes == {"popresume_llm": 4, "popresume_vlm": 4, "jobfair": 8, "callbacks": 14}
    used = {model for ids in registry.panels.values() for model in ids}
    assert used | {"text-embedding-3-small"} == set(registry.models)
    for name in registry.panels["popresume_vlm"]:
        assert registry.models[name].images
    for name, spec in registry.models.items():
        assert spec.decoding.temperature == 0, name
        assert spec.key_env or spec.weights, name
        assert spec.released, name


def test_the_callback_panel_has_its_published_dates() -> None:
    """Gao, Jiang & Yan, table 1; but for Claude Haiku 4.5, whose own name has 2025."""
    published = {
        "gpt-3.5-turbo": "2023-05", "claude-3-haiku": "2024-03", "gpt-4o-mini": "2024-07",
        "llama-3.1-8b-instruct": "2024-07", "claude-haiku-4.5": "2025-10",
        "llama-3.3-70b-instruct": "2024-11", "gemini-2.5-flash": "2025-06",
        "gpt-oss-120b": "2025-08", "deepseek-v3.1": "2025-08", "grok-4.1-fast": "2025-11",
        "qwen3.5-397b": "2026-02", "gpt-5.4-mini": "2026-03", "gemma-4-31b-it": "2026-03",
        "glm-5.1": "2026-04",
    }  # fmt: skip
    registry = models.shipped()
    assert {i: registry.models[i].released for i in registry.panels["callbacks"]} == published


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: {a: {provider: openai, model: m, colour: red}}\npanels: {}",
         "models.a.colour: Extra inputs are not permitted"),
        ("models: {}\npanels: {p: [gpt]}", "panel p: gpt is no model of this file"),
        ("models: {a: {provider: bedrock, model: m}}\npanels: {}", "bedrock needs region"),
        ("models: {a: {provider: azure_openai, model: m}}\npanels: {}", "azure_openai needs base_"),
        ("models: {a: {provider: openai, model: m, base_url: 'https://h/v1?key=1'}}\npanels: {}",
         "models.a.base_url: "),
        ("models: [", "cannot be read"),
    ],
)  # fmt: skip
def test_a_wrong_registry_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "models.yml").write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        models.read(tmp_path / "models.yml")


def test_costs() -> None:
    spec = models.shipped().models["gpt-4o-mini"]
    assert spec.cost_usd(1_000_000, 2_000_000) == pytest.approx(0.15 + 1.2)
    assert spec.cost_usd(None, 5) is None
    assert models.shipped().models["grok-4.1-fast"].cost_usd(1, 1) is None


def test_the_shipped_prompt_has_every_published_element() -> None:
    filled = prompts.load("score_0_100", "x").filled("A nurse.", "Mary {resume} {job_description}")
    (user,) = filled.user
    assert isinstance(user, Text)
    for part in ("A nurse.", "Mary {resume} {job_description}", "suitable", "0 (least", "100\n"):
        assert part in user.text
    assert "number only" in user.text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user: '{resume}'", "{job_description} must stand exactly once, it stands 0 times"),
        ("user: '{resume} {resume} {job_description}'", "{resume} must stand exactly once, it s"),
        ("user: '{resume} {job_description}'\ntone: kind", "tone: Extra inputs are not permitted"),
        ("just text", "p.yml: Input should be a valid dictionary"),
        ("a: [", "is not valid YAML"),
        ("user: " + "[" * 5000, "p.yml is not valid YAML. Correct the file."),
        ('user: "{resume}{job_description}\\ud800"', "p.yml holds half a character"),
        ("user: a\nuser: '{resume}{job_description}'", "p.yml key 'user' stands twice"),
        ("system: '{resume}{job_description}'\nuser: ' '", "p.yml: user is empty"),
    ],
    ids=range(9),
)
def test_a_wrong_prompt_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "p.yml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        prompts.load(str(file), "scoring.models.x.params.prompt")
    with pytest.raises(ConfigError, match=r"there is no prompt 'nope'\. Shipped ones are"):
        prompts.load("nope", "w")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "~nosuchuser/p.yml",
            "w: there is no user nosuchuser. Give another path.",
        ),
        ("a\0b.yml", "w: a path cannot hold the character NUL. Give another path."),
        ("a\0b", "w: a path cannot hold the character NUL. Give another path."),
        ("", "w: an empty path. Give another path."),
    ],
)
def test_a_prompts_name_that_can_be_no_path(name: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        prompts.load(name, "w")
    assert str(raised.value) == message


def key_of(**params: Any) -> str:
    return identity(CHAT, Screener(kind="chat", params=params))


def test_transport_asks_nothing_again() -> None:
    base = key_of(**OWN)
    for more in ({"concurrency": 7}, {"rpm": 60}, {"tpm": 9000}, {"timeout": 5}, {"breaker": 9},
                 {"key_env": "OTHER"}, {"max_attempts": 2}, {"trust_env": True},
                 {"images": True}, {"image_tokens": 9},
                 {"prices": {"tokens_in": 1, "tokens_out": 1}},
                 {"decoding": {"max_tokens_field": "max_completion_tokens"}}):  # fmt: skip
        assert key_of(**OWN, **more) == base, more


def test_what_moves_answers_is_another_call(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yml"
    mine.write_text("user: '{job_description} {resume}'")
    variants = [
        key_of(**OWN), key_of(**OWN | {"model": "n"}), key_of(**OWN | {"provider": "gemini"}),
        key_of(**OWN, decoding={"temperature": 0.5}), key_of(**OWN, decoding={"max_tokens": 200}),
        key_of(**OWN, decoding={"seed": 1}), key_of(**OWN, decoding={"extra": {"top_p": 0.5}}),
        key_of(**OWN, prompt=str(mine)), key_of(**OWN | {"base_url": "http://127.0.0.1:8/v1"}),
        key_of(**OWN, weights="w-1"),
    ]  # fmt: skip
    assert len(set(variants)) == len(variants)
    mine.write_text("user: '{resume} {job_description}'")
    assert key_of(**OWN, prompt=str(mine)) not in variants


def test_a_server_that_moves_keeps_its_replies_where_its_weights_are_named() -> None:
    there = OWN | {"base_url": "http://10.0.0.7:8000/v1"}
    assert key_of(**OWN, weights="w-1") == key_of(**there, weights="w-1")
    # The address of a hosted model is transport, and no part of what identifies it.
    assert "base_url" not in json.loads(key_of(model="llama-3.1-8b-instruct"))
    found = json.loads(key_of(model="gpt-4o-mini"))
    assert (found["provider"], found["model"]) == ("openai", "gpt-4o-mini-2024-07-18")


def test_an_embedding_behind_an_api_is_its_model_and_its_size() -> None:
    kind = KINDS["embedding_api"]

    def key(**params: Any) -> str:
        return identity(kind, Screener(kind="embedding_api", params=params))

    base = {"model": "text-embedding-3-small"}
    assert key(**base) == key(**base, concurrency=3, decoding={"max_tokens": 5})
    assert key(**base) != key(**base, decoding={"extra": {"dimensions": 64}})
    with pytest.raises(ConfigError, match="gpt-4o does not embed"):
        kind.check({"model": "gpt-4o"}, "w")
    with pytest.raises(ConfigError, match="embeds and does not chat"):
        CHAT.check(base, "w")


def test_each_shard_has_its_share() -> None:
    params = OWN | {"concurrency": 64, "rpm": 1001, "tpm": 90_000}
    transport = CHAT.prepare(params, "scoring.models.x.params", 8)["setup"].transport
    assert (transport.concurrency, transport.rpm, transport.tpm) == (8, 125, 11_250)
    with pytest.raises(ConfigError) as raised:
        CHAT.prepare(OWN | {"rpm": 5}, "scoring.models.x.params", 8)
    assert str(raised.value) == (
        "scoring.models.x.params.rpm: 5 requests a minute for 8 shards is less than one each. "
        "Lower scoring.shards, or set scoring.where to driver."
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "gpt-4"}, "scoring.models.m.params.model: 'gpt-4' is no model of conf/models."),
        (OWN | {"colour": 1}, "scoring.models.m.params.colour: is not a parameter of this kind."),
        (OWN | {"decoding": {"top_k": 5}}, "scoring.models.m.params.decoding.top_k: Extra inputs"),
        (OWN | {"decoding": {"temperature": 3}}, "scoring.models.m.params.decoding.temperature: "),
        (OWN | {"base_url": "localhost"}, "scoring.models.m.params.base_url: "),
        (OWN | {"base_url": "https://me:pw@host/v1"}, "scoring.models.m.params: base_url holds a "),
        (OWN | {"key_env": "AIzaSyA012345678901234567"}, "scoring.models.m.params: key_env looks "),
        (OWN | {"prompt": "nope"}, "scoring.models.m.params.prompt: there is no prompt 'nope'"),
        (OWN | {"provider": "bedrock", "base_url": None}, "scoring.models.m.params: bedrock needs"),
    ],
)
def test_wrong_parameters_are_named_before_any_work(params: dict[str, Any], message: str) -> None:
    setting = json.dumps({"m": {"kind": "chat", "params": params}})
    cfg = load("conf/audits/demo.yml", [f"scoring.models={setting}"])
    with pytest.raises(InputError) as raised:
        check(cfg)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"key_env": "NOT_SET"}, "scoring.models.m.params: the environment variable NOT_SET holds"),
        ({"key_file": "/none"}, "scoring.models.m.params.key_file: /none: No such file or direc"),
        ({"key_file": "~nosuchuser/k"},
         "scoring.models.m.params.key_file: ~nosuchuser/k: there is no user nosuch"),
        ({"key_file": "a\0b"},
         "scoring.models.m.params.key_file: a\0b: a path cannot hold the character NUL."),
        ({"key_scope": "a/b"}, "scoring.models.m.params.key_scope: secret scopes exist on Datab"),
    ],
)  # fmt: skip
def test_a_missing_key_is_named_before_anything_is_asked(key: dict[str, str], message: str) -> None:
    params = OWN | key
    CHAT.check(params, "scoring.models.m.params")  # an audit with all its replies needs no key
    with pytest.raises(InputError) as raised:
        CHAT.prepare(params, "scoring.models.m.params", 1)
    assert str(raised.value).startswith(message)


def test_keys_come_from_environment_file_or_aws(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\nsecond line\n")
    environ = {"K": f" {KEY}\n", "BAD": "two words", "AWS_ACCESS_KEY_ID": "A1"}

    def found(**how: Any) -> Secret | None:
        return secrets.resolve("w", **{"key_env": None, "environ": environ, **how})

    assert found() is None
    assert found(key_env="K") == Secret(KEY)
    assert found(key_env="NO", key_file=str(file)) == Secret(KEY)
    for how in ({"key_env": "NO"}, {"key_env": "BAD"}, {"aws": "environment"}):
        with pytest.raises(InputError) as raised:
            found(**how)
        assert "two words" not in str(raised.value)
    environ["AWS_SECRET_ACCESS_KEY"] = "S1"
    secret = found(aws="environment")
    assert secret is not None
    assert (secret.reveal("AWS_SECRET_ACCESS_KEY"), secret.reveal()) == ("S1", None)


def test_a_secret_shows_nothing_and_travels() -> None:
    secret = Secret(KEY)
    for shown in (repr(secret), str(secret), f"{secret}", f"{secret!r:>20}", f"{[secret]}"):
        assert KEY not in shown
    for module in (pickle, cloudpickle):
        data = module.dumps(secret)
        assert KEY.encode() not in data
        assert module.loads(data) == secret
    with pytest.raises(TypeError):
        hash(secret)
    assert secret.mask(f"Bearer {KEY} is wrong; sk-proj-abc***xyz too") == "*** is wrong; *** too"


def test_a_key_shows_nowhere(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Not in the journal, in an exception, in a log or in the closure: with a server that repeats
    the key in its messages, and another that is not there."""
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    told: list[str] = []
    with serving() as server:
        params = {**OWN, "base_url": f"{server.url}/v1", "key_env": "TEST_MODEL_KEY",
                  "max_attempts": 2, "breaker": 50}  # fmt: skip
        prepared = CHAT.prepare(params, "scoring.models.x.params", 1)
        closure = cloudpickle.dumps(lambda: CHAT.open(prepared))
        told.append(repr(prepared))
        screener = Client(prepared["setup"], sleep=nap)
        server.echo = f"bad request with Authorization: Bearer {KEY}"
        server.faults = {"500": 0.3, "422": 0.3}
        server.heal_after = 99
        for shard, faults in enumerate(({"500": 0.3, "422": 0.3}, {"400": 1.0}, {"401": 1.0})):
            server.faults = faults
            journal = ShardJournal(tmp_path, f"w{shard}", shard)
            ask_shard(calls(40), screener, journal, segment_size=9, stamp=STAMP)
            with pytest.raises(InputError) if shard else contextlib.nullcontext() as raised:
                list(screener.ask(list(calls(5))))
            told.append(repr(raised))
            told.append(str(getattr(raised, "value", "")))
    try:
        list(screener.ask(list(calls(5))))
    except Exception as error:
        told.append(repr(error) + str(error.__cause__) + str(error.__context__))
    files = [f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()]
    assert len(files) >= 3
    assert any(b"***" in data for data in files)
    everything = (
        b"".join([closure, *files]) + "".join([*told, caplog.text, *capfd.readouterr()]).encode()
    )
    assert KEY.encode() not in everything


def test_importing_fairscreen_does_not_bring_an_http_client() -> None:
    for file in Path(models.__file__).parent.rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            text = ast.unparse(node) if isinstance(node, ast.Import | ast.ImportFrom) else ""
            assert "aiohttp" not in text, file
            assert "botocore" not in text, file


def test_a_missing_key_is_told_before_any_work_and_is_no_error_yet(monkeypatch) -> None:
    models = "{g: {kind: chat, params: {model: gpt-4o-mini}}, e: {kind: embedding}}"
    cfg = load("conf/audits/demo.yml", [f"scoring.models={models}"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    check(cfg)
    (missing,) = keys_missing(cfg)
    assert missing.startswith(
        "scoring.models.g.params: the environment variable OPENAI_API_KEY holds no key. "
    )
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789abcdef")
    assert keys_missing(cfg) == []
    shared = load(
        "conf/audits/demo.yml", [f"scoring.models={models}", "scoring.models.g.params.rpm=3"]
    )
    with pytest.raises(ConfigError, match="3 requests a minute for 8 shards"):
        keys_missing(shared)


@pytest.mark.parametrize("line", [f"OPENAI_API_KEY={KEY}", f'"{KEY}"', f"'{KEY}'", f"`{KEY}`"])
def test_a_key_is_alone_on_its_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "key"
    file.write_text(f"{line}\n")
    for how in ({"key_file": str(file)}, {"key_env": "K"}):
        with pytest.raises(InputError) as raised:
            secrets.resolve("w", **{"key_env": None, "environ": {"K": line}, **how})
        assert str(raised.value) == (
            f"w: what {how.get('key_file', 'K')} holds is no key alone: it is in quotes, or has a "
            "name before it. Leave the key and nothing else, without quotes and without NAME=."
        )


def test_a_key_of_base64_is_one(tmp_path: Path) -> None:
    found = secrets.resolve("w", key_env="K", environ={"K": "ABCDEF0123456789=="})
    assert found == Secret("ABCDEF0123456789==")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decoding": {"extra": {"x": ["\ud800"]}}}, ".decoding.extra.x.0: holds half a character"),
        ({"decoding": {"extra": {"\ud800": 1}}}, ".decoding.extra.(the name of a field): holds"),
        ({"model": "\ud800"}, ".model: holds half a character"),
        ({"decoding": {"seed": 2**63}}, ".decoding.seed: Input should be less than 9223372036854"),
        ({"rpm": True}, ".rpm: is no number"), ({"concurrency": True}, ".concurrency: is no numb"),
        ({"timeout": False}, ".timeout: is no number"),
        ({"prices": {"tokens_in": 1, "tokens_out": True}}, ".prices.tokens_out: is no number"),
        ({"decoding": {"temperature": False}}, ".decoding.temperature: is no number"),
    ],
)  # fmt: skip
def test_no_odd_value_reaches_a_request(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        CHAT.check(OWN | params, "scoring.models.m.params")
    assert str(raised.value).startswith(f"scoring.models.m.params{message}")


@pytest.mark.parametrize("where", ["executors", "driver"])
@pytest.mark.parametrize("concurrency", [1, 3, 8, 12, 64])
def test_concurrency_is_of_the_whole_job(concurrency: int, where: str) -> None:
    scoring = load("conf/audits/demo.yml", ["scoring.shards=8", f"scoring.where={where}"]).scoring
    params = OWN | {"concurrency": concurrency}
    assert CHAT.terms is not None
    shards = shards_of(scoring, CHAT.terms(params))
    at_once = shards if where == "executors" else 1  # as `Waves._asking` has it
    share = CHAT.prepare(params, "scoring.models.m.params", at_once)["setup"].transport.concurrency
    assert at_once * share <= concurrency < 2 * at_once * share
    assert shards_of(scoring, None) == 8
