"""The published preset against the figures of the paper (PopResume, section 4, appendix C)."""

from __future__ import annotations

from fairscreen import resources
from fairscreen.config import load


def test_published_settings() -> None:
    cfg = load(resources.path("conf", "audits", "published.yml"))
    people, estimation = cfg.population, cfg.estimation
    assert people.mode == "surveyed"
    assert (people.age_min, people.age_max) == (18, 44)
    assert people.races == {"white": ("1",), "black": ("2",), "asian_pacific": ("6", "7")}
    groups = [len(levels) for levels in people.education_groups.values()]
    assert groups == [2, 2, 3]  # first two low, next two medium, last three high
    assert people.first_names.gender_threshold == 0.75
    assert people.first_names.cohort_threshold == 0.5
    assert people.surname_threshold == 0.5
    experience = people.experience
    assert experience.match_survey
    assert not experience.calibrate
    assert experience.target == "years"
    assert not experience.choose_rounds
    assert experience.residuals == "training"
    assert experience.sigma == "residual_sd"
    assert experience.location == "as_published"
    assert estimation.learner == "xgboost"
    assert (estimation.folds, estimation.repeats, estimation.bootstrap_draws) == (5, 1, 500)
    assert set(estimation.roles.business) == {"edu_group", "exp_year"}
    demo = load(resources.path("conf", "audits", "demo.yml"))
    assert demo.population.mode == "balanced"
    assert demo.population.jobs == people.jobs
