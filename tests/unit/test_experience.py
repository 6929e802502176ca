"""P2: the fit as a whole, its published form, and the exact distribution of whole months."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy import stats

import population_inputs as inputs
from fairscreen import resources, tables
from fairscreen.errors import InputError
from fairscreen.population import domain, experience, truncated
from fairscreen.sources import psid as extract

CFG = inputs.demo()
AXES = domain.from_settings(CFG.population)
CELLS = inputs.cells(CFG, 20)


def test_the_mean_recovers_the_formula_behind_the_data() -> None:
    fitted = experience.fit(inputs.psid(6000), CFG.population, AXES, CELLS)
    nurses = fitted.mean[0]
    ages = np.arange(AXES.age_min, AXES.age_max + 1)
    bachelor = AXES.levels.index("bachelor")  # 16 years of schooling
    expected = np.clip(0.85 * (ages - 18) - 0.5 * 4, 0, None)
    middle = (ages >= 25) & (ages <= 40)
    men = nurses[1, 0, :, 2, bachelor]
    women = nurses[0, 0, :, 2, bachelor]
    assert np.abs(men - expected)[middle].max() < 1.5
    assert (men - women)[middle].mean() == pytest.approx(1, abs=0.5)
    assert fitted.facts["psid_synthetic"] is True
    assert fitted.facts["residual_sd"] == pytest.approx(2, abs=0.35)


def test_row_order_changes_nothing() -> None:
    rows = inputs.psid()
    one = experience.fit(rows, CFG.population, AXES, CELLS)
    other = experience.fit(rows.sample(frac=1, random_state=3), CFG.population, AXES, CELLS)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sigma, other.sigma)


def test_bins_are_exact_for_whole_months() -> None:
    mean, sigma, age = 6.3, 2.2, 31
    n = 200_000
    u = (np.arange(n) + 0.5) / n
    months = experience.draw_months(u, np.full(n, mean), np.full(n, sigma), np.full(n, age))
    assert months.min() >= 0
    assert months.max() <= 12 * (age - 18)
    cuts = (2.0, 5.0, 10.0)
    got = np.bincount(np.searchsorted(cuts, months / 12, side="right"), minlength=4) / n
    exact = experience.bin_shares(cuts, np.array(mean), np.array(sigma), np.array(age))
    np.testing.assert_allclose(got, exact, atol=2 / n)
    law = stats.truncnorm(-mean / sigma, (13 - mean) / sigma, loc=mean, scale=sigma)
    assert exact[0] == pytest.approx(law.cdf((24 - 0.5) / 12), abs=1e-9)


def test_nobody_of_18_has_worked() -> None:
    age = np.array([18, 18])
    one = np.array([3.0, 5.0])
    assert experience.draw_months(np.array([0.2, 0.9]), one, one, age).tolist() == [0, 0]
    shares = experience.bin_shares((2.0,), one, one, age)
    assert shares.tolist() == [[1, 0], [1, 0]]


def test_too_few_people_is_an_error() -> None:
    cfg = inputs.demo("population.experience.waves=[1999]")
    with pytest.raises(InputError, match="psid_person: has 0 usable rows of waves 1999 aged"):
        experience.fit(inputs.psid(), cfg.population, AXES, CELLS)


def test_surveys_that_do_not_meet_are_an_error() -> None:
    rows = inputs.psid().assign(state="72")  # Puerto Rico: in no region
    with pytest.raises(InputError, match=r"has 0 of .* usable rows with a race, region"):
        experience.fit(rows, CFG.population, AXES, CELLS)
    alone = inputs.demo(ALONE).population
    assert experience.fit(rows, alone, AXES, CELLS).facts["psid_rows"] > 500


def test_matching_is_a_choice_and_is_reported() -> None:
    plain = inputs.demo("population.experience.match_survey=false").population
    one = experience.fit(inputs.psid(), plain, AXES, CELLS)
    other = experience.fit(inputs.psid(), CFG.population, AXES, CELLS)
    assert one.facts["psid_matched_to_survey"] is False
    assert other.facts["psid_effective_n"] < one.facts["psid_effective_n"] < 1000
    assert not np.array_equal(one.mean, other.mean)


PUBLISHED = (
    "population.experience.residuals=training", "population.experience.sigma=residual_sd",
    "population.experience.location=as_published", "population.experience.calibrate=false",
    "population.experience.target=years",
    "population.experience.choose_rounds=false", "population.experience.rounds=60",
    "population.experience.learning_rate=0.15",
)  # fmt: skip
ALONE = "population.experience.match_survey=false"


def _truncated_people(n: int, seed: int) -> pd.DataFrame:
    """Mean 0.8 of the adult years (0.7 of women); sigma 1 below 30, 4 from 30 on."""
    rng = np.random.default_rng(seed)
    rows = inputs.psid(n).assign(age=rng.integers(19, 45, n), weight=rng.uniform(0.5, 2, n))
    upper = (rows["age"] - 18).to_numpy(dtype=float)
    mean = upper * np.where(rows["gender"] == "female", 0.7, 0.8)
    sigma = np.where(rows["age"] < 30, 1.0, 4.0)
    location = truncated.location_of(mean, sigma, upper)
    drawn = truncated.ppf(rng.uniform(size=n), location, sigma, upper)
    return rows.assign(years_worked=np.rint(drawn))


def test_sigma_and_mean_of_a_truncated_normal_are_recovered() -> None:
    rows = _truncated_people(5000, 3)
    fitted = experience.fit(rows, inputs.demo(ALONE).population, AXES, CELLS)
    published = experience.fit(rows, inputs.demo(ALONE, *PUBLISHED).population, AXES, CELLS)
    truth = np.array([1.0, 1.0, 4.0, 4.0, 4.0])[None, :, None]
    # 70 people per stratum and an estimated mean; below 25 there are six years of room at most
    off = np.abs(fitted.sigma / truth - 1)
    assert off[:, 1:].mean() < 0.1
    assert off[:, 1:].max() < 0.3
    assert off[:, 0].max() < 0.6
    plain = np.abs(published.sigma / truth - 1)
    assert (plain[:, 2:] > off[:, 2:]).all()
    assert plain[:, 2:].mean() > 3 * off[:, 2:].mean()

    # what is drawn has the mean that was learned; as published it lies below, near age - 18
    age = np.arange(AXES.age_min, AXES.age_max + 1)
    upper = (age - 18.0)[:, None, None]
    place = np.moveaxis(fitted.sigma[:, AXES.band_of_age], 2, 1)[:, :, None, :, None, None]
    inner = (fitted.mean > 0.2) & (fitted.mean < upper - 0.4)
    drawn = truncated.mean(fitted.location, place, np.maximum(upper, 1e-9))
    assert np.abs(drawn - fitted.mean)[inner].max() < 1e-3
    assert inner.mean() > 0.85
    older = published.mean[:, 1, :, 15:]
    wide = np.moveaxis(published.sigma[:, AXES.band_of_age[15:]], 2, 1)[:, 1, None, :, None, None]
    assert (truncated.mean(older, wide, upper[15:]) < older - 0.2).mean() > 0.9


def test_draws_cover_people_who_were_held_out() -> None:
    rows = _truncated_people(6000, 4)
    known, rest = rows.iloc[:4000], rows.iloc[4000:]
    fitted = experience.fit(known, inputs.demo(ALONE).population, AXES, CELLS)
    job = rest["occp_2010"].map({"3255": 0, "2310": 1, "1020": 2, "0800": 3, "6260": 4})
    rest, job = rest[job.notna()], job.dropna().to_numpy(dtype=int)
    gender = (rest["gender"] == "male").to_numpy(dtype=int)
    age = rest["age"].to_numpy(dtype=int)
    # the outcome depends on gender and age alone: any race, region and level will do
    f = fitted.location[job, gender, 0, age - 18, 2, 3]
    s = fitted.sigma[job, AXES.band_of_age[age - 18], gender]
    rng = np.random.default_rng(5)
    drawn = np.stack(
        [experience.draw_months(rng.uniform(size=len(f)), f, s, age) / 12 for _ in range(400)]
    )
    worked = rest["years_worked"].to_numpy(dtype=float) + rng.uniform(-0.5, 0.5, len(f))
    worked = np.clip(worked, 0, age - 18)
    for share in (0.5, 0.8, 0.95):
        low, high = np.quantile(drawn, [(1 - share) / 2, (1 + share) / 2], axis=0)
        inside = ((worked >= low) & (worked <= high)).mean()
        error = np.sqrt(share * (1 - share) / len(f))
        assert inside == pytest.approx(share, abs=3 * error + 0.02)


def test_published_is_the_plain_recomputation() -> None:
    rows = inputs.psid(3000)
    population = inputs.demo(ALONE, *PUBLISHED).population
    fitted = experience.fit(rows, population, AXES, CELLS)
    np.testing.assert_array_equal(fitted.location, fitted.mean)  # f is the location

    used = rows[rows["age"].between(18, 44)].sort_values(["wave", "person_1968"])
    w = (used["weight"] / used["weight"].mean()).to_numpy()
    y = used["years_worked"].clip(upper=used["age"] - 18).to_numpy(dtype=float)
    jobs = ["3255", "2310", "1020", "0800", "6260"]
    columns = [used["gender"] == "male", used["age"], used["education_years"]]
    columns += [used["race_code"].isin(codes) for codes in ([1], [2], [4, 5])]
    columns += [used["state"].isin(states) for states in (["36"], ["17"], ["48"], ["06"])]
    columns += [used["occp_2010"] == code for code in dict.fromkeys(jobs)]
    X = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    params = {"max_depth": 3, "eta": 0.15, "tree_method": "hist", "nthread": 1}
    trees = xgb.train(params, xgb.DMatrix(X, y, weight=w), 60)
    residual = y - np.clip(trees.predict(xgb.DMatrix(X)), 0, used["age"] - 18).to_numpy()
    band = np.searchsorted([25, 30, 35, 40], used["age"], side="right")
    square = residual**2
    whole = np.average(square, weights=w)
    for g, gender in enumerate(("female", "male")):
        for k in range(5):
            variance = whole
            for here in (
                band == k,
                (band == k) & (used["gender"] == gender),
                (band == k) & (used["gender"] == gender) & (used["occp_2010"] == jobs[2]),
            ):
                n = int(here.sum())
                own = np.average(square[here], weights=w[np.asarray(here)])
                variance = (n * own + 30 * variance) / (n + 30)
            assert fitted.sigma[2, k, g] == pytest.approx(max(np.sqrt(variance), 0.5), rel=1e-5)


def test_few_rounds_where_there_is_little_to_learn() -> None:
    rows = inputs.psid(3000)
    settings = inputs.demo(ALONE).population
    learned = experience.fit(rows, settings, AXES, CELLS).facts
    age = rows["age"].clip(lower=18)
    noise = np.rint(np.random.default_rng(6).uniform(size=3000) * np.minimum(age - 18, 26))
    one_age = rows.assign(age=44, years_worked=noise)
    blind = experience.fit(one_age, settings, AXES, CELLS).facts
    assert blind["rounds"] == 5
    assert 15 <= learned["rounds"] < 150
    fixed = inputs.demo(ALONE, "population.experience.choose_rounds=false").population
    assert experience.fit(rows, fixed, AXES, CELLS).facts["rounds"] == 150
    assert learned["residual_sd"] < experience.fit(rows, fixed, AXES, CELLS).facts["residual_sd"]


def test_waves_and_relatives_stay_in_one_fold() -> None:
    family = np.array([7, 3, 7, 900, 3, 12, 44, 45, 46, 47])
    fold = experience._folds(family, 5)
    assert fold[0] == fold[2]
    assert fold[1] == fold[4]
    sizes = [len(set(family[fold == k])) for k in range(5)]
    assert sum(sizes) == 8
    assert max(sizes) - min(sizes) <= 1
    np.testing.assert_array_equal(experience._folds(family[::-1], 5), fold[::-1])


def test_the_shipped_extract_meets_the_survey_and_every_row_fits_its_table() -> None:
    rows = extract.read(resources.resolve("bundled:psid_synthetic.zip")).rows.to_pandas()
    fitted = experience.fit(rows.assign(synthetic=True), CFG.population, AXES, inputs.cells(CFG))
    assert fitted.facts["moments_outside"] == []
    assert fitted.facts["psid_rows_outside_survey"] > 0
    table = pd.DataFrame(fitted.rows)
    assert set(table.columns) | {"audit_id"} == set(tables.ddl_columns("experience_fit"))
    assert not table.duplicated(["kind", "name"]).any()
    kinds = {"STRING": str, "BIGINT": int, "INT": int, "DOUBLE": float}  # as Spark takes them
    for row in fitted.rows:
        for name, sql in tables.ddl_columns("experience_fit").items():
            assert row.get(name) is None or isinstance(row[name], kinds[sql]), (name, row)
    moments = table[table["kind"] == "moment"]
    assert (moments["status"] == "within").all()
    everybody = table.iloc[0]
    assert everybody["name"] == "everybody"
    assert 0.9 < everybody["coverage_95"] < 0.99
    assert everybody["qq_correlation"] > 0.99
    finest = table[table["name"].str.contains(", male, age ")]
    assert finest["sigma"].tolist() == fitted.sigma[:, :, 1].ravel().tolist()
