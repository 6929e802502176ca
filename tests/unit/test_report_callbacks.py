"""The report of paired callbacks on made-up answers: words, reasons, escaping, no network."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from html import unescape

import pandas as pd
import pytest

from callback_frames import NASTY, Frames, frames
from callback_tables import Planted
from fairscreen.audits.callback_panel import panel_of
from fairscreen.reporting import callbacks
from fairscreen.reporting.callbacks import CallbackReport, render_callbacks
from fairscreen.reporting.data import ModelFacts, Sample

MODELS = {
    "first": Planted(race=0.3, gender=0.05, silent=(0.02, 0.1)),
    "second": Planted(race=0.1, gender=-0.2),
    "third": Planted(race=-0.02),
    "fourth": Planted(race=-0.25, gender=-0.1),
    "fifth": Planted(race=0.02),
    "undated": Planted(),
    "silent": Planted(silent=(1.0, 1.0)),
}
PANEL = (
    "panel={first: {released: 2023-05, family: Minis}, second: {released: 2024-07, family: Minis},"
    " third: {released: 2024-07}, fourth: {released: 2025-08},"
    " fifth: {released: 2026-03}}"
)
QUICK = (
    "estimation.draws=99", "estimation.permutations=99",
    "estimation.slices=[within, company, industry]", "estimation.min_postings=2",
)  # fmt: skip
NAMES = pd.DataFrame([
    {"kind": "first", "race": "white", "gender": "female", "name": "Emily", "source": "A 2004",
     "signal": "gender", "share": 0.99, "bearers": 9_000, "weak": False, "used": True,
     "mother_education": 13.5, "cohort": 1981.0, "reason": None},
    {"kind": "first", "race": "black", "gender": "male", "name": NASTY, "source": None,
     "signal": "gender", "share": 0.61, "bearers": 812, "weak": True, "used": True,
     "mother_education": None, "cohort": None, "reason": None},
    {"kind": "surname", "race": "black", "gender": "none", "name": "Xyz", "source": None,
     "signal": "race", "share": None, "bearers": None, "weak": None, "used": False,
     "mother_education": None, "cohort": None, "reason": "not_in_the_census"},
])  # fmt: skip


def report(given: Frames, **changes) -> CallbackReport:
    cfg = given.cfg
    data = CallbackReport(
        cfg=cfg, generated_at=dt.datetime(2026, 3, 22, 9, 30, tzinfo=dt.UTC),
        package_version="0.1.0", estimates=given.estimates, outcomes=given.outcomes,
        sources=pd.DataFrame([{
            "kind": "postings", "file": "postings.csv", "member": None, "row_count": 90,
            "sha256": "ab" * 32, "synthetic": False,
        }]),
        input_versions={"scores": 7},
        models={m: ModelFacts("planted_callbacks", simulated=True) for m in cfg.scoring.models},
        samples=(Sample("first", "Retail", "p1/0", "12" * 16, f"Company: {NASTY}",
                        '{"name": "Emily Baker"}', "Yes.", "ok", 1.0),),
        notes=(*given.notes, f"about {NASTY}"), names=NAMES, pairs=given.pairs,
        postings={"rows": 90, "not_entry_level": 8, "missing": {"metro": 2}, "complete": 80},
        made_up=pd.DataFrame([{"columns": "company,metro", "postings": 41}]),
        members={m: (x.released, x.family) for m, x in panel_of(cfg).items()},
        prompts={"callback_yes_no": f"Say yes or no. {NASTY}"},
    )  # fmt: skip
    return replace(data, **changes)


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Frames:
    return frames(tmp_path_factory.mktemp("report"), MODELS, *QUICK, PANEL, postings=50)


@pytest.fixture(scope="module")
def page(given: Frames) -> str:
    return render_callbacks(report(given))


def text(html: str) -> str:
    shown = re.sub(r"<style>.*?</style>|<[^>]+>", " ", html, flags=re.S)
    return re.sub(r"\s+", " ", unescape(shown))


def test_what_was_found_is_said_in_words(page: str) -> None:
    shown = text(page)
    for part in (
        "allows for other postings and other names of the same kind",
        "the one for these names allows for other postings only",
        "Over release dates the gap changes by", "; without single models by ",
        "Change per year without one model: first ", "Largest: first, +",
        "take pairs of one posting for independent", "Placebo: two names of one race and gender",
        "Bertrand & Mullainathan 2004", "leaving one name out moves the gap between",
        "Callback ratio, black over white:", "black below four fifths", "white below four fifths",
        "second minus first", "race and gender", "Least gap that the silent answers allow",
        "Gap where silence counts as no", "SYNTHETIC COLUMNS: company, metro of 41 postings",
        "missing: metro 2", "61.0%", "not in the census", "13.50 (1 names)", "Yes.",
        "SIMULATED SCREENER: first, second", "mcnemar midp",
    ):  # fmt: skip
        assert part in shown


def test_data_is_escaped_and_nothing_is_loaded(page: str) -> None:
    assert "<script" not in page
    # The posting, the prompt, a note, a weak name twice, a company of each model and contrast.
    assert page.count("&lt;script&gt;") >= 5 + 2 * 6
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)="(?!#)', page)


def test_nothing_shows_as_none_or_nan(page: str) -> None:
    assert not re.findall(r"\b(?:nan|NaN|None|inf|Undefined)\b", text(page))


def test_what_cannot_be_computed_has_its_reason(page: str) -> None:
    shown = text(page)
    assert "Gap: not computable, no pairs: no pair has an answer to both sides." in shown
    assert shown.count("Not shown: silent (no pairs: no pair has an answer to both sides)") == 2
    # It has no release month.
    assert "undated (no release month)" in shown


def test_numbers_of_the_headline_table_are_those_of_the_estimates(given, page: str) -> None:
    rows = given.estimates.set_index(["model", "contrast", "slice", "estimand", "method"])
    shown = text(page)
    for model in ("first", "second", "third"):
        gap = rows.loc[(model, "race", "all", "callback_gap_pp", "cluster_posting_names")]
        flip = rows.loc[(model, "race", "all", "callback_gap_pp", "sign_flip_posting")]
        cells = page[page.index(f'<td class="name">{model}</td>') :].split("</tr>")[0]
        assert f'title="{float(gap["estimate"])!r}"' in cells
        told = "<0.001" if flip["p_value"] < 0.001 else f"{flip['p_value']:.3f}"
        assert told in unescape(cells)
    lead = given.estimates.query("contrast == 'race' and slice == 'all'")
    sure = lead[lead["method"].eq("sign_flip_posting") & lead["p_holm"].lt(0.05)]
    gaps = sure[sure["estimand"].eq("callback_gap_pp") & sure["design"].eq("paired_callback")]
    up, down = int(gaps["estimate"].gt(0).sum()), int(gaps["estimate"].lt(0).sum())
    assert up >= 1
    assert down >= 1
    assert (
        f"Of 6 models whose gap is computable, {up} favor{'s' * (up == 1)} white and {down} black "
        "after Holm's correction over models" in shown
    )
    table = callbacks.headline(given.estimates)
    assert table["model"].iloc[-1] == "panel"
    assert set(table["model"]) == {*MODELS, "panel"}
    assert not table["slice"].str.contains("name=|company=|without_model").any()
    assert {"callback_gap_pp", "callback_ratio", "gap_correlation"} <= set(table["estimand"])
    assert "95% interval: for these names" in shown


def test_slices_are_the_largest_and_the_significant_ones(tmp_path) -> None:
    many = frames(tmp_path, {"m": Planted(race=0.3)}, *QUICK, postings=20)
    rows = many.estimates
    lead = rows["estimand"].eq("callback_gap_pp") & rows["method"].eq("cluster_posting_names")
    one = rows[lead & rows["slice"].eq("industry=industry 000") & rows["contrast"].eq("race")]
    lines, flips = [], []
    flip = rows["estimand"].eq("callback_gap_pp") & rows["method"].eq("sign_flip_posting")
    two = rows[flip & rows["slice"].eq("industry=industry 000") & rows["contrast"].eq("race")]
    for k in range(60):  # sixty small ones, of which the last alone is significant
        lines.append(one.assign(slice=f"industry=i{k:02}", n=100 - k))
        flips.append(two.assign(slice=f"industry=i{k:02}", p_holm=0.001 if k == 59 else 1.0))
    other = rows[~rows["slice"].str.startswith("industry=")]
    html = render_callbacks(
        report(replace(many, estimates=pd.concat([other, *lines, *flips], ignore_index=True)))
    )
    assert "By industry: 9 of 60 shown, 1 significant after Holm" in text(html)
    assert [f"i{k:02}" for k in range(60) if f"<td>i{k:02}</td>" in html] == [
        *(f"i{k:02}" for k in range(8)), "i59",
    ]  # fmt: skip


def test_a_long_name_of_a_company_is_cut_and_another_like_it_stays_apart(given) -> None:
    """The whole text is in the tables."""
    rows = given.estimates
    one = rows[rows["slice"].eq("all") & rows["contrast"].eq("race") & rows["model"].eq("first")]
    long = [one.assign(slice=f"company={'X' * 5_000}{end}") for end in "ab"]
    other = rows[~rows["slice"].str.startswith("company=")]
    html = render_callbacks(report(replace(given, estimates=pd.concat([other, *long]))))
    assert html.count(f"<td>{'X' * 79}\u2026</td>") == 2
    assert "X" * 80 not in html


def test_the_order_of_rows_does_not_matter_for_what_is_said(given, page: str) -> None:
    shuffled = given.estimates.sample(frac=1, random_state=3).sort_values("model", kind="stable")
    again = render_callbacks(report(replace(given, estimates=shuffled)))
    assert again.split('<h2 id="panel">')[0] == page.split('<h2 id="panel">')[0]
