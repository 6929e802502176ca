"""The resume as a recruiter reads it: parsed from the text, not from the code that wrote it."""

from __future__ import annotations

import dataclasses
import itertools
import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen import random
from fairscreen.documents.pools import JobContent, cue, load_pools, load_schools
from fairscreen.documents.resume import (
    GRADUATION_AGE,
    NO_EXPERIENCE,
    Profile,
    months,
    number_of_roles,
    render_text,
)
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES

JOBS = (
    "registered_nurses", "school_teachers", "software_developers", "accountants",
    "construction_laborers",
)  # fmt: skip
SCHOOLS = load_schools()
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATES = re.compile(r"^([A-Z][a-z]{2}) (\d{4}) - (?:([A-Z][a-z]{2}) (\d{4})|Present)$")
YEARS = re.compile(r"^(?:Graduated|Attended (?:(\d{4}) - )?)(?:\s?)(\d{4})$")
BASE = Profile("a-17", "accountants", 36, "39", "bachelor", 9.5, "Maria", "Torres")


@cache
def pools(job: str) -> JobContent:
    return load_pools(job)


def text_of(profile: Profile, as_of: str = "2024-12", seed: int = 7) -> str:
    return render_text(profile, pools(profile.job), SCHOOLS, as_of, seed)


def sections(text: str) -> dict[str, list[str]]:
    """Lines of header, SKILLS, WORK HISTORY and EDUCATION, in the order they come."""
    found: dict[str, list[str]] = {"HEADER": []}
    for line in text.splitlines():
        if line in ("SKILLS", "WORK HISTORY", "EDUCATION"):
            found[line] = []
        elif line:
            found[list(found)[-1]].append(line)
    return found


def roles(text: str, as_of: str) -> list[tuple[int, int]]:
    """First and last month of every role, first role first."""
    spans = []
    for line in sections(text)["WORK HISTORY"]:
        if m := DATES.match(line):
            start = int(m[2]) * 12 + MONTHS.index(m[1])
            end = int(m[4]) * 12 + MONTHS.index(m[3]) if m[3] else months(as_of)
            spans.append((start, end))
    return spans[::-1]


profiles = st.builds(
    lambda i, job, age, state, edu, share, first, last: Profile(
        f"a{i}", job, age, state, edu, round(share * (age - 18) * 12) / 12, first, last
    ),
    st.integers(0, 10**9), st.sampled_from(JOBS), st.integers(18, 64),
    st.sampled_from(sorted(STATES)), st.sampled_from(sorted(GRADUATION_AGE)), st.floats(0, 1),
    st.sampled_from(["Mary", "James", "Keisha", "D'Andre"]),
    st.sampled_from(["Nguyen", "Washington", "O'Brien", "De La Cruz"]),
)  # fmt: skip
as_ofs = st.sampled_from(["2024-12", "2024-01", "2025-05", "2026-06"])


@given(profiles, as_ofs)
def test_dates_are_consistent(profile: Profile, as_of: str) -> None:
    text = text_of(profile, as_of)
    experience = round(profile.exp_year * 12)
    spans = roles(text, as_of)
    assert len(spans) == number_of_roles(experience)
    assert sum(end - start + 1 for start, end in spans) == experience
    assert all(start <= end for start, end in spans)
    # In sequence, without overlap and without gap.
    assert all(b[0] == a[1] + 1 for a, b in itertools.pairwise(spans))
    assert all(end <= months(as_of) for _, end in spans)
    assert (NO_EXPERIENCE in text) == (experience == 0)
    lines = sections(text)["WORK HISTORY"]
    assert sum("Present" in line for line in lines if DATES.match(line)) <= 1

    study = [YEARS.match(line) for line in sections(text)["EDUCATION"]]
    years = [int(m[2]) for m in study if m]
    top = min(int(as_of[:4]) - profile.age + GRADUATION_AGE[profile.edu_level], int(as_of[:4]))
    higher = profile.edu_level in ("master", "professional", "doctorate")
    assert years == ([top, top - GRADUATION_AGE[profile.edu_level] + 22] if higher else [top])
    if spans:
        june = top * 12 + 5
        assert spans[0][0] == min(june, months(as_of) + 1 - experience)


@given(profiles)
def test_sections_in_order_and_nothing_said_twice(profile: Profile) -> None:
    text = text_of(profile)
    found = sections(text)
    assert list(found) == ["HEADER", "SKILLS", "WORK HISTORY", "EDUCATION"]
    name, location, email, phone = found["HEADER"]
    assert name == f"{profile.first_name} {profile.surname}"
    assert location == f"Location: {STATES[profile.state].usps}, USA"
    assert email.startswith("Email: ")
    assert re.fullmatch(r"Phone: \([2-9]9\d\) 555-01\d\d", phone)
    bullets = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(set(bullets)) == len(bullets)
    skills = found["SKILLS"][0].split(", ")
    assert len(set(skills)) == len(skills) == 10
    content = pools(profile.job)
    heads = [line for line in found["WORK HISTORY"] if not line.startswith("- ")]
    employers = [e for line in heads for e in content.employers if line.endswith(f", {e}")]
    assert len(set(employers)) == len(employers) == number_of_roles(round(profile.exp_year * 12))
    # The latest role stands first.
    assert roles(text, "2024-12") == sorted(roles(text, "2024-12"))


@given(profiles)
def test_no_word_for_gender_or_race(profile: Profile) -> None:
    """Below the header, where the name stands (which may be White)."""
    assert cue(text_of(profile).split("\n\n", 1)[1]) is None


def test_gender_and_race_are_not_fields_of_a_profile() -> None:
    fields = {f.name for f in dataclasses.fields(Profile)}
    assert not fields & {"gender", "race", "first_name_gender", "surname_race", "region"}


def changed(before: Profile, **change: object) -> tuple[list[str], list[str]]:
    """Lines that differ, with the section they stand in, before and after the change."""

    def keyed(profile: Profile) -> list[str]:
        return [f"{s}|{line}" for s, lines in sections(text_of(profile)).items() for line in lines]

    old, new = keyed(before), keyed(dataclasses.replace(before, **change))  # type: ignore[arg-type]
    return [x for x in old if x not in new], [x for x in new if x not in old]


def is_date(keyed: str) -> bool:
    line = keyed.split("|", 1)[1]
    return bool(DATES.match(line) or YEARS.match(line))


@given(profiles, st.sampled_from(["Ann-Marie", "Bo", "José"]))
def test_a_name_changes_name_and_email_only(profile: Profile, name: str) -> None:
    for field in ("first_name", "surname"):
        old, new = changed(profile, **{field: name})
        assert len(old) == len(new) == 2
        assert all(x.startswith("HEADER|") for x in old)
        assert new[1].startswith("HEADER|Email: ")
        # The domain is the applicant's, whatever the name.
        assert new[1].split("@")[1] == old[1].split("@")[1]


@given(profiles, st.sampled_from(sorted(STATES)))
def test_a_state_changes_the_location_only(profile: Profile, state: str) -> None:
    old, new = changed(profile, state=state)
    same = state == profile.state
    assert new == ([] if same else [f"HEADER|Location: {STATES[state].usps}, USA"])
    assert len(old) == len(new)


@given(profiles, st.sampled_from(sorted(GRADUATION_AGE)))
def test_a_degree_changes_education_and_work_dates_only(profile: Profile, level: str) -> None:
    old, new = changed(profile, edu_level=level)
    for line in old + new:
        assert line.startswith("EDUCATION|") or (line.startswith("WORK HISTORY|") and is_date(line))
    if level != profile.edu_level:
        assert any(line.startswith("EDUCATION|") for line in old + new)


@given(profiles, st.integers(0, 46 * 12))
def test_experience_changes_the_work_history_only(profile: Profile, experience: int) -> None:
    experience = min(experience, (profile.age - 18) * 12)
    old, new = changed(profile, exp_year=experience / 12)
    assert all(line.startswith("WORK HISTORY|") for line in old + new)
    # Roles that exist on both sides keep title, employer and bullets.
    kept = min(number_of_roles(experience), number_of_roles(round(profile.exp_year * 12)))
    shorter = old if number_of_roles(experience) > kept else new
    if kept:
        assert all(is_date(line) for line in shorter)


@given(profiles, st.integers(18, 64))
def test_age_changes_dates_only(profile: Profile, age: int) -> None:
    if profile.exp_year <= age:
        old, new = changed(profile, age=age)
        assert all(is_date(line) for line in old + new)


def test_a_higher_degree_keeps_the_bachelors_school_and_major() -> None:
    old, new = changed(BASE, edu_level="doctorate")
    assert not [line for line in old if line.startswith("EDUCATION|") and not is_date(line)]
    assert len([line for line in new if line.startswith("EDUCATION|Doctor of")]) == 1


def test_the_applicant_id_alone_changes_the_content() -> None:
    old, new = changed(BASE, applicant_id="a-18")
    assert {line.split("|")[0] for line in new} == {
        "HEADER", "SKILLS", "WORK HISTORY", "EDUCATION",
    }  # fmt: skip
    assert len(old) > 20


@pytest.mark.parametrize(
    ("n_months", "expected"),
    [(0, 0), (1, 1), (35, 1), (36, 2), (71, 2), (72, 3), (120, 3), (121, 4), (300, 4)],
)
def test_number_of_roles(n_months: int, expected: int) -> None:
    assert number_of_roles(n_months) == expected


def test_a_young_holder_of_a_degree_graduated_this_year() -> None:
    text = text_of(dataclasses.replace(BASE, age=20, edu_level="master", exp_year=0.0))
    assert [line for line in sections(text)["EDUCATION"] if YEARS.match(line)] == [
        "Graduated 2024", "Graduated 2022",
    ]  # fmt: skip


def test_some_college_names_the_years_attended() -> None:
    for age, years in ((18, "Attended 2024"), (19, "Attended 2023 - 2024"), (30, "2012 - 2014")):
        profile = dataclasses.replace(BASE, age=age, edu_level="some_college", exp_year=0.0)
        assert years in text_of(profile)


def test_a_whole_resume() -> None:
    """Read by eye once; from here on every change to it is on purpose."""
    profile = dataclasses.replace(BASE, exp_year=2.25, edu_level="associate", age=24)
    assert text_of(profile) == EXPECTED


def test_ten_thousand_resumes_hardly_share_a_body() -> None:
    bodies = set()
    n = 10_000
    ages = random.integers(3, "age", [str(i) for i in range(n)], 27) + 18
    for i, age in enumerate(ages.tolist()):
        # The worst case: one job, one degree, no experience to tell people apart.
        profile = dataclasses.replace(BASE, applicant_id=f"n{i}", age=age, exp_year=0.0)
        bodies.add(text_of(profile).split("\n\n", 1)[1])
    assert (n - len(bodies)) / n < 0.001


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "72"}, "applicant a-17, state: '72' is no state. Give FIPS, two digits."),
        (
            {"edu_level": "phd"},
            "applicant a-17, edu_level: 'phd' has no rule. Levels are: high_school, some_college, "
            "associate, bachelor, master, professional, doctorate.",
        ),
        (
            {"exp_year": float("nan")},
            "applicant a-17, exp_year: nan years do not fit into a life of 36. "
            "Give years of work experience, at least 0.",
        ),
        (
            {"exp_year": -1.0},
            "applicant a-17, exp_year: -1.0 years do not fit into a life of 36. "
            "Give years of work experience, at least 0.",
        ),
        ({"surname": " "}, "applicant a-17, name: is empty. Give first_name and surname."),
    ],
)
def test_what_no_resume_can_show(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        text_of(dataclasses.replace(BASE, **change))  # type: ignore[arg-type]
    assert str(caught.value) == message


EXPECTED = """\
Maria Torres
Location: OH, USA
Email: maria.torres@example.com
Phone: (394) 555-0124

SKILLS
General ledger, Process documentation, Bank reconciliation, Budgeting, Cash flow reporting, Cost accounting, Month-end close, Accounts payable, Expense reporting, Internal controls

WORK HISTORY
Junior Accountant, Amberline Logistics
Jun 2020 - Aug 2022
- Built a spreadsheet that checks subledgers against the general ledger and saves five hours per close.
- Prepared schedules for cash, prepaid expenses and accrued liabilities for quarterly review.
- Posted accruals and prepaid expenses for the monthly close of two companies.
- Processed about 320 vendor invoices per month, with three-way matching to orders and receipts.
- Counted inventory with the warehouse team and explained differences above 500 dollars.

EDUCATION
Associate of Science in Finance, Ambermill Community College
Graduated 2020
- Coursework in statistics and economics
- Case study on the statements of a retail chain
"""  # noqa: E501
