"""One tree of errors. Each says where, what is wrong and what to do about it.

A worker's error reaches the driver as text inside a Spark exception, on classic Spark and on
Connect alike. `InputError` therefore writes itself into its message as a JSON marker, and
`from_worker` finds it there again.
"""

from __future__ import annotations

import json
import re

_MARKER = re.compile(r"@@fairscreen(\{.*?\})@@", re.DOTALL)


class FairscreenError(Exception):
    """Root of the tree. `exit_code` is what the command line ends with."""

    exit_code = 1


class InputError(FairscreenError):
    """Bad input or configuration: `where` (file, field or line), `problem`, `remedy`."""

    exit_code = 2

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where, self.problem, self.remedy = where, problem, remedy
        super().__init__(f"{where}: {problem.rstrip('.')}. {remedy}")

    def marked(self) -> RuntimeError:
        """This error as one that survives the trip from a worker: `raise error.marked()`."""
        fields = {"where": self.where, "problem": self.problem, "remedy": self.remedy}
        # ASCII without '@', so that no field can end the marker early.
        text = json.dumps(fields, ensure_ascii=True).replace("@", "\\u0040")
        return RuntimeError(f"@@fairscreen{text}@@")


class ConfigError(InputError):
    """A setting that cannot be used."""


class MissingPartError(InputError):
    """Java, a jar or a model that set-up should have brought is not there."""


class StoppedError(FairscreenError):
    """Stopped on purpose with everything kept; the message gives the command that goes on."""

    exit_code = 4


def as_text(error: FairscreenError) -> str:
    """An error as `from_text` reads it again."""
    return str(error.marked() if isinstance(error, InputError) else error)


def from_text(text: str) -> FairscreenError:
    return from_worker(RuntimeError(text)) or StoppedError(text)


def from_worker(error: BaseException) -> InputError | None:
    """The InputError that a worker raised, if `error` (or what caused it) carries one."""
    seen: BaseException | None = error
    while seen is not None:
        found = _MARKER.search(str(seen))
        if found:
            return InputError(**json.loads(found.group(1)))
        seen = seen.__cause__ or seen.__context__
    return None
