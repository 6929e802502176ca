"""The warehouse: schemas from sql/ddl, each write one transaction, names for SQL."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pytest

from fairscreen import resources, tables
from fairscreen.errors import InputError
from fairscreen.sources import ledger
from fairscreen.tables import Warehouse, ddl_names, ddl_statements

TEXT = "text/plain; charset=utf-8"


def _content(warehouse: Warehouse, *keys: str):
    records = [{"content_key": k, "media_type": TEXT, "text": f"text of {k}"} for k in keys]
    return warehouse.rows("contents", records)


def test_every_ddl_file_says_its_grain_and_names_its_columns() -> None:
    for name in ddl_names():
        text = resources.path("sql", "ddl", f"{name}.sql").read_text(encoding="utf-8")
        grain = re.search(r"^-- One row per: (.+)$", text, re.M)
        assert grain, name
        create = ddl_statements(name)[0]
        for column in re.split(r",\s*", grain.group(1)):
            assert re.search(rf"^\s+{column}\s", create, re.M), f"{name}.{column}"


def test_the_same_transaction_again_writes_nothing(warehouse: Warehouse) -> None:
    warehouse.append("contents", _content(warehouse, "a"), transaction="t/1")
    warehouse.append("contents", _content(warehouse, "a"), transaction="t/1")
    assert warehouse.read("contents").count() == 1


def test_replace_touches_only_its_rows(warehouse: Warehouse) -> None:
    warehouse.append("contents", _content(warehouse, "a", "b"), transaction="t/1")
    before = warehouse.version("contents")
    warehouse.replace("contents", _content(warehouse, "b"), where="content_key = 'b'")
    warehouse.replace("contents", _content(warehouse), where="content_key = 'a'")
    assert [r["content_key"] for r in warehouse.read("contents").collect()] == ["b"]
    assert warehouse.read("contents", version=before).count() == 2


def test_insert_new_keeps_what_is_there(warehouse: Warehouse) -> None:
    warehouse.append("contents", _content(warehouse, "a"), transaction="t/1")
    changed = warehouse.rows(
        "contents",
        [{"content_key": k, "media_type": TEXT, "text": "new"} for k in ("a", "b")],
    )
    warehouse.insert_new("contents", changed, keys=["content_key"])
    rows = {r["content_key"]: r["text"] for r in warehouse.read("contents").collect()}
    assert rows == {"a": "text of a", "b": "new"}


def test_constraints_hold(warehouse: Warehouse) -> None:
    row = {
        "audit_id": "a", "request_id": "r", "document_id": "d", "applicant_id": "p", "job": "j",
        "document_format": "text", "model": "m", "replicate": 0, "call_key": "c",
        "parser": "p/1", "outcome": "ok", "reason": None, "score": None,
    }  # fmt: skip
    with pytest.raises(Exception, match="score_iff_ok"):
        warehouse.append("scores", warehouse.rows("scores", [row]), transaction="t/1")
    assert warehouse.read("scores").count() == 0


def test_nan_never_enters(warehouse: Warehouse) -> None:
    with pytest.raises(ValueError, match=r"estimates\.estimate is NaN"):
        warehouse.rows("estimates", [{"estimate": float("nan")}])


def test_missing_and_unknown_columns_are_named(warehouse: Warehouse) -> None:
    rows = _content(warehouse, "a").drop("text").selectExpr("*", "1 AS more")
    with pytest.raises(ValueError, match=r"missing \['text'\], unknown \['more'\]"):
        warehouse.append("contents", rows, transaction="t/1")


def _older(warehouse: Warehouse, name: str, column: str) -> None:
    """The table as it was before `column` existed, with one row."""
    create = ddl_statements(name)[0]
    before = re.sub(rf"^  {column} .*\n", "", create, flags=re.M)
    assert before != create
    target = warehouse.identifier(name)
    warehouse.spark.sql(before.replace(f"EXISTS {name}", f"EXISTS {target}"))


def test_an_older_table_gains_the_columns_it_lacks(spark, warehouse: Warehouse) -> None:
    _older(warehouse, "source_file", "member")
    target = warehouse.identifier("source_file")
    spark.sql(
        f"INSERT INTO {target} (kind, sha256, file, row_count, synthetic, ingested_at) "
        "VALUES ('ssa', 'aa', 'names.zip', 3, false, now())"
    )
    ledger.record(warehouse, [ledger.Entry("acs", "bb", "csv_pwy.zip", 5, member="psam_p56.csv")])
    rows = warehouse.read("source_file").orderBy("sha256").collect()
    assert [(r["sha256"], r["member"]) for r in rows] == [("aa", None), ("bb", "psam_p56.csv")]
    told = {r["col_name"]: r["comment"] for r in spark.sql(f"DESCRIBE {target}").collect()}
    assert told["member"] == "member of the zip"
    # The next session finds nothing to add.
    version = warehouse.version("source_file")
    assert Warehouse(spark, warehouse.root).version("source_file") == version


def test_many_records_are_the_rows_that_few_are(warehouse: Warehouse) -> None:
    """Beyond a number they take another way: decimals, times and nulls come out the same."""
    when = dt.datetime(2026, 3, 22, 12, 0, 0, 250, tzinfo=dt.UTC)
    reply = {"call_key": "k", "model": "m", "transport": "answered", "attempts": 2,
             "latency_ms": 0.1, "tokens_in": 2**40, "asked_at": when, "wave_id": "w"}  # fmt: skip
    score = {"audit_id": "a", "document_id": "d", "applicant_id": "p", "job": "j", "parser": "p",
             "document_format": "text", "model": "m", "replicate": 0, "call_key": "k",
             "outcome": "ok", "score": Decimal("1.25")}  # fmt: skip
    for name, record, key in (("replies", reply, "call_key"), ("scores", score, "request_id")):
        records = [{**record, key: f"{i:05d}"} for i in range(tables._FEW + 1)]
        many, few = warehouse.rows(name, records), warehouse.rows(name, records[:3])
        assert many.schema == few.schema
        assert many.orderBy(key).limit(3).collect() == few.orderBy(key).collect()
        assert many.count() == len(records)
    with pytest.raises(ValueError, match=r"replies\.latency_ms is NaN"):
        warehouse.rows("replies", [{**reply, "latency_ms": float("nan")}] * (tables._FEW + 1))


def test_older_contents_take_images(spark, warehouse: Warehouse) -> None:
    """Before images, every content was a text."""
    target = warehouse.identifier("contents")
    spark.sql(
        f"CREATE TABLE {target} (content_key STRING NOT NULL, media_type STRING NOT NULL, "
        "text STRING NOT NULL) USING delta CLUSTER BY (content_key)"
    )
    spark.sql(f"INSERT INTO {target} VALUES ('a', '{TEXT}', 'text of a')")
    page = {"content_key": "b", "media_type": "image/png", "data": b"\x89PNG"}
    warehouse.append("contents", warehouse.rows("contents", [page]), transaction="t/1")
    rows = {r["content_key"]: (r["text"], r["data"]) for r in warehouse.read("contents").collect()}
    assert rows == {"a": ("text of a", None), "b": (None, b"\x89PNG")}
    for both in ({"text": "x", "data": b"x"}, {}):
        row = {"content_key": "c", "media_type": "image/png", **both}
        with pytest.raises(Exception, match="text_or_image"):
            warehouse.append("contents", warehouse.rows("contents", [row]), transaction=f"t/{both}")


def test_an_older_table_that_lacks_a_column_without_null_is_refused(warehouse: Warehouse) -> None:
    _older(warehouse, "contents", "media_type")
    with pytest.raises(InputError) as caught:
        warehouse.read("contents")
    assert str(caught.value) == (
        f"table contents in {warehouse.root}: was made by an older fairscreen: it lacks column "
        "media_type, which every row must fill. Start a new warehouse (--warehouse) and ingest the "
        "source files again."
    )


def test_unknown_table_is_a_clear_error(warehouse: Warehouse) -> None:
    with pytest.raises(InputError, match="table score: is not a table of fairscreen"):
        warehouse.read("score")


def test_bare_names_work_in_sql(spark, warehouse: Warehouse) -> None:
    warehouse.append("contents", _content(warehouse, "a"), transaction="t/1")
    assert warehouse.register() == ["contents"]
    assert spark.sql("SELECT count(*) AS n FROM contents").collect()[0]["n"] == 1
