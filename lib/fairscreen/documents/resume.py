"""The rule-based resume: a pure function of the applicant's profile (PopResume, section 4.1).

Gender and race are not fields of a profile, so they cannot reach the text. Every choice is a
hash of (seed, job and slot, applicant id): never of the name, and of no other variable either.
Hence what changes when one variable changes:

    first_name, surname   the name and the e-mail line
    state                 the location line
    edu_level             the education section; and date lines of the work history, where another
                          degree moves the end of education
    exp_year              the work history
    age                   date lines (education and work history)

Rules the paper leaves open, chosen here:

- **Roles**: under 36 months one, under 72 two, up to 120 three, above four. Slot 0 is the first
  role and junior, slot 1 mid, slots 2 and 3 senior. Each role's share of the months is 0.75 to
  1.25 over their sum. Months count inclusively: Mar 2015 - Mar 2015 is one month.
- **Dates**: work starts in the June after graduation. Where the experience would pass `as_of`,
  it starts earlier, so that it ends in `as_of` ("Present"). Otherwise it ends where it ends.
- **No experience** (under one month): the section says that a first position is sought.
- **Graduation** at the ages of `GRADUATION_AGE`, never after `as_of`'s year: who holds a degree
  younger than that (the ACS records completed degrees) graduated in `as_of`'s year. A higher
  degree's bachelor's lies as many years before it as the ages do.
- **Bullets**: five per role; per education entry as in `EDUCATION_BULLETS`. Ten skills.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from fairscreen import random
from fairscreen.documents import contact
from fairscreen.documents.pools import JobContent, Schools, Seniority
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES

#: Age in the year of graduation; `some_college` is attended from 18 to 20.
GRADUATION_AGE = {
    "high_school": 18, "some_college": 20, "associate": 20, "bachelor": 22, "master": 24,
    "professional": 26, "doctorate": 28,
}  # fmt: skip
EDUCATION_BULLETS = {
    "high_school": 1, "some_college": 1, "associate": 2, "bachelor": 2, "master": 2,
    "professional": 3, "doctorate": 3,
}  # fmt: skip
HIGHER = ("master", "professional", "doctorate")
SENIORITY: tuple[Seniority, ...] = ("junior", "mid", "senior", "senior")
SKILLS_SHOWN = 10
BULLETS_PER_ROLE = 5
NO_EXPERIENCE = "Seeking a first position in this field."

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MAY = 4


@dataclass(frozen=True, slots=True)
class Profile:
    """What a resume depends on. `state` is FIPS, `exp_year` whole months / 12."""

    applicant_id: str
    job: str
    age: int
    state: str
    edu_level: str
    exp_year: float
    first_name: str
    surname: str


@dataclass(frozen=True, slots=True)
class Role:
    """One position; months are counted from year 0, both ends inclusive."""

    title: str
    employer: str
    start: int
    end: int
    bullets: list[str]


@dataclass(frozen=True, slots=True)
class Study:
    """One education entry; `first_year` only where it was attended without a degree."""

    title: str
    school: str
    first_year: int | None
    year: int
    bullets: list[str]


def months(as_of: str) -> int:
    """Months since year 0 of YYYY-MM."""
    return int(as_of[:4]) * 12 + int(as_of[5:7]) - 1


def birth_year(profile: Profile, as_of: str) -> int:
    return int(as_of[:4]) - profile.age


def number_of_roles(experience: int) -> int:
    """Roles for so many months: 0, then 1 under 36, 2 under 72, 3 up to 120, 4 above."""
    if experience < 1:
        return 0
    return 1 + (experience >= 36) + (experience >= 72) + (experience > 120)


def render_text(
    profile: Profile, content: JobContent, schools: Schools, as_of: str, seed: int
) -> str:
    """The resume as plain text, sections in the published order, one newline at the end.

    Raises InputError where a value has no place in a resume, naming applicant and column.
    """
    usps = _checked(profile)
    key = profile.applicant_id.encode()
    starts = _starts(seed, profile.job)
    first_name, surname = " ".join(profile.first_name.split()), " ".join(profile.surname.split())
    lines = [
        f"{first_name} {surname}",
        f"Location: {usps}, USA",
        f"Email: {contact.email(first_name, surname, key, starts['email', 0, 0])}",
        f"Phone: {contact.phone(key, starts['phone', 0, 0])}",
        "",
        "SKILLS",
        ", ".join(_picks(content.skills, "skill", 0, SKILLS_SHOWN, key, starts)),
        "",
        "WORK HISTORY",
    ]
    roles = work_history(profile, content, as_of, seed)
    if not roles:
        lines += [NO_EXPERIENCE, ""]
    now = months(as_of)
    for role in reversed(roles):
        end = "Present" if role.end == now else _month(role.end)
        lines += [f"{role.title}, {role.employer}", f"{_month(role.start)} - {end}"]
        lines += [f"- {bullet}" for bullet in role.bullets]
        lines.append("")
    lines.append("EDUCATION")
    for study in reversed(education(profile, content, schools, as_of, seed)):
        lines += [f"{study.title}, {study.school}", _years(study)]
        lines += [f"- {bullet}" for bullet in study.bullets]
        lines.append("")
    return "\n".join(lines)


def work_history(profile: Profile, content: JobContent, as_of: str, seed: int) -> list[Role]:
    """Roles, first one first: months in sequence, without gap, summing to the experience."""
    key = profile.applicant_id.encode()
    starts = _starts(seed, profile.job)
    experience = round(profile.exp_year * 12)
    n = number_of_roles(experience)
    if n == 0:
        return []
    now = months(as_of)
    end_of_education = min(_graduation_year(profile, as_of) * 12 + _MAY, now)
    begin = min(end_of_education + 1, now - experience + 1)
    shares = [750 + random.integer(starts["share", r, 0], key, 501) for r in range(n)]
    employers = _picks(content.employers, "employer", 0, n, key, starts)
    pools = [getattr(content.bullets, SENIORITY[r]) for r in range(n)]
    used: set[str] = set()
    roles = []
    done = 0
    for r in range(n):
        names = _titles(content, r)
        title = names[random.integer(starts["title", r, 0], key, len(names))]
        bullets = _picks(pools[r], "bullet", r, BULLETS_PER_ROLE, key, starts, used)
        used.update(bullets)
        first = begin + experience * done // sum(shares)
        done += shares[r]
        last = begin + experience * done // sum(shares) - 1
        roles.append(Role(title, employers[r], first, last, bullets))
    return roles


def _titles(content: JobContent, slot: int) -> tuple[str, ...]:
    """Titles for a role. Two senior roles in a row never step down: lower half, then upper."""
    names: tuple[str, ...] = getattr(content.roles, SENIORITY[slot])
    half = len(names) // 2
    return {2: names[:half], 3: names[half:]}.get(slot, names)


def education(
    profile: Profile, content: JobContent, schools: Schools, as_of: str, seed: int
) -> list[Study]:
    """Education entries, first one first: one, or a bachelor's and the higher degree."""
    level = profile.edu_level
    year = _graduation_year(profile, as_of)
    levels = ["bachelor", level] if level in HIGHER else [level]
    key = profile.applicant_id.encode()
    starts = _starts(seed, profile.job)
    used: set[str] = set()
    entries = []
    for slot, entry in enumerate(levels):
        pool = content.education_bullets.college
        if entry == "high_school":
            place, pool = schools.high_school, content.education_bullets.high_school
            title = "High School Diploma"
        else:
            if entry in HIGHER:
                place, pool = schools.graduate_school, content.education_bullets.graduate
            else:
                place = schools.university if entry == "bachelor" else schools.community_college
            majors = content.majors
            major = majors[random.integer(starts["major", slot, 0], key, len(majors))]
            title = getattr(content.degrees, entry).replace("{major}", major)
        school = place[random.integer(starts["school", slot, 0], key, len(place))]
        bullets = _picks(pool, "study", slot, EDUCATION_BULLETS[entry], key, starts, used)
        used.update(bullets)
        before = GRADUATION_AGE[level] - GRADUATION_AGE[entry]
        first_year = None
        if entry == "some_college":
            first_year = min(birth_year(profile, as_of) + 18, year)
        entries.append(Study(title, school, first_year, year - before, bullets))
    return entries


def _graduation_year(profile: Profile, as_of: str) -> int:
    usual = birth_year(profile, as_of) + GRADUATION_AGE[profile.edu_level]
    return min(usual, int(as_of[:4]))


def _picks(
    pool: tuple[str, ...],
    purpose: str,
    group: int,
    n: int,
    key: bytes,
    starts: dict[tuple[str, int, int], int],
    used: set[str] | frozenset[str] = frozenset(),
) -> list[str]:
    """n distinct lines; slot i chooses among what slots before it left, never of what follows."""
    left = [line for line in pool if line not in used] if used else list(pool)
    return [
        left.pop(random.integer(starts[purpose, group, slot], key, len(left))) for slot in range(n)
    ]


@lru_cache(maxsize=64)
def _starts(seed: int, job: str) -> dict[tuple[str, int, int], int]:
    """Hash prefixes of all choices of one job: (purpose, role or entry, slot)."""
    slots = {
        ("email", 1, 1), ("phone", 1, 1), ("skill", 1, SKILLS_SHOWN), ("employer", 1, 4),
        ("share", 4, 1), ("title", 4, 1), ("bullet", 4, BULLETS_PER_ROLE), ("major", 2, 1),
        ("school", 2, 1), ("study", 2, 3),
    }  # fmt: skip
    return {
        (purpose, group, slot): random.prefix(seed, f"documents/{job}/{purpose}/{group}/{slot}")
        for purpose, groups, n in slots
        for group in range(groups)
        for slot in range(n)
    }


def _month(index: int) -> str:
    return f"{_MONTHS[index % 12]} {index // 12}"


def _years(study: Study) -> str:
    if study.first_year is None:
        return f"Graduated {study.year}"
    if study.first_year == study.year:
        return f"Attended {study.year}"
    return f"Attended {study.first_year} - {study.year}"


def _checked(profile: Profile) -> str:
    """The USPS code of the profile's state, once every value is known to be usable."""
    where = f"applicant {profile.applicant_id}"
    state = STATES.get(profile.state)
    if state is None:
        raise InputError(
            f"{where}, state", f"{profile.state!r} is no state", "Give FIPS, two digits."
        )
    if profile.edu_level not in GRADUATION_AGE:
        known = ", ".join(GRADUATION_AGE)
        raise InputError(
            f"{where}, edu_level", f"{profile.edu_level!r} has no rule", f"Levels are: {known}."
        )
    if not (math.isfinite(profile.exp_year) and 0 <= profile.exp_year <= profile.age):
        raise InputError(
            f"{where}, exp_year",
            f"{profile.exp_year} years do not fit into a life of {profile.age}",
            "Give years of work experience, at least 0.",
        )
    if not (profile.first_name.strip() and profile.surname.strip()):
        raise InputError(f"{where}, name", "is empty", "Give first_name and surname.")
    return state.usps
