"""Paired callbacks from tables to estimates: planted gaps, the numbers of a file, any order."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

import callback_tables as planted
from callback_tables import Planted
from fairscreen import resources, sql
from fairscreen.audits import callback_slices, callbacks
from fairscreen.stations import callback_estimate
from fairscreen.stations.common import Run, StationResult

MODELS = {
    "even": Planted(name_sd=0.01),
    "race": Planted(race=0.25, name_sd=0.01, silent=(0.01, 0.08)),
    "gender": Planted(gender=-0.2, logprobs=True, name_sd=0.01),
    "old": Planted(race=0.05, gender=0.1),
    "newer": Planted(race=-0.1, gender=-0.1),
}
QUICK = (
    "estimation.draws=199", "estimation.permutations=199",
    "estimation.slices=[within, company, region, metro]",
    "contrasts.race.models=[race, gender, old, newer]",
    "panel={race: {released: 2024-01}, gender: {released: 2024-07, family: f}, "
    "old: {released: 2023-05, family: f}, newer: {released: 2025-02}}",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Config, documents, scores and replies."""
    folder = tmp_path_factory.mktemp("callbacks")
    cfg = planted.config(folder, list(MODELS), *QUICK, f"warehouse={folder}/warehouse")
    docs = planted.pair_documents(80, names=6, empty=0.1, placebo=0.3)
    asked = {m: [c for c in cfg.contrasts if m in cfg.asked(c)] for m in MODELS}
    return cfg, docs, *planted.answers(docs, MODELS, asked)


@pytest.fixture(scope="module")
def warehouse(spark, made):
    """The audit's tables, estimated by its station."""
    from fairscreen.tables import Warehouse

    cfg, docs, scores, replies = made
    house = Warehouse(spark, cfg.warehouse)
    replies = replies.assign(
        model="gender", transport="answered", attempts=1, asked_at=pd.Timestamp(0)
    )
    other = scores.assign(audit_id="other", score=1.0)  # another audit's rows are not ours
    contents = pd.DataFrame(
        {"content_key": ["c", "p"], "media_type": "text/plain", "text": ["a profile", "a posting"]}
    )
    for name, rows in (
        ("contents", contents),
        ("pair_documents", docs), ("scores", pd.concat([scores, other[other.outcome == "ok"]])),
        ("replies", replies),
    ):  # fmt: skip
        house.append(name, planted.table(spark, rows, name), transaction=f"test/{name}")
    done = callback_estimate.run(Run(cfg, house), StationResult("score", "f", 0.0, False, {}))
    assert done.detail["rows"] == house.read("estimates").count() > 1_000
    assert set(done.detail["input_versions"]) == {"pair_documents", "scores", "replies"}
    again = callback_estimate.run(Run(cfg, house), StationResult("score", "f", 0.0, False, {}))
    assert (again.kept, again.detail["rows"]) == (True, done.detail["rows"])
    return house


@pytest.fixture(scope="module")
def rows(warehouse) -> pd.DataFrame:
    frame = warehouse.read("estimates").toPandas()
    assert set(frame.audit_id) == {planted.AUDIT}
    return frame


def one(rows: pd.DataFrame, model: str, contrast: str, estimand="callback_gap_pp",
        method="cluster_posting_names", where="all") -> dict:  # fmt: skip
    key = {"model": model, "contrast": contrast, "slice": where, "estimand": estimand,
           "method": method}  # fmt: skip
    for column, value in key.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return row


def test_planted_gaps_are_found(rows) -> None:
    for model, p in MODELS.items():
        for contrast in ("race", "gender"):
            if (model, contrast) == ("even", "race"):
                continue  # it is not asked
            row, truth = one(rows, model, contrast), 100 * getattr(p, contrast)
            # Nine intervals at once: t of five degrees of freedom, 99.9%.
            assert abs(row["estimate"] - truth) < stdtrit(5, 0.9995) * row["std_error"], row
            assert row["favors_when_positive"] == {"race": "white", "gender": "male"}[contrast]
    assert one(rows, "race", "race", method="sign_flip_posting")["p_value"] < 1e-4
    assert one(rows, "gender", "gender", method="sign_flip_posting")["p_value"] < 1e-4
    assert set(rows[rows.contrast == "race"].model) == {"race", "gender", "old", "newer", "panel"}
    p_yes = one(rows, "gender", "gender", "p_yes_gap_pp")
    assert p_yes["ci_low"] < -20 < p_yes["ci_high"]
    assert p_yes["std_error"] < one(rows, "gender", "gender")["std_error"] / 2


@pytest.mark.parametrize(("model", "contrast"), [("race", "race"), ("gender", "gender")])
def test_numbers_are_those_of_analyze_callbacks(made, rows, model: str, contrast: str) -> None:
    cfg, *tables = made
    wanted = planted.of_file(planted.as_file(*tables, model, cfg, contrast), cfg, contrast)
    mine = rows[(rows.model == model) & (rows.contrast == contrast)]
    mine = mine.astype(object).where(mine.notna(), None)
    for row in mine.to_dict("records"):
        where = row["slice"].removeprefix("control=placebo").removeprefix("; ") or "all"
        key = (where, row["estimand"], row["method"])
        planted.same(row, wanted.pop(key), key)
    assert {k[0] for k in wanted} == {"pairs=placebo"}  # under contrast placebo, once per model
    placebo = rows[(rows.model == model) & (rows.contrast == "placebo")]
    placebo = placebo.astype(object).where(placebo.notna(), None)
    assert set(placebo.design) == {"placebo"}
    for row in placebo.to_dict("records"):
        key = ("pairs=placebo", row["estimand"], row["method"])
        want = wanted.pop(key)
        planted.same({**row, "favors_when_positive": want["favors_when_positive"]}, want, key)
    assert {k[2] for k in wanted} <= {"name_permutation", "leave_one_name_out"}


def test_the_panel_stands_on_all_models(made, rows) -> None:
    panel = rows[rows.model == "panel"]
    assert set(panel.contrast) == {"race", "gender", "gender and race"}
    trend = one(panel, "panel", "race", "gap_trend_pp_per_year", "reml_knapp_hartung")
    assert (trend["n"], trend["status"], trend["family"]) == (4, "ok", None)
    later = one(
        panel, "panel", "gender", "gap_difference_pp", "contrast", "models=gender minus old"
    )
    gaps = [one(rows, m, "gender")["estimate"] for m in ("gender", "old")]
    assert later["estimate"] == pytest.approx(gaps[0] - gaps[1])
    both = one(panel, "panel", "gender and race", "gap_correlation", "pearson")
    assert both["n"] == 4
    assert len(panel[(panel.contrast == "gender") & (panel.slice == "all")]) >= 5


def test_partitions_move_nothing(spark, made, rows) -> None:
    cfg, docs, scores, replies = made
    tables = [planted.table(spark, t, name) for t, name in
              ((scores, "scores"), (docs, "pair_documents"), (replies, "replies"))]  # fmt: skip
    found = []
    for partitions in (1, 200):
        told = callbacks.run(
            *(t.repartition(partitions) for t in tables), cfg, config_hash=cfg.hash(),
            input_versions={},
        )  # fmt: skip
        found.append((told.estimates, told.diagnostics, told.notes))
    assert found[0] == found[1]
    kept = rows.drop(columns="input_versions").astype(object).where(rows.notna(), None)
    mine = pd.DataFrame(found[0][0])[kept.columns]
    key = ["model", "contrast", "design", "slice", "estimand", "method"]
    pd.testing.assert_frame_equal(
        mine.astype(object).where(mine.notna(), None).sort_values(key, ignore_index=True),
        kept.sort_values(key, ignore_index=True), check_dtype=False, check_exact=True,
    )  # fmt: skip


def test_a_group_holds_integers_and_is_the_direct_call(spark, made) -> None:
    cfg, docs, scores, replies = made
    shown, answered, known = (
        planted.table(spark, t, name)
        for t, name in ((docs, "pair_documents"), (scores, "scores"), (replies, "replies"))
    )
    lists = callbacks.codes(shown, cfg)
    pairs = callbacks.pairs(answered, shown, known, cfg, lists)
    assert {t for _, t in pairs.dtypes} == {"int", "bigint", "boolean", "double"}
    frame = pairs.toPandas()
    keys = ["model", "contrast", "posting", "pair_id", "within", "replicate"]
    assert not frame.duplicated(keys).any()
    assert len(frame) == scores.shape[0] / 2
    payloads = callbacks.estimate(pairs, cfg, lists).collect()
    asked = callback_slices.Asked.of(cfg, lists.values, lists.names)
    contrasts = [*cfg.contrasts, "placebo"]
    slot = list(MODELS).index("old") * 3 + contrasts.index("race")
    (got,) = [json.loads(r["payload"]) for r in payloads if r["slot"] == slot]
    mine = frame[frame.model == list(MODELS).index("old")]
    mine = mine[mine.contrast.isin([contrasts.index("race"), 2])]
    want = callback_slices.analyse(mine, asked, contrast="race")
    assert {k: got[k] for k in want} == want


def test_views_and_questions_equal_pandas(spark, warehouse, made, rows) -> None:
    def answer(folder: str, name: str) -> pd.DataFrame:
        file = resources.path("sql", folder, name)
        ((_, frame),) = sql.run_file(spark, warehouse, file)
        found = frame.toPandas()
        assert len(found)
        assert not found.duplicated(sql.key(file.read_text(encoding="utf-8"))).any()
        return found

    _, docs, scores, _ = made
    both = scores.merge(docs.drop(columns=["contrast", "audit_id"]), on="document_id")
    keys = ["model", "contrast", "kind", "race", "gender"]
    expected = both.groupby(keys).agg(asked=("outcome", "size"), callback_rate=("score", "mean"))
    expected["unparseable"] = (both.outcome != "ok").groupby([both[k] for k in keys]).sum()
    got = answer("views", "callback_outcomes.sql").set_index(keys).sort_index()
    pd.testing.assert_frame_equal(
        got[list(expected.columns)], expected.sort_index(), check_dtype=False
    )

    roll = answer("views", "callback_rollup.sql")
    gaps = rows[(rows.design == "paired_callback") & (rows.model != "panel")]
    gaps = gaps[(gaps.estimand == "callback_gap_pp") & (gaps.method == "cluster_posting_names")]
    assert len(roll) == len(gaps)
    roll = roll.set_index(["model", "contrast", "slice"])
    for row in gaps.itertuples():
        mine = roll.loc[(row.model, row.contrast, row.slice)]
        assert mine.n == row.n
        if row.status == "not_computable":
            assert np.isnan(mine.gap_pp)
            assert mine.reason == row.reason
            continue
        assert (mine.gap_pp, mine.low, mine.high) == pytest.approx(
            (row.estimate, row.ci_low, row.ci_high), nan_ok=True
        )
        assert 100 * (mine.rate_favored - mine.rate_other) == pytest.approx(mine.gap_pp)
        flip = one(rows, row.model, row.contrast, method="sign_flip_posting", where=row.slice)
        assert mine.sign_flip_p_value == flip["p_value"]
    pooled = roll.loc[("old", "race", "all")]
    placebo = one(rows, "old", "placebo", where="control=placebo")
    assert pooled.placebo_gap_pp == placebo["estimate"]
    shares = [one(rows, "old", "race", "discordant_share", "counts",
                  f"control=placebo; pairs={kind}")["estimate"]
              for kind in ("real", "placebo")]  # fmt: skip
    assert [pooled.discordant_share, pooled.placebo_discordant_share] == shares

    questions = {f.name for f in resources.path("sql", "questions").glob("callback*.sql")}
    assert questions == {"callback_panel.sql", "callbacks_walk_back.sql"}
    panel = answer("questions", "callback_panel.sql")
    assert len(panel) == 9
    mine = panel.set_index(["model", "contrast"]).loc[("race", "race")]
    assert mine.gap_pp == one(rows, "race", "race")["estimate"]
    trend = one(rows, "panel", "race", "gap_trend_pp_per_year", "reml_knapp_hartung")
    assert mine.trend_pp_per_year == trend["estimate"]
    back = answer("questions", "callbacks_walk_back.sql")
    assert back.position.nunique() == 10
    assert set(back.side) == {"favored", "other"}
    assert (set(back.profile), set(back.posting)) == ({"a profile"}, {"a posting"})
    largest = gaps[gaps.slice == "all"].set_index(["model", "contrast"]).estimate.abs().idxmax()
    assert {tuple(k) for k in back[["model", "contrast"]].to_numpy()} == {largest}
