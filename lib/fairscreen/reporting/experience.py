"""Years of experience in the report and as files: Q-Q plot, moments, residual summary.

All of it is read from rows of table `experience_fit`; nothing is computed here but the band of the
plot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from fairscreen.config import Config
from fairscreen.population.experience_fit import FEW, expected_band
from fairscreen.reporting import plots

QQ_FILE, JSON_FILE = "experience_qq.svg", "experience_fit.json"
_SIDE, _LEFT, _TOP, _MOST = 300.0, 40.0, 10.0, 2.6  # the square, and the largest z it shows
_INK, _BAND, _LINE, _TEXT = "#1f4e79", "#e6ecf2", "#5f6b76", "#1b2530"

Row = Mapping[str, Any]


def view(frame: pd.DataFrame, cfg: Config) -> dict[str, Any] | None:
    """What the report's section shows; None where the table holds nothing of this audit."""
    rows = records(frame)
    if not rows:
        return None
    everybody = next(r for r in rows if r["kind"] == "overall" and r["name"] == "everybody")
    moments = [r for r in rows if r["kind"] == "moment"]
    quantiles = [r for r in rows if r["kind"] == "quantile"]
    # The finest strata (job, gender, age band) are in the table; the report shows their margins.
    strata = [r for r in rows if r["kind"] == "overall"]
    strata += [r for r in rows if r["kind"] == "stratum" and ", age " not in r["name"]]
    titles = {key: job.title for key, job in cfg.population.jobs.items()}
    return {
        "everybody": everybody,
        "settings": cfg.population.experience,
        "waves": " and ".join(map(str, cfg.population.experience.waves)),
        "moments": moments,
        "outside": [r["name"] for r in moments if r["status"] == "outside"],
        "strata": [{**r, "title": titles.get(r["name"], r["name"])} for r in strata],
        "sigma": [r["sigma"] for r in rows if r["kind"] == "stratum" and ", age " in r["name"]],
        "qq": qq_plot(quantiles, everybody["effective_n"]),
        "few": FEW,
    }


def files(frame: pd.DataFrame, cfg: Config) -> dict[str, str]:
    """Artifacts by file name: the table's rows with the settings behind them, and the plot."""
    rows = records(frame)
    if not rows:
        return {}
    by_kind = {
        kind: [{k: v for k, v in r.items() if v is not None and k not in ("audit_id", "kind")}
               for r in rows if r["kind"] == kind]
        for kind in ("overall", "stratum", "moment", "quantile")
    }  # fmt: skip
    settings = cfg.population.experience.model_dump(mode="json")
    content = {"audit_id": cfg.audit_id, "settings": settings, **by_kind}
    size = next(r["effective_n"] for r in rows if r["kind"] == "overall")
    plot = str(qq_plot([r for r in rows if r["kind"] == "quantile"], size))
    return {
        JSON_FILE: json.dumps(content, indent=2, allow_nan=False) + "\n",
        QQ_FILE: plot.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n",
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the table with None for nulls, in one order: overall, strata, moments, quantiles."""
    kinds = ("overall", "stratum", "moment", "quantile")
    rows = [
        {str(k): None if pd.isna(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]
    return sorted(rows, key=lambda r: (kinds.index(r["kind"]), r["place"]))


def qq_plot(points: Sequence[Row], effective_n: float) -> Markup:
    """Quantile residuals against the standard normal, with the 95% band of that many people.

    Colors are attributes, so that the same picture stands alone as a file.
    """

    def x(z: float) -> float:
        return _LEFT + (max(-_MOST, min(_MOST, z)) + _MOST) / (2 * _MOST) * _SIDE

    def y(z: float) -> float:
        return _TOP + _SIDE - (x(z) - _LEFT)

    ends = [(z := r["theoretical"], expected_band(z, effective_n)) for r in points]
    outline = [(x(z), y(z + h)) for z, h in ends] + [(x(z), y(z - h)) for z, h in reversed(ends)]
    floor, right = _TOP + _SIDE, _LEFT + _SIDE
    parts = [
        Markup(
            '<svg class="qq" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" '
            'font-family="sans-serif" font-size="11" aria-label="{}">'
        ).format(
            right + 12, floor + 38, right + 12,
            "Normal Q-Q plot of quantile residuals of years of experience, out of fold",
        ),
        Markup('<polygon points="{}" fill="{}"/>').format(
            " ".join(f"{a:.1f},{b:.1f}" for a, b in outline), _BAND
        ),
    ]  # fmt: skip
    for tick in range(-2, 3):
        label = plots.signed(tick, 0)
        parts.append(
            Markup(
                '<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="#eef1f4"/>'
                '<line x1="{3}" x2="{4}" y1="{5:.1f}" y2="{5:.1f}" stroke="#eef1f4"/>'
                '<text x="{0:.1f}" y="{6}" text-anchor="middle" fill="{8}">{7}</text>'
                '<text x="{9}" y="{10:.1f}" text-anchor="end" fill="{8}">{7}</text>'
            ).format(x(tick), _TOP, floor, _LEFT, right, y(tick), floor + 14, label, _LINE,
                     _LEFT - 5, y(tick) + 4)
        )  # fmt: skip
    parts.append(
        Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>').format(
            x(-_MOST), y(-_MOST), x(_MOST), y(_MOST), _LINE
        )
    )
    parts += [
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2" fill="{}"/>').format(
            x(r["theoretical"]), y(r["observed"]), _INK
        )
        for r in points
    ]
    parts.append(
        Markup(
            '<text x="{}" y="{}" text-anchor="middle" fill="{}">standard normal</text>'
            '<text transform="translate(11 {}) rotate(-90)" text-anchor="middle" fill="{}">'
            "quantile residual</text></svg>"
        ).format(_LEFT + _SIDE / 2, floor + 31, _TEXT, _TOP + _SIDE / 2, _TEXT)
    )
    return Markup("").join(parts)
