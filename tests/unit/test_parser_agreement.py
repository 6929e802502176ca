"""What two parsers make of the same replies, and what is said of requests without a score."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fairscreen.scoring.agreement import gap_notes, notes, pairs
from fairscreen.scoring.notes import no_score
from fairscreen.scoring.parse import parse
from fairscreen.settings.estimation import Contrast

ONE, FIRST = "yes_no_one_word/2", "yes_no_first_occurrence/2"


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


def row(gender: str, race: str, own: list[int | None], other: list[int | None]):
    """A row of `parser_agreement` of requests read as `own` and as `other` (None: no score)."""
    s, t = [x for x in own if x is not None], [x for x in other if x is not None]
    both = [(x, y) for x, y in zip(own, other, strict=True) if None not in (x, y)]
    return {
        "model": "m", "document_format": "text", "parser": ONE, "other_parser": FIRST,
        "gender": gender, "race": race, "requests": len(own), "ok": len(s), "other_ok": len(t),
        "differ": sum(x != y for x, y in zip(own, other, strict=True)), "both_ok": len(both),
        "sum_score": sum(s), "sum_square": sum(x * x for x in s), "other_sum_score": sum(t),
        "other_sum_square": sum(x * x for x in t), "both_sum_score": sum(x for x, _ in both),
        "both_other_sum_score": sum(y for _, y in both),
        "both_sum_product": sum(x * y for x, y in both),
    }  # fmt: skip


READ = [
    row("female", "white", [1, 1, 1, 0, None], [1, 1, 0, 0, 0]),
    row("female", "black", [0, 1, 0, 0], [0, 1, 0, 0]),
    row("male", "white", [1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 1]),
]
GENDER = Contrast(
    attribute="gender", x1=("male",), x0=("female",), x1_label="men", x0_label="women"
)
RACE = Contrast(
    attribute="race", x1=("white",), x0=("black",), x1_label="white applicants", x0_label="others"
)


def test_the_note_says_how_often_and_for_whom() -> None:
    assert notes(READ) == [
        "m (text): yes_no_one_word/2 and yes_no_first_occurrence/2 read 3 of 15 replies "
        "differently (female 22.2%, male 16.7%, black 0.0%, white 27.3%)."
    ]
    assert notes([row("male", "white", [1, 0], [1, 0])]) == [
        "m (text): yes_no_one_word/2 and yes_no_first_occurrence/2 read 0 of 2 replies differently."
    ]


def test_the_gap_of_each_contrast_is_told_by_both_parsers() -> None:
    """Men 3 of 6 and 4 of 6; women 4 of 8 and 3 of 9; white 6 of 10 and 6 of 11; black 1 of 4."""
    end = ", paired by request). The effects are those of yes_no_one_word/2."
    by = "by yes_no_one_word/2, {} by yes_no_first_occurrence/2, difference {} (standard error {}"
    assert gap_notes(READ, {"g": GENDER, "r": RACE}) == [
        "m (text), raw gap of mean scores, men minus women: +0 "
        + by.format("+0.3333", "+0.3333", "0.21") + end,
        "m (text), raw gap of mean scores, white applicants minus others: +0.35 "
        + by.format("+0.2955", "-0.05455", "0.15") + end,
    ]  # fmt: skip


def test_where_they_agree_or_cannot_be_compared_the_gap_says_so() -> None:
    assert gap_notes([row("male", "white", [1, 0], [1, 0])], {"g": GENDER}) == []
    older = READ[0] | {"both_ok": None}
    assert gap_notes([older, *READ[1:]], {"g": GENDER}) == []
    assert gap_notes(READ[2:], {"g": GENDER}) == [
        "m (text), raw gap of mean scores, men minus women: not computable by both parsers "
        "(no_score)."
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
    # What is counted by no group is in no number, and that is said.
    apart = [{**some("m", "male", o, None, 20), "own": False} for o in ("ok", "refused")]
    (said,) = no_score([*({**r, "own": True} for r in rows), *apart], apart="placebo pairs")
    assert said == (
        "m: 11 of 150 requests have no score (40 about placebo pairs are not counted here); "
        "refused 1: female 0.0%, male 2.0%, white 0.7%; "
        "unparseable (truncated) 10: female 10.0%, male 0.0%, white 6.7%."
    )
