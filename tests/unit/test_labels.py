"""Versions of one resume: exact lines, controls on a share, names that imply a label."""

from __future__ import annotations

import json
import zipfile
from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError

from fairscreen import resources
from fairscreen.documents.labels import Version, has_controls, label_names, versions
from fairscreen.errors import ConfigError
from fairscreen.scoring import prompts
from fairscreen.scoring.parse import parse
from fairscreen.settings.ranking import Labels

IDS = [f"resume{i}" for i in range(2_000)]


def named(labels: Labels, key: str = "a", **options: int) -> dict[str, Version]:
    return {v.version: v for v in versions(key, labels, seed=1, **options)}


def test_the_published_versions_are_exact() -> None:
    found = versions("a", Labels(controls=0), seed=1)
    assert [(v.version, v.kind, v.label, v.sent("CV")) for v in found] == [
        ("Male", "label", "Male", "Gender: Male;\nCV"),
        ("Female", "label", "Female", "Gender: Female;\nCV"),
        ("none", "none", None, "CV"),
    ]


def test_any_attribute_and_any_number_of_labels() -> None:
    race = Labels(attribute="Race", labels=("White", "Black", "Asian"), none=False, controls=0)
    assert [v.line for v in versions("a", race, seed=1)] == [
        "Race: White;", "Race: Black;", "Race: Asian;",
    ]  # fmt: skip


def test_controls_stand_in_the_same_slot() -> None:
    found = named(Labels(controls=1))
    assert list(found)[:5] == ["Male", "Female", "none", "placebo:Blue", "placebo:Green"]
    assert found["placebo:Blue"].line == "Folder: Blue;"
    (again,) = (v for v in found.values() if v.kind == "repeat")
    assert again.version == f"repeat:{again.label}"
    assert again.line == found[str(again.label)].line
    assert (again.replicate, found[str(again.label)].replicate) == (1, 0)


def test_replicates_of_a_repeat_are_calls_of_their_own() -> None:
    found = versions("a", Labels(controls=1), seed=1, replicates=3)
    calls = [(v.line, v.replicate) for v in found]
    assert len(calls) == len(set(calls)) == 3 * 6
    assert Counter(v.version for v in found).most_common(1)[0][1] == 3


def test_the_share_with_controls_and_what_is_repeated() -> None:
    labels = Labels()
    chosen = [key for key in IDS if has_controls(key, labels, 5)]
    # Binomial(2000, 0.1): mean 200, standard deviation 13.4.
    assert abs(len(chosen) - 200) < 4 * 13.4
    assert all(len(versions(key, labels, seed=5)) == (6 if key in chosen else 3) for key in IDS)
    more = [key for key in IDS if has_controls(key, Labels(controls=0.3), 5)]
    assert set(chosen) < set(more)
    assert [key for key in IDS if has_controls(key, labels, 6)] != chosen
    again = Counter(
        v.label for k in more for v in versions(k, labels, seed=5) if v.kind == "repeat"
    )
    assert set(again) == {"Male", "Female"}


def test_a_name_implies_the_label() -> None:
    labels = Labels(placement="name", controls=1)
    pools = label_names("Gender").names
    seen = Counter()
    for key in IDS[:300]:
        found = named(labels, key)
        firsts = {v: line.line.split()[1] for v, line in found.items() if line.line}
        surnames = {v.line.split()[2].rstrip(";") for v in found.values() if v.line}
        assert len(surnames) == 1  # of the resume, whatever the label
        assert firsts["Male"] in pools["Male"]
        assert firsts["Female"] in pools["Female"]
        assert found["none"].line == ""
        (repeat,) = (v for v in found.values() if v.kind == "repeat")
        pair = [firsts[v.version] for v in found.values() if v.kind == "placebo"]
        label = str(repeat.label)
        # Two other names of one label: what they differ in is the name alone.
        assert len({*pair, firsts[label]}) == 3
        assert set(pair) <= set(pools[label])
        seen[firsts["Male"]] += 1
    assert set(seen) == set(pools["Male"])
    assert found["Male"].line == f"Name: {firsts['Male']} {surnames.pop()};"


def test_names_of_ones_own() -> None:
    own = {"A": ("Ann", "Amy"), "B": ("Bob", "Ben")}
    labels = Labels(
        attribute="Group", labels=("A", "B"), placement="name", names=own, surnames=("Lee",),
        controls=0,
    )  # fmt: skip
    assert {v.line for k in IDS[:50] for v in versions(k, labels, seed=1)} == {
        "", "Name: Ann Lee;", "Name: Amy Lee;", "Name: Bob Lee;", "Name: Ben Lee;",
    }  # fmt: skip
    nameless = Labels(attribute="Group", labels=("A", "B"), placement="name")
    with pytest.raises(ConfigError) as error:
        versions("a", nameless, seed=1)
    assert str(error.value) == (
        "labels.names.A: has no names, and placement is name. Give two or more first names for "
        "every label."
    )


def test_shipped_names_are_of_one_gender() -> None:
    births: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(resources.path("conf", "data", "ssa_national_names.zip")) as archive:
        for year in range(1945, 2007):
            for line in archive.read(f"yob{year}.txt").decode().split():
                name, sex, count = line.split(",")
                births.setdefault(name, np.zeros(2))[int(sex == "F")] += int(count)
    for gender, names in label_names("Gender").names.items():
        for name in names:
            share = births[name] / births[name].sum()
            assert share[int(gender == "Female")] >= 0.98, name


@pytest.mark.parametrize(("given", "problem"), [
    ({"labels": ["Male"]}, "labels: give two at least"),
    ({"labels": ["A", "B", "A"]}, "labels: A stands twice"),
    ({"labels": ["A;", "B"]}, "String should match pattern"),
    ({"placebo": {"labels": ["A", "A"]}}, "placebo.labels: A stands twice"),
    ({"names": {"Male": ["Al", "Bo"]}}, "names: Female needs two names at least"),
    ({"controls": 1.5}, "less than or equal to 1"), ({"controls": float("nan")}, "finite"),
    ({"label": 1}, "Extra inputs"),
])  # fmt: skip
def test_settings_that_cannot_be(given: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Labels.model_validate(given)


def test_the_prompt_has_every_published_element_in_order() -> None:
    prompt = prompts.load("score_0_10_json", "here")
    male = named(Labels(controls=0))["Male"]
    sent = prompt.filled("CASHIER", male.sent("Counts money"))
    text = sent.user[0].text
    places = [text.index(part) for part in (
        "hiring", "CASHIER", "resume:", "Gender: Male;\nCounts money", "human resources",
        "only", "0 to 10", "likelier", "JSON", "Score", "Overview", '{"Score": 10', '{"Score": 8',
        '{"Score": 6', '{"Score": 4', '{"Score": 1,',
    )]  # fmt: skip
    assert places == sorted(places)
    assert len(sent.user) == 1
    assert "Gender" not in prompt.filled("CASHIER", "Counts money").user[0].text
    examples = [line.strip() for line in text.splitlines() if line.strip().startswith("{")]
    for line, score in zip(examples, (10, 8, 6, 4, 1), strict=True):
        assert set(json.loads(line)) == {"Score", "Overview"}
        assert parse("score_0_10_json/2", line, "answered").score == score
