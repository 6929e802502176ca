"""Information levels: how much of a resume is shown, from 10% of its semantic chunks to all of it.

JobFair's way (section on information): at 10, 40 and 60% that share of the chunks is drawn at
random and rearranged, 100% is the original, and what counts as information is the number of words
that were really sent. Draws are hashes of (seed, level, resume, chunk), each level's its own.
Shown parts are joined by spaces: a text of several lines keeps its lines at 100% only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairscreen import random
from fairscreen.documents.chunking import Similarities, chunks
from fairscreen.errors import InputError
from fairscreen.input_files import labels, place, read_table
from fairscreen.settings.ranking import Information
from fairscreen.sources.corpus_files import words
from fairscreen.sources.mojibake import tidied

_DRAWN, _ORDER = "ranking/chunks", "ranking/chunk_order"
FULL = 100


@dataclass(frozen=True)
class Shown:
    """A resume at one level.

    level         percent of the chunks that was asked for
    text          what is shown, without a label line
    words         of `text`, counted
    chunks        of the whole text; None = the text came from a chunk file, or no level asked
    chunks_shown  of them; None likewise
    """

    level: int
    text: str
    words: int
    chunks: int | None
    chunks_shown: int | None


def levels(
    resume_id: str, text: str, settings: Information, similarities: Similarities, *, seed: int
) -> tuple[Shown, ...]:
    """One resume at every level. A function of the text, the embedder, seed and resume alone.

    Embeds only where a level is below 100. At least one chunk is shown.
    """
    parts: tuple[str, ...] = ()
    if any(level < FULL for level in settings.levels):
        percentile, buffer = settings.breakpoint, settings.buffer
        parts = chunks(text, similarities, percentile=percentile, buffer=buffer)
    return tuple(_shown(resume_id, text, parts, level, settings, seed) for level in settings.levels)


def drawn(resume_id: str, n: int, level: int, *, rearranged: bool, seed: int) -> list[int]:
    """Indices of the chunks shown of `n`, in the order in which they stand.

    Their number is the level's share of n, half up, and one at least.
    """
    count = min(n, max(1, (2 * level * n + 100) // 200))
    keys = [f"{level}/{resume_id}/{i}" for i in range(n)]
    order = random.hashes(seed, _DRAWN, keys)
    chosen = sorted(range(n), key=lambda i: (int(order[i]), i))[:count]
    if not rearranged:
        return sorted(chosen)
    again = random.hashes(seed, _ORDER, keys)
    return sorted(chosen, key=lambda i: (int(again[i]), i))


def _shown(
    resume_id: str, text: str, parts: Sequence[str], level: int, settings: Information, seed: int
) -> Shown:
    if level == FULL:
        return Shown(level, text, words(text), len(parts) or None, len(parts) or None)
    chosen = drawn(resume_id, len(parts), level, rearranged=settings.rearranged, seed=seed)
    said = " ".join(parts[i] for i in chosen)
    return Shown(level, said, words(said), len(parts), len(chosen))


# --- ready chunk files

#: Key of a resume in a chunk file -> level -> text.
Ready = Mapping[str, Mapping[int, str]]


def ready_key(resume: str) -> str:
    """Key of a resume's text as its source has it, white space told apart no further."""
    return hashlib.sha256(" ".join(resume.split()).encode()).hexdigest()[:32]


def read_ready(path: str | Path, settings: Information) -> Ready:
    """A table with Resume and a column per level below 100: `10_diluted`, or `0.1_diluted`.

    Raises InputError for a column that is missing, an empty cell and a resume with two rows that
    differ.
    """
    frame = read_table(path, row="resume")
    there = {str(c).strip().lower(): str(c) for c in frame.columns}
    wanted = [level for level in settings.levels if level < FULL]
    titles = {}
    for level in wanted:
        names = (f"{level}_diluted", f"{level / 100:g}_diluted", f"{level}%_diluted")
        titles[level] = next((there[n] for n in names if n in there), "")
    lacking = [f"{level}_diluted" for level, title in titles.items() if not title]
    if lacking or "resume" not in there:
        named = ", ".join(["Resume"] * ("resume" not in there) + lacking)
        raise InputError(
            str(path), f"has no column {named}", f"Columns: {', '.join(map(str, frame.columns))}."
        )
    found: dict[str, dict[int, str]] = {}
    cells = {level: labels(frame[title]) for level, title in titles.items()}
    for at, resume in enumerate(labels(frame[there["resume"]])):
        row = {level: tidied(column[at] or "")[0] for level, column in cells.items()}
        where = f"{path}, {place(frame, at)}"
        empty = [titles[level] for level, text in row.items() if not text]
        if resume is None or empty:
            name = there["resume"] if resume is None else empty[0]
            raise InputError(f"{where}, {name}", "is empty", "Fill it in, or remove the row.")
        if found.setdefault(ready_key(resume), row) != row:
            problem = "is a resume that an earlier row has with other texts"
            raise InputError(f"{where}, {there['resume']}", problem, "Keep one of them.")
    return found


def from_ready(resume: str, text: str, ready: Ready, settings: Information) -> tuple[Shown, ...]:
    """One resume at every level, from a chunk file; `resume` as its source has it.

    Raises InputError where the file does not have it.
    """
    texts = ready.get(ready_key(resume))
    if texts is None:
        raise InputError(
            "information.chunk_file",
            f"has no row for the resume that begins {resume[:40]!r}",
            "Give a file with every resume of the corpus, or none: chunks are made then.",
        )
    said = {FULL: text, **texts}
    return tuple(
        Shown(level, said[level], words(said[level]), None, None) for level in settings.levels
    )
