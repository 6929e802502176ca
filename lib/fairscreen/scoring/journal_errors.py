"""What can be wrong with a journal's files: errors that name the file and say what to do."""

from __future__ import annotations

from pathlib import Path

from fairscreen.errors import InputError


def unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(
        f"journal {folder}",
        f"cannot be written: {error.strerror or error}",
        "Make room, or give the right to write there, and run the same command again: what was "
        "written is kept.",
    )


def foreign(file: Path) -> InputError:
    return InputError(
        f"journal {file}", "holds no replies", "Move it elsewhere, and run the same command again."
    )


def unreadable(file: Path, error: OSError) -> InputError:
    return InputError(
        f"journal {file}",
        f"cannot be read: {error.strerror or error}",
        "Give the right to read it and run the same command again, or remove it: the calls in it "
        "are then asked again.",
    )
