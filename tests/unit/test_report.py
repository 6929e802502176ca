"""The report on made-up rows: escaping, completeness, reasons in place of numbers, no network."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from html.parser import HTMLParser

import pandas as pd
import pytest

import small_audit
from fairscreen import resources
from fairscreen.config import load
from fairscreen.estimators.rescoring import BY_CONSTRUCTION
from fairscreen.reporting import narrative, plots
from fairscreen.reporting.export import to_csv
from fairscreen.reporting.report import ModelFacts, ReportData, Sample, render_report

NASTY = "<script>alert('x')</script> & \"O'Neil\""


def report_data(**changes) -> ReportData:
    tables = small_audit.people()
    people = pd.DataFrame(tables["applicants"])
    population = people.groupby(["job", "gender", "race", "edu_group"]).size()
    outcomes = [
        {"model": "minilm", "job": "registered_nurses", "gender": g, "race": "white", "asked": 2,
         "ok": 2 - refused, "refused": refused, "unparseable": 0, "failed": 0, "mean_score": mean}
        for g, refused, mean in (("female", 0, 51.23), ("male", 2, None))
    ]  # fmt: skip
    data = ReportData(
        cfg=load(resources.path("conf", "audits", "demo.yml")),
        generated_at=dt.datetime(2026, 3, 22, 9, 30, tzinfo=dt.UTC), package_version="0.1.0",
        population=population.rename("n").reset_index(),
        exclusions=pd.DataFrame([
            {"job": "registered_nurses", "reason": "included", "people": 71, "weighted": 7001},
            {"job": "registered_nurses", "reason": "below_high_school", "people": 3,
             "weighted": 299},
        ]),
        outcomes=pd.DataFrame(outcomes), estimates=pd.DataFrame(small_audit.estimates()),
        overlap=pd.DataFrame(small_audit.overlap()),
        patterns=pd.DataFrame(small_audit.patterns()),
        sources=pd.DataFrame([
            {"kind": "acs", "file": "five_jobs.zip", "member": "psam_p.csv", "row_count": 100,
             "sha256": "ab" * 32, "synthetic": False},
            {"kind": "psid", "file": "psid_synthetic.zip", "member": None, "row_count": 10,
             "sha256": "cd" * 32, "synthetic": True},
        ]),
        input_versions={"scores": 7, "applicants": 3},
        models={"minilm": ModelFacts("embedding", simulated=False, version="ef" * 32)},
        samples=(
            Sample("minilm", "registered_nurses", "a1", "12" * 16, "Wanted: a nurse",
                   f"{NASTY}\nRegistered Nurse", "51.2500", "ok", 51.25),
        ),
        mlflow_runs={"minilm": "run123"}, mlflow_command="mlflow ui --backend-store-uri sqlite:///x",
        notes=(f"about {NASTY}",),
    )  # fmt: skip
    return replace(data, **changes)


@pytest.fixture(scope="module")
def html() -> str:
    return render_report(report_data())


class _Page(HTMLParser):
    """Tags and attributes, and whether every element is closed in its order."""

    VOID = ("meta", "br", "hr", "img", "link", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")


def _text(html: str) -> str:
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_the_page_is_well_formed_and_loads_nothing(html):
    page = _Page(html)
    assert page.faults == []
    assert page.open == []
    assert not any(tag in ("script", "link", "iframe", "object", "img") for tag, _ in page.tags)
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "srcset", "data", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), (tag, name, value)
    assert "url(" not in html
    assert "@import" not in html
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    targets = {a["href"][1:] for tag, a in page.tags if tag == "a"}
    assert targets <= set(ids)


def test_what_comes_from_data_is_escaped(html):
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 2  # in the resume and in the note
    nasty = small_audit.estimates()
    for row in nasty:
        row.update(slice=NASTY, reason=NASTY, title=NASTY, method=NASTY, favors_when_positive=NASTY)
    page = render_report(report_data(estimates=pd.DataFrame(nasty), models={NASTY: ModelFacts(
        NASTY, simulated=True, version=NASTY)}))  # fmt: skip
    assert "<script" not in page
    assert _Page(page).faults == []


def test_every_estimate_is_shown_or_its_reason_is(html):
    rows = small_audit.estimates()
    assert {r["status"] for r in rows} == {"ok", "not_computable"}
    for row in rows:
        if row["estimate"] is not None:
            assert f'title="{row["estimate"]!r}"' in html
    missing = [r for r in rows if r["estimate"] is None]
    shown = re.findall(r'<td class="none" colspan="7">not computable: ([^<]*)</td>', html)
    assert shown == ["effective n below 30"] * len(missing)
    assert {r["method"] for r in rows} >= {"tost", "eif_clip_0.01", "log_ratio", "local_law_144"}
    assert "selection rate: female</td>" in html  # a group's row stands under its job
    panels = re.findall(r'<text [^>]*class="missing">not computable</text>', html)
    assert len(panels) == len(missing)
    assert ">nan<" not in html.lower()
    assert ">None<" not in html


def test_the_summary_tells_a_lawyer_what_was_found(html):
    text = _text(html)
    summary = text[text.index("What was found") : text.index("What this does not show")]
    pooled = "points, its sign favoring men (95% interval \u22120.08 to +2.28). The interval covers"
    assert f"Total effect (TE): +1.10 {pooled} zero" in summary
    assert "This is no measure of direct discrimination" in summary
    assert "its sign favoring Black and Asian or Pacific Islander applicants" in summary
    assert "RIE): +0.90 points, in favor of men" in summary
    assert "A value above zero favors men , below zero women ." in summary
    assert "impact ratio is 0.74 (Registered Nurse, women less often)" in summary
    assert "below four fifths in 2 of 2" in summary  # by job; pooled mixes jobs
    limits = text[text.index("What this does not show") : text.index("Notes of this run")]
    assert "An interval that covers zero does not show that there is no effect." in limits
    assert "They do not say how gender or race causes education" in limits
    assert "no measure of direct discrimination" in limits


def test_provenance_names_versions_hashes_and_runs(html):
    cfg = report_data().cfg
    text = _text(html)
    for part in (cfg.hash(), str(cfg.seed), "ab" * 32, "cd" * 32, "ef" * 32, "12" * 16, "run123",
                 "scores 7", "applicants 3", "mlflow ui --backend-store-uri", "7,001"):  # fmt: skip
        assert part in text, part


def test_made_up_input_and_simulated_screeners_are_loud(html):
    assert "SYNTHETIC INPUT: PSID (psid_synthetic.zip)" in html
    assert "SIMULATED" not in html
    real = report_data().sources.query("not synthetic")
    page = render_report(
        report_data(sources=real, models={"minilm": ModelFacts("planted", simulated=True)})
    )
    assert "SIMULATED SCREENER: minilm" in page
    assert "SYNTHETIC INPUT" not in page


def test_an_audit_without_results_still_has_a_report():
    empty = {
        name: getattr(report_data(), name).iloc[:0]
        for name in ("population", "exclusions", "outcomes", "estimates", "overlap", "patterns")
    }
    page = render_report(report_data(**empty, samples=()))
    assert "No effect was estimated." in page
    assert _Page(page).faults == []


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 3.0, "The interval excludes zero."),
        (0.2, 0.9, "The interval excludes zero. It lies within \u00b11 points, which this audit "
         "calls negligible."),
        (-0.2, 0.9, "The interval covers zero. It lies within \u00b11 points, which this audit "
         "calls negligible."),
        (-0.2, 1.4, "The interval covers zero: an effect is not shown, and effects of either sign "
         "up to its ends are not ruled out."),
        (None, None, "Without an interval it says little."),
    ],
)  # fmt: skip
def test_reading_of_an_interval(low, high, expected):
    cfg = report_data().cfg
    assert narrative.reading(cfg, {"ci_low": low, "ci_high": high}) == expected


@pytest.mark.parametrize(
    ("ratio", "keeps"), [(0.8, True), (0.79, False), (1.25, True), (1.26, False), (0.0, False)]
)
def test_four_fifths_holds_whichever_group_is_above(ratio, keeps):
    assert narrative.four_fifths(ratio) is keeps


def test_numbers_carry_their_sign_and_a_zero_none():
    assert [plots.signed(v) for v in (1.2, -0.404, 0.001, -0.001)] == [
        "+1.20", "\u22120.40", "0.00", "0.00",
    ]  # fmt: skip


@pytest.mark.parametrize(("low", "high"), [(-1, 1), (-0.013, 0.9), (-250, 40), (0.0, 1e-3)])
def test_ticks_are_few_round_and_inside(low, high):
    found = plots.ticks(low, high)
    assert 2 <= len(found) <= 7
    assert all(low - 1e-9 <= t <= high + 1e-9 for t in found)


def test_forest_places_estimates_on_their_scale():
    rows = [
        plots.ForestRow("Nurse", 1.0, 0.5, 1.5, "ok", None, pooled=False),
        plots.ForestRow("All jobs", -2.0, -3.0, 1.0, "flagged", "clip moves it", pooled=True),
    ]
    svg = str(
        plots.forest("T", rows, scale=(-4, 4), margin=1, favors_right="men", favors_left="women")
    )
    middle, unit = (plots.LEFT + plots.RIGHT) / 2, (plots.RIGHT - plots.LEFT) / 8
    assert f'cx="{middle + unit:.1f}"' in svg
    assert f'x1="{middle - 3 * unit:.1f}" x2="{middle + unit:.1f}"' in svg
    assert svg.count('fill="#fff"') == 1  # only the pooled interval covers zero
    assert "favors women" in svg
    assert "favors men" in svg


def test_csv_neutralises_formulas_and_leaves_numbers():
    frame = pd.DataFrame({"=name": ["=1+1", "@x", "-a", "fine", None], "value": [-1.5, 2, 3, 4, 5]})
    assert to_csv(frame).splitlines() == [
        "'=name,value", "'=1+1,-1.5", "'@x,2.0", "'-a,3.0", "fine,4.0", ",5.0",
    ]  # fmt: skip


def test_the_order_of_rows_in_the_tables_does_not_matter(html):
    data = report_data()
    shuffled = {
        name: getattr(data, name).sample(frac=1, random_state=5)
        for name in ("outcomes", "estimates", "overlap", "patterns")
    }
    assert render_report(replace(data, **shuffled)) == html


def test_clip_levels_stand_beside_the_headline(html):
    data = report_data()
    rows = pd.DataFrame(small_audit.estimates())
    one = rows[(rows.method == "eif_clip_0.01") & (rows.estimand == "RIE")].iloc[0]
    assert f'title="{float(one.estimate)!r}"' in html
    without = rows[~rows.method.str.startswith("eif_clip")]
    assert "at other clip levels" in html
    assert "at other clip levels" not in render_report(replace(data, estimates=without))


@pytest.mark.parametrize(("reason", "plain"), [
    (
        "overlap: E_W:Y effective n 4.8 < 30, one unit holds 37.1% > 10.0% of the weight; "
        "E_B:mu3 effective n 11.9 < 30",
        "too few comparable applicants: the number rests on the equivalent of 4.8 of them, "
        "30 are asked for",
    ),
    (
        "overlap: E_W:Y one unit holds 16.5% > 10.0% of the weight; E_R:Y one unit holds "
        "15.0% > 10.0% of the weight",
        "too few comparable applicants: one of them alone would carry 16.5% of the weight, "
        "10.0% is the most allowed",
    ),
    ("overlap: E_W:Y mean weight 0.09 where 1 is due",
     "too few comparable applicants in the two groups"),
])  # fmt: skip
def test_an_overlap_reason_in_plain_words(reason: str, plain: str) -> None:
    assert narrative.plain_reason(reason) == plain


def test_the_impact_ratio_told_is_one_within_jobs() -> None:
    row = {"method": "four_fifths", "contrast": "male_vs_female"}
    rows = [{**row, "slice": "all", "estimate": 0.47}]
    rows += [{**row, "slice": f"job={j}", "estimate": v} for j, v in (("a", 0.9), ("b", 0.85))]
    cfg = load(resources.path("conf", "audits", "demo.yml"))
    text = narrative.ratio_sentence(cfg, rows)
    assert "0.85" in text
    assert "0.47" not in text
    assert "none of 2" in text


def test_a_ratio_of_too_few_people_is_counted_and_never_told() -> None:
    row = {"method": "four_fifths", "contrast": "white_vs_rest"}
    few = "below_four_fifths; fewer_than_30_in_a_group"
    rows = [
        {**row, "slice": "job=a", "estimate": 0.0, "reason": few},
        {**row, "slice": "job=b", "estimate": 0.85, "reason": None},
        {**row, "slice": "job=c", "estimate": 0.7, "reason": "below_four_fifths"},
        {**row, "slice": "all", "estimate": 0.1, "reason": few},
    ]
    cfg = load(resources.path("conf", "audits", "demo.yml"))
    assert narrative.ratio_sentence(cfg, rows) == (
        "Share scored above the median: the lowest impact ratio is 0.70 (c); below four fifths in "
        "1 of 2: c. Not told for 1 slice with too few people in a group."
    )
    rows[1]["reason"] = rows[2]["reason"] = few
    assert narrative.ratio_sentence(cfg, rows) == (
        "Share scored above the median: no impact ratio can be told. Not told for 3 slices with "
        "too few people in a group."
    )


@pytest.fixture(scope="module")
def rescored() -> str:
    """The same report of an audit that rescores: rescoring is 0.25 points above the estimate."""
    rows = small_audit.estimates()
    more = []
    for r in [r for r in rows if r["method"] == "eif"]:
        value = 0.25 if r["estimate"] is None else r["estimate"] + 0.25
        told = {"estimate": value, "std_error": 0.05, "ci_low": value - 0.1, "p_value": 0.01,
                "ci_high": value + 0.1, "status": "ok", "reason": None}  # fmt: skip
        if r["estimand"] == "NDE":
            blank = dict.fromkeys(("std_error", "ci_low", "ci_high", "p_value", "p_holm"))
            told |= blank | {"estimate": 0.0, "reason": BY_CONSTRUCTION, "title": "Past mediators"}
        more.append(r | told | {"method": "rescoring"})
        gap = {"estimate": -0.25, "ci_low": -1.25, "ci_high": 0.75, "p_value": 0.6}
        gone = dict.fromkeys(("p_holm", "p_bh", "p_maxt", "family"))
        if r["estimate"] is not None:
            more.append(r | gone | gap | {"method": "observational_minus_rescoring"})
        else:
            more.append(r | {"method": "observational_minus_rescoring"})
        r |= gone
        if r["estimand"] == "TE":
            wald = {"estimand": "agreement", "method": "wald", "estimate": 7.7, "p_value": 0.0009,
                    "reason": "chi-squared of NDE, BIE, RIE; degrees of freedom: 3"}  # fmt: skip
            more.append(r | wald)
            more.append(r | wald | {"method": "wald_ungrouped", "estimate": 1.5, "p_value": 0.68})
    placebo = next(r for r in more if r["slice"] == "all" and r["estimand"] == "TE")
    for what in ("placebo_repeat", "placebo_name"):
        for method, value in (
            ("rescoring", 0.125),
            ("rescoring_sign_flip", 0.125),
            ("share_differ", 0.4),
            ("mean_absolute", 1.5),
            ("sd", 2.5),
        ):
            own = {"design": "placebo", "attribute": "none", "contrast": "placebo",
                   "estimand": what, "method": method, "estimate": value}  # fmt: skip
            more.append(placebo | own)
    cfg = load(resources.path("conf", "audits", "demo.yml"), ["estimation.approach=both"])
    return render_report(report_data(cfg=cfg, estimates=pd.DataFrame(rows + more)))


def test_rescoring_leads_and_the_observational_estimate_stands_beside_it(rescored):
    page, text = _Page(rescored), _text(rescored)
    assert page.faults == []
    assert page.open == []
    assert "method rescoring; positive favors men" in text
    summary = text[text.index("What was found") : text.index("What this does not show")]
    # Pooled: the observational TE is 1.1.
    assert "Total effect (TE): +1.35 points, in favor of men" in summary
    assert "Past mediators (NDE): 0 by construction, so it is not tested" in summary
    assert "The observational estimate differs from rescoring: TE by \u22120.25" in summary
    assert "Together they are not chance (Wald test, p &lt;0.001)" in summary
    assert "bias of grouping" in summary
    compared = text[text.index("side by side") :]
    compared = compared[: compared.index("What an outcome audit would show")]
    assert "+1.35" in compared
    assert "+1.10" in compared
    assert "not computable: effective n below 30" in compared
    assert (
        "Wald test of agreement chi-squared of NDE, BIE, RIE; degrees of freedom: 3: 7.70 &lt;0.001"
        in compared
    )
    # The estimator itself is tested with ungrouped mediators.
    assert "The same, mediators ungrouped chi-squared of NDE, BIE, RIE" in compared
    assert "With ungrouped mediators the observational estimate agrees with rescoring" in summary
    assert "effective n 7.5" not in text[text.index("Overlap of the groups") :]


def test_placebos_have_a_section_of_their_own_and_are_no_comparison(rescored, html):
    text = _text(rescored)
    part = text[
        text.index("Placebos: what the screener does") : text.index("What the effects mean")
    ]
    assert "the same resume, asked a second time (minilm, text) All jobs, pooled +0.12" in part
    assert "another name of the same gender, race and birth year" in part
    assert "40.0%" in part
    assert "contrast placebo" not in text
    assert "Placebos: what the screener does" not in _text(html)


def test_differences_between_models_stand_apart_from_their_effects(html) -> None:
    assert 'id="differences"' not in html  # one model: nothing to compare
    told = [*small_audit.estimates(), *small_audit.comparisons()]
    page = render_report(report_data(estimates=pd.DataFrame(told)))
    before, _, section = page.partition('<h2 id="differences">')
    section = section.partition("<h2")[0]
    assert "minilm minus other" not in before.partition("<main>")[2]
    text = _text(section)
    assert "minilm minus other (text; men against women)" in text
    assert "1 of 2 computable differences stay significant after Holm&#39;s correction (RIE" in text
    assert "A value above zero: minilm favors men more than other does." in text
    verdicts = re.findall(r'<span class="chip [a-z_]+">([a-z ]+)</span></td></tr>', section)
    assert verdicts == ["not computable", "negligible", "differ"]  # NDE, BIE, RIE
    assert f"not computable: {small_audit.THIN.replace('_', ' ')}" in text
    assert "NDE BIE RIE differences of models pooled" in page


def test_diagnostics_are_shown_in_short(html) -> None:
    assert "Other diagnostics" not in html
    row = {
        "model": "minilm", "contrast": "male_vs_female", "document_format": "text", "slice": "all",
        "largest_imbalance": 0.1234, "largest_imbalance_at": "E_W:Y/region",
        "imbalances_above_0_1": 1, "clip_moves_errors": None, "clip_moves_at": None,
        "split_sd_errors": 0.3, "least_skill": -0.01, "least_skill_of": "e_rz",
    }  # fmt: skip
    page = render_report(report_data(diagnostics=pd.DataFrame([row])))
    section = page.partition("Other diagnostics, in short")[2].partition("</details>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", section)
    assert cells == ["All jobs, pooled", "0.123", "E_W:Y/region", "1", "", "", "0.30",
                     "\u22120.010", "e_rz"]  # fmt: skip
    assert page.count("Other diagnostics, in short") == 1  # the other contrast has none


def test_patterns_are_counted_beside_the_published_counts(html) -> None:
    assert 'id="patterns"' not in html
    count = {"audit_id": "small", "title": "Only through proxies", "pattern": 4, "cases": 10}
    rows = [
        count | {"rule": "published", "yes": 3, "no": 5, "undecided": 0, "not_computable": 2},
        count | {"rule": "adjusted", "yes": 1, "no": 4, "undecided": 3, "not_computable": 2},
    ]
    page = render_report(report_data(pattern_counts=pd.DataFrame(rows)))
    section = page.partition('<h2 id="patterns">')[2].partition("</table>")[0]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", section) == [
        "4. Only through proxies", "3 of 10", "2", "1 of 10", "4", "3", "2", "6 of 120"
    ]  # fmt: skip
