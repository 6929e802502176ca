"""Population sampling, balanced sampling and counterfactual rescoring at equal numbers of requests.

One job with 14% men, whose score reads the document alone (NDE 0). The observational estimators ask
once per applicant. Rescoring asks about every version of an applicant that reads differently
from his others, so its requests buy fewer applicants; all versions come from the same structural
model with one uniform per variable and applicant. Part of the noise belongs to the applicant
(what else his resume says: the same in every version), the rest to the call.
"""

from __future__ import annotations

import numpy as np
from path_batch import PROPENSITIES, Batch, true_nuisances

from fairscreen.estimators.path_specific import PathOptions
from fairscreen.estimators.rescoring import Rescored, moments
from path_designs import A, Design, Ints, effects, nurses, rng_of

# Levels by column of R and of B in `nurses`.
R_SIZES, B_SIZES = (3, 2, 3, 2), (3, 3)
SD = 5.0
# What the call adds to a score: nothing, or 3 of the 5 points.
SCORERS = {"deterministic": 0.0, "noisy": 3.0}
SAMPLINGS = (
    "population", "balanced", "balanced, known densities",
    "rescoring, noisy scorer", "rescoring, deterministic scorer",
)  # fmt: skip


def designs() -> dict[str, Design]:
    """The same structural model, men 14% or half of the applicants."""
    return {
        "population": nurses("nurses_population", men=0.14, direct=0.0),
        "balanced": nurses("nurses_balanced", men=0.5, direct=0.0),
    }


def observational(
    sampling: str, n: int, reps: range, study: str, size: int = 8
) -> tuple[A, A, A]:  # fmt: skip
    """Estimates, errors, whether let through (S, 5): n applicants, one request each."""
    design = designs()[sampling.split(",")[0]]
    names = PROPENSITIES if "known" in sampling else ()
    given = {name: true_nuisances(design)[name] for name in names}
    batch, found = Batch(design), []
    for first in range(reps.start, reps.stop, size):
        part = range(first, min(first + size, reps.stop))
        got = batch(design.samples(n, part, study), given)
        found.append((got.estimate, got.error, got.passing(PathOptions())))
    estimate, error, ok = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return estimate, error, ok


def by_columns(table: A, sizes: tuple[int, ...], row: Ints, u: A) -> Ints:
    """Joint codes (n,) drawn from rows of table (G, K), K = prod(sizes), by inverse distribution
    functions of one column after the other, each given those before it; u (n, columns)."""
    full = table.reshape(len(table), *sizes)
    codes: list[Ints] = []
    for k, size in enumerate(sizes):
        share = full.sum(axis=tuple(range(k + 2, len(sizes) + 1)))[(row, *codes)]
        bounds = np.cumsum(share / share.sum(axis=1, keepdims=True), axis=1)
        codes.append(np.minimum((u[:, k, None] > bounds).sum(axis=1), size - 1))
    return np.ravel_multi_index(tuple(codes), sizes)


def rescored(
    design: Design, requests: int, call_sd: float, rng: np.random.Generator
) -> tuple[Rescored, int]:
    """Applicants that so many requests pay for, their four scores, and what was asked."""
    n, (zs, rs) = requests, design.pr.shape[1:]
    z = rng.choice(zs, n, p=design.pz)
    u_r, u_b = rng.random((n, len(R_SIZES))), rng.random((n, len(B_SIZES)))
    pr, pb = design.pr.reshape(2 * zs, rs), design.pb.reshape(2 * zs * rs, -1)
    r = [by_columns(pr, R_SIZES, x * zs + z, u_r) for x in (0, 1)]

    def version(x_b: int, x_r: int) -> tuple[Ints, Ints]:
        return r[x_r], by_columns(pb, B_SIZES, (x_b * zs + z) * rs + r[x_r], u_b)

    shown = np.stack([r * design.pb.shape[3] + b for r, b in (
        version(1, 1), version(0, 0), version(0, 1), version(1, 0)
    )], axis=1)  # fmt: skip
    first = (shown[:, :, None] == shown[:, None, :]).argmax(axis=2)  # of those that read alike
    asked = (first == np.arange(4)).sum(axis=1)
    kept = np.cumsum(asked) <= requests
    noise = rng.normal(0, call_sd, (n, 4)) if call_sd else np.zeros((n, 4))
    own = rng.normal(0, np.sqrt(SD**2 - call_sd**2), n)
    level = design.mean[0].reshape(zs, -1)[z[:, None], shown]
    y = level + own[:, None] + np.take_along_axis(noise, first, axis=1)
    people = int(kept.sum())
    ones = np.ones(people)
    return Rescored(y[kept], ones.astype(np.int64), ones), int(asked[kept].sum())


def rescoring(
    scorer: str, requests: int, reps: range, study: str
) -> tuple[A, A, float]:  # fmt: skip
    """Estimates and errors (S, 5), and how many applicants the requests bought on average."""
    design, found, people = designs()["balanced"], [], []
    for rep in reps:
        rng = rng_of(f"rescoring/{scorer}", requests, rep, study)
        data, _ = rescored(design, requests, SCORERS[scorer], rng)
        mean, covariance, _ = moments(data.psi, data.n, data.w, None)
        found.append((mean, np.sqrt(np.diag(covariance))))
        people.append(len(data))
    estimate, error = (np.stack(part) for part in zip(*found, strict=True))
    return estimate, error, float(np.mean(people))


def truth() -> A:
    """TE, NDE, NIE, BIE, RIE: the same for every sampling."""
    d = designs()["balanced"]
    return effects(d.pz, d.pr, d.pb, d.mean)
