"""Postings, names and options that tests of paired callbacks make documents of."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fairscreen import resources
from fairscreen.config import load
from fairscreen.documents.name_pools import NamePools, Surnames
from fairscreen.documents.pair_names import Names
from fairscreen.documents.pairs import PairOptions
from fairscreen.documents.profile_reference import load_reference
from fairscreen.settings.callback_audit import CallbackConfig

CONFIG = resources.path("conf", "audits", "callbacks.yml")
SEED = 11
FIRST = {
    ("white", "female"): ("Amber", "Claire", "Emily", "Heather", "Jill", "Katie", "Laurie", "Meg"),
    ("white", "male"): ("Brad", "Brett", "Chad", "Dustin", "Greg", "Hunter", "Jay", "Todd"),
    ("black", "female"): (
        "Aisha", "Ebony", "Keisha", "Kenya", "Lakisha", "Latoya", "Nia", "Tanisha",
    ),
    ("black", "male"): (
        "Darnell", "DeShawn", "Hakim", "Jamal", "Leroy", "Rasheed", "Tremayne", "Tyrone",
    ),
}  # fmt: skip
SURNAMES = {
    "white": Surnames(("Baker", "McCarthy", "O'Brien"), (1, 1, 2)),
    "black": Surnames(("Jackson", "Robinson", "Washington"), (1, 1, 2)),
}
PLACES = (
    ("Boston", "MA", "northeast"), ("Chicago", "IL", "midwest"), ("Atlanta", "GA", "south"),
    ("Denver", "CO", "west"), (None, None, None),
)  # fmt: skip
INDUSTRIES = ("Financial Services", "Hospital & Health Care", None, "Oil & Energy", "Space Whaling")


@lru_cache
def config(*overrides: str) -> CallbackConfig:
    cfg = load(CONFIG, [f"seed={SEED}", *overrides])
    assert isinstance(cfg, CallbackConfig)
    return cfg


def pools(surname_of: str = "name", first: dict | None = None) -> NamePools:
    return NamePools(first or FIRST, SURNAMES, surname_of)


def options(cfg: CallbackConfig, of: NamePools | None = None) -> PairOptions:
    return PairOptions(
        cfg.contrasts, cfg.pairs, Names.of(of or pools()), load_reference(cfg.pairs.reference),
        cfg.seed,
    )  # fmt: skip


def posting(i: int, **own: Any) -> dict[str, Any]:
    """Posting i: places and industries in turn, some fields missing."""
    metro, state, region = PLACES[i % len(PLACES)]
    return {
        "posting_id": f"{i:032x}", "company": f"Company {i % 7}", "title": "Office Assistant",
        "metro": metro, "state": state, "region": region, "posted": "2026-03-01",
        "description": None if i % 3 else "Answers the phone.\n\nKeeps {files}.",
        "industry": INDUSTRIES[i % 3 + i % 2], "job_type": "assistant", "synthetic": None, **own,
    }  # fmt: skip
