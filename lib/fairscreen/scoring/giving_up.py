"""Why a shard asks nothing more, for people. What was answered is durable by then."""

from __future__ import annotations

from datetime import datetime, timedelta
from urllib.parse import urlsplit

from fairscreen.errors import FairscreenError, InputError, StoppedError
from fairscreen.scoring.providers.base import Answer
from fairscreen.scoring.wire import Setup


def refused(setup: Setup, failure: Answer | None, row: int) -> FairscreenError:
    """`row` calls in a row failed, the last with `failure`: of bad input, or of a bad service."""
    what = (failure.error if failure else None) or "no answer"
    if failure and failure.kind == "final":
        calls = "the call" if row == 1 else f"{row} calls in a row"
        return InputError(
            setup.name,
            f"{setup.spec.model} turned {calls} away: {what}",
            _remedy(what, setup),
        )
    nobody = failure is not None and failure.error_kind == "connection"
    hint = "Check base_url, and that the server runs. " if nobody else ""
    return StoppedError(
        f"{setup.name}: {row} calls of {setup.spec.model} in a row failed, the last "
        f"with: {what}. {hint}What was answered is kept. Run the same command again to go on."
    )


def at_once(setup: Setup, answer: Answer, now: datetime) -> StoppedError | None:
    """Why this one answer ends the wave, and its call has no last word; None where it does not."""
    if answer.expired:
        return _expired(setup, answer)
    longest, wait = setup.transport.max_seconds, answer.retry_after or 0.0
    if answer.kind != "rate_limited" or wait <= longest:
        return None
    try:
        # Rounded up to the minute, so that who comes then does not come too early.
        when = f"{now + timedelta(seconds=wait + 59):after %Y-%m-%d %H:%M UTC}"
    except OverflowError:
        when = "after that"
    return StoppedError(
        f"{setup.name}: the server asks to wait {wait:,.0f} s ({answer.error}), more than the "
        f"max_seconds of a call, {longest:,.0f} s. What was answered is kept. Run the same command "
        f"{when} to go on, or raise max_seconds to wait in the job."
    )


def _expired(setup: Setup, answer: Answer) -> StoppedError:
    return StoppedError(
        f"{setup.name}: the key in {setup.key_source} has expired ({answer.error}). "
        "What was answered is kept. Renew it and run the same command again to go on."
    )


def _remedy(what: str, setup: Setup) -> str:
    """What a person should look at, by the status that the error starts with."""
    key_source, spec = setup.key_source, setup.spec
    status = what.split(" ", 1)[0].rstrip(":")
    if status in {"401", "403"}:
        return f"Check the key in {key_source}, and that it may use this model."
    if status in {"402", "429"} or "credit" in what or "quota" in what:
        return f"Add credit to the account, or raise its limit: key in {key_source}."
    if status == "404" or status.startswith("3") or "no address" in what:
        # llama.cpp answers without /v1 too, vLLM does not.
        bare = spec.provider.startswith("openai") and spec.base_url and urlsplit(spec.base_url)
        ending = ", which mostly ends in /v1" if bare and not bare.path.strip("/") else ""
        return f"Check model and base_url{ending}."
    return "Check the model's decoding settings against what its provider takes."
