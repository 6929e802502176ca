"""A small paired-callback audit from files to report and MLflow, against its answers by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

import planted_caller as caller
import small_callbacks as small
from fairscreen import tracking
from fairscreen.analyze_callbacks import analyze_callbacks
from fairscreen.config import load
from fairscreen.scoring.parse import parse
from fairscreen.scoring.screeners import planted_callbacks as planted
from fairscreen.scoring.screeners.planted_callbacks import People, PlantedCallbacksParams
from fairscreen.stations import chain
from model_server import serving
from small_jobs import main

TABLES = ("name_signals", "pair_documents", "documents", "contents", "requests", "scores",
          "replies", "job_posting", "estimates")  # fmt: skip


@pytest.fixture(scope="module")
def ran(spark, tmp_path_factory):
    """The audit's config and summary, and what a second run's says."""
    folder = tmp_path_factory.mktemp("callbacks")
    says = caller.replies({"served": small.SERVED}, small.groups())
    with serving(says=says, faults={"refusal": 0.03}) as server:
        given = small.arguments(folder, server.url)
        places = [f"warehouse={folder / 'warehouse'}", f"out={folder / 'out'}"]
        cfg = load(given[0], [*(a for a in given[1:-4] if a != "--set"), *places])
        assert main("callback_audit")(given) == 0
        first = json.loads((folder / "out" / small.AUDIT / "summary.json").read_text())
        calls = sum(server.answered.values())
        second = chain.run_audit(cfg)
        assert sum(server.answered.values()) == calls
    return cfg, first, second


@pytest.fixture(scope="module")
def tables(spark, ran) -> dict[str, pd.DataFrame]:
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(spark, ran[0].warehouse)
    return {name: warehouse.read(name).toPandas() for name in TABLES}


def test_the_summary_counts_postings_names_and_pairs(ran, tables) -> None:
    _, first, second = ran
    told = first["postings"]
    assert (told["rows"], told["postings"], told["taken"]) == (15, 15, 12)
    assert (told["not_entry_level"], told["incomplete"], told["missing"]["metro"]) == (2, 1, 1)
    docs = tables["pair_documents"]
    pairs = docs[docs.side == "favored"].contrast.value_counts().to_dict()
    assert first["pairs"] == pairs
    assert (pairs["race"], pairs["gender"]) == (24, 48)
    assert 0 < pairs["placebo"] < 24
    assert set(first["names"]["first"]) == {
        "black female",
        "black male",
        "white female",
        "white male",
    }
    assert sum(first["names"]["first"].values()) == tables["name_signals"].query(
        "kind == 'first' and used"
    ).shape[0]  # fmt: skip
    notes = " ".join(first["notes"])
    assert "1 of 15 postings are left out because fields are missing (metro 1)" in notes
    assert "1 of 12 postings tell no state with a Census region" in notes
    assert second["kept_stages"] == ["render", "score", "estimate", "report"]
    assert second["asked"] == 0


def test_documents_and_contents_belong_together(tables) -> None:
    docs = tables["pair_documents"].set_index("document_id")
    plain = tables["documents"].set_index("document_id")
    assert plain.index.is_unique
    assert set(plain.index) == set(docs.index)
    plain = plain.loc[docs.index]
    assert (plain.version == docs.side).all()
    assert (plain.contrast == docs.contrast).all()
    assert (plain.content_key == docs.content_key).all()
    kept = tables["contents"].set_index("content_key").text
    assert kept.index.is_unique
    assert (kept[docs.content_key].to_numpy() == docs.text.to_numpy()).all()
    posted = kept[docs.prompt_key.unique()]
    assert len(posted) == 12
    assert all(text.startswith("Company: Company ") for text in posted)
    assert set(docs.job_type) == {"analyst", "associate", "assistant", "coordinator"}
    assert docs[docs.region.isna()].state.unique().tolist() == ["PR"]


def test_answers_are_those_of_the_planted_formulas(tables) -> None:
    docs = tables["pair_documents"].set_index("document_id")
    kept = tables["contents"].set_index("content_key").text
    scores = tables["scores"]
    assert set(scores.parser) == {"yes_no_one_word/2"}
    served = scores[scores.model == "served"]
    assert set(served.outcome) == {"ok", "refused"}
    for row in served[served.outcome == "ok"].itertuples():
        doc = docs.loc[row.document_id]
        what = caller.of_texts(kept[doc.prompt_key], doc.text)
        said = caller.answer(small.SERVED, what, small.groups())
        assert float(row.score) == (said == "yes")
    p = PlantedCallbacksParams(**small.PLANTED)
    mine = scores[scores.model == "planted"]
    people = docs.loc[mine.document_id]
    told = People(*(people[c].tolist() for c in (
        "posting_id", "pair_id", "race", "gender", "first_name", "surname")))  # fmt: skip
    yes, p_yes = planted.answers(p, told)
    none = planted.silent(p, told)
    assert Counter(none)[True] > 3
    assert (
        mine.outcome.to_numpy() == pd.Series(none).map({True: "unparseable", False: "ok"})
    ).all()
    assert (mine.score.to_numpy()[~none].astype(float) == yes[~none]).all()
    # P(yes) is in replies, beside the answer: joined by call_key and reply_wave.
    replies = tables["replies"].set_index(["call_key", "wave_id"]).p_yes
    found = replies.loc[list(zip(mine.call_key, mine.reply_wave, strict=True))].to_numpy()
    assert pd.isna(found[none]).all()
    assert found[~none] == pytest.approx(p_yes[~none], abs=1e-12)


def test_outcomes_are_counted_by_what_names_stand_for(ran, tables) -> None:
    docs = tables["pair_documents"]
    real = set(docs[docs.kind == "real"].document_id)
    scores = tables["scores"]
    counted = ran[1]["outcomes_by_group"]["planted"]
    groups = docs.set_index("document_id")
    mine = scores[(scores.model == "planted") & scores.document_id.isin(real)]
    for factor in ("race", "gender"):
        of = groups.loc[mine.document_id, factor].to_numpy()
        for value in set(of):
            assert counted[f"{factor}={value}"] == dict(Counter(mine.outcome[of == value]))
    assert parse("yes_no_one_word/2", planted.SILENCE, "answered").outcome == "unparseable"


@pytest.mark.parametrize(
    ("contrast", "arm", "favored", "other"),
    [("race", "race", "white", "black"), ("gender", "gender", "male", "female")],
)
def test_estimates_are_those_of_a_file_of_the_answers(
    ran, tables, contrast: str, arm: str, favored: str, other: str
) -> None:
    cfg = ran[0]
    rows = tables["scores"].merge(
        tables["pair_documents"].drop(columns=["audit_id", "content_key", "contrast"]),
        on="document_id",
    )
    rows = rows[(rows.model == "served") & (rows.contrast == contrast)]
    rows = rows.assign(score=rows.score.astype(float), name=rows.first_name + " " + rows.surname)
    beside = analyze_callbacks(
        rows, pair=["posting_id", "pair_id", "within"], arm=arm, favored=favored, other=other,
        outcome="score", cluster="posting_id", name="name", slices=["company"],
        margin=cfg.estimation.margin, draws=99, permutations=199, seed=cfg.seed,
    )  # fmt: skip
    wanted = {(r["estimand"], r["method"], r["slice"]): r for r in beside["rows"]}
    mine = tables["estimates"]
    mine = mine[(mine.design == "paired_callback") & (mine.model == "served")]
    mine = mine[mine.contrast == contrast].set_index(["estimand", "method", "slice"])
    numbers = ["estimate", "std_error", "ci_low", "ci_high", "n"]
    told = 0
    for key, row in wanted.items():
        if key[1] in {"cluster_bootstrap", "name_permutation"} or key not in mine.index:
            continue  # draws depend on the order of postings; test_callback_estimates has them
        got = mine.loc[key]
        for number in numbers:
            assert (row[number] is None) == pd.isna(got[number])
            if row[number] is not None:
                assert got[number] == pytest.approx(row[number], rel=1e-12, abs=1e-12)
        told += 1
    assert told > 20


def test_the_planted_gaps_are_within_their_intervals(tables) -> None:
    rows = tables["estimates"]
    rows = rows[(rows.design == "paired_callback") & (rows.slice == "all")]
    rows = rows[(rows.estimand == "callback_gap_pp") & (rows.method == "cluster_posting_names")]
    found = rows.set_index(["model", "contrast"])
    for model, p in (
        ("planted", PlantedCallbacksParams(**small.PLANTED)),
        ("served", small.SERVED),
    ):
        for contrast, (one, two) in (("race", ("white", "black")), ("gender", ("male", "female"))):
            row = found.loc[(model, contrast)]
            truth = p.bias.get(one, 0.0) - p.bias.get(two, 0.0)
            assert row.ci_low < truth < row.ci_high
            assert row.favors_when_positive == one


def test_report_summary_and_mlflow(ran, tables) -> None:
    cfg, first, _ = ran
    text = Path(first["report_path"]).read_text(encoding="utf-8")
    assert "SIMULATED SCREENER: planted" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    effects = {(e["model"], e["contrast"], e["method"]) for e in first["effects"]}
    assert ("served", "race", "cluster_posting_names") in effects
    assert set(first["mlflow_run_ids"]) == {"planted", "served"}
    client, _ = tracking.connect(cfg)
    rows = tables["estimates"].set_index(["model", "contrast", "slice", "estimand", "method"])
    for model, run_id in first["mlflow_run_ids"].items():
        run = client.get_run(run_id)
        assert run.info.status == "FINISHED"
        key = (model, "race", "all", "callback_gap_pp", "cluster_posting_names")
        logged = run.data.metrics["callback_gap_pp.race.race.all.cluster_posting_names.estimate"]
        assert logged == pytest.approx(rows.loc[key, "estimate"])
