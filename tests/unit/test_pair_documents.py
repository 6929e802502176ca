"""Documents of paired callbacks, posting by posting: what pairs share, who bears which name."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pair_inputs as inputs
from fairscreen.documents.keys import content_key
from fairscreen.documents.pair_names import check_pools
from fairscreen.documents.pairs import COLUMNS, pair_rows
from fairscreen.documents.posting_text import posting_text
from fairscreen.errors import ConfigError, InputError

BOTH = "{white_man: {favored: {race: white, gender: male}, other: {race: black, gender: female}}}"


def documents(cfg, postings: int = 60, of=None) -> list[dict]:
    options = inputs.options(cfg, of)
    return [row for i in range(postings) for row in pair_rows(inputs.posting(i), options)]


def by_pair(rows) -> dict[tuple, dict[str, dict]]:
    found: dict[tuple, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        key = (row["posting_id"], row["pair_id"], row["contrast"], row["within"])
        assert row["side"] not in found[key]
        found[key][row["side"]] = row
    return found


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return documents(inputs.config("pairs.placebo=0.3"), 200)


def test_rows_are_of_the_table_and_each_once(rows) -> None:
    assert {tuple(sorted(row)) for row in rows} == {tuple(sorted(COLUMNS))}
    assert len({row["document_id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["content_key"] == content_key(row["text"])
        at = (row["posting_id"], str(row["pair_id"]), row["contrast"], row["within"], row["side"])
        assert row["document_id"] == "/".join(at)
    counts = Counter((r["contrast"], r["side"], r["within"]) for r in rows)
    # Four profiles: of each one pair by race, within a gender that is drawn, and two by gender.
    assert (
        counts["gender", "favored", "race=white"] == counts["gender", "other", "race=black"] == 800
    )
    women = counts["race", "favored", "gender=female"]
    assert women + counts["race", "favored", "gender=male"] == 800
    assert 330 < women < 470  # 400, five standard deviations of 14
    placebo = {r["posting_id"] for r in rows if r["kind"] == "placebo"}
    assert {r["contrast"] for r in rows if r["kind"] == "placebo"} == {"placebo"}
    assert 28 < len(placebo) < 93  # 60 of 200, five standard deviations of 6.5
    assert sum(n for (contrast, *_), n in counts.items() if contrast == "placebo") == 8 * len(
        placebo
    )


def test_arms_are_of_the_groups_that_the_contrast_says(rows) -> None:
    for (_, _, contrast, within), pair in by_pair(rows).items():
        favored, other = pair["favored"], pair["other"]
        shared = dict(part.split("=") for part in within.split("; "))
        assert all(arm[factor] == v for arm in pair.values() for factor, v in shared.items())
        if contrast == "race":
            assert (favored["race"], other["race"], set(shared)) == ("white", "black", {"gender"})
        if contrast == "gender":
            assert (favored["gender"], other["gender"]) == ("male", "female")
            assert set(shared) == {"race"}
        if contrast == "placebo":
            assert set(shared) == {"race", "gender"}
            assert favored["first_name"] != other["first_name"]
        for arm in pair.values():
            assert arm["first_name"] in inputs.FIRST[arm["race"], arm["gender"]]
            assert arm["surname"] in inputs.SURNAMES[arm["race"]].names


@given(
    first=st.integers(0, 10**6), seed=st.integers(0, 50), show=st.booleans(),
    per=st.integers(1, 4), names=st.sampled_from(["repeat", "distinct"]),
    surname_of=st.sampled_from(["name", "pair"]),
)  # fmt: skip
def test_nothing_but_the_name_differs(first, seed, show, per, names, surname_of) -> None:
    own = {"show_gender": show, "per_posting": per, "names": names, "placebo": 0.5}
    base = inputs.config()
    cfg = base.model_copy(update={"seed": seed, "pairs": base.pairs.model_copy(update=own)})
    options = inputs.options(cfg, inputs.pools(surname_of))
    posting = inputs.posting(first)
    made = list(pair_rows(posting, options))
    assert made == list(pair_rows(posting, options))
    same: dict[int, set[str]] = defaultdict(set)
    for pair in by_pair(made).values():
        favored, other = (pair[side] for side in ("favored", "other"))
        assert favored["text"] != other["text"]
        for arm in (favored, other):
            told = json.loads(arm["text"])
            keys = ["name", *(["gender"] if show else []), "age", "education", "work_experience"]
            assert list(told) == keys
            assert told.pop("name") == f"{arm['first_name']} {arm['surname']}"
            if show:
                assert told.pop("gender") == arm["gender"].capitalize()
            assert told["age"] == arm["age"]
            same[arm["pair_id"]].add(json.dumps(told))
        # In the text itself too: the name taken out, the bytes are the same.
        texts = {
            arm["text"].replace(f"{arm['first_name']} {arm['surname']}", "", 1)
            .replace(arm["gender"].capitalize(), "", 1 if show else 0)
            for arm in (favored, other)
        }  # fmt: skip
        assert len(texts) == 1
        rest = set(COLUMNS) - {"document_id", "side", "race", "gender", "first_name", "surname",
                               "content_key", "text"}  # fmt: skip
        assert {k: favored[k] for k in rest} == {k: other[k] for k in rest}
    # One profile in every contrast, another for each pair_id.
    assert all(len(texts) == 1 for texts in same.values())
    assert len(set.union(*same.values())) == per


def test_whoever_stands_in_two_contrasts_is_one_person(rows) -> None:
    """So the white woman of the race pair and of the gender pair is asked about once."""
    people = defaultdict(set)
    for row in rows:
        if row["kind"] == "real":
            at = (row["posting_id"], row["pair_id"], row["race"], row["gender"])
            people[at].add((row["prompt_key"], row["content_key"]))
    assert {len(texts) for texts in people.values()} == {1}
    assert len(people) == 200 * 4 * 4


@pytest.mark.parametrize("names", ["repeat", "distinct"])
def test_names_are_uniform_over_their_group(names: str) -> None:
    rows = documents(inputs.config(f"pairs.names={names}", "pairs.placebo=1"), 500)
    for kind, each in (("real", 2000), ("placebo", 1000)):
        for group, pool in inputs.FIRST.items():
            mine = [r for r in rows if r["kind"] == kind and (r["race"], r["gender"]) == group]
            if kind == "real":
                mine = [r for r in mine if r["contrast"] == "gender"]
            counts = Counter(r["first_name"] for r in mine)
            n = len(mine)
            assert n == each or (kind == "placebo" and abs(n / 1000 - 1) < 0.2)
            for first in pool:
                assert abs(counts[first] - n / 8) < 5 * (n * 7 / 64) ** 0.5
    # A placebo's sides are exchangeable: of the pairs of two names, half have each first.
    pairs = [p for k, p in by_pair(rows).items() if k[2] == "placebo"]
    ordered = sum(p["favored"]["first_name"] < p["other"]["first_name"] for p in pairs)
    assert abs(ordered - len(pairs) / 2) < 5 * (len(pairs) / 4) ** 0.5


def test_distinct_names_come_once_in_a_posting_and_contrast() -> None:
    for names, most in (("distinct", 1), ("repeat", 4)):
        rows = documents(inputs.config(f"pairs.names={names}", "pairs.placebo=1"), 200)
        counts = Counter((r["posting_id"], r["contrast"], r["first_name"]) for r in rows)
        assert (max(counts.values()) == 1) == (most == 1)


def test_groups_may_share_their_first_names() -> None:
    """First names of the SSA tell no race: surnames do."""
    shared = {group: inputs.FIRST["white", group[1]] for group in inputs.FIRST}
    for names in ("distinct", "repeat"):
        cfg = inputs.config(f"pairs.names={names}", "pairs.per_posting=3", "pairs.placebo=1")
        same = inputs.pools(first=shared)
        check_pools(same, cfg.contrasts, cfg.pairs)
        rows = documents(cfg, 100, same)
        for pair in by_pair(rows).values():
            people = [(a["first_name"], a["surname"]) for a in pair.values()]
            assert len(set(people)) == 2
        counts = Counter((r["posting_id"], r["contrast"], r["first_name"]) for r in rows)
        assert (max(counts.values()) == 1) == (names == "distinct")
    # The two arms have one race here, so one surname would make them one name.
    one = {**shared, ("white", "male"): ("Jill", "Kim"), ("white", "female"): ("Jill", "Kim")}
    rows = documents(inputs.config("pairs.placebo=0"), 100, inputs.pools(first=one))
    for pair in by_pair(rows).values():
        assert pair["favored"]["text"] != pair["other"]["text"]


def test_surnames_follow_the_first_name_or_the_profile() -> None:
    def bearers(surname_of: str) -> dict[str, Counter]:
        found: dict[str, Counter] = defaultdict(Counter)
        for row in documents(inputs.config("pairs.placebo=1"), 150, inputs.pools(surname_of)):
            found[row["first_name"]][row["surname"]] += 1
        return found

    assert {len(c) for c in bearers("name").values()} == {1}
    drawn = bearers("pair")
    assert {len(c) for c in drawn.values()} == {3}
    white = sum((c for n, c in drawn.items() if n in inputs.FIRST["white", "male"]), Counter())
    total = sum(white.values())
    assert abs(white["O'Brien"] / total - 0.5) < 0.1  # weights 1, 1, 2


def test_two_factors_at_once() -> None:
    rows = documents(inputs.config(f"contrasts={BOTH}", "pairs.placebo=1"), 20)
    real = [r for r in rows if r["kind"] == "real"]
    assert {r["within"] for r in real} == {"none"}
    assert {(r["side"], r["race"], r["gender"]) for r in real} == {
        ("favored", "white", "male"), ("other", "black", "female"),
    }  # fmt: skip
    assert {(r["race"], r["gender"]) for r in rows if r["kind"] == "placebo"} == {
        ("white", "male"), ("black", "female"),
    }  # fmt: skip


def test_too_few_names_for_distinct_is_said_before_work() -> None:
    def check(*overrides: str) -> None:
        cfg = inputs.config(*overrides)
        check_pools(inputs.pools(), cfg.contrasts, cfg.pairs)

    check("pairs.per_posting=8", "pairs.placebo=0", "pairs.names=distinct")
    check("pairs.per_posting=100")
    with pytest.raises(ConfigError) as caught:
        check("pairs.per_posting=9", "pairs.placebo=0", "pairs.names=distinct")
    assert str(caught.value) == (
        "pairs.names: distinct needs 9 first names of black female for each posting (contrast "
        "race), and there are 8. Give more names, lower pairs.per_posting, or write repeat."
    )
    with pytest.raises(ConfigError, match=r"needs 10 .*contrast placebo"):
        check("pairs.per_posting=5", "pairs.placebo=0.1", "pairs.names=distinct")


def test_a_posting_is_labelled_lines_of_what_it_tells() -> None:
    fields = inputs.config().pairs.posting_fields
    assert posting_text(inputs.posting(0), fields) == (
        "Company: Company 0\nTitle: Office Assistant\nLocation: Boston, MA\n"
        "Date posted: 2026-03-01\nIndustry: Financial Services\n"
        "Description:\nAnswers the phone.\n\nKeeps {files}."
    )
    bare = inputs.posting(4, company=None, title="A  \n B ", metro=None, state="CO", industry=" ")
    assert posting_text(bare, fields) == "Title: A B\nLocation: CO\nDate posted: 2026-03-01"
    assert posting_text(bare, ("posted", "title")) == "Date posted: 2026-03-01\nTitle: A B"
    with pytest.raises(InputError, match=r"posting 0{31}4 tells none of company, industry"):
        posting_text(bare, ("company", "industry"))
