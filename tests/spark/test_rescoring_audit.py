"""Counterfactual rescoring from applicants to estimates, against the versions' scores by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import population_inputs as inputs
from fairscreen.audits import path_specific as audit
from fairscreen.audits import ungrouped
from fairscreen.documents import render
from fairscreen.documents.keys import MEDIA_TYPE_TEXT
from fairscreen.estimators.results import CONTRASTS, EFFECTS
from fairscreen.population import rows, versions
from fairscreen.scoring.score import score
from fairscreen.scoring.screeners.planted import PlantedParams, mean_score

JOBS = {"registered_nurses": "3255", "accountants": "0800"}
N = 60  # applicants per job
ORDER = ("x1", "x0", "x1_w_x0", "b_x0_r_x1", "b_x1_r_x0")  # E1, E0, E_W, E_B, E_R
MODELS = {
    "exact": {"kind": "planted", "params": {"noise_sd": 0}},
    "noisy": {"kind": "planted", "params": {"noise_sd": 5}},
    # Scores above 100 are no scores: some applicants lack some versions.
    "high": {"kind": "planted", "params": {"base": 80}},
}
OVERRIDES = (
    "audit_id=versions",
    "population.jobs=" + json.dumps(
        {k: {"title": k, "occp": [v], "psid_occp": [v]} for k, v in JOBS.items()}
    ),
    "population.experience.match_survey=false",
    "population.experience.rounds=10", "population.experience.choose_rounds=false",
    "scoring.models=" + json.dumps(MODELS), "scoring.shards=2",
    "estimation.approach=both", "estimation.placebo_share=0.3",
    "estimation.learner=saturated", "estimation.repeats=1", "estimation.folds=2",
    "estimation.bootstrap_draws=0",
    "estimation.roles.redlining=[first_name_gender, surname_race, region]",
    "estimation.roles.business=[edu_group, exp_year]",
    "estimation.roles.bins={age: [30], exp_year: [5]}",
    "estimation.overlap.min_effective_n=2", "estimation.overlap.max_unit_share=0.9",
    "estimation.overlap.max_clipped_share=0.9", "estimation.overlap.sensitivity_clips=[]",
)  # fmt: skip


@pytest.fixture(scope="module")
def made(spark, tmp_path_factory):
    """The audit's config, its warehouse with everything up to scores, and what scoring did."""
    from fairscreen.tables import Warehouse

    cfg, generator = inputs.generator(*OVERRIDES)
    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("rescoring") / "warehouse"))
    people = pd.concat([inputs.simulate(cfg, generator, job, N) for job in JOBS])
    table = pa.Table.from_pandas(people, rows.arrow_schema("applicants"), preserve_index=False)
    warehouse.replace("applicants", spark.createDataFrame(table), where="true")
    drawn = warehouse.read("applicants")
    warehouse.replace("versions", versions.versions(drawn, generator, cfg), where="true")
    rendered = render.render(drawn, cfg, warehouse.read("versions"))
    warehouse.replace("documents", render.documents(rendered), where="true")
    texts = [
        {"content_key": key, "media_type": MEDIA_TYPE_TEXT, "text": text}
        for _, key, text in render.job_descriptions(cfg)
    ]
    contents = render.contents(rendered).unionByName(warehouse.rows("contents", texts))
    warehouse.insert_new("contents", contents, keys=["content_key"])
    return cfg, warehouse, score(warehouse, cfg)


@pytest.fixture(scope="module")
def tables(made) -> dict[str, pd.DataFrame]:
    _, warehouse, _ = made
    names = ("applicants", "versions", "documents", "contents", "requests", "scores")
    return {name: warehouse.read(name).toPandas() for name in names}


@pytest.fixture(scope="module")
def result(made):
    return estimates(made, 1)


def estimates(made, partitions: int) -> audit.AuditResult:
    cfg, warehouse, _ = made
    people, scores = (
        warehouse.read(name).repartition(partitions) for name in ("applicants", "scores")
    )
    return audit.run(people, scores, None, cfg, config_hash="h", input_versions={})


def number(result, model, contrast, piece, estimand, method):
    key = (model, contrast, piece, estimand, method)
    (row,) = (
        r for r in result.estimates
        if tuple(r[k] for k in ("model", "contrast", "slice", "estimand", "method")) == key
    )  # fmt: skip
    return row


def by_hand(tables, cfg, model: str, contrast: str) -> pd.DataFrame:
    """E1 to E_R of every applicant from the coefficients and his rows of `versions`; his weight."""
    p = PlantedParams(**MODELS[model]["params"])
    ranks = {group: i for i, group in enumerate(cfg.population.education_groups)}
    mine = tables["versions"][tables["versions"]["contrast"] == contrast]
    told = mine.assign(
        edu_rank=mine["edu_group"].map(ranks), exp_months=(mine["exp_year"] * 12).round()
    )
    scored = [round(mean_score(p, row), 4) for row in told.to_dict("records")]
    wide = mine.assign(y=scored).pivot(index="applicant_id", columns="version", values="y")
    people = tables["applicants"].set_index("applicant_id")
    weight = f"z_weight_{cfg.estimation.contrasts[contrast].attribute}"
    wide["job"], wide["w"] = people["job"], people[weight].astype(float)
    return wide


def test_the_version_of_what_somebody_is_is_his_own_document_and_the_same_call(tables, made):
    cfg, _, done = made
    requests = tables["requests"]
    own = requests[requests["version"].isna()].set_index(["applicant_id", "model"])
    people = tables["applicants"].set_index("applicant_id")
    for name, contrast in cfg.estimation.contrasts.items():
        for side in ("x1", "x0"):
            inside = people[people[contrast.attribute].isin(getattr(contrast, side))].index
            mine = requests[(requests["contrast"] == name) & (requests["version"] == side)]
            mine = mine[mine["applicant_id"].isin(inside)].set_index(["applicant_id", "model"])
            assert len(mine) == len(MODELS) * len(inside) > 0
            for key in ("content_key", "call_key"):
                assert (mine[key] == own.loc[mine.index, key]).all()
    assert done.asked == requests["call_key"].nunique()
    assert done.asked + done.reused == len(requests)
    documents = tables["documents"]
    assert documents["document_id"].is_unique
    assert len(documents[documents["version"].isna()]) == 2 * N
    # x1 itself with all mediators of x0 is another call to who is told X, of the same text.
    by = requests[requests["model"] == "exact"].set_index(["applicant_id", "contrast", "version"])
    told, x0 = (by.xs(v, level="version") for v in ("x1_w_x0", "x0"))
    assert (told["content_key"] == x0.loc[told.index, "content_key"]).all()
    assert (told["call_key"] != x0.loc[told.index, "call_key"]).all()


def test_crossed_versions_take_names_and_place_of_one_and_qualifications_of_the_other(tables):
    mine = tables["versions"][tables["versions"]["contrast"] == "male_vs_female"]
    by = {v: f.set_index("applicant_id").sort_index() for v, f in mine.groupby("version")}
    for crossed, r, b in (("b_x0_r_x1", "x1", "x0"), ("b_x1_r_x0", "x0", "x1")):
        for column in ("first_name", "surname", "state"):
            assert by[crossed][column].equals(by[r][column])
        alike = by["x1"]["region"] == by["x0"]["region"]  # B is drawn given R
        for column in ("edu_level", "exp_year"):
            assert by[crossed][column][alike].equals(by[b][column][alike])
    assert (by["x1"]["first_name"] != by["x0"]["first_name"]).mean() > 0.5
    assert {v: set(f["gender"]) for v, f in by.items()} == {
        v: {"female"} if v == "x0" else {"male"} for v in ORDER
    }  # fmt: skip


def test_a_placebo_is_the_same_call_twice_or_another_name_of_the_same_kind(tables):
    requests, people = tables["requests"], tables["applicants"].set_index("applicant_id")
    mine = requests[requests["model"] == "exact"].set_index("applicant_id")
    own = mine[mine["version"].isna()]
    repeat, named = (mine[mine["version"] == v] for v in ("placebo_repeat", "placebo_name"))
    assert set(repeat.index) == set(named.index)
    assert 0.15 < len(repeat) / len(people) < 0.45
    assert (repeat["content_key"] == own.loc[repeat.index, "content_key"]).all()
    assert (repeat["call_key"] != own.loc[repeat.index, "call_key"]).all()
    assert set(requests.loc[requests["replicate"] == 1, "version"]) == {"placebo_repeat"}
    again = tables["versions"].query("version == 'placebo_name'").set_index("applicant_id")
    before = people.loc[again.index]
    for column in ("gender", "race", "age", "state", "edu_level", "exp_year"):
        assert again[column].equals(before[column])
    assert (again["first_name"] != before["first_name"]).mean() > 0.8
    texts = tables["contents"].set_index("content_key")["text"]
    one, two = (texts[k].splitlines() for k in (own["content_key"][again.index[0]],
                                               named["content_key"][again.index[0]]))  # fmt: skip
    assert [a.split(":")[0] for a, b in zip(one[1:], two[1:], strict=True) if a != b] == ["Email"]


@pytest.mark.parametrize("contrast", ["male_vs_female", "white_vs_rest"])
@pytest.mark.parametrize("piece", ["all", "job=registered_nurses"])
def test_rescoring_is_the_mean_of_the_versions_scores(tables, made, result, contrast, piece):
    cfg, _, _ = made
    wide = by_hand(tables, cfg, "exact", contrast)
    wide = wide[(wide["w"] > 0) & ((piece == "all") | (wide["job"] == piece.removeprefix("job=")))]
    psi = wide[list(ORDER)].to_numpy() @ CONTRASTS.T
    truth = np.average(psi, axis=0, weights=wide["w"])
    assert abs(truth[EFFECTS.index("BIE")]) > 0.01 < abs(truth[EFFECTS.index("RIE")])
    for at, name in enumerate(EFFECTS):
        row = number(result, "exact", contrast, piece, name, "rescoring")
        assert row["estimate"] == pytest.approx(truth[at], abs=1e-9)
        assert row["n"] == len(wide)
        # The noise is the applicant's, the same in all versions: only its rounding is left.
        noisy = number(result, "noisy", contrast, piece, name, "rescoring")
        assert noisy["estimate"] == pytest.approx(truth[at], abs=2e-4)
    direct = {"male_vs_female": 2.0, "white_vs_rest": 1.5}[contrast]
    nde = number(result, "exact", contrast, piece, "NDE", "rescoring")
    assert nde["estimate"] == pytest.approx(direct, abs=1e-9)


def test_the_difference_is_that_of_both_estimates_and_wald_says_how_sure(result):
    seen = 0
    for contrast in ("male_vs_female", "white_vs_rest"):
        for name in EFFECTS:
            one, two, gap = (
                number(result, "noisy", contrast, "all", name, method)
                for method in ("eif", "rescoring", "observational_minus_rescoring")
            )
            if one["estimate"] is None:
                assert gap["reason"] == f"observational: {one['reason']}"
                continue
            seen += 1
            assert gap["estimate"] == pytest.approx(one["estimate"] - two["estimate"], abs=1e-9)
            assert gap["ci_low"] < gap["estimate"] < gap["ci_high"]
            assert "grouping" in gap["title"]
    assert seen >= 5
    # Of the effects that have both estimates: too few men bear women's names here.
    for contrast, named in (("male_vs_female", "NDE"), ("white_vs_rest", "NDE, BIE, RIE")):
        wald = number(result, "noisy", contrast, "all", "agreement", "wald")
        assert wald["estimate"] > 0
        assert 0 <= wald["p_value"] <= 1
        degrees = len(named.split(", "))
        assert wald["reason"] == f"chi-squared of {named}; degrees of freedom: {degrees}"


def test_the_estimate_with_ungrouped_mediators_is_compared_too(made, result):
    cfg, warehouse, _ = made
    people, scores = (warehouse.read(name) for name in ("applicants", "scores"))
    fine = ungrouped.run(people, scores, cfg, config_hash="h", input_versions={})
    mine = [r for r in fine.estimates if (r["model"], r["slice"]) == ("noisy", "all")]
    rows = {(r["contrast"], r["estimand"], r["method"]): r for r in mine}
    assert len(rows) == len(mine) == 2 * (5 + 5 + 1)
    compared = []
    for contrast in cfg.estimation.contrasts:
        for name in EFFECTS:
            one, gap = (
                rows[contrast, name, m] for m in ("eif_ungrouped", "ungrouped_minus_rescoring")
            )
            if one["estimate"] is None:
                assert gap["reason"] == f"observational: {one['reason']}"
                continue
            compared.append((contrast, name))
            two = number(result, "noisy", contrast, "all", name, "rescoring")
            assert gap["estimate"] == pytest.approx(one["estimate"] - two["estimate"], abs=1e-9)
            assert gap["n"] == two["n"]
            assert gap["std_error"] > 0
            assert gap["ci_low"] < gap["estimate"] < gap["ci_high"]
            coarse = number(result, "noisy", contrast, "all", name, "observational_minus_rescoring")
            assert gap["estimate"] != coarse["estimate"]
        wald = rows[contrast, "agreement", "wald_ungrouped"]
        named = [e for e in ("NDE", "BIE", "RIE") if (contrast, e) in compared]
        assert (wald["p_value"] is None) == (not named)
        if named:
            degrees = f"{', '.join(named)}; degrees of freedom: {len(named)}"
            assert wald["reason"] == f"chi-squared of {degrees}"
    assert ("white_vs_rest", "NDE") in compared
    assert all(r["family"] is None for r in fine.estimates)
    assert {r["method"] for r in fine.overlap} == {"eif_ungrouped"}
    places = {(r["model"], r["contrast"], r["slice"]) for r in fine.overlap}
    assert len(places) == len(MODELS) * 2 * 3


def test_who_lacks_a_version_is_left_out_and_counted(tables, result):
    scores = tables["scores"]
    mine = scores[(scores["model"] == "high") & (scores["contrast"] == "male_vs_female")]
    lacking = mine[mine["outcome"] != "ok"]
    lost = set(lacking["applicant_id"])
    assert 0 < len(lost) < 2 * N
    (note,) = (n for n in result.notes if n.startswith("high, text, male_vs_female:"))
    assert f"{len(lost)} of {2 * N} applicants lack the score of a version" in note
    for version, count in lacking.groupby("version").size().items():
        assert f"{version} {count}" in note
    weight = tables["applicants"].set_index("applicant_id")["z_weight_gender"].astype(float)
    left = weight[weight > 0].drop(lost, errors="ignore")
    row = number(result, "high", "male_vs_female", "all", "TE", "rescoring")
    assert row["n"] == len(left)


def test_rescoring_leads_the_families_and_the_patterns(result):
    tested = [r for r in result.estimates if r["family"] is not None]
    assert {r["method"] for r in tested} == {"rescoring", "rescoring_difference"}
    for r in tested:
        assert r["p_holm"] >= r["p_value"]
        assert r["p_maxt"] is not None
    assert any(r["verdict"] == "yes" for r in result.patterns if r["model"] == "exact")
    flips = [r for r in result.estimates if r["method"] == "rescoring_sign_flip"]
    assert all(0 < r["p_value"] <= 1 for r in flips)


def test_placebos_of_a_screener_that_is_sure_of_itself_are_0(result):
    for name, zero in (("placebo_repeat", True), ("placebo_name", False)):
        row = number(result, "noisy", "placebo", "all", name, "rescoring")
        differ = number(result, "noisy", "placebo", "all", name, "share_differ")["estimate"]
        assert (row["estimate"] == 0) is zero
        assert (differ == 0) is zero


def test_partitions_change_nothing_and_a_run_again_asks_nothing(made, result):
    assert estimates(made, 200).estimates == result.estimates
    cfg, warehouse, _ = made
    assert score(warehouse, cfg).asked == 0
