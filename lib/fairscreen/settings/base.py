"""What all settings share: frozen, nothing unknown allowed, no NaN."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from fairscreen.confidence import HIGHEST_LEVEL

Attribute = Literal["gender", "race"]
Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
#: Of intervals.
Level = Annotated[float, Field(gt=0, le=HIGHEST_LEVEL, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """true counts as 1 in Python; as a price or a cap it is a slip."""
        if isinstance(value, bool) and info.field_name:
            kinds = _scalars(cls.model_fields[info.field_name].annotation)
            if bool not in kinds and kinds & {int, float}:
                raise ValueError("is no number")
        return value


def _scalars(annotation: Any) -> set[Any]:
    """The types that a value of this annotation can have, containers as a whole."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _scalars(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return {kind for each in get_args(annotation) for kind in _scalars(each)}
    return {annotation}
