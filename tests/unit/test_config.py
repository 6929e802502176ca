"""Bad settings stop before any work, with file, field and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairscreen import resources
from fairscreen.config import load
from fairscreen.errors import ConfigError

DEMO = resources.path("conf", "audits", "demo.yml")

BAD = [
    (
        "estimation.overlap.clip=0.7",
        "estimation.overlap.clip: 0.7: leaves no propensity between its bounds. "
        "Give a value in (0, 0.5); the default is 0.001. Correct this field.",
    ),
    (
        "population.age_min=3",
        "population.age_min: 3: Input should be greater than or equal to 16. Correct this field.",
    ),
    ("population.surname_threshold=.nan", "population.surname_threshold: nan: Input should be a "
     "finite number. Correct this field."),
    ("seed=.inf", "seed: inf: Input should be a finite number. Correct this field."),
    ("learner=trees", "learner: 'trees': Extra inputs are not permitted. Correct this field."),
    (
        "estimation.learner=forest",
        "estimation.learner: 'forest': Input should be 'saturated' or 'xgboost'. "
        "Correct this field.",
    ),
    (
        "audit_id=My Audit",
        "audit_id: 'My Audit': String should match pattern '^[a-z0-9][a-z0-9_-]{0,62}$'. "
        "Correct this field.",
    ),
    (
        "documents.as_of=2024-13",
        "documents.as_of: '2024-13': String should match pattern '^\\d{4}-(0[1-9]|1[0-2])$'. "
        "Correct this field.",
    ),
    (
        "population.age_max=17",
        "population: age_min is above age_max; swap them. Correct this field.",
    ),
    (
        'population.races={white: ["1"], other: ["1"]}',
        "population: races maps code 1 twice; keep it once. Correct this field.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("override", "message"), BAD, ids=[b[0] for b in BAD])
def test_bad_setting(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(DEMO, [override])
    assert str(caught.value) == f"{DEMO}, {message}"


def test_missing_file() -> None:
    with pytest.raises(ConfigError) as caught:
        load("nowhere.yml")
    expected = "nowhere.yml: No such file or directory. Give the path of an audit's YAML file."
    assert str(caught.value) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("a: [1\n", "{f}, line 2: is not valid YAML. Correct the file."),
    ("- a\n", "{f}: holds no settings. Start from conf/audits/demo.yml."),
])  # fmt: skip
def test_unreadable_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "x.yml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(file)
    assert str(caught.value) == message.format(f=file)


def test_override_that_is_none() -> None:
    with pytest.raises(ConfigError) as caught:
        load(DEMO, ["seed"])
    assert str(caught.value) == "--set seed: is not key.path=value. Write --set seed=7."


@pytest.mark.parametrize(
    "file", sorted(resources.path("conf", "audits").glob("*.yml")), ids=lambda f: f.stem
)
def test_every_shipped_audit_loads(file: Path) -> None:
    cfg = load(file)
    assert cfg.audit_id == file.stem
    for job in cfg.population.jobs.values():
        assert all(len(code) == 4 for code in job.occp + job.psid_occp)


def test_maps_of_choice_are_replaced_whole() -> None:
    cfg = load(DEMO, ['population.jobs={a: {title: A, occp: ["0800"], psid_occp: ["0800"]}}'])
    assert list(cfg.population.jobs) == ["a"]


def test_hash_follows_settings_not_order_or_layer() -> None:
    base = load(DEMO)
    assert load(DEMO, [f"seed={base.seed}"]).hash() == base.hash()
    assert load(DEMO, ["seed=1"]).hash() != base.hash()
    assert load(DEMO, ["seed=1"]).hash("population") == base.hash("population")
