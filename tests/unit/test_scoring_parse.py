"""The parsers: examples, and properties that hold for any reply."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.parse import PARSERS, Outcome, Reason, Try, parse, settle

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
    assert parse("number/2", reply, ANSWERED) == Outcome("ok", None, Decimal(score))


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
    assert parse("number/2", reply, ANSWERED) == Outcome("unparseable", reason)


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
    assert parse("number/2", "73", transport) == outcome


# Text that looks like an answer: digits of other scripts, braces, quotes and words that matter.
PIECES = st.sampled_from(
    ["{", "}", '"', "'", ":", ",", "\\", "Score", '"Score": ', "Overview", "yes", "no", "NO", " ",
     "\n", "7", "10", "100", "/10", "out of ", "1e9", "-", ".", "NaN", "Infinity", "٧", "７", "ſ"]
)  # fmt: skip
REPLIES = st.none() | st.text() | st.lists(PIECES, max_size=30).map("".join)


@given(st.sampled_from(sorted(PARSERS)), REPLIES, st.sampled_from([ANSWERED, None]))
def test_any_text_has_an_outcome(parser: str, reply: str | None, transport: str | None) -> None:
    found = parse(parser, reply, transport)
    assert (found.score is not None) == (found.outcome == "ok") == (found.reason is None)
    if found.score is not None:
        assert 0 <= found.score <= PARSERS[parser].top
        assert found.score.as_tuple().exponent == -4


@pytest.mark.parametrize("parser", ["score_0_10/2", "score_0_100/2"])
@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("8", 8), ("**8**", 8), ("Score: 7.5", 7.5), ("8/{top}", 8), ("8 / {top}.", 8),
        ("I give 8 out of {top}.", 8), ("8 (out of {top})", 8), ("{top}/{top}", None),
    ],
)  # fmt: skip
def test_a_score_in_text(parser: str, reply: str, score: float | None) -> None:
    top = PARSERS[parser].top
    expected = Decimal(top if score is None else score).quantize(Decimal("0.0001"))
    assert parse(parser, reply.format(top=top), ANSWERED) == Outcome("ok", None, expected)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("11", Reason.OUT_OF_RANGE), ("-1/10", Reason.OUT_OF_RANGE), ("7/100", "several_numbers"),
        ("7/10.5", Reason.SEVERAL_NUMBERS), ("7,5", Reason.SEVERAL_NUMBERS),
        ("7 of 10 or 8 of 10", Reason.SEVERAL_NUMBERS), ("from 0 to 10: 7", "several_numbers"),
        ("eight", Reason.NO_NUMBER), ("８", Reason.NO_NUMBER), ("9" * 1_000_000, "out_of_range"),
        ("7" + " " * 1_000_000, None), ("7 out " * 200_000, Reason.SEVERAL_NUMBERS),
    ],
)  # fmt: skip
def test_no_score_in_text(reply: str, reason: Reason | None) -> None:
    assert parse("score_0_10/2", reply, ANSWERED).reason == reason


UNCLEAR = [
    "8５", "٨5", "१00", "85٠", "７00", "7½", "5²", "10⁻²", "−5", "− 5", "–5", "‒5", "—5", "5\u0305",
    "8\ufe0f\u20e3", "minus 5", "Negative  5", "±5", "#1 candidate", "# 1", "№1", "No. 1 choice",
    "1st", "80K", "80К", "GPT4", "5 million", "5\nthousand", "80 k", "5 bn", "5万", "5억", "1º",
    "nº1", "8 out of five", "8 (out of twenty)", "8/thousand",
]  # fmt: skip


@pytest.mark.parametrize("parser", ["number/2", "score_0_100/2", "score_0_10/2"])
@pytest.mark.parametrize("reply", UNCLEAR)
def test_what_stands_beside_a_number_may_make_it_another(parser: str, reply: str) -> None:
    found = parse(parser, reply, ANSWERED)
    assert found == Outcome("unparseable", Reason.UNCLEAR_NUMBER)


@pytest.mark.parametrize(
    ("parser", "reply", "found"),
    [
        ("score_0_100/2", "85%", 85), ("score_0_100/2", "85 percent", 85),
        ("score_0_10/2", "5%", Reason.UNCLEAR_NUMBER),
        ("score_0_10/2", "5 per cent", Reason.UNCLEAR_NUMBER),
        ("score_0_10/2", "8 out of ten", 8), ("score_0_100/2", "85 out of a hundred", 85),
        ("score_0_100/2", "8 out of ten", Reason.UNCLEAR_NUMBER),
        # Punctuation, markdown and words beside a number are nothing but that.
        ("score_0_100/2", "Score:85.", 85), ("score_0_100/2", "– 85", 85),
        ("score_0_100/2", "85—a good match", 85), ("score_0_100/2", "- **85**\n", 85),
        ("score_0_100/2", "<b>85</b>", 85), ("score_0_100/2", "85分", 85),
        ("score_0_100/2", "85 kind words", 85), ("score_0_100/2", "一个好候选人: 85", 85),
        # Numbers of other scripts are numbers.
        ("score_0_100/2", "٧ or 85", Reason.SEVERAL_NUMBERS),
        ("score_0_100/2", "5 ½", Reason.SEVERAL_NUMBERS), ("number/2", "½", Reason.NO_NUMBER),
    ],
)  # fmt: skip
def test_what_beside_a_number_leaves_it_alone(parser: str, reply: str, found: object) -> None:
    outcome = parse(parser, reply, ANSWERED)
    assert found == (outcome.reason or outcome.score)


NUMERALS = st.characters(categories=["Nd", "Nl", "No"], exclude_characters="0123456789")


@given(
    st.sampled_from(["number/2", "score_0_100/2", "score_0_10/2"]), st.text(), NUMERALS,
    st.floats(0, 1),
)  # fmt: skip
def test_a_digit_of_another_script_is_never_passed_over(
    parser: str, reply: str, numeral: str, at: float
) -> None:
    cut = int(at * len(reply))
    assert parse(parser, reply[:cut] + numeral + reply[cut:], ANSWERED).outcome == "unparseable"


@given(st.integers(0, 100), st.sampled_from("−⁻₋‐‑‒–—―﹣－"), st.text(" ", max_size=3))
def test_a_dash_is_never_dropped(n: int, dash: str, space: str) -> None:
    space = space if dash in "−⁻₋" else ""
    assert parse("number/2", f"{dash}{space}{n}", ANSWERED).outcome == "unparseable"


@pytest.mark.parametrize(
    ("parser", "reply", "reason"),
    [
        # Half of a text does not show which number is the only one.
        ("number/2", "85", Reason.TRUNCATED), ("score_0_10/2", "8/1", Reason.TRUNCATED),
        ("score_0_10_json/2", "", Reason.TRUNCATED), ("score_0_10_json/2", "{", "truncated"),
        ("score_0_10_json/2", '{"Score": 8, "Over', None),
        ("score_0_10_json/2", '{"Score": 11, "Over', Reason.OUT_OF_RANGE),
        ("yes_no_one_word/2", "Yes", None), ("yes_no_one_word/2", "The candidate", "truncated"),
        ("yes_no_first_occurrence/2", "no, because", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_reply_that_was_cut_off(
    parser: str, reply: str, reason: Reason | None, finish: str
) -> None:
    assert parse(parser, reply, ANSWERED, finish).reason == reason


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("content_filter", Reason.CONTENT_FILTER), ("prompt SAFETY", Reason.CONTENT_FILTER),
        ("guardrail_intervened", Reason.CONTENT_FILTER), ("moderation", Reason.CONTENT_FILTER),
        ("refusal", Reason.REFUSED), ("stop", Reason.REFUSED), (None, Reason.REFUSED),
    ],
)  # fmt: skip
def test_a_filter_is_told_from_a_refusal(finish: str | None, reason: Reason) -> None:
    assert parse("number/2", None, "refused", finish) == Outcome("refused", reason)


OK, BAD, NO, DEAD = (
    ("answered", "7"), ("answered", "seven"), ("refused", None), ("failed", None),
)  # fmt: skip


@pytest.mark.parametrize(
    ("tries", "outcome", "at"),
    [
        ([], "failed", None),
        ([(0, DEAD)], "failed", 0),
        # The first ok counts, whatever is asked afterwards.
        ([(0, OK), (1, ("answered", "9"))], "ok", 0),
        ([(0, BAD), (1, OK), (2, ("answered", "9"))], "ok", 1),
        ([(0, DEAD), (0, OK)], "ok", 1),  # two audits asked at once
        # Else the newest answer: a failure hides none.
        ([(0, BAD), (1, NO), (2, DEAD)], "refused", 1),
        ([(0, DEAD), (1, BAD), (2, DEAD)], "unparseable", 1),
        ([(0, DEAD), (0, NO)], "refused", 1),
        # Else the newest failure; of two at once the first.
        ([(0, DEAD), (1, DEAD), (1, DEAD)], "failed", 1),
        ([(0, BAD), (0, NO)], "unparseable", 0),
    ],
)
def test_which_reply_of_a_call_counts(tries, outcome: str, at: int | None) -> None:
    found, where = settle("score_0_10/2", [Try(n, *what) for n, what in tries])
    assert (found.outcome, where) == (outcome, at)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([OK, BAD, NO, DEAD]))), st.data())
def test_asking_again_never_loses_an_ok(tries, data) -> None:
    listed = [Try(n, *what) for n, what in sorted(tries, key=lambda t: t[0])]
    before, at = settle("score_0_10/2", listed)
    more = data.draw(st.sampled_from([OK, BAD, NO, DEAD]))
    after, later = settle("score_0_10/2", [*listed, Try(4, *more)])
    if before.outcome == "ok":
        assert (after, later) == (before, at)
    elif more != DEAD or before.outcome == "failed":
        assert later == len(listed)
    else:
        assert (after, later) == (before, at)


@given(st.floats())
def test_cosine_is_exactly_fifty_times_one_plus(cosine: float) -> None:
    found = parse("cosine/1", json.dumps({"cosine": cosine, "windows": 1}), ANSWERED)
    if not -1 <= cosine <= 1:  # NaN is neither
        assert found.outcome == "unparseable"
    else:
        assert found.score is not None
        exact = 50 * (1 + Decimal(repr(cosine)))
        assert abs(found.score - exact) <= Decimal("0.00005")


NUMBERS = st.decimals(
    allow_nan=False, allow_infinity=False, places=6, min_value=-200, max_value=200
)


@given(
    st.sampled_from(["number/2", "score_0_100/2", "score_0_10/2"]), NUMBERS,
    st.sampled_from(["", "/{top}", " out of {top}"]),
)  # fmt: skip
def test_a_number_is_never_clipped(parser: str, value: Decimal, scale: str) -> None:
    """With its scale behind it the same, but for the plain number, which finds two then."""
    top = PARSERS[parser].top
    found = parse(parser, f"Score {value:f}{scale.format(top=top)}.", ANSWERED)
    if parser == "number/2" and scale:
        assert found == Outcome("unparseable", Reason.SEVERAL_NUMBERS)
    elif 0 <= value <= top:
        assert found.score is not None
        assert abs(found.score - value) <= Decimal("0.00005")
    else:
        assert found == Outcome("unparseable", Reason.OUT_OF_RANGE)
