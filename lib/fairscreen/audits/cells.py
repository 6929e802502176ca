"""Scores to cells: what Spark reduces before anything is inferred.

A case is one (model, document format, contrast, slice). Every answered applicant enters the slice
of the job and, where there are several jobs, the pooled slice `all`, in which the job is one more
confounder. Cells hold integer codes and exact decimal sums, so they are the same whatever the
order or the partitions of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from fairscreen import random
from fairscreen.audits.coding import (
    CONFOUNDERS,
    Resolution,
    codes_of,
    grouped,
    units_of,
)
from fairscreen.config import Config
from fairscreen.errors import ConfigError

POOLED = "all"
CASE = ("case", "model", "document_format", "contrast", "slice")
KEY = (
    "x", "z", "r", "b", "z_units", "r_units", "b_units", "w", "fold", "p_z", "p_rz", "p_brz",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One thing to estimate. `index` is its integer code; `slice` is `job=KEY` or `all`."""

    index: int
    model: str
    document_format: str
    contrast: str
    slice: str

    @property
    def pooled(self) -> bool:
        return self.slice == POOLED

    @property
    def photo(self) -> bool:
        return "photo" in self.document_format


def cases(cfg: Config) -> list[Case]:
    """Every case of the audit in a fixed order, whether or not anybody answered."""
    jobs = [f"job={key}" for key in cfg.population.jobs]
    slices = [*jobs, POOLED] if len(jobs) > 1 else jobs
    found = [
        (model, document_format, contrast, piece)
        for model in cfg.scoring.models
        for document_format in cfg.documents.formats
        for contrast in cfg.estimation.contrasts
        for piece in slices
    ]
    return [Case(i, *parts) for i, parts in enumerate(found)]


def case_index(cfg: Config) -> Column:
    """`Case.index` of rows that have the other columns of CASE."""
    index = {(c.model, c.document_format, c.contrast, c.slice): c.index for c in cases(cfg)}
    names = sf.create_map(*(sf.lit(v) for key, i in index.items() for v in ("\x1f".join(key), i)))
    return names[sf.concat_ws("\x1f", *CASE[1:])].cast("int")


def coded(
    applicants: DataFrame,
    scores: DataFrame,
    known: DataFrame | None,
    cfg: Config,
    codes: Mapping[str, Sequence[str]],
    how: Resolution | None = None,
) -> DataFrame:
    """One row per case and answered applicant: the rows of `asked` that have a score."""
    return asked(applicants, scores, known, cfg, codes, how).where(sf.col("y").isNotNull())


def asked(
    applicants: DataFrame,
    scores: DataFrame,
    known: DataFrame | None,
    cfg: Config,
    codes: Mapping[str, Sequence[str]],
    how: Resolution | None = None,
) -> DataFrame:
    """One row per case and applicant: codes, weights, folds, the cell, the score y or null.

    y is the mean of the applicant's scores over replicates, DECIMAL(13,8); null where no request
    has one. how: the resolution of the mediators, default grouped; codes: `code_lists` at it.
    `known` (known_propensity) is used where the config asks for it.
    """
    options = cfg.estimation
    how = how or grouped(cfg)
    answered = (
        scores.where(sf.col("outcome") == "ok")
        .where(sf.col("version").isNull())  # own documents: versions are for rescoring
        .where(sf.col("model").isin(*cfg.scoring.models))
        .where(sf.col("document_format").isin(*cfg.documents.formats))
        .groupBy("model", "document_format", "applicant_id")
        .agg((sf.sum("score") / sf.count("score")).cast("decimal(13,8)").alias("y"))
    )
    entries = [
        _entry(name, pooled, cfg, codes, how)
        for name in options.contrasts
        for pooled in ((False, True) if len(cfg.population.jobs) > 1 else (False,))
    ]
    folds = [_fold(cfg, repeat) for repeat in range(options.repeats)]
    people = applicants.where(sf.col("job").isin(*cfg.population.jobs)).select(
        "applicant_id",
        "design_weight",
        codes_of(how.redlining, how, codes).alias("r"),
        codes_of(how.business, how, codes).alias("b"),
        units_of(how.redlining, how).alias("r_units"),
        units_of(how.business, how).alias("b_units"),
        sf.array(*folds).alias("fold"),
        sf.explode(sf.array(*entries)).alias("entry"),
    )
    people = people.select("*", "entry.*").drop("entry")
    if options.propensity == "known" and known is not None:
        truth = known.select("contrast", "applicant_id", "p_z", "p_rz", "p_brz")
        people = people.join(truth, ["contrast", "applicant_id"], "left")
    else:
        missing = [sf.lit(None).cast("double").alias(p) for p in ("p_z", "p_rz", "p_brz")]
        people = people.select("*", *missing)
    pairs = [
        sf.struct(sf.lit(m).alias("model"), sf.lit(f).alias("document_format"))
        for m in cfg.scoring.models
        for f in cfg.documents.formats
    ]
    people = people.withColumn("pair", sf.explode(sf.array(*pairs))).select("*", "pair.*")
    rows = people.join(answered, ["model", "document_format", "applicant_id"], "left")
    rows = rows.withColumn("case", case_index(cfg))
    rows = rows.withColumn("cell", sf.xxhash64(*KEY))
    return rows.select(*CASE, *KEY, "cell", "applicant_id", "design_weight", "y")


def cells(coded_rows: DataFrame) -> DataFrame:
    """Cells of `coded` or `asked` rows per case and key: n who answered, sum_y, sum_yy (exact
    decimals) of their scores, and `asked`: n and those who did not.

    Applicants of w = 0 (the z_weight of the contrast's attribute) are left out: nobody surveyed
    has their confounders, which a balanced design may draw.
    """
    square = (sf.col("y") * sf.col("y")).cast("decimal(27,16)")
    return (
        coded_rows.where(sf.col("w") > 0)
        .groupBy(*CASE, *KEY, "cell")
        .agg(
            sf.count("y").alias("n"),
            sf.count(sf.lit(1)).alias("asked"),
            sf.coalesce(sf.sum("y"), sf.lit(0)).alias("sum_y"),
            sf.coalesce(sf.sum(square), sf.lit(0)).alias("sum_yy"),
        )
    )


def histogram(coded_rows: DataFrame) -> DataFrame:
    """How often each score occurs, per case, group (x) and design weight.

    Weight 0 stays in: such applicants answered, and the sample as drawn holds them.
    """
    return coded_rows.groupBy(*CASE, "x", "y", "design_weight").agg(sf.count("y").alias("n"))


def confounders(attribute: str, *, pooled: bool) -> tuple[str, ...]:
    """The columns that z holds, in order."""
    rest = tuple(c for c in CONFOUNDERS if c != attribute)
    return ("job", *rest) if pooled else rest


def _entry(
    name: str, pooled: bool, cfg: Config, codes: Mapping[str, Sequence[str]], how: Resolution
) -> Column:
    contrast = cfg.estimation.contrasts[name]
    legal = {"gender": ("female", "male"), "race": cfg.population.race_labels}
    for value in (*contrast.x1, *contrast.x0):
        if value not in legal[contrast.attribute]:
            raise ConfigError(
                f"estimation.contrasts.{name}",
                f"{value} is no value of {contrast.attribute}",
                f"Values are: {', '.join(legal[contrast.attribute])}.",
            )
    attribute = sf.col(contrast.attribute)
    x = sf.when(attribute.isin(*contrast.x1), 1).when(attribute.isin(*contrast.x0), 0)
    others = confounders(contrast.attribute, pooled=pooled)
    return sf.struct(
        sf.lit(name).alias("contrast"),
        (sf.lit(POOLED) if pooled else sf.concat(sf.lit("job="), sf.col("job"))).alias("slice"),
        x.otherwise(-1).cast("int").alias("x"),
        codes_of(others, how, codes).alias("z"),
        units_of(others, how).alias("z_units"),
        sf.col(f"z_weight_{contrast.attribute}").alias("w"),
    )


def _fold(cfg: Config, repeat: int) -> Column:
    """`estimators.data.assign_folds` in Spark: the unsigned hash modulo the number of folds."""
    folds = cfg.estimation.folds
    signed = random.hash_column(cfg.seed, f"fold/{repeat}", sf.col("person_key"))
    wrap = sf.when(signed < 0, 2**64 % folds).otherwise(0)
    return sf.pmod(sf.pmod(signed, sf.lit(folds)) + wrap, sf.lit(folds)).cast("bigint")
