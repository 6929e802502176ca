"""The observational estimator over again, beside the headline: other mediators, other weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.audits import influence as influences
from fairscreen.audits.cells import Case, cells
from fairscreen.audits.path_rows import NO_ANSWER, Context
from fairscreen.audits.path_specific import estimate
from fairscreen.config import Config
from fairscreen.estimators.results import EFFECTS


@dataclass(frozen=True)
class Estimated:
    """results: what `estimate` says of each case, by its index; computable: effects of each that
    have a number; phi: see `influence.phi`, None where it was not asked for or nobody answered."""

    results: dict[int, dict[str, Any]]
    phi: DataFrame | None

    @property
    def computable(self) -> dict[int, list[str]]:
        return {
            case: [e["estimand"] for e in result["effects"] if e["estimate"] is not None]
            for case, result in self.results.items()
        }


def fitted(cfg: Config) -> Config:
    """The config with fitted propensities, because the generator's densities hold for the
    headline's mediators and weights only, and without a bootstrap."""
    change = {"propensity": "fitted", "bootstrap_draws": 0}
    return cfg.model_copy(update={"estimation": cfg.estimation.model_copy(update=change)})


def estimated(
    asked_rows: DataFrame, cfg: Config, *, influence: bool, propensity: DataFrame | None = None
) -> Estimated:
    """Estimates of the rows of `cells.asked`, by the config as `fitted` makes it; propensity: as
    in `estimate`."""
    rows = cells(asked_rows)
    found = estimate(rows, fitted(cfg), influence=influence, propensity=propensity).toPandas()
    found = found.sort_values(["case", "kind"], kind="stable", ignore_index=True)
    told = found[found["kind"] == "effects"]
    results = {
        int(case): json.loads(payload)
        for case, payload in zip(told["case"].tolist(), told["payload"].tolist(), strict=True)
    }
    mine = found[found["kind"] == "influence"].reset_index(drop=True)
    people = asked_rows.where(sf.col("y").isNotNull())
    return Estimated(results, influences.phi(people, mine) if len(mine) else None)


def effects_of(result: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Effects as columns of `estimates`; not computable where nobody answered."""
    if result is None:
        nothing = {"n": 0, "status": "not_computable", "reason": NO_ANSWER}
        return [{"estimand": e, **nothing} for e in EFFECTS]
    return [{k: v for k, v in e.items() if k != "clip_sensitivity"} for e in result["effects"]]


def effect_row(
    context: Context, case: Case, effect: Mapping[str, Any], method: str, title: str
) -> dict[str, Any]:
    """One row of `estimates`, outside every family of tests."""
    return context.row(case, "path_specific", method=method, title=title, **effect)
