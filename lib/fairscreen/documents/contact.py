"""E-mail address and phone number of a resume: valid in form, reaching nobody."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from fairscreen import random

# Letters that Unicode does not decompose into an ASCII letter and marks.
_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th",
        "ħ": "h", "ı": "i", "ŋ": "n", "ŧ": "t", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ə": "e",
    }
)  # fmt: skip
_DOMAINS = ("example.com", "example.net", "example.org")  # RFC 2606: never anybody's
_PART = 30  # letters of each name; the local part may have 64 (RFC 5321)


@lru_cache(maxsize=65536)
def ascii_name(name: str) -> str:
    """A name as part of an e-mail address: [a-z0-9], single inner hyphens; empty if none is left.

    Spaces, dots and apostrophes go, as people write it: De La Cruz, delacruz; O'Neil, oneil.
    """
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_LETTERS))
    # Once more: NFKD can bring out a capital, or a letter of the table (such as from a ligature).
    plain = plain.casefold().translate(_LETTERS)
    kept = "".join(c for c in plain if c == "-" or (c.isascii() and c.isalnum()))
    return "-".join(part for part in kept.split("-") if part)[:_PART].strip("-")


def local_part(first_name: str, surname: str) -> str:
    """`first.surname`; a name in another script leaves the other one, or nothing."""
    return ".".join(p for p in (ascii_name(first_name), ascii_name(surname)) if p)


def email(first_name: str, surname: str, key: bytes, start: int) -> str:
    """Address on a domain reserved for examples; `key` (the applicant) chooses the domain.

    Where no letter of the name can be written so, `applicant` and six digits of the key's hash.
    """
    domain = _DOMAINS[random.integer(start, key, len(_DOMAINS))]
    local = local_part(first_name, surname)
    return f"{local or f'applicant{random.integer(start, key, 1_000_000):06d}'}@{domain}"


def phone(key: bytes, start: int) -> str:
    """US format in the range kept for fiction (555-0100 to 555-0199).

    A real area code would tell the state. Codes with a middle digit 9 are held back for a later
    extension of the numbering plan, so they belong to no place: 2 to 9, then 9, then any digit.
    """
    area, line = divmod(random.integer(start, key, 8_000), 100)
    return f"({area // 10 + 2}9{area % 10}) 555-01{line:02d}"
