"""Settings of ranking audits: what is refused, what a chat model is asked, what is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairscreen import resources
from fairscreen.config import DESIGNS, load
from fairscreen.errors import ConfigError, InputError
from fairscreen.stations import chain, ranking

AUDIT = resources.path("conf", "audits", "ranking.yml")

BAD = [
    ("population.n_per_job=5", "population: is no setting. Settings here are: audit_id, title, "
     "design, seed, preset, warehouse, out, mlflow_uri, scoring, corpus, labels, runs, "
     "information, leakage, estimation."),
    ("labels.runs=2", "labels.runs: is no setting. Settings here are: attribute, labels, none, "
     "placement, names, surnames, placebo, controls."),
    ("labels.placebo.labels=[A, A]", "labels: placebo.labels: A stands twice. Correct this field."),
    ("corpus.paths=[]", "corpus: paths is empty; give at least one. Correct this field."),
    ("corpus.per_industry=1", "corpus.per_industry: 1: Input should be greater than or equal to 2. "
     "Correct this field."),
    ("corpus.industries=[A, A]", "corpus: industries names A twice; keep it once. Correct this "
     "field."),
    ("runs=0", "runs: 0: Input should be greater than or equal to 1. Correct this field."),
    ("runs=true", "runs: True: is no number. Correct this field."),
    ("estimation.pairs=[[Male, Other]]", "(top level): estimation.pairs: Other is no label; labels "
     "are Male, Female. Correct this field."),
    ("estimation.pairs=[[Male, Male]]", "estimation: ('Male', 'Male') is no pair of two different "
     "names; write [a, b]. Correct this field."),
    ("estimation.level=.nan", "estimation.level: nan: Input should be a finite number. Correct "
     "this field."),
    ("estimation.published_draws=5", "estimation: published_draws: 5 is too few; give 99, or 0. "
     "Correct this field."),
    ("leakage.kinds=[smell]", "leakage: kinds: smell is none; kinds are gender_field, race_field, "
     "title, pronoun, self_description, membership, name, birth_date, age, marital_status, "
     "nationality, religion, photo, appearance, parental_leave. Correct this field."),
    ("scoring.models={m: {kind: planted_ranking, also_parsers: [number/2]}}", "(top level): "
     "scoring.models.m.also_parsers: parsers are compared by gender and race of applicants, which "
     "this design does not have; take them away. Correct this field."),
    ("preset=none", "preset: 'none' is no preset. Presets are: published."),
    ("design=path_specific", "corpus: is no setting. Settings here are: audit_id, title, design, "
     "seed, preset, warehouse, out, mlflow_uri, scoring, sources, population, documents, "
     "estimation."),
]  # fmt: skip


@pytest.mark.parametrize(("override", "message"), BAD, ids=[b[0] for b in BAD])
def test_bad_setting(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(AUDIT, [override])
    assert str(caught.value) == f"{AUDIT}, {message}"


def test_a_chat_model_is_asked_as_published_unless_it_says_otherwise() -> None:
    def screener(text: str):
        return load(AUDIT, [f"scoring.models={{m: {{kind: chat, {text}}}}}"]).scoring.models["m"]

    plain = screener("params: {model: gpt-4o-mini}")
    assert plain.params["prompt"] == "score_0_10_json"
    assert plain.parser == "score_0_10_json/2"
    own = screener("params: {model: gpt-4o-mini, prompt: mine.yml}")
    assert (own.params["prompt"], own.parser) == ("mine.yml", None)
    read = screener("params: {model: gpt-4o-mini}, parser: score_0_10/2")
    assert ("prompt" in read.params, read.parser) == (False, "score_0_10/2")


def test_the_published_settings() -> None:
    cfg = load(AUDIT, ["preset=published"])
    # The audit's own file stands above the preset.
    assert (cfg.labels.controls, cfg.corpus.per_industry) == (0.5, 20)
    assert cfg.leakage.policy == "keep"
    assert cfg.information.levels == (10, 40, 60, 100)
    assert cfg.pairs == {"male_vs_female": ("Male", "Female")}


def test_contrasts_are_named_by_their_labels() -> None:
    cfg = load(AUDIT, ["labels.attribute=Race", "labels.labels=[White, African American]"])
    assert cfg.attribute == "race"
    assert cfg.pairs == {"white_vs_african_american": ("White", "African American")}


def test_every_design_has_settings_and_stations() -> None:
    assert set(DESIGNS) == set(chain.DESIGNS)


def test_a_station_that_the_design_lacks() -> None:
    with pytest.raises(InputError) as caught:
        chain.run_audit(load(AUDIT), until="applicants")
    expected = (
        "station applicants: is none of the design ranking. Its stations are: render, score, "
    )
    assert str(caught.value) == expected + "estimate, report."


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("corpus.paths=[nowhere.csv]", "corpus.paths: nowhere.csv is not there. Give a table or a "
         "folder of resumes (a relative path starts in this folder)."),
        ("information.chunk_file=nowhere.csv", "nowhere.csv: no such file"),
        ("leakage.cues=nowhere.yml", "nowhere.yml"),
    ],
)  # fmt: skip
def test_files_are_looked_at_before_any_work(
    override: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        ranking.check(load(AUDIT, [override]))
    assert message in str(caught.value)
