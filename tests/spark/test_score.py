"""The scoring station on small real inputs, asked in three shards, in one warehouse."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import time
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import functions as sf

from fairscreen.config import load
from fairscreen.errors import InputError, StoppedError
from fairscreen.lease import lease
from fairscreen.scoring import plan
from fairscreen.scoring.calls import Reply, call_key, canonical
from fairscreen.scoring.commit import commit, commit_leftovers
from fairscreen.scoring.journal import ShardJournal, WaveJournal
from fairscreen.scoring.score import score
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.screeners.planted import PlantedParams, mean_score
from small_audit import people

AUDITS = {"first": 60, "broken": 60, "stopped": 12, "real": 20, "again": 8, "ends": 6,
          "idle": 4}  # fmt: skip
JOBS = ("registered_nurses", "construction_laborers")


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


PROMPTS = {job: key(f"Wanted: {job}.") for job in JOBS}


def resume(n: int) -> str:
    """Ten different ones: from the eleventh applicant on they repeat."""
    return f"Five years in intensive care.\nBachelor of Nursing, {2000 + n % 10}."


@pytest.fixture(scope="module")
def warehouse(spark, tmp_path_factory):
    """Applicants and resumes of every audit of this file; replies are shared by them."""
    from fairscreen.tables import Warehouse

    warehouse = Warehouse(spark, str(tmp_path_factory.mktemp("score") / "warehouse"))
    sample = people()["applicants"]
    applicants, documents = [], []
    for audit, count in AUDITS.items():
        for i in range(count):
            mine = {"audit_id": audit, "applicant_id": f"{audit}{i}"}
            person = sample[i % len(sample)] | mine
            more = {"exp_year": (7 * i % 200) / 12, "edu_group": ("low", "medium", "high")[i % 3]}
            applicants.append(person | more)
            shown = {"document_format": "text", "content_key": key(resume(i))}
            document_id = f"{audit}{i}/text"
            job = {"document_id": document_id, "job": person["job"]}
            documents.append(mine | job | shown)
    texts = [resume(i) for i in range(10)] + [f"Wanted: {job}." for job in JOBS]
    contents = [
        {"content_key": key(t), "media_type": "text/plain; charset=utf-8", "text": t} for t in texts
    ]
    filled = {"applicants": applicants, "documents": documents, "contents": contents}
    for name, rows in filled.items():
        warehouse.append(name, warehouse.rows(name, rows), transaction=f"test/{name}")
    return warehouse


def config(audit: str, kind: str = "planted", parsers: dict | None = None, **scoring: object):
    settings = {"shards": 3, "segment_size": 4, **scoring}
    jobs = {job: {"title": job, "occp": ["3255"], "psid_occp": ["3255"]} for job in JOBS}
    return load(
        "conf/audits/demo.yml",
        [
            f"audit_id={audit}",
            f"scoring.models={json.dumps({'m': {'kind': kind, **(parsers or {})}})}",
            f"population.jobs={json.dumps(jobs)}",
            *(f"scoring.{name}={json.dumps(value)}" for name, value in settings.items()),
        ],
    )


def counting(log: Path, fail_after: int | None = None):
    """Planted, noting every call in a file; raises once the file holds `fail_after` lines."""
    inner = KINDS["planted"]

    def opened(params):
        screener = inner.open(params)

        class Counting:
            def ask(self, calls):
                for asked, reply in screener.ask(calls):
                    if fail_after is not None and len(log.read_text().splitlines()) >= fail_after:
                        raise RuntimeError("the process was killed")
                    with open(log, "a") as out:
                        out.write(asked + "\n")
                    yield asked, reply

        return Counting()

    log.touch()
    return {"planted": dataclasses.replace(inner, open=opened)}


def test_every_request_has_one_row_and_a_second_run_asks_nothing(warehouse, tmp_path):
    cfg, count, log = config("first"), AUDITS["first"], tmp_path / "calls"
    done = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=counting(log))
    assert (done.asked, done.reused, done.final) == (count, 0, True)
    assert done.outcomes == {"m": {"ok": count}}
    by_group = done.outcomes_by_group["m"]
    assert by_group["gender=female"]["ok"] + by_group["gender=male"]["ok"] == count
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == count

    rows = warehouse.read("scores").where("audit_id = 'first'").collect()
    assert sorted(r["request_id"] for r in rows) == sorted(
        f"first{i}/text@m#0" for i in range(count)
    )
    assert {r["parser"] for r in rows} == {"number/2"}
    waves = warehouse.read("waves").where("audit_id = 'first'").collect()
    assert {r["shard"] for r in waves} == {0, 1, 2}
    assert list(Path(warehouse.root, "_journal").iterdir()) == []
    _check_keys_and_noise(rows, {r["call_key"]: json.loads(r["payload"]) for r in waves})

    again = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=counting(log))
    assert (again.asked, again.reused, again.waves) == (0, count, [])
    assert len(log.read_text().splitlines()) == count


def _check_keys_and_noise(scores, payloads) -> None:
    """Spark's call key is Python's; score minus planted mean is noise of the planted size."""
    identity = {"model": "planted/1", **KINDS["planted"].identity({})}
    for found, payload in payloads.items():
        sent = {"applicant": payload, "identity": identity, "replicate": 0}
        assert found == call_key(canonical(sent))
    p = PlantedParams()
    noise = [float(r["score"]) - mean_score(p, payloads[r["call_key"]]) for r in scores]
    assert 2.0 < (sum(e * e for e in noise) / len(noise)) ** 0.5 < 4.0


def test_a_failure_in_the_middle_keeps_what_was_answered(warehouse, tmp_path):
    cfg, count, log = config("broken"), AUDITS["broken"], tmp_path / "calls"
    with pytest.raises(Exception, match="the process was killed"):
        score(warehouse, cfg, prompt_keys=PROMPTS, kinds=counting(log, fail_after=25))
    before = log.read_text().splitlines()
    assert 25 <= len(before) <= 26  # two workers look at the file at the same time

    done = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=counting(log))
    asked = log.read_text().splitlines()
    assert done.asked == count - len(before)
    assert len(asked) == len(set(asked)) == count
    assert done.outcomes == {"m": {"ok": count}}


def record(n: int, wave: str) -> dict[str, object]:
    stamp = {"model": "x", "model_version": "1", "wave_id": wave}
    at = {"asked_at": f"2026-03-22T00:00:{n:02d}+00:00"}
    return {"call_key": f"k{n}", **dataclasses.asdict(Reply("answered", str(n))), **stamp, **at}


def test_commit_is_once_and_late_segments_are_not_dropped(warehouse, tmp_path):
    wave = plan.new_wave_id("late")
    journal = WaveJournal(tmp_path, wave)
    ShardJournal(tmp_path, wave, 0).write([record(1, wave), record(2, wave)])
    earlier = record(2, wave) | {"asked_at": "2026-03-22T00:00:01+00:00", "reply": "first"}
    ShardJournal(tmp_path, wave, 0).write([earlier])
    torn = journal.folder / "0" / "torn-000000.jsonl"
    torn.write_text(json.dumps(record(3, wave)) + "\n")
    assert commit(warehouse, journal).calls == 2
    assert not journal.folder.exists()

    # The journal comes back whole (a kill between commit and delete), with a late segment;
    # the journal of an audit with a longer name is not ours.
    ShardJournal(tmp_path, wave, 0).write([record(1, wave), record(2, wave)])
    ShardJournal(tmp_path, wave, 1).write([record(4, wave)])
    other = plan.new_wave_id("later")
    ShardJournal(tmp_path, other, 0).write([record(5, other)])
    assert commit_leftovers(warehouse, tmp_path, "late") == 3
    rows = warehouse.read("replies").where(sf.col("wave_id") == wave).orderBy("call_key").collect()
    assert [(r["call_key"], r["reply"]) for r in rows] == [
        ("k1", "1"), ("k2", "first"), ("k4", "4"),
    ]  # fmt: skip
    assert WaveJournal(tmp_path, other).segments()


def test_a_segment_that_comes_during_the_commit_is_committed_too(warehouse, tmp_path, monkeypatch):
    """A worker that Spark had given up writes what it had on the wire, between read and delete."""
    wave = plan.new_wave_id("meanwhile")
    shard = ShardJournal(tmp_path, wave, 0, made=True)
    WaveJournal(tmp_path, wave).create()
    shard.begin()
    shard.write([record(1, wave), record(2, wave)])
    append = warehouse.append

    def meanwhile(name, rows, *, transaction):
        append(name, rows, transaction=transaction)
        if transaction == f"replies/{wave}":
            monkeypatch.undo()
            shard.write([record(2, wave), record(3, wave)])

    monkeypatch.setattr(warehouse, "append", meanwhile)
    assert commit(warehouse, WaveJournal(tmp_path, wave)).calls == 3
    rows = warehouse.read("replies").where(sf.col("wave_id") == wave).collect()
    assert sorted(r["call_key"] for r in rows) == ["k1", "k2", "k3"]
    assert list(tmp_path.iterdir()) == []
    assert shard.state() == "stop"


def interrupted(log: Path, at: int):
    """Planted, with Ctrl-C pressed while it answers call number `at`."""
    counted = counting(log)["planted"]

    def opened(params):
        screener = counted.open(params)

        class Interrupted:
            def ask(self, calls):
                for asked, reply in screener.ask(calls):
                    if len(log.read_text().splitlines()) == at:
                        os.kill(os.getpid(), signal.SIGINT)
                        time.sleep(0.5)  # the main thread is told
                    yield asked, reply

        return Interrupted()

    return {"planted": dataclasses.replace(counted, open=opened)}


def test_ctrl_c_in_the_second_wave_keeps_what_was_answered(warehouse, tmp_path):
    log = tmp_path / "calls"
    cfg = config("stopped", wave_size=8, segment_size=1, where="driver")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(StoppedError, match="1 of the wave's 4 calls of m are answered and kept"):
        score(warehouse, cfg, prompt_keys=PROMPTS, kinds=interrupted(log, at=9))
    assert signal.getsignal(signal.SIGINT) == before
    waves = warehouse.read("waves").where("audit_id = 'stopped'").select("wave_id", "call_key")
    kept = warehouse.read("replies").join(waves, ["wave_id", "call_key"]).collect()
    assert sorted(r["call_key"] for r in kept) == sorted(log.read_text().splitlines())
    assert len(kept) == 9


def late(log: Path, root: Path):
    """Planted; its second call of a wave takes until the driver has ended the wave."""
    counted = counting(log)["planted"]

    def opened(params):
        screener = counted.open(params)

        class Late:
            def ask(self, calls):
                (wave,) = root.iterdir()
                while list(wave.glob("*/*.jsonl")) and not (wave / "end").exists():
                    time.sleep(0.01)
                yield from screener.ask(calls)

        return Late()

    return {"planted": dataclasses.replace(counted, open=opened)}


def test_a_wave_ends_by_time_and_the_next_takes_what_is_left(warehouse, tmp_path):
    log, root = tmp_path / "calls", Path(warehouse.root, "_journal")
    cfg = config("ends", wave_minutes=0.001, segment_size=1, shards=2, where="driver")
    done = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=late(log, root))
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == done.asked == 6
    assert (done.outcomes, done.final) == ({"m": {"ok": 6}}, True)
    # Two calls a wave: the one before its end was written, and the one that waited for it.
    assert len(done.waves) == 3
    waves = warehouse.read("waves").where("audit_id = 'ends'").groupBy("wave_id").count()
    assert sorted(r["count"] for r in waves.collect()) == [2, 4, 6]


class Silent:
    """Ends its wave and answers nothing."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def ask(self, calls):
        for wave in self.root.iterdir():
            WaveJournal(self.root, wave.name).end()
        return iter(())


def test_waves_without_an_answer_do_not_go_on_for_ever(warehouse):
    root = Path(warehouse.root, "_journal")
    kinds = {"planted": dataclasses.replace(KINDS["planted"], open=lambda params: Silent(root))}
    cfg = config("idle", segment_size=1, shards=1, where="driver")
    with pytest.raises(StoppedError, match="3 waves in a row ended without one answer of m, 4 of"):
        score(warehouse, cfg, prompt_keys=PROMPTS, kinds=kinds)


def test_embedding_asks_identical_resumes_once(warehouse):
    done = score(warehouse, config("real", kind="embedding"), prompt_keys=PROMPTS)
    rows = warehouse.read("requests").where("audit_id = 'real'").collect()
    different = {(r["content_key"], r["prompt_key"]) for r in rows}
    assert done.asked == len(different) < AUDITS["real"]
    assert done.asked + done.reused == AUDITS["real"]
    assert done.outcomes == {"m": {"ok": AUDITS["real"]}}
    scores = warehouse.read("scores").where("audit_id = 'real'").collect()
    # Only a year differs between the resumes: it moves the score, by little.
    assert len({r["score"] for r in scores}) > len(different) / 2
    assert all(Decimal(50) < r["score"] < Decimal(100) for r in scores)


def scripted(answers: dict[str, Reply], asked: list[str], dies_after: int | None = None):
    """Planted, but answering by applicant; notes whom, and breaks off after some calls."""

    class Scripted:
        def ask(self, calls):
            for call in calls:
                if dies_after is not None and len(asked) == dies_after:
                    raise RuntimeError("the process was killed")
                who = json.loads(call.payload)["applicant_id"]
                asked.append(who)
                yield call.call_key, answers[who]

    return {"planted": dataclasses.replace(KINDS["planted"], open=lambda params: Scripted())}


def outcomes_of(warehouse, audit: str) -> dict[str, tuple[str, int | None]]:
    rows = warehouse.read("scores").where(sf.col("audit_id") == audit).collect()
    return {r["applicant_id"]: (r["outcome"], r["score"] and int(r["score"])) for r in rows}


def test_retry_asks_just_those_and_another_parser_asks_nothing(warehouse):
    """Eight applicants, two of each outcome. In the driver: the script is in this process."""
    own, other = "yes_no_one_word/2", "yes_no_first_occurrence/2"
    cfg = config(
        "again", where="driver", segment_size=1, shards=1,
        parsers={"parser": own, "also_parsers": [other]},
    )  # fmt: skip
    says = [Reply("answered", "Yes."), Reply("refused"), Reply("answered", "No doubt: yes"),
            Reply("failed", error="gone")]  # fmt: skip
    first = {f"again{i}": says[i % 4] for i in range(8)}
    done = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=scripted(first, asked := []))
    assert (done.asked, done.final) == (8, True)
    assert done.outcomes == {"m": {"ok": 2, "refused": 2, "unparseable": 2, "failed": 2}}
    assert done.notes[0].startswith("m: 6 of 8 requests have no score; failed (call_failed) 2: ")
    assert f"{own} and {other} read 2 of 8 replies differently" in done.notes[1]
    rows = warehouse.read("parser_agreement").where("audit_id = 'again'").collect()
    assert sum(r["requests"] for r in rows) == 8
    assert (sum(r["ok"] for r in rows), sum(r["other_ok"] for r in rows)) == (2, 4)
    # Two yes by both, and two no that only the other parser reads.
    sums = ("both_ok", "sum_score", "sum_square", "other_sum_square", "both_sum_product")
    assert [sum(r[name] for r in rows) for name in sums] == [2] * 5

    # Killed after three of the four: what was durable is kept, and a failure hides no answer.
    retry = ("failed", "unparseable")
    second = {
        "again2": Reply("answered", "yes"), "again6": Reply("failed"),
        "again3": Reply("answered", "no"), "again7": Reply("answered", "no"),
    }  # fmt: skip
    with pytest.raises(RuntimeError, match="the process was killed"):
        score(
            warehouse, cfg, prompt_keys=PROMPTS, kinds=scripted(second, asked := [], 3), retry=retry
        )
    assert len(asked) == 3
    done = score(
        warehouse, cfg, prompt_keys=PROMPTS, kinds=scripted(second, again := []), retry=retry
    )
    # Once more: the one that was not reached, and the one that is still unparseable.
    assert set(again) == set(second) - set(asked) | {"again6"}
    found = outcomes_of(warehouse, "again")
    assert found == {
        **{f"again{i}": ("ok", 1) for i in (0, 2, 4)}, "again3": ("ok", 0), "again7": ("ok", 0),
        "again1": ("refused", None), "again5": ("refused", None), "again6": ("unparseable", None),
    }  # fmt: skip
    mine = warehouse.read("requests").where("audit_id = 'again'").select("call_key").distinct()
    kept = warehouse.read("replies").join(mine, "call_key").collect()
    assert len(kept) == 8 + 3 + len(again)
    assert sum(r["retry"] == 1 for r in kept) == 4

    # The published parser reads the first reply of all, as if nobody had asked twice.
    cfg = config("again", where="driver", parsers={"parser": other})
    done = score(warehouse, cfg, prompt_keys=PROMPTS, kinds=scripted({}, asked := []))
    assert (done.asked, asked) == (0, [])
    found = outcomes_of(warehouse, "again")
    assert (found["again2"], found["again6"]) == (("ok", 0), ("ok", 0))
    assert warehouse.read("parser_agreement").where("audit_id = 'again'").count() == 0


def test_one_run_of_an_audit_at_a_time(warehouse):
    with lease(warehouse, "first"):
        with (
            pytest.raises(InputError, match=r"audit first: is being run by process \d+ on"),
            lease(warehouse, "first"),
        ):
            pass
        with lease(warehouse, "broken"):
            pass
    with lease(warehouse, "first"):
        pass
    epochs = warehouse.read("leases").where("audit_id = 'first'").select("epoch").collect()
    assert sorted(r["epoch"] for r in epochs) == [1, 2]
