"""The audit's jobs made concrete, once the survey is there: before the applicants station."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from fairscreen.config import Config
from fairscreen.documents import pools
from fairscreen.population import jobs, joint, occupations
from fairscreen.population.jobs import Chosen, Counted, Pool
from fairscreen.settings.population import Select
from fairscreen.stations.ingest import Bronze
from fairscreen.tables import Warehouse


def concrete(cfg: Config, warehouse: Warehouse, bronze: Bronze) -> tuple[Config, Chosen]:
    """The config with jobs in the survey's own codes and without a selector, and how it came.

    Raises InputError where an occupation is unknown, not surveyed, or without content.
    """
    population = cfg.population
    survey = joint.choose_survey(bronze.surveys, population.vintage, population.period)
    vintage = survey[0]
    picked = Chosen(dict(population.jobs))
    if wanted := population.select:
        acs = warehouse.read("acs_person").where(
            sf.col("source_sha256").isin(*bronze.sha256["acs"])
        )
        ages = (population.age_min, population.age_max)
        counted = counts(acs, survey, esr=population.esr, ages=ages)
        known = (*shipped(), *_given(wanted, vintage))
        picked = jobs.select(counted, wanted, known, seed=cfg.seed, vintage=vintage)
    chosen = jobs.concrete(picked.jobs, vintage)
    population = population.model_copy(update={"jobs": chosen.jobs, "select": None})
    notes = (*picked.notes, *chosen.notes)
    return (
        cfg.model_copy(update={"population": population}),
        Chosen(chosen.jobs, notes, picked.detail),
    )


def counts(
    acs: DataFrame, survey: joint.Survey, *, esr: Sequence[str], ages: tuple[int, int]
) -> list[Counted]:
    """Occupations of one survey among the employed of these ages, in no order."""
    vintage, period = survey
    rows = joint.occupation_counts(acs, vintage, period=period, esr=esr, ages=ages).collect()
    return [Counted(r["occp"], int(r["people"]), int(r["weighted"])) for r in rows]


def shipped() -> tuple[Pool, ...]:
    """The content that ships, by job."""
    loaded = {key: pools.load_pools(key) for key in pools.shipped_jobs()}
    return tuple(Pool(key, content.title, content.occp) for key, content in loaded.items())


def _given(wanted: Select, vintage: int) -> tuple[Pool, ...]:
    """The user's own content; a bad file stops here, not when resumes are rendered."""
    which, found = occupations.list_of(vintage), []
    for code, path in wanted.content.items():
        key = jobs.slug(occupations.title(code, which))
        content = pools.load_pools(key, path)
        found.append(Pool(key, content.title, (code,), path))
    return tuple(found)
