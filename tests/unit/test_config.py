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
    ("population.period=2", "population.period: 2: Input should be 1, 3 or 5. Correct this field."),
    ("population.surname_threshold=.nan", "population.surname_threshold: nan: Input should be a "
     "finite number. Correct this field."),
    ("seed=.inf", "seed: inf: Input should be a finite number. Correct this field."),
    ("learner=trees", "learner: is no setting. Settings here are: audit_id, title, design, seed, "
     "preset, warehouse, out, mlflow_uri, scoring, sources, population, documents, estimation."),
    ("documents.pages=2", "documents.pages: is no setting. Settings here are: formats, as_of."),
    ("preset=nope", "preset: 'nope' is no preset. Presets are: published."),
    ("scoring.models={}", "scoring.models: Dictionary should have at least 1 item after "
     "validation, not 0. Correct this field."),
    ("scoring.models={m: {kind: planted, parser: number/1}}", "scoring.models.m: number/1 is no "
     "parser any more, number/2 has taken its place; parsers are number/2, cosine/1, "
     "score_0_100/2, score_0_10/2, score_0_100_json/2, score_0_10_json/2, yes_no_one_word/2, "
     "yes_no_first_occurrence/2. Correct this field."),
    ("scoring.models={m: {kind: planted, parser: word/1}}", "scoring.models.m: word/1 is no "
     "parser; parsers are number/2, cosine/1, score_0_100/2, score_0_10/2, score_0_100_json/2, "
     "score_0_10_json/2, yes_no_one_word/2, yes_no_first_occurrence/2. Correct this field."),
    ("scoring.models={m: {kind: planted, parser: number/2, also_parsers: [number/2]}}",
     "scoring.models.m: parser and also_parsers together names number/2 twice; keep it once. "
     "Correct this field."),
    ("estimation.compare=[[minilm, other]]", "(top level): estimation.compare: minilm and other "
     "are neither two models (minilm) nor two document formats (text). Correct this field."),
    ("estimation.compare=some", "estimation.compare: 'some': is neither `all` nor a list of pairs; "
     "write [[a, b]], or [] for none. Correct this field."),
    ("estimation.compare=[[a]]", "estimation.compare: [['a']]: ['a'] is no pair of two different "
     "names; write [a, b]. Correct this field."),
    ("estimation.compare=[[a, b], [b, a]]", "estimation.compare: [['a', 'b'], ['b', 'a']]: "
     "compares b and a twice; keep it once. Correct this field."),
    ("estimation.roles.redlining=[nope]", "estimation.roles: nope is no mediator; mediators are "
     "first_name, surname, first_name_gender, first_name_cohort, surname_race, state, region, "
     "edu_level, edu_group, exp_year, first_name_p_female, first_name_mean_year, "
     "surname_p_white, surname_p_black, surname_p_asian_pacific, surname_p_hispanic. Correct this "
     "field."),
    ("estimation.roles.business=[edu_group, region]", "estimation.roles: redlining and business "
     "together names region twice; keep it once. Correct this field."),
    ("estimation.approach=double", "estimation.approach: 'double': Input should be "
     "'observational', 'rescoring' or 'both'. Correct this field."),
    ("estimation.placebo_share=1.5", "estimation.placebo_share: 1.5: Input should be less than or "
     "equal to 1. Correct this field."),
    ("estimation.roles.bins={age: [30, 25], exp_year: [5]}", "estimation.roles: bins.age does not "
     "increase; sort its cut points. Correct this field."),
    ("estimation.roles.ungrouped.redlining=[surname, nope]", "estimation.roles.ungrouped: nope is "
     "no mediator; mediators are first_name, surname, first_name_gender, first_name_cohort, "
     "surname_race, state, region, edu_level, edu_group, exp_year, first_name_p_female, "
     "first_name_mean_year, surname_p_white, surname_p_black, surname_p_asian_pacific, "
     "surname_p_hispanic. Correct this field."),
    ("estimation.roles.ungrouped.redlining=[surname_p_hispanic]", "estimation.roles.ungrouped: "
     "numbers lacks surname_p_hispanic; give its step and its bins. Correct this field."),
    ("estimation.roles.ungrouped.numbers.exp_year.step=0", "estimation.roles.ungrouped.numbers."
     "exp_year.step: 0: Input should be greater than 0. Correct this field."),
    ("estimation.roles.ungrouped.numbers.region={step: 1, bins: []}", "estimation.roles.ungrouped: "
     "numbers.region.bins is no number; numbers are age, exp_year, first_name_p_female, "
     "first_name_mean_year, surname_p_white, surname_p_black, surname_p_asian_pacific, "
     "surname_p_hispanic. Correct this field."),
    ("population.balance=[gender, gender]", "population: balance names gender twice; keep it "
     "once. Correct this field."),
    ("population.jobs={}", "population: jobs is empty; give at least one. Correct this field."),
    ("population.select={draw: 5}", "population.select: give either largest (how many to choose "
     "from) or a list of occupations. Correct this field."),
    ("population.select={largest: 2, occupations: [x]}", "population.select: give either largest "
     "(how many to choose from) or a list of occupations. Correct this field."),
    ("population.select={occupations: [x], draw: 1}", "population.select: draw goes with largest; "
     "occupations that are named are all taken. Correct this field."),
    ("population.select={largest: 5, draw: 6}", "population.select: cannot draw 6 of the 5 "
     "largest; lower draw. Correct this field."),
    ("population.select={occupations: [x, x]}", "population.select: occupations names x twice; "
     "keep it once. Correct this field."),
    ("population.select={top: 5}", "population.select.top: is no setting. Settings here are: "
     "largest, draw, by, seed, occupations, content."),
    ("population.experience.learning_rate=5", "population.experience.learning_rate: 5: Input "
     "should be less than or equal to 1. Correct this field."),
    ("population.experience.min_sigma=21", "population.experience.min_sigma: 21: Input should be "
     "less than or equal to 20. Correct this field."),
    ("population.vintage=20240", "population.vintage: 20240: Input should be less than or equal to "
     "2100. Correct this field."),
    ("population.n_per_job=100000001", "population.n_per_job: 100000001: Input should be less than "
     "or equal to 100000000. Correct this field."),
    ("population.experience.waves=[]", "population.experience: waves is empty; give at least one. "
     "Correct this field."),
    ("population.experience.waves=[2019, 2019]", "population.experience: waves names 2019 twice; "
     "keep it once. Correct this field."),
    ("population.experience.schooling_bands=[12, 16]", "population.experience: schooling_bands "
     "begins at 12; the first bound must be 0, so that everybody has a band. Correct this field."),
    ("population.experience.schooling_bands=[0, 18]", "population.experience: schooling_bands has "
     "18; its bounds are 0 to 17. Correct this field."),
    ("population.experience.age_bands=[]", "population.experience: age_bands is empty; give at "
     "least one. Correct this field."),
    ("population.experience.age_bands=[30, 25]", "population.experience: age_bands does not "
     "increase; sort its bounds. Correct this field."),
    ("population.experience.age_bands=[18, 100]", "population.experience: age_bands has 100; its "
     "bounds are 0 to 99. Correct this field."),
    ("population.education.master=[]", "population: education.master is empty; give at least one. "
     "Correct this field."),
    ("population.education.master=['22', '25']", "population: education.master has no code 25; "
     "codes are 01 to 24. Correct this field."),
    ("population.education.high_school=['16', '1']", "population: education.high_school has no "
     "code 1; codes are 01 to 24. Correct this field."),
    ("population.jobs.accountants.occp=['800']", "population: jobs.accountants.occp: '800' is no "
     "code; codes are text of four digits, '0800'. Correct this field."),
    ("population.jobs.accountants.psid_occp=['0800', x]", "population: jobs.accountants.psid_occp: "
     "'x' is no code; codes are text of four digits, '0800'. Correct this field."),
    ("population.races={'': ['1']}", "population: races: '' is no name; give letters, digits, - "
     "and _, at most 63, the first a letter or digit. Correct this field."),
    ("population.races.two words=['9']", "population: races: 'two words' is no name; give letters, "
     "digits, - and _, at most 63, the first a letter or digit. Correct this field."),
    ("sources.acs=[]", "sources: acs is empty; give at least one. Correct this field."),
    ("sources.psid=[]", "sources: psid is empty; give at least one. Correct this field."),
    ('population.races={black: ["99"]}', "population: races.black has no code 99; codes are 1 "
     "to 9. Correct this field."),
    ("population.first_names.cohorts={old: [1990, 1980]}", "population.first_names: cohort old "
     "ends before it begins; swap 1990 and 1980. Correct this field."),
    ("population.first_names.cohorts={a: [1980, 1990], b: [1990, 2000]}", "population.first_names:"
     " cohort b overlaps the one before it; correct its years. Correct this field."),
    ("estimation.contrasts={c: {attribute: race, x1: [white], x0: [green], x1_label: w, "
     "x0_label: g}}", "(top level): contrast c: race has no value green; values are white, "
     "black, asian_pacific. Correct this field."),
    (
        "estimation.learner=forest",
        "estimation.learner: 'forest': Input should be 'stack', 'saturated', 'glm' or "
        "'xgboost'. "
        "Correct this field.",
    ),
    (
        "audit_id=My Audit",
        "audit_id: 'My Audit': is no slug: lower-case letters, digits, - and _, at most 63. "
        "Correct this field.",
    ),
    (
        "documents.as_of=2024-13",
        "documents.as_of: '2024-13': is no month of the years 1900 to 2099, written YYYY-MM. "
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
    ("population={hispanic: own_group, races: {white: ['1'], hispanic: ['8']}}", "population: "
     "hispanic own_group makes a race of HISP, so races cannot name hispanic; remove it. Correct "
     "this field."),
    ("documents.as_of=1990-01", "(top level): applicants are born 1946 to 1972, and the cohorts of "
     "population.first_names end before or begin after that (1980 to 2006); give cohorts of these "
     "years, or other ages or another documents.as_of. Correct this field."),
    # No number is true, and none is beyond what Spark and the tables hold.
    *((f"{field}=true", f"{field}: True: is no number. Correct this field.") for field in (
        "seed", "scoring.max_cost", "scoring.shards", "scoring.wave_size", "scoring.wave_minutes",
        "scoring.segment_size", "population.n_per_job", "estimation.level")),
    ("estimation.level=0.9999999999999999", "estimation.level: 0.9999999999999999: Input should be "
     "less than or equal to 0.9999. Correct this field."),
    ("seed=9223372036854775808", "seed: 9223372036854775808: Input should be less than "
     "9223372036854775808. Correct this field."),
    ("scoring.wave_size=2147483648", "scoring.wave_size: 2147483648: Input should be less than or "
     "equal to 2147483647. Correct this field."),
    ("scoring.segment_size=100001", "scoring.segment_size: 100001: Input should be less than or "
     "equal to 100000. Correct this field."),
    ("scoring.shards=10001", "scoring.shards: 10001: Input should be less than or equal to 10000. "
     "Correct this field."),
    ("scoring.journal=~nosuchuser/x", "scoring.journal: '~nosuchuser/x': there is "
     "no user nosuchuser; give another path. Correct this field."),
    ("scoring.journal=''", "scoring.journal: '': an empty path; give another path. Correct this "
     "field."),
    ('warehouse="a\\0b"', "warehouse: 'a\\x00b': a path cannot hold the character NUL; give "
     "another path. Correct this field."),
    ("out=~nosuchuser", "out: '~nosuchuser': there is no user nosuchuser;"
     " give another path. Correct this field."),
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
    ("seed: 1\nseed: 2\n", "{f}, line 2: key 'seed' stands twice. Correct the file."),
    ("seed: 2024-99-99\n", "{f}: is not valid YAML. Correct the file."),
    ("[" * 2000, "{f}: is not valid YAML. Correct the file."),
    ("scoring:\n  max_cost:\nseed: 1\n",
     "{f}, line 2: a key has no value (write null for none). Correct the file."),
    ('title: "\\ud800"\n',
     "{f}, line 1: holds half a character (a lone surrogate). Correct the file."),
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
    ("override", "message"),
    [
        # What a shell makes of a variable that is not set must not lift a cap.
        ("scoring.max_cost=", "has no value. Write --set scoring.max_cost=null for none."),
        ("scoring.max_cost= ", "has no value. Write --set scoring.max_cost=null for none."),
        ("scoring.max_cost=#5", "has no value. Write --set scoring.max_cost=null for none."),
        ("preset=", "has no value. Write --set preset=null for none."),
        ("scoring={max_cost: }", "a key has no value (write null for none). Correct it."),
        ("scoring={shards: 1, shards: 2}", "key 'shards' stands twice. Correct it."),
        ('title="\\ud800"', "holds half a character (a lone surrogate). Correct it."),
    ],
)
def test_an_override_without_a_clear_value(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(DEMO, ["scoring.max_cost=5", override])
    assert str(caught.value) == f"--set {override}: {message}"


@pytest.mark.parametrize("none", ["null", "~", " Null"])
def test_none_is_written(none: str) -> None:
    assert load(DEMO, ["scoring.max_cost=5", f"scoring.max_cost={none}"]).scoring.max_cost is None


@pytest.mark.parametrize(
    "file", sorted(resources.path("conf", "audits").glob("*.yml")), ids=lambda f: f.stem
)
def test_every_shipped_audit_loads(file: Path) -> None:
    cfg = load(file)
    assert cfg.audit_id == file.stem
    if cfg.design != "path_specific":
        return
    for job in cfg.population.jobs.values():
        assert all(len(code) == 4 for code in job.occp + job.psid_occp)


def test_maps_of_choice_are_replaced_whole() -> None:
    cfg = load(DEMO, ['population.jobs={a: {title: A, occp: ["0800"], psid_occp: ["0800"]}}'])
    assert list(cfg.population.jobs) == ["a"]


def test_jobs_and_selection_take_each_others_place() -> None:
    selected = load(DEMO, ["population.select={largest: 20, draw: 5}"])
    assert (selected.population.jobs, selected.population.select.draw) == ({}, 5)
    # The later of two layers wins; one layer cannot say both.
    one = 'population.jobs={a: {title: A, occp: ["0800"]}}'
    back = load(DEMO, ["population.select={largest: 20}", one])
    assert (list(back.population.jobs), back.population.select) == (["a"], None)
    assert load(DEMO, ["population.select=null"]).population == load(DEMO).population
    with pytest.raises(ConfigError, match="jobs and select are both given; keep one of them"):
        load(DEMO, ["population={jobs: {a: {title: A, occp: ['0800']}}, select: {largest: 2}}"])


def test_an_override_changes_one_entry_of_a_map_and_keeps_the_rest() -> None:
    base = load(DEMO)
    cfg = load(DEMO, [
        "scoring.models.minilm.parser=cosine/1",
        "scoring.models.a={kind: planted}",
        "scoring.models.a.params.base=40",
        "scoring.models.b.kind=planted",
        "estimation.contrasts.white_vs_rest.x0=[black]",
        "estimation.roles.bins.exp_year=[3, 6]",
        "population.first_names.cohorts.old=[1975, 1988]",
        "population.jobs.accountants.title=Bookkeeper",
    ])  # fmt: skip
    models = cfg.scoring.models
    assert list(models) == ["minilm", "a", "b"]
    assert (models["minilm"].kind, models["minilm"].parser) == ("embedding", "cosine/1")
    assert (models["a"].params, models["b"].params) == ({"base": 40}, {})
    contrasts = cfg.estimation.contrasts
    assert list(contrasts) == list(base.estimation.contrasts)
    assert (contrasts["white_vs_rest"].x1, contrasts["white_vs_rest"].x0) == (
        ("white",), ("black",),
    )  # fmt: skip
    assert cfg.estimation.roles.bins == base.estimation.roles.bins | {"exp_year": (3, 6)}
    cohorts = base.population.first_names.cohorts
    assert cfg.population.first_names.cohorts == cohorts | {"old": (1975, 1988)}
    jobs = base.population.jobs
    renamed = jobs["accountants"].model_copy(update={"title": "Bookkeeper"})
    assert cfg.population.jobs == jobs | {"accountants": renamed}


def test_an_override_replaces_the_map_that_it_gives(tmp_path: Path) -> None:
    own = tmp_path / "x.yml"
    own.write_text(
        "audit_id: x\nscoring: {models: {m: {kind: planted, params: {base: 40, edu_step: 1}}}}\n"
    )
    # A file leaves nothing of the defaults' models, an override nothing of the map it gives.
    assert list(load(own).scoring.models) == ["m"]
    cfg = load(own, ["scoring.models.m.params={base: 30}"])
    assert cfg.scoring.models["m"].params == {"base": 30}
    cfg = load(own, ["scoring.models.m={kind: embedding}"])
    assert (cfg.scoring.models["m"].kind, cfg.scoring.models["m"].params) == ("embedding", {})
    cfg = load(own, ["scoring={models: {n: {kind: planted}}}"])
    assert (list(cfg.scoring.models), cfg.scoring.shards) == (["n"], load(own).scoring.shards)


def test_an_entry_of_the_jobs_takes_a_selection_away() -> None:
    job = "population.jobs.a={title: A, occp: ['0800']}"
    cfg = load(DEMO, ["population.select={largest: 20, draw: 5}", job])
    assert (list(cfg.population.jobs), cfg.population.select) == (["a"], None)
    cfg = load(DEMO, ["population.select={largest: 20, draw: 5}", "population.select.draw=3"])
    assert (cfg.population.jobs, cfg.population.select.draw) == ({}, 3)
    assert cfg.population.select.largest == 20


def test_the_bounds_themselves_are_taken() -> None:
    cfg = load(DEMO, [
        "population.experience.learning_rate=1", "population.experience.min_sigma=20",
        "population.experience.schooling_bands=[0]", "population.experience.age_bands=[0, 99]",
        "population.vintage=2000", "population.n_per_job=100000000",
        "population.races.Two-or_more=['9']", "population.jobs.accountants.psid_occp=[]",
        "population.education.high_school=['01', '16']",
    ])  # fmt: skip
    assert (cfg.population.vintage, cfg.population.experience.learning_rate) == (2000, 1)


def test_hash_follows_settings_not_order_or_layer() -> None:
    base = load(DEMO)
    assert load(DEMO, [f"seed={base.seed}"]).hash() == base.hash()
    assert load(DEMO, ["seed=1"]).hash() != base.hash()
    assert load(DEMO, ["seed=1"]).hash("population") == base.hash("population")


def test_a_preset_given_on_the_command_line_is_applied() -> None:
    cfg = load(DEMO, ["preset=published"])
    assert (cfg.population.mode, cfg.estimation.learner) == ("surveyed", "xgboost")
    # The command line is above the preset, wherever it stands in it, and can take it away.
    cfg = load(DEMO, ["population.mode=draws", "preset=published"])
    assert (cfg.population.mode, cfg.estimation.learner) == ("draws", "xgboost")
    published = resources.path("conf", "audits", "published.yml")
    assert load(published, ["preset=null"]).population.mode == "balanced"
    with pytest.raises(ConfigError, match=r"preset: \['published'\] is no preset"):
        load(DEMO, ["preset=[published]"])


def test_the_older_name_of_the_first_names_source_still_counts(tmp_path: Path) -> None:
    assert load(DEMO, ["sources.ssa=old.zip"]).sources.first_names == "old.zip"
    # The later layer wins, whatever it calls the setting.
    own = tmp_path / "x.yml"
    own.write_text("audit_id: x\nsources: {ssa: old.zip}\n")
    assert load(own).sources.first_names == "old.zip"
    assert load(own, ["sources.first_names=new.csv"]).sources.first_names == "new.csv"
    own.write_text("audit_id: x\nsources: {ssa: old.zip, first_names: new.csv}\n")
    with pytest.raises(ConfigError) as caught:
        load(own)
    assert str(caught.value) == (
        f"{own}, sources.ssa: is the older name of sources.first_names, and both are given. "
        "Remove it."
    )


def test_hispanic_people_as_a_race_can_be_contrasted() -> None:
    contrast = (
        "estimation.contrasts={c: {attribute: race, x1: [white], x0: [hispanic], x1_label: w, "
        "x0_label: h}}"
    )
    cfg = load(DEMO, ["population.hispanic=own_group", contrast])
    assert cfg.population.race_labels == ("white", "black", "asian_pacific", "hispanic")
    with pytest.raises(ConfigError, match="race has no value hispanic; values are white, black, a"):
        load(DEMO, [contrast])


RESCORING = [
    (
        ["population.mode=surveyed"],
        "(top level): estimation.approach rescoring asks who an applicant were, were he of another "
        "gender or race; population.mode surveyed cannot answer it: its applicants are surveyed "
        "people as they are; set population.mode: balanced, or estimation.approach: observational. "
        "Correct this field.",
    ),
    (
        ["population.mode=draws"],
        "(top level): estimation.approach rescoring asks who an applicant were, were he of another "
        "gender or race; population.mode draws cannot answer it: its applicants have the state and "
        "the degree of a surveyed person; set population.mode: balanced, or estimation.approach: "
        "observational. Correct this field.",
    ),
    (
        ["estimation.roles.redlining=[first_name_gender, surname_race, edu_group]",
         "estimation.roles.business=[region, exp_year]"],
        "estimation: rescoring draws redlining mediators before business ones: edu_level is drawn "
        "given state, so it cannot come before it; put both into one role. Correct this field.",
    ),
    (
        ["estimation.roles.redlining=[first_name_gender, surname_race]"],
        "estimation: rescoring needs a role for state, which differs by gender or race; put one of "
        "state, region into redlining or business. Correct this field.",
    ),
    (
        ["estimation.roles.redlining=[first_name_gender, surname_race, region]",
         "estimation.roles.business=[first_name_cohort, edu_group, exp_year]"],
        "estimation: rescoring draws first_name anew as a whole, and the roles take it for "
        "redlining and for business; put all its columns into one role. Correct this field.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("overrides", "message"), RESCORING)
def test_what_cannot_be_rescored_is_said_with_the_remedy(overrides, message) -> None:
    load(DEMO, overrides)  # the observational estimate takes these
    for approach in ("rescoring", "both"):
        with pytest.raises(ConfigError) as caught:
            load(DEMO, [*overrides, f"estimation.approach={approach}"])
        assert str(caught.value) == f"{DEMO}, {message}"


def test_a_variable_may_be_a_qualification_as_a_whole() -> None:
    roles = ["estimation.roles.redlining=[first_name, surname]",
             "estimation.roles.business=[state, edu_level, exp_year]"]  # fmt: skip
    assert load(DEMO, ["estimation.approach=both", *roles]).estimation.primary == "rescoring"


def test_a_design_that_is_none() -> None:
    with pytest.raises(ConfigError) as caught:
        load(DEMO, ["design=lottery"])
    named = "Designs are: path_specific, ranking, paired_callback."
    assert str(caught.value) == f"{DEMO}, design: 'lottery' is no design. {named}"
