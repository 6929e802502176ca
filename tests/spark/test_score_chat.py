"""A chat model asked from executors: key, prompt and limits travel with the closure."""

from __future__ import annotations

import json

import pytest
from test_score import JOBS, PROMPTS, key, resume

from fairscreen.config import load
from fairscreen.errors import InputError
from fairscreen.scoring.score import score
from model_server import serving
from small_audit import people

COUNT = 24
KEY = "k-0123456789abcdef"


@pytest.fixture(scope="module")
def warehouse(spark, tmp_path_factory):
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("chat") / "warehouse"))
    applicants, documents = [], []
    sample = people()["applicants"]
    for i in range(COUNT):
        person = sample[i % len(sample)]
        mine = {"audit_id": "chat", "applicant_id": f"chat{i}"}
        applicants.append(person | mine | {"exp_year": 2.0, "edu_group": "low"})
        shown = {"document_format": "text", "content_key": key(f"{resume(i)} {i}")}
        documents.append(mine | shown | {"document_id": f"chat{i}/text", "job": person["job"]})
    texts = [f"{resume(i)} {i}" for i in range(COUNT)] + [f"Wanted: {job}." for job in JOBS]
    contents = [{"content_key": key(t), "media_type": "text/plain", "text": t} for t in texts]
    filled = {"applicants": applicants, "documents": documents, "contents": contents}
    for name, rows in filled.items():
        warehouse.append(name, warehouse.rows(name, rows), transaction=f"test/{name}")
    return warehouse


def config(url: str, **params: object):
    jobs = {job: {"title": job, "occp": ["3255"], "psid_occp": ["3255"]} for job in JOBS}
    own = {"provider": "openai", "model": "m-1", "base_url": f"{url}/v1", "weights": "w-1"}
    asked = {"kind": "chat", "params": own | {"key_env": "TEST_MODEL_KEY"} | params}
    return load(
        "conf/audits/demo.yml",
        [
            "audit_id=chat",
            f"scoring.models={json.dumps({'m': asked})}",
            f"population.jobs={json.dumps(jobs)}",
            "scoring.shards=2",
            "scoring.segment_size=5",
        ],
    )


def test_a_bad_key_says_so_and_then_every_call_is_asked_once(warehouse, monkeypatch):
    with serving(faults={"401": 1.0}) as server:
        monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
        with pytest.raises(InputError, match="TEST_MODEL_KEY holds no key"):
            score(warehouse, config(server.url), prompt_keys=PROMPTS)
        monkeypatch.setenv("TEST_MODEL_KEY", KEY)
        with pytest.raises(InputError, match=r"model m: m-1 turned 3 calls in a row away: 401 "):
            score(warehouse, config(server.url), prompt_keys=PROMPTS)
        assert sum(server.counts.values()) <= 2 * 3  # three canaries a shard

        server.faults, server.script = {}, {}
        server.counts.clear()
        done = score(warehouse, config(server.url), prompt_keys=PROMPTS)
        assert (done.asked, done.outcomes) == (COUNT, {"m": {"ok": COUNT}})
        assert sorted(server.counts.values()) == [1] * COUNT
        assert set(server.keys) == {f"Bearer {KEY}"}
    rows = warehouse.read("replies").collect()
    assert {(r["model"], r["model_version"]) for r in rows} == {("openai:m-1", "server-model/fp_1")}
    assert KEY not in str(rows)
    # Another address of the same weights, no server behind it: nothing is asked.
    again = score(warehouse, config("http://127.0.0.1:9"), prompt_keys=PROMPTS)
    assert (again.asked, again.reused) == (0, COUNT)
