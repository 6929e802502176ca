"""A ranking audit from a file of resumes to report and MLflow, against its answers by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import planted_ranker as ranker
import small_ranking as small
from fairscreen import resources, sql, tracking
from fairscreen.analyze_ranking import analyze_ranking
from fairscreen.audits import ranking as audit
from fairscreen.config import load
from fairscreen.scoring.screeners.planted_ranking import PlantedRankingParams
from fairscreen.stations import rank_documents
from model_server import serving
from small_jobs import main


@pytest.fixture(scope="module")
def ran(spark, tmp_path_factory):
    """The audit's folder, arguments and summary."""
    folder = tmp_path_factory.mktemp("ranking")
    says = ranker.replies({"served": small.SERVED})
    with serving(says=says, faults={"refusal": 0.03}) as server:
        given = small.arguments(folder, server.url)
        assert main("rank_audit")(given) == 0
        assert set(server.keys) == {""}
    summary = json.loads((folder / "out" / small.AUDIT / "summary.json").read_text())
    return folder, given, summary


@pytest.fixture(scope="module")
def warehouse(spark, ran):
    from fairscreen.tables import Warehouse

    return Warehouse(spark, str(ran[0] / "warehouse"))


@pytest.fixture(scope="module")
def tables(warehouse) -> dict[str, pd.DataFrame]:
    names = ("rank_documents", "documents", "contents", "requests", "scores", "estimates",
             "leakage_hits", "diagnostics", "replies")  # fmt: skip
    return {name: warehouse.read(name).toPandas() for name in names}


@pytest.fixture(scope="module")
def cfg(ran):
    overrides = [a for a in ran[1][1:-4] if a != "--set"]
    return load(small.CONFIG, overrides)


def estimate(tables, model: str, where: str, estimand: str, method: str, design="ranking"):
    rows = tables["estimates"]
    key = {"design": design, "model": model, "slice": where, "estimand": estimand, "method": method}
    for column, value in key.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return row


def test_documents_are_resumes_by_level_and_label(tables, ran) -> None:
    docs = tables["rank_documents"]
    main_docs = docs[docs.kind.isin(["label", "none"])]
    assert len(main_docs) == 16 * 3 * 3
    assert docs.document_id.is_unique
    assert set(docs[docs.kind == "placebo"].label) == {"Blue", "Green"}
    controlled = docs[docs.kind == "repeat"].resume_id.nunique()
    assert 0 < controlled < 16
    assert len(docs) == len(main_docs) + 3 * 3 * controlled
    # Words are of what is shown, without the label; nothing but the label line differs.
    for _, part in main_docs.groupby(["resume_id", "information"]):
        assert part.words.nunique() == 1
        texts = part.set_index("version").text
        for label in ("Male", "Female"):
            assert texts[label] == f"Gender: {label};\n{texts['none']}"
        assert part.words.iloc[0] == len(texts["none"].split())
    levels = main_docs.groupby("information").words.mean()
    assert list(levels.index) == list(small.LEVELS)
    assert levels.is_monotonic_increasing
    # Contents hold each text once, and the roles.
    kept = tables["contents"].set_index("content_key").text
    assert (kept[docs.content_key].to_numpy() == docs.text.to_numpy()).all()
    assert set(kept[docs.prompt_key]) == set(docs.role)
    assert ran[2]["resumes"] == {"resumes": 16, "excluded": 0, "flagged": 1}
    (hit,) = tables["leakage_hits"].to_dict("records")
    assert (hit["kind"], hit["text"], hit["industry"]) == (
        "gender_field", "Gender: Female", small.GIVEN_AWAY,
    )  # fmt: skip


def test_a_repeat_is_another_call_about_the_same_text(tables) -> None:
    docs = tables["rank_documents"].set_index("document_id")
    asked = tables["requests"]
    asked = asked[asked.model == "planted"].set_index("document_id")
    assert len(asked) == len(docs)
    for name, doc in docs[docs.kind == "repeat"].iterrows():
        first = f"{doc.resume_id}/{doc.information}/{doc.label}"
        assert doc.content_key == docs.loc[first, "content_key"]
        assert (asked.loc[first, "replicate"], asked.loc[name, "replicate"]) == (0, 1)
        assert asked.loc[first, "call_key"] != asked.loc[name, "call_key"]


def test_replies_are_those_of_the_planted_ranker(tables) -> None:
    served = tables["scores"][tables["scores"].model == "served"]
    docs = tables["rank_documents"].set_index("document_id")
    assert set(served.outcome) == {"ok", "refused"}
    assert set(served.parser) == {"score_0_10_json/2"}
    from fairscreen.scoring import prompts

    template = prompts.load("score_0_10_json", "prompt")
    for row in served[served.outcome == "ok"].head(60).itertuples():
        doc = docs.loc[row.document_id]
        prompt = "".join(part.text for part in template.filled(doc.role, doc.text).user)
        assert float(row.score) == json.loads(ranker.reply(small.SERVED, prompt))["Score"]


@pytest.mark.parametrize("model", ["planted", "served"])
def test_estimates_are_those_of_analyze_ranking(tables, cfg, model: str) -> None:
    rows = tables["scores"].merge(
        tables["rank_documents"].drop(columns=["audit_id", "content_key"]),
        on=["document_id", "version"],
    )
    rows = rows[(rows.model == model) & rows.kind.isin(["label", "none"])]
    rows["score"] = rows["score"].astype(float)
    beside = analyze_ranking(
        rows, item=["resume_id"], version="version", favored="Male", other="Female",
        neutral="none", score="score", words="words", slices=["industry", "information"],
        margin=cfg.estimation.equivalence_margin, draws=999, swaps=199, seed=cfg.seed,
    )  # fmt: skip
    key = ["slice", "estimand", "method"]
    columns = ["estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "status", "reason",
               "favors_when_positive"]  # fmt: skip
    mine = tables["estimates"]
    mine = mine[(mine.design == "ranking") & (mine.model == model)]
    mine = mine[~mine.slice.str.contains("cues=")]
    mine = mine[[*key, *columns]].sort_values(key, ignore_index=True)
    theirs = pd.DataFrame(beside["rows"])
    # The published tests are made by industry and pooled.
    published = theirs.method.eq("pooled_permutation_published")
    theirs = theirs[~(published & theirs.slice.str.contains("information="))]
    theirs = theirs[[*key, *columns]].sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(
        mine.astype(object).where(mine.notna(), None),
        theirs.astype(object).where(theirs.notna(), None), check_exact=True, check_dtype=False,
    )  # fmt: skip
    assert len(mine) > 300


def test_the_planted_screener_is_found_out(tables) -> None:
    docs = tables["rank_documents"]
    sets = docs[docs.kind == "none"]
    known = ranker.truth(
        PlantedRankingParams(**small.PLANTED), key=sets.resume_id.tolist(),
        words=sets.words.tolist(), item=sets.resume_id.tolist(),
    )  # fmt: skip
    level = estimate(tables, "planted", "all", "rank_gap", "sign_flip_exact")
    assert level["ci_low"] < known.rank_gap < level["ci_high"]
    assert (known.rank_gap > 0.5, level["p_value"] < 0.01) == (True, True)
    assert level["favors_when_positive"] == "Female"
    assert level["family"] == "rank_gap by all"
    slope = estimate(tables, "planted", "all", "information_slope", "fixed_effects_cluster")
    assert slope["ci_low"] < known.slope < slope["ci_high"]
    ratio = estimate(tables, "planted", "all", "impact_ratio", "ranks_at_least_tied")
    assert ratio["ci_low"] < known.impact_ratio < ratio["ci_high"]
    assert ratio["reason"] == "below_four_fifths"
    served = estimate(tables, "served", "all", "rank_gap", "sign_flip_exact")
    assert served["estimate"] < 0  # there men are favored
    # 16 resumes are few: the wild cluster bootstrap stands beside.
    estimate(tables, "planted", "all", "information_slope", "wild_cluster_bootstrap")


def test_incomplete_sets_enter_nothing_and_are_told(tables, ran) -> None:
    scores = tables["scores"].merge(
        tables["rank_documents"][["document_id", "resume_id", "kind", "information"]],
        on="document_id",
    )
    mine = scores[(scores.model == "served") & scores.kind.isin(["label", "none"])]
    whole = mine.groupby(["resume_id", "information"]).outcome.agg(lambda s: (s == "ok").all())
    assert 0 < (~whole).sum() < len(whole)
    told = tables["diagnostics"]
    told = told[(told.model == "served") & (told.slice == "all")].set_index("name")["value"]
    assert (told["complete"], told["incomplete"]) == (whole.sum(), (~whole).sum())
    assert estimate(tables, "served", "all", "rank_gap", "sign_flip_exact")["n"] == whole.sum()
    assert any(n.startswith(f"served: {(~whole).sum()} of 48 rank sets") for n in ran[2]["notes"])
    groups = ran[2]["outcomes_by_group"]["served"]
    assert set(groups) >= {"label=Male", "label=none", "industry=FINANCE"}


def test_flagged_resumes_are_told_apart_and_controls_beside(tables) -> None:
    without = estimate(tables, "planted", "cues=none", "rank_gap", "sign_flip_exact")
    assert (without["n"], without["family"]) == (45, None)
    found = estimate(tables, "planted", "cues=found", "rank_gap", "sign_flip_exact")
    assert (found["n"], found["status"]) == (3, "flagged")
    docs = tables["rank_documents"]
    n = len(docs[docs.kind == "repeat"])
    for control in ("placebo_label", "placebo_repeat"):
        row = estimate(
            tables, "planted", f"control={control}", "rank_gap", "sign_flip_exact", "placebo"
        )
        assert (row["n"], row["family"]) == (n, None)
    minus = estimate(
        tables, "planted", "control=placebo_label", "rank_gap_minus_control", "sign_flip_exact",
        "placebo",
    )  # fmt: skip
    assert minus["estimate"] > 0


def test_views_and_questions_equal_pandas(spark, warehouse, tables) -> None:
    def answer(folder: str, name: str) -> pd.DataFrame:
        file = resources.path("sql", folder, name)
        ((_, frame),) = sql.run_file(spark, warehouse, file)
        rows = frame.toPandas()
        assert len(rows)
        assert not rows.duplicated(sql.key(file.read_text(encoding="utf-8"))).any()
        return rows

    outcomes = answer("views", "rank_outcomes.sql")
    both = tables["scores"].merge(
        tables["rank_documents"][["document_id", "industry"]], on="document_id"
    )
    both["score"] = both["score"].astype(float)
    keys = ["model", "industry", "version"]
    expected = both.groupby(keys).agg(asked=("outcome", "size"), mean_score=("score", "mean"))
    expected["refused"] = (both.outcome == "refused").groupby([both[k] for k in keys]).sum()
    got = outcomes.set_index(keys).sort_index()[list(expected.columns)]
    pd.testing.assert_frame_equal(got, expected.sort_index(), check_dtype=False)

    rows = tables["estimates"][tables["estimates"].design == "ranking"]
    bound = 0.05 / rows.family.notna().sum()
    rollup = answer("views", "ranking_rollup.sql").set_index(["model", "information"])
    assert set(rollup.index) == {
        (m, i) for m in ("planted", "served") for i in ("all", "30", "60", "100")
    }
    assert np.allclose(rollup.threshold, bound)
    for (model, level), got in rollup.iterrows():
        ending = "" if level == "all" else f"; information={level}"
        wanted = [f"industry={industry}{ending}" for industry in small.INDUSTRIES]
        mine = rows[(rows.model == model) & rows.slice.isin(wanted)]
        gaps = mine[(mine.estimand == "rank_gap") & (mine.method == "sign_flip_exact")]
        assert (got.industries, len(gaps)) == (2, 2)
        assert got.level_significant == (gaps.p_value <= bound).sum()
        ratio = mine[mine.estimand == "impact_ratio"].estimate
        assert got.below_four_fifths == (ratio < 0.8).sum()
        pooled_test = mine[mine.method == "pooled_permutation_published"]
        pooled_test = pooled_test[pooled_test.estimand == "rank_gap"].p_value
        if level == "all":
            assert got.level_significant_published == (pooled_test <= bound).sum()
        else:
            assert np.isnan(got.level_significant_published)
            assert pooled_test.empty
        other = mine[mine.estimand == "impact_ratio_uncapped"].estimate
        assert got.below_four_fifths_other == (other > 1.25).sum()
        pooled = "all" if level == "all" else f"information={level}"
        one = estimate(tables, model, pooled, "rank_gap", "sign_flip_exact")
        assert got.rank_gap == one["estimate"]
        slope = estimate(tables, model, "all", "information_slope", "fixed_effects_cluster")
        assert (got.slope == slope["estimate"]) if level == "all" else np.isnan(got.slope)
    assert rollup.loc[("planted", "all"), "below_four_fifths"] == 2
    assert rollup.loc[("served", "all"), "below_four_fifths_other"] > 0

    questions = {f.name for f in resources.path("sql", "questions").glob("ranking_*.sql")}
    assert questions == {"ranking_four_fifths.sql", "ranking_walk_back.sql"}
    failing = answer("questions", "ranking_four_fifths.sql")
    ratios = rows[rows.estimand == "impact_ratio_uncapped"].dropna(subset=["estimate"])
    ratios = ratios[(ratios.estimate > 0) & ((ratios.estimate < 0.8) | (ratios.estimate > 1.25))]
    assert len(failing) == len(ratios)
    assert (failing.impact_ratio < 0.8).all()
    assert set(failing.ranked_worse) == {"favored", "other"}
    back = answer("questions", "ranking_walk_back.sql")
    assert back.position.nunique() == 10
    assert set(back.version) == {"Male", "Female", "none"}
    assert back.resume.notna().all()
    assert back.raw_reply.str.contains("Score").all()


def test_the_report_says_it_in_words(ran, tables) -> None:
    page = Path(ran[2]["report_path"]).read_text(encoding="utf-8")
    level = estimate(tables, "planted", "all", "rank_gap", "sign_flip_exact")
    assert f"with the label Female the same resume is ranked {level['estimate']:.2f} places" in page
    for part in ("SIMULATED SCREENER: planted", "below four fifths, a warning", "taste-based",
                 "no proof of taste", "Without the resumes whose own text", "one label asked twice",
                 "ranking_walk_back.sql"):  # fmt: skip
        assert part in page
    assert "<script" not in page
    effects = ran[2]["effects"]
    assert {e["slice"] for e in effects} == {"all", *(f"industry={i}" for i in small.INDUSTRIES)}
    assert {e["model"] for e in effects} == {"planted", "served"}


def test_each_model_has_its_run(ran, cfg) -> None:
    folder, _, summary = ran
    client, _ = tracking.connect(load(small.CONFIG, [f"warehouse={folder / 'warehouse'}"]))
    assert set(summary["mlflow_run_ids"]) == {"planted", "served"}
    run = client.get_run(summary["mlflow_run_ids"]["served"])
    assert (run.info.status, run.data.tags["design"]) == ("FINISHED", "ranking")
    metric = "rank_gap.gender.male_vs_female.all.sign_flip_exact.estimate"
    assert run.data.metrics[metric] < 0
    assert run.data.params["labels.attribute"] == "Gender"


def test_again_asks_nothing_and_another_test_option_neither(ran, capsys) -> None:
    folder, given, _ = ran
    assert main("rank_audit")(given) == 0
    again = json.loads((folder / "out" / small.AUDIT / "summary.json").read_text())
    assert again["asked"] == 0
    assert again["kept_stages"] == ["render", "score", "estimate", "report"]
    capsys.readouterr()
    argv = [*given, "--set", "estimation.equivalence_margin=0.5", "--json", "-"]
    assert main("estimate")(argv) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["asked"], told["kept_stages"]) == (0, ["render", "score"])


def test_documents_and_estimates_do_not_depend_on_partitions(warehouse, tables, cfg) -> None:
    corpus = warehouse.read("corpus_resume")
    made = []
    for partitions in (1, 200):
        taken = rank_documents.chosen(corpus.repartition(partitions), cfg)
        rows = rank_documents.documents(rank_documents.treat(taken, cfg), cfg)
        frame = rows.toPandas().sort_values("document_id", ignore_index=True)
        made.append(frame[tables["rank_documents"].columns])
    kept = tables["rank_documents"].sort_values("document_id", ignore_index=True)
    for frame in made:
        pd.testing.assert_frame_equal(frame, kept, check_dtype=False)
    scores, docs = warehouse.read("scores"), warehouse.read("rank_documents")
    found = [
        audit.run(
            scores.repartition(n), docs.repartition(n), cfg, config_hash="h", input_versions={}
        ).estimates
        for n in (1, 16)
    ]
    assert found[0] == found[1]
