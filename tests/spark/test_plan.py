"""`fairscreen plan --audit`: from an earlier audit's rows of the warehouse."""

from __future__ import annotations

import json

import pytest

from fairscreen import cli
from fairscreen.estimators import planning
from fairscreen.estimators.planning import Aim


def test_an_earlier_audit_tells_what_the_next_one_needs(small_warehouse, capsys) -> None:
    options = ["plan", "--audit", "small", "--warehouse", small_warehouse.root, "--effect", "1"]
    assert cli.main([*options, "--contrast", "male_vs_female", "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert len(rows) == 15  # five effects; two jobs and the pooled slice
    by = {(r["slice"], r["estimand"]): r for r in rows}
    nde = by["job=registered_nurses", "NDE"]
    # 0.3 on 4 applicants; NDE, BIE and RIE of two contrasts in two jobs are one family.
    assert (nde["n"], nde["sd"], nde["tests"]) == (4, pytest.approx(0.6), 12)
    aim = Aim(tests=12)
    assert nde["detectable"] == pytest.approx(planning.detectable(sd=0.6, n=4, aim=aim))
    assert nde["n_effect"] == planning.sample_size(effect=1, sd=0.6, aim=aim)
    lost = by["job=construction_laborers", "NDE"]
    assert (lost["sd"], lost["detectable"], lost["n_effect"]) == (None, None, None)
    assert lost["reason"] == "effective_n_below_30"
    assert cli.main([*options, "--slice", "all", "--estimand", "TE", "--n", "900"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[-1] == "(2 rows)"
    assert table[-3].split()[:3] == ["male_vs_female", "all", "TE"]
    assert "900" in table[-3].split()


def test_an_audit_or_a_slice_that_is_not_there_is_named(small_warehouse, capsys, tmp_path) -> None:
    options = ["plan", "--warehouse", small_warehouse.root, "--audit"]
    assert cli.main([*options, "large"]) == 2
    assert capsys.readouterr().err.endswith("Audits there: small.\n")
    assert cli.main([*options, "small", "--slice", "job=cook"]) == 2
    assert capsys.readouterr().err == (
        "error: --slice job=cook: is no slice that audit small can plan from. "
        "There are: all, job=construction_laborers, job=registered_nurses.\n"
    )
    assert cli.main(["plan", "--warehouse", str(tmp_path), "--audit", "small"]) == 2
    assert "has no table of estimates. Run `fairscreen audit` first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []  # nothing is made in a folder that is no warehouse
