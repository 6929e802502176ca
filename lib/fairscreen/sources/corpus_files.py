"""Resumes as people have them: a table in JobFair's columns, or a folder of texts and PDFs.

Table (CSV, parquet, Stata, Excel), columns by name in any order and case: Occupation (the
industry), Role, Resume, and if there are any Cleaned_Resume, Resume_len and Synthetic (true: made
by a script); others are ignored.
Folder: INDUSTRY/ROLE/NAME.txt, or INDUSTRY/NAME.txt and less where options give what is missing.
PDFs are read by pypdf (extra `pdf`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from fairscreen.errors import InputError, MissingPartError
from fairscreen.input_files import labels, place, read_table
from fairscreen.sources import archive
from fairscreen.sources.mojibake import tidied
from fairscreen.sources.text_encoding import encoding

FIRST_LINE = "first-line"
CAPITALS = "capitals"
_TABLES = (".csv", ".tsv", ".parquet", ".dta", ".xlsx")
_TEXTS = (".txt", ".pdf")
_COLUMNS = {
    "occupation": ("occupation", "industry", "category"),
    "role": ("role", "job_title"),
    "resume": ("resume", "resume_str", "original_resume"),
    "cleaned": ("cleaned_resume", "preprocessed_resume"),
    "resume_len": ("resume_len",),
    "synthetic": ("synthetic",),
}
_REMEDY = "Give a table with the columns Occupation, Role, Resume, or a folder of .txt or .pdf."
_HEADING = re.compile(r"(?:[^\w\s]*[A-Z0-9][A-Z0-9'./()-]*[,&/]?|[&/,-]+)(?=\s|\Z)")


@dataclass(frozen=True)
class Given:
    """What the user says of a source that does not tell it itself.

    industry   of every resume that has none
    role       of every resume that has none
    role_from  first-line: the first line of the text; capitals: the words in capitals before it
    """

    industry: str | None = None
    role: str | None = None
    role_from: str | None = None

    def sha256(self, content: str) -> str:
        """Of content and what is said about it; the content's own where nothing is said."""
        if self == Given():
            return content
        said = json.dumps([content, asdict(self)], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()


@dataclass(frozen=True)
class Resume:
    """One resume of a source.

    row          0 = the first of the source
    member       its file inside a folder; None in a table
    resume       as the source has it
    cleaned      the source's text without role words; None = it has none
    resume_len   the source's own count; None = it has none
    text         what versions are made of: `cleaned`, or `resume` without its role, made sound
    repairs      places of `text` that were in the wrong encoding
    synthetic    made by a script, as its source says: nobody's resume
    """

    row: int
    member: str | None
    occupation: str
    role: str
    resume: str
    cleaned: str | None
    resume_len: int | None
    text: str
    repairs: int
    synthetic: bool = False

    @property
    def resume_id(self) -> str:
        """Content key of what a screener can be told: industry, role and text."""
        said = json.dumps([self.occupation, self.role, self.text], ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()[:32]

    @property
    def cleaned_is_resume_without_role(self) -> bool | None:
        """Whether nothing but the leading role words is gone; None where `cleaned` is None."""
        if self.cleaned is None:
            return None
        return self.cleaned.split() == without_role(self.resume, self.role).split()


def words(text: str) -> int:
    """Words of a text, as white space divides it."""
    return len(text.split())


def without_role(resume: str, role: str) -> str:
    """The resume without the role's words at its beginning, whatever white space divides them."""
    pattern = r"\s+".join(re.escape(word) for word in role.split())
    found = re.match(rf"\s*{pattern}(?!\w)", resume) if pattern else None
    return resume[found.end() :].strip() if found else resume.strip()


def leading_capitals(resume: str) -> str:
    """The words in capitals that a resume begins with; empty = none. One letter is no heading."""
    at, found = 0, []
    text = resume.lstrip()
    while match := _HEADING.match(text, at):
        found.append(match.group())
        at = match.end()
        at += len(text[at:]) - len(text[at:].lstrip())
    heading = " ".join(found)
    return heading if len(re.sub("[^A-Z]", "", heading)) > 1 else ""


def content_sha256(path: Path, given: Given) -> str:
    """SHA-256 of a source: a table's bytes, or of a folder its files' names and bytes."""
    if not path.is_dir():
        return given.sha256(archive.file_sha256(path, _REMEDY))
    listing = [
        [str(file.relative_to(path)), archive.file_sha256(file, _REMEDY)] for file in _texts(path)
    ]
    return given.sha256(hashlib.sha256(json.dumps(listing).encode()).hexdigest())


def read(path: Path, given: Given) -> Iterator[Resume]:
    """The resumes of one source, in its order.

    Raises InputError naming file, line or column: a missing column, an empty cell, a text that is
    none; MissingPartError for a PDF without pypdf.
    """
    if given.role and given.role_from:
        raise InputError("--role, --role-from", "are both given", "Give one of them.")
    if path.is_dir():
        yield from _folder(path, given)
    elif path.suffix.lower() in _TEXTS:
        yield _of_text(path, path.parent, 0, given)
    elif path.suffix.lower() in _TABLES or not path.exists():
        yield from _table(path, given)
    else:
        raise InputError(str(path), "is no source of resumes", _REMEDY)


# --- tables


def _table(path: Path, given: Given) -> Iterator[Resume]:
    plain = path.suffix.lower() in (".csv", ".tsv")
    read_as = encoding(path, _REMEDY) if plain else "utf-8-sig"
    frame = read_table(path, row="resume", encoding=read_as)
    there = {str(c).strip().lower(): str(c) for c in frame.columns}
    titles = {
        ours: there[found]
        for ours, theirs in _COLUMNS.items()
        if (found := next((t for t in theirs if t in there), None))
    }
    _require(path, titles, list(there.values()), given)
    cells = {ours: labels(frame[title]) for ours, title in titles.items()}
    for i in range(len(frame)):
        at = {
            ours: f"{path}, {place(frame, i)}, {titles.get(ours, ours)}"
            for ours in (*titles, "role", "occupation")
        }
        row = {ours: column[i] for ours, column in cells.items()}
        yield _resume(i, None, row, at, given)


def _require(path: Path, titles: Mapping[str, str], there: list[str], given: Given) -> None:
    lacking = [] if "resume" in titles else ["Resume"]
    if "occupation" not in titles and not given.industry:
        lacking.append("Occupation (or --industry)")
    if "role" not in titles and not (given.role or given.role_from):
        lacking.append("Role (or --role, --role-from)")
    if lacking:
        noun = "column" if len(lacking) == 1 else "columns"
        problem = f"{noun} {', '.join(lacking)} missing; it has {', '.join(there)}"
        raise InputError(str(path), problem, "Name the columns so in the file's first line.")


def _resume(
    row: int, member: str | None, cells: Mapping[str, str | None], at: Mapping[str, str],
    given: Given,
) -> Resume:  # fmt: skip
    resume = cells.get("resume") or ""
    if not resume.strip():
        raise InputError(at["resume"], "is empty", "Give the resume's text, or remove the row.")
    occupation = (cells.get("occupation") or given.industry or "").strip()
    if not occupation:
        raise InputError(at["occupation"], "is empty", "Fill it in, or give --industry.")
    role = " ".join((cells.get("role") or given.role or _role(resume, given)).split())
    if not role:
        problem = f"is empty{', and nothing like it begins the text' if given.role_from else ''}"
        raise InputError(at["role"], problem, "Fill it in, or give --role.")
    cleaned = cells.get("cleaned")
    text, repairs = tidied(without_role(resume, role) if cleaned is None else cleaned)
    if not text:
        problem = f"holds nothing but the role {role!r}"
        raise InputError(at.get("cleaned", at["resume"]), problem, "Remove the row.")
    count = _count(cells.get("resume_len"), at.get("resume_len", ""))
    made = (cells.get("synthetic") or "").strip().lower() in {"true", "1", "yes"}
    return Resume(row, member, occupation, role, resume, cleaned, count, text, repairs, made)


def _role(resume: str, given: Given) -> str:
    if given.role_from == FIRST_LINE:
        return resume.strip().splitlines()[0]
    return leading_capitals(resume) if given.role_from == CAPITALS else ""


def _count(cell: str | None, at: str) -> int | None:
    if cell is None:
        return None
    if not re.fullmatch("[0-9]{1,9}", cell.strip()):
        raise InputError(at, f"{cell[:60]!r} is no whole number", "Correct it, or leave it empty.")
    return int(cell)


# --- folders


def others(path: Path) -> int:
    """Files of a folder that are no resumes by their suffix; 0 for a table."""
    return len(_files(path)) - len(_texts(path)) if path.is_dir() else 0


def _files(folder: Path) -> list[Path]:
    def hidden(file: Path) -> bool:
        return any(part.startswith(".") for part in file.relative_to(folder).parts)

    return sorted(f for f in folder.rglob("*") if f.is_file() and not hidden(f))


def _texts(folder: Path) -> list[Path]:
    return [f for f in _files(folder) if f.suffix.lower() in _TEXTS]


def _folder(folder: Path, given: Given) -> Iterator[Resume]:
    files = _texts(folder)
    if not files:
        raise InputError(str(folder), "holds no .txt and no .pdf", _REMEDY)
    for row, file in enumerate(files):
        yield _of_text(file, folder, row, given)


def _of_text(file: Path, folder: Path, row: int, given: Given) -> Resume:
    inside = file.relative_to(folder)
    parts = inside.parts[:-1]
    if len(parts) > 2:
        problem = "lies deeper than INDUSTRY/ROLE/NAME"
        raise InputError(str(file), problem, "Give the folder of the industries.")
    text = _pdf(file) if file.suffix.lower() == ".pdf" else _text(file)
    if not text.strip():
        why = "holds no text (a scan?)" if file.suffix.lower() == ".pdf" else "is empty"
        raise InputError(str(file), why, "Give a file with text, or remove it.")
    folders = dict(zip(("occupation", "role"), parts, strict=False))
    where = dict.fromkeys(("resume", "occupation", "role"), str(file))
    for name, option in (("occupation", "--industry"), ("role", "--role or --role-from")):
        said = given.industry if name == "occupation" else (given.role or given.role_from)
        if name not in folders and not said:
            word = "industry" if name == "occupation" else "role"
            problem = f"has no {word}: it lies in no folder of that name"
            raise InputError(str(file), problem, f"Use INDUSTRY/ROLE/NAME, or give {option}.")
    return _resume(row, str(inside), {"resume": text, **folders}, where, given)


def _text(file: Path) -> str:
    with file.open("rb") as stream:
        data = stream.read()
    text = data.decode(encoding(file, _REMEDY, data))
    if "\0" in text:
        raise InputError(str(file), "holds a NUL character", "Save it anew as text in UTF-8.")
    return text


def _pdf(file: Path) -> str:
    """The text of all pages, one after the other."""
    try:
        import pypdf
    except ImportError:
        problem = "is a PDF, and pypdf is not installed"
        remedy = "Run `pip install fairscreen[pdf]`, or give the text."
        raise MissingPartError(str(file), problem, remedy) from None
    try:
        pages = pypdf.PdfReader(file).pages
        return "\n".join(page.extract_text() for page in pages)
    except Exception as error:  # a tree of errors of its own, and what damaged files do to it
        why = " ".join(str(error).split())[:120] or type(error).__name__
        problem = f"is no PDF that can be read ({why})"
        raise InputError(str(file), problem, "Save it anew, or give the text.") from None
