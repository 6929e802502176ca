"""`fairscreen analyze paths`: the exact binary truth through files, and bad input with messages."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairscreen.analyze import ROW, analyze_paths, read_table
from fairscreen.commands import analyze as command
from fairscreen.errors import InputError

TRUTH = {
    "TE": 0.2397091, "NDE": 0.2722644, "NIE": -0.0325553, "BIE": -0.1330982, "RIE": 0.1005429,
}  # fmt: skip
ROLES = {
    "x": "sex",
    "x1": "male",
    "x0": "female",
    "z": ["z"],
    "r": ["w"],
    "b": ["v"],
    "y": "y",
    "learner": "saturated",
}


def binary_model(n: int, seed: int) -> pd.DataFrame:
    """The all-binary structural model whose effects are known exactly (TRUTH)."""
    rng = np.random.default_rng(seed)

    def draw(p):
        return (rng.random(n) < p).astype(int)

    z = draw(norm.cdf(np.full(n, -0.2)))
    x = draw(0.35 + 0.3 * z)
    w = draw(norm.cdf(x - z - 0.8))
    v = draw(norm.cdf(x - z + w - 0.8))
    y = draw(norm.cdf(x - z + 2 * (w - v) - 0.5))
    sex = np.where(x == 1, "male", "female")
    return pd.DataFrame({"sex": sex, "z": z, "w": w, "v": v, "y": y})


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return binary_model(6_000, 31)


@pytest.fixture(scope="module")
def from_csv(people, tmp_path_factory):
    file = tmp_path_factory.mktemp("paths") / "scores.csv"
    people.to_csv(file, index=False)
    return file, analyze_paths(read_table(file), **ROLES, repeats=2)


def by_effect(result, method="eif"):
    return {r["estimand"]: r for r in result["rows"] if r["method"] == method}


def test_effects_are_the_truth_of_the_model(from_csv) -> None:
    found = by_effect(from_csv[1])
    assert set(found) == set(TRUTH)
    for name, truth in TRUTH.items():
        row = found[name]
        assert row["status"] == "ok"
        assert abs(row["estimate"] - truth) < 4 * row["std_error"]
        assert row["std_error"] < 0.015
        assert row["favors_when_positive"] == "male"
    nie = found["BIE"]["estimate"] + found["RIE"]["estimate"]
    assert found["NIE"]["estimate"] == pytest.approx(nie)


def test_rows_have_the_columns_of_estimates_and_families_inside(from_csv) -> None:
    result = from_csv[1]
    assert result["excluded"] == {}
    for row in result["rows"]:
        assert tuple(row) == ROW
        if row["method"] == "eif":
            assert row["family"] == (
                "TE NIE" if row["estimand"] in ("TE", "NIE") else "NDE BIE RIE"
            )
            assert row["p_value"] <= row["p_bh"] <= row["p_holm"]
            assert row["p_maxt"] > 0
        else:
            assert row["family"] is row["p_holm"] is row["p_maxt"] is None
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("suffix", ["parquet", "dta", "xlsx", "tsv"])
def test_other_formats_give_the_same_numbers(people, from_csv, tmp_path, suffix) -> None:
    part = people.head(900)
    file, plain = tmp_path / f"scores.{suffix}", tmp_path / "scores.csv"
    part.to_csv(plain, index=False)
    if suffix == "parquet":
        part.to_parquet(file)
    elif suffix == "dta":
        part.to_stata(file, write_index=False)
    elif suffix == "xlsx":
        part.to_excel(file, index=False)
    else:
        part.to_csv(file, index=False, sep="\t")
    options = {**ROLES, "repeats": 1, "bootstrap_draws": 20}
    assert analyze_paths(read_table(file), **options) == analyze_paths(read_table(plain), **options)


def test_rows_left_out_are_counted_by_reason(people, tmp_path) -> None:
    text = people.head(1_500).astype(object)
    text.loc[0:2, "y"] = ""
    text.loc[3, "z"] = ""
    text.loc[4:15, "sex"] = "not stated"
    text.loc[16, "sex"] = ""
    file = tmp_path / "holes.csv"
    text.to_csv(file, index=False)
    result = analyze_paths(read_table(file), **ROLES, repeats=1, bootstrap_draws=0)
    assert result["excluded"] == {
        "missing_x": 1, "missing_y": 3, "missing_z": 1, "other_group": 12
    }  # fmt: skip
    assert by_effect(result)["TE"]["n"] == 1_495  # the 12 stay in the population of Z
    assert any(
        n.startswith("12 rows of other groups than male and female") for n in result["notes"]
    )


def test_text_is_compared_exactly_and_numbers_as_numbers(people, tmp_path) -> None:
    coded = people.head(800).assign(sex=lambda d: np.where(d["sex"] == "male", 1.0, 2.0))
    file, plain = tmp_path / "coded.parquet", tmp_path / "coded.csv"
    coded.to_parquet(file)
    coded.to_csv(plain, index=False)  # holds 1.0 and 2.0
    options = {**ROLES, "repeats": 1, "bootstrap_draws": 0}
    typed = analyze_paths(read_table(file), **{**options, "x1": "1", "x0": "2.0"})
    assert by_effect(typed)["TE"]["status"] == "ok"
    text = analyze_paths(read_table(plain), **{**options, "x1": "1.0", "x0": "2.0"})
    assert by_effect(text)["TE"]["estimate"] == by_effect(typed)["TE"]["estimate"]
    with pytest.raises(InputError, match=r"no row has the value '1'\. Values are: '.\.0', '.\.0'"):
        analyze_paths(read_table(plain), **{**options, "x1": "1", "x0": "2.0"})


def test_numbers_with_many_values_are_binned_and_the_effect_said(people) -> None:
    rng = np.random.default_rng(33)
    frame = people.head(2_000).assign(years=lambda d: rng.gamma(2 + d["v"], 3))
    options = {**ROLES, "b": ["years"], "repeats": 1, "bootstrap_draws": 0, "bins": 4}
    result = analyze_paths(frame, **options)
    cuts = np.quantile(frame["years"], [0.25, 0.5, 0.75])
    listed = ", ".join(f"{c:g}" for c in cuts)
    assert (
        "Numbers with more than 20 distinct values enter as smooth curves, and as bins that tell "
        f"what the curves miss, cut at quantiles: years at {listed}." in result["notes"]
    )
    assert any(
        n.startswith("With 8 bins instead of 4 effects move by: TE") for n in result["notes"]
    )
    finer = by_effect(result, "eif_bins_8")
    assert finer["TE"]["estimate"] != by_effect(result)["TE"]["estimate"]
    assert finer["TE"]["family"] is None


def test_trees_take_numbers_without_bins(people) -> None:
    frame = people.head(200).assign(years=lambda d: np.arange(200) * 0.37 % 11)
    options = {**ROLES, "z": ["years"], "repeats": 1, "bootstrap_draws": 0, "learner": "xgboost"}
    result = analyze_paths(frame, **options, folds=2, bins=3)
    assert result["notes"][0] == (
        "Numbers with more than 20 distinct values enter the trees as they are, without bins: "
        "years."
    )
    assert "eif_bins_6" not in {r["method"] for r in result["rows"]}


def test_copies_in_clusters_change_no_estimate_and_hardly_an_error(people) -> None:
    frame = people.head(1_000).assign(person=lambda d: [f"p{i}" for i in range(len(d))])
    options = {**ROLES, "cluster": "person", "repeats": 1, "bootstrap_draws": 0}
    once = by_effect(analyze_paths(frame, **options))["TE"]
    copies = pd.concat([frame, frame], ignore_index=True)
    twice = by_effect(analyze_paths(copies, **options))["TE"]
    assert twice["estimate"] == pytest.approx(once["estimate"], abs=0.2 * once["std_error"])
    assert twice["std_error"] == pytest.approx(once["std_error"], rel=0.05)


def test_a_margin_adds_equivalence_tests(people) -> None:
    frame = people.head(1_500)
    result = analyze_paths(frame, **ROLES, repeats=1, bootstrap_draws=0, margin=0.5)
    tests, effects = by_effect(result, "tost"), by_effect(result)
    for name, row in tests.items():
        assert row["p_value"] < 0.05  # all effects are inside half a point
        assert effects[name]["ci_low"] < row["ci_low"] < row["ci_high"] < effects[name]["ci_high"]


BAD = {
    "no column": (
        {"y": "score"}, "",
        "t.csv, 'score': is no column. Columns: 'sex', 'z', 'w', 'v', 'y'.",
    ),
    "two roles": (
        {"b": ["z"]}, "",
        "t.csv, z: is given as --z and --b. Give every column one role.",
    ),
    "twice in one role": (
        {"z": ["z", "z"]}, "",
        "t.csv, z: is given as --z twice. Give every column one role.",
    ),
    "same group": (
        {"x0": "male"}, "",
        "--x1, --x0: are both 'male'. Give two values of the attribute.",
    ),
    "no mediator": (
        {"r": [], "b": []}, "",
        "--r, --b: no mediator is given. Give at least one column.",
    ),
    "empty group": (
        {"x0": "women"}, "",
        "t.csv, sex: no row has the value 'women'. Values are: 'male', 'female'.",
    ),
    "no number": (
        {}, "male,0,1,0,high\n",
        "t.csv, line 6, y: 'high' is no number. "
        "Correct it; where the value is missing, leave the cell empty.",
    ),
    "nan as text": (
        {}, "male,0,1,0,nan\n",
        "t.csv, line 6, y: 'nan' is no number. "
        "Correct it; where the value is missing, leave the cell empty.",
    ),
    "negative weight": (
        {"b": [], "weight": "v"}, "male,0,1,-2,1\n",
        "t.csv, line 6, v: -2 is below 0. Weights are above 0.",
    ),
    "bad margin": (
        {"margin": 0.0}, "",
        "--margin: 0 is no margin. Give points of score above 0.",
    ),
    "one fold": ({"folds": 1}, "", "--folds: 1 is too few. Give 2 or more."),
    "ragged": (
        {}, "male,0,1\n",
        "t.csv, line 6: has 3 fields where the header has 5. "
        "Correct the line, or quote fields that hold the delimiter.",
    ),
}  # fmt: skip
START = "sex,z,w,v,y\nmale,0,1,1,1\nfemale,1,0,0,0\nmale,1,1,0,1\nfemale,0,0,0,0\n"


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_place_and_remedy(case, tmp_path, monkeypatch) -> None:
    change, line, message = BAD[case]
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(START + line, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        analyze_paths(read_table("t.csv"), **{**ROLES, **change}, where="t.csv")
    assert str(caught.value) == message


BAD_FILES = {
    "t.csv": (b"sex,y\n\xff\xfe,1\n", "t.csv: is not UTF-8 text. Save it as CSV in UTF-8."),
    "h.csv": (b"sex,y\n", "h.csv: holds no rows. Give a file with one row per answer."),
    "d.csv": (b"y,y\n1,2\n", "d.csv, y: is the name of two columns. Rename one."),
    "t.sav": (
        b"$FL2",
        "t.sav: files ending in .sav are not read. Give CSV (.csv, .tsv, .txt), "
        "parquet (.parquet), Stata (.dta), Excel (.xlsx).",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_cannot_be_read(name, tmp_path, monkeypatch) -> None:
    content, message = BAD_FILES[name]
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(name)
    assert str(caught.value) == message


@pytest.mark.parametrize("suffix", [".parquet", ".dta", ".xlsx"])
def test_a_damaged_file_is_one_sentence(suffix, tmp_path) -> None:
    file = tmp_path / f"broken{suffix}"
    file.write_bytes(b"not what the name says")
    with pytest.raises(InputError, match=rf"is no {suffix} file that can be read") as caught:
        read_table(file)
    assert str(caught.value).endswith("Save it anew, or as CSV.")


def test_a_semicolon_file_with_a_byte_order_mark_is_read(tmp_path) -> None:
    file = tmp_path / "excel.csv"
    file.write_text('\ufeffname;y\n"O;Neil\nJr";2\nNULL;3\n', encoding="utf-8")
    frame = read_table(file)
    assert frame.to_dict("list") == {"name": ["O;Neil\nJr", "NULL"], "y": ["2", "3"]}
    assert list(frame.index) == [3, 4]  # physical lines


def run_command(capsys, *argv: str) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    args = parser.parse_args(["analyze", "paths", *argv])
    code = args.run(args)
    out = capsys.readouterr()
    return code, out.out, out.err


def test_a_confounder_adds_bounds_and_robustness_values(from_csv) -> None:
    file, plain = from_csv
    result = analyze_paths(
        read_table(file), **ROLES, repeats=2, bootstrap_draws=0, confounder=(0.05, 0.05)
    )
    rows = {(r["method"], r["estimand"]): r for r in result["rows"]}
    for name, effect in by_effect(plain).items():
        bound, strength = rows["confounder_bounds", name], rows["robustness_value", name]
        assert bound["estimate"] == pytest.approx(effect["estimate"])
        assert bound["ci_low"] < effect["ci_low"] < effect["ci_high"] < bound["ci_high"]
        assert 0 <= strength["ci_low"] <= strength["estimate"] <= 1
        assert (bound["p_value"], strength["favors_when_positive"]) == (None, None)
    with pytest.raises(InputError, match="confounder: strengths 2 and 0"):
        analyze_paths(read_table(file), **ROLES, repeats=1, confounder=(2.0, 0.0))


def test_the_command_prints_json_only_on_demand(from_csv, capsys, tmp_path) -> None:
    options = (
        "--x sex --x1 male --x0 female --z z --r w --b v --y y --repeats 2 --learner saturated"
    )
    argv = ["--input", str(from_csv[0]), *options.split()]
    code, out, err = run_command(capsys, *argv, "--json", "-")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(from_csv[1]))
    assert "reading" in err
    file = tmp_path / "result.json"
    code, out, err = run_command(capsys, *argv, "--json", str(file))
    assert json.loads(file.read_text()) == json.loads(json.dumps(from_csv[1]))
    assert "A positive effect favors male." in out
    for name in TRUTH:
        assert name in out


def test_small_groups_are_flagged_as_in_an_audit(people) -> None:
    women = people[people["sex"] == "female"].head(29)
    few = pd.concat([women, people[people["sex"] == "male"].head(400)])
    rows = analyze_paths(few, **ROLES, repeats=1, folds=2)["rows"]
    ratio = next(r for r in rows if r["method"] == "four_fifths")
    assert ratio["status"] == "flagged"
    assert ratio["reason"].endswith("fewer_than_30_in_a_group")
