"""The command line before Spark: one line on standard error, the right exit code, nothing done."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fairscreen import cli, resources
from fairscreen.commands.result_table import table
from fairscreen.errors import InputError, StoppedError

DEMO = str(resources.path("conf", "audits", "demo.yml"))
ZIP = "bundled:acs_2018_csv_pwy.zip"


def _refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    return line


def test_a_warehouse_that_is_a_file(tmp_path: Path, capsys) -> None:
    file = tmp_path / "file"
    file.touch()
    for given in (file, file / "below"):
        line = _refused(["audit", DEMO, "--warehouse", str(given)], capsys)
        assert line == (
            f"error: warehouse {given}: {file} is a file, not a folder. "
            "Give --warehouse a folder that you can write to."
        )


def test_an_output_folder_that_cannot_be_made(tmp_path: Path, capsys) -> None:
    file = tmp_path / "file"
    file.touch()
    argv = ["audit", DEMO, "--warehouse", str(tmp_path / "w"), "--out", str(file)]
    line = _refused(argv, capsys)
    assert line.startswith(f"error: out: {file}/demo: not a directory. Give --out")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("argv", [
    ["audit", DEMO],
    ["analyze", "paths", "--input", "x.csv", "--x", "a", "--x1", "1", "--x0", "0", "--y", "s"],
    ["analyze", "callbacks", "--input", "x.csv", "--pair", "p", "--arm", "a", "--favored", "f",
     "--other", "o", "--outcome", "y"],
    ["analyze", "ranking", "--input", "x.csv", "--item", "i", "--version", "v", "--favored", "f",
     "--other", "o", "--score", "s"],
    ["analyze", "leakage", "--input", "x.csv", "--text", "t"],
    ["verify-acs", ZIP],
    ["ingest", "acs", ZIP],
    ["sql", "x.sql"],
    ["occupations"],
])  # fmt: skip
def test_json_into_a_missing_folder_is_refused_before_the_work(argv, tmp_path, capsys) -> None:
    line = _refused([*argv, "--json", str(tmp_path / "no" / "x.json")], capsys)
    assert "is no file in a folder that can be written to" in line


def test_occupations_are_refused_before_spark(tmp_path: Path, capsys) -> None:
    line = _refused(["occupations", "--warehouse", str(tmp_path / "none")], capsys)
    assert line.startswith(f"error: warehouse {tmp_path / 'none'}: is not there")
    assert _refused(["occupations", "--top", "-1"], capsys) == (
        "error: --top: -1 is below 0. Give a whole number; 0 lists all."
    )
    wrong = ["--set", "population.select={occupations: [Nurse]}", "--warehouse", str(tmp_path)]
    line = _refused(["applicants", DEMO, *wrong], capsys)
    assert line.startswith("error: population.select.occupations: 'Nurse' is no occupation of")
    none = ["--set", "population.jobs={welders: {title: W, occp: ['8140']}}"]
    line = _refused(["audit", DEMO, *none, "--warehouse", str(tmp_path)], capsys)
    assert line.startswith("error: population.jobs.welders: has no content of its own.")


@pytest.mark.parametrize("command", ["score", "audit"])
@pytest.mark.parametrize(("given", "name"), [("ok", "ok"), ("failed,lost", "lost"), ("", "")])
def test_only_calls_without_a_score_are_asked_again(command, given, name, tmp_path, capsys) -> None:
    argv = [command, DEMO, "--retry", given, "--warehouse", str(tmp_path / "w")]
    assert _refused(argv, capsys) == (
        f"error: --retry {given}: {name!r} is no outcome that can be asked again. "
        "Outcomes are: failed, refused, unparseable."
    )
    assert not (tmp_path / "w").exists()


def test_a_screeners_parameter_is_checked_first(tmp_path: Path, capsys) -> None:
    setting = "scoring.models={p: {kind: planted, params: {nonsense: 1}}}"
    argv = ["audit", DEMO, "--set", setting, "--warehouse", str(tmp_path / "w")]
    assert "scoring.models.p.params" in _refused(argv, capsys)
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(("setting", "value", "where"), [
    ("sources.acs", "[bundled:acs_2018_csv_pwy.zip, {}]", "sources.acs"),
    ("sources.first_names", "{}", "sources.first_names"),
    ("sources.surnames", "{}", "sources.surnames"),
    ("sources.psid", "{}", "sources.psid"),
    ("sources.psid", "[bundled:psid_synthetic.zip, {}]", "sources.psid"),
    ("sources.psid_crosswalk", "{}", "sources.psid_crosswalk"),
    ("population.select", "{{largest: 2, content: {{'0010': {}}}}}",
     "population.select.content.0010"),
])  # fmt: skip
def test_a_missing_file_is_told_before_spark(setting, value, where, tmp_path, capsys) -> None:
    file = tmp_path / "gone.zip"
    places = ["--warehouse", str(tmp_path / "w"), "--out", str(tmp_path / "out")]
    argv = ["audit", DEMO, "--set", f"{setting}={value.format(file)}", *places]
    remedy = "Give the path of a file (a relative one starts in the current folder)."
    assert _refused(argv, capsys) == f"error: {where}: {file} is no file. {remedy}"
    assert not any(tmp_path.iterdir())
    file.mkdir()
    assert _refused(argv, capsys) == f"error: {where}: {file} is a folder. {remedy}"


@pytest.mark.parametrize("command", [
    [], ["audit"], ["fetch"], ["ingest"], ["verify-acs"], ["applicants"], ["render"], ["score"],
    ["estimate"], ["report"], ["analyze"], ["analyze", "paths"], ["sql"], ["occupations"],
])  # fmt: skip
def test_help_teaches_by_example(command, capsys) -> None:
    assert cli.main([*command, "--help"]) == 0
    assert "example" in capsys.readouterr().out


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def parse_args(*_: object) -> None:
        raise error

    monkeypatch.setattr(cli._Parser, "parse_args", parse_args)


@pytest.mark.parametrize(("error", "code", "line"), [
    (StoppedError("cost cap. Go on with X"), 4, "stopped: cost cap. Go on with X"),
    (RuntimeError(f"Java: {InputError('f', 'p', 'r').marked()}"), 2, "error: f: p. r"),
    (RuntimeError("java.io.IOException: No space left on device\n\tat x"), 2,
     "error: disk: no space is left. Free some and run the same command again: it goes on."),
    (RuntimeError("[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected"), 2,
     "error: warehouse: another run wrote to the same table at the same moment. "
     "Run the same command again: it goes on."),
    (RuntimeError("py4j.protocol.Py4JNetworkError: Answer from Java side is empty"), 1,
     "error: Java stopped in the middle (killed, or out of memory?). What was written is kept: run "
     "the same command again; where it happens twice, give it more memory or fewer cores."),
    (PermissionError(13, "Permission denied", "/data/x"), 2,
     "error: /data/x: permission denied. Give this user the right, or another place."),
])  # fmt: skip
def test_errors_by_kind(error, code, line, monkeypatch, capsys) -> None:
    _failing(monkeypatch, error)
    assert cli.main([]) == code
    assert capsys.readouterr().err.strip() == line


def test_a_fault_of_ours_names_its_log(monkeypatch, capsys) -> None:
    _failing(monkeypatch, KeyError("surprise"))
    assert cli.main([]) == 1
    text = capsys.readouterr().err.strip()
    log = Path(text.rsplit("The log is ", 1)[1].rstrip("."))
    assert "KeyError: 'surprise'" in log.read_text()
    log.unlink()


def test_a_log_that_cannot_be_written_is_no_second_fault(monkeypatch, capsys) -> None:
    def full(**_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    _failing(monkeypatch, KeyError("surprise"))
    assert cli.main([]) == 1
    assert capsys.readouterr().err.strip().endswith("No log could be written.")


def test_an_analysis_that_is_stopped_says_that_nothing_was_written(monkeypatch, capsys) -> None:
    def stop(args) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("fairscreen.commands.analyze_leakage.run", stop)
    assert cli.main(["analyze", "leakage", "--input", "x.csv", "--text", "t"]) == 4
    assert capsys.readouterr().err == "stopped: nothing was written.\n"


def test_an_interrupt_while_commands_load_is_one_line() -> None:
    """In a process of its own: loading is once per process, and nothing of it may come before."""
    code = (
        "import sys\n"
        "from fairscreen import cli\n"
        "assert not [m for m in sys.modules if m.startswith('fairscreen.commands')]\n"
        "class Stop:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'fairscreen.commands':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "cli.entry()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (4, "stopped: nothing was begun.\n")


def test_a_folder_is_no_file(tmp_path: Path, capsys) -> None:
    assert cli.main(["analyze", "leakage", "--input", str(tmp_path), "--text", "t"]) == 2
    assert f"error: {tmp_path}: is a folder. Give a file in it: CSV" in capsys.readouterr().err


def test_the_examples_of_paths_break_their_lines(capsys) -> None:
    cli.main(["analyze", "paths", "--help"])
    assert "--z AGEP RAC1P \\\n      --r first_name" in capsys.readouterr().out


def test_a_reason_tells_its_slices() -> None:
    row = dict.fromkeys(("estimate", "std_error", "ci_low", "ci_high", "p_value", "p_holm"))
    row |= {"estimand": "gap", "method": "t", "n": 0, "status": "not_computable"}
    row |= {"favors_when_positive": None, "reason": "few"}
    rows = [{**row, "slice": f"a={i}"} for i in range(6)]
    text = table({"rows": rows, "excluded": {}, "notes": []})
    assert "reason: gap t (a=0, a=1, a=2, a=3, and 2 more): few" in text
