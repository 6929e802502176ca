"""Slices, families, placebo and panel of a paired-callback audit, without Spark."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import callback_tables as planted
from callback_tables import Planted
from fairscreen.audits import callback_panel, callback_rows, callback_slices
from fairscreen.audits.callback_slices import Asked
from fairscreen.estimators.multiplicity import holm
from fairscreen.tables import ddl_columns

MODELS = {
    "one": Planted(race=0.1, name_sd=0.02, silent=(0.01, 0.06)),
    "two": Planted(race=-0.05, gender=0.1, logprobs=True, name_sd=0.01),
}
QUICK = ("estimation.draws=199", "estimation.permutations=199",
         "estimation.slices=[within, company, industry]")  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Config, tables, coded pairs, what is asked."""
    cfg = planted.config(tmp_path_factory.mktemp("slices"), list(MODELS), *QUICK,
                         "panel.two.released=2024-07")  # fmt: skip
    # Twelve companies for forty postings: some have fewer than five.
    docs = planted.pair_documents(
        40, names=4, placebo=0.4, empty=0.1, slices={**planted.SLICES, "company": 12}
    )
    scores, replies = planted.answers(docs, MODELS)
    frame, values, names = planted.coded(docs, scores, replies, cfg)
    return cfg, (docs, scores, replies), frame, Asked.of(cfg, values, names)


def part(made, model: str, contrast: str) -> dict:
    frame = made[2]
    mine = frame[(frame.model == model) & frame.contrast.isin([contrast, "placebo"])]
    found = callback_slices.analyse(mine, made[3], contrast=contrast)
    return {"model": model, "contrast": contrast, **found}


@pytest.fixture(scope="module")
def parts(made) -> list[dict]:
    return [part(made, m, c) for m in MODELS for c in made[0].contrasts]


@pytest.mark.parametrize("model", list(MODELS))
@pytest.mark.parametrize("contrast", ["race", "gender"])
def test_numbers_are_those_of_a_file(made, parts, model: str, contrast: str) -> None:
    cfg, tables = made[:2]
    wanted = planted.of_file(planted.as_file(*tables, model, cfg, contrast), cfg, contrast)
    (mine,) = [p for p in parts if (p["model"], p["contrast"]) == (model, contrast)]
    few = {r["slice"] for r in mine["rows"] if (r["reason"] or "").startswith("few_postings")}
    assert few
    compared = set()
    for row in mine["rows"]:
        if row["slice"] not in few:
            key = (row["slice"], row["estimand"], row["method"])
            planted.same(row, wanted[key], key)
            compared.add(key)
    left = {k for k in wanted if k[0].split("; ")[0] not in few} - compared
    controls = {(r["slice"], r["estimand"], r["method"]) for r in mine["controls"]}
    assert {k[1] for k in left if k[0] != "pairs=placebo"} == {k[1] for k in controls}
    for row in mine["controls"]:
        where = row["slice"].removeprefix("control=placebo").removeprefix("; ") or "all"
        key = (where, row["estimand"], row["method"])
        planted.same(row, wanted[key], key)
    assert len(compared) > 150


def test_placebo_pairs_are_those_of_a_file(made) -> None:
    cfg, tables, frame, asked = made
    wanted = planted.of_file(planted.as_file(*tables, "one", cfg, "race"), cfg, "race")
    mine = frame[(frame.model == "one") & (frame.contrast == "placebo")]
    found = callback_slices.analyse_placebo(mine, asked)
    for row in found["controls"]:
        key = ("pairs=placebo", row["estimand"], row["method"])
        planted.same({**row, "favors_when_positive": wanted[key]["favors_when_positive"]},
                     wanted[key], key)  # fmt: skip
        assert (row["slice"], row["favors_when_positive"]) == ("control=placebo", None)
    assert len(found["controls"]) >= 10


def test_the_order_of_pairs_moves_nothing(made, parts) -> None:
    shuffled = (*made[:2], made[2].sample(frac=1, random_state=2), made[3])
    assert json.dumps(part(shuffled, "one", "race")) == json.dumps(
        parts[0] if parts[0]["contrast"] == "race" else parts[1]
    )


def test_few_postings_and_missing_values_are_told(made, parts) -> None:
    docs = made[1][0]
    race = docs[docs.contrast == "race"].drop_duplicates("posting")
    sizes = race.groupby("company").posting.nunique()
    (mine,) = [p for p in parts if (p["model"], p["contrast"]) == ("one", "race")]
    told = {r["slice"]: r for r in mine["rows"] if (r["reason"] or "").startswith("few_postings")}
    assert set(told) == {f"company={c}" for c in sizes.index[sizes < 5]}
    for row in told.values():
        assert (row["status"], row["estimate"], row["p_value"]) == ("not_computable", None, None)
    assert mine["counts"][0]["without_company"] == 4 * int(race.company.isna().sum()) > 0
    assert sum(c["pairs"] for c in mine["counts"] if c["slice"].startswith("company=")) == (
        160 - mine["counts"][0]["without_company"]
    )


def test_families_hold_all_models(made, parts) -> None:
    context = callback_rows.Context(made[0], "h", "{}")
    rows, _ = callback_rows.estimates(context, parts, None, made[3].words)
    assert all(set(r) == set(ddl_columns("estimates")) for r in rows)
    frame = pd.DataFrame(rows)
    keys = ["design", "model", "attribute", "contrast", "slice", "estimand", "method"]
    assert not frame.duplicated(keys).any()
    name = "race: callback_gap_pp sign_flip_posting by industry"
    family = frame[frame.family == name]
    assert (len(family), set(family.model)) == (6, set(MODELS))
    assert family.p_holm.tolist() == pytest.approx(holm(family.p_value.to_numpy()).tolist())
    by_gender = frame[frame.family == "race: callback_gap_pp cluster_posting_names by gender"]
    assert set(by_gender.slice) == {"gender=female", "gender=male"}
    assert frame[frame.method == "mcnemar_cc"].family.isna().all()
    assert frame[frame.design == "placebo"].family.isna().all()
    assert set(frame[frame.slice.str.startswith("race=white; name=")].method) == {
        "by_name", "empirical_bayes",
    }  # fmt: skip


def test_diagnostics_and_notes_tell_who_was_silent(made, parts) -> None:
    cfg, (docs, scores, _), _, asked = made
    context = callback_rows.Context(cfg, "h", "{}")
    rows = pd.DataFrame(callback_rows.diagnostics(context, parts))
    mine = rows[(rows.model == "one") & (rows.contrast == "race") & (rows.slice == "all")]
    told = mine.set_index("name")["value"]
    silent = scores[(scores.model == "one") & scores.score.isna()].merge(
        docs[docs.contrast == "race"][["document_id", "side"]], on="document_id"
    )
    counts = silent.side.value_counts()
    assert (told["lacks_favored"], told["lacks_other"]) == (
        counts.get("favored", 0),
        counts["other"],
    )
    assert (told["pairs"], told["postings"]) == (160, 40)
    notes = callback_rows.missing_notes(parts, asked.words)
    (note,) = [n for n in notes if n.startswith("one, race: ")]
    gone = int(told["pairs"] - told["complete"])
    assert f"{gone} of 160 pairs lack a valid answer" in note
    assert f"race=black {counts['other']}" in note
    assert "Silence is" in note
    assert any("company (gender), company (race)" in n for n in notes)
    assert not any(n.startswith("two, race: ") for n in notes)


def test_nobody_answered(made) -> None:
    cfg, _, frame, asked = made
    silent = frame[frame.model == "one"].assign(favored=2)
    found = callback_slices.analyse(silent[silent.contrast == "race"], asked, contrast="race")
    assert found["counts"][0]["complete"] == 0
    gaps = [r for r in found["rows"] if r["estimand"] == "callback_gap_pp"]
    assert gaps
    assert {r["status"] for r in gaps} == {"not_computable"}
    columns = [("one", "race"), ("one", "gender")]
    place = silent.contrast.map({"race": 0, "gender": 1})
    real = silent[silent.contrast != "placebo"].assign(column=place.dropna().astype(int))
    told, _ = callback_panel.rows(callback_panel.gathered(real, columns), cfg, asked.words)
    assert {r["status"] for r in told} == {"not_computable"}


def test_the_trend_names_the_models_without_a_complete_pair(made) -> None:
    cfg, _, frame, asked = made
    real = frame[frame.contrast == "race"]
    silent = real.assign(favored=real.favored.where(real.model != "one", 2))
    columns = [("one", "race"), ("two", "race")]
    place = {"one": 0, "two": 1}
    found = callback_panel.gathered(silent.assign(column=silent.model.map(place)), columns)
    assert (found["own"]["race"]["models"], found["own"]["race"]["silent"]) == (["two"], ["one"])
    told, notes = callback_panel.rows(found, cfg, asked.words)
    (row,) = [r for r in told if (r["contrast"], r["estimand"], r["method"]) == (
        "race", "gap_trend_pp_per_year", "reml_knapp_hartung")]  # fmt: skip
    assert row["status"] == "not_computable"
    assert row["reason"].startswith("few_models")
    assert "left out: one (no complete pair)" in row["reason"]
    assert [n for n in notes if n == "Trend of race: without one (no complete pair)."]


def test_answers_that_never_vary_leave_the_trend_with_a_reason(made) -> None:
    """A variance of rounding is none."""
    cfg, _, frame, asked = made
    real = frame[frame.contrast == "race"]
    found = callback_panel.gathered(
        real.assign(column=real.model.map({"one": 0, "two": 1})), [("one", "race"), ("two", "race")]
    )
    v = np.array(found["own"]["race"]["covariance"])
    v[1] = v[:, 1] = 0
    v[1, 1] = 1e-34
    found["own"]["race"]["covariance"] = v.tolist()
    told, _ = callback_panel.rows(found, cfg, asked.words)
    mine = [r for r in told if r["contrast"] == "race"]
    reasons = [r["reason"] for r in mine if r["estimand"] == "gap_trend_pp_per_year"]
    assert reasons
    assert all("two (nothing varies)" in r for r in reasons)


def test_an_empty_slice_list_is_pooled_alone(made) -> None:
    frame, asked = made[2:]
    quick = Asked(asked.options, (), 5, asked.values, asked.names, asked.words)
    mine = frame[(frame.model == "two") & (frame.contrast == "gender")]
    found = callback_slices.analyse(mine, quick, contrast="gender")
    assert [c["slice"] for c in found["counts"]] == ["all"]
    assert np.isfinite([r["estimate"] for r in found["rows"] if r["method"] == "wald"]).all()
