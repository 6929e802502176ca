"""A chat model asked from executors: key, prompt and limits travel with the closure."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from pyspark.sql import functions as sf
from test_score import JOBS, PROMPTS, key, resume

from fairscreen.config import load
from fairscreen.errors import ConfigError, InputError, StoppedError
from fairscreen.scoring import money
from fairscreen.scoring import quote as quotes
from fairscreen.scoring.cap import Cap
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import Image
from fairscreen.scoring.quote import quote
from fairscreen.scoring.score import score
from fairscreen.scoring.screeners import KINDS
from model_server import body_key, serving
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


def config(url: str, audit: str = "chat", **params: object):
    jobs = {job: {"title": job, "occp": ["3255"], "psid_occp": ["3255"]} for job in JOBS}
    own = {"provider": "openai", "model": "m-1", "base_url": f"{url}/v1", "weights": "w-1"}
    asked = {"kind": "chat", "params": own | {"key_env": "TEST_MODEL_KEY"} | params}
    return load(
        "conf/audits/demo.yml",
        [
            f"audit_id={audit}",
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


def test_a_quote_needs_no_key_and_its_range_holds_what_is_then_paid(warehouse, monkeypatch):
    monkeypatch.delenv("TEST_MODEL_KEY", raising=False)
    with serving() as server:
        own = {"prices": {"tokens_in": 2.0, "tokens_out": 8.0}, "weights": "w-3", "rpm": 12}
        cfg = config(server.url, **own)
        (found,) = quote(warehouse, cfg, prompt_keys=PROMPTS).models
        assert (found.requests, found.calls, found.own_replies) == (COUNT, COUNT, 0)
        assert found.minutes == COUNT / 12
        assert server.counts == {}
        monkeypatch.setenv("TEST_MODEL_KEY", KEY)
        score(warehouse, config(server.url, **own | {"rpm": None}), prompt_keys=PROMPTS)
    wave = max(r["wave_id"] for r in warehouse.read("replies").collect())
    paid = warehouse.read("replies").where(sf.col("wave_id") == wave).collect()
    assert len(paid) == COUNT
    for name, tells in (("tokens_in", found.tokens_in), ("tokens_out", found.tokens_out),
                        ("cost_usd", found.cost_usd)):  # fmt: skip
        assert tells.low <= sum(r[name] for r in paid) <= tells.high
    assert quote(warehouse, cfg, prompt_keys=PROMPTS).models[0].calls == 0


def test_a_cap_on_the_costs_holds_over_shards_and_a_higher_one_goes_on(warehouse, monkeypatch):
    """Every answer costs 10 millionths of a dollar, its bound. Half-sent answers are billed too."""
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    prices = {"tokens_in": 0.0, "tokens_out": 1.0}
    own = {"prices": prices, "decoding": {"max_tokens": 10}, "weights": "w-2", "concurrency": 4}
    bill: list[int] = []
    earlier = money.dollars(Cap(warehouse, "chat", 0.0).spent())
    old = {r["wave_id"] for r in warehouse.read("waves").collect()}

    def charge(fault: str, tokens_in: int, tokens_out: int) -> None:
        bill.append(0 if fault == "429" else tokens_out)

    with serving(tokens_out=10, on_answer=charge, faults={"truncated": 0.1, "429": 0.1}) as server:

        def capped(dollars: float):
            cfg = config(server.url, **own)
            scoring = cfg.scoring.model_copy(update={"max_cost": earlier + dollars})
            return cfg.model_copy(update={"scoring": scoring})

        with pytest.raises(StoppedError, match="does not pay for another call of m") as raised:
            score(warehouse, capped(175e-6), prompt_keys=PROMPTS)
        mine = sf.col("cost_usd") == 10e-6
        kept = warehouse.read("replies").where(mine).collect()
        assert f" {len(kept)} calls were answered in this run" in str(raised.value)
        assert f"{COUNT - len(kept)} of m are pending" in str(raised.value)
        assert 10 < len(kept) < COUNT
        assert 170 - 10 < sum(bill) <= 175
        told = [*kept, *warehouse.read("unclaimed_costs").collect()]
        assert sum(r["cost_max_usd"] for r in told) == pytest.approx(sum(bill) / 1e6)
        # Two shards had a share each; what was left of both went to one.
        waves = warehouse.read("waves").where(~sf.col("wave_id").isin(*old))
        last = waves.groupBy("wave_id").agg(sf.max("shard").alias("shard")).orderBy("wave_id")
        first, *others = [r["shard"] for r in last.collect()]
        assert first == 1
        assert set(others) <= {0}

        # What is left is quoted by the replies that are there.
        monkeypatch.setattr(quotes, "OWN_REPLIES", 10)
        (found,) = quote(warehouse, capped(175e-6), prompt_keys=PROMPTS).models
        assert (found.calls, found.own_replies) == (COUNT - len(kept), len(kept))
        assert found.tokens_out.low == found.tokens_out.high == 10 * found.calls

        # As much money: nothing is asked. More: the rest, and nothing twice.
        before = len(bill)
        with pytest.raises(StoppedError, match="0 calls were answered in this run"):
            score(warehouse, capped(175e-6), prompt_keys=PROMPTS)
        assert len(bill) == before
        done = score(warehouse, capped(1.0), prompt_keys=PROMPTS)
        assert (done.asked, done.outcomes) == (COUNT - len(kept), {"m": {"ok": COUNT}})
        assert sorted(server.answered.values()) == [1] * COUNT


PAGES = 4


def page(n: int) -> bytes:
    """Stands for a PNG; no model looks at it here."""
    return b"\x89PNG\r\n\x1a\n\x00 page %d" % n


def test_images_are_sent_to_models_that_read_them_and_to_no_other(warehouse):
    sample = people()["applicants"]
    applicants, documents, contents = [], [], []
    for i in range(PAGES):
        person, content = sample[i], hashlib.sha256(page(i)).hexdigest()[:32]
        mine = {"audit_id": "pages", "applicant_id": f"pages{i}"}
        applicants.append(person | mine)
        shown = {"document_format": "image", "content_key": content, "job": person["job"]}
        documents.append(mine | shown | {"document_id": f"pages{i}/image"})
        contents.append({"content_key": content, "media_type": "image/png", "data": page(i)})
    filled = {"applicants": applicants, "documents": documents, "contents": contents}
    for name, rows in filled.items():
        warehouse.append(name, warehouse.rows(name, rows), transaction=f"pages/{name}")

    with serving() as server:
        with pytest.raises(ConfigError) as raised:
            score(warehouse, config(server.url, audit="pages"), prompt_keys=PROMPTS)
        assert str(raised.value).startswith(
            "scoring.models.m.params.images: m-1 reads no images, and document pages0/image is "
            "image/png. "
        )
        assert not server.counts
        assert warehouse.read("requests").where("audit_id = 'pages'").isEmpty()

        cfg = config(server.url, audit="pages", images=True, key_env=None)
        done = score(warehouse, cfg, prompt_keys=PROMPTS)
        assert (done.asked, done.outcomes) == (PAGES, {"m": {"ok": PAGES}})
        setup = KINDS["chat"].prepare(cfg.scoring.models["m"].params, "w", 1)["setup"]
        expected = set()
        for i in range(PAGES):
            shown = Image("image/png", base64.b64encode(page(i)).decode())
            prompt = setup.prompt.filled(f"Wanted: {sample[i]['job']}.", shown)
            expected.add(body_key(PROVIDERS["openai"].request(setup.spec, prompt, None).body))
        assert dict(server.counts) == dict.fromkeys(expected, 1)
