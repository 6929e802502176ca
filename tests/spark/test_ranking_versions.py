"""Corpus to documents of ranking after scoring: policies, levels and versions as DataFrames."""

from __future__ import annotations

from pathlib import Path

import pytest

import small_corpus
from fairscreen.documents import labels, ranking
from fairscreen.documents.chunking import opened
from fairscreen.documents.information import levels
from fairscreen.documents.keys import content_key
from fairscreen.errors import ConfigError, from_worker
from fairscreen.settings.ranking import Information, Labels

TEXTS = {
    "a": "She bakes bread. Bakes cakes. Drives a truck. Speaks French.",
    "b": "Counts money. Files forms. Greets guests. Opens the shop.",
    "c": "One line",
}


@pytest.fixture
def corpus(spark):
    rows = [(key, "FOOD", "COOK", f"COOK {text}", text) for key, text in TEXTS.items()]
    return spark.createDataFrame(
        rows, "resume_id string, occupation string, role string, resume string, text string"
    )


def rows_of(frame) -> list[dict[str, object]]:
    return [row.asDict() for row in frame.collect()]


def test_hits_and_policies(corpus) -> None:
    (hit,) = rows_of(ranking.leakage_hits(corpus))
    assert hit == {
        "resume_id": "a", "occupation": "FOOD", "kind": "pronoun", "attribute": "gender",
        "start": 0, "end": 3, "text": "She",
    }  # fmt: skip
    found = {r["resume_id"]: r for r in rows_of(ranking.treated(corpus, "exclude"))}
    assert [(found[k]["text"], found[k]["flagged"]) for k in "abc"] == [
        (None, True), (TEXTS["b"], False), (TEXTS["c"], False),
    ]  # fmt: skip
    found = {r["resume_id"]: r for r in rows_of(ranking.treated(corpus, "neutralise"))}
    assert found["a"]["text"] == TEXTS["a"].replace("She bakes", "They bake")
    assert (found["a"]["flagged"], found["a"]["changed"]) == (True, True)


def test_versions_are_those_of_the_pure_functions(spark, corpus) -> None:
    chosen, shown = Labels(controls=0.5), Information(buffer=0)
    treated = ranking.treated(corpus, "flag")
    made = ranking.ranking_versions(treated, labels_of=chosen, shown=shown, seed=4, replicates=2)
    found = {(r["resume_id"], r["information"], r["version"], r["replicate"]): r
             for r in rows_of(made)}  # fmt: skip
    similar, expected = opened("embedding", {}), 0
    for key, text in TEXTS.items():
        for level in levels(key, text, shown, similar, seed=4):
            for version in labels.versions(key, chosen, seed=4, replicates=2):
                row = found[key, level.level, version.version, version.replicate]
                assert row["text"] == version.sent(level.text)
                assert row["content_key"] == content_key(str(row["text"]))
                assert (row["words"], row["chunks"]) == (level.words, level.chunks)
                assert (row["role"], row["version_kind"]) == ("COOK", version.kind)
                assert row["flagged"] == (key == "a")
                expected += 1
    assert len(found) == expected == made.count()
    assert {r["version_kind"] for r in found.values()} == {"label", "none", "placebo", "repeat"}
    other = ranking.ranking_versions(
        treated.repartition(7), labels_of=chosen, shown=shown, seed=4, replicates=2
    )
    again = {tuple(r.values()) for r in rows_of(other)}
    assert again == {tuple(r.values()) for r in found.values()}


def test_excluded_resumes_make_no_documents(corpus) -> None:
    shown = Information(levels=(100,), embedder="embedding")
    made = ranking.ranking_versions(
        ranking.treated(corpus, "exclude"), labels_of=Labels(controls=0), shown=shown, seed=4
    )
    assert {r["resume_id"] for r in rows_of(made)} == {"b", "c"}


def test_a_ready_file_and_its_faults(corpus, tmp_path: Path) -> None:
    file = tmp_path / "chunks.csv"
    lines = [f'"COOK {text}",part of {key}' for key, text in TEXTS.items()]
    file.write_text("\n".join(["Resume,10_diluted", *lines[:2]]) + "\n")
    shown = Information(levels=(10, 100), chunk_file=str(file))
    treated = ranking.treated(corpus, "keep")
    options = {"labels_of": Labels(controls=0, none=False), "shown": shown, "seed": 4}
    made = ranking.ranking_versions(treated.where("resume_id <> 'c'"), **options)
    texts = {r["text"] for r in rows_of(made) if r["information"] == 10}
    assert texts == {f"Gender: {g};\npart of {k}" for g in ("Male", "Female") for k in "ab"}
    with pytest.raises(Exception, match="has no row for the resume") as error:
        ranking.ranking_versions(treated, **options).collect()
    found = from_worker(error.value)
    assert found is not None
    assert found.where == "information.chunk_file"


def test_an_embedder_that_cannot_be_is_refused_before_any_work(corpus) -> None:
    shown = Information(embedder="embedding_api", embedder_params={"model": "gpt-4o"})
    with pytest.raises(ConfigError, match=r"information\.embedder_params\.model"):
        ranking.ranking_versions(corpus, labels_of=Labels(), shown=shown, seed=1)


def test_a_corpus_goes_through(spark, tmp_path: Path) -> None:
    rows = small_corpus.table_rows(tmp_path)
    frame = spark.createDataFrame(
        [tuple(r[c] for c in ("resume_id", "occupation", "role", "resume", "text")) for r in rows],
        "resume_id string, occupation string, role string, resume string, text string",
    )
    made = ranking.ranking_versions(
        ranking.treated(frame, "neutralise"), labels_of=Labels(controls=0),
        shown=Information(levels=(40, 100)), seed=2,
    )  # fmt: skip
    assert made.count() == 5 * 2 * 3
