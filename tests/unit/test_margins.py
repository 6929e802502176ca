"""Margins of survey, generator and applicants against plain recomputations."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen.population import behind, margins
from fairscreen.population import generator as gen

JOB = "construction_laborers"
KEYS = list(margins.KEYS)


def people() -> pd.DataFrame:
    """Surveyed laborers one by one, with made-up replicate weights: PWGTP times 1 +- noise."""
    cfg = inputs.demo()
    cells = inputs.cells(cfg, 5).query("job == @JOB")
    rows = cells.loc[cells.index.repeat(cells["people"])].reset_index(drop=True)
    rng = np.random.default_rng(3)
    rows["weight"] = rng.integers(1, 200, len(rows))
    wide = np.rint(
        rows["weight"].to_numpy()[:, None] * rng.choice([-0.1, 0.3, 1, 1.9], (len(rows), 80))
    )
    return rows.join(pd.DataFrame(wide + rng.integers(-9, 9, wide.shape)).astype("int64"))


def survey_of(rows: pd.DataFrame) -> margins.SurveyedJob:
    weights = list(range(80))
    grouped = rows.groupby(KEYS)[["weight", *weights]].sum().reset_index()
    grouped["people"] = rows.groupby(KEYS).size().to_numpy()
    return margins.SurveyedJob(grouped[[*KEYS, "people", "weight"]], grouped[weights].to_numpy())


def applicants(frame: pd.DataFrame) -> pd.DataFrame:
    grouped = frame.groupby(KEYS)["design_weight"]
    return grouped.agg(applicants="count", weight="sum").reset_index()


def nobody() -> pd.DataFrame:
    return pd.DataFrame(columns=[*KEYS, "applicants", "weight"])


def banded(frame: pd.DataFrame) -> pd.DataFrame:
    cuts, labels = [17, 24, 29, 34, 39, 44], ["18-24", "25-29", "30-34", "35-39", "40-44"]
    return frame.assign(age_band=pd.cut(frame["age"], cuts, labels=labels).astype(str))


@pytest.fixture(scope="module")
def fitted() -> pd.DataFrame:
    _, g = inputs.generator()
    model = g.jobs[JOB]
    return margins.margin_rows(JOB, model, g.domain, survey_of(people()), nobody())


@pytest.mark.parametrize("margin", ["race", "age", "gender x state", "age_band x edu_level"])
def test_survey_shares_and_errors_recomputed(fitted: pd.DataFrame, margin: str) -> None:
    rows = banded(people())
    names = margin.split(" x ")
    got = fitted[(fitted["margin"] == margin) & (fitted["survey_people"] > 0)].set_index("value")
    groups = rows.groupby(names)
    assert len(got) == len(groups)
    for key, mine in groups:
        value = "; ".join(f"{n}={v}" for n, v in zip(names, key, strict=True))
        share = mine["weight"].sum() / rows["weight"].sum()
        squares = [
            (mine[r].sum() / rows[r].sum() - share) ** 2 for r in range(80)
        ]  # the Bureau's formula, from the full-sample share
        row = got.loc[value]
        assert row["survey_people"] == len(mine)
        assert row["survey_share"] == pytest.approx(share, rel=1e-12)
        assert row["survey_std_error"] == pytest.approx(math.sqrt(4 / 80 * sum(squares)), rel=1e-9)
        assert row["z"] == pytest.approx(row["difference"] / row["survey_std_error"])


def test_every_margin_of_one_and_two_variables_sums_to_one(fitted: pd.DataFrame) -> None:
    assert fitted["margin"].nunique() == 1 + 5 + 10
    assert not fitted.duplicated(["margin", "value"]).any()
    sums = fitted.groupby("margin")[["survey_share", "generator_share"]].sum()
    np.testing.assert_allclose(sums, 1)


def test_generator_margins_are_those_of_its_draws() -> None:
    """200,000 draws from the population: every margin within Monte Carlo error."""
    cfg, g = inputs.generator("population.balance=[]")
    n = 200_000
    rows = banded(inputs.simulate(cfg, g, JOB, n))
    table = margins.margin_rows(JOB, g.jobs[JOB], g.domain, survey_of(people()), applicants(rows))
    assert table.groupby("margin")["applicants"].sum().eq(n).all()
    for margin in ("gender", "age", "race x edu_level", "state x edu_level", "age_band x state"):
        got = table[table["margin"] == margin].set_index("value")
        names = margin.split(" x ")
        first, *more = (f"{name}=" + rows[name].astype(str) for name in names)
        counts = first.str.cat(more, sep="; ").value_counts()
        assert counts.reindex(got.index, fill_value=0).tolist() == got["applicants"].tolist()
        p = got["generator_share"]
        z = (got["applicants"] - n * p) / np.sqrt(n * p * (1 - p))
        assert z[n * p > 5].abs().max() < 4.5, margin
        assert got.loc[p == 0, "applicants"].sum() == 0
        np.testing.assert_allclose(got["applicants_share"], got["applicants"] / n)


def test_balanced_applicants_are_weighted_back() -> None:
    cfg, g = inputs.generator()
    rows = inputs.simulate(cfg, g, JOB, 60_000)
    counted = applicants(rows.astype({"design_weight": float}))
    table = margins.margin_rows(JOB, g.jobs[JOB], g.domain, survey_of(people()), counted)
    men = table.set_index("value").loc["gender=male"]
    assert men["applicants"] == 30_000
    assert men["applicants_share"] == pytest.approx(men["generator_share"], abs=0.01)
    assert men["generator_share"] > 0.9


def test_shrinking_moves_margins_little_and_a_misfit_is_seen() -> None:
    """prior_n of 30 is a whisker; with 1e9 every stratum is the job's: race and state part."""
    cfg, g = inputs.generator()
    survey = survey_of(people())
    kept = inputs.cells(cfg, 5).query("job == @JOB")
    survey = dataclasses.replace(survey, cells=kept, replicates=None, no_error="none")
    _, flat = inputs.generator("population.prior_n=1000000000")
    worst = {}
    for name, model in (("fitted", g.jobs[JOB]), ("flat", flat.jobs[JOB])):
        table = margins.margin_rows(JOB, model, g.domain, survey, nobody())
        worst[name] = table.groupby("margin")["difference"].agg(lambda d: d.abs().max())
    for exact in ("gender", "race", "age", "gender x race", "race x age_band"):
        assert worst["fitted"][exact] < 1e-12
        assert worst["flat"][exact] < 1e-12
    assert 1e-4 < worst["fitted"]["state"] < 0.02
    assert worst["fitted"]["edu_level"] < 0.02
    table = margins.margin_rows(JOB, flat.jobs[JOB], g.domain, survey, nobody()).set_index("value")
    for race, state in (("black", "13"), ("white", "13"), ("asian_pacific", "15")):
        independent = table.loc[f"race={race}", "survey_share"]
        independent *= table.loc[f"state={state}", "survey_share"]
        cell = table.loc[f"race={race}; state={state}"]
        assert cell["generator_share"] == pytest.approx(independent, rel=1e-5)
        assert cell["difference"] == pytest.approx(independent - cell["survey_share"], rel=1e-3)
    assert worst["flat"]["race x state"] > 3 * worst["fitted"]["race x state"]


def test_what_is_not_computable_is_null_with_its_reason() -> None:
    _, g = inputs.generator()
    rows = people()
    rows["state"] = "56"
    whole = survey_of(rows)

    def table(survey: margins.SurveyedJob) -> pd.DataFrame:
        found = margins.margin_rows(JOB, g.jobs[JOB], g.domain, survey, nobody())
        assert (found["z"].isna() == found["reason"].notna()).all()
        assert ((found["status"] == "ok") == found["z"].notna()).all()
        assert found["applicants_share"].isna().all()  # there are no applicants
        return found.set_index("value")

    found = table(whole)
    assert found.loc["state=56", "survey_share"] == 1
    assert found.loc["state=56", "reason"] == margins.NO_SPREAD
    assert found.loc["state=36", "reason"] == margins.NOBODY  # the generator goes there
    assert pd.isna(found.loc["state=36", "survey_std_error"])
    assert "state=06" not in found.index  # neither goes to California: it is in no file
    none = table(dataclasses.replace(whole, replicates=None, no_error="no weights in a.zip"))
    assert set(none["reason"]) == {"no weights in a.zip"}
    assert none["survey_std_error"].isna().all()
    gone = whole.replicates.copy()
    gone[:, 7] = -gone[:, 7]
    negative = table(dataclasses.replace(whole, replicates=gone))
    assert set(negative["reason"]) == {"a replicate weight of this job sums to 0 or less"}
    with pytest.raises(ValueError, match="cells with replicates"):
        margins.margin_rows(
            JOB,
            g.jobs[JOB],
            g.domain,
            dataclasses.replace(whole, replicates=gone[:, :79]),
            nobody(),
        )


def test_reasons_name_the_files() -> None:
    lacking = {"a": (5, ()), "b": (0, ("s1", "s2")), "c": (3, ("s2",)), "d": (0, ("f" * 64,))}
    assert behind.no_error(lacking, {"s1": "y.zip", "s2": "x.zip"}) == {
        "a": None,
        "b": "no replicate weights in x.zip, y.zip",
        "c": "replicate weights of some people only: none in x.zip",
        "d": "no replicate weights in ffffffffffff",
    }


def test_the_joint_is_the_product_of_the_conditionals() -> None:
    _, g = inputs.generator()
    model = g.jobs[JOB]
    joint = margins.generator_joint(model, g.domain)
    assert joint.sum() == pytest.approx(1)
    state, level = g.domain.states.index("36"), g.domain.levels.index("bachelor")
    region = g.domain.region_of_state[state]
    by_hand = sum(
        model.population[1, 0, age] * model.state[1, 0, band, state]
        * model.education[1, 0, band, region, level]
        for age, band in enumerate(g.domain.band_of_age) if band == 2
    )  # fmt: skip
    assert joint[1, 0, 2, state, level] == pytest.approx(by_hand)
    assert gen.fold(joint, 3, g.domain.region_of_state, 4).sum() == pytest.approx(1)
