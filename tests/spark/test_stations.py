"""The ledger of stations: what it vouches for is there."""

from __future__ import annotations

import pytest

from fairscreen import resources
from fairscreen.config import load
from fairscreen.stations.common import Run, run_station
from fairscreen.tables import Warehouse


def test_a_run_that_dies_leaves_no_entry_that_vouches_for_replaced_rows(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(load(resources.path("conf", "audits", "demo.yml")), warehouse)
    asked: list[str] = []

    def work(name: str, **detail: object):
        return lambda: asked.append(name) or detail

    assert not run_station(run, "applicants", "a", work("applicants")).kept
    assert not run_station(run, "score", "a", work("score", notes=["few"])).kept
    assert "score: note: few\n" in capsys.readouterr().err
    again = run_station(run, "score", "a", work("score"))
    assert (again.kept, again.detail) == (True, {"notes": ["few"]})

    # Other settings begin to replace rows, and die.
    def dies() -> dict[str, object]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_station(run, "applicants", "b", dies)

    # The first settings again: nothing of theirs may be kept.
    assert not run_station(run, "applicants", "a", work("applicants")).kept
    assert not run_station(run, "score", "a", work("score", final=False)).kept
    # Not final (calls failed): done again.
    assert not run_station(run, "score", "a", work("score")).kept
    assert run_station(run, "score", "a", work("score")).kept
    assert not run_station(run, "score", "a", work("score"), force=True).kept
    assert asked == ["applicants", "score", "applicants", "score", "score", "score"]
