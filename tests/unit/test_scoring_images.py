"""Documents that are images: where they stand in a request, what they count, who refuses them."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from test_scoring_client import client

from fairscreen.errors import ConfigError, InputError
from fairscreen.scoring import prompts
from fairscreen.scoring.ask import Asking
from fairscreen.scoring.calls import Call
from fairscreen.scoring.client import Client
from fairscreen.scoring.images import image
from fairscreen.scoring.journal import WaveJournal
from fairscreen.scoring.limits import worst_tokens
from fairscreen.scoring.models import Decoding, ModelSpec
from fairscreen.scoring.providers import PROVIDERS
from fairscreen.scoring.providers.base import IMAGE_TYPES, Image, Prompt, Text
from fairscreen.scoring.screeners import KINDS
from fairscreen.scoring.screeners.embedding_api import Pair
from fairscreen.scoring.screeners.params import text_only
from model_server import body_key, serving

PNG = b"\x89PNG\r\n\x1a\n and more"
BASE64 = base64.b64encode(PNG).decode()
PAGE = Image("image/png", BASE64)
TEMPLATE = prompts.PromptFile(
    system="Be fair about {job_description}.", user="Resume: {resume}\nHow suitable?"
)


def test_an_image_stands_where_the_resume_stands() -> None:
    assert TEMPLATE.filled("A {resume}.", PAGE) == Prompt(
        "Be fair about A {resume}..", (Text("Resume:"), PAGE, Text("How suitable?"))
    )
    first = prompts.PromptFile(user="{resume}\n{job_description}")
    assert first.filled("A job.", PAGE) == Prompt(None, (PAGE, Text("A job.")))
    last = prompts.PromptFile(user="{job_description} {resume} ")
    assert last.filled("A job.", PAGE) == Prompt(None, (Text("A job."), PAGE))
    # Every word of the shipped prompt is there, with a text and with an image.
    shipped = prompts.load("score_0_100", "w")
    (text,) = shipped.filled("A job.", "@").user
    assert isinstance(text, Text)
    before, shown, after = shipped.filled("A job.", PAGE).user
    assert (isinstance(before, Text), shown, isinstance(after, Text)) == (True, PAGE, True)
    assert [p.text for p in (before, after) if isinstance(p, Text)] == [
        half.strip() for half in text.text.split("@")
    ]


def test_no_image_stands_in_a_system_text() -> None:
    system = prompts.PromptFile(system="Resume: {resume}", user="{job_description}")
    assert system.filled("A job.", "Mary") == Prompt("Resume: Mary", (Text("A job."),))
    with pytest.raises(InputError, match=r"\{resume\} stands in its system text"):
        system.filled("A job.", PAGE)


FORMS: dict[str, dict[str, Any]] = {
    "openai": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}},
    "azure_openai": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}},
    "anthropic": {
        "type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64},
    },
    "gemini": {"inlineData": {"mimeType": "image/png", "data": BASE64}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": BASE64}}},
}  # fmt: skip


@pytest.mark.parametrize("provider", FORMS)
def test_every_provider_is_shown_the_page_in_its_own_form(provider: str) -> None:
    spec = ModelSpec.model_validate(
        {"provider": provider, "model": "m", "base_url": "https://h.example", "region": "us-east-1",
         "decoding": Decoding()}
    )  # fmt: skip
    prompt = TEMPLATE.filled("a nurse", PAGE)
    body = json.loads(PROVIDERS[provider].request(spec, prompt, None).body)
    turns = body["contents"] if provider == "gemini" else body["messages"]
    parts = turns[-1]["parts" if provider == "gemini" else "content"]
    assert parts[1] == FORMS[provider]
    assert [parts[0]["text"], parts[2]["text"]] == ["Resume:", "How suitable?"]
    assert len(parts) == 3


def test_stored_bytes_reach_the_server(tmp_path: Path) -> None:
    """As a worker does it: a row of the plan, with bytes, is asked and answered."""
    WaveJournal(tmp_path, "w").create()
    with serving() as server:
        screener = client(server, key_env=None)
        asking = Asking(
            journal=str(tmp_path), wave_id="w", segment_size=2, model="m", model_version="1",
            open=lambda: screener, needs_text=True,
        )  # fmt: skip
        row = {
            "call_key": "a", "content_key": "c-a", "prompt_key": "p", "prompt": "A job",
            "resume": None, "image": bytearray(PNG), "media_type": "image/png", "payload": None,
        }  # fmt: skip
        done = asking.shard(0, [row], None)
        setup = screener.setup
        sent = PROVIDERS["openai"].request(setup.spec, setup.prompt.filled("A job", PAGE), None)
        assert dict(server.counts) == {body_key(sent.body): 1}
    assert (done.planned, done.asked) == (1, 1)


@pytest.mark.parametrize(
    ("media_type", "data", "problem"),
    [
        ("application/pdf", PNG, "is application/pdf, which is no image that models take"),
        ("image/png", b"", "has no bytes, which is no image that models take"),
    ],
)
def test_what_no_model_takes_is_named(media_type: str, data: bytes, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        image(media_type, data, "c1")
    assert str(raised.value) == (
        f"table contents, content_key c1: {problem}. Store it as {', '.join(IMAGE_TYPES)}."
    )


OWN = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
DOCUMENT = "document a1/image is image/png"


def test_a_model_that_reads_no_images_is_refused_and_one_that_does_is_not(tmp_path: Path) -> None:
    chat, where = KINDS["chat"].check_images, "scoring.models.x"
    with pytest.raises(ConfigError) as raised:
        chat({"model": "gpt-3.5-turbo"}, where, DOCUMENT)
    assert str(raised.value) == (
        "scoring.models.x.params.images: gpt-3.5-turbo reads no images, and document a1/image is "
        "image/png. Take the image format out of documents.formats, or another model; a model of "
        "your own that reads images says `images: true`."
    )
    chat({"model": "gpt-4o-mini"}, where, DOCUMENT)
    chat({**OWN, "images": True}, where, DOCUMENT)
    with pytest.raises(ConfigError, match="m reads no images"):
        chat(OWN, where, DOCUMENT)
    file = tmp_path / "p.yml"
    file.write_text("system: '{resume}'\nuser: '{job_description}'")
    with pytest.raises(ConfigError, match=r"p\.yml: \{resume\} stands in its system text"):
        chat({"model": "gpt-4o", "prompt": str(file)}, where, DOCUMENT)


def test_screeners_that_embed_text_refuse_images() -> None:
    for kind in ("embedding", "embedding_api"):
        with pytest.raises(ConfigError) as raised:
            KINDS[kind].check_images({}, "scoring.models.x", DOCUMENT)
        assert str(raised.value).startswith(
            "scoring.models.x.kind: this kind reads text only, and document a1/image is image/png. "
        )
    with pytest.raises(InputError, match="a resume is image/png, and this screener reads text"):
        text_only(PAGE)
    with pytest.raises(InputError, match="a resume is image/png"):
        Pair().filled("A job", PAGE)


def test_an_image_counts_as_its_model_says() -> None:
    assert worst_tokens(300, 16) == 116
    assert worst_tokens(300, 16, 5000) == 5116
    assert TEMPLATE.chars("job", PAGE) == TEMPLATE.chars("job", "")


def test_an_error_that_quotes_the_page_is_withheld() -> None:
    with serving(faults={"422": 1.0}) as server:
        server.echo = f"no such image: {BASE64[:24]}"
        screener = client(server, key_env=None, images=True)
        with pytest.raises(InputError) as raised:
            list(screener.ask([Call(f"c{i}", resume=PAGE, prompt="A job") for i in range(3)]))
    assert "repeats the resume" in str(raised.value)
    assert BASE64[:24] not in str(raised.value)


@pytest.mark.parametrize(("resume", "least", "most"), [(PAGE, 60, 120), ("a page", 0, 5)])
def test_images_take_their_share_of_the_tokens(
    resume: str | Image, least: float, most: float
) -> None:
    """6,000 tokens a minute, 5,000 a page: the second page waits for its minute."""
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    with serving() as server:
        setup = client(server, key_env=None, images=True, image_tokens=5000, tpm=6000).setup
        screener = Client(setup, clock=lambda: now, sleep=sleep)
        calls = [Call(f"c{i}", resume=resume, prompt=f"job {i}") for i in range(2)]
        assert len(list(screener.ask(calls))) == 2
    assert least <= now <= most
