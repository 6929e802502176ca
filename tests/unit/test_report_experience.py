"""Years of experience in the report and as files: every number comes from its table's rows."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from test_report import _Page, _text, report_data

import population_inputs as inputs
from fairscreen.population import domain
from fairscreen.population import experience as p2
from fairscreen.population.experience_fit import expected_band
from fairscreen.reporting import experience
from fairscreen.reporting.report import render_report

CFG = inputs.demo()


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Rows as the table gives them back: in any order, with NaN for null numbers."""
    axes = domain.from_settings(CFG.population)
    fitted = p2.fit(inputs.psid(), CFG.population, axes, inputs.cells(CFG, 20))
    frame = pd.DataFrame([{"audit_id": "demo", **row} for row in fitted.rows])
    return frame.sample(frac=1, random_state=1)


def test_the_section_shows_moments_residuals_and_plot(table: pd.DataFrame) -> None:
    html = render_report(report_data(experience_fit=table))
    page = _Page(html)
    assert page.faults == []
    text = _text(html)
    section = text[text.index("Learned from") : text.index("Outcome of every request")]
    everybody = table[table["name"] == "everybody"].iloc[0]
    assert f"Learned from {everybody['n']:,} answers" in section
    for name in ("residual_sd", "coverage_80", "ks_distance"):
        assert f'title="{float(everybody[name])!r}"' in html
    moments = table[table["kind"] == "moment"]
    for row in moments.itertuples():
        assert f'title="{float(row.difference)!r}"' in html
    assert section.count("within") >= (moments["status"] == "within").sum()
    assert "Registered Nurse" in section  # the title, not the key
    assert ">nan<" not in html.lower()
    assert ">None<" not in html
    thin = table[(table["status"] == "not_computable") & ~table["name"].str.contains(", age ")]
    assert section.count("not computable: effective n below 30") == len(thin)


def test_unmet_moments_are_named(table: pd.DataFrame) -> None:
    off = table.assign(
        status=table["status"].mask(table["name"] == "race black", "outside"),
    )
    text = _text(render_report(report_data(experience_fit=off)))
    assert "PSID does not meet the survey in race black" in text


def test_without_rows_there_is_no_section_and_no_file() -> None:
    html = render_report(report_data())
    assert 'id="experience"' not in html
    assert experience.files(pd.DataFrame(), CFG) == {}


def test_files_stand_alone(table: pd.DataFrame) -> None:
    files = experience.files(table, CFG)
    assert sorted(files) == ["experience_fit.json", "experience_qq.svg"]
    content = json.loads(files["experience_fit.json"])
    assert content["settings"]["location"] == "mean"
    assert len(content["moment"]) == (table["kind"] == "moment").sum()
    assert content["overall"][0]["name"] == "everybody"
    observed = table[table["kind"] == "quantile"].sort_values("place")["observed"].tolist()
    assert [r["observed"] for r in content["quantile"]] == observed

    root = ElementTree.fromstring(files["experience_qq.svg"])
    dots = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(dots) == 99
    heights = np.array([float(d.attrib["cy"]) for d in dots])
    assert (np.diff(heights) <= 0).all()  # quantiles rise


def test_points_of_the_plot_stand_where_their_numbers_are() -> None:
    points = [{"theoretical": 0.0, "observed": 0.0}, {"theoretical": 1.3, "observed": 9.0}]
    svg = str(experience.qq_plot(points, 100))
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert found == [("190.0", "160.0"), ("265.0", "10.0")]  # the second lies beyond the edge
    half = expected_band(0.0, 100) / 5.2 * 300
    assert f"190.0,{160 - half:.1f}" in svg
