"""What rows with ungrouped mediators are called, and what their note says. No Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairscreen import resources
from fairscreen.audits import ungrouped
from fairscreen.audits.cells import cases
from fairscreen.audits.coding import grouped
from fairscreen.audits.coding import ungrouped as resolution
from fairscreen.audits.path_rows import Context
from fairscreen.config import Config, load
from fairscreen.estimators.results import EFFECTS
from fairscreen.reporting import narrative


@pytest.fixture(scope="module")
def cfg() -> Config:
    return load(resources.path("conf", "audits", "demo.yml"))


def effect(name: str) -> dict[str, object]:
    return {
        "estimand": name, "estimate": 1.0, "std_error": 0.5, "ci_low": 0.0, "ci_high": 2.0,
        "p_value": 0.05, "n": 80, "status": "ok", "reason": None, "clip_sensitivity": {0.01: 1.0},
    }  # fmt: skip


def test_every_case_has_five_rows_under_a_name_of_their_own(cfg: Config) -> None:
    found = cases(cfg)
    answered = {found[0].index: {"effects": [effect(e) for e in EFFECTS], "cells": 40, "n": 80}}
    rows = ungrouped.effect_rows(Context(cfg, "hash", "{}"), answered)
    assert len(rows) == 5 * len(found)
    assert {r["method"] for r in rows} == {"eif_ungrouped"}
    assert [r["estimand"] for r in rows[:5]] == list(EFFECTS)
    assert rows[0]["estimate"] == 1.0
    assert {r["status"] for r in rows[5:]} == {"not_computable"}
    assert all(r["reason"].startswith("no_answer") for r in rows[5:])


def test_the_title_depends_on_whether_a_photo_is_shown(cfg: Config) -> None:
    text = cases(cfg)[0]
    photo = replace(text, document_format="image_photo")
    assert ungrouped.title(text, "NDE").startswith("Falsification: effect not through")
    assert ungrouped.title(photo, "NDE") == "Direct effect, given the ungrouped mediators"
    assert ungrouped.title(photo, "RIE") == ungrouped.title(text, "RIE")
    for case in (text, photo):
        row = {"estimand": "NDE", "title": ungrouped.title(case, "NDE")}
        assert narrative.title_of(row) == f"{ungrouped.title(case, 'NDE')} (NDE)"
    assert narrative.method_label("eif_ungrouped") == "ungrouped mediators"


def test_the_note_names_features_rounding_and_cells(cfg: Config) -> None:
    how = resolution(cfg)
    assert how is not None
    results = {0: {"cells": 1_200, "n": 2_000}, 1: {"cells": 1_100, "n": 2_000}}
    assert ungrouped.note(how, results) == (
        "Ungrouped mediators (method eif_ungrouped): first_name_p_female, first_name_mean_year, "
        "surname_p_white, surname_p_black, surname_p_asian_pacific, region, edu_level, exp_year; "
        "rounded: age to 1, exp_year to 1, first_name_p_female to 0.05, first_name_mean_year to 1, "
        "surname_p_white to 0.05, surname_p_black to 0.05, surname_p_asian_pacific to 0.05. A "
        "missing feature is a category of its own. 4,000 scores make 2,300 cells, over all cases."
    )


def test_groups_keep_no_numbers(cfg: Config) -> None:
    assert grouped(cfg).steps == {}
    assert grouped(cfg).mediators == (
        "first_name_gender", "first_name_cohort", "surname_race", "region", "edu_group", "exp_year",
    )  # fmt: skip
