"""The simulation study's own parts: truths, the counting sampler, the estimator in batches."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.results import EFFECTS
from path_designs import DESIGNS, Counted, Design, bernoulli, binary, coarsened, linear, office

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import path_samplings
from path_batch import SETS, Batch, true_nuisances
from path_study import check, numbers

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0, sensitivity_clips=())


def test_truth_of_the_binary_model_is_the_published_one() -> None:
    golden = (0.2397091, 0.2722644, -0.0325553, -0.1330982, 0.1005429)
    assert binary().truth() == pytest.approx(golden, abs=5e-8)


def test_truth_of_the_linear_model_is_its_coefficients() -> None:
    assert linear().truth() == pytest.approx([5.3, 2.0, 3.3, 1.8, 1.5], abs=0.06)


def test_every_design_has_positive_probabilities_that_sum_to_one() -> None:
    for name, make in DESIGNS.items():
        design = make()
        assert design.name == name
        if isinstance(design, Design):
            assert design.law.sum() == pytest.approx(1)
            assert design.law.min() > 0
            te, nde, nie, bie, rie = design.truth()
            assert te == pytest.approx(nde + nie)
            assert nie == pytest.approx(bie + rie)


def test_truth_of_groups_is_what_the_whole_grouped_population_gives() -> None:
    """Enumerated apart: the population's cells, summed over the values in each group."""
    design = coarsened()
    law, mean = design.grouped(design.law), design.grouped(design.law * design.mean)
    whole = np.round(np.stack([law, law]) * 1e9)
    y = whole * mean / law
    data = design.cells(Counted(whole, y, y**2 / whole + whole))
    estimate, _, _ = numbers(path_effects(data, OPTIONS), data)
    assert estimate == pytest.approx(design.truth(), abs=1e-3)
    raw = dict(zip(EFFECTS, design.raw_truth(), strict=True))
    assert raw["NDE"] == pytest.approx(0, abs=1e-12)
    assert abs(design.truth()[1]) > 0.05  # grouping makes a direct effect


@pytest.mark.parametrize(
    "design", [office("office"), bernoulli(), coarsened()], ids=lambda d: d.name
)
def test_sampler_has_the_moments_of_the_law(design: Design) -> None:
    samples, n = 300, 500
    drawn = design.samples(n, range(samples), "test")
    assert (drawn.n.sum(axis=(1, 2, 3, 4, 5)) == n).all()
    law = design.grouped(design.law)
    mean = design.grouped(design.law * design.mean)
    second = design.mean**2 + design.sd**2 if design.sd is not None else design.mean
    square = design.grouped(design.law * second)
    people = samples * n
    # How many, by (x, Z): chi-squared. The mean of Y and of Y^2 by x: within 4.5 errors.
    expected = people * law.sum(axis=(2, 3)).ravel()
    seen = drawn.n.sum(axis=(0, 1, 4, 5)).ravel()
    assert 1e-4 < chi2.sf(((seen - expected) ** 2 / expected).sum(), len(seen) - 1) < 1 - 1e-4
    fourth = square.sum() * 20 if design.sd is None else square.sum() ** 2 * 3
    for got, want, spread in ((drawn.y, mean, square.sum()), (drawn.yy, square, fourth)):
        error = np.sqrt(spread / people)
        assert abs(got.sum() / people - want.sum()) < 4.5 * error
    assert (drawn.yy * drawn.n >= drawn.y**2 * (1 - 1e-12)).all()
    # Folds are alike.
    assert drawn.n.sum(axis=(0, 2, 3, 4, 5)) == pytest.approx(people / 5, rel=0.02)


def test_a_sample_can_be_drawn_again_alone() -> None:
    design = office("office")
    many, one = design.samples(300, range(5), "test"), design.samples(300, range(3, 4), "test")
    np.testing.assert_array_equal(many.yy[3], one.yy[0])


@pytest.mark.parametrize("name", ["office", "bernoulli", "rough", "coarsened", "weak_overlap"])
@pytest.mark.parametrize("n", [400, 3000])
def test_batch_is_the_library(name: str, n: int) -> None:
    design = DESIGNS[name]()
    assert isinstance(design, Design)
    drawn = design.samples(n, range(3), "test")
    got = Batch(design)(drawn)
    check(design, drawn, got)
    data = design.cells(Counted(drawn.n[0], drawn.y[0], drawn.yy[0]))
    rows = {row.weight_set: row for row in path_effects(data, OPTIONS).overlap}
    for j, name_ in enumerate(SETS):
        row = rows[name_]
        assert got.overlap[0, j, :3] == pytest.approx(
            [row.effective_n, row.max_unit_share, row.clipped_share], rel=1e-5
        )


def test_true_nuisances_are_those_of_the_law() -> None:
    design = office("office", confounded=1.0)
    true = true_nuisances(design)
    assert true["e_z"][:, 0, 0] == pytest.approx(design.px)
    top = design.px[:, None] * design.pr[1]
    e_rz = top / (top + (1 - design.px)[:, None] * design.pr[0])
    assert true["e_rz"][:, :, 0] == pytest.approx(e_rz)
    # With all of them given, the estimate's base is the truth: E_W - E0 and E1 - E_W.
    nde = (design.pz * (true["mu1_w"] - true["m0"])[:, 0, 0]).sum()
    nie = (design.pz * (true["m1"] - true["mu1_w"])[:, 0, 0]).sum()
    assert [nde, nie] == pytest.approx(design.truth()[1:3])
    bie = (true["m1"] - true["mu1_b"] + true["mu1_r"] - true["mu1_w"])[:, 0, 0] / 2
    assert (design.pz * bie).sum() == pytest.approx(design.truth()[3])


def test_intervals_with_true_nuisances_are_as_wide_as_the_estimates_vary() -> None:
    design = office("office", interact=1.0)
    got = Batch(design)(design.samples(1500, range(400), "test"), true_nuisances(design))
    spread = got.estimate.std(axis=0) / got.error.mean(axis=0)
    assert spread == pytest.approx(np.ones(5), abs=4 / np.sqrt(2 * 400))


def test_rescoring_finds_the_enumerated_effects() -> None:
    """Without noise of the call or the applicant the mean of many is the truth."""
    requests, reps = 4000, 5
    for scorer in path_samplings.SCORERS:
        estimate, error, people = path_samplings.rescoring(scorer, requests, range(reps), "test")
        off = (estimate.mean(axis=0) - path_samplings.truth())[[0, 2, 3, 4]]
        assert (np.abs(off) < 4 * error.mean(axis=0)[[0, 2, 3, 4]] / np.sqrt(reps)).all()
        assert (estimate[:, 1] == 0).all()
        assert requests / 4 <= people < requests / 2


def test_rescoring_spends_what_it_may_and_asks_alike_documents_once() -> None:
    design = path_samplings.designs()["balanced"]
    rng = np.random.default_rng(1)
    data, asked = path_samplings.rescored(design, 1000, 3.0, rng)
    assert 1000 - 4 < asked <= 1000
    distinct = sum(len(set(row)) for row in data.y.tolist())
    assert distinct == asked  # with noise, scores differ exactly where documents do
