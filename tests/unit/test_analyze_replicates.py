"""`fairscreen analyze paths --replicate-weights`: numbers recomputed, columns found, bad input."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
import pytest

from fairscreen.analyze import ROW, analyze_paths, read_table
from fairscreen.commands import analyze as command
from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS

N, R, SEED = 1_500, 80, 7
ROLES = {
    "x": "sex", "x1": "1", "x0": "2", "z": ["age"], "r": ["name"], "b": ["school"], "y": "score",
    "learner": "glm", "repeats": 2, "folds": 4, "seed": SEED, "bootstrap_draws": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """As an ACS file with scores: PWGTP and PWGTP1 to PWGTP80, some of them 0 or negative."""
    draw = np.random.default_rng(21)
    sex, age = draw.integers(1, 3, N), draw.integers(0, 3, N)
    name = (draw.random(N) < 0.3 + 0.3 * (sex == 1)).astype(int)
    school = draw.binomial(2, 0.3 + 0.2 * (sex == 1) + 0.1 * name)
    score = 50 + 2 * (sex == 1) + age + 2 * name + 3 * school + draw.normal(0, 4, N)
    pwgtp = draw.integers(5, 200, N)
    replicates = np.rint(pwgtp[:, None] * draw.choice([-0.1, 0.3, 1.0, 1.7], (N, R)))
    columns = {f"PWGTP{k + 1}": replicates[:, k].astype(int) for k in range(R)}
    frame = {"sex": sex, "age": age, "name": name, "school": school, "score": score.round(2)}
    return pd.DataFrame({**frame, "PWGTP": pwgtp, **columns})


@pytest.fixture(scope="module")
def file(people, tmp_path_factory):
    found = tmp_path_factory.mktemp("replicates") / "scores.csv"
    people.to_csv(found, index=False)
    return found


@pytest.fixture(scope="module")
def result(file):
    return analyze_paths(read_table(file), **ROLES, weight="PWGTP", replicates=["PWGTP"])


def by_effect(result, method):
    return {r["estimand"]: r for r in result["rows"] if r["method"] == method}


def by_hand(people: pd.DataFrame, scale: float) -> dict[str, tuple[float, float]]:
    """Estimate and error from the influence of each row, replicate by replicate."""
    fold = assign_folds(SEED, [str(i) for i in range(len(people))], 4, 2)
    data = PathData.from_rows(
        x=(people["sex"] == 1).astype(int), z=people["age"], r=people["name"], b=people["school"],
        y=people["score"], w=people["PWGTP"].astype(float), fold=fold, cells=False,
    )  # fmt: skip
    got = path_effects(data, PathOptions(learner="glm", bootstrap_draws=0))
    assert got.influence is not None
    assert got.c is not None
    phi = got.influence + got.c * people["score"].to_numpy()[:, None]
    theta = np.average(phi, axis=0, weights=people["PWGTP"])
    squares = np.zeros(5)
    for k in range(1, R + 1):
        v = people[f"PWGTP{k}"].to_numpy()
        squares += (v @ phi / v.sum() - theta) ** 2
    return dict(zip(EFFECTS, zip(theta, np.sqrt(scale * squares), strict=True), strict=True))


def test_errors_are_those_of_a_recomputation_by_replicate(people, result) -> None:
    found, plain = by_effect(result, "replicate_weights"), by_effect(result, "eif")
    assert tuple(found["TE"]) == ROW
    for name, (estimate, error) in by_hand(people, 4 / R).items():
        row = found[name]
        assert row["estimate"] == pytest.approx(plain[name]["estimate"], rel=1e-9)
        assert row["estimate"] == pytest.approx(estimate, rel=1e-6)
        assert row["std_error"] == pytest.approx(error, rel=1e-6)
        assert row["std_error"] != pytest.approx(plain[name]["std_error"], rel=0.01)
        assert row["ci_low"] < row["estimate"] < row["ci_high"]
        assert (row["n"], row["family"], row["status"]) == (N, None, plain[name]["status"])
    assert sum("replicate_weights" in note for note in result["notes"]) == 1


def test_rows_left_out_and_a_scale_of_ones_own(people) -> None:
    gone = people.copy()
    gone["score"] = gone["score"].astype(object)
    gone.loc[[3, 10], "score"] = None
    found = analyze_paths(
        gone, **ROLES, weight="PWGTP", replicates=["PWGTP"], replicate_scale=1 / R
    )
    whole = analyze_paths(gone, **ROLES, weight="PWGTP", replicates=["PWGTP"])
    assert found["excluded"] == {"missing_y": 2}
    for name, row in by_effect(found, "replicate_weights").items():
        other = by_effect(whole, "replicate_weights")[name]
        assert row["n"] == N - 2
        assert row["std_error"] == pytest.approx(other["std_error"] / 2)


def test_other_rows_are_those_without_replicates(people, result) -> None:
    """Rows instead of cells: the same numbers, up to rounding."""
    plain = analyze_paths(people, **ROLES, weight="PWGTP")
    mine = [r for r in result["rows"] if r["method"] != "replicate_weights"]
    for one, two in zip(plain["rows"], mine, strict=True):
        assert (one["estimand"], one["method"]) == (two["estimand"], two["method"])
        for column in ("estimate", "std_error", "p_value"):
            if one[column] is None:
                assert two[column] is None
            else:
                assert two[column] == pytest.approx(one[column], rel=1e-8, abs=1e-12)


def test_what_cannot_be_computed_says_why(people) -> None:
    low = people.assign(PWGTP7=-1)
    rows = by_effect(
        analyze_paths(low, **ROLES, weight="PWGTP", replicates=["PWGTP"]), "replicate_weights"
    )
    assert {r["status"] for r in rows.values()} == {"not_computable"}
    assert {r["reason"] for r in rows.values()} == {"a replicate weight sums to 0 or less"}
    assert {r["estimate"] for r in rows.values()} == {None}
    roles = {**ROLES, "b": []}
    found = analyze_paths(people, **roles, weight="PWGTP", replicates=["PWGTP"])
    bie = by_effect(found, "replicate_weights")["BIE"]
    assert (bie["estimate"], bie["reason"]) == (None, "no_business_mediators")
    same = analyze_paths(
        people.assign(score=50), **ROLES, weight="PWGTP", replicates=["PWGTP"]
    )  # fmt: skip
    constant = by_effect(same, "replicate_weights")
    assert len(constant) == 5
    assert all(r["reason"].startswith("all scores are 50") for r in constant.values())


def test_the_command_takes_a_beginning_or_the_columns(file, result, capsys) -> None:
    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    options = (
        "--x sex --x1 1 --x0 2 --z age --r name --b school --y score --learner glm --repeats 2 "
        f"--folds 4 --seed {SEED} --draws 0 --weight PWGTP --json - --replicate-weights"
    ).split()
    for named in (["PWGTP"], [f"PWGTP{k}" for k in range(1, R + 1)]):
        argv = ["analyze", "paths", "--input", str(file), *options, *named]
        args = parser.parse_args(argv)
        assert args.run(args) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(result))


BAD = {
    "no weight": (
        {"weight": None}, {},
        "--replicate-weights: has no weight beside it. Give the full weight too: --weight COL.",
    ),
    "no column": (
        {"replicates": ["repwt"]}, {},
        "t.csv, --replicate-weights repwt: stands for 0 columns: repwt1, repwt2 ... are looked "
        "for. Give what their names begin with, or name each column.",
    ),
    "a gap": (
        {}, {"PWGTP6": "drop"},
        "t.csv, --replicate-weights PWGTP: has no column PWGTP6, and there is PWGTP80. Add it, or "
        "name each column.",
    ),
    "named column missing": (
        {"replicates": ["PWGTP1", "PWGTP81"]}, {},
        "t.csv, 'PWGTP81': is no column.",
    ),
    "two roles": (
        {"replicates": ["PWGTP1", "PWGTP2"], "z": ["PWGTP1"]}, {},
        "t.csv, PWGTP1: is given as --z and --replicate-weights. Give every column one role.",
    ),
    "empty": (
        {}, {"PWGTP2": None},
        "t.csv, row 4, PWGTP2: is empty. Every row needs all replicate weights; leave out rows "
        "that have none.",
    ),
    "no number": (
        {}, {"PWGTP2": "many"},
        "t.csv, row 4, PWGTP2: 'many' is no number. Correct it; where the value is missing, leave "
        "the cell empty.",
    ),
    "bad scale": (
        {"replicate_scale": 0.0}, {},
        "--replicate-scale: 0 is no factor. Give a number above 0.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_place_and_remedy(case, people) -> None:
    change, cells, message = BAD[case]
    frame = people.head(60).astype(object)
    for column, value in cells.items():
        if value == "drop":
            frame = frame.drop(columns=column)
        else:
            frame.loc[4, column] = value
    options = {**ROLES, "weight": "PWGTP", "replicates": ["PWGTP"], **change}
    with pytest.raises(InputError) as caught:
        analyze_paths(frame, **options, where="t.csv")
    assert str(caught.value).startswith(message)
