"""A scoring run in a process of its own, so that it can be killed: real session, real warehouse.

python tests/faults/scoring_run.py ORDER.json, or the same through spark-submit. Fills the
warehouse where it is empty, scores under the lease as often as told, and writes what came of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fairscreen.config import Config, load

ROOT = Path(__file__).resolve().parents[2]
JOB = "registered_nurses"
AUDIT = "faults"


@dataclass(frozen=True)
class Order:
    """documents: resumes to fill in; models: name -> params of kind chat; scoring: settings.

    scores: how often to score. too_many_shards: a number that must be refused first.
    """

    warehouse: str
    out: str
    server: str
    documents: int
    models: dict[str, dict[str, Any]]
    scoring: dict[str, Any]
    scores: int = 1
    too_many_shards: int | None = None

    def write(self, file: Path) -> Path:
        file.write_text(json.dumps(asdict(self)))
        return file


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def resume(n: int) -> str:
    return f"Five years in intensive care, licence number {n}.\nBachelor of Nursing, 2012."


WANTED = "Wanted: a registered nurse."


def config(order: Order, **scoring: Any) -> Config:
    models = {name: {"kind": "chat", "params": p} for name, p in order.models.items()}
    jobs = {JOB: {"title": JOB, "occp": ["3255"], "psid_occp": ["3255"]}}
    return load(
        ROOT / "conf/audits/demo.yml",
        [
            f"audit_id={AUDIT}",
            f"scoring.models={json.dumps(models)}",
            f"population.jobs={json.dumps(jobs)}",
            *(f"scoring.{n}={json.dumps(v)}" for n, v in {**order.scoring, **scoring}.items()),
        ],
    )


def fill(warehouse: Any, count: int) -> None:
    from small_audit import people

    sample = [p for p in people()["applicants"] if p["job"] == JOB]
    applicants, documents = [], []
    for n in range(count):
        mine = {"audit_id": AUDIT, "applicant_id": f"a{n}"}
        person = sample[n % len(sample)]
        applicants.append(person | mine | {"exp_year": 2.0, "edu_group": "low"})
        shown = {"document_format": "text", "content_key": key(resume(n))}
        documents.append(mine | shown | {"document_id": f"a{n}/text", "job": JOB})
    texts = [*map(resume, range(count)), WANTED]
    contents = [{"content_key": key(t), "media_type": "text/plain", "text": t} for t in texts]
    for name, rows in (
        ("applicants", applicants), ("documents", documents), ("contents", contents),
    ):  # fmt: skip
        warehouse.append(name, warehouse.rows(name, rows), transaction=f"faults/{name}")


def calls_at(server: str) -> int:
    with urllib.request.urlopen(f"{server}/_stats") as answer:
        return int(json.load(answer)["calls"])


def main(order: Order) -> None:
    from fairscreen.errors import InputError
    from fairscreen.lease import lease
    from fairscreen.scoring.score import score
    from fairscreen.session import get_session
    from fairscreen.tables import Warehouse

    # Many small queries: compiling them would never pay back.
    spark = get_session(
        cores=2,
        shuffle_partitions=2,
        memory="2g",
        java_options="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        conf={
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        },
    )
    warehouse = Warehouse(spark, order.warehouse)
    prompt_keys = {JOB: key(WANTED)}
    found: dict[str, Any] = {"runs": []}
    if not warehouse.exists("contents"):
        fill(warehouse, order.documents)
    if order.too_many_shards:
        try:
            score(warehouse, config(order, shards=order.too_many_shards), prompt_keys=prompt_keys)
        except InputError as error:
            found["refused"] = str(error)
    for _ in range(order.scores):
        with lease(warehouse, AUDIT):
            done = score(warehouse, config(order), prompt_keys=prompt_keys)
        result = {"asked": done.asked, "reused": done.reused, "outcomes": done.outcomes}
        found["runs"].append(result | {"calls": calls_at(order.server)})
    for name, columns in {
        "requests": ("request_id", "model", "content_key", "call_key"),
        "scores": ("request_id", "outcome"),
        "replies": ("call_key", "attempts", "wave_id"),
        "waves": ("call_key", "wave_id", "shard"),
    }.items():
        rows = warehouse.read(name).select(*columns).collect()
        found[name] = [row.asDict() for row in rows]
    Path(order.out).write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(Order(**json.loads(Path(sys.argv[1]).read_text())))
