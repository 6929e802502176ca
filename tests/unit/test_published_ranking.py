"""JobFair's result layout: read, every mismatch a row, analyzed, written and read again."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairscreen.analyze_ranking import analyze_ranking
from fairscreen.cli import main
from fairscreen.errors import InputError
from fairscreen.published_ranking import COLUMNS, VERSIONS, analyze, from_answers, read, write

FAST = {"draws": 999, "swaps": 199}
MODELS, INDUSTRIES, SHARES = ("gpt", "llama"), ("FINANCE", "HEALTHCARE"), (0.1, 0.4, 0.6, 1.0)


def layout(runs: int = 1, resumes: int = 6) -> pd.DataFrame:
    """A file as the authors' code writes it: lists of whole scores, means, pandas ranks."""
    rng = np.random.default_rng(7)
    rows = []
    for model in MODELS:
        for k in range(resumes * len(INDUSTRIES)):
            text = " ".join(f"word{j}" for j in range(40 + k))
            for share in SHARES:
                sent = " ".join(text.split()[: max(1, round(share * (40 + k)))])
                row = {
                    "Industry": INDUSTRIES[k % 2], "Role": "CLERK", "Original_Resume": text,
                    "Preprocessed_Resume": sent, "proportion": share, "model": model,
                    "Resume_len": len(sent.split()),
                }  # fmt: skip
                for version in VERSIONS:
                    scores = rng.integers(5, 9, runs).tolist()
                    row[f"{version}_Scores"] = str(scores)
                    row[f"{version}_Avg_Score"] = sum(scores) / runs
                rows.append(row)
    frame = pd.DataFrame(rows)
    means = frame[[f"{v}_Avg_Score" for v in VERSIONS]]
    placed = means.rank(axis=1, ascending=False)
    for version in VERSIONS:
        frame[f"{version}_Rank"] = placed[f"{version}_Avg_Score"]
    return frame[list(COLUMNS)]


def saved(frame: pd.DataFrame, tmp_path: Path, name: str = "final_data.csv") -> Path:
    file = tmp_path / name
    frame.to_csv(file, index=False)
    return file


def test_a_right_file_has_no_mismatch_and_the_long_files_numbers(tmp_path) -> None:
    frame = layout(runs=2)
    got = analyze(read(saved(frame, tmp_path)), **FAST)
    assert got["mismatches"] == []
    assert got["excluded"] == {}
    assert got["notes"][0].startswith("Means, ranks and words of the file are those")
    long = pd.DataFrame(
        [
            {**row, "version": v, "score": s}
            for row in frame.to_dict("records")
            for v in VERSIONS
            for s in json.loads(row[f"{v}_Scores"])
        ]
    )
    direct = analyze_ranking(
        long, item=["Industry", "Original_Resume"], version="version", favored="Privilege",
        other="Protect", neutral="Neutral", score="score", words="Resume_len",
        slices=["model", "Industry"], **FAST,
    )  # fmt: skip
    strip = {"favors_when_positive"}
    one = [{k: v for k, v in r.items() if k not in strip} for r in got["rows"]]
    two = [{k: v for k, v in r.items() if k not in strip} for r in direct["rows"]]
    assert one == two
    assert {r["favors_when_positive"] for r in got["rows"] if r["estimand"] == "rank_gap"} == {
        "Female"
    }


def test_every_mismatch_is_a_row(tmp_path) -> None:
    frame = layout()
    frame.loc[0, "Privilege_Avg_Score"] += 1
    frame.loc[1, "Neutral_Rank"] = 9
    frame.loc[2, "Resume_len"] = len(frame.loc[2, "Original_Resume"].split())
    frame.loc[3, "Resume_len"] = 7
    frame.loc[4, ["Protect_Scores", "Protect_Avg_Score"]] = ["[-1]", -1.0]
    frame.loc[5, "Privilege_Scores"] = "[11]"
    frame.loc[6, ["model", "Original_Resume", "Industry", "proportion"]] = frame.loc[
        7, ["model", "Original_Resume", "Industry", "proportion"]
    ]
    published = read(saved(frame, tmp_path))
    found = {(m["row"], m["column"]): m for m in published.mismatches}
    assert found["line 2", "Privilege_Avg_Score"]["reason"] == "not_the_mean"
    recomputed = found["line 2", "Privilege_Avg_Score"]["recomputed"]
    assert recomputed == json.loads(frame.loc[0, "Privilege_Scores"])[0]
    assert found["line 3", "Neutral_Rank"]["published"] == 9
    assert found["line 4", "Resume_len"]["reason"] == "words_of_the_original"
    assert found["line 5", "Resume_len"]["reason"] == "not_the_words_sent"
    assert found["line 6", "Protect_Scores"]["reason"] == "failed_answer"
    assert found["line 6", "Protect_Avg_Score"]["recomputed"] is None
    for version in VERSIONS:  # the published ranks count -1 as a score
        assert found["line 6", f"{version}_Rank"]["reason"] == "incomplete_set"
    assert found["line 7", "Privilege_Scores"]["reason"] == "above_10"
    assert found["line 9", "Original_Resume"]["reason"] == "same_set_again"
    assert published.failed == 1
    lines = [int(m["row"].split()[1]) for m in published.mismatches]
    assert lines == sorted(lines)
    json.dumps(published.mismatches, allow_nan=False)
    got = analyze(published, **FAST)
    assert got["excluded"] == {
        "failed_answer": 1, "incomplete_set": 1, "set_lacks_Female": 1
    }  # fmt: skip
    assert "Resume_len words_of_the_original: 1" in got["notes"][0]


def test_written_and_read_again(tmp_path) -> None:
    frame = layout(runs=3)
    frame["Neutral_Rank"] = 1.0
    first = read(saved(frame, tmp_path))
    for name in ("again.csv", "again.parquet"):
        write(first.recomputed(), str(tmp_path / name))
        again = read(tmp_path / name)
        assert again.mismatches == []
        np.testing.assert_array_equal(again.means, first.means)
        assert again.answers == first.answers
        assert list(again.frame.columns) == list(COLUMNS)
        assert again.frame["Original_Resume"].tolist() == first.frame["Original_Resume"].tolist()


def test_answers_of_a_long_file_become_the_layout(tmp_path) -> None:
    frame = layout(runs=2)
    shared = [c for c in COLUMNS if not c.startswith(VERSIONS)]
    long = pd.DataFrame(
        [
            {**{name: row[name] for name in shared}, "version": v, "score": s}
            for row in frame.to_dict("records")
            for v in VERSIONS
            for s in json.loads(row[f"{v}_Scores"])
        ]
    )
    got = from_answers(
        long, item=["Industry", "Original_Resume"], version="version", favored="Privilege",
        other="Protect", neutral="Neutral", score="score", words="Resume_len",
        slices=["model", "proportion"], where="long",
    )  # fmt: skip
    for name in COLUMNS:
        if name.endswith("_Scores"):
            assert [json.loads(v) for v in got[name]] == [json.loads(v) for v in frame[name]]
        else:
            assert got[name].tolist() == frame[name].tolist()
    assert read(saved(got, tmp_path)).mismatches == []


@pytest.mark.parametrize(
    ("cell", "scores"),
    [("[8]", [8]), ("8", [8]), ("[8, 7.5]", [8, 7.5]), ("[8, None]", [8]), ("[nan]", []), ("", [])],
)
def test_lists_of_scores_are_read_as_they_are_written(tmp_path, cell, scores) -> None:
    frame = layout()
    frame.loc[0, "Neutral_Scores"] = cell
    assert read(saved(frame, tmp_path)).answers[2][0] == scores


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"drop": "Protect_Scores"}, "'Protect_Scores': is no column"),
        ({"Privilege_Scores": "[8, high]"}, "Privilege_Scores: '[8, high]' is no list of scores"),
        ({"Privilege_Scores": '{"a": 1}'}, "is no list of scores"),
        ({"Original_Resume": None}, "line 2, Original_Resume: is empty"),
        ({"Privilege_Rank": "first"}, "line 2, Privilege_Rank: 'first' is no number"),
    ],
)
def test_bad_files_are_named(tmp_path, change, message) -> None:
    frame = layout().astype(object)
    if "drop" in change:
        frame = frame.drop(columns=change["drop"])
    else:
        frame.loc[0, next(iter(change))] = next(iter(change.values()))
    with pytest.raises(InputError) as error:
        read(saved(frame, tmp_path))
    assert message in str(error.value)


def test_the_command(tmp_path, capsys) -> None:
    frame = layout()
    frame.loc[0, "Privilege_Rank"] = 3.5
    file, out, again = saved(frame, tmp_path), tmp_path / "r.json", tmp_path / "again.csv"
    argv = ["analyze", "ranking", "--published", str(file), "--draws", "999", "--swaps", "199"]
    assert main([*argv, "--json", str(out), "--export", str(again)]) == 0
    text = capsys.readouterr().out
    assert "mismatch: line 2, Privilege_Rank: 3.5, recomputed" in text
    result = json.loads(out.read_text())
    assert len(result["mismatches"]) == 1
    assert {"all", "model=gpt", "model=gpt; Industry=FINANCE"} <= {
        r["slice"] for r in result["rows"]
    }
    assert main([*argv[:3], str(again), *argv[4:], "--slice", "proportion", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["mismatches"] == []
    assert {"proportion=0.1", "proportion=1.0"} <= {r["slice"] for r in told["rows"]}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(("neutral", "words"), [("none", "words"), (None, None)])
def test_a_long_file_that_is_exported_gives_its_numbers_again(
    tmp_path, capsys, ending, neutral, words
) -> None:
    rng = np.random.default_rng(3)
    long = pd.DataFrame(
        [
            {"resume": f"r{i}", "year": 2020 + level, "words": 100 * (1 + level) + i, "gender": g,
             "score": int(rng.integers(1, 11))}
            for i in range(25) for level in (0, 1) for g in ("Male", "Female", "none")
        ]
    )  # fmt: skip
    long.to_csv(tmp_path / "long.csv", index=False)
    shared = ["--draws", "199", "--swaps", "99", "--favored", "Male", "--other", "Female"]
    out, target = tmp_path / "out.json", str(tmp_path / f"again.{ending}")
    roles = ["--item", "resume", "--version", "gender", "--score", "score", "--slice", "year"]
    roles += [] if words is None else ["--words", words]
    roles += [] if neutral is None else ["--neutral", neutral]
    told = []
    for given in (
        ["--input", str(tmp_path / "long.csv"), *roles, "--export", target],
        ["--published", target, "--slice", "year"],
    ):
        assert main(["analyze", "ranking", *given, *shared, "--json", str(out)]) == 0
        told.append(json.loads(out.read_text()))
    again = {(r["slice"], r["estimand"], r["method"]): r for r in told[1]["rows"]}
    assert told[1]["mismatches"] == []
    assert len(again) == len(told[0]["rows"])
    for row in told[0]["rows"]:
        same = again[row["slice"], row["estimand"], row["method"]]
        for name in ("estimate", "std_error", "ci_low", "n", "status"):
            assert same[name] == (
                pytest.approx(row[name]) if isinstance(row[name], float) else row[name]
            )
    assert any(n.startswith("Preprocessed_Resume holds no text") for n in told[1]["notes"])
