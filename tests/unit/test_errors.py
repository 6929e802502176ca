"""An error names where, what and the remedy, and survives the trip from a worker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairscreen.errors import InputError, from_worker


def test_message() -> None:
    error = InputError("a.zip, line 3", "is not a number.", "Correct it.")
    assert str(error) == "a.zip, line 3: is not a number. Correct it."


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_survives_inside_any_text(where, problem, remedy, before, after) -> None:
    original = InputError(where, problem, remedy)
    wrapped = RuntimeError(f"{before}\nPythonException: {original.marked()}{after}")
    found = from_worker(wrapped)
    assert found is not None
    if "@@fairscreen{" not in before:
        assert (found.where, found.problem, found.remedy) == (where, problem, remedy)


def test_found_in_a_cause() -> None:
    outer = ValueError("outer")
    outer.__cause__ = InputError("f", "p", "r").marked()
    assert str(from_worker(outer)) == "f: p. r"


def test_other_errors_are_not_ours() -> None:
    assert from_worker(ValueError("@@ nothing @@")) is None
