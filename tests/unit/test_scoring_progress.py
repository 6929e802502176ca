"""What progress says of one model, over its waves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fairscreen.scoring.journal import ShardJournal, WaveJournal
from fairscreen.scoring.progress import (
    Progress,
    Standing,
    closing,
    dollars,
    duration,
    line,
    metrics,
)
from fairscreen.scoring.status import Status
from fairscreen.scoring.tally import Tally

TROUBLED = Standing(
    100_000,
    Tally(12_340, {"answered": 12_338, "failed": 2}, {"400": 2}, {}, 1.5, 9_000_000, 30_000),
    {"429": 1200, "timeout": 3, "400": 2},
    300.0,
    41.25,
    60,
    4,
)


def test_one_line_says_how_far_how_fast_how_much_and_what_went_wrong() -> None:
    assert line("gpt", TROUBLED) == (
        "gpt: 12,340 of 100,000 answered, 41.2 a second, about 35:25 min left, spent $1.50; "
        "errors: 429 1,200, timeout 3, 400 2 (2 failed for good)"
    )


def test_a_cap_holds_for_the_audit_and_so_does_what_is_said_of_it() -> None:
    capped = replace(TROUBLED, errors={}, max_cost=50.0, spent_before=2.25)
    assert line("m", capped).endswith("about 35:25 min left, spent $3.75 of $50.00")
    assert "spent $0.00 of $5.00" in line("m", Standing(10, max_cost=5.0))


def test_where_nothing_moves_the_line_says_why() -> None:
    stuck = Standing(100, Tally(), {"503": 184}, 60.0, None, 4, 60)
    assert line("m", stuck) == ("m: 0 of 100 answered, 4 under way, 60 waiting; errors: 503 184")
    assert line("m", Standing(100)) == "m: 0 of 100 answered, 0 under way, 0 waiting"


def test_many_kinds_of_errors_make_no_long_line() -> None:
    kinds = {str(status): status for status in range(500, 510)}
    text = line("m", Standing(1, errors=kinds))
    assert text.endswith("; errors: 509 509, 508 508, 507 507, 506 506, 505 505, 504 504, "
                         "others 2,006")  # fmt: skip


def test_the_last_line_has_totals() -> None:
    s = Standing(200, Tally(200, {"answered": 197, "refused": 3}, {}, {}, 0.5, 8000, 600), {}, 50.0)
    assert closing("m", s) == (
        "m: all 200 calls are answered in 0:50 min, 4.0 a second, 8,000 tokens in and 600 out, "
        "3 refused, spent $0.5000"
    )
    assert closing("m", Standing(200, Tally(3), {"500": 9}, 2.0)) == (
        "m: 3 of 200 calls are answered in 0:02 min, 1.5 a second; errors: 500 9"
    )


def test_metrics_leave_out_what_is_not_known() -> None:
    assert metrics(TROUBLED) == {
        "scoring.done": 12_340.0, "scoring.pending": 87_660.0, "scoring.rate": 41.25,
        "scoring.spent_usd": 1.5, "scoring.seconds_left": 87_660 / 41.25,
        "scoring.errors.429": 1200.0, "scoring.errors.timeout": 3.0, "scoring.errors.400": 2.0,
    }  # fmt: skip
    assert "scoring.seconds_left" not in metrics(Standing(10))
    assert metrics(Standing(10, Tally(10)))["scoring.seconds_left"] == 0.0
    # Two attempts at a shard answered the same call.
    assert metrics(Standing(10, Tally(11)))["scoring.done"] == 10.0


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00 min"), (125, "2:05 min"),
                                               (3599.6, "1:00 h"), (7500, "2:05 h")])  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("usd", "text"), [(0.0, "$0.00"), (0.00042, "$0.0004"),
                                           (12.345, "$12.35"), (1234.0, "$1,234.00")])  # fmt: skip
def test_dollars(usd: float, text: str) -> None:
    assert dollars(usd) == text


class Notes(list):
    """A recorder that remembers (done, pending, phase)."""

    def note(self, model: str, standing: Standing, phase: str) -> None:
        self.append((standing.done, standing.pending, phase))


def replies(n: int) -> list[dict[str, object]]:
    record = {"transport": "answered", "cost_usd": 0.25, "retried": ["429"]}
    return [record | {"call_key": str(i)} for i in range(n)]


def test_waves_add_and_the_table_has_the_last_word(tmp_path: Path, capsys) -> None:
    now, notes = 0.0, Notes()
    progress = Progress("m", 12, notes, clock=lambda: now)
    for wave, asked in (("a", 6), ("b", 4)):
        journal = WaveJournal(tmp_path, wave)
        journal.create()
        progress.watch(journal)
        ShardJournal(tmp_path, wave, 0).write(replies(asked))
        now += 10.0
        progress.tick()
        assert progress.look().sums.count == {"a": 6, "b": 9}[wave]
        # One call of each wave was answered by two attempts: the table has it once.
        progress.committed(asked - 1, 0.25 * (asked - 1))
        journal.delete()
    progress.end("stopped")
    assert notes == [
        (0, 12, "asking"), (6, 6, "asking"), (5, 7, "asking"), (9, 3, "asking"), (8, 4, "asking"),
        (8, 4, "stopped"),
    ]  # fmt: skip
    standing = progress.look()
    assert (standing.sums.cost_usd, standing.errors) == (2.0, {"429": 10})
    said = [text.split("] ")[1] for text in capsys.readouterr().err.splitlines()]
    assert said == [
        "m: 6 of 12 answered, 0.6 a second, about 0:10 min left, spent $1.50; errors: 429 6",
        "m: 9 of 12 answered, 0.5 a second, about 0:07 min left, spent $2.25; errors: 429 10",
        "m: 8 of 12 calls are answered in 0:20 min, 0.4 a second, spent $2.00; errors: 429 10",
    ]


def test_the_rate_is_that_of_the_last_minutes(tmp_path: Path) -> None:
    now = 0.0
    progress = Progress("m", 10_000, Notes(), clock=lambda: now)
    WaveJournal(tmp_path, "w").create()
    progress.watch(WaveJournal(tmp_path, "w"))
    shard = ShardJournal(tmp_path, "w", 0)
    for minute in range(1, 21):
        now = 60.0 * minute
        if minute <= 10:
            shard.write(replies(60))
        standing = progress.look()
        if minute in (5, 10):
            assert standing.rate == 1.0
    assert (standing.rate, standing.seconds_left) == (None, None)  # nothing for ten minutes


def test_a_model_whose_last_calls_another_model_asked_is_done(tmp_path: Path) -> None:
    notes = Notes()
    progress = Progress("m", 5, notes)
    progress.end("done")
    assert notes[-1] == (0, 0, "done")


def test_shards_speak_through_progress(tmp_path: Path, capsys) -> None:
    progress = Progress("m", 9, Notes())
    WaveJournal(tmp_path, "w").create()
    progress.watch(WaveJournal(tmp_path, "w"))
    ShardJournal(tmp_path, "w", 3).tell(Status(2, 7, {"429": 5}))
    progress.tick()
    said = capsys.readouterr().err
    assert said.endswith("m: 0 of 9 answered, 2 under way, 7 waiting; errors: 429 5\n")
