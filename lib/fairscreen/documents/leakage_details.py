"""Personal details outside of fields: age, birth, family, citizenship, photo, parental leave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fairscreen.documents.leakage_cues import BODY, DATE, Cues, Hit, any_of


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# Where a clause begins, as a lookbehind; `hit` names the part that is the cue.
_BEGINS = r"(?: \A | (?<=[.:;•|\n(]) | (?<=[.:;•|\n(]\s) )"
_BORN = (
    _re(rf"(?: {_BEGINS} | (?<=\bI\swas\s) | (?<=,\s) ) born\s+(?:on\s+|in\s+)(?:the\s+)?{DATE}"),
    _re(rf"(?<!\w)(?: geboren\s+am | née?\s+le | nacid[oa]\s+el | nat[oa]\s+il )\s+{DATE}"),
)
_I_AM = r"\bI(?:['’]m|\s+am)\s+"
_YEARS_OLD = r"[1-8]\d [\s-]years?[\s-] (?: old | of\s+age )"
_NOT_OF_A_PERSON = r"""(?! \s+ (?: company | business | firm | building | house | equipment
    | patients? | child | children | student | girl | boy | program | organi[sz]ation | school
    | bridge | man | male | woman | female | daughter | son | and ) \b )"""
_AGED = (
    _re(rf"{_I_AM}(?:an?\s+)? (?P<hit> {_YEARS_OLD} )(?!\w)"),
    _re(r"(?<![\w-]) (?P<hit> [1-8]\d\s+years\s+of\s+age )(?!\w)"),
    _re(rf"{_BEGINS} (?:an?\s+)? (?P<hit> {_YEARS_OLD} )(?!\w) {_NOT_OF_A_PERSON}"),
)
_STATUS = r"(?: single | married | divorced | widowed | engaged | separated )"
_CHILDREN = r"(?: daughters? | sons? | children | kids | child )"
_FAMILY = (
    _re(r"(?<!\w) my\s+(?: husband | wife | spouse | fiancée? | girlfriend | boyfriend )(?!\w)"),
    _re(rf"{_BEGINS} (?:happily\s+)? married\s+with\s+(?:\w+\s+)? {_CHILDREN} (?!\w)"),
    _re(
        rf"""(?: {_BEGINS} | (?<=,\s) ) (?:happily\s+)? married\s*,\s*(?:with\s+)?
        (?: one | two | three | four | five | \d )\s+ {_CHILDREN} (?!\w)"""
    ),
    _re(rf"{_I_AM} (?P<hit> (?:happily\s+)? {_STATUS} )(?!\w|\s*-)(?!\s+(?:in|by|with)\b)"),
    _re(
        rf"""\bpersonal\s+(?: (?:information|details|data|profile) \W{{0,3}}\s* )?
        (?P<hit> {_STATUS} )(?!\w)(?= \s*(?:[.,;|]|\Z) )"""
    ),
    _re(
        rf"""{_BEGINS} (?: one | two | three | four | five | \d )\s+
        (?: \d{{1,2}}[\s-]years?[\s-]old\s+ )? {_CHILDREN} (?!\w)(?= \s*(?:[.,;]|\Z|and) )"""
    ),
)
_PHOTO_NOUN = r"(?: photo(?:graph)? | picture | headshot | head\s+shot )"
_SIZE = r"(?: passport[-\s]sized?\s+ )"
_PHOTO = (
    _re(
        rf"""(?: {_BEGINS} | (?<=[,\[]) | (?<=[,\[]\s) | (?<=\bwith\s) | (?<=\bwith\sa\s)
        | (?<=\bsee\s) )
        (?: (?:my|recent|a|the|passport|current)\s+ ){{0,2}} {_PHOTO_NOUN}\s+(?:is\s+)?
        (?: attached | enclosed | included | available | on\s+request )(?!\s+to\b)"""
    ),
    _re(rf"\b(?:attached|enclosed)\s+(?:is\s+)?(?:my\s+|a\s+)?(?:recent\s+)? {_PHOTO_NOUN} \b"),
    _re(
        rf"""[\[(]\s* (?: (?:insert|your|my|recent)\s+ ){{0,3}} {_SIZE}? {_PHOTO_NOUN}
        (?:\s+here)? \s*[\])]"""
    ),
    _re(rf"(?<!\w)(?:recent\s+)? {_SIZE} {_PHOTO_NOUN} \b"),
    _re(
        rf"""(?<!\w) {_PHOTO_NOUN} \s*:\s*
        (?: \S+\.(?:jpe?g|png|gif) | https?://\S+ | attached | enclosed )"""
    ),
)
_NATIVE = re.compile(r"(?<!\w)native\s+of\s+[A-Z][\w-]+(?:\s+[A-Z][\w-]+)?")
_BODY = _re(rf"(?: {_BEGINS} | (?<=,\s) )(?:height|weight)\s+{BODY}")
# Leave that the applicant handles, or somebody else takes.
_LEAVE_OF_OTHERS = _re(
    r"""\b(?: administer\w* | process\w* | cover\w* | colleague | employees? | coworker | controller
    | polic(?:y|ies) | manage[ds]? | approv\w+ | track\w* | handled | during | for | ward | fmla
    | disability | requests? | benefits )\b"""
)
_LEAVE_THING = _re(r"\s+(?: polic | requests? | benefits )")


def _simple(
    text: str, patterns: tuple[re.Pattern[str], ...], kind: str, attribute: str
) -> Iterator[Hit]:
    for pattern in patterns:
        group = "hit" if "hit" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            yield Hit(start, end, kind, attribute, text[start:end])


def details(text: str, cues: Cues) -> Iterator[Hit]:
    """Ages, births, family, photos where a clause says so of the applicant."""
    yield from _simple(text, _BORN, "birth_date", "age")
    yield from _simple(text, _AGED, "age", "age")
    yield from _simple(text, _FAMILY, "marital_status", "marital_status")
    yield from _simple(text, _PHOTO, "photo", "appearance")
    yield from _simple(text, (_BODY,), "appearance", "appearance")


def nations(text: str, cues: Cues) -> Iterator[Hit]:
    """One citizen, in the singular: citizens are served."""
    citizen = re.compile(
        rf"(?<![\w.-])(?:Dual\s+)?{any_of(cues.citizens)}\.?\s+(?i:citizen)(?:ship)?(?!\w)"
        r"(?=\s*(?:\Z|[^\w\s]|[A-Z]|(?:and|with|or|by|since|eligible|authorized|holding)\b))"
    )
    yield from _simple(text, (citizen, _NATIVE), "nationality", "national_origin")


def leaves(text: str, cues: Cues) -> Iterator[Hit]:
    """The applicant's own parental leave."""
    own = _re(rf"(?<!\w)(?: (?:took|taking|on|my)\s+(?:a\s+)? )?{any_of(cues.leave)}(?!\w)")
    for match in own.finditer(text):
        before = re.split(r"[.\n]", text[max(0, match.start() - 60) : match.start()])[-1]
        if not _LEAVE_OF_OTHERS.search(before) and not _LEAVE_THING.match(text, match.end()):
            yield Hit(match.start(), match.end(), "parental_leave", "gender", match.group())
