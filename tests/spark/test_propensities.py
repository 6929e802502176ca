"""Pass 1: classifiers P(X|.) that all models share where everybody is answered."""

from __future__ import annotations

import numpy as np
import pytest

from fairscreen.audits import path_specific, propensities
from fairscreen.audits.answers import case_data
from fairscreen.audits.coding import ungrouped
from fairscreen.config import Config
from fairscreen.estimators.path_specific import fit_classifiers
from fairscreen.stations import estimate
from fairscreen.stations.common import Run
from fairscreen.tables import ddl_columns
from path_people import N, cell_rows, config, directly, furthest, payloads, tables

MODELS = ("m", "n", "o")
COMPLETE = ("n", "o")


def cfg_of(*models: str) -> Config:
    listed = ", ".join(f"{model}: {{kind: planted}}" for model in models)
    return config(f"scoring.models={{{listed}}}")


@pytest.fixture(scope="module")
def both(spark):
    return tables(spark, MODELS, COMPLETE)


def pass_1(applicants, scores, cfg: Config):
    options = path_specific.path_options(cfg)
    return propensities.rows(applicants, scores, None, cfg, options, ungrouped(cfg))


def test_rows_are_those_of_the_table_and_of_a_direct_fit(both) -> None:
    cfg = cfg_of(*MODELS)
    found = pass_1(*both, cfg).toPandas()
    assert list(found.columns) == list(ddl_columns("propensity"))
    assert set(found["resolution"]) == {"ungrouped"}
    assert set(found["slice"]) == {"job=accountants"}
    assert found["quality"].notna().sum() == 1
    cells = cell_rows(*both, cfg).where("model = 'n'").toPandas()
    mine = case_data(cells.astype(dict.fromkeys(("w", "sum_y", "sum_yy"), float)), weighted=False)
    assert mine is not None
    assert len(mine.cell) == len(found) == found["cell"].nunique()
    direct = fit_classifiers(mine.data, path_specific.path_options(cfg))
    assert direct is not None
    by_cell = found.set_index("cell").loc[mine.cell]
    for name in propensities.ARRAYS:
        np.testing.assert_array_equal(np.stack(by_cell[name]), getattr(direct, name))
    (told,) = found["quality"].dropna()
    assert told == propensities.quality_text(direct)


@pytest.mark.parametrize("partitions", [1, 200])
def test_with_and_without_sharing_a_case_has_the_same_numbers(spark, both, partitions: int) -> None:
    """Models n and o are answered by everybody and share; m stands on others, and fits its own."""
    cfg = cfg_of(*MODELS)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    try:
        moved = tuple(t.repartition(partitions, "applicant_id") for t in both)
        rows = cell_rows(*moved, cfg)
        found = payloads(rows, cfg, pass_1(*moved, cfg))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert [payload["shared"] for payload in found] == [False, True, True]
    assert found[0]["n"] < found[1]["n"] == found[2]["n"] == N
    for case, payload in enumerate(found):
        direct = directly(rows, cfg, case)
        assert payload["n"] == direct["n"]
        assert furthest(payload, direct) < 1e-12
    reasons = {e["reason"] for e in found[0]["effects"]}
    assert all("all fitted on the answered, P(X|.) too" in reason for reason in reasons)


def test_a_case_does_not_change_with_the_cases_beside_it(both) -> None:
    alone, among = cfg_of("n"), cfg_of(*MODELS)
    (one,) = payloads(cell_rows(*both, alone), alone, pass_1(*both, alone))
    several = payloads(cell_rows(*both, among), among, pass_1(*both, among))
    assert one["shared"]
    assert one == several[1]


def test_the_station_writes_the_table_and_reads_it_back(warehouse, both) -> None:
    cfg = config(
        "scoring.models={m: {kind: planted}, n: {kind: planted}, o: {kind: planted}}",
        "estimation.roles.redlining=[region]",
        "estimation.roles.business=[edu_level]",
    )
    applicants, scores = both
    tables_read = {"applicants": applicants, "scores": scores, "known_propensity": None}
    for _ in range(2):  # again: replaced, not added to
        found = estimate._propensity(Run(cfg, warehouse), tables_read)
    counts = {name: rows.count() for name, rows in found.items()}
    assert min(counts.values()) > 0
    assert warehouse.read("propensity").count() == sum(counts.values())
    told = payloads(cell_rows(*both, cfg), cfg, found[propensities.UNGROUPED])
    assert told == payloads(cell_rows(*both, cfg), cfg, pass_1(*both, cfg))
    assert [payload["shared"] for payload in told] == [False, True, True]
