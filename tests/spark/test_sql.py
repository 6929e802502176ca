"""Every file in sql/ runs, keeps the key that it states, and equals a recomputation in pandas."""

from __future__ import annotations

import argparse
import json

import pandas as pd
import pytest

import small_audit
from fairscreen import resources, sql
from fairscreen.commands import sql as command
from fairscreen.errors import InputError


@pytest.fixture
def filled(small_warehouse):
    return small_warehouse


def _answer(spark, warehouse, folder: str, name: str) -> pd.DataFrame:
    file = resources.path("sql", folder, name)
    ((_, frame),) = sql.run_file(spark, warehouse, file)
    rows = frame.toPandas()
    stated = sql.key(file.read_text(encoding="utf-8"))
    assert stated
    assert len(rows), f"{name} finds nothing: this test would prove nothing"
    assert not rows.duplicated(stated).any(), f"{name}: its stated key is not unique"
    return rows


def test_questions_run_and_keep_their_key(spark, filled):
    files = sorted(f.name for f in resources.path("sql", "questions").glob("*.sql"))
    # Those of the other designs have tests of their own: test_ranking_audit.py,
    # test_callback_estimates.py.
    files = [name for name in files if not name.startswith(("ranking_", "callback"))]
    answers = {name: _answer(spark, filled, "questions", name) for name in files}
    assert len(answers) >= 3

    survivors = answers["redlining_after_holm.sql"]
    all_rows = pd.DataFrame(small_audit.estimates())
    expected = all_rows[(all_rows.estimand == "RIE") & (all_rows.p_holm < 0.05)]
    assert sorted(survivors.slice + survivors.contrast) == sorted(
        expected.slice + expected.contrast
    )

    flips = answers["names_that_may_flip.sql"].set_index("job")
    assert set(flips.index) == {"registered_nurses", "construction_laborers"}
    assert (flips.applicants == 4).all()
    assert (flips.gender_group_may_flip == 2).all()  # Mary
    assert (flips.cohort_group_may_flip == 0).all()
    assert (flips.surname_group_may_flip == 2).all()  # O'Neil, borne by men
    assert (flips.any_may_flip == 4).all()

    thin = answers["not_computable.sql"]
    assert set(thin.slice) == {"job=construction_laborers", "all"}
    assert set(thin[thin.slice == "all"].design) == {"comparison"}
    thin = thin[thin.slice != "all"]
    assert set(thin.reason) == {small_audit.THIN}
    assert (thin.least_effective_n == 11.5).all()

    apart = answers["model_differences.sql"].set_index("estimand")
    assert list(apart.index) == ["RIE", "BIE", "NDE"]
    assert list(apart.verdict) == ["differ", "negligible", "not_computable"]
    assert apart.loc["RIE", ["model_a", "model_b"]].tolist() == ["minilm", "other"]
    assert apart.loc["RIE", "effect_a"] == 0.9  # that of minilm, pooled
    assert apart["effect_b"].isna().all()  # the other model is not in this audit
    assert apart.loc["BIE", "p_negligible"] == 0.01

    wrong = answers["corpus_mismatches.sql"]
    assert list(wrong.row_number) == [1, 2]
    assert list(wrong.words_not_counted) == [-5, 0]
    assert list(wrong.cleaned_is_resume_without_role) == [True, False]

    worst = answers["worst_population_margins.sql"]
    fit = pd.DataFrame(small_audit.population_fit())
    for job, mine in worst.groupby("job"):
        largest = fit[fit["job"] == job]["difference"].abs().nlargest(10)
        assert mine["difference"].abs().tolist() == pytest.approx(largest.tolist())
    assert worst.z.isna().equals(worst.job == "construction_laborers")

    back = answers["walk_back.sql"]
    assert list(back.position) == [1, 2, 3, 4]  # the job has four answered applicants
    assert set(back.job) == {"registered_nurses"}
    assert list(back.score.astype(float)) == [55.0, 53.75, 52.5, 51.25]
    assert list(back.raw_reply.astype(float)) == list(back.score.astype(float))
    for row in back.itertuples():
        assert small_audit.key(row.resume) == row.resume_key
        assert small_audit.key(row.job_description) == row.prompt_key
    assert json.loads(back.input_versions[0]) == small_audit.VERSIONS


def test_walking_back_to_an_image_prints_no_bytes(spark, filled):
    filled.register()
    pages = "IF(text LIKE 'Wanted%', {}, {}) AS {}".format
    filled.read("contents").selectExpr(
        "content_key", pages("media_type", "'image/png'", "media_type"),
        pages("text", "NULL", "text"), pages("NULL", "unhex('89504E47')", "data"),
    ).createOrReplaceTempView("contents")  # fmt: skip
    try:
        text = resources.path("sql", "questions", "walk_back.sql").read_text(encoding="utf-8")
        rows = spark.sql(text.rstrip().rstrip(";")).collect()
    finally:
        spark.catalog.dropTempView("contents")
    assert {(r["resume"], r["job_description"][:6]) for r in rows} == {
        ("image/png, 4 bytes", "Wanted")
    }


def test_population_margins_equals_pandas(spark, filled):
    view = _answer(spark, filled, "views", "population_margins.sql")
    keys = ["audit_id", "job", "margin"]
    rows = pd.DataFrame(small_audit.population_fit())
    rows["size"] = rows["difference"].abs()
    groups = rows.groupby(keys)
    got = view.set_index(keys).sort_index()
    assert got["cells"].tolist() == groups.size().tolist()
    assert got["cells_with_error"].tolist() == groups["z"].count().tolist()
    for column, expected in {
        "largest_difference": groups["size"].max(),
        "mean_difference": groups["size"].mean(),
        "total_variation": groups["size"].sum() / 2,
        "largest_z": groups["z"].agg(lambda z: z.abs().max()),
        "share_within_two_errors": groups["z"].agg(
            lambda z: (z.abs() <= 2).sum() / z.count() if z.count() else None
        ),
    }.items():
        pd.testing.assert_series_equal(
            got[column], expected.astype(float), check_names=False, check_dtype=False
        )
    nurses = got.loc[("small", "registered_nurses", "gender x race")]
    assert nurses["largest_at"].endswith("race=black")
    assert 0 < nurses["share_within_two_errors"] < 1
    assert got.loc[("small", "construction_laborers", "race"), "reason"] == (
        "no replicate weights in five_jobs.zip"
    )


def test_effects_wide_equals_pandas(spark, filled):
    view = _answer(spark, filled, "views", "effects_wide.sql")
    keys = ["audit_id", "model", "attribute", "contrast", "document_format", "slice", "method"]
    rows = pd.DataFrame(small_audit.estimates())
    paths = rows[rows.design == "path_specific"]
    wide = paths.pivot(index=keys, columns="estimand", values="estimate").sort_index()
    got = view.set_index(keys).sort_index()
    assert list(got.index) == list(wide.index)
    for estimand in small_audit.ESTIMANDS:
        pd.testing.assert_series_equal(
            got[estimand.lower()], wide[estimand], check_names=False, check_dtype=False
        )
    missing = paths.groupby(keys)["status"].agg(lambda s: (s == "not_computable").sum())
    assert list(got["not_computable"]) == list(missing.sort_index())
    computable = got.dropna(subset=["nie", "bie", "rie"])
    assert (computable.nie - computable.bie - computable.rie).abs().max() < 1e-12


def test_pattern_counts_equals_pandas(spark, filled):
    view = _answer(spark, filled, "views", "pattern_counts.sql").set_index(["rule", "pattern"])
    rows = pd.DataFrame(small_audit.patterns())
    rows = rows[(rows.slice != "all") & ~rows.reason.fillna("").str.startswith("format_shows")]
    for key, mine in rows.groupby(["rule", "pattern"]):
        got = view.loc[key]
        for verdict in ("yes", "no", "undecided", "not_computable"):
            assert got[verdict] == (mine.verdict == verdict).sum()
        assert got["counted"] == f"{(mine.verdict == 'yes').sum()} of {len(mine)}"
    # Two contrasts in two jobs, the laborers' not computable; of one a photo is shown.
    assert view.loc[("published", 4), "counted"] == "2 of 4"
    assert view.loc[("published", 1), "counted"] == "0 of 3"


def test_case_diagnostics_equals_pandas(spark, filled):
    view = _answer(spark, filled, "views", "case_diagnostics.sql").set_index("slice")
    rows = pd.DataFrame(small_audit.diagnostics())
    effects = pd.DataFrame(small_audit.estimates())
    effects = effects[(effects.contrast == "male_vs_female") & (effects.method == "eif")]
    effects = effects.set_index(["slice", "estimand"])
    assert set(view.index) == set(rows.slice)
    for where, mine in rows.groupby("slice"):
        got = view.loc[where]
        balance = mine[mine.kind == "balance"].set_index("name")["value"]
        assert got["largest_imbalance"] == balance.max()
        assert got["largest_imbalance_at"] == balance.idxmax()
        assert got["imbalances_above_0_1"] == (balance > 0.1).sum()
        moved = {}
        for name, value in mine[mine.kind == "clip"][["name", "value"]].itertuples(index=False):
            effect = effects.loc[(where, name.split("@")[0])]
            moved[name] = abs(value - effect["estimate"]) / effect["std_error"]
        moved = pd.Series(moved).dropna()
        assert got["clip_moves_errors"] == pytest.approx(moved.max())
        assert got["clip_moves_at"] == moved.idxmax()
        (spread,) = mine[mine.kind == "split_sd"]["value"]
        assert got["split_sd_errors"] == spread / effects.loc[(where, "BIE"), "std_error"]
        skill = mine[mine.kind == "skill"].set_index("name")["value"]
        assert (got["least_skill"], got["least_skill_of"]) == (skill.min(), skill.idxmin())


def test_group_outcomes_equals_pandas(spark, filled):
    view = _answer(spark, filled, "views", "group_outcomes.sql")
    keys = ["audit_id", "model", "document_format", "job", "gender", "race"]
    tables = small_audit.people()
    people = pd.DataFrame(tables["applicants"])[["audit_id", "applicant_id", "gender", "race"]]
    both = pd.DataFrame(tables["scores"]).merge(people, on=["audit_id", "applicant_id"])
    both = both[both["version"].isna()]
    both["score"] = both["score"].astype(float)
    expected = both.groupby(keys).agg(asked=("outcome", "size"), mean_score=("score", "mean"))
    for outcome in ("ok", "refused", "unparseable", "failed"):
        expected[outcome] = (both["outcome"] == outcome).groupby([both[k] for k in keys]).sum()
    got = view.set_index(keys).sort_index()[list(expected.columns)]
    pd.testing.assert_frame_equal(got, expected.sort_index(), check_dtype=False)
    assert got["refused"].sum() == 1
    assert got["mean_score"].isna().sum() == 1  # a group without a score has none, not 0


def test_version_outcomes_are_the_versions_alone(spark, filled):
    view = _answer(spark, filled, "views", "version_outcomes.sql")
    found = view[["contrast", "version", "gender", "asked", "ok", "mean_score"]]
    assert sorted(found.itertuples(index=False, name=None)) == [
        ("male_vs_female", "x1", "female", 1, 1, 99.0),
        ("male_vs_female", "x1", "male", 1, 1, 99.0),
    ]


def test_group_reasons_are_the_requests_without_a_score(spark, filled):
    (row,) = _answer(spark, filled, "views", "group_reasons.sql").to_dict("records")
    tables = small_audit.people()
    (missed,) = [s for s in tables["scores"] if s["outcome"] != "ok"]
    (who,) = [a for a in tables["applicants"] if a["applicant_id"] == missed["applicant_id"]]
    assert {k: row[k] for k in ("outcome", "reason", "gender", "race")} == {
        "outcome": "refused", "reason": "refused", "gender": who["gender"], "race": who["race"],
    }  # fmt: skip
    # The share is of everybody in the group, over all jobs.
    alike = [
        a for a in tables["applicants"] if (a["gender"], a["race"]) == (who["gender"], who["race"])
    ]
    assert (row["requests"], row["share"]) == (1, 1 / len(alike))


def test_command_prints_and_writes_json(filled, tmp_path, capsys):
    top = argparse.ArgumentParser()
    command.register(top.add_subparsers())

    def main(argv: list[str]) -> int:
        args = top.parse_args(argv)
        return args.run(args)

    file = tmp_path / "two.sql"
    file.write_text(
        "-- a; comment\nSELECT ';' AS mark, COUNT(*) AS n FROM scores;\n"
        "/* and; another */ SELECT NULL AS nothing, CAST('NaN' AS DOUBLE) AS nan;\n"
    )
    options = ["sql", str(file), "--warehouse", filled.root]
    assert main(options) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[:4] == ["mark   n", "----  --", ";     10", "(1 row)"]
    assert main([*options, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [s["rows"] for s in result["statements"]] == [
        [{"mark": ";", "n": 10}],
        [{"nothing": None, "nan": None}],
    ]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("SELECT 1;\n\nSELECT x\nFROM no_such_table;", 4, "Names in this warehouse: applicants"),
        ("SELECT 1;\nSELECT score,\n  FROM WHERE GROUP scores;", 3, "[PARSE_SYNTAX_ERROR]"),
        ("\n\nSELECT score\nFROM scores\nWHERE missing_column = 1", 5, "missing_column"),
    ],
)
def test_a_bad_statement_is_told_with_its_line(spark, filled, tmp_path, text, line, part):
    file = tmp_path / "bad.sql"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        sql.run_file(spark, filled, file)
    message = str(caught.value)
    assert message.startswith(f"{file}, line {line}: ")
    assert part in message
    assert "\n" not in message


def test_a_fault_at_reading_time_is_told_too(spark, filled, tmp_path):
    file = tmp_path / "late.sql"
    file.write_text("SELECT 1;\nSELECT CAST(first_name AS INT) FROM applicants;")
    _, (statement, frame) = sql.run_file(spark, filled, file)
    with pytest.raises(InputError, match=r"late\.sql, line 2: .*CAST_INVALID_INPUT"):
        sql.located(file, statement, frame.collect)


def test_an_empty_warehouse_says_what_to_do(spark, tmp_path):
    from fairscreen.tables import Warehouse

    file = tmp_path / "a.sql"
    file.write_text("SELECT 1")
    with pytest.raises(InputError, match="Run `fairscreen audit` first"):
        sql.run_file(spark, Warehouse(spark, str(tmp_path / "nothing")), file)
