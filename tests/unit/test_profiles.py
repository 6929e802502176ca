"""Profiles of paired callbacks: consistent, of one region, made of a table that is checked."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import pair_inputs
from fairscreen import resources
from fairscreen.documents import profiles
from fairscreen.documents.pools import cue
from fairscreen.documents.profile_reference import FINISHED, REGIONS, load_reference
from fairscreen.errors import InputError

TABLE = load_reference()
FILE = resources.path("conf", "profiles.yml")


def profile(posting_id: str = "p", pair_id: int = 0, **own):
    told = {"region": "south", "industry": "Banking", "ages": (22, 40), "seed": 1, **own}
    return profiles.profile(posting_id, pair_id, reference=TABLE, **told)


@given(
    posting_id=st.text(min_size=1, max_size=8), pair_id=st.integers(0, 99),
    region=st.sampled_from([*REGIONS, None, "puerto rico"]),
    industry=st.sampled_from([*pair_inputs.INDUSTRIES, "Retail", "E-Learning"]),
    low=st.integers(18, 90), more=st.integers(0, 72), seed=st.integers(0, 9),
)  # fmt: skip
def test_a_profile_is_consistent(posting_id, pair_id, region, industry, low, more, seed) -> None:
    ages = (low, min(90, low + more))
    told = {"region": region, "industry": industry, "ages": ages, "seed": seed}
    p = profile(posting_id, pair_id, **told)
    assert p == profile(posting_id, pair_id, **told)
    assert ages[0] <= p.age <= ages[1]
    assert p.region == (region if region in REGIONS else p.region)
    # Everything is of that one region, and of the posting's industry.
    names, of = TABLE.regions[p.region], TABLE.industries[p.industry]
    (schooling,) = [e for e in of.education if e.degree == p.degree]
    assert p.school in getattr(names.schools, schooling.school)
    assert FINISHED[schooling.school] <= p.age
    assert p.major in (schooling.majors or (None,))
    assert re.fullmatch(r"[23]\.\d\d", p.gpa)
    employers = [role.employer for role in p.work]
    assert set(employers) <= set(names.employers[p.industry])
    # Work fits into the time since the 17th birthday, and titles follow what was worked before.
    assert len(employers) == len(set(employers)) in (2, 3)
    months = [role.months for role in p.work]
    assert min(months) >= 3
    assert 12 * (p.age - 17) // 2 <= sum(months) <= 12 * (p.age - 17)
    for i, role in enumerate(p.work):
        before = sum(months[i + 1 :])
        assert role.title in getattr(of.titles, profiles.seniority(before))


def test_profiles_vary() -> None:
    made = [profile(f"p{i}") for i in range(4000)]
    degrees = Counter(p.degree for p in made)
    assert len(degrees) == 3
    # Each draw is uniform: 4,000 / k, within 5 standard deviations.
    for counts, k in (
        (degrees, 3), (Counter(p.age for p in made), 19), (Counter(p.school for p in made), 24),
        (Counter(p.gpa for p in made), 116),
    ):  # fmt: skip
        assert len(counts) == k
        spread = 5 * (4000 / k * (1 - 1 / k)) ** 0.5
        assert all(abs(n - 4000 / k) < spread for n in counts.values())
    assert {len(p.work) for p in made} == {2, 3}
    assert len({p.work for p in made}) > 3900


def test_four_profiles_of_a_posting_differ_and_another_seed_gives_others() -> None:
    four = {profile("p", i) for i in range(4)}
    assert len(four) == 4
    assert not four & {profile("p", i, seed=2) for i in range(4)}


def test_a_posting_without_a_region_gets_one_for_all_its_profiles() -> None:
    found = Counter()
    for i in range(400):
        (region,) = {profile(f"p{i}", pair_id, region=None).region for pair_id in range(4)}
        found[region] += 1
    assert set(found) == set(REGIONS)
    assert min(found.values()) > 60  # of 100 expected: over 4 standard deviations below


@pytest.mark.parametrize(
    ("industry", "group"),
    [
        # As the real postings have it, and the NAICS sectors.
        ("Education Management", "education"), ("Hospital & Health Care", "health"),
        ("Information Technology and Services", "technology"), ("Oil & Energy", "manufacturing"),
        ("Marketing and Advertising", "media"), ("Facilities Services", "construction"),
        ("Venture Capital & Private Equity", "finance"), ("Consumer Services", "general"),
        ("Finance and Insurance", "finance"), ("Retail Trade", "retail"),
        ("Accommodation and Food Services", "hospitality"), ("Construction", "construction"),
        ("Transportation and Warehousing", "transport"), ("Educational Services", "education"),
        ("Professional, Scientific, and Technical Services", "professional"),
        ("HEALTH CARE AND SOCIAL ASSISTANCE", "health"), ("Law Practice", "professional"),
        ("Lawn Care", "general"), ("", "general"), (None, "general"),
    ],
)  # fmt: skip
def test_industries_are_found_by_how_words_begin(industry: str | None, group: str) -> None:
    assert TABLE.group(industry) == group


def test_the_shipped_table_tells_nothing_and_says_enough() -> None:
    assert 9 <= len(TABLE.industries) <= 13
    lines = re.findall(r"[\w' -]+", FILE.read_text(encoding="utf-8").split("industries:", 2)[2])
    assert not [line for line in lines if cue(line)]
    for region in TABLE.regions.values():
        assert all(len(pool) >= 6 for pool in region.employers.values())
        assert len(region.schools.university) >= 8


BAD = [
    (lambda t: t["industries"].pop("general"), "industries: general is missing"),
    (lambda t: t["regions"].pop("west"), "regions: west is missing"),
    (lambda t: t["regions"]["west"]["employers"].pop("media"),
     "regions.west.employers: media stands either here or in industries"),
    (lambda t: t["regions"]["west"].update(schools=t["regions"]["south"]["schools"]),
     "regions: Baybranch Community College stands in two regions"),
    (lambda t: t["regions"]["west"]["employers"].update(media=["A Press", "B Press"]),
     "regions.west.employers.media: has 2 lines and needs at least 3"),
    (lambda t: t["regions"]["west"]["employers"].update(media=["Cut Men", "B Press", "C Press"]),
     "regions.west.employers.media.0: 'Men' names a gender or a race"),
    (lambda t: t["industries"]["media"].update(keywords=["Press"]),
     "industries.media.keywords.0: "),
    (lambda t: t["industries"]["media"]["titles"].update(mid=["Writer"] * 3),
     "industries.media.titles.mid: holds 'Writer' twice"),
    (lambda t: t["industries"]["media"]["education"][0].update(school="kindergarten"),
     "industries.media.education.0.school: "),
    (lambda t: t.update(colours=[]), "colours: "),
    *((lambda t, c=c: t["regions"]["west"]["employers"].update(media=[f"A{c}B", "B C", "C D"]),
       f"regions.west.employers.media.0: holds the character U+{ord(c):04X}; remove it")
      for c in "\x07\u200b\u202e\u2066"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD, ids=[b[1] for b in BAD])
def test_a_table_of_ones_own_is_checked(change, message: str, tmp_path: Path) -> None:
    table = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    change(table)
    own = tmp_path / "own.yml"
    own.write_text(yaml.safe_dump(table), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_reference(str(own))
    assert str(own) in str(caught.value)
    assert message in str(caught.value)
    assert "Correct this field" in str(caught.value)


@pytest.mark.parametrize(("text", "message"), [
    ("- a list", "holds no table"), ("a: [", "own.yml, line"), (None, "no such file"),
])  # fmt: skip
def test_a_file_that_is_none(text: str | None, message: str, tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    if text is not None:
        own.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_reference(str(own))
