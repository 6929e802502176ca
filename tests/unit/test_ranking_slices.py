"""Slices of a ranking audit: the numbers of `analyze ranking` on the same answers, and controls."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from fairscreen import resources
from fairscreen.analyze_ranking import analyze_ranking
from fairscreen.audits import ranking_rows, ranking_slices
from fairscreen.config import load
from fairscreen.tables import ddl_columns

LABELS = ("Male", "Female", "none")
QUICK = ("estimation.published_draws=999", "estimation.swaps=199")
N = 30


def config(*overrides: str):
    return load(resources.path("conf", "audits", "ranking.yml"), [*QUICK, *overrides])


def answers(runs: int = 1, silent: int = 0) -> pd.DataFrame:
    """Long: one row per resume, level, version (controls included) and replicate."""
    rng = np.random.Generator(np.random.PCG64(11))
    rows = []
    for i in range(N):
        quality = rng.normal()
        for level in (10, 100):
            words = int((40 if level == 10 else 300) + 10 * rng.random())
            for version in (*LABELS, "a", "b", "again"):
                for n in range(runs):
                    shift = {"Female": 0.5, "b": 0.1}.get(version, 0.0)
                    score = float(np.clip(np.rint(6 + quality + shift + rng.normal(0, 0.8)), 0, 10))
                    rows.append({
                        "resume_id": f"r{i:02}", "industry": ("FINANCE", "CARE")[i % 2],
                        "information": level, "words": words, "flagged": i % 5 == 0,
                        "version": version, "replicate": n, "score": score,
                    })  # fmt: skip
    frame = pd.DataFrame(rows)
    gone = frame.index[frame.version == "Female"][:silent]
    frame.loc[gone, "score"] = np.nan
    return frame


def sets(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `audits.ranking.rank_sets`, made in pandas."""
    keys = ["resume_id", "industry", "information", "words", "flagged"]
    rows = []
    for key, part in frame.groupby(keys):
        by = {v: np.sort(g.score.dropna().to_numpy()) for v, g in part.groupby("version")}
        rows.append({
            **dict(zip(keys, key, strict=True)), "versions": [by[v] for v in LABELS],
            "placebos": [by["a"], by["b"]], "again": by["again"], "again_of": 0,
            "control": int(str(key[0])[1:]) < 12,
        })  # fmt: skip
    return pd.DataFrame(rows).sort_values(["resume_id", "information"], ignore_index=True)


def slices(frame: pd.DataFrame, cfg) -> list[dict]:
    asked, found = ranking_slices.Asked.of(cfg), []
    wide = sets(frame)
    places = {
        "all": lambda r: "all",
        "industry": lambda r: f"industry={r.industry}",
        "information": lambda r: f"information={r.information}",
        "industry; information": lambda r: f"industry={r.industry}; information={r.information}",
    }
    for kind, name_of in places.items():
        for name, part in wide.groupby(wide.apply(name_of, axis=1)):
            told = ranking_slices.analyse(
                part.reset_index(drop=True), asked, name=str(name), kind=kind
            )
            found.append({"model": "m", "slice": str(name), "kind": kind, **told})
    return found


@pytest.mark.parametrize(("runs", "silent"), [(1, 0), (3, 5)])
def test_the_audit_says_what_analyze_says_of_the_same_answers(runs: int, silent: int) -> None:
    cfg, frame = config(), answers(runs, silent)
    context = ranking_rows.Context(cfg, "h", "{}")
    rows, notes = ranking_rows.estimates(context, slices(frame, cfg))
    main = frame[frame.version.isin(LABELS)]
    beside = analyze_ranking(
        main, item=["resume_id"], version="version", favored="Male", other="Female",
        neutral="none", score="score", words="words", slices=["industry", "information"],
        margin=cfg.estimation.equivalence_margin, draws=999, swaps=199, seed=cfg.seed,
    )  # fmt: skip
    key = ["slice", "estimand", "method"]
    columns = [c for c in beside["rows"][0] if c not in key]
    mine = pd.DataFrame([r for r in rows if r["design"] == "ranking"])
    mine = mine[[*key, *columns]].sort_values(key, ignore_index=True)
    theirs = pd.DataFrame(beside["rows"])
    # The published tests are made by industry and pooled.
    published = theirs.method.eq("pooled_permutation_published")
    theirs = theirs[~(published & theirs.slice.str.contains("information="))]
    theirs = theirs[[*key, *columns]].sort_values(key, ignore_index=True)
    pd.testing.assert_frame_equal(mine, theirs, check_exact=True)
    assert len(mine) > 100
    (said,) = (n for n in beside["notes"] if n.startswith("Bonferroni"))
    assert notes[0].split(":")[0] == said.split(":")[0]


def test_controls_are_read_beside_the_gap_on_the_same_resumes() -> None:
    cfg, frame = config(), answers()
    context = ranking_rows.Context(cfg, "h", "{}")
    rows, _ = ranking_rows.estimates(context, slices(frame, cfg))
    controls = pd.DataFrame([r for r in rows if r["design"] == "placebo"])
    assert set(controls.slice) == {
        f"{where}control={kind}"
        for kind in ("placebo_label", "placebo_repeat")
        for where in ("", "industry=FINANCE; ", "industry=CARE; ")
    }
    assert controls.family.isna().all()
    wide = sets(frame)
    wide = wide[wide.control]
    score = np.array([[v[0] for v in row] for row in wide.versions])
    pair = np.array([[v[0] for v in row] for row in wide.placebos])

    def gap(y: np.ndarray) -> np.ndarray:
        ranked = pd.DataFrame(y).rank(axis=1, ascending=False).to_numpy()
        return ranked[:, 0] - ranked[:, 1]

    main, placebo = gap(score), gap(np.column_stack([pair, score[:, 2]]))
    by = controls[controls.slice == "control=placebo_label"].set_index(["estimand", "method"])
    assert by.loc[("rank_gap", "sign_flip_exact"), "estimate"] == pytest.approx(placebo.mean())
    minus = by.loc[("rank_gap_minus_control", "sign_flip_exact")]
    assert minus["estimate"] == pytest.approx((main - placebo).mean())
    assert minus["n"] == len(wide)
    assert minus["favors_when_positive"] == "Female"


def test_incomplete_sets_are_counted_by_group_and_never_ranked() -> None:
    cfg, frame = config(), answers(silent=5)
    found = slices(frame, cfg)
    (note,) = ranking_rows.set_notes(found)
    assert note.startswith("m: 5 of 60 rank sets lack the score of a version (Female 5)")
    assert "By industry: CARE 2 of 30, FINANCE 3 of 30." in note
    rows = ranking_rows.diagnostics(ranking_rows.Context(cfg, "h", "{}"), found)
    pooled = {r["name"]: r["value"] for r in rows if r["slice"] == "all"}
    assert pooled == {"complete": 55.0, "incomplete": 5.0, "resumes": 30.0, "lacks_Female": 5.0}


def test_more_labels_than_two_are_compared_in_pairs_and_ranked_together() -> None:
    cfg = config("labels.labels=[Male, Female, Nonbinary]", "labels.none=false")
    assert list(cfg.pairs) == ["male_vs_female", "male_vs_nonbinary"]
    asked = ranking_slices.Asked.of(cfg)
    frame = sets(answers())
    frame["versions"] = [[v[2], v[0], v[1]] for v in frame["versions"]]
    told = ranking_slices.analyse(frame, asked, name="all", kind="all")
    score = np.array([[v[0] for v in row] for row in frame.versions])
    ranked = pd.DataFrame(score).rank(axis=1, ascending=False).to_numpy()
    for contrast, other in (("male_vs_female", 1), ("male_vs_nonbinary", 2)):
        (row,) = (
            r for extra, r in told["rows"][contrast]
            if (r["estimand"], r["method"], extra) == ("rank_gap", "sign_flip_exact", {})
        )  # fmt: skip
        assert row["estimate"] == pytest.approx((ranked[:, 0] - ranked[:, other]).mean())
    assert not any(extra for extra, _ in told["rows"]["male_vs_female"])  # no terciles


def test_what_a_worker_tells_survives_json_and_fits_the_table() -> None:
    cfg, frame = config(), answers(runs=2, silent=3)
    parts = slices(frame, cfg)
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts
    rows, _ = ranking_rows.estimates(ranking_rows.Context(cfg, "h", "{}"), parts)
    types = ddl_columns("estimates")
    python = {"STRING": str, "DOUBLE": float, "BIGINT": int}
    for row in rows:
        assert set(row) == set(types)
        for name, value in row.items():
            assert value is None or type(value) is python[types[name]], (name, value)
    keys = ("design", "model", "contrast", "slice", "estimand", "method")
    assert len({tuple(row[k] for k in keys) for row in rows}) == len(rows)
