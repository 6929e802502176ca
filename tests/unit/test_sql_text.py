"""Splitting of SQL files, their headers and the table on screen; no Spark session."""

from __future__ import annotations

import pytest

from fairscreen import resources, sql
from fairscreen.commands.sql import as_table
from fairscreen.tables import ddl_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", [("SELECT 1", 1)]),
        ("SELECT 1;\nSELECT 2 ;\n", [("SELECT 1", 1), ("SELECT 2", 2)]),
        (";;\n-- only; a comment\n/* and; this */\n", []),
        ("-- a;b\n\nSELECT ';' ;", [("SELECT ';'", 3)]),
        (r"SELECT 'it\'s; one';SELECT 2", [(r"SELECT 'it\'s; one'", 1), ("SELECT 2", 1)]),
        ("SELECT 'it''s; one'", [("SELECT 'it''s; one'", 1)]),
        (
            'SELECT `a;\\`, "b;" FROM t; SELECT 2',
            [('SELECT `a;\\`, "b;" FROM t', 1), ("SELECT 2", 1)],
        ),
        ("/* a /* b; */ c; */ SELECT 1", [("SELECT 1", 1)]),
        ("SELECT 1 -- c;\n + 1; SELECT 2", [("SELECT 1 -- c;\n + 1", 1), ("SELECT 2", 2)]),
        ("SELECT 4 - 2 / 1", [("SELECT 4 - 2 / 1", 1)]),
    ],
)
def test_split(text, expected):
    assert [(s.text, s.line) for s in sql.split(text)] == expected


def test_every_file_states_question_grain_and_what_it_reads():
    folders = ("views", "questions")
    files = [f for d in folders for f in sorted(resources.path("sql", d).glob("*.sql"))]
    known = {*ddl_names(), *sql.view_files()}
    assert len(files) >= 5
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines()
        assert lines[0].startswith("-- Question: "), file.name
        assert lines[1].startswith("-- One row per: "), file.name
        assert sql.key(text), file.name
        assert sql.reads(text), file.name
        assert set(sql.reads(text)) <= known, file.name
        for part in ("Unit: ", "Rows behind a number: ", "Source: "):
            assert part in text, f"{file.name}: {part}"
        assert len(sql.split(text)) == 1, file.name


def test_table_on_screen_aligns_and_cannot_move_the_cursor():
    rows = [
        {"name": "a\x1b[2J\nb", "value": 1234567.891, "count": 3},
        {"name": "x" * 60, "value": None, "count": 12},
    ]
    shown = as_table(["name", "value", "count"], rows)
    assert "\x1b" not in shown
    lines = shown.splitlines()
    assert len(lines) == 5
    assert lines[0].endswith("      value  count")
    assert lines[2].endswith("1.23457e+06      3")
    assert lines[3].startswith("x" * 47 + "…")
    assert lines[3].endswith("null     12")
    assert lines[4] == "(2 rows)"
