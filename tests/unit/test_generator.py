"""The sequential generator: shrinkage, design, draws, and what its weights do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import population_inputs as inputs
from fairscreen.population import generator as gen

JOB = "registered_nurses"


def test_shrinkage_by_hand() -> None:
    n = np.array([30.0, 0.0])
    w = np.array([[90.0, 10.0], [0.0, 0.0]])
    coarser = np.array([0.5, 0.5])
    got = gen.shrink(n, w, coarser, prior_n=10)
    # 30 people at 0.9 and 10 at 0.5; nobody: the coarser stratum
    np.testing.assert_allclose(got, [[0.8, 0.2], [0.5, 0.5]])


def test_state_table_follows_its_chain() -> None:
    cfg, g = inputs.generator()
    cells = inputs.cells(cfg, 5).query("job == @JOB")
    share = cells.groupby("state")["weight"].sum() / cells["weight"].sum()
    prior = cfg.population.prior_n
    for chosen in ("race == 'white'", "gender == 'male'", "age >= 40"):
        cells = cells.query(chosen)
        own = cells.groupby("state")["weight"].sum().reindex(share.index, fill_value=0)
        n = cells["people"].sum()
        share = (n * own / own.sum() + prior * share) / (n + prior)
    table = g.jobs[JOB].state[1, 0, g.domain.band_of_age[-1]]
    got = pd.Series(table, index=g.domain.states)
    np.testing.assert_allclose(got[share.index], share, atol=1e-12)


def test_every_conditional_is_a_distribution() -> None:
    _, g = inputs.generator()
    for model in g.jobs.values():
        for table in (model.state, model.education):
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=-1), 1)
        assert model.population.sum() == pytest.approx(1)
        assert model.design.sum() == pytest.approx(1)


def test_gender_is_balanced_exactly_and_independent_of_race_and_age() -> None:
    cfg, g = inputs.generator()
    model = g.jobs[JOB]
    np.testing.assert_allclose(model.design[0], model.design[1])
    np.testing.assert_allclose(model.design.sum(axis=0), model.population.sum(axis=0))
    rows = inputs.simulate(cfg, g, JOB, 400)
    assert (rows["gender"] == "female").sum() == 200


def test_both_balanced_gives_equal_cells() -> None:
    cfg, g = inputs.generator("population.balance=[gender, race]")
    rows = inputs.simulate(cfg, g, JOB, 600)
    assert rows.groupby(["gender", "race"]).size().tolist() == [100] * 6
    assert g.jobs[JOB].design.sum(axis=2).ravel() == pytest.approx(1 / 6)
    only_race = gen.design_density(g.jobs[JOB].population, ("race",))
    np.testing.assert_allclose(only_race.sum(axis=(0, 2)), 1 / 3)
    np.testing.assert_allclose(only_race.sum(axis=1), g.jobs[JOB].population.sum(axis=1))


@pytest.mark.parametrize("balance", ["[gender]", "[race]", "[gender, race]", "[]"])
def test_weights_turn_the_design_into_the_population(balance: str) -> None:
    _, g = inputs.generator(f"population.balance={balance}")
    for model in g.jobs.values():
        p, q = model.population, model.design
        full, z_gender, z_race = gen.weights(model)
        np.testing.assert_allclose(q * full, p, atol=1e-15)
        np.testing.assert_allclose((q * z_gender).sum(axis=0), p.sum(axis=0), atol=1e-15)
        np.testing.assert_allclose((q * z_race).sum(axis=1), p.sum(axis=1), atol=1e-15)


def test_draws_follow_the_tables() -> None:
    cfg, g = inputs.generator()
    n = 60_000
    rows = inputs.simulate(cfg, g, JOB, n)
    model, axes = g.jobs[JOB], g.domain
    state = np.einsum("gra,gras->s", model.design, model.state[:, :, axes.band_of_age])
    got = rows["state"].value_counts().reindex(axes.states, fill_value=0).to_numpy()
    z = (got - n * state) / np.sqrt(n * state * (1 - state) + 1e-9)
    assert np.abs(z[n * state > 5]).max() < 4
    assert got[state == 0].sum() == 0
    # design-weighted: the population's gender share, within four standard errors
    w = rows["design_weight"].astype(float).to_numpy()
    male = (rows["gender"] == "male").to_numpy()
    error = 4 * np.std(w * male) / np.sqrt(n)
    assert abs((w * male).mean() - model.population[1].sum()) < error


def test_rows_depend_on_seed_and_key_only() -> None:
    cfg, g = inputs.generator()
    many, few = inputs.simulate(cfg, g, JOB, 300), inputs.simulate(cfg, g, JOB, 100)
    pd.testing.assert_frame_equal(many.iloc[:100], few)
    cfg, other = inputs.generator("seed=8")
    assert (inputs.simulate(cfg, other, JOB, 100)["surname"] != few["surname"]).mean() > 0.9


def test_given_variables_stay_and_the_rest_is_drawn_as_somebody_else() -> None:
    _, g = inputs.generator()
    n = 2000
    ids = [f"{JOB}-{i:07d}" for i in range(n)]
    u = gen.uniforms(g.seed, ids)
    z = {"race": np.zeros(n, dtype=np.int64), "age": np.full(n, 20)}
    women = gen.draw(g, JOB, gender=np.zeros(n, dtype=np.int64), u=u, **z)
    men = gen.draw(g, JOB, gender=np.ones(n, dtype=np.int64), u=u, **z)
    kept = {"state": women.state, "first_name": women.first_name, "surname": women.surname}
    crossed = gen.draw(g, JOB, gender=np.ones(n, dtype=np.int64), u=u, given=kept, **z)
    np.testing.assert_array_equal(crossed.first_name, women.first_name)
    np.testing.assert_array_equal(men.surname, women.surname)  # race is the same, so is u
    assert (men.first_name != women.first_name).mean() > 0.95  # Casey may stay Casey
    same_state = men.state == women.state
    np.testing.assert_array_equal(crossed.edu_level[same_state], men.edu_level[same_state])
    assert (crossed.months != women.months).any()
