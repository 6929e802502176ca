"""Shipped pools hold what an audit needs and no cue; a user's own file is checked the same way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairscreen import resources
from fairscreen.documents.pools import cue, load_pools, load_schools
from fairscreen.errors import InputError
from fairscreen.population.geography import STATES

JOBS = sorted(f.stem for f in resources.path("conf", "jobs").glob("*.yml"))
CITIES = "Chicago|Boston|Houston|Dallas|Seattle|Denver|Atlanta|Miami|Phoenix|Philadelphia|Detroit"
PLACES = re.compile(
    "|".join(rf"\b{name}\b" for name in [*(s.name for s in STATES.values()), CITIES])
)
PRONOUNS = re.compile(r"\b(I|me|my|we|us|our)\b", re.IGNORECASE)


def lines_of(data: Any) -> list[str]:
    if data is None or isinstance(data, str):
        return [data] if data else []
    values = data.values() if isinstance(data, dict) else data
    return [line for value in values for line in lines_of(value)]


def test_every_default_job_has_its_content() -> None:
    base = yaml.safe_load(
        resources.path("conf", "designs", "path_specific.yml").read_text(encoding="utf-8")
    )
    assert set(base["population"]["jobs"]) <= set(JOBS)


@pytest.mark.parametrize("job", JOBS)
def test_shipped_pools(job: str) -> None:
    content = load_pools(job)
    assert 120 <= len(content.description.split()) <= 180
    for line in lines_of(content.model_dump()):
        assert cue(line) is None, line
        assert not PLACES.search(line), line
    for level in ("junior", "mid", "senior"):
        for bullet in getattr(content.bullets, level):
            assert not PRONOUNS.search(bullet), bullet
            assert bullet.endswith("."), bullet
            assert 8 <= len(bullet.split()) <= 26, bullet
    # Roles, employers and skills are joined with commas, so they hold none of their own.
    assert not [line for line in (*content.skills, *content.employers) if "," in line]


def test_jobs_share_no_employer_and_no_school() -> None:
    names = [name for job in JOBS for name in load_pools(job).employers]
    names += lines_of(load_schools().model_dump())
    assert len(set(names)) == len(names)


def test_shipped_schools_tell_nothing() -> None:
    for name in lines_of(load_schools().model_dump()):
        assert cue(name) is None
        assert not PLACES.search(name)
        assert not re.search(r"\b(Saint|St|Christian|Catholic|Baptist|Women|A&M|Tribal)\b", name)


@pytest.mark.parametrize(
    "text",
    [
        "She led the team", "Mr. Smith", "Foreman", "Journeyman carpenter", "a Black applicant",
        "women's shelter", "Asian studies", "Native American council", "Latinx network", "RACE",
    ],
)  # fmt: skip
def test_cues_are_found(text: str) -> None:
    assert cue(text)


@pytest.mark.parametrize(
    "text",
    [
        "130 ms", "MS Office", "Removed a race condition", "Wrote a white paper", "Management",
        "Human resources", "Heritage", "Black-box testing", "Whiteboards", "Manual work", "Other",
    ],
)  # fmt: skip
def test_everyday_words_are_no_cues(text: str) -> None:
    assert cue(text) is None


def edited(tmp_path: Path, edit: Any) -> Path:
    source = resources.path("conf", "jobs", "accountants.yml").read_text(encoding="utf-8")
    data = yaml.safe_load(source)
    edit(data)
    file = tmp_path / "mine.yml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return file


def _few(data: dict[str, Any]) -> None:
    data["skills"] = data["skills"][:24]


def _twice(data: dict[str, Any]) -> None:
    data["employers"][3] = data["employers"][0].upper()


def _across(data: dict[str, Any]) -> None:
    data["bullets"]["mid"][0] = data["bullets"]["junior"][0]


def _cue(data: dict[str, Any]) -> None:
    data["bullets"]["senior"][2] = "Led a team of salesmen"


def _unknown(data: dict[str, Any]) -> None:
    data["bulets"] = {}


def _number(data: dict[str, Any]) -> None:
    data["majors"][1] = 5


EXAMPLE = "see conf/jobs/registered_nurses.yml for a complete one."


@pytest.mark.parametrize(
    ("edit", "field", "problem"),
    [
        (_few, "skills", "has 24 lines and needs at least 25"),
        (_twice, "employers", "holds 'ALDERGRAIN FOODS' twice; keep it once"),
        (
            _across, "bullets",
            "holds 'Reconciled 18 bank and credit card accounts each month and cleared open items "
            "within ten days.' twice; keep it once",
        ),
        (
            _cue, "bullets.senior.2",
            "'salesmen' names a gender or a race; word this line without it",
        ),
        (_unknown, "bulets", "Extra inputs are not permitted"),
        (_number, "majors.1", "Input should be a valid string"),
    ],
)  # fmt: skip
def test_a_bad_pool_names_file_and_field(
    tmp_path: Path, edit: Any, field: str, problem: str
) -> None:
    file = edited(tmp_path, edit)
    with pytest.raises(InputError) as caught:
        load_pools("accountants", file)
    assert str(caught.value) == f"{file}, {field}: {problem}. Correct this field; {EXAMPLE}"


def test_a_job_without_content_says_what_to_give() -> None:
    with pytest.raises(InputError) as caught:
        load_pools("welders")
    assert str(caught.value) == (
        "population.jobs.welders: has no content of its own. Give `content:` a YAML file with its "
        f"pools, or use one of: {', '.join(JOBS)}."
    )


def test_files_that_hold_no_pools(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text("skills: [a\nb: c", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.yml, line 2: is not valid YAML"):
        load_pools("x", broken)
    broken.write_text("- a", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no pools. Write them; see conf/schools\.yml"):
        load_schools(broken)
    with pytest.raises(InputError, match=r"gone\.yml: No such file or directory\. Give a YAML"):
        load_pools("x", tmp_path / "gone.yml")


def test_own_wording_of_a_posting_is_audited_as_it_is(tmp_path: Path) -> None:
    text = "The chairman and his team hire without regard to race or gender. " * 3
    file = edited(tmp_path, lambda data: data.update(description=text))
    assert load_pools("accountants", file).description == text.strip()
