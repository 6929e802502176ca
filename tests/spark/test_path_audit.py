"""Cells against a pandas recomputation; the audit's numbers against the estimator on people."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import functions as sf

from fairscreen import resources
from fairscreen.audits import influence as influence_of
from fairscreen.audits import path_rows
from fairscreen.audits import path_specific as audit
from fairscreen.audits.cells import cases, cells, coded
from fairscreen.audits.coding import code_lists
from fairscreen.config import load
from fairscreen.errors import ConfigError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import path_effects
from fairscreen.estimators.results import EFFECTS
from fairscreen.estimators.selection import Outcomes, outcome_rows
from fairscreen.tables import ddl_statements
from path_audit import OVERRIDES, averaged, made_answers, made_people, made_tables, person_rows


@pytest.fixture(scope="module")
def cfg():
    return load(resources.path("conf", "audits", "demo.yml"), OVERRIDES)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return made_people()


@pytest.fixture(scope="module")
def answers(people: pd.DataFrame) -> pd.DataFrame:
    return made_answers(people)


@pytest.fixture(scope="module")
def tables(spark, people, answers):
    return made_tables(spark, people, answers)


@pytest.fixture(scope="module")
def result(tables, cfg):
    return audit.run(*tables, None, cfg, config_hash="h", input_versions={"scores": 3})


def test_cells_equal_a_recomputation_in_pandas(tables, people, answers, cfg) -> None:
    applicants, scores = tables
    codes = code_lists(applicants, cfg)
    got = cells(coded(applicants, scores, None, cfg, codes)).toPandas()
    got = got[(got["model"] == "a") & (got["contrast"] == "male_vs_female")]
    pooled = got[got["slice"] == "all"]
    assert int(pooled["n"].sum()) == len(people) - 2
    assert got[got["slice"] != "all"]["n"].sum() == pooled["n"].sum()
    expected = person_rows(people, answers, cfg, "a", None)

    def key(frame):
        return sorted(
            (int(x), *map(int, (*z, *r, *b, *f)), float(w), int(n), float(s), round(float(q), 6))
            for x, z, r, b, f, w, n, s, q in frame
        )

    mine = zip(
        pooled["x"], pooled["z"], pooled["r"], pooled["b"], pooled["fold"], pooled["w"],
        pooled["n"], pooled["sum_y"], pooled["sum_yy"], strict=True,
    )  # fmt: skip
    theirs = zip(
        expected.x, expected.z, expected.r, expected.b, expected.fold, expected.w, expected.n,
        np.round(expected.sum_y, 8), expected.sum_yy, strict=True,
    )  # fmt: skip
    assert key(mine) == key(theirs)


@pytest.mark.parametrize("job", [None, "registered_nurses"])
def test_effects_are_those_of_the_estimator_on_people(result, people, answers, cfg, job) -> None:
    direct = path_effects(person_rows(people, answers, cfg, "b", job), audit.path_options(cfg))
    piece = f"job={job}" if job else "all"
    for name in EFFECTS:
        (row,) = (
            r for r in result.estimates
            if (r["model"], r["contrast"], r["slice"]) == ("b", "male_vs_female", piece)
            and (r["estimand"], r["method"]) == (name, "eif")
        )  # fmt: skip
        effect = direct.effects[name]
        assert (row["status"], row["n"]) == (effect.status, effect.n)
        assert effect.estimate is not None, effect.reason
        assert row["estimate"] == pytest.approx(effect.estimate, abs=1e-9)
        assert row["std_error"] == pytest.approx(effect.std_error, abs=1e-9)


def applicants_influence(people, answers, cfg, model: str) -> pd.DataFrame:
    """Weighted, centred influence on NDE, BIE, RIE of every applicant to be an accountant."""
    data = person_rows(people, answers, cfg, model, "accountants")
    got = path_effects(data, audit.path_options(cfg))
    frame = people.set_index("applicant_id").join(averaged(answers, model).rename("y"))
    frame = frame[(frame["job"] == "accountants") & frame["y"].notna()]
    # Cells to people: every person is its own cell here, or shares one; match by key.
    rows_of = PathData.from_rows(
        x=(frame["gender"] == "male").astype(int).to_numpy(),
        z=np.stack(
            [pd.factorize(frame["race"], sort=True)[0], (frame["age"] >= 30).astype(int)], 1
        ),
        r=np.stack(
            [pd.factorize(frame[c], sort=True)[0] for c in ("first_name_gender", "region")], 1
        ),
        b=np.stack(
            [
                pd.factorize(frame["edu_group"], sort=True)[0],
                (frame["exp_year"] >= 5).astype(int),
            ],
            1,
        ),
        y=frame["y"].to_numpy(),
        fold=assign_folds(cfg.seed, list(frame["person_key"]), 5, 2),
        w=frame["z_weight_gender"].astype(float).to_numpy(),
        cells=False,
    )

    def keys(d: PathData) -> list[tuple[float, ...]]:
        return [
            tuple(map(float, (x, *z, *r, *b, *f, w)))
            for x, z, r, b, f, w in zip(d.x, d.z, d.r, d.b, d.fold, d.w, strict=True)
        ]

    place = {k: i for i, k in enumerate(keys(data))}
    at = [place[k] for k in keys(rows_of)]
    columns = [EFFECTS.index(e) for e in ("NDE", "BIE", "RIE")]
    value = got.influence[at] + got.c[at] * frame["y"].to_numpy()[:, None]
    value = value[:, columns]
    mean = np.average(value, axis=0, weights=rows_of.w)
    found = pd.DataFrame(rows_of.w[:, None] * (value - mean), index=frame.index)
    found.attrs["weight"] = float(rows_of.w.sum())
    return found


def test_correlation_between_models_is_that_of_the_applicants_influence(
    tables, people, answers, cfg
) -> None:
    applicants, scores = tables
    rows = coded(applicants, scores, None, cfg, code_lists(applicants, cfg))
    found = audit.estimate(cells(rows), cfg).toPandas()
    payloads = dict(audit._payloads(found, "effects"))
    influence = found[found["kind"] == "influence"].reset_index(drop=True)
    index = {(c.model, c.contrast, c.slice): c.index for c in cases(cfg)}
    one, two = (index[m, "male_vs_female", "job=accountants"] for m in ("a", "b"))
    shared = influence_of.correlations(influence_of.phi(rows, influence), payloads)
    phi = {m: applicants_influence(people, answers, cfg, m) for m in ("a", "b")}
    both = phi["a"].join(phi["b"], lsuffix="a", rsuffix="b", how="inner").to_numpy()
    size = [np.sqrt((phi[m].to_numpy() ** 2).sum(axis=0)) for m in ("a", "b")]
    expected = both[:, :3].T @ both[:, 3:] / np.outer(*size)
    np.testing.assert_allclose(shared.correlation[one, two], expected, atol=1e-6)
    assert shared.people[one, two] == len(both)
    assert np.abs(expected).max() > 0.2  # the same resumes: the models are correlated


def test_a_difference_has_the_error_of_the_applicants_influence(
    result, people, answers, cfg
) -> None:
    """Model a lacks an answer, so its effect stands on one applicant less than that of b."""
    phi = [applicants_influence(people, answers, cfg, m) for m in ("a", "b")]
    sides = {
        (r["model"], r["estimand"]): r
        for r in result.estimates
        if (r["slice"], r["method"]) == ("job=accountants", "eif")
    }
    found = {
        r["estimand"]: r
        for r in result.estimates
        if (r["model"], r["slice"]) == ("a minus b", "job=accountants")
        and r["method"] == "eif_difference"
    }
    both = phi[0].join(phi[1], lsuffix="a", rsuffix="b", how="outer").fillna(0.0).to_numpy()
    sums = [phi[k].attrs["weight"] for k in (0, 1)]
    for k, name in enumerate(("NDE", "BIE", "RIE")):
        row, a, b = found[name], sides["a", name], sides["b", name]
        assert row["estimate"] == pytest.approx(a["estimate"] - b["estimate"], abs=1e-12)
        apart = both[:, k] / sums[0] - both[:, 3 + k] / sums[1]
        error = np.sqrt((apart**2).sum())
        # Each side's own variance carries n / (n - 1), which the sum above does not.
        assert row["std_error"] == pytest.approx(error, rel=1 / len(phi[0]))
        assert row["std_error"] < 0.9 * np.hypot(a["std_error"], b["std_error"])
        assert row["n"] == min(map(len, phi))
        assert row["reason"].endswith(
            f"answered: a {len(phi[0])}, b {len(phi[1])}, both {row['n']}"
        )
    silent = [r for r in result.estimates if r["model"] == "b minus silent"]
    assert len(silent) == 5 * 3  # effects, slices
    assert {r["reason"] for r in silent} == {f"silent: {path_rows.NO_ANSWER}"}


@pytest.mark.parametrize("name", ["estimates", "overlap", "patterns", "diagnostics"])
def test_rows_follow_the_tables(result, name) -> None:
    ddl = ddl_statements(name)[0]
    columns = dict(re.findall(r"^  (\w+) (\w+(?: NOT NULL)?)", ddl, flags=re.MULTILINE))
    records = getattr(result, name)
    assert records
    kinds = {"STRING": str, "DOUBLE": float, "BIGINT": int, "INT": int}
    for record in records:
        assert set(record) == set(columns)
        for column, value in record.items():
            kind = columns[column].split()[0]
            assert value is not None or "NOT NULL" not in columns[column]
            assert value is None or type(value) is kinds[kind]
            assert value is None or kind != "DOUBLE" or math.isfinite(value)
        assert record.get("status") != "not_computable" or record["reason"]
    order = ["design", "model", "contrast", "slice", "estimand", "method", "weight_set", "pattern",
             "rule", "kind", "name"]  # fmt: skip
    keys = [tuple(r.get(c) for c in order) for r in records]
    assert len(set(keys)) == len(keys)


def test_diagnostics_are_those_of_the_estimator_by_name(result, people, answers, cfg) -> None:
    direct = path_effects(person_rows(people, answers, cfg, "b", None), audit.path_options(cfg))
    mine = {
        (r["kind"], r["name"]): r
        for r in result.diagnostics
        if (r["model"], r["slice"]) == ("b", "all")
    }
    expected = {(d.kind, d.name): d.value for d in direct.diagnostics}
    assert mine["loss", "mu3"]["value"] == pytest.approx(expected["loss", "mu3"])
    assert mine["split_sd", "RIE"]["value"] == pytest.approx(expected["split_sd", "RIE"])
    for ours, theirs in (("job", "z0"), ("age", "z2"), ("region", "r1"), ("exp_year", "b1")):
        found = mine["balance", f"E_W:Y/{ours}"]["value"]
        assert found == pytest.approx(expected["balance", f"E_W:Y/{theirs}"])
    clips = cfg.estimation.overlap.sensitivity_clips
    moved = direct.effects["NDE"].clip_sensitivity
    assert [mine["clip", f"NDE@{c:g}"]["value"] for c in clips] == pytest.approx(
        [moved[c] for c in clips]
    )
    assert not any(r["model"] == "silent" for r in result.diagnostics)


def test_what_nobody_answered_is_not_computable_and_said(result) -> None:
    silent = [r for r in result.estimates if r["model"] == "silent"]
    assert {r["status"] for r in silent} == {"not_computable"}
    assert all(r["estimate"] is None and r["reason"].startswith("no_answer") for r in silent)
    assert {r["verdict"] for r in result.patterns if r["model"] == "silent"} == {"not_computable"}
    (note,) = (n for n in result.notes if n.startswith("a, text"))
    assert "5 of 600 requests have no score (refused 5) and are left out" in note
    assert "women 98.3%" in note


def test_families_hold_computable_primary_tests_only(result) -> None:
    inside = [r for r in result.estimates if r["family"] is not None]
    kinds = [(e, w) for e in ("NDE BIE RIE", "TE NIE") for w in ("by job", "pooled")]
    compared = {f"{effects} differences of models {where}" for effects, where in kinds}
    assert {r["family"] for r in inside} == {f"{e} {w}" for e, w in kinds} | compared
    for row in inside:
        differs = row["family"] in compared
        assert row["method"] == ("eif_difference" if differs else "eif")
        assert row["design"] == ("comparison" if differs else "path_specific")
        assert (row["slice"] == "all") == row["family"].endswith("pooled")
        assert row["estimand"] in row["family"].split()
        assert row["p_value"] <= row["p_bh"] + 1e-12
        assert row["p_bh"] <= row["p_holm"] + 1e-12 <= 1 + 1e-12
        assert 0 < row["p_maxt"] <= 1
    titles = {r["title"] for r in result.estimates if r["estimand"] == "NDE"}
    assert all(t.startswith("Effect not through the grouped mediators") for t in titles)


def test_outcome_gaps_are_those_of_the_people(result, people, answers) -> None:
    y = averaged(answers, "b")
    frame = people.set_index("applicant_id").loc[y.index]
    male = (frame["gender"] == "male").astype(np.int8).to_numpy()
    weight = frame["design_weight"].astype(float).to_numpy()
    some = weight > 0
    assert (~some).sum() == 2
    direct = outcome_rows(
        Outcomes(male[some], y.to_numpy()[some], weight[some], np.ones(some.sum(), dtype=np.int64))
    )
    want = {(r.estimand, r.method, r.group): r.estimate for r in direct}
    got = {
        (r["estimand"], r["method"], r["slice"]): r["estimate"]
        for r in result.estimates
        if r["design"] == "outcome" and r["model"] == "b" and r["contrast"] == "male_vs_female"
    }
    assert got["raw_gap", "difference", "all"] == pytest.approx(want["raw_gap", "difference", None])
    plain = y[male == 1].mean() - y[male == 0].mean()
    assert got["raw_gap", "difference_unweighted", "all"] == pytest.approx(plain)
    for group, arm in ((1, "gender=male"), (0, "gender=female")):
        value = want["selection_rate", "local_law_144", group]
        assert got["selection_rate", "local_law_144", arm] == pytest.approx(value)


def test_partitions_and_order_of_rows_change_nothing(tables, result, cfg) -> None:
    applicants, scores = tables
    again = audit.run(
        applicants.repartition(4, "age").sortWithinPartitions("exp_year"),
        scores.repartition(4, "score"), None, cfg, config_hash="h", input_versions={"scores": 3},
    )  # fmt: skip
    assert again.estimates == result.estimates
    assert again.overlap == result.overlap
    assert again.diagnostics == result.diagnostics
    assert again.patterns == result.patterns


def test_known_propensities_are_read_or_asked_for(spark, tables, people, cfg) -> None:
    known_cfg = load(
        resources.path("conf", "audits", "demo.yml"), [*OVERRIDES, "estimation.propensity=known"]
    )
    with pytest.raises(ConfigError) as caught:
        audit.run(*tables, None, known_cfg, config_hash="h", input_versions={})
    assert str(caught.value) == (
        "estimation.propensity: known propensities exist only for balanced applicants. "
        "Set population.mode: balanced, or estimation.propensity: fitted."
    )
    rows = [
        (contrast, key, 0.5, 0.5, 0.5)
        for contrast in known_cfg.estimation.contrasts
        for key in people["applicant_id"]
    ]
    known = spark.createDataFrame(
        rows, "contrast STRING, applicant_id STRING, p_z DOUBLE, p_rz DOUBLE, p_brz DOUBLE"
    )
    applicants, scores = tables
    codes = code_lists(applicants, known_cfg)
    got = cells(coded(applicants, scores, known, known_cfg, codes)).toPandas()
    assert (got[["p_z", "p_rz", "p_brz"]] == 0.5).all().all()


def test_applicants_of_weight_0_stand_for_nobody_and_are_said(tables, people, cfg) -> None:
    applicants, scores = tables
    nobody = sf.col("applicant_id").isin("p0010", "p0011")
    none = sf.when(nobody, 0).otherwise(sf.col("z_weight_race")).cast("decimal(18,6)")
    weighted = applicants.withColumn("z_weight_race", none)
    contrasts = load(resources.path("conf", "audits", "demo.yml")).estimation.contrasts
    options = cfg.estimation.model_copy(update={"contrasts": contrasts})
    both = cfg.model_copy(update={"estimation": options})
    rows = coded(weighted, scores, None, both, code_lists(applicants, both))
    totals = cells(rows).groupBy("model", "contrast", "slice").agg(sf.sum("n").alias("n")).collect()
    n = {(r["model"], r["contrast"], r["slice"]): r["n"] for r in totals}
    assert n["b", "white_vs_rest", "all"] == len(people) - 2
    assert n["b", "male_vs_female", "all"] == len(people)
    assert audit.weight_counts(weighted, both) == {
        "applicants": 300, "design_weight": 2, "z_weight_gender": 0, "z_weight_race": 2,
    }  # fmt: skip


def test_design_weight_0_is_said_in_the_notes(result) -> None:
    (note,) = (n for n in result.notes if "weight 0" in n)
    assert note.startswith("2 of 300 applicants have design weight 0")


def test_a_role_that_is_no_column_is_named(tables, cfg) -> None:
    with pytest.raises(ConfigError, match=r"estimation.roles, edu_group: is not a col") as caught:
        code_lists(tables[0].drop("edu_group"), cfg)
    assert "first_name_gender" in str(caught.value)
