"""A chat model of paired callbacks that decides by a planted formula, read off the prompt.

The formula is that of `scoring/screeners/planted_callbacks.py`; which group a first name stands for
is looked up. The posting is its text, the profile its JSON without the name: who asks with the
same two gets the same answer, and the planted gap is the truth as it is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from fairscreen.documents.keys import content_key
from fairscreen.scoring.screeners import planted_callbacks as planted
from fairscreen.scoring.screeners.planted_callbacks import People, PlantedCallbacksParams

# Between the lines of conf/prompts/callback_yes_no.yml.
_POSTING = re.compile(r"^Job posting\n\n(.*?)\n\nCandidate profile \(JSON\)$", re.DOTALL | re.M)
_PROFILE = re.compile(
    r"^Candidate profile \(JSON\)\n\n(.*?)\n\nReply in one word", re.DOTALL | re.M
)
Group = tuple[str, str]  # race, gender


@dataclass(frozen=True)
class Shown:
    """What stands in a prompt: keys of posting and of the profile without its name, the name."""

    posting: str
    profile: str
    first_name: str
    surname: str


def shown(prompt: str) -> Shown:
    posting, profile = _POSTING.search(prompt), _PROFILE.search(prompt)
    assert posting, "no prompt of the paired-callback design"
    assert profile
    return of_texts(posting.group(1), profile.group(1))


def of_texts(posting: str, profile: str) -> Shown:
    told = json.loads(profile)
    first, _, surname = told.pop("name").partition(" ")
    told.pop("gender", None)
    return Shown(content_key(posting.strip()), content_key(json.dumps(told)), first, surname)


def answer(p: PlantedCallbacksParams, what: Shown, groups: Mapping[str, Group]) -> str:
    race, gender = groups[what.first_name]
    person = People(
        [what.posting], [what.profile], [race], [gender], [what.first_name], [what.surname]
    )
    if planted.silent(p, person)[0]:
        return planted.SILENCE
    return "yes" if planted.answers(p, person)[0][0] else "no"


def replies(models: Mapping[str, PlantedCallbacksParams], groups: Mapping[str, Group]):
    """(model, prompt) -> answer, for `ModelServer.says`. groups: first name -> race, gender."""
    return lambda model, prompt: answer(models[model], shown(prompt), groups)
