"""`analyze paths` on numbers far from 1, on many categories and on options out of range."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairscreen.analyze import analyze_paths, read_table
from fairscreen.errors import InputError
from fairscreen.input_columns import MAX_STEPS, Coded, binned, scaled
from fairscreen.input_files import equals, label

ROLES: dict[str, Any] = {
    "x": "sex", "x1": "male", "x0": "female", "z": ["z"], "r": ["r"], "b": ["b"], "y": "y",
    "repeats": 1, "learner": "saturated",
}  # fmt: skip
NUMBERS = ("estimate", "std_error", "ci_low", "ci_high")
POINTS = ("TE", "NDE", "NIE", "BIE", "RIE", "raw_gap")


def people(n: int = 600) -> pd.DataFrame:
    """Whole scores, so that adding 1e9 loses nothing; a number b with many values."""
    g = np.random.default_rng(5)
    x = np.arange(n) % 2
    r = (g.random(n) < 0.4 + 0.2 * x).astype(int)
    b = np.round(g.normal(0.5 * x, 1), 3)
    y = np.round(50 + 2 * x + r + 3 * b + g.normal(0, 4, n))
    sex = np.where(x == 1, "male", "female")
    return pd.DataFrame({"sex": sex, "z": np.arange(n) % 3, "r": r, "b": b, "y": y})


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    return analyze_paths(people(), **ROLES, bootstrap_draws=20, margin=1.0)


def same(found: dict[str, Any], plain: dict[str, Any], unit: float, rel: float = 1e-9) -> None:
    assert len(found["rows"]) == len(plain["rows"])
    for a, b in zip(found["rows"], plain["rows"], strict=True):
        scale = unit if a["estimand"] in POINTS else 1.0
        assert (a["status"], a["method"], a["estimand"]) == (
            b["status"], b["method"], b["estimand"]
        )  # fmt: skip
        for name in NUMBERS:
            if b[name] is None:
                assert a[name] is None
            else:
                size = abs(b[name]) + (b["std_error"] or 0)
                assert a[name] / scale == pytest.approx(b[name], rel=rel, abs=rel * size)
        for name in ("p_value", "p_holm"):
            assert (a[name] is None) == (b[name] is None)
            assert (a[name] or 0) == pytest.approx(b[name] or 0, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    ("unit", "shift"),
    [(1.0, 1e9), (1.0, -1e15), (1e100, 0.0), (1e-100, 0.0), (1e-300, 0.0), (0.01, 1e3)],
)
def test_effects_follow_unit_and_place_of_the_score(plain, unit: float, shift: float) -> None:
    frame = people().assign(y=lambda d: d["y"] * unit + shift)
    found = analyze_paths(frame, **ROLES, bootstrap_draws=20, margin=unit)
    assert plain["rows"][0]["status"] == "ok"
    same(found, plain, unit)


def test_learners_see_the_same_scores_whatever_their_unit() -> None:
    y, w = people()["y"].to_numpy(), np.arange(1.0, 601.0)
    one = scaled(y, w)
    assert np.average(one.y, weights=w) == pytest.approx(0, abs=1e-12)
    assert np.average(one.y**2, weights=w) == pytest.approx(1)
    for unit, shift in ((1e100, 0.0), (1e-100, 0.0), (1.0, 1e9)):
        two = scaled(y * unit + shift, w * 1e-3)
        np.testing.assert_allclose(two.y, one.y, rtol=1e-12, atol=1e-12)
        assert two.unit == pytest.approx(one.unit * unit)


@pytest.mark.parametrize("weight", [1e300, 1e-300, 7.0])
def test_equal_weights_are_none(plain, weight: float) -> None:
    frame = people().assign(w=weight)
    same(analyze_paths(frame, **ROLES, weight="w", bootstrap_draws=20, margin=1.0), plain, 1.0)


def test_weights_of_unlike_sizes_stay_numbers() -> None:
    frame = people().assign(w=lambda d: np.where(np.arange(len(d)) < 300, 1e200, 1e-200))
    rows = analyze_paths(frame, **ROLES, weight="w", bootstrap_draws=0)["rows"]
    assert rows[0]["status"] == "ok"
    assert np.isfinite(rows[0]["estimate"])


def test_one_weight_that_dwarfs_all_others_leaves_no_fault() -> None:
    frame = people().assign(w=lambda d: np.where(np.arange(len(d)) == 0, 1e300, 1.0))
    rows = analyze_paths(frame, **ROLES, weight="w", bootstrap_draws=0)["rows"]
    assert {row["status"] for row in rows if row["estimand"] == "NDE"} == {"not_computable"}
    for row in rows:
        numbers = [row[k] for k in ("estimate", "std_error", "ci_low", "ci_high", "p_value")]
        assert all(v is None or np.isfinite(v) for v in numbers)


def test_scores_that_are_all_alike_say_so() -> None:
    for score in (0.1, 1e9, 1e139):
        row = analyze_paths(people().assign(y=score), **ROLES, bootstrap_draws=0)["rows"][0]
        assert row["reason"].startswith(f"all scores are {score:g}:")


def test_curves_of_large_files_share_levels() -> None:
    """Steps keep the order, and hold about as many rows each."""
    values = np.random.default_rng(1).lognormal(0, 3, 20_000).round(5)
    column = Coded("b", None, values)
    (_, exact), (_, few) = (binned([column], 5, steps=s, cuts={}) for s in (False, True))
    assert (exact[:, 0] == values).all()
    order = np.argsort(values)
    assert (np.diff(few[order, 0]) >= 0).all()
    counts = np.unique(few, return_counts=True)[1]
    assert len(counts) <= MAX_STEPS
    assert counts.max() <= 3 * 20_000 / MAX_STEPS
    small = binned([Coded("b", None, values[:900])], 5, steps=True, cuts={})[1]
    assert (np.argsort(small[:, 0], kind="stable") == np.argsort(values[:900], kind="stable")).all()


def test_an_outlier_of_a_mediator_steers_nothing() -> None:
    far = people().assign(b=lambda d: np.where(d["b"] == d["b"].max(), 1e100, d["b"]))
    one, two = (analyze_paths(f, **ROLES, bootstrap_draws=0)["rows"] for f in (people(), far))
    for a, b in zip(one[:5], two[:5], strict=True):
        assert b["estimate"] == pytest.approx(a["estimate"], rel=1e-9)


def test_without_a_kind_of_mediator_its_effect_is_in_no_family() -> None:
    result = analyze_paths(people(), **{**ROLES, "r": []}, bootstrap_draws=20)
    rows = {(r["method"], r["estimand"]): r for r in result["rows"]}
    for method in ("eif", "multiplier_bootstrap", "eif_bins_10"):
        row = rows[method, "RIE"]
        assert (row["status"], row["reason"]) == ("not_computable", "no_redlining_mediators")
        assert row["estimate"] is row["p_value"] is row["p_holm"] is row["family"] is None
        assert rows[method, "BIE"]["status"] == rows[method, "NIE"]["status"] == "ok"
    nde, bie = rows["eif", "NDE"], rows["eif", "BIE"]
    assert sorted([nde["p_holm"], bie["p_holm"]])[0] == pytest.approx(
        2 * min(nde["p_value"], bie["p_value"])
    )  # a family of two


def texts(frame: pd.DataFrame, count: int) -> pd.DataFrame:
    return frame.assign(b=[f"t{i % count}" for i in range(len(frame))])


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "large score": (
        lambda d: d.assign(y=d["y"].where(d.index != 7, 1e308)), {},
        "f.parquet, row 7, y: 1e+308 is too large a number. "
        "Numbers are within 1e+140; rescale the column, or leave the cell empty.",
    ),
    "infinite score": (
        lambda d: d.assign(y=d["y"].where(d.index != 7, np.inf)), {},
        "f.parquet, row 7, y: 'inf' is no number. "
        "Correct it; where the value is missing, leave the cell empty.",
    ),
    "large mediator": (
        lambda d: d.assign(b=d["b"].where(d.index != 9, -1e200)), {},
        "f.parquet, row 9, b: -1e+200 is too large a number. "
        "Numbers are within 1e+140; rescale the column, or leave the cell empty.",
    ),
    "free text": (
        lambda d: texts(d, 600), {},
        "f.parquet, b: has 600 distinct texts in 600 rows, and 120 are the most. "
        "Group the values first; in a column of numbers every cell is a number.",
    ),
    "no weight": (
        lambda d: d.assign(w=0.0), {"weight": "w"},
        "f.parquet, w: all weights are 0. Give weights above 0, or no --weight.",
    ),
    "a group without weight": (
        lambda d: d.assign(w=np.where(d["sex"] == "male", 0.0, 1.0)), {"weight": "w"},
        "f.parquet, sex: every row with the value 'male' has weight 0. "
        "Give weights above 0, or another group.",
    ),
    "draws": (lambda d: d, {"bootstrap_draws": -1},
              "--draws: -1 is below 0. Give 0 for no bootstrap, or more."),
    "level": (lambda d: d, {"level": 95.0},
              "--level: 95 is no level. Give a number between 0 and 1, such as 0.95."),
    "level near 1": (lambda d: d, {"level": 0.9999999999999999},
                     "--level: 0.9999999999999999 is above 0.9999, the highest level of an "
                     "interval. Give a lower one, such as 0.95."),
    "folds": (lambda d: d, {"folds": 10_000},
              "--folds: 10,000 is too many for 600 complete rows. Give 50 or fewer."),
    "bins": (lambda d: d, {"bins": 1_000}, "--bins: 1000 is too many. Give 100 or fewer."),
    "spaces": (
        lambda d: d.rename(columns={"y": "the score"}), {},
        "f.parquet, 'y': is no column. Columns: 'sex', 'z', 'r', 'b', 'the score'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_estimated_names_its_place_and_remedy(case: str) -> None:
    change, options, message = BAD[case]
    frame = people()
    frame.index = pd.RangeIndex(1, 601, name="row")
    with pytest.raises(InputError) as caught:
        analyze_paths(change(frame), **{**ROLES, **options}, where="f.parquet")
    assert str(caught.value) == message


def test_as_many_categories_as_allowed_are_estimated() -> None:
    rows = analyze_paths(texts(people(200), 40), **ROLES, bootstrap_draws=0)["rows"]
    assert rows[0]["status"] == "ok"


def test_a_nul_character_names_its_line(tmp_path) -> None:
    file = tmp_path / "nul.csv"
    file.write_bytes(b"sex,y\nmale,1\nfem\0ale,2\n")
    with pytest.raises(InputError, match=r"nul\.csv, line 3: holds a NUL character\. Correct"):
        read_table(file)


@pytest.mark.parametrize(
    ("cells", "value", "expected"),
    [
        ([1.0, 2.0, None], "1", [True, False, False]),
        ([1.0, 2.0, None], "1.0", [True, False, False]),
        (pd.array([1, 2, None], dtype="Int64"), "1.0", [True, False, False]),
        (np.array([0.1, 0.5], dtype=np.float32), "0.1", [True, False]),
        ([Decimal("1.00"), Decimal("2")], "1", [True, False]),
        ([True, False, None], "true", [True, False, False]),
        ([True, False, None], "FALSE", [False, True, False]),
        ([True, False], "1", [False, False]),
        ([b"male", b"female"], "male", [True, False]),
        (["1", "1.0"], "1", [True, False]),
    ],
)
def test_values_of_typed_files(tmp_path, cells, value, expected) -> None:
    file = tmp_path / "typed.parquet"
    pd.DataFrame({"x": cells}).to_parquet(file)
    assert equals(read_table(file)["x"], value).tolist() == expected


def test_labels_of_bytes_and_decimals() -> None:
    assert [label(v) for v in ("é".encode(), b"", b"\xff", Decimal("2.50"), Decimal("3.0"))] == [
        "é", None, "\\xff", "2.5", "3",
    ]  # fmt: skip
