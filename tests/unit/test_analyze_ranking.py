"""`fairscreen analyze ranking` on long files: the estimators' numbers, families, bad input."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairscreen.analyze_ranking import analyze_ranking
from fairscreen.cli import main
from fairscreen.commands import analyze as command
from fairscreen.errors import InputError
from fairscreen.estimators.multiplicity import holm
from fairscreen.estimators.ranking import RankingOptions, ranking
from fairscreen.estimators.ranks import RankSets
from fairscreen.input_files import read_table
from fairscreen.result_rows import ROW

ROLES = {
    "item": ["resume"], "version": "gender", "favored": "Male", "other": "Female",
    "neutral": "none", "score": "score",
}  # fmt: skip
FAST = {"draws": 999, "swaps": 199}


def answers(seed: int = 1, resumes: int = 45, runs: int = 1) -> pd.DataFrame:
    """Resumes of three industries at two information levels, in three versions."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(resumes):
        quality = rng.normal(6, 1)
        for share in (0.4, 1.0):
            for gender, lean in (("Male", 0.0), ("Female", 0.5), ("none", 0.0)):
                for _ in range(runs):
                    score = int(np.clip(np.rint(quality + lean + rng.normal(0, 0.7)), 0, 10))
                    industry = ("care", "finance", "construction")[i % 3]
                    words = int(share * (200 + 7 * i))
                    rows.append((f"r{i}", industry, share, words, gender, score))
    return pd.DataFrame(rows, columns=["resume", "industry", "share", "words", "gender", "score"])


def find(result, estimand="rank_gap", method="sign_flip_exact") -> dict:
    return {
        r["slice"]: r for r in result["rows"] if (r["estimand"], r["method"]) == (estimand, method)
    }


@pytest.fixture(scope="module")
def result() -> dict:
    return analyze_ranking(
        answers(), **ROLES, words="words", slices=["industry", "share"], margin=0.5, **FAST
    )


def test_slices_are_those_of_each_column_their_combinations_and_all(result) -> None:
    found = list(find(result))
    plain = [name for name in found if "quality" not in name]
    assert plain == [
        "all", "industry=care", "industry=construction", "industry=finance", "share=0.4",
        "share=1", *(f"industry={i}; share={s}" for i in ("care", "construction", "finance")
                     for s in ("0.4", "1")),
    ]  # fmt: skip
    assert {f"{n}; quality={q}".removeprefix("all; ") for n in plain
            for q in ("low", "middle", "high")} == set(found) - set(plain)  # fmt: skip


def test_a_slice_has_the_numbers_of_the_estimator(result) -> None:
    frame = answers()
    mine = frame[frame["industry"] == "finance"]
    wide = mine.pivot_table(index=["resume", "share", "words"], columns="gender", values="score")
    wide = wide.reset_index().sort_values(["resume", "share"])
    data = RankSets(
        wide[["Male", "Female", "none"]].to_numpy(float), pd.factorize(wide["resume"])[0],
        wide["words"].to_numpy(float),
    )  # fmt: skip
    direct = ranking(data, RankingOptions(published=False, swaps=199, margin=0.5))
    rows = {(r["estimand"], r["method"]): r for r in result["rows"]
            if r["slice"] == "industry=finance"}  # fmt: skip
    for row in direct.rows:
        got = rows[row.estimand, row.method]
        names = ["estimate", "std_error"]
        if row.method != "wild_cluster_bootstrap":  # drawn with the slice's own seed
            names += ["ci_low", "ci_high"]
            names += ["p_value"] if row.method != "paired_swap" else []
        for name in names:
            want = getattr(row, name)
            assert got[name] == (None if want is None else pytest.approx(want, rel=1e-9)), row
        assert (got["n"], got["status"], got["reason"]) == (row.n, row.status, row.reason)
    assert ("information_slope", "wild_cluster_bootstrap") in rows


def test_rows_have_the_columns_and_families_hold_one_kind_of_slice(result) -> None:
    json.dumps(result, allow_nan=False)
    assert all(tuple(r) == ROW for r in result["rows"])
    family = [r for r in result["rows"] if r["family"] == "rank_gap by industry"]
    assert [r["slice"] for r in family] == [
        "industry=care", "industry=construction", "industry=finance"
    ]  # fmt: skip
    assert {r["method"] for r in family} == {"sign_flip_exact"}
    want = holm(np.array([r["p_value"] for r in family]))
    assert [r["p_holm"] for r in family] == pytest.approx(want.tolist())
    assert all(r["p_value"] <= r["p_bh"] <= r["p_holm"] for r in family)
    assert find(result, method="pooled_permutation_published")["all"]["family"] is None
    tests = [r for r in result["rows"] if r["family"] is not None]
    assert any(n.startswith(f"Bonferroni over the {len(tests)} tests") for n in result["notes"])
    below = [(r["estimand"], r["slice"]) for r in tests if r["p_value"] <= 0.05 / len(tests)]
    assert result["bonferroni"] == {
        "tests": len(tests), "threshold": 0.05 / len(tests), "below": below
    }  # fmt: skip
    assert below


def test_whom_a_positive_value_favors(result) -> None:
    favors = {r["estimand"]: r["favors_when_positive"] for r in result["rows"]}
    assert favors["rank_gap"] == favors["information_slope"] == "Female"
    assert favors["score_gap"] == "Male"
    assert favors["impact_ratio"] == "Male (above 1)"
    assert favors["spread_ratio"] is None
    assert find(result)["all"]["estimate"] > 0 > find(result, "score_gap")["all"]["estimate"]


def test_the_order_of_rows_moves_nothing_but_draws_stay(result) -> None:
    mixed = answers().sample(frac=1, random_state=3).reset_index(drop=True)
    again = analyze_ranking(
        mixed, **ROLES, words="words", slices=["industry", "share"], margin=0.5, **FAST
    )
    assert again == result


def test_repeated_answers_are_averaged_before_ranking() -> None:
    frame = answers(runs=3)
    got = analyze_ranking(frame, **ROLES, slices=["share"], **FAST)
    means = frame.groupby(["resume", "industry", "share", "words", "gender"], as_index=False).mean()
    direct = analyze_ranking(means, **ROLES, slices=["share"], **FAST)
    one, two = find(got)["all"], find(direct)["all"]
    assert (one["estimate"], one["p_value"]) == (two["estimate"], two["p_value"])
    within = find(got, "within_resume_variance", "replicates")["all"]["estimate"]
    both = frame[frame["gender"] != "none"].groupby(["resume", "share", "gender"])["score"].var()
    assert within == pytest.approx(both.mean())
    assert any("up to 3 times" in n for n in got["notes"])


def test_incomplete_sets_and_rows_left_out_are_counted() -> None:
    frame = answers().astype({"score": object, "industry": object})
    frame.loc[0, "score"] = None  # r0, 0.4, Male
    frame = frame.drop(index=[9])  # r1, 1.0, Male
    frame.loc[[12, 13], "gender"] = ["Other", None]  # r2, 0.4: Male and Female
    frame.loc[18, "industry"] = None
    got = analyze_ranking(frame, **ROLES, slices=["industry"], words="words", **FAST)
    assert got["excluded"] == {
        "incomplete_set": 4, "missing_score": 1, "missing_slice": 1, "missing_version": 1,
        "other_version": 1, "set_lacks_Female": 1, "set_lacks_Male": 4,
    }  # fmt: skip
    assert find(got)["all"]["n"] == 86


def test_an_empty_cell_may_be_the_neutral_version() -> None:
    frame = answers().replace({"gender": {"none": None}})
    one = analyze_ranking(frame, **{**ROLES, "neutral": ""}, **FAST)
    two = analyze_ranking(answers(), **ROLES, **FAST)
    assert one["rows"] == two["rows"]


def test_without_neutral_only_both_are_ranked() -> None:
    roles = {**ROLES, "neutral": None}
    got = analyze_ranking(answers(), **roles, slices=["share"], **FAST)
    assert got["excluded"] == {"other_version": 90}
    assert set(find(got)) == {"all", "share=0.4", "share=1"}  # no terciles
    assert find(got, "mean_rank_ratio", "published_code")["all"]["estimate"] == 1.0


def test_gender_by_race_is_ranked_together() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"r{i}", g, race, rng.normal(50 + 4 * (g == "Female") * (race == "black"), 3))
        for i in range(60) for race in ("black", "white") for g in ("Male", "Female")
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["resume", "gender", "race", "score"])
    got = analyze_ranking(frame, **{**ROLES, "neutral": None}, cross="race", **FAST)
    gaps = find(got)
    assert gaps["race=black"]["p_value"] < 1e-4 < gaps["race=white"]["p_value"]
    mean = (gaps["race=black"]["estimate"] + gaps["race=white"]["estimate"]) / 2
    assert gaps["all"]["estimate"] == pytest.approx(mean)
    difference = find(got, "rank_gap_difference")["race=black minus white"]
    assert difference["estimate"] == pytest.approx(
        gaps["race=black"]["estimate"] - gaps["race=white"]["estimate"]
    )
    assert difference["p_value"] < 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": "points"}, "f.csv, 'points': is no column"),
        ({"item": ["gender"]}, "f.csv, gender: is given as --version and --item"),
        ({"favored": "male"}, "f.csv, gender: no row has the value 'male'. Values are: 'Male'"),
        ({"other": "Male"}, "name one version twice"),
        ({"neutral": "Female"}, "name one version twice"),
        ({"level": 1.0}, "--level: 1 is no level"),
        (
            {"level": 0.9999999999999999},
            "--level: 0.9999999999999999 is above 0.9999, the highest "
            "level of an interval. Give a lower one, such as 0.95.",
        ),
        ({"margin": 0.0}, "--margin: 0 is no margin"),
        ({"draws": 3}, "--draws: 3 is too few"),
        ({"words": "share_less"}, "row 0, share_less: 0 is not above 0"),
        ({"score": "industry"}, "row 0, industry: 'care' is no number"),
        ({"slices": ["resume", "words", "score"]}, "score: is given as --score and --slice"),
        ({"cross": "industry"}, "no rank set is complete"),
        ({"item": ["row"]}, "no rank set is complete"),
    ],
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    frame = answers().assign(share_less=0, row=range(270))
    with pytest.raises(InputError) as error:
        analyze_ranking(frame, **{**ROLES, **FAST, **change}, where="f.csv")
    assert message in str(error.value)


def test_words_that_differ_between_versions_are_explained() -> None:
    frame = answers()
    frame["words"] += frame["gender"].map({"Male": 2, "Female": 2, "none": 0})
    with pytest.raises(InputError, match="or the words differ between the versions"):
        analyze_ranking(frame, **ROLES, words="words", **FAST)


def test_words_may_differ_where_a_slice_names_the_level() -> None:
    frame = answers()
    own = {**ROLES, "words": "words", "slices": ["share"]}
    same = analyze_ranking(frame, **own, **FAST)
    frame["words"] += frame["gender"].map({"Male": 2, "Female": 2, "none": -4})  # mean: the same
    assert analyze_ranking(frame, **own, **FAST) == same
    key = "information_slope", "fixed_effects_cluster"
    assert find(same, *key)["all"]["n"] == 90
    assert find(same, *key)["share=1"]["reason"].startswith("one_level")


def test_too_many_slices_are_refused() -> None:
    frame = answers(resumes=400)
    frame = frame.assign(a=frame["resume"], b=frame["resume"], c=frame["resume"])
    roles = {**ROLES, "slices": ["a", "b", "c"]}
    with pytest.raises(InputError, match="--slice: makes more than 2,000 slices"):
        analyze_ranking(frame, **roles, **FAST)


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    args = parser.parse_args(["analyze", "ranking", *argv])
    return args.run(args)


def test_the_command_prints_and_writes_json(tmp_path: Path, capsys) -> None:
    file, out = tmp_path / "answers.csv", tmp_path / "out.json"
    answers().to_csv(file, index=False)
    options = [
        "--input", str(file), "--item", "resume", "--version", "gender", "--favored", "Male",
        "--other", "Female", "--neutral", "none", "--score", "score", "--slice", "industry",
        "--draws", "999", "--swaps", "199",
    ]  # fmt: skip
    assert run(*options, "--json", str(out)) == 0
    text = capsys.readouterr().out
    assert "A positive gap in ranks favors Female" in text
    assert "sign_flip_exact" in text
    written = json.loads(out.read_text())
    direct = analyze_ranking(read_table(file), **ROLES, slices=["industry"], **FAST)
    assert written["rows"] == json.loads(json.dumps(direct["rows"]))
    assert run(*options, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == written


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--input", "f.csv", "--published", "g.csv"], "--input, --published: give one of them."),
        ([], "--input, --published: give one of them."),
        (["--input", "f.csv"], "--item: is missing."),
        (["--published", "g.csv", "--words", "w"], "--words: is told by the layout"),
        (["--input", "none.csv", "--item", "i", "--version", "v", "--favored", "a", "--other", "b",
          "--score", "s"], "none.csv: no such file."),
        (["--published", "g.csv", "--export", "out.txt"], "--export out.txt: is no .csv or"),
    ],
)  # fmt: skip
def test_bad_commands_end_with_two_and_one_line(argv, message, capsys) -> None:
    assert main(["analyze", "ranking", *argv]) == 2
    lines = [x for x in capsys.readouterr().err.splitlines() if x.startswith("error:")]
    assert len(lines) == 1
    assert message in lines[0]
