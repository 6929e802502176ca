"""What the settings of every design share: who audits whom, and where results are kept."""

from __future__ import annotations

import hashlib
import json

from pydantic import Field, field_validator

from fairscreen import config_checks
from fairscreen.settings.base import Settings
from fairscreen.settings.scoring import Scoring


class AuditConfig(Settings):
    """One audit. `audit_id` is a slug and never a hash: see design.md, Identity.

    A design adds sections of its own and narrows `design` to its name.
    """

    audit_id: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")
    title: str
    design: str
    seed: int = Field(ge=-(2**63), lt=2**63)
    preset: str | None = None
    warehouse: str
    out: str
    mlflow_uri: str | None = None  # null = SQLite inside the warehouse
    scoring: Scoring

    @field_validator("warehouse", "out")
    @classmethod
    def _places(cls, name: str) -> str:
        return config_checks.place(name)

    def hash(self, *sections: str) -> str:
        """First 16 hex digits of SHA-256 over the canonical JSON of the named sections.

        Without names: everything but where the results are kept, which changes no number.
        """
        places = {"warehouse", "out", "mlflow_uri"}
        data = self.model_dump(mode="json", include=set(sections) or None, exclude=places)
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
