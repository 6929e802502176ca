"""Documents and requests of paired callbacks: whatever the partitions, whatever the order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from pyspark.sql import functions as sf

import pair_inputs as inputs
from fairscreen.documents.keys import content_key
from fairscreen.documents.pairs import COLUMNS, pair_documents, pair_rows, posting_contents
from fairscreen.documents.posting_text import posting_text
from fairscreen.errors import from_worker
from fairscreen.scoring import pair_requests, plan
from fairscreen.scoring.calls import call_key, canonical
from fairscreen.scoring.screeners import KINDS
from fairscreen.stations.pair_documents import plain

POSTINGS = 60
POSTING = (
    "posting_id STRING, company STRING, title STRING, metro STRING, state STRING, region STRING, "
    "posted STRING, description STRING, industry STRING, job_type STRING, synthetic STRING"
)
MODELS = (
    "{a: {kind: planted_callbacks, params: {noise_seed: 1}}, "
    "b: {kind: chat, params: {model: gpt-4o-mini}}}"
)


@pytest.fixture(scope="module")
def cfg():
    found = inputs.config(f"scoring.models={MODELS}", "panel={}", "scoring.shards=2")
    gender = found.contrasts["gender"].model_copy(update={"models": ("a",)})
    pairs = found.pairs.model_copy(update={"placebo": 0.3})
    contrasts = {**found.contrasts, "gender": gender}
    return found.model_copy(update={"contrasts": contrasts, "pairs": pairs})


@pytest.fixture(scope="module")
def postings(spark):
    rows = [inputs.posting(i) for i in range(POSTINGS)]
    names = [field.split()[0] for field in POSTING.split(", ")]
    return spark.createDataFrame([tuple(row[n] for n in names) for row in rows], POSTING)


@pytest.fixture(scope="module")
def made(cfg, postings):
    """Rows of pair_documents, kept."""
    rows = pair_documents(postings, inputs.options(cfg)).withColumn("audit_id", sf.lit("a"))
    return rows.localCheckpoint()


@pytest.fixture(scope="module")
def requests(cfg, made):
    return pair_requests.of_documents(plain(made), made, cfg).localCheckpoint()


def test_rows_are_the_pure_ones_on_any_number_of_partitions(cfg, postings) -> None:
    options = inputs.options(cfg)
    wanted = {
        row["document_id"]: row
        for i in range(POSTINGS)
        for row in pair_rows(inputs.posting(i), options)
    }
    for partitions in (1, 200):
        rows = pair_documents(postings.repartition(partitions), options)
        assert tuple(rows.columns) == COLUMNS
        found = {row["document_id"]: row.asDict() for row in rows.collect()}
        assert found == wanted


def test_contents_are_the_postings_as_shown(cfg, postings, made) -> None:
    fields = cfg.pairs.posting_fields
    texts = {r["content_key"]: r["text"] for r in posting_contents(postings, cfg.pairs).collect()}
    assert set(texts.values()) == {posting_text(inputs.posting(i), fields) for i in range(POSTINGS)}
    assert all(key == content_key(text) for key, text in texts.items())
    assert {r["prompt_key"] for r in made.select("prompt_key").distinct().collect()} == set(texts)


def test_a_posting_with_nothing_to_show_is_named(spark, cfg, postings) -> None:
    pairs = cfg.pairs.model_copy(update={"posting_fields": ("industry",)})
    with pytest.raises(Exception) as caught:  # noqa: PT011 (Spark's own, which carries ours)
        posting_contents(postings, pairs).collect()
    error = from_worker(caught.value)
    assert error is not None
    assert error.where == "pairs.posting_fields"
    assert "tells none of industry" in error.problem


def test_models_are_asked_what_the_contrasts_say(made, requests) -> None:
    rows = made.toPandas()
    asked = requests.toPandas()
    counts = Counter(rows.contrast)
    assert (asked.model == "a").sum() == len(rows)
    mine = asked[asked.model == "b"].set_index("document_id")
    assert len(mine) == counts["race"] + counts["placebo"]
    kinds = rows.set_index("document_id").loc[mine.index]
    assert set(kinds.contrast) == {"race", "placebo"}
    assert (kinds.side == mine.version).all()
    assert (mine.contrast == kinds.contrast).all()
    assert set(mine.payload) == {None}
    assert set(asked.applicant_id) == {f"{r.posting_id}/{r.pair_id}" for r in rows.itertuples()}
    assert set(asked[asked.job == "not told"].document_id) == set(
        rows[rows.industry.isna()].document_id
    )


def test_one_person_is_one_call_in_every_contrast(cfg, made, requests) -> None:
    rows = made.toPandas().set_index("document_id")
    asked = requests.toPandas()
    for model in ("a", "b"):
        people = defaultdict(set)
        for row in asked[asked.model == model].itertuples():
            doc = rows.loc[row.document_id]
            people[doc.posting_id, doc.pair_id, doc.first_name, doc.surname].add(row.call_key)
        assert {len(keys) for keys in people.values()} == {1}
        keys = [next(iter(keys)) for keys in people.values()]
        assert len(set(keys)) == len(keys)
    # Four people of each profile; the race pair's two are among them.
    real = asked[(asked.model == "a") & (asked.contrast != "placebo")]
    assert real.call_key.nunique() == POSTINGS * 4 * 4
    assert len(real) == POSTINGS * 4 * 6
    kind, screener = KINDS["planted_callbacks"], cfg.scoring.models["a"]
    identity = {"model": kind.model({}), **kind.identity(screener.params)}
    for row in real.itertuples():
        doc = rows.loc[row.document_id]
        person = {n: doc[n] for n in ("first_name", "gender", "posting_id", "race", "surname")}
        sent = {**person, "pair_id": int(doc.pair_id)}
        assert json.loads(row.payload) == sent
        whole = {"applicant": sent, "identity": identity, "replicate": 0}
        assert row.call_key == call_key(canonical(whole))


def test_the_side_tells_nothing_of_when_it_is_asked(spark, cfg, made, requests) -> None:
    """Rank sums of the favored arms' places in a wave's plan, and how often sides alternate."""
    replies = spark.createDataFrame([], "call_key STRING, retry INT")
    calls = plan.pending(requests, replies)
    for model in ("a", "b"):
        planned = plan.plan(calls, cfg, model, "w", shards=2).toPandas()
        assert planned.call_key.is_unique
        place = {key: i for i, key in enumerate(planned.call_key)}
        shard = dict(zip(planned.call_key, planned.shard, strict=True))
        assert set(planned.shard) == {0, 1}
        asked = requests.toPandas()
        asked = asked[asked.model == model]
        for contrast in sorted(set(asked.contrast)):
            mine = asked[asked.contrast == contrast].drop_duplicates("call_key")
            mine = mine.assign(place=mine.call_key.map(place)).sort_values("place")
            for of_shard in (None, 0, 1):
                part = mine if of_shard is None else mine[mine.call_key.map(shard) == of_shard]
                favored = (part.version == "favored").to_numpy()
                n, m = len(favored), int(favored.sum())
                ranks = np.arange(1, n + 1)
                # Wilcoxon's rank sum: mean m (n + 1) / 2, variance m (n - m) (n + 1) / 12.
                z = (ranks[favored].sum() - m * (n + 1) / 2) / (m * (n - m) * (n + 1) / 12) ** 0.5
                assert abs(z) < 3, (model, contrast, of_shard)
                # Changes of side between neighbors: near half, not all (in turn) and not none.
                changes = (favored[1:] != favored[:-1]).mean()
                assert abs(changes - 0.5) < 3 * 0.5 / (n - 1) ** 0.5, (model, contrast, of_shard)
