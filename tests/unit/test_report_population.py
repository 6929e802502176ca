"""The report's section on the population: figures at their place, reasons, the paper beside it."""

from __future__ import annotations

import math
import re
from html import unescape

import pandas as pd
import pytest
from test_report import _Page, _text, report_data

import small_audit
from fairscreen import resources
from fairscreen.config import load
from fairscreen.reporting import narrative, population, population_plots
from fairscreen.reporting.report import render_report

DEMO = resources.path("conf", "audits", "demo.yml")


def fit() -> pd.DataFrame:
    return pd.DataFrame(small_audit.population_fit())


def margins() -> pd.DataFrame:
    """The view population_margins, in pandas."""
    rows = []
    for (job, margin), mine in fit().groupby(["job", "margin"]):
        worst, z = mine.loc[mine["difference"].abs().idxmax()], mine["z"]
        rows.append({
            "job": job, "margin": margin, "cells": len(mine), "largest_at": worst["value"],
            "largest_difference": abs(worst["difference"]),
            "mean_difference": mine["difference"].abs().mean(),
            "cells_with_error": z.count(),
            "share_within_two_errors": (z.abs() <= 2).sum() / z.count() if z.count() else None,
        })  # fmt: skip
    return pd.DataFrame(rows)


def experience() -> pd.DataFrame:
    rows = [("registered_nurses", 30, y, w) for y, w in ((1, 1), (2, 8), (3, 8), (4, 2), (9, 1))]
    rows += [("registered_nurses", 31, 5.5, 2), ("construction_laborers", 44, 20.0, 1)]
    return pd.DataFrame(rows, columns=["job", "age", "exp_year", "weight"])


def page(**changes) -> str:
    shown = {"population_fit": fit(), "population_margins": margins(), "experience": experience()}
    return render_report(report_data(**(shown | changes)))


@pytest.fixture(scope="module")
def html() -> str:
    return page()


def who(html: str) -> str:
    return html[html.index('<h2 id="people">') : html.index('<h2 id="answers">')]


def test_the_section_is_well_formed_and_nothing_shows_as_none_or_nan(html: str) -> None:
    assert _Page(html).faults == []
    assert ">nan<" not in html.lower()
    assert ">None<" not in html
    nasty = "<script>alert(1)</script>"
    rows = fit().assign(job=nasty, value=f"gender={nasty}", reason=nasty)
    assert "<script" not in page(population_fit=rows, population_margins=margins().assign(
        job=nasty, largest_at=nasty, margin=nasty))  # fmt: skip


def test_shares_stand_at_their_place_on_the_scale() -> None:
    rows = [
        population_plots.ShareRow("women", 0.5, 0.05, 0.25, 0.75, opens=True),
        population_plots.ShareRow("men", 0.5, None, 0.75, None),
    ]
    svg = str(population_plots.shares("Nurse", rows))
    left, width = population_plots.LEFT, population_plots.RIGHT - population_plots.LEFT
    assert svg.count(f'<circle cx="{left + width / 2:.1f}"') == 2
    assert f'<circle cx="{left + width / 4:.1f}"' in svg
    low, high = left + 0.4 * width, left + 0.6 * width  # two standard errors
    assert svg.count(f'x1="{low:.1f}" x2="{high:.1f}"') == 1
    assert svg.count('class="drawn"') == 1
    assert f'x1="{left + 0.75 * width:.1f}"' in svg


def test_panels_show_every_group_with_error_bars_where_the_survey_has_errors(html: str) -> None:
    panels = re.findall(r"<figure><figcaption>([^<]*)</figcaption>(.*?)</figure>", who(html))
    assert [title for title, _ in panels] == ["Registered Nurse", "Construction Laborer"] * 2
    nurses, laborers = panels[0][1], panels[1][1]
    for svg in (nurses, laborers):
        assert re.findall(r'class="label">([^<]*)<', svg) == [
            "female", "male", "white", "black", "high school", "bachelor",
        ]  # fmt: skip
    assert nurses.count('stroke-width="2.2"') == 6
    assert laborers.count('stroke-width="2.2"') == 0
    text = _text(who(html))
    assert (
        "No standard errors of the survey's shares: no replicate weights in five_jobs.zip." in text
    )


def test_quantiles_are_weighted() -> None:
    mine = experience().query("age == 30")
    assert population.weighted_quantiles(mine["exp_year"], mine["weight"]) == [2, 3, 4]
    assert population.weighted_quantiles([7.0], [0.3]) == [7, 7, 7]
    assert population.weighted_quantiles([3, 1, 2], [0, 1, 1]) == [1, 1, 2]


def test_experience_lies_on_the_axes() -> None:
    rows = [population_plots.AgeRow(30, 0, 6, 12), population_plots.AgeRow(31, 1, 6, 12)]
    svg = str(population_plots.experience("Nurse", rows, 12))
    middle = (population_plots.FLOOR + 8) / 2
    x = [population_plots.AGES_LEFT + f * 376 for f in (0.25, 0.75)]
    assert f'points="{x[0]:.1f},{middle:.1f} {x[1]:.1f},{middle:.1f}" fill="none"' in svg
    assert f"{x[0]:.1f},{population_plots.FLOOR:.1f}" in svg  # the band begins at 0 years
    assert all(math.isfinite(float(v)) for v in re.findall(r"[\d.]+(?=,)", svg))


def test_exclusions_are_told_in_words_and_shares(html: str) -> None:
    text = unescape(_text(who(html)))
    assert (
        "Of 74 people of these occupations in the survey's files 71 are in (96%); they stand for "
        "7,001 of 7,300 people by the survey's weights (96%). Left out, by the first reason that "
        "applies: 3 of an education that this audit does not take (below high school)."
    ) in text
    assert "71 7,001 (95.9%)" in text
    cfg = load(DEMO)
    assert population.reason_words(cfg, "age") == "outside ages 18 to 44"
    assert "(white, black, asian pacific are taken)" in population.reason_words(cfg, "race")
    assert population.reason_words(cfg, "something_new") == "something new"


def test_the_worst_cells_lead_and_carry_z_or_reason(html: str) -> None:
    text = _text(who(html))
    largest = fit()["difference"].abs().max()
    assert largest == pytest.approx(0.004)
    assert "black (Registered Nurse)" in text or "black (Construction Laborer)" in text
    table = who(html)[who(html).index("largest differences") :]
    rows = re.findall(r'<td class="name">(.*?)</tr>', table)
    assert len(rows) == population.WORST
    shown = [
        abs(float(v)) for r in rows for v in re.findall(r'title="(-?[\d.e-]+)">[+\u2212]', r)[:1]
    ]
    assert shown == sorted(shown, reverse=True)
    assert sum("no replicate weights in five_jobs.zip" in r for r in rows) >= 3
    assert "as in the survey" in text  # education, which nothing moved


def test_the_order_of_rows_does_not_matter(html: str) -> None:
    moved = {
        "population_fit": fit().sample(frac=1, random_state=2),
        "population_margins": margins().sample(frac=1, random_state=3),
        "experience": experience().sample(frac=1, random_state=4),
    }
    assert page(**moved) == html


def test_an_audit_of_an_older_fairscreen_shows_what_it_has() -> None:
    html = render_report(report_data())  # no fit, no experience
    assert _Page(html).faults == []
    assert "How the generator fits" not in html
    assert "Experience by age" not in html
    assert "The paper's population" not in html


def test_the_paper_stands_beside_a_published_audit() -> None:
    cfg = load(
        resources.path("conf", "audits", "published.yml"),
        ["population.jobs={nurses: {title: Nurse, occp: ['3255'], psid_occp: []}, "
         "cooks: {title: Cook, occp: ['4020'], psid_occp: []}}"],
    )  # fmt: skip
    counted = pd.DataFrame(
        [("nurses", "included", 13821, 9), ("cooks", "included", 5, 9), ("nurses", "age", 7, 9)],
        columns=["job", "reason", "people", "weighted"],
    )
    html = render_report(report_data(cfg=cfg, exclusions=counted))
    table = who(html)[who(html).index("The paper's population beside this one") :]
    text = _text(table)
    assert "Registered Nurses 17,632 13,821 78.4%" in text
    assert "Construction Laborers 5,910 not among this audit's jobs" in text
    assert "Together 17,632 13,821 78.4%" in text
    assert "Not in the paper: Cook." in text
    assert "tests/bench/published_population.txt" in text


def test_the_papers_figures_add_up() -> None:
    paper = population.published()
    assert paper.total == sum(people for _, _, people in paper.jobs) == 60_884
    jobs = load(DEMO).population.jobs
    assert [occp for occp, _, _ in paper.jobs] == [job.occp for job in jobs.values()]


def test_the_survey_is_named_with_its_years() -> None:
    rows = [
        {"kind": "acs", "vintage": 2022, "period": 5}, {"kind": "acs", "vintage": 2018},
        {"kind": "psid", "vintage": None},
    ]  # fmt: skip
    named = narrative.survey_name(rows)
    assert named == "the American Community Survey 2018 (1-year file) and 2022 (5-year file)"
    sentence = narrative.population_sentence(load(DEMO), 2000, 5, named)
    assert sentence.startswith(
        "2,000 applicants for 5 jobs, aged 18 to 44, of employment status (ESR) 1 or 2, generated "
        f"from distributions fitted to {named}. The design holds gender in equal numbers and gives "
        "each group the job's own mix of race and age"
    )
