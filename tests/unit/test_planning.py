"""Detectable effects and sample sizes: against statsmodels, by simulation, and by their edges."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, ttest_1samp
from statsmodels.stats.power import NormalIndPower, TTestPower, zt_ind_solve_power
from statsmodels.stats.proportion import power_ztost_prop

from fairscreen import cli
from fairscreen.audits import plan_rows
from fairscreen.errors import InputError
from fairscreen.estimators import planning
from fairscreen.estimators.equivalence import power as equivalence_power
from fairscreen.estimators.planning import Aim
from fairscreen.estimators.rescoring import BY_CONSTRUCTION


@given(
    st.floats(0.02, 3), st.floats(0.1, 40), st.integers(2, 20_000), st.integers(1, 60),
)  # fmt: skip
def test_normal_power_is_that_of_statsmodels(effect: float, sd: float, n: int, tests: int) -> None:
    aim = Aim(tests=tests)
    # One sample: ratio 0 in statsmodels' words, the second sample without any error.
    theirs = NormalIndPower().power(effect / sd, n, aim.each, ratio=0)
    assert planning.power(effect=effect, sd=sd, n=n, aim=aim) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("n", [5, 30, 400])
@pytest.mark.parametrize("shift", [0.02, 0.15, 0.3])
def test_paired_power_is_that_of_the_t_test(n: int, shift: float) -> None:
    aim = Aim(0.01, paired=True)
    theirs = TTestPower().power(shift, n, 0.01)
    assert planning.power(effect=2 * shift, sd=2, n=n, aim=aim) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("power", "tests"), [(0.8, 1), (0.9, 15), (0.5, 200)])
def test_the_detectable_effect_has_the_power_asked_for(
    paired: bool, power: float, tests: int
) -> None:
    aim = Aim(0.05, power, tests, paired)
    found = planning.detectable(sd=3.0, n=40, aim=aim)
    assert planning.power(effect=found, sd=3.0, n=40, aim=aim) == pytest.approx(power, abs=1e-9)
    theirs = (
        TTestPower().power(found / 3.0, 40, 0.05 / tests)
        if paired
        else NormalIndPower().power(found / 3.0, 40, 0.05 / tests, ratio=0)
    )
    assert theirs == pytest.approx(power, abs=1e-9)


def test_far_out_where_libraries_give_no_number_it_is_certain() -> None:
    assert planning.power(effect=3, sd=2, n=400, aim=Aim(0.01, paired=True)) == pytest.approx(1)
    # One degree of freedom: (Z + 75) / |Z'| above 63.66, by simulation of 4 million.
    assert planning.power(effect=75, sd=2**0.5, n=2, aim=Aim(0.01, paired=True)) == pytest.approx(
        0.7612, abs=0.001
    )


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("effect", [-4.0, 0.9, 0.05])
def test_the_sample_size_is_the_smallest_that_will_do(paired: bool, effect: float) -> None:
    aim = Aim(power=0.9, tests=3, paired=paired)
    n = planning.sample_size(effect=effect, sd=2.5, aim=aim)
    assert n is not None
    assert planning.power(effect=effect, sd=2.5, n=n, aim=aim) >= 0.9
    assert planning.power(effect=effect, sd=2.5, n=n - 1, aim=aim) < 0.9
    if not paired:
        theirs = zt_ind_solve_power(abs(effect) / 2.5, None, 0.05 / 3, 0.9, ratio=0)
        assert n == int(np.ceil(theirs - 1e-6))


def test_a_small_sample_needs_more_under_the_t() -> None:
    few = [planning.sample_size(effect=2, sd=2, aim=Aim(paired=p)) for p in (False, True)]
    assert few == [8, 10]  # Cohen (1988), table 2.4: d = 1, one sample


def test_no_sample_shows_an_effect_of_nearly_nothing() -> None:
    assert planning.sample_size(effect=1e-9, sd=1.0, aim=Aim()) is None


def test_bonferroni_asks_for_more_and_counts_the_family_once() -> None:
    alone, of_15 = (planning.detectable(sd=1, n=100, aim=Aim(tests=k)) for k in (1, 15))
    assert of_15 / alone == pytest.approx(
        (norm.isf(0.05 / 30) + norm.ppf(0.8)) / (norm.isf(0.025) + norm.ppf(0.8)), rel=1e-5
    )


def test_the_margin_is_2_93_errors() -> None:
    assert planning.smallest_margin(sd=10, n=400, aim=Aim()) == pytest.approx(2.93 * 0.5, abs=0.002)
    # Not divided by the family's tests: equivalence is tested at alpha.
    assert planning.smallest_margin(sd=10, n=400, aim=Aim(tests=9)) == planning.smallest_margin(
        sd=10, n=400, aim=Aim()
    )


@pytest.mark.parametrize("true", [0.0, 0.3, -0.4])
def test_power_of_equivalence_is_that_of_statsmodels(true: float) -> None:
    """Theirs is of a proportion whose error is known: the same two one-sided normal tests."""
    p, n = 0.4 + 0.1 * true, 500
    theirs = power_ztost_prop(0.3, 0.5, n, p, 0.05, variance_prop=p, dist="norm", discrete=False)[0]
    error = float(np.sqrt(p * (1 - p) / n))
    ours = equivalence_power(std_error=error, margin=0.1, effect=0.1 * true)
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("effect", [0.0, 0.4])
def test_the_sample_size_of_equivalence_is_the_smallest(effect: float) -> None:
    n = planning.sample_size_equivalence(margin=1, sd=6, aim=Aim(), effect=effect)
    assert n is not None
    enough, short = (
        equivalence_power(std_error=6 / np.sqrt(k), margin=1, effect=effect) for k in (n, n - 1)
    )
    assert short < 0.8 <= enough
    if not effect:
        assert planning.smallest_margin(sd=6, n=n, aim=Aim()) <= 1
        assert planning.smallest_margin(sd=6, n=n - 1, aim=Aim()) > 1


def test_power_holds_in_simulated_paired_samples() -> None:
    aim = Aim(0.05, 0.8, tests=2, paired=True)
    n = planning.sample_size(effect=1.0, sd=2.0, aim=aim)
    assert n is not None
    draws = np.random.default_rng(3).normal(1.0, 2.0, (4000, n))
    shown = float((ttest_1samp(draws, 0, axis=1).pvalue < 0.025).mean())
    promised = planning.power(effect=1.0, sd=2.0, n=n, aim=aim)
    assert shown == pytest.approx(promised, abs=4 * np.sqrt(0.16 / 4000))
    assert promised == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: Aim(0.7), "alpha: 0.7 is no level of a test. Use (0, 0.5)."),
        (lambda: Aim(0.05, 0.04), "power: 0.04 is not between alpha and 1. Use 0.8 or 0.9, say."),
        (lambda: Aim(tests=0), "tests: 0 is below 1. Count the tests of the family."),
        (
            lambda: planning.detectable(sd=0.0, n=9, aim=Aim()),
            "sd: 0.0 is no spread. Give a number above 0.",
        ),
        (
            lambda: planning.detectable(sd=1.0, n=1, aim=Aim()),
            "n: 1 applicants have no standard error. Give at least 2.",
        ),
        (
            lambda: planning.sample_size_equivalence(margin=1, sd=1, aim=Aim(), effect=1.0),
            "margin: 1 does not hold the true effect 1. Give a wider margin.",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(act, message: str) -> None:
    with pytest.raises(InputError) as caught:
        act()
    assert str(caught.value) == message


def row(estimand: str = "NDE", slice: str = "job=a", method: str = "eif", **changes: object):
    return {
        "design": "path_specific", "model": "m", "document_format": "text", "contrast": "g",
        "slice": slice, "estimand": estimand, "method": method, "estimate": 0.2, "std_error": 0.5,
        "n": 400, "reason": None,
    } | changes  # fmt: skip


def test_an_audit_tells_spread_family_and_versions() -> None:
    rows = [row(e, s) for s in ("job=a", "job=b", "all") for e in ("NDE", "BIE", "RIE", "TE")]
    rows += [row("TE", method="rescoring", std_error=0.1, n=100),
             row("NDE", method="rescoring", estimate=0.0, std_error=None, reason=BY_CONSTRUCTION),
             row("TE", method="tost"), row("raw_gap", design="outcome")]  # fmt: skip
    found = plan_rows.bases(rows)
    assert len(found) == 13  # NDE is 0 by construction under rescoring
    by = {(b.label["slice"], b.label["estimand"], b.label["method"]): b for b in found}
    assert by["job=a", "NDE", "eif"].sd == pytest.approx(10.0)
    assert by["job=a", "NDE", "eif"].tests == 6  # three effects in two jobs
    assert by["all", "NDE", "eif"].tests == 3
    assert by["job=b", "TE", "eif"].tests == 2
    measured = by["job=a", "TE", "rescoring"]
    assert (measured.sd, measured.tests, measured.versions) == (1.0, 1, 4)


def test_what_was_not_computable_is_planned_by_its_overlap() -> None:
    reason = "overlap: E_W:Y effective n 12 < 30, one unit holds 15.0% > 10.0% of the weight"
    lost = dict.fromkeys(("estimate", "std_error"))
    (basis,) = plan_rows.bases([row(reason=reason, **lost)])
    found = plan_rows.plan_row(basis, alpha=0.05, power=0.8, effect=1.0, margin=1.0)
    assert found["n_overlap"] == 1000  # 400 x 30 / 12
    assert found["detectable"] is found["n_effect"] is None
    assert found["reason"] == reason
    assert (
        plan_rows.growth_for_overlap("overlap: E_W:Y effective n 12 < 30, 2% > 1% clipped") is None
    )
    assert plan_rows.growth_for_overlap("no applicant of group x1") is None
    assert plan_rows.growth_for_overlap(
        "overlap: E_W:Y one unit holds 30.0% > 10.0% of the weight"
    ) == pytest.approx(3.0)


def test_the_command_plans_from_numbers(capsys) -> None:
    options = ["plan", "--std-error", "0.5", "--n", "400", "--effect", "1", "--margin", "1"]
    assert cli.main([*options, "--design", "rescoring", "--photo", "--json", "-"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["rows"]
    assert found["sd"] == 10.0
    assert found["n_effect"] == planning.sample_size(effect=1, sd=10, aim=Aim(paired=True))
    assert found["n_margin"] == 857
    assert (found["calls"], found["calls_effect"]) == (2000, 5 * found["n_effect"])
    assert cli.main(options) == 0
    shown = capsys.readouterr().out
    assert "Negligible: within 1, shown at a true effect of 0." in shown
    assert "n_for_effect" in shown


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "command line: neither an audit nor numbers are given. "
         "Give --audit ID, or --sd, or --std-error with --n."),
        (["--sd", "3"], "command line: nothing to plan for. Give --n, --effect or --margin."),
        (["--sd", "-3", "--n", "9"], "--sd, --std-error: is not above 0. Give a number above 0."),
        (["--sd", "3", "--std-error", "3", "--n", "9"], "--sd, --std-error: give exactly one of "
         "them. Give --sd, the spread per applicant, or --std-error with --n."),
        (["--std-error", "3", "--effect", "1"], "--std-error: has no --n. "
         "Give the applicants that it stands on."),
        (["--audit", "demo", "--sd", "3"], "command line: --audit and --sd are both given. "
         "Give one of them."),
        (["--sd", "3", "--n", "1"], "--n: 1 is below 2. Give a larger number."),
        (["--sd", "3", "--effect", "0"], "--effect: 0 cannot be shown. "
         "Give --margin to plan for 0."),
        (["--sd", "3", "--n", "9", "--alpha", "5"], "alpha: 5.0 is no level of a test. "
         "Use (0, 0.5)."),
        (["--sd", "3", "--n", "9", "--slice", "all"], "command line: filters need --audit. "
         "Give --audit ID."),
    ],
)  # fmt: skip
def test_a_plan_that_contradicts_itself_is_refused(given, message: str, capsys) -> None:
    assert cli.main(["plan", *given]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"
