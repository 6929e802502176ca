"""Keys of model APIs: resolved by the driver, carried by the closure, shown nowhere.

A key comes from an environment variable (`key_env`), a file (`key_file`: its first line) or a
Databricks secret scope (`key_scope: scope/name`). Workers read no environment: the driver resolves
the key, anew for each wave, and hands it over inside a `Secret`. Whoever prints, formats or logs
one sees ***; its pickled bytes do not hold the key verbatim either, so that a dump of a closure
does not show it. That is a mask and no encryption: it keeps keys out of logs and tables, not from
somebody who may run code on the cluster.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NoReturn

from fairscreen import resources
from fairscreen.errors import InputError
from fairscreen.scoring import aws as aws_credentials

_MASK = "***"
_LONG = 12
# What looks like a key even where it is not ours, or is ours with its middle left out.
_LIKE_A_KEY = re.compile(
    r"\b(?:sk|gsk|pk|key|AIza|AKIA|ASIA|dapi|tgp|xai)[-_]?[A-Za-z0-9_*.-]{8,}|Bearer\s+\S+"
)
# Stricter: names of gateways and deployments stand there too.
_KEY_IN_PATH = re.compile(
    r"(?=.*\d)(?:(?:sk|gsk|pk|key|tgp|xai)[-_]|AIza|AKIA|ASIA|dapi)[\w-]*?[A-Za-z0-9]{16}[\w-]*"
)
# A line of an .env file. What ends in = is Base64.
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=[^=]")


class Secret:
    """One key, or the named parts of one. `reveal` is called where a request is built, only."""

    __slots__ = ("_parts",)

    def __init__(self, value: str | Mapping[str, str]) -> None:
        self._parts = {"key": value} if isinstance(value, str) else dict(value)

    def reveal(self, part: str = "key") -> str | None:
        return self._parts.get(part)

    def mask(self, text: str) -> str:
        """`text` without this secret, and without anything that looks like a key."""
        for value in self._parts.values():
            if len(value) >= 4:
                text = text.replace(value, _MASK)
        return masked(text)

    def out_of(self, text: str) -> str:
        """What a server said, without this secret. Of a long one only: a server of one's own may
        take the key "none", and its replies may hold that word."""
        for value in self._parts.values():
            if len(value) >= _LONG and value in text:
                text = text.replace(value, _MASK)
        return text

    def __repr__(self) -> str:
        return f"Secret({_MASK})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._parts == other._parts

    def __hash__(self) -> NoReturn:
        raise TypeError("a secret is no key of a mapping")

    def __reduce__(self) -> tuple[object, ...]:
        pad = os.urandom(32)
        return _restore, (pad, {k: _xor(v.encode(), pad) for k, v in self._parts.items()})


def _restore(pad: bytes, parts: Mapping[str, bytes]) -> Secret:
    return Secret({name: _xor(value, pad).decode() for name, value in parts.items()})


def _xor(data: bytes, pad: bytes) -> bytes:
    return bytes(b ^ pad[i % len(pad)] for i, b in enumerate(data))


def in_path(url: str) -> bool:
    """Whether a part of an address's path looks like a key: it would stand in every message."""
    return any(_KEY_IN_PATH.fullmatch(part) for part in url.split("/")[3:])


def masked(text: str) -> str:
    """`text` without anything that looks like a key."""
    return _LIKE_A_KEY.sub(_MASK, text)


def resolve(
    where: str,
    *,
    key_env: str | None,
    key_file: str | None = None,
    key_scope: str | None = None,
    aws: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Secret | None:
    """The key that a model is asked with; None where it needs none (`key_env` null).

    The first of scope, file and environment that is set counts. `aws`: without any of them, AWS
    credentials to sign with, from where it says (`scoring.aws`).
    Raises InputError, naming the variable, file or scope, where it holds nothing.
    """
    if key_scope:
        return Secret(_from_scope(where, key_scope))
    if key_file:
        return Secret(_from_file(where, key_file))
    if key_env:
        value = environ.get(key_env, "").strip()
        if not value:
            raise InputError(
                where,
                f"the environment variable {key_env} holds no key",
                f"Set {key_env} where the command runs, or give key_file or key_scope.",
            )
        return Secret(_printable(where, key_env, value))
    if aws:
        return Secret(aws_credentials.parts(where, aws, environ))
    return None


def _from_file(where: str, name: str) -> str:
    try:
        lines = resources.user_path(name).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        text = "is no text" if isinstance(error, UnicodeDecodeError) else str(error)
        reason = getattr(error, "strerror", None) or text
        raise InputError(
            f"{where}.key_file", f"{name}: {reason}", "Give a file whose first line is the key."
        ) from None
    value = lines[0].strip()
    if not value:
        raise InputError(
            f"{where}.key_file", f"{name} starts with an empty line", "Put the key on line 1."
        )
    return _printable(where, name, value)


def _from_scope(where: str, name: str) -> str:
    scope, _, key = name.partition("/")
    # Elsewhere the import itself would look for a workspace to log in to, for seconds.
    if "DATABRICKS_RUNTIME_VERSION" not in os.environ:
        raise InputError(
            f"{where}.key_scope",
            "secret scopes exist on Databricks only",
            "Give key_env or key_file here.",
        )
    try:
        from databricks.sdk.runtime import dbutils

        value = str(dbutils.secrets.get(scope, key))
    except Exception:  # whatever the platform raises: its text is not repeated
        raise InputError(
            f"{where}.key_scope",
            f"scope {scope} gives no secret {key}",
            "Write it scope/name, and allow this user to read the scope.",
        ) from None
    return _printable(where, name, value.strip())


def _printable(where: str, source: str, value: str) -> str:
    """A key goes into a header: a line break or another odd character is a slip, not a key."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise InputError(
            where,
            f"what {source} holds is no key: it has spaces or odd characters",
            "Copy it anew.",
        )
    if value.startswith(('"', "'", "`")) or _ASSIGNMENT.match(value):
        raise InputError(
            where,
            f"what {source} holds is no key alone: it is in quotes, or has a name before it",
            "Leave the key and nothing else, without quotes and without NAME=.",
        )
    return value
