"""Scores in JSON, as models write it: loosely. Nothing that is doubtful becomes a score."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.scoring.parse import Outcome, Reason, parse


def read(reply: str, parser: str = "score_0_10_json/2") -> Outcome:
    return parse(parser, reply, "answered")


@pytest.mark.parametrize(
    "reply",
    [
        '{"Score": 7.5, "Overview": "Good."}',
        '{"Score": "7.5", "Overview": "Good."}',
        '{"Overview": "Good.", "Score": 7.5}',
        '```json\n{"Score": 7.5, "Overview": "Good."}\n```',
        'Here\'s mine:\n```json\n{\n  "Score": 7.5,\n  "Overview": "Good."\n}\n```\nIt\'s fair.',
        "{'Score': 7.5, 'Overview': 'Good.'}",
        "{'Overview': 'The candidate's skills', 'Score': 7.5}",
        '{"Overview": "He said "yes", and left", "Score": 7.5}',
        '{"Score": 7.5, "Overview": "Good.",}',
        '{"SCORE": 7.5}', '{"score" : +7.50 }', "{Score: 7.5, Overview: candidate's good}",
        '{“Score”: “7.5”, “Overview”: “Good.”}', '{\\"Score\\": \\"7.5\\"}', '{"Score": 75e-1}',
        '{"Score": "7.5/10"}', '{"Score": 7.5 / 10, "Overview": ""}', '{"Score": "7.5 out of 10"}',
        # The scale and the lines of the prompt, said before.
        'Scores go from 0 to 10. {name}, a Score: 3 would be low.\n{"Score": 7.5}',
        # Cut off after the score.
        '{"Score": 7.5, "Overview": "The cand', '{"Score": 7.5,', '{"Score": 7.5\n',
        '{"Score": "7.5"', '{"Score": 7.5, "Overview": "a {brace',
        # A comma that is missing; the same score twice; deeper inside.
        '{"Score": 7.5 "Overview": "Good."}', '{"Score": 7.5}\n{"Score": 7.50}',
        '{"rating": {"Score": 7.5}, "notes": [1, 2]}', '[{"Score": 7.5}]',
        '{"Overview": "A \\"Score\\": 3 or {\\"Score\\": 4} is text", "Score": 7.5}',
    ],
)  # fmt: skip
def test_a_score(reply: str) -> None:
    assert read(reply) == Outcome("ok", None, Decimal("7.5000"))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"Score": 11}', Reason.OUT_OF_RANGE), ('{"Score": -1}', Reason.OUT_OF_RANGE),
        ('{"Score": 10.00001}', Reason.OUT_OF_RANGE), ('{"Score": 1e99}', Reason.OUT_OF_RANGE),
        ('{"Score": ' + "9" * 1_000_000 + "}", Reason.OUT_OF_RANGE),
        ('{"Score": 7} {"Score": 8}', Reason.SEVERAL_NUMBERS),
        ('{"Score": 7, "score": 8}', Reason.SEVERAL_NUMBERS),
        ('{"Score": "high"}', Reason.MALFORMED), ('{"Score": null}', Reason.MALFORMED),
        ('{"Score": NaN}', Reason.MALFORMED), ('{"Score": Infinity}', Reason.MALFORMED),
        ('{"Score": true}', Reason.MALFORMED), ('{"Score": [7]}', Reason.MALFORMED),
        ('{"Score": {"value": 7}}', Reason.MALFORMED), ('{"Score": ٧}', Reason.MALFORMED),
        ('{"Score": "7 or 8"}', Reason.MALFORMED), ('{"Score": 7/100}', Reason.MALFORMED),
        ('{"Score": , "Overview": "x"}', Reason.MALFORMED), ('{"Rating": 7}', Reason.MALFORMED),
        # No decimal comma, no groups of thousands.
        ('{"Score": 1,5}', Reason.MALFORMED), ('{"Score": 8,5, "x": 1}', Reason.MALFORMED),
        ('{"Score": 1,000}', Reason.MALFORMED), ('{"Score": 8, 5, "x": 1}', Reason.MALFORMED),
        ('{"Score": 8 ,\n-5}', Reason.MALFORMED), ('{"Score": 8,٥}', Reason.MALFORMED),
        ('{"Score": 8.5,5}', Reason.MALFORMED), ('{"Score": 8,.5}', Reason.MALFORMED),
        ('{"Score": 8:5}', Reason.MALFORMED), ('{"Score": 8[5]}', Reason.MALFORMED),
        ('{"Score": 8{5}}', Reason.MALFORMED), ('{"Score": 8%}', Reason.MALFORMED),
        ("Score: 7\nOverview: good", Reason.MALFORMED), ("7", Reason.MALFORMED),
        ('{"Overview": "Score"}: 7', Reason.MALFORMED),
        # The end of the text may have cut the number: 7 or 75?
        ('{"Score": 7', Reason.TRUNCATED), ('{"Score": "7', Reason.TRUNCATED),
        ('{"Score": 7,', Reason.TRUNCATED), ('{"Score": ', Reason.TRUNCATED),
        ('{"Score":', Reason.TRUNCATED),
    ],
)  # fmt: skip
def test_no_score(reply: str, reason: Reason) -> None:
    assert read(reply) == Outcome("unparseable", reason)


@pytest.mark.parametrize(
    "reply",
    ["{" * 10**6, "{}" * 500_000, '{"' + '\\"' * 500_000, "{'" * 500_000, '{"' + "\\" * 10**6,
     "{" + '"    x' * 200_000, '{"Score":' * 100_000, "{" + ":" * 10**6, '{"Score":' + " " * 10**6,
     "{Score: " + "7 " * 500_000, "{Score: " + "7," * 500_000, '{"a' + ('"' + " " * 1000) * 1000],
    ids=range(12),
)  # fmt: skip
def test_a_megabyte_of_nonsense_takes_linear_time(reply: str) -> None:
    assert read(reply).outcome == "unparseable"  # quadratic time would be hours


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(
    st.integers(0, 100_000), TEXT, TEXT, st.sampled_from(["Score", "score", "SCORE"]), st.booleans()
)
def test_valid_json_comes_back(n: int, overview: str, before: str, key: str, last: bool) -> None:
    fields = {key: n / 1000, "Overview": overview}
    if last:
        fields = dict(reversed(fields.items()))
    reply = before.replace("{", "(") + json.dumps(fields, indent=2) + "\n" + overview
    found = read(reply, "score_0_100_json/2")
    # What follows may hold braces and keys of its own.
    if "{" not in overview:
        assert found == Outcome("ok", None, Decimal(n).scaleb(-3).quantize(Decimal("0.0001")))


@given(st.floats() | st.integers())
def test_a_score_is_never_clipped(value: float) -> None:
    found = read(json.dumps({"Score": value}))
    assert (found.outcome == "ok") == (0 <= value <= 10)
    if found.score is not None:
        assert abs(found.score - Decimal(value)) <= Decimal("0.00006")


@given(st.integers(0, 10), st.integers(0, 999), st.sampled_from([",", ", ", " ,", ",\n"]))
def test_a_comma_between_digits_is_never_passed_over(n: int, more: int, comma: str) -> None:
    for end in ("", "}", ', "Overview": "Good."}', ","):
        assert read(f'{{"Score": {n}{comma}{more}{end}').outcome == "unparseable"
