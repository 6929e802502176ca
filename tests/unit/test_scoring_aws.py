"""AWS credentials through botocore itself: files of this test's own, no network."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring import secrets
from fairscreen.scoring.aws import NAMES
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.secrets import Secret

CHAT = KINDS["chat"]
WHERE = "scoring.models.m.params"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of two profiles: keys in a file, and a program that gives new ones each time."""
    (tmp_path / "credentials").write_text(
        "[default]\naws_access_key_id = AD\naws_secret_access_key = SD\n"
        "[paid]\naws_access_key_id = AP\naws_secret_access_key = SP\naws_session_token = TP\n"
    )
    program = tmp_path / "fresh.py"
    until = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    program.write_text(
        "import json, pathlib\n"
        f"count = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(n))\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'A{n}', 'SecretAccessKey': f'S{n}',\n"
        f"                  'SessionToken': f'T{{n}}', 'Expiration': {until!r}}}))\n"
    )
    (tmp_path / "config").write_text(
        f"[profile fresh]\ncredential_process = {sys.executable} {program}\n"
        "[profile broken]\ncredential_process = /bin/sh -c 'echo SECRET-WORD; exit 3'\n"
        "[profile empty]\nregion = us-east-1\n"
    )
    for name in (*NAMES, "AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return tmp_path


def resolved(source: str) -> list[str | None]:
    secret = secrets.resolve(WHERE, key_env=None, aws=source)
    assert secret is not None
    return [secret.reveal(name) for name in NAMES]


def test_no_profile_is_used_unless_it_is_named(home: Path) -> None:
    with pytest.raises(InputError, match="there are no AWS credentials in the environment"):
        resolved("environment")
    assert resolved("profile:default") == ["AD", "SD", None]
    assert resolved("profile:paid") == ["AP", "SP", "TP"]


def test_the_chain_is_botocores(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolved("chain") == ["AD", "SD", None]
    monkeypatch.setenv("AWS_PROFILE", "paid")
    assert resolved("chain") == ["AP", "SP", "TP"]
    monkeypatch.setenv(NAMES[0], "AE")
    monkeypatch.setenv(NAMES[1], "SE")
    assert resolved("chain") == ["AE", "SE", None]
    assert resolved("profile:paid") == ["AP", "SP", "TP"]  # named: before the environment


def test_each_wave_has_credentials_of_its_own(home: Path) -> None:
    params = {"provider": "bedrock", "model": "m", "region": "us-east-1",
              "aws_credentials": "profile:fresh"}  # fmt: skip
    waves = [CHAT.prepare(params, WHERE, 2)["setup"] for _ in range(2)]
    assert [s.secret for s in waves] == [
        Secret(dict(zip(NAMES, (f"A{n}", f"S{n}", f"T{n}"), strict=True))) for n in (1, 2)
    ]
    assert waves[0].key_source == "aws_credentials: profile:fresh"
    identity = CHAT.identity(params)
    assert identity == CHAT.identity({**params, "aws_credentials": "chain"})
    assert "fresh" not in json.dumps(identity)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("profile:nobody", "profile:nobody gives no credentials (ProfileNotFound). Look at the pr"),
        ("profile:broken", "profile:broken gives no credentials (CredentialRetrievalError). Look"),
        ("profile:empty", "profile:empty gives no credentials. Give a profile that has some"),
    ],
)
def test_a_profile_without_credentials_is_named(home: Path, source: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        resolved(source)
    assert str(raised.value).startswith(f"{WHERE}.aws_credentials: {message}")
    assert "SECRET-WORD" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_source_that_does_not_exist_is_refused() -> None:
    params = {"provider": "bedrock", "model": "m", "region": "us-east-1", "aws_credentials": "home"}
    with pytest.raises(ConfigError, match=r"params\.aws_credentials: "):
        CHAT.check(params, WHERE)
