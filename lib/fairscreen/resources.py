"""Where the files that ship with the package are: `sql` and `conf`.

In a wheel they are inside the package (`_data`); in an editable install they are the folders of
the source tree. Nothing else in the code knows the difference.
"""

from __future__ import annotations

from pathlib import Path

from fairscreen.errors import InputError

_PACKAGE = Path(__file__).resolve().parent


def path(*parts: str) -> Path:
    """Path of a shipped file, for instance `path("conf", "base.yml")`."""
    packed = _PACKAGE / "_data"
    root = packed if packed.is_dir() else _PACKAGE.parent.parent
    return root.joinpath(*parts)


def resolve(location: str) -> Path:
    """A path as written in a config: `bundled:NAME` is a file in the shipped `conf/data`."""
    if location.startswith("bundled:"):
        return path("conf", "data", *location.removeprefix("bundled:").split("/"))
    try:
        return user_path(location)
    except ValueError as error:
        raise InputError(repr(location), str(error), "Give another path.") from None


def user_path(name: str) -> Path:
    """A path as a person writes it, `~` included. ValueError, saying why, where it can be none."""
    if not name.strip():
        raise ValueError("an empty path")
    if "\0" in name:
        raise ValueError("a path cannot hold the character NUL")
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise ValueError(f"there is no user {name.split('/')[0].removeprefix('~')}") from None
