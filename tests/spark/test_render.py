"""Rendering as a transform: the same documents on any partitioning, contents stored once."""

from __future__ import annotations

import hashlib

import pytest

from fairscreen import errors, resources
from fairscreen.config import Config, load
from fairscreen.documents import render
from fairscreen.documents.pools import load_pools, load_schools
from fairscreen.documents.resume import Profile, render_text

LEVELS = ("high_school", "some_college", "associate", "bachelor", "master", "doctorate")
SCHEMA = (
    "applicant_id string, job string, gender string, race string, age int, state string, "
    "edu_level string, exp_year double, first_name string, surname string"
)


@pytest.fixture(scope="module")
def cfg() -> Config:
    return load(resources.path("conf", "audits", "demo.yml"))


def applicants(spark, cfg: Config, n: int = 120):
    jobs = sorted(cfg.population.jobs)
    rows = [
        (
            f"a{i}", jobs[i % len(jobs)], ("female", "male")[i % 2], "white", 20 + i % 25, "50",
            LEVELS[i % len(LEVELS)], (i % 7) * 0.25, "Zoë", "D'Amico",
        )
        for i in range(n)
    ]  # fmt: skip
    return spark.createDataFrame(rows, SCHEMA)


def test_partitions_change_nothing_and_keys_are_of_the_bytes(spark, cfg: Config) -> None:
    frame = applicants(spark, cfg)
    one = render.render(frame.coalesce(1), cfg).sort("document_id").toPandas()
    five = render.render(frame.repartition(5), cfg).sort("document_id").toPandas()
    assert one.equals(five)
    assert tuple(one.columns) == (*render.DOCUMENT_COLUMNS, "text")
    assert len(one) == 120
    row = one.set_index("applicant_id").loc["a7"]
    assert row["document_id"] == "a7/text"
    assert row["audit_id"] == cfg.audit_id
    assert row["content_key"] == hashlib.sha256(row["text"].encode()).hexdigest()[:32]
    profile = Profile("a7", row["job"], 27, "50", "some_college", 0.0, "Zoë", "D'Amico")
    pools = load_pools(row["job"])
    expected = render_text(profile, pools, load_schools(), cfg.documents.as_of, cfg.seed)
    assert row["text"] == expected


def test_rows_go_into_the_tables_and_a_content_is_stored_once(spark, cfg: Config, warehouse):
    frame = applicants(spark, cfg, 10)
    # The same applicants twice, as when two audits show the same resume.
    rendered = render.render(frame.union(frame), cfg)
    warehouse.append("documents", render.documents(rendered), transaction="t/documents")
    warehouse.insert_new("contents", render.contents(rendered), keys=["content_key"])
    documents = warehouse.read("documents").toPandas()
    stored = warehouse.read("contents").toPandas()
    assert len(documents) == 20
    assert len(stored) == 10
    assert set(documents["content_key"]) == set(stored["content_key"])
    assert stored["media_type"].unique().tolist() == ["text/plain; charset=utf-8"]
    assert "Zoë D'Amico" in stored["text"][0]


def test_a_value_no_resume_can_show_reaches_the_driver_as_input_error(spark, cfg: Config) -> None:
    bad = [("a1", "welders", "male", "white", 30, "50", "bachelor", 2.0, "Max", "Roe")]
    with pytest.raises(Exception, match="welders") as caught:
        render.render(spark.createDataFrame(bad, SCHEMA), cfg).collect()
    error = errors.from_worker(caught.value)
    assert error is not None
    assert error.where == "applicant a1, job"
    assert error.problem == "'welders' is not a job of this audit"


def test_descriptions_are_keyed_like_contents(cfg: Config) -> None:
    described = render.job_descriptions(cfg)
    assert [job for job, _, _ in described] == list(cfg.population.jobs)
    for job, key, text in described:
        assert text == load_pools(job).description
        assert key == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_another_line_in_a_pool_is_another_content_hash(cfg: Config, tmp_path) -> None:
    """A run again keeps its documents by this hash, so an edited pool must move it."""
    text = resources.path("conf", "jobs", "accountants.yml").read_text(encoding="utf-8")
    hashes = []
    for skill in ("Budgeting", "Budget planning"):
        file = tmp_path / "mine.yml"
        file.write_text(text.replace("- Budgeting\n", f"- {skill}\n"), encoding="utf-8")
        job = cfg.population.jobs["accountants"].model_copy(update={"content": str(file)})
        jobs = {**cfg.population.jobs, "accountants": job}
        population = cfg.population.model_copy(update={"jobs": jobs})
        hashes.append(render.content_hash(cfg.model_copy(update={"population": population})))
    assert hashes[0] == render.content_hash(cfg)
    assert hashes[1] != hashes[0]
