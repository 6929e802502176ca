"""What two parsers make of the same replies, and what is said of requests without a score."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fairscreen.scoring.agreement import notes, pairs
from fairscreen.scoring.notes import no_score
from fairscreen.scoring.parse import parse

ONE, FIRST = "yes_no_one_word/1", "yes_no_first_occurrence/1"


def request(reply: str | None, transport: str | None = "answered") -> dict[str, object]:
    own = parse(ONE, reply, transport)
    return {
        "applicant_id": "a", "model": "m", "document_format": "text", "parser": ONE,
        "outcome": own.outcome, "score": own.score, "reply": reply, "transport": transport,
        "finish_reason": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "transport", "differ", "other"),
    [
        ("Yes.", "answered", False, 1), ("no doubt: yes", "answered", True, 0),
        ("perhaps", "answered", False, None), (None, "failed", False, None),
        (None, None, False, None),
    ],
)  # fmt: skip
def test_a_reply_read_twice(
    reply: str | None, transport: str | None, differ: bool, other: int | None
) -> None:
    (pair,) = pairs(request(reply, transport), [FIRST])
    assert (pair["differ"], pair["other_score"]) == (differ, other)
    assert (pair["parser"], pair["other_parser"]) == (ONE, FIRST)
    assert pair["score"] == (Decimal(1) if reply == "Yes." else None)


def row(gender: str, race: str, counts: tuple[int, ...], means: tuple[float | None, ...]):
    requests, differ, ok, other_ok = counts
    return {
        "model": "m", "document_format": "text", "parser": ONE, "other_parser": FIRST,
        "gender": gender, "race": race, "requests": requests, "differ": differ, "ok": ok,
        "other_ok": other_ok, "mean_score": means[0], "other_mean_score": means[1],
    }  # fmt: skip


def test_the_note_says_how_often_for_whom_and_what_it_moves() -> None:
    rows = [
        row("female", "white", (10, 4, 6, 10), (0.5, 0.3)),
        row("female", "black", (10, 0, 10, 10), (0.1, 0.1)),
        row("male", "white", (20, 1, 20, 20), (0.4, 0.35)),
    ]
    assert notes(rows) == [
        "m (text): yes_no_one_word/1 and yes_no_first_occurrence/1 read 5 of 40 replies "
        "differently (female 20.0%, male 5.0%, black 0.0%, white 16.7%); mean score of men minus "
        "women +0.15 by the first, +0.15 by the second."
    ]


def test_the_note_is_short_where_they_agree_and_where_a_group_has_no_score() -> None:
    start = "m (text): yes_no_one_word/1 and yes_no_first_occurrence/1 read"
    assert notes([row("male", "white", (5, 0, 5, 5), (1.0, 1.0))]) == [
        f"{start} 0 of 5 replies differently."
    ]
    assert notes([row("male", "white", (5, 1, 0, 1), (None, 1.0))]) == [
        f"{start} 1 of 5 replies differently (male 20.0%, white 20.0%)."
    ]


def test_requests_without_a_score_are_named_by_reason_and_group() -> None:
    def some(model: str, gender: str, outcome: str, reason: str | None, count: int):
        return {
            "model": model, "gender": gender, "race": "white", "outcome": outcome,
            "reason": reason, "count": count,
        }  # fmt: skip

    rows = [
        some("m", "female", "ok", None, 90), some("m", "female", "unparseable", "truncated", 10),
        some("m", "male", "ok", None, 49), some("m", "male", "refused", "refused", 1),
        some("n", "male", "ok", None, 5),
    ]  # fmt: skip
    assert no_score(rows) == [
        "m: 11 of 150 requests have no score; "
        "refused 1: female 0.0%, male 2.0%, white 0.7%; "
        "unparseable (truncated) 10: female 10.0%, male 0.0%, white 6.7%."
    ]
