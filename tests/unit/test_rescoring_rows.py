"""Rows of counterfactual rescoring from results of its cases: what is by construction, families,
what cannot be compared. No Spark."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.audits import comparisons, path_rows, rescoring_rows
from fairscreen.audits.cells import cases
from fairscreen.audits.influence import Shared
from fairscreen.audits.rescoring import Measured, told
from fairscreen.config import load
from fairscreen.estimators.rescoring import (
    BY_CONSTRUCTION,
    SAME_AS_TE,
    Rescored,
    moments,
    placebo,
    rescored_effects,
)

N = 200
DEMO = resources.path("conf", "audits", "demo.yml")


def config(approach: str, kind: str = "embedding"):
    return load(
        DEMO, [f"estimation.approach={approach}", f"scoring.models={{m: {{kind: {kind}}}}}"]
    )


def measured(cfg, *, placebos: bool = True, answered: bool = True) -> Measured:
    """Every case but the last: names and region +2, qualifications 0, told +1 on average."""
    rng = np.random.default_rng(5)
    results = {}
    for case in cases(cfg)[:-1] if answered else ():
        x0 = np.round(rng.normal(50, 5, N))
        r, b, d = (np.round(rng.normal(m, 1, N)) for m in (2.0, 0.0, 1.0))
        shown = [r + b, 0 * r, r, b] if not told(cfg, case) else [r + b + d, 0 * r, r + d, b + d, d]
        y = x0[:, None] + np.stack(shown, axis=1)
        data = Rescored(y, np.ones(N, dtype=np.int64), np.ones(N))
        theta, covariance, _ = moments(data.psi, data.n, data.w, None)
        results[case.index] = {
            "effects": [asdict(e) for e in rescored_effects(data).values()],
            "theta": theta.tolist(), "covariance": covariance.tolist(), "n": N, "sum_w": float(N),
        }  # fmt: skip
    d = np.array([1.0, 2.0, 2.0])
    pair = placebo(d, np.array([1.0, 2.0, 2.5]), np.array([3, 2, 1]))
    kept = {"model": "m", "document_format": "text", "slice": "all", "version": "placebo_name"}
    return Measured(results, pd.DataFrame(), [kept | asdict(pair)] if placebos else [])


def rows_of(cfg, found: Measured) -> tuple[list[dict], list[str], path_rows.Context]:
    context = path_rows.Context(cfg, "hash", "{}")
    more = rescoring_rows.rows(context, found, {}, {})
    estimates, notes = path_rows.estimates(context, {}, {}, more, found.results, {}, [])
    return estimates, notes, context


def of(rows: list[dict], case, method: str = "rescoring") -> dict[str, dict]:
    return {
        r["estimand"]: r for r in rows
        if (r["contrast"], r["slice"], r["method"]) == (case.contrast, case.slice, method)
        and r["design"] == "path_specific"
    }  # fmt: skip


def test_without_a_photo_nde_is_0_by_construction_and_is_no_test() -> None:
    cfg = config("rescoring")
    rows, notes, context = rows_of(cfg, measured(cfg))
    for case in cases(cfg)[:-1]:
        found = of(rows, case)
        assert (found["NDE"]["estimate"], found["NDE"]["p_value"]) == (0.0, None)
        assert (found["NDE"]["status"], found["NDE"]["reason"]) == ("ok", BY_CONSTRUCTION)
        assert found["NIE"]["estimate"] == pytest.approx(found["TE"]["estimate"], abs=1e-12)
        assert found["NIE"]["reason"] == SAME_AS_TE
        # One test of the same number, and none of what is known.
        in_family = {e for e, r in found.items() if r["family"]}
        assert in_family == {"TE", "BIE", "RIE"}
        assert "NDE" not in of(rows, case, "rescoring_sign_flip")
        assert "NDE" not in of(rows, case, "rescoring_tost")
        assert found["RIE"]["p_holm"] < 1e-6
        assert "direct" not in found["NDE"]["title"].lower()
    # The case that nobody answered has its reason, and is said.
    last = of(rows, cases(cfg)[-1])
    assert {r["status"] for r in last.values()} == {"not_computable"}
    assert {r["reason"] for r in last.values()} == {path_rows.NO_ANSWER}
    assert any("not computable" in n for n in notes)
    judged = {(r["contrast"], r["slice"], r["pattern"], r["rule"]): r["verdict"]
              for r in path_rows.patterns(context, rows)}  # fmt: skip
    one = cases(cfg)[0]
    for rule in ("published", "adjusted"):
        assert judged[one.contrast, one.slice, 1, rule] == "no"
        assert judged[one.contrast, one.slice, 2, rule] == "no"
        assert judged[one.contrast, one.slice, 4, rule] == "yes"
    assert not [r for r in rows if r["method"] in ("eif", "wald", "tost")]


def test_a_screener_that_is_told_has_an_effect_past_every_mediator() -> None:
    cfg = config("rescoring", "planted")
    rows, _, _ = rows_of(cfg, measured(cfg))
    found = of(rows, cases(cfg)[0])
    assert found["NDE"]["estimate"] == pytest.approx(1, abs=0.3)
    assert found["NDE"]["family"]
    assert found["NIE"]["reason"] is None
    assert "told of gender" in found["NDE"]["title"]
    whole = found["NDE"]["estimate"] + found["BIE"]["estimate"] + found["RIE"]["estimate"]
    assert found["TE"]["estimate"] == pytest.approx(whole, abs=1e-9)


def test_what_the_observational_estimate_lacks_is_not_compared() -> None:
    cfg = config("both")
    rows, _, _ = rows_of(cfg, measured(cfg))
    gaps = of(rows, cases(cfg)[0], "observational_minus_rescoring")
    assert set(gaps) == {"TE", "NDE", "NIE", "BIE", "RIE"}
    for row in gaps.values():
        assert (row["status"], row["estimate"]) == ("not_computable", None)
        assert row["reason"].startswith("observational: no_answer")
    (wald,) = of(rows, cases(cfg)[0], "wald").values()
    assert wald["reason"] == "none of NDE, BIE, RIE has both estimates"
    assert {r["method"] for r in rows if r["family"]} == {"rescoring"}


def test_placebos_stand_outside_every_contrast_and_family() -> None:
    cfg = config("rescoring")
    rows, _, _ = rows_of(cfg, measured(cfg))
    mine = [r for r in rows if r["design"] == "placebo"]
    keys = [(r["model"], r["contrast"], r["slice"], r["estimand"], r["method"]) for r in mine]
    assert len(keys) == len(set(keys))
    assert {r["family"] for r in mine} == {r["favors_when_positive"] for r in mine} == {None}
    assert {(r["attribute"], r["contrast"]) for r in mine} == {("none", "placebo")}
    found = {r["method"]: r for r in mine if (r["slice"], r["estimand"]) == ("all", "placebo_name")}
    assert found["rescoring"]["estimate"] == pytest.approx(0.5 / 6)
    assert found["share_differ"]["estimate"] == pytest.approx(1 / 6)
    assert found["rescoring_sign_flip"]["p_value"] == 1.0
    lost = [r for r in mine if r["estimand"] == "placebo_repeat"]
    assert {r["reason"] for r in lost} == {"no_pair: no applicant has both answers"}
    assert len(lost) == len({c.slice for c in cases(cfg)})


def test_who_is_left_out_is_told_by_version_and_group() -> None:
    key = {"model": "m", "document_format": "text", "contrast": "male_vs_female"}
    versions = dict.fromkeys(("x1", "x0", "b_x0_r_x1", "b_x1_r_x0", "x1_w_x0"), 0)
    missing = pd.DataFrame([
        key | versions | {"gender": "male", "race": "white", "applicants": 8, "incomplete": 2,
                          "x0": 2, "b_x0_r_x1": 1},
        key | versions | {"gender": "female", "race": "white", "applicants": 8, "incomplete": 0},
    ])  # fmt: skip
    assert rescoring_rows.left_out_notes(missing) == [
        "m, text, male_vs_female: 2 of 16 applicants lack the score of a version (x0 2, b_x0_r_x1 "
        "1) and are left out of rescoring; of the groups they are: female 0.0%, male 25.0%, white "
        "12.5%."
    ]
    assert rescoring_rows.left_out_notes(missing.assign(incomplete=0)) == []


def test_two_rescored_models_differ_with_the_paired_error_of_their_applicants() -> None:
    cfg = load(DEMO, [
        "estimation.approach=rescoring", "scoring.models={a: {kind: embedding}, b: {kind: planted}}"
    ])  # fmt: skip
    case = {
        c.model: c
        for c in cases(cfg)
        if (c.slice, c.contrast) == ("job=accountants", "male_vs_female")
    }
    rng = np.random.default_rng(8)
    x0, r, b = rng.normal(50, 5, N), rng.normal(2, 1, N), rng.normal(1, 1, N)
    both = {
        "a": np.stack([x0 + r + b, x0, x0 + r, x0 + b], axis=1),
        # Told of X: half a point past every mediator. Names move half as much, noise of its own.
        "b": np.stack([x0 + r / 2 + b + 0.5, x0, x0 + r / 2 + 0.5, x0 + b + 0.5, x0 + 0.5], axis=1)
        + rng.normal(0, 0.3, (N, 5)),
    }  # fmt: skip
    data = {m: Rescored(y, np.ones(N, dtype=np.int64), np.ones(N)) for m, y in both.items()}
    results = {}
    for m, one in data.items():
        theta, covariance, _ = moments(one.psi, one.n, one.w, None)
        effects = [asdict(e) for e in rescored_effects(one).values()]
        results[case[m].index] = {
            "effects": effects, "covariance": covariance.tolist(), "n": N, "theta": theta.tolist()
        }  # fmt: skip
    psi = {m: one.psi[:, [1, 3, 4]] - one.psi[:, [1, 3, 4]].mean(axis=0) for m, one in data.items()}
    sizes = [np.sqrt((p**2).sum(axis=0)) for p in psi.values()]
    product = np.divide(
        psi["a"].T @ psi["b"], np.outer(*sizes), out=np.zeros((3, 3)), where=np.outer(*sizes) > 0
    )
    key = (case["a"].index, case["b"].index)
    rows, _ = comparisons.rows(
        path_rows.Context(cfg, "hash", "{}"), results, Shared({key: product}, {key: N})
    )
    found = {
        x["estimand"]: x for x in rows
        if x["method"] == "rescoring_difference" and x["p_value"] is not None
    }  # fmt: skip
    # The NDE of model a is 0 by construction: there is nothing to compare.
    assert set(found) == {"TE", "NIE", "BIE", "RIE"}
    for name, j in (("TE", 0), ("NIE", 2), ("BIE", 3), ("RIE", 4)):
        paired = data["a"].psi[:, j] - data["b"].psi[:, j]
        assert found[name]["estimate"] == pytest.approx(paired.mean(), abs=1e-12)
        assert found[name]["std_error"] == pytest.approx(paired.std(ddof=1) / N**0.5, rel=1e-9)
        assert found[name]["title"].endswith(": a minus b")
    assert found["RIE"]["estimate"] == pytest.approx(1.0, abs=4 * found["RIE"]["std_error"])
    # Of two models that are not told, NIE is TE, and is tested once.
    results[case["b"].index] = results[case["a"].index]
    rows, _ = comparisons.rows(
        path_rows.Context(cfg, "hash", "{}"), results, Shared({key: np.eye(3) / 2}, {key: N})
    )
    mine = {x["estimand"] for x in rows if x["p_value"] is not None}
    assert mine == {"TE", "BIE", "RIE"}
