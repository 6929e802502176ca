"""Figures of the panel: every model, no label on another, the band of the fitted line."""

from __future__ import annotations

import csv
import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from fairscreen.estimators.panel import trend
from fairscreen.estimators.panel_rows import trend_rows
from fairscreen.reporting import callback_plots as plots
from fairscreen.reporting.callback_panel import fitted
from fairscreen.reporting.callback_plots import PanelPoint
from fairscreen.reporting.pages import Found
from fairscreen.reporting.svg import apart

GAO = Path(__file__).parents[1] / "golden" / "gao_2026_table1.csv"
FAMILY = {"GPT-3.5-turbo": "GPT", "GPT-4o-mini": "GPT", "GPT-5.4-mini": "GPT",
          "Llama-3.1-8B-Instruct": "Llama", "Llama-3.3-70B-Instruct": "Llama"}  # fmt: skip
NASTY = "<script>alert(1)</script>"


def gao() -> list[PanelPoint]:
    with GAO.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        PanelPoint(
            r["model"], int(r["released"][:4]) + (int(r["released"][5:]) - 1) / 12,
            FAMILY.get(r["model"]), float(r["published_gap_pp"]), float(r["published_ci_low_pp"]),
            float(r["published_ci_high_pp"]),
        )
        for r in rows
    ]  # fmt: skip


def drawn(points: list[PanelPoint], **more) -> str:
    scale = plots.domain([points], plots.PEOPLE)
    return str(
        plots.panel("Gap", points, scale=scale, favors_up="white", favors_down="black",
                    baselines=plots.PEOPLE, **more)
    )  # fmt: skip


def labels(svg: str) -> dict[str, tuple[float, float]]:
    """Turned texts with their places."""
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*rotate\(-45[^>]*>([^<]*)</text>', svg)
    return {name: (float(x), float(y)) for x, y, name in found}


def test_the_published_panel_has_every_model_and_the_people() -> None:
    svg = drawn(gao())
    assert set(labels(svg)) == {p.model for p in gao()}
    assert svg.count("<circle") == 14
    for b in plots.PEOPLE:
        assert f"{b.name} +{b.value:.2f}".replace("&", "&amp;") in svg
    # Three models of one family are joined by two lines, two by one.
    for color, joints in zip(plots.families(gao()).values(), (2, 1), strict=True):
        joined = re.findall(rf'stroke="{color}" stroke-width="1.2"', svg)
        assert len(joined) == joints


def test_names_of_models_do_not_lie_on_each_other() -> None:
    crowded = [
        PanelPoint(f"model-with-a-long-name-{k}", 2026.0 if k < 9 else None, None, 0.1 * k, -1, 1)
        for k in range(14)
    ]
    for points in (gao(), crowded):
        places = sorted(labels(drawn(points)).values())
        assert len({y for _, y in places}) == 1
        # Lines at 45 degrees: their distance is that of their starts over the root of two.
        nearest = min(b - a for (a, _), (b, _) in pairwise(places))
        assert nearest / np.sqrt(2) > 11.5


def test_filled_marks_leave_zero_out() -> None:
    points = [PanelPoint("a", 2024.0, None, 1.0, 0.5, 1.5), PanelPoint("b", 2025.0, None, 1.0, -1,
                                                                      3)]  # fmt: skip
    circles = re.findall(r'<circle[^>]*fill="([^"]+)"', drawn(points))
    assert circles == [plots.INK, "#fff"]


def test_models_without_a_date_or_number() -> None:
    points = [
        *gao()[:3], PanelPoint("undated", None, "GPT", 0.3, 0.1, 0.5),
        PanelPoint("no number", 2025.0, None, None, None, None, reason="no_pairs"),
        PanelPoint(NASTY, 2025.5, None, 0.0, None, None),
    ]  # fmt: skip
    svg = drawn(points)
    assert "no date" in svg
    assert "undated" in labels(svg)
    assert "no number" not in svg
    assert "<script" not in svg
    assert "nan" not in svg


def test_the_band_is_that_of_the_fitted_line_everywhere() -> None:
    points = gao()
    gap = np.array([p.estimate for p in points])
    years = np.array([p.released for p in points])
    v = np.diag(((np.array([p.high for p in points]) - gap) / 1.96) ** 2)
    rows = trend_rows(gap=gap / 100, covariance=v / 1e4, years=years,
                      model=[p.model for p in points])  # fmt: skip
    told = [
        {"design": "paired_callback", "slice": "all" if r.part is None else "=".join(r.part),
         "estimand": r.estimand, "method": r.method, "estimate": r.estimate,
         "std_error": r.std_error, "ci_low": r.ci_low, "ci_high": r.ci_high}
        for r in rows
    ]  # fmt: skip
    line = fitted(Found(told, "paired_callback"), years.tolist())
    fit = trend(gap=gap, covariance=v, years=years)
    reach = (fit.high - fit.slope) / fit.std_error
    for f in line:
        value, error = fit.at(f.year)
        assert (f.value, f.low, f.high) == pytest.approx(
            (value, value - reach * error, value + reach * error)
        )
    assert (line[0].year, line[-1].year) == (years.min(), years.max())
    svg = drawn(points, trend=line)
    assert svg.count("<polygon") == 1
    assert "trend over release dates" in svg
    assert fitted(Found([], "paired_callback"), years.tolist()) == []


def test_one_gap_against_another() -> None:
    race = gao()
    gender = [PanelPoint(p.model, p.released, None, -0.1 * k, -0.1 * k - 0.3, -0.1 * k + 0.3)
              for k, p in enumerate(race)]  # fmt: skip
    svg = str(plots.scatter(list(zip(race, gender, strict=True)), across="race", up="gender"))
    assert svg.count("<circle") == 14
    boxes = []
    for p in race:
        place = re.search(rf'<text x="([\d.]+)" y="([\d.]+)"[^>]*>{re.escape(p.model)}</text>', svg)
        assert place is not None
        x, y = float(place[1]), float(place[2])
        boxes.append((x, y - 10, x + 6.0 * len(p.model), y + 2))
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    two = list(zip(race[:2], gender[:2], strict=True))
    assert plots.scatter(two, across="race", up="gender") is None


@pytest.mark.parametrize("seed", range(30))
def test_places_are_apart_in_order_and_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wished = np.round(rng.uniform(0, 100, rng.integers(1, 15)), rng.integers(0, 3)).tolist()
    found = apart(wished, 6.0, 0.0, 100.0)
    order = sorted(range(len(wished)), key=lambda k: (wished[k], found[k]))
    gaps = np.diff([found[k] for k in order])
    assert (gaps >= 6.0 - 1e-6).all()
    assert min(found) >= 0
    assert max(found) <= 100
    assert apart([20.0, 90.0], 6.0, 0.0, 100.0) == [20.0, 90.0]
    assert apart([50.0, 50.0], 6.0, 0.0, 100.0) == [47.0, 53.0]
    # Where they do not fit they share what there is.
    assert apart([5.0, 5.0, 5.0], 60.0, 0.0, 100.0) == [0.0, 50.0, 100.0]
