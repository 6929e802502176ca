"""Text that was read in the wrong encoding, put right: UTF-8 taken for Windows-1252, also twice.

Only what decodes as UTF-8 without a doubt is changed: a lead character followed by exactly the
continuation characters that it announces. `Ã©` becomes `é`, a German or French word stays.
Two losses on the way are known and put right as well: a no-break space that became a plain one
(`Â `), and a byte that Windows-1252 does not have and that became a zero-width space.
"""

from __future__ import annotations

import re
import unicodedata

_UNDEFINED = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes that Windows-1252 leaves open: kept as they are


def _byte_of() -> dict[str, int]:
    table = {bytes([b]).decode("cp1252"): b for b in range(0x80, 0x100) if b not in _UNDEFINED}
    return {**{chr(b): b for b in range(0x80, 0x100)}, **table}


_BYTES = _byte_of()


def _kind(low: int, high: int) -> str:
    return "[" + "".join(re.escape(c) for c, b in _BYTES.items() if low <= b <= high) + "]"


_CONTINUED = _kind(0x80, 0xBF)
_SEQUENCE = re.compile(
    f"{_kind(0xC2, 0xDF)}{_CONTINUED}"
    f"|{_kind(0xE0, 0xEF)}{_CONTINUED}{{2}}"
    f"|{_kind(0xF0, 0xF4)}{_CONTINUED}{{3}}"
)
# The last byte was one that Windows-1252 does not have. Which of the five it was cannot be known;
# these stand for dashes, a bullet and a closing quotation mark wherever they were seen.
_LOST_BYTE = {
    "ï¼\u200b": "-", "â—\u200b": "\u25cf", "â€\u200bâ€\u200b": "--", "â€\u200b": "\u201d",
}  # fmt: skip
_LOST = re.compile("|".join(_LOST_BYTE))
_LOST_SPACE = re.compile(r"Â(?=\s|\Z)")
_ROUNDS = 3
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")
_SPACES = re.compile("[\u00a0\u2007\u202f]")
_LINE_ENDS = re.compile("\r\n?|\u2028|\u2029|\x85")


def repair(text: str) -> tuple[str, int]:
    """The text put right, and how many places were wrong. Sound text comes back as it is, 0."""
    found = 0
    for _ in range(_ROUNDS):
        text, lost = _LOST.subn(lambda m: _LOST_BYTE[m.group()], text)
        decoded: list[str] = []

        def fix(match: re.Match[str], decoded: list[str] = decoded) -> str:
            try:
                right = bytes(_BYTES[c] for c in match.group()).decode("utf-8")
            except UnicodeDecodeError:
                return match.group()
            decoded.append(right)
            return right

        text = _SEQUENCE.sub(fix, text)
        text, spaces = _LOST_SPACE.subn("", text)
        changed = lost + len(decoded) + spaces
        found += changed
        if not changed:
            break
    return text, found


def tidied(text: str) -> tuple[str, int]:
    """`repair`, then one form for what looks alike: NFC, LF, plain spaces, nothing invisible.

    Tidying twice changes nothing more.
    """
    text, found = repair(text)
    text = _SPACES.sub(" ", _LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).strip(), found
