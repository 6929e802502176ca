"""The shared part of a pair of paired callbacks: education, work and age of one profile.

A pure function of (seed, posting, pair_id) and the table of names, so a profile is the same in
every contrast, whoever bears it. Our rules, where the published design refers to a table of its
own:

age         a whole year of `pairs.ages`
education   one entry, drawn from those of the industry that somebody of the age can have finished;
            a school of the posting's region, a field, a GPA of 2.80 to 3.95
work        the months worked are between a half and nine tenths of those since the 17th birthday
            (so there is work beside school); two employers, or, from 24 months on, two or three;
            each at least three months; all of the posting's region and industry. Titles follow the
            months that were worked before a role: under 36 junior, under 96 mid, else senior
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fairscreen import random
from fairscreen.documents.profile_reference import (
    EMPLOYERS,
    FINISHED,
    REGIONS,
    ProfileReference,
    Region,
)

WORKS_FROM = 17  # years of age
_LEAST = 3  # months with one employer
_THREE_FROM = 24  # months of work from which there may be three employers
_MID_FROM, _SENIOR_FROM = 36, 96  # months worked before a role
_GPA = (280, 395)  # hundredths


@dataclass(frozen=True)
class Role:
    employer: str
    title: str
    months: int

    @property
    def tenure(self) -> str:
        """Such as 1 year 3 months."""
        years, months = divmod(self.months, 12)
        parts = ((years, "year"), (months, "month"))
        return " ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in parts if n)


@dataclass(frozen=True)
class Profile:
    """region, industry: where its names are from, keys of the table. gpa: text, two decimals.
    work: the newest first."""

    region: Region
    industry: str
    age: int
    school: str
    degree: str
    major: str | None
    gpa: str
    work: tuple[Role, ...]


def region_of(posting_id: str, region: str | None, seed: int) -> Region:
    """The posting's own, or, of a posting without one, a region by draw: one for all its profiles,
    so that none of them mixes regions either."""
    known: dict[str, Region] = {name: name for name in REGIONS}
    if region in known:
        return known[region]
    start = random.prefix(seed, "profiles/region")
    return REGIONS[random.integer(start, posting_id.encode(), len(REGIONS))]


def profile(
    posting_id: str, pair_id: int, *, region: str | None, industry: str | None,
    reference: ProfileReference, ages: tuple[int, int], seed: int,
) -> Profile:  # fmt: skip
    """One profile. region, industry: of the posting, null where it tells none."""
    key = f"{posting_id}/{pair_id}"

    def draw(what: str, bound: int, of: str = "") -> int:
        return random.integer(random.prefix(seed, f"profiles/{what}"), f"{key}{of}".encode(), bound)

    where, group = region_of(posting_id, region, seed), reference.group(industry)
    names, of = reference.regions[where], reference.industries[group]
    age = ages[0] + draw("age", ages[1] - ages[0] + 1)
    can = [e for e in of.education if FINISHED[e.school] <= age]
    done = can[draw("education", len(can))]
    schools: Sequence[str] = getattr(names.schools, done.school)
    hundredths = _GPA[0] + draw("gpa", _GPA[1] - _GPA[0] + 1)
    return Profile(
        region=where,
        industry=group,
        age=age,
        school=schools[draw("school", len(schools))],
        degree=done.degree,
        major=done.majors[draw("major", len(done.majors))] if done.majors else None,
        gpa=f"{hundredths // 100}.{hundredths % 100:02}",
        work=_work(age, names.employers[group], of.titles.model_dump(), draw),
    )


def _work(
    age: int, employers: Sequence[str], titles: dict[str, Sequence[str]],
    draw: Callable[..., int],
) -> tuple[Role, ...]:  # fmt: skip
    since = 12 * (age - WORKS_FROM)
    months = since // 2 + draw("months", since * 9 // 10 - since // 2 + 1)
    count = 2 + (draw("employers", EMPLOYERS - 1) if months >= _THREE_FROM else 0)
    shares = [1 + draw("share", 6, f"/{i}") for i in range(count)]
    free = months - _LEAST * count
    tenures = [_LEAST + free * share // sum(shares) for share in shares]
    tenures[-1] += months - sum(tenures)

    def ranked(what: str, lines: Sequence[str]) -> list[str]:
        return sorted(lines, key=lambda line: (draw(what, 2**62, f"/{line}"), line))

    left = {level: ranked("title", lines) for level, lines in titles.items()}
    roles, before = [], 0
    for employer, tenure in zip(ranked("employer", employers), tenures, strict=False):
        roles.append(Role(employer, left[seniority(before)].pop(0), tenure))
        before += tenure
    return tuple(reversed(roles))


def seniority(months: int) -> Literal["junior", "mid", "senior"]:
    """Of a role before which so many months were worked."""
    return "junior" if months < _MID_FROM else "mid" if months < _SENIOR_FROM else "senior"
