"""Several scores, or several versions, of one applicant: rows of a cluster are no more people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fairscreen.analyze import analyze_paths
from fairscreen.estimators.data import PathData, assign_folds
from fairscreen.estimators.nuisance import Problem, cross_fit
from fairscreen.estimators.path_specific import (
    LearnerName,
    PathOptions,
    effects_given,
    path_effects,
)
from fairscreen.estimators.results import CONTRASTS, PathResult
from fairscreen.estimators.saturated import Saturated

OPTIONS = PathOptions(learner="saturated", bootstrap_draws=0, clip=1e-9)


def applicants(n: int, seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    z, x = draw.integers(0, 2, (2, n))
    r = (draw.random(n) < 0.3 + 0.3 * x).astype(int)
    b = draw.binomial(2, 0.3 + 0.2 * x + 0.1 * r)
    return {"person": np.arange(n), "x": x, "z": z, "r": r, "b": b}


def score(d: dict[str, np.ndarray], seed: int) -> np.ndarray:
    """Points: half of the noise is the applicant's own, half that of the answer."""
    draw = np.random.default_rng(seed)
    own = draw.normal(0, 2, d["person"].max() + 1)[d["person"]]
    value = 50 + 2 * d["x"] + d["z"] + 2 * d["r"] + 1.5 * d["b"] + own
    return np.round(value + draw.normal(0, 2, len(own)), 4)


def asked(d: dict[str, np.ndarray], times: np.ndarray) -> dict[str, np.ndarray]:
    """Applicant i asked times[i] times."""
    return {name: np.repeat(values, times) for name, values in d.items()}


def data(d: dict[str, np.ndarray], y: np.ndarray, *, clustered: bool = True, w=None, cells=True):
    fold = assign_folds(2, [str(i) for i in d["person"]], 4, 2)
    return PathData.from_rows(
        **{k: d[k] for k in "xzrb"}, y=y, fold=fold, w=w, cells=cells,
        cluster=d["person"] if clustered else None,
    )  # fmt: skip


def numbers(result: PathResult) -> np.ndarray:
    """(5, 4) estimates, errors and intervals."""
    table = [(e.estimate, e.std_error, e.ci_low, e.ci_high) for e in result.effects.values()]
    return np.array(table, dtype=float)


def plain(cells: PathData) -> PathResult:
    """By plain cell means: shrinkage asks how many people there are, and an answer is nobody."""
    learner = Saturated(shrink=False)
    fitted = [cross_fit(Problem.of(cells), learner, k, known=False) for k in range(2)]
    return effects_given(cells, fitted, OPTIONS)


@pytest.mark.parametrize("learner", ["saturated", "glm"])
def test_cells_with_clusters_equal_rows(learner: LearnerName) -> None:
    """Applicants with one to four scores each; some share their cell, none his cluster."""
    many = asked(applicants(900, 1), np.random.default_rng(2).integers(1, 5, 900))
    y = score(many, 3)
    by_row, by_cell = (data(many, y, cells=cells) for cells in (False, True))
    assert len(by_cell) == 900 < len(by_row)
    options = PathOptions(learner=learner, bootstrap_draws=200)
    one, two = (path_effects(d, options) for d in (by_row, by_cell))
    np.testing.assert_allclose(numbers(two), numbers(one), rtol=1e-9)
    assert one.covariance is not None
    np.testing.assert_allclose(two.covariance, one.covariance, rtol=1e-9, atol=1e-14)
    for a, b in zip(one.overlap, two.overlap, strict=True):
        assert a.effective_n == pytest.approx(b.effective_n, rel=1e-9)
    drawn = [[e.std_error for e in r.bootstrap.values()] for r in (one, two)]
    np.testing.assert_allclose(drawn[1], drawn[0], rtol=1e-9)


def test_scores_in_a_cluster_are_their_average() -> None:
    d = applicants(2_000, 4)
    many = asked(d, np.full(2_000, 3))
    y = score(many, 5)
    mean = pd.Series(y).groupby(many["person"]).mean().to_numpy()
    found, expected = plain(data(many, y)), plain(data(d, mean))
    np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-9)


def test_unequal_numbers_of_scores_are_averages_where_each_weighs_its_share() -> None:
    d = applicants(2_000, 6)
    times = np.random.default_rng(7).integers(1, 5, 2_000)
    many = asked(d, times)
    y = score(many, 8)
    mean = pd.Series(y).groupby(many["person"]).mean().to_numpy()
    found = plain(data(many, y, w=1.0 / np.repeat(times, times)))
    np.testing.assert_allclose(numbers(found), numbers(plain(data(d, mean))), rtol=1e-9)


def test_the_error_is_that_of_sums_of_influence_by_cluster() -> None:
    """Versions: each applicant once as x1 and once as x0, with mediators of his own in both."""
    n = 1_500
    both = [applicants(n, seed) | {"x": np.full(n, x)} for seed, x in ((9, 1), (10, 0))]
    d = {name: np.concatenate([part[name] for part in both]) for name in both[0]}
    y = score(d, 11)
    rows = data(d, y, cells=False)
    result = path_effects(rows, OPTIONS)
    assert result.influence is not None
    assert result.c is not None
    phi = result.influence + result.c * rows.sum_y[:, None]
    sums = pd.DataFrame(phi - phi.mean(axis=0)).groupby(rows.cluster).sum().to_numpy()
    assert len(sums) == n
    expected = np.sqrt(n / (n - 1) * (sums**2).sum(axis=0)) / (2 * n)
    np.testing.assert_allclose(numbers(result)[:, 1], expected, rtol=1e-10)
    # What an applicant brings to both of his versions cancels from the difference of the groups.
    alone = path_effects(data(d, y, clustered=False), OPTIONS)
    assert numbers(result)[0, 1] < 0.9 * numbers(alone)[0, 1]


def test_clustered_errors_are_the_spread_over_samples_and_those_of_rows_are_too_small() -> None:
    """TE, NDE and RIE of 120 samples of 300 applicants with four scores each."""
    estimates, clustered, by_row = [], [], []
    for seed in range(120):
        many = asked(applicants(300, 1_000 + seed), np.full(300, 4))
        y = score(many, 5_000 + seed)
        fold = assign_folds(seed, [str(i) for i in many["person"]], 2, 1)
        arrays = {k: many[k] for k in "xzrb"}
        parts = [
            PathData.from_rows(**arrays, y=y, fold=fold, cluster=cluster)
            for cluster in (many["person"], None)
        ]
        found = [
            path_effects(part, PathOptions(learner="glm", bootstrap_draws=0)) for part in parts
        ]
        estimates.append(CONTRASTS @ [found[0].functionals[f] for f in found[0].functionals])
        for result, errors in zip(found, (clustered, by_row), strict=True):
            assert result.covariance is not None
            errors.append(np.sqrt(np.diag(result.covariance)))
    spread = np.std(estimates, axis=0, ddof=1)
    for at in (0, 1, 4):
        assert np.mean(clustered, axis=0)[at] == pytest.approx(spread[at], rel=0.2)
        assert np.mean(by_row, axis=0)[at] < 0.75 * spread[at]


def test_a_file_with_several_scores_of_a_person_gives_the_errors_of_people() -> None:
    d = applicants(1_200, 12)
    many = asked(d, np.full(1_200, 3))
    y = score(many, 13)
    frame = pd.DataFrame({**many, "y": y})
    averaged = frame.groupby(["person", "x", "z", "r", "b"], as_index=False).mean()
    roles = {"x": "x", "x1": "1", "x0": "0", "z": ["z"], "r": ["r"], "b": ["b"], "y": "y"}
    options = {**roles, "learner": "glm", "repeats": 1, "bootstrap_draws": 0}
    many_scores = analyze_paths(frame, **options, cluster="person")
    one_score = analyze_paths(averaged, **options, cluster="person")
    rows = [{r["estimand"]: r for r in f["rows"] if r["method"] == "eif"}
            for f in (many_scores, one_score)]  # fmt: skip
    for name, row in rows[1].items():
        assert rows[0][name]["estimate"] == pytest.approx(row["estimate"], rel=0.01)
        assert rows[0][name]["std_error"] == pytest.approx(row["std_error"], rel=0.01)
    assert rows[0]["TE"]["n"] == 3_600
