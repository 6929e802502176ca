"""Design-based errors: plain recomputation, known cases, and coverage in a known population."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import t

from fairscreen.errors import InputError
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.path_specific import PathOptions, path_effects
from fairscreen.estimators.replicates import ReplicateSums, design_based
from fairscreen.estimators.results import EFFECTS
from g_formula import Frequencies, effects

R = 64  # replicates of the simulated survey


def test_sums_over_people_recomputed_plainly() -> None:
    draw = np.random.default_rng(1)
    phi, w = draw.normal(3, 2, (400, 2)), draw.integers(1, 9, 400).astype(float)
    replicates = w[:, None] * draw.choice([0.3, 1.0, 1.7, -0.2], (400, 80))
    parts = [
        ReplicateSums.of(phi=phi[s], w=w[s], replicates=replicates[s])
        for s in (slice(0, 150), slice(150, 400))
    ]
    found = design_based(parts[0] + parts[1], level=0.9)
    for j, mine in enumerate(found):
        theta = float(np.average(phi[:, j], weights=w))
        under = [float((v * phi[:, j]).sum() / v.sum()) for v in replicates.T]
        error = np.sqrt(4 / 80 * sum((x - theta) ** 2 for x in under))
        assert (mine.estimate, mine.std_error) == pytest.approx((theta, error), rel=1e-12)
        low, high = t.interval(0.9, 79, loc=theta, scale=error)
        assert (mine.ci_low, mine.ci_high) == pytest.approx((low, high), rel=1e-9)
        assert mine.p_value == pytest.approx(2 * t.sf(abs(theta) / error, 79), rel=1e-9)


def test_a_jackknife_of_a_mean_is_its_textbook_error() -> None:
    y = np.random.default_rng(2).normal(0, 1, 30)
    dropped = (1 - np.eye(30)) * 30 / 29
    sums = ReplicateSums.of(phi=y[:, None], w=np.ones(30), replicates=dropped)
    (found,) = design_based(sums, scale=29 / 30)
    assert found.std_error == pytest.approx(y.std(ddof=1) / np.sqrt(30), rel=1e-12)


def test_what_has_no_error_says_why() -> None:
    phi, w = np.array([[1.0], [2.0]]), np.ones(2)
    gone = ReplicateSums.of(phi=phi, w=w, replicates=np.array([[1.0, -1.0], [1.0, 1.0]]))
    same = ReplicateSums.of(phi=phi, w=w, replicates=np.full((2, 3), 0.7))
    reasons = []
    for sums in (gone, same):
        (found,) = design_based(sums)
        assert found.estimate == 1.5
        assert (found.std_error, found.ci_low, found.p_value) == (None, None, None)
        reasons.append(found.reason)
    assert reasons == ["a replicate weight sums to 0 or less", "the replicates do not differ"]
    with pytest.raises(InputError, match="replicates: has 1 columns"):
        design_based(ReplicateSums.of(phi=phi, w=w, replicates=np.ones((2, 1))))
    with pytest.raises(InputError, match="has 3 rows where phi has 2"):
        ReplicateSums.of(phi=phi, w=w, replicates=np.ones((3, 4)))
    with pytest.raises(InputError, match="another number of replicates"):
        gone + same


# --- a survey of a known population ---------------------------------------------------------


def population() -> dict[str, np.ndarray]:
    """20,000 households of one to four people, in the order of the list that is sampled from: by
    region z. A household shares x, z and half of the noise of its scores."""
    draw = np.random.default_rng(41)
    size = draw.integers(1, 5, 20_000)
    z = np.sort(draw.choice(3, 20_000, p=[0.5, 0.35, 0.15]))
    x = (draw.random(20_000) < 0.35 + 0.1 * z).astype(int)
    own = draw.normal(0, 2, 20_000)
    household = np.repeat(np.arange(20_000), size)
    x, z = x[household], z[household]
    n = len(household)
    r = (draw.random(n) < 0.3 + 0.2 * x + 0.05 * z).astype(int)
    b = draw.binomial(2, 0.3 + 0.15 * x + 0.1 * r)
    y = 50 + x * (1 + 3 * (z == 2)) + 2 * r + 1.5 * b + z + own[household] + draw.normal(0, 2, n)
    return {"household": household, "x": x, "z": z, "r": r, "b": b, "y": y, "size": size}


def sampled(people: dict[str, np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A systematic sample of about 900 households, those of region 2 four times as likely; all of
    their people: rows (n,), weights (n,), replicate weights (n, R) by successive differences."""
    draw = np.random.default_rng(seed)
    first = np.cumsum(people["size"]) - people["size"]
    measure = np.where(people["z"][first] == 2, 4.0, 1.0)
    step = measure.sum() / 900
    marks = np.arange(draw.random() * step, measure.sum(), step)
    chosen = np.searchsorted(np.cumsum(measure), marks)
    assert len(np.unique(chosen)) == len(chosen)
    design, k = hadamard(R), np.arange(len(chosen))
    factor = 1 + (design[1 + k % (R - 1)] - design[1 + (k + 1) % (R - 1)]) / 2**1.5
    members = [np.arange(first[h], first[h] + people["size"][h]) for h in chosen]
    of = np.repeat(k, people["size"][chosen])
    w = (step / measure[chosen])[of]
    return np.concatenate(members), w, w[:, None] * factor[of]


def estimate(
    people: dict[str, np.ndarray], rows: np.ndarray, w: np.ndarray, replicates: np.ndarray
) -> np.ndarray:
    """(5, 5) estimate, design-based error and interval, and the influence function's error."""
    fold = assign_folds(1, [str(i) for i in rows], 2, 1)
    arrays = {name: people[name][rows] for name in ("x", "z", "r", "b", "y")}
    data = PathData.from_rows(**arrays, w=w, fold=fold, cells=False)
    result = path_effects(data, PathOptions(learner="glm", bootstrap_draws=0))
    assert result.influence is not None
    assert result.c is not None
    assert result.covariance is not None
    phi = result.influence + result.c * data.sum_y[:, None]
    found = design_based(ReplicateSums.of(phi=phi, w=w, replicates=replicates))
    by_eif = np.sqrt(np.diag(result.covariance))
    numbers = [(d.estimate, d.std_error, d.ci_low, d.ci_high) for d in found]
    return np.column_stack([np.array(numbers, dtype=float), by_eif])


@pytest.fixture(scope="module")
def known():
    people = population()
    d = {k: people[k] if k in "xy" else people[k][:, None] for k in ("x", "z", "r", "b", "y")}
    truth = effects(Frequencies(d | {"w": np.ones(len(d["y"]))}, False).functionals(1, 0))
    return people, np.array([truth[e] for e in EFFECTS])


def check(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """found (draws, 5, 5); the spread of the estimates (5,). Intervals cover, errors are right."""
    assert found.shape[0] == 200
    spread = found[:, :, 0].std(axis=0, ddof=1)
    bias = np.abs(found[:, :, 0].mean(axis=0) - truth)
    assert (bias < 4 * spread / np.sqrt(200)).all()
    covered = ((found[:, :, 2] < truth) & (truth < found[:, :, 3])).mean(axis=0)
    assert (covered > 0.9).all(), covered
    # The sample is 5% of the population, which successive differences leave out of account.
    ratio = found[:, :, 1].mean(axis=0) / spread
    assert ((ratio > 0.85) & (ratio < 1.25)).all(), ratio
    return spread


def test_replicate_weights_cover_the_population_effects_of_a_clustered_survey(known) -> None:
    people, truth = known
    found = np.stack([estimate(people, *sampled(people, seed)) for seed in range(200)])
    spread = check(found, truth)
    # Households are alike: errors that take their people one by one are too small for TE.
    assert found[:, 0, 4].mean() < 0.85 * spread[0]
    plain = []
    for seed in range(40):
        rows, w, replicates = sampled(people, seed)
        plain.append(estimate(people, rows, np.ones_like(w), replicates)[:, 0])
    bias = np.mean(plain, axis=0) - truth
    assert bias[0] > 10 * spread[0] / np.sqrt(40)  # the sample effect is another one


def test_replicate_errors_of_draws_are_the_total(known) -> None:
    """1,800 draws by weight from the surveyed: the spread holds survey and draws, and adding the
    error of the draws once more counts them twice."""
    people, truth = known
    found = []
    for seed in range(200):
        rows, w, replicates = sampled(people, seed)
        at = np.random.default_rng(9_000 + seed).choice(len(rows), 1_800, p=w / w.sum())
        ratio = replicates[at] / w[at, None]
        found.append(estimate(people, rows[at], np.ones(1_800), ratio))
    numbers = np.stack(found)
    spread = check(numbers, truth)
    doubled = np.hypot(numbers[:, :, 1].mean(axis=0), numbers[:, :, 4].mean(axis=0))
    assert (doubled / spread).mean() > 1.1
