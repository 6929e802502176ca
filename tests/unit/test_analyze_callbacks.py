"""`fairscreen analyze callbacks` on long files: the estimators' numbers, families, bad input."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from callback_designs import audit
from fairscreen.analyze_callbacks import analyze_callbacks
from fairscreen.cli import main
from fairscreen.commands import analyze as command
from fairscreen.errors import InputError
from fairscreen.estimators.callbacks import CallbackOptions, callbacks
from fairscreen.estimators.multiplicity import holm
from fairscreen.input_files import read_table
from fairscreen.result_rows import ROW

ROLES = {
    "pair": ["posting", "pair"], "arm": "race", "favored": "white", "other": "black",
    "outcome": "callback", "cluster": "posting", "name": "name",
}  # fmt: skip
FAST = {"draws": 200, "permutations": 199}


def sent(seed: int = 1, postings: int = 60, **design) -> pd.DataFrame:
    """A paired audit as a long file, shuffled: two rows per pair."""
    pairs = audit(seed, postings=postings, gap=0.1, names=3, **design)
    answer = np.array(["no", "yes", None], dtype=object)
    frames = []
    for arm, race, names in ((1, "white", pairs.favored), (2, "black", pairs.other)):
        got = pairs.table.sum(axis=3 - arm).argmax(axis=1)
        frames.append(pd.DataFrame({
            "posting": [f"p{g}" for g in pairs.posting], "pair": np.arange(len(pairs)) % 4,
            "race": race, "name": [f"N{n:02d}" for n in names], "callback": answer[got],
            "industry": np.array(["care", "sales", "bank"])[pairs.posting % 3],
            "firm": [f"f{g % 12}" for g in pairs.posting], "p": 0.3 + 0.1 * (arm == 1),
            "gender": np.where(pairs.favored < 3, "f", "m"),
        }))  # fmt: skip
    frame = pd.concat(frames, ignore_index=True)
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def find(result, estimand="callback_gap_pp", method="sign_flip_posting") -> dict:
    return {
        r["slice"]: r for r in result["rows"] if (r["estimand"], r["method"]) == (estimand, method)
    }


@pytest.fixture(scope="module")
def result() -> dict:
    return analyze_callbacks(
        sent(silent=(0.02, 0.06)), **ROLES, slices=["industry"], firm="firm", p_yes="p", **FAST
    )


def test_a_file_has_the_numbers_of_the_estimator(result) -> None:
    direct = callbacks(audit(1, postings=60, gap=0.1, names=3, silent=(0.02, 0.06)),
                       CallbackOptions(draws=200, permutations=199))  # fmt: skip
    rows = {(r["estimand"], r["method"]): r for r in result["rows"] if r["slice"] == "all"}
    drawn = {"cluster_bootstrap", "name_permutation"}  # with the slice's own seed
    compared = 0
    for row in direct.rows:
        if row.part is None and row.estimand != "p_yes_gap_pp":
            got = rows[row.estimand, row.method]
            names = ("estimate", "n") if row.method in drawn else (
                "estimate", "std_error", "ci_low", "ci_high", "p_value", "n"
            )  # fmt: skip
            for name in names:
                want = getattr(row, name)
                assert got[name] == (None if want is None else pytest.approx(want, rel=1e-9)), row
            compared += 1
    assert compared > 15
    assert rows["p_yes_gap_pp", "cluster_posting_names"]["estimate"] == pytest.approx(10.0)
    assert rows["firm_variance_pp2", "moments"]["n"] == 12


def test_rows_name_arms_and_names_by_their_words(result) -> None:
    json.dumps(result, allow_nan=False)
    assert all(tuple(r) == ROW for r in result["rows"])
    rates = find(result, "callback_rate", "cluster_posting")
    assert {"race=white", "race=black", "industry=care; race=white"} <= set(rates)
    by_name = find(result, "callback_rate", "by_name")
    assert len(by_name) == 12
    assert "race=black; name=N06" in by_name
    ends = [r for r in result["rows"] if r["method"] == "leave_one_name_out"]
    assert all(r["reason"].startswith("without N") for r in ends)
    favors = {r["estimand"]: r["favors_when_positive"] for r in result["rows"]}
    assert favors["callback_gap_pp"] == "white"
    assert favors["callback_ratio"] == "white (below 1)"
    assert favors["callback_rate"] is None


def test_slices_and_families(result) -> None:
    found = find(result)
    assert list(found) == ["all", "industry=bank", "industry=care", "industry=sales"]
    one = [found[k] for k in list(found)[1:]]
    assert {r["family"] for r in one} == {"callback_gap_pp sign_flip_posting by industry"}
    assert [r["p_holm"] for r in one] == pytest.approx(
        holm(np.array([r["p_value"] for r in one])).tolist()
    )
    assert find(result, method="mcnemar_cc")["all"]["family"] is None
    assert find(result, method="cluster_posting_names")["all"]["p_holm"] is not None


def test_the_order_of_rows_moves_nothing(result) -> None:
    again = sent(silent=(0.02, 0.06)).sample(frac=1, random_state=9)
    same = analyze_callbacks(
        again, **ROLES, slices=["industry"], firm="firm", p_yes="p", **FAST
    )  # fmt: skip
    for a, b in zip(same["rows"], result["rows"], strict=True):
        for k in ROW:
            want = pytest.approx(b[k], rel=1e-9) if isinstance(b[k], float) else b[k]
            assert a[k] == want, (b["slice"], b["estimand"], b["method"], k)


def test_what_is_left_out_is_counted() -> None:
    frame = sent(2)
    frame.loc[frame.index[:3], "callback"] = None
    other = frame.iloc[[0]].assign(race="asian")
    lone = frame.iloc[[1]].assign(posting="p999")
    unnamed = frame.iloc[[2]].assign(posting="p998", name=None)
    both = pd.concat([unnamed, unnamed.assign(race="white"), unnamed.assign(race="black")]).iloc[1:]
    told = analyze_callbacks(pd.concat([frame, other, lone, both]), **ROLES, **FAST)
    excluded = told["excluded"]
    assert excluded["other_arm"] == 1
    assert sum(v for k, v in excluded.items() if k.startswith("pair_lacks_row_")) == 1
    assert excluded["missing_name"] == 1
    assert sum(v for k, v in excluded.items() if k.startswith("no_answer_")) == 3


def test_placebo_pairs_are_apart_from_real_ones() -> None:
    frame = sent(3)
    frame["placebo"] = (frame["pair"] == 0).map({True: "yes", False: "no"})
    told = analyze_callbacks(frame, **ROLES, placebo="placebo", **FAST)
    plain = analyze_callbacks(frame[frame["pair"] != 0], **ROLES, **FAST)
    assert find(told)["all"]["estimate"] == find(plain)["all"]["estimate"]
    assert find(told)["pairs=placebo"]["n"] == 60
    shares = find(told, "discordant_share", "counts")
    assert set(shares) == {"pairs=real", "pairs=placebo"}
    assert find(told, "discordant_share_gap_pp", "cluster_t")["all"]["n"] == 240


def test_a_pair_of_which_nobody_knows_whether_it_is_a_placebo_is_left_out() -> None:
    frame = sent(3)
    frame["placebo"] = frame["pair"].map({0: "yes", 1: None, 2: "no", 3: "no"})
    told = analyze_callbacks(frame, **ROLES, placebo="placebo", **FAST)
    plain = analyze_callbacks(frame[frame["pair"] > 1], **ROLES, **FAST)
    assert told["excluded"]["missing_placebo"] == 60
    assert find(told)["all"]["estimate"] == find(plain)["all"]["estimate"]
    assert find(told)["all"]["n"] == 120
    assert find(told)["pairs=placebo"]["n"] == 60


def test_permutation_within_a_given_group_is_that_within_pairs() -> None:
    frame = sent(4)
    given = analyze_callbacks(frame, **ROLES, name_group="gender", **FAST)
    plain = analyze_callbacks(frame, **ROLES, **FAST)
    key = "callback_gap_pp", "name_permutation"
    assert find(given, *key)["all"]["p_value"] == find(plain, *key)["all"]["p_value"]


def test_without_cluster_and_name_the_notes_say_what_is_taken_for_granted() -> None:
    roles = {**ROLES, "cluster": None, "name": None}
    told = analyze_callbacks(sent(5), **roles, **FAST)
    text = " ".join(told["notes"])
    assert "pairs are taken for independent" in text
    assert "intervals are for these names" in text
    assert find(told, method="cluster_t")["all"]["std_error"] > 0


def test_answers_may_be_words_numbers_or_truth_values() -> None:
    frame = sent(8, silent=(0.05, 0.05))
    plain = analyze_callbacks(frame, **ROLES, **FAST)
    for words in (("1", "0"), ("1.0", "0.0"), (1.0, 0.0), (True, False), ("YES", "No")):
        told = frame.assign(
            callback=[None if v is None else words[v == "no"] for v in frame["callback"]]
        )
        assert analyze_callbacks(told, **ROLES, **FAST) == plain


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"outcome": "p"}, "p: '0.4' is neither yes nor no. Give 1 or 0"),
        ({"arm": "races"}, "f.csv, 'races': is no column"),
        ({"favored": "White"}, "f.csv, race: no row has the value 'White'. Values are: "),
        ({"other": "white"}, "--favored, --other: name one arm twice ('white')"),
        ({"pair": ["posting"]}, "is a second answer of one pair and arm '"),
        ({"pair": ["posting", "pair", "race"]}, "race: is given as --arm and --pair"),
        ({"pair": ["row"]}, "f.csv: no pair has a row of both arms."),
        ({"slices": ["name"]}, "is not what the other row of the pair has"),
        ({"name_group": "row"}, "Rows of one pair share --cluster, --firm, --placebo, --name-gr"),
        ({"name": "empty"}, "f.csv, empty: is empty in every row. Fill it in"),
        ({"p_yes": "large"}, "large: 7 is no probability"),
        ({"placebo": "always"}, "f.csv, always: every pair is a placebo"),
        ({"level": 0.0}, "--level: 0 is no level"),
        (
            {"level": 0.9999999999999999},
            "--level: 0.9999999999999999 is above 0.9999, the highest "
            "level of an interval. Give a lower one, such as 0.95.",
        ),
        ({"margin": -1.0}, "--margin: -1 is no margin"),
        ({"draws": 5}, "--draws: 5 is too few"),
        ({"permutations": 5}, "--permutations: 5 is too few"),
        ({"pair": [], "firm": "firm"}, "--firm: is for pairs"),
    ],
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    frame = sent(6).assign(large=7, always=1, empty=None)
    frame["row"] = np.arange(len(frame))
    with pytest.raises(InputError) as error:
        analyze_callbacks(frame, **{**ROLES, **FAST, **change}, where="f.csv")
    assert message in str(error.value)


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    args = parser.parse_args(["analyze", "callbacks", *argv])
    return args.run(args)


def test_the_command_prints_and_writes_json(tmp_path: Path, capsys) -> None:
    file, out = tmp_path / "callbacks.csv", tmp_path / "out.json"
    sent(7).to_csv(file, index=False)
    options = [
        "--input", str(file), "--pair", "posting", "pair", "--arm", "race", "--favored", "white",
        "--other", "black", "--outcome", "callback", "--cluster", "posting", "--name", "name",
        "--draws", "200", "--permutations", "199", "--margin", "2",
    ]  # fmt: skip
    assert run(*options, "--json", str(out)) == 0
    text = capsys.readouterr().out
    assert "A positive gap favors white; a ratio is black over white." in text
    assert "cluster_posting_names" in text
    written = json.loads(out.read_text())
    direct = analyze_callbacks(read_table(file), **ROLES, margin=2.0, **FAST)
    assert written["rows"] == json.loads(json.dumps(direct["rows"]))
    assert run(*options, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == written


def test_the_command_reads_published_data_unpaired(capsys) -> None:
    file = Path(__file__).parent.parent / "golden" / "bertrand_mullainathan_2004.csv"
    options = ["--input", str(file), "--unpaired", "--arm", "race", "--favored", "white",
               "--other", "black", "--outcome", "received_callback", "--cluster", "job_ad_id",
               "--name", "firstname", "--slice", "gender", "--json", "-"]  # fmt: skip
    assert run(*options) == 0
    told = json.loads(capsys.readouterr().out)
    fisher = find(told, method="fisher_exact")
    assert set(fisher) == {"all", "gender=f", "gender=m"}
    assert fisher["all"]["p_value"] == pytest.approx(4.76e-5, abs=5e-8)
    rates = find(told, "callback_rate", "cluster_posting")
    assert rates["gender=m; race=black"]["estimate"] == pytest.approx(32 / 549)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--unpaired", "--pair", "a"], "--pair, --unpaired: give one of them."),
        ([], "--pair, --unpaired: give one of them."),
        (["--pair", "a"], "none.csv: no such file."),
    ],
)
def test_bad_commands_end_with_two_and_one_line(argv, message, capsys) -> None:
    base = ["analyze", "callbacks", "--input", "none.csv", "--arm", "r", "--favored", "a",
            "--other", "b", "--outcome", "y"]  # fmt: skip
    assert main([*base, *argv]) == 2
    lines = [x for x in capsys.readouterr().err.splitlines() if x.startswith("error:")]
    assert len(lines) == 1
    assert message in lines[0]
