"""The report of a ranking audit on made-up answers: plain words, reasons, escaping, no network."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

import pandas as pd
import pytest
from test_ranking_slices import answers, config, slices

from fairscreen.audits import ranking_rows
from fairscreen.reporting.data import ModelFacts, Sample
from fairscreen.reporting.ranking import RankingReport, render_ranking, slice_words

NASTY = "<script>alert('x')</script> & \"O'Neil\""


def report(frame: pd.DataFrame, *overrides: str, **changes) -> str:
    cfg = config(*overrides)
    context = ranking_rows.Context(cfg, "h", "{}")
    rows, notes = ranking_rows.estimates(context, slices(frame, cfg))
    outcome = {"asked": 60, "ok": 58, "refused": 2, "unparseable": 0, "failed": 0}
    data = RankingReport(
        cfg=cfg, generated_at=dt.datetime(2026, 3, 22, 9, 30, tzinfo=dt.UTC),
        package_version="0.1.0", estimates=pd.DataFrame(rows),
        outcomes=pd.DataFrame([
            {"model": "m", "industry": "CARE", "kind": "label", "version": "Male",
             "mean_score": 6.25, **outcome},
            {"model": "m", "industry": NASTY, "kind": "none", "version": "none",
             "mean_score": None, **outcome},
        ]),
        rollup=pd.DataFrame([{
            "model": "m", "contrast": "male_vs_female", "information": "all", "industries": 2,
            "level_significant": 1, "level_significant_published": 2, "spread_significant": 0,
            "spread_significant_published": 0, "below_four_fifths": 1,
            "below_four_fifths_other": 0, "rank_gap": 0.4, "slope": None, "slope_p_value": None,
            "mean_fixed_effect": None,
        }]),
        documents=pd.DataFrame([
            {"industry": i, "resumes": 15, "documents": 90, "median_words": 301, "flagged": 3}
            for i in ("CARE", "FINANCE")
        ]),
        sources=pd.DataFrame([{
            "kind": "corpus", "file": "resumes.csv", "member": None, "row_count": 30,
            "sha256": "ab" * 32, "synthetic": True,
        }]),
        input_versions={"scores": 7}, models={"m": ModelFacts("chat", simulated=False)},
        samples=(Sample("m", "CARE", "r1", "12" * 16, "Nurse", f"Gender: Male;\n{NASTY}",
                        '{"Score": 7}', "ok", 7.0),),
        notes=(*notes, f"about {NASTY}"),
    )  # fmt: skip
    return render_ranking(replace(data, **changes))


@pytest.fixture(scope="module")
def page() -> str:
    return report(answers())


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_what_was_found_is_said_in_words(page: str) -> None:
    shown = text(page)
    for part in (
        "Level: with the label Female the same resume is ranked", "places better on average",
        "Spread: the variance of ranks under Male", "Impact ratio of Male:",
        "Information, the part called statistical", "Information, the part called taste-based",
        "the gap at one word, outside the data", "no proof of taste",
        "Control: the labels Blue and Green", "On these resumes the gap minus that is",
        "SYNTHETIC INPUT: CORPUS (resumes.csv)", "labels without meaning", "one label asked twice",
        "low neutral score", "10% of the text", "pooled permutation published",
    ):  # fmt: skip
        assert part in shown
    assert "SIMULATED" not in shown


def test_data_is_escaped_and_nothing_is_loaded(page: str) -> None:
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 3
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!#)', page)


def test_what_cannot_be_computed_has_its_reason() -> None:
    silent = answers()
    silent["score"] = silent["score"].where(silent.version != "Female")
    shown = text(report(silent))
    assert "Level: not computable, no complete set: no set has a score of every version." in shown
    assert "Impact ratio: not computable" in shown
    same = answers()
    same["score"] = 7.0
    shown = text(report(same))
    assert "Level: both labels are ranked alike on average" in shown
    assert "Spread: not computable, no spread" in shown


def test_a_gap_that_is_not_shown_is_not_called_none() -> None:
    flat = answers()
    men = flat[flat.version == "Male"].score
    flat.loc[flat.version == "Female", "score"] = men.sample(frac=1, random_state=4).to_numpy()
    shown = text(report(flat, "estimation.equivalence_margin=0.01"))
    assert "A gap is not shown, which is not the same as none." in shown
    wide = text(report(flat, "estimation.equivalence_margin=1.9"))
    assert "It is shown to be within ±1.9 ranks, which counts as negligible." in wide


def test_slices_in_words() -> None:
    assert slice_words("industry=A B; information=40") == "A B, 40% of the text"
    assert slice_words("industry=A; cues=none") == "A, no cue found"
    assert slice_words("all") == "All, pooled"
