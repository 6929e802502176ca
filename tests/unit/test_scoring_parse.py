"""The parsers: examples, and properties that hold for any reply."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.parse import PARSERS, Outcome, Reason, parse

ANSWERED = "answered"


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("73", "73.0000"), ("Score: 73.5.", "73.5000"), ("0", "0.0000"), ("-0.0", "0.0000"),
        ("100", "100.0000"), ("I would say 41", "41.0000"), (".5", "0.5000"),
        # Half to even at the fourth decimal.
        ("50.00005", "50.0000"), ("50.00015", "50.0002"),
    ],
)  # fmt: skip
def test_number(reply: str, score: str) -> None:
    assert parse("number/1", reply, ANSWERED) == Outcome("ok", None, Decimal(score))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", Reason.EMPTY), (None, Reason.EMPTY), (" \n", Reason.EMPTY),
        ("seventy", Reason.NO_NUMBER), ("NaN", Reason.NO_NUMBER), ("٧٣", Reason.NO_NUMBER),
        ("85/100", Reason.SEVERAL_NUMBERS), ("1,000", Reason.SEVERAL_NUMBERS),
        ("between 60 and 70", Reason.SEVERAL_NUMBERS), ("1e2", Reason.SEVERAL_NUMBERS),
        ("-5", Reason.OUT_OF_RANGE), ("100.00001", Reason.OUT_OF_RANGE),
        ("9" * 100_000, Reason.OUT_OF_RANGE),
    ],
)  # fmt: skip
def test_no_number(reply: str | None, reason: Reason) -> None:
    assert parse("number/1", reply, ANSWERED) == Outcome("unparseable", reason)


@pytest.mark.parametrize(
    ("cosine", "score"),
    [("1", "100.0000"), ("-1", "0.0000"), ("0.0", "50.0000"), ("-1.0", "0.0000"),
     ("0.371128662618", "68.5564"), ("1e-3", "50.0500"), ("0.000001", "50.0000"),
     ("0.000003", "50.0002")],
)  # fmt: skip
def test_cosine(cosine: str, score: str) -> None:
    reply = f'{{"cosine": {cosine}, "windows": 3}}'
    assert parse("cosine/1", reply, ANSWERED) == Outcome("ok", None, Decimal(score))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"cosine": NaN}', Reason.MALFORMED), ('{"cosine": Infinity}', Reason.MALFORMED),
        ('{"cosine": "0.5"}', Reason.MALFORMED), ('{"cosine": true}', Reason.MALFORMED),
        ('{"cosine": null}', Reason.MALFORMED), ('{"windows": 3}', Reason.MALFORMED),
        ("[0.5]", Reason.MALFORMED), ("0.5", Reason.MALFORMED), ("{", Reason.MALFORMED),
        ("[" * 100_000, Reason.MALFORMED),
        ('{"cosine": 1.0000000000000002}', Reason.OUT_OF_RANGE),
        ('{"cosine": -1.1}', Reason.OUT_OF_RANGE), ('{"cosine": 1e400}', Reason.OUT_OF_RANGE),
    ],
)  # fmt: skip
def test_no_cosine(reply: str, reason: Reason) -> None:
    assert parse("cosine/1", reply, ANSWERED) == Outcome("unparseable", reason)


@pytest.mark.parametrize(
    ("transport", "outcome"),
    [
        ("refused", Outcome("refused", Reason.REFUSED)),
        ("failed", Outcome("failed", Reason.CALL_FAILED)),
        (None, Outcome("failed", Reason.NO_REPLY)),
    ],
)
def test_what_did_not_answer_has_no_score_whatever_its_text(
    transport: str | None, outcome: Outcome
) -> None:
    assert parse("number/1", "73", transport) == outcome


@given(st.sampled_from(sorted(PARSERS)), st.text() | st.none(), st.sampled_from([ANSWERED, None]))
def test_any_text_has_an_outcome(parser: str, reply: str | None, transport: str | None) -> None:
    found = parse(parser, reply, transport)
    assert (found.score is not None) == (found.outcome == "ok") == (found.reason is None)
    if found.score is not None:
        assert 0 <= found.score <= 100
        assert found.score.as_tuple().exponent == -4


@given(st.floats())
def test_cosine_is_exactly_fifty_times_one_plus(cosine: float) -> None:
    found = parse("cosine/1", json.dumps({"cosine": cosine, "windows": 1}), ANSWERED)
    if not -1 <= cosine <= 1:  # NaN is neither
        assert found.outcome == "unparseable"
    else:
        assert found.score is not None
        exact = 50 * (1 + Decimal(repr(cosine)))
        assert abs(found.score - exact) <= Decimal("0.00005")


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-200, max_value=200))
def test_a_number_is_never_clipped(value: Decimal) -> None:
    found = parse("number/1", f"Score {value:f}.", ANSWERED)
    if 0 <= value <= 100:
        assert found.score is not None
        assert abs(found.score - value) <= Decimal("0.00005")
    else:
        assert found == Outcome("unparseable", Reason.OUT_OF_RANGE)
