"""Planted paired callbacks as the tables of an audit: pair_documents and scores, no Spark.

P(yes) of a profile is a model's base, plus its gap by race where the name is a white one, plus its
gap by gender where it is a man's, plus the effect of the name; answers of a posting hang together
through a normal threshold of posting and of profile. So the gap of every contrast is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import ndtri

from fairscreen.analyze_callbacks import analyze_callbacks
from fairscreen.config import load
from fairscreen.settings.callback_audit import CallbackConfig
from fairscreen.tables import ddl_columns

NAMES = 19  # of each race and gender
RACES, GENDERS = ("white", "black"), ("male", "female")
REGIONS = ("northeast", "midwest", "south", "west")
SLICES = {"company": 6, "industry": 3, "state": 4, "metro": 5, "job_type": 2}
AUDIT = "planted"


@dataclass(frozen=True)
class Planted:
    """race, gender: gaps (shares) for white, for male; silent: shares of white, of other names
    without an answer; logprobs: whether there is P(yes)."""

    base: float = 0.3
    race: float = 0.0
    gender: float = 0.0
    name_sd: float = 0.0
    silent: tuple[float, float] = (0.0, 0.0)
    logprobs: bool = False


def config(folder: Path, models: Sequence[str], *overrides: str) -> CallbackConfig:
    """The design's defaults with these models; names are first names."""
    file = folder / "callbacks.yml"
    listed = "".join(f"    {m}: {{kind: planted_callbacks}}\n" for m in models)
    file.write_text(
        f"audit_id: {AUDIT}\ntitle: Planted\ndesign: paired_callback\n"
        f"names: {{surname_of: pair}}\nscoring:\n  models:\n{listed}"
    )
    cfg = load(file, list(overrides))
    assert isinstance(cfg, CallbackConfig)
    return cfg


def pair_documents(
    postings: int, *, per_posting: int = 4, names: int = NAMES, seed: int = 1, placebo: float = 0.1,
    slices: Mapping[str, int] = SLICES, empty: float = 0.0,
) -> pd.DataFrame:  # fmt: skip
    """Rows of pair_documents: contrasts race and gender of the design's defaults, and placebo.

    slices: number of values of each column; empty: share of postings without a company.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n = postings * per_posting
    posting, pair = (
        np.repeat(np.arange(postings), per_posting),
        np.tile(np.arange(per_posting), postings),
    )
    parts = []

    def add(contrast: str, within: np.ndarray, at: np.ndarray, race: list, gender: list) -> None:
        own = rng.integers(0, names, (2, len(at)))
        if contrast == "placebo":  # two names of one group, never the same one
            own[1] = (own[0] + rng.integers(1, names, len(at))) % names
        for k, side in enumerate(("favored", "other")):
            parts.append(
                pd.DataFrame(
                    {
                        "posting": posting[at], "pair_id": pair[at], "contrast": contrast,
                        "kind": "placebo" if contrast == "placebo" else "real",
                        "within": within, "side": side, "r": race[k], "g": gender[k], "k": own[k],
                    }
                )
            )  # fmt: skip

    every, g = np.arange(n), rng.integers(0, 2, n)
    zero, one = np.zeros(n, dtype=int), np.ones(n, dtype=int)
    shared = np.char.add("gender=", np.array(GENDERS)[g])
    add("race", shared, every, [zero, one], [g, g])
    for code, name in enumerate(RACES):
        add("gender", np.full(n, f"race={name}"), every, [code * one] * 2, [zero, one])
    at = np.flatnonzero(np.isin(posting, rng.permutation(postings)[: int(placebo * postings)]))
    if len(at):
        r, g = rng.integers(0, 2, (2, len(at)))
        text = np.array(
            [f"gender={GENDERS[b]}; race={RACES[a]}" for a, b in zip(r, g, strict=True)]
        )
        add("placebo", text, at, [r, r], [g, g])
    docs = pd.concat(parts, ignore_index=True)
    told = {"posting_id": np.array([f"p{i:05d}" for i in range(postings)])}
    for column, count in slices.items():
        told[column] = np.array([f"{column} {k:03d}" for k in rng.integers(0, count, postings)])
    told["region"] = np.array(REGIONS)[rng.integers(0, 4, postings)]
    told["company"] = np.where(rng.random(postings) < empty, None, told["company"].astype(object))
    for column, values in told.items():
        docs[column] = values[docs["posting"].to_numpy()]
    race, gender = np.array(RACES)[docs["r"]], np.array(GENDERS)[docs["g"]]
    docs["race"], docs["gender"] = race, gender
    docs["group"] = 2 * docs["r"] + docs["g"]
    docs["code"] = docs["group"] * names + docs["k"]
    docs["first_name"] = np.char.add(
        np.char.add(np.char.add(race.astype(str), gender.astype(str)), "-"),
        np.char.zfill(docs["k"].astype(str).to_numpy(dtype=str), 2),
    )
    docs["document_id"] = (
        docs["posting_id"] + "/" + docs["pair_id"].astype(str) + "/" + docs["contrast"] + "/"
        + docs["within"] + "/" + docs["side"]
    )  # fmt: skip
    return docs.assign(
        audit_id=AUDIT, surname="Miller", age=25, prompt_key="p", content_key="c", text="{}"
    )


def answers(
    docs: pd.DataFrame, models: Mapping[str, Planted],
    contrasts: Mapping[str, Sequence[str]] | None = None, *, seed: int = 5,
) -> tuple[pd.DataFrame, pd.DataFrame]:  # fmt: skip
    """Rows of scores, and of replies where a model has P(yes).

    contrasts: by model, those that it is asked about, the placebo always; None = all.
    """
    scores, replies = [], []
    posting, pair = docs["posting"].to_numpy(), docs["pair_id"].to_numpy()
    profile = posting * (pair.max() + 1) + pair
    for i, (model, p) in enumerate(models.items()):
        rng = np.random.Generator(np.random.PCG64([seed, i]))
        effect = rng.normal(0, p.name_sd, docs["code"].max() + 1)
        chance = (
            p.base + p.race * (docs["r"] == 0) + p.gender * (docs["g"] == 0)
            + effect[docs["code"]]
        ).clip(0.001, 0.999).to_numpy()  # fmt: skip
        common = 0.6 * rng.normal(size=posting.max() + 1)[posting]
        common += 0.5 * rng.normal(size=profile.max() + 1)[profile]
        noise = np.sqrt(1 - 0.6**2 - 0.5**2) * rng.normal(size=len(docs))
        yes = common + noise < ndtri(chance)
        gone = rng.random(len(docs)) < np.array(p.silent)[docs["r"]]
        asked = np.ones(len(docs), dtype=bool)
        if contrasts is not None:
            asked = docs["contrast"].isin([*contrasts[model], "placebo"]).to_numpy()
        keys = np.array([f"{v:016x}" for v in rng.integers(0, 2**63, len(docs))], dtype=object)
        some = pd.DataFrame(
            {
                "audit_id": AUDIT, "request_id": model + "/" + docs["document_id"],
                "document_id": docs["document_id"], "applicant_id": docs["posting_id"],
                "job": "call", "document_format": "text", "model": model, "replicate": 0,
                "call_key": keys, "parser": "yes_no_one_word/2",
                "outcome": np.where(gone, "unparseable", "ok"),
                "reason": np.where(gone, "no_yes_or_no", None), "contrast": docs["contrast"],
                "score": np.where(gone, np.nan, yes), "reply_wave": "w1", "version": docs["side"],
            }
        )  # fmt: skip
        scores.append(some[asked])
        if p.logprobs:
            replies.append(
                pd.DataFrame({"call_key": keys, "wave_id": "w1", "p_yes": chance})[asked]
            )
    known = pd.concat(replies, ignore_index=True) if replies else pd.DataFrame(
        {"call_key": [], "wave_id": [], "p_yes": []}
    )  # fmt: skip
    return pd.concat(scores, ignore_index=True), known


_ARROW = {"INT": pa.int32(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_(),
          "TIMESTAMP": pa.timestamp("us")}  # fmt: skip


def arrow(frame: pd.DataFrame, name: str) -> pa.Table:
    """Rows with the columns of a table; decimals as doubles, columns that frame lacks null."""
    kinds = {
        c: pa.float64() if t.startswith("DECIMAL") else _ARROW.get(t, pa.string())
        for c, t in ddl_columns(name).items()
    }
    schema = pa.schema(list(kinds.items()))
    frame = frame.assign(**{c: None for c in kinds if c not in frame.columns})
    return pa.Table.from_pandas(frame[list(kinds)], schema, preserve_index=False)


def table(spark: Any, frame: pd.DataFrame, name: str) -> Any:
    """The same as a DataFrame of a session, classic or Connect."""
    rows = spark.createDataFrame(arrow(frame, name))
    return rows.select(*(rows[c].cast(t).alias(c) for c, t in ddl_columns(name).items()))


def coded(
    docs: pd.DataFrame, scores: pd.DataFrame, replies: pd.DataFrame, cfg: CallbackConfig
) -> tuple[pd.DataFrame, dict[str, list[str]], list[str]]:
    """The rows of `audits.callbacks.pairs`, made in pandas, with texts of codes, and names."""
    columns = dict.fromkeys(("within", *cfg.estimation.slices, "company"))
    values = {c: sorted(docs[c].dropna().unique()) for c in columns}
    names = sorted(docs["first_name"].unique())
    keys = ["posting", "contrast", "pair_id", "within"]
    both = scores.merge(docs[["document_id", *keys, "side", "first_name"]], on="document_id",
                        suffixes=("_of_score", ""))  # fmt: skip
    both = both.merge(replies[["call_key", "p_yes"]], on="call_key", how="left")
    sides = []
    for side in ("favored", "other"):
        some = both[both["side"] == side].set_index(["model", *keys, "replicate"])
        sides.append(
            pd.DataFrame(
                {
                    f"{side}_name": some["first_name"].map(names.index),
                    side: some["score"].fillna(2).astype(int), f"{side}_p": some["p_yes"],
                }
            )
        )  # fmt: skip
    frame = sides[0].join(sides[1]).reset_index()
    shown = docs.drop_duplicates("posting").set_index("posting")
    for c in columns:
        texts = frame[c] if c == "within" else frame["posting"].map(shown[c])
        frame[c] = texts.map({v: k for k, v in enumerate(values[c])}).fillna(-1).astype(int)
    return frame.assign(placebo=frame["contrast"] == "placebo"), values, names


def as_file(
    docs: pd.DataFrame,
    scores: pd.DataFrame,
    replies: pd.DataFrame,
    model: str,
    cfg: CallbackConfig,
    contrast: str,
) -> pd.DataFrame:
    """One model's answers of one contrast and its placebo pairs, as `analyze callbacks` reads them.
    The arm of a placebo pair is its side's."""
    mine = scores[scores["model"] == model].merge(replies, on="call_key", how="left")
    frame = docs[docs["contrast"].isin([contrast, "placebo"])].merge(
        mine[["document_id", "score", "p_yes"]], on="document_id"
    )
    told = cfg.contrasts[contrast]
    for factor in told.favored:
        values = {"favored": told.favored[factor], "other": told.other[factor]}
        frame[factor] = frame["side"].map(values)
    frame["callback"] = frame["score"].map({1.0: "yes", 0.0: "no"})
    frame["placebo"] = np.where(frame["kind"] == "placebo", "yes", "no")
    return frame.rename(columns={"first_name": "name"}).sample(frac=1, random_state=3)


#: Columns of a result that are compared; families hold all models of an audit.
COMPARED = ("estimate", "std_error", "ci_low", "ci_high", "p_value", "n", "status", "reason",
            "favors_when_positive")  # fmt: skip


def of_file(
    frame: pd.DataFrame, cfg: CallbackConfig, contrast: str
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Rows of `analyze callbacks` on `as_file`, by slice, estimand and method, as an audit has
    them: each slice column on its own, labels permuted where names are whole."""
    (attribute,) = cfg.contrasts[contrast].favored
    shared = "gender" if attribute == "race" else "race"
    told = cfg.estimation
    given = {
        "pair": ["posting_id", "pair_id", "within"], "arm": attribute,
        "favored": cfg.contrasts[contrast].favored[attribute],
        "other": cfg.contrasts[contrast].other[attribute], "outcome": "callback",
        "cluster": "posting_id", "name": "name", "level": told.level, "draws": told.draws,
        "permutations": told.permutations, "margin": told.margin, "seed": cfg.seed,
        "p_yes": "p_yes" if frame["p_yes"].notna().any() else None,
    }  # fmt: skip
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    real = frame[frame["placebo"] == "no"]

    def keep(rows: Sequence[Mapping[str, Any]], only: str | None = None) -> None:
        for row in rows:
            if only is None or row["slice"].startswith(only):
                found[row["slice"], row["estimand"], row["method"]] = {c: row[c] for c in COMPARED}

    keep(analyze_callbacks(frame, placebo="placebo", **given)["rows"])
    for column in told.slices:
        name = shared if column == "within" else column
        rows = analyze_callbacks(real, slices=[name], **given)["rows"]
        if column != "within":
            rows = [row for row in rows if row["method"] != "name_permutation"]
        keep(rows, f"{name}=")
    firm = analyze_callbacks(real, firm="company", **given)["rows"]
    keep([row for row in firm if row["estimand"] == "firm_variance_pp2"])
    return found


def same(got: Mapping[str, Any], want: Mapping[str, Any], where: object) -> None:
    """Equal but for the last digits of sums taken in another order."""
    for column in COMPARED:
        one, two = got[column], want[column]
        if isinstance(one, float) and isinstance(two, float):
            assert abs(one - two) <= 1e-12 * max(1.0, abs(two)), (where, column, one, two)
        else:
            assert one == two, (where, column, one, two)
