"""The values each variable can take, in one fixed order: the axes of every table of the generator.

Axes, by letter: G gender, R race, A age in years, K age band, S state, C region, E education
level, H education group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairscreen.population.geography import STATES
from fairscreen.settings.population import Population

GENDERS = ("female", "male")
REGIONS = ("northeast", "midwest", "south", "west")


@dataclass(frozen=True)
class Domain:
    """Labels of the axes, and the maps from fine axes to coarse ones (integer arrays)."""

    races: tuple[str, ...]
    age_min: int
    age_max: int
    band_of_age: NDArray[np.int64]  # (A,)
    states: tuple[str, ...]
    region_of_state: NDArray[np.int64]  # (S,)
    levels: tuple[str, ...]
    groups: tuple[str, ...]
    group_of_level: NDArray[np.int64]  # (E,)

    @property
    def n_ages(self) -> int:
        return self.age_max - self.age_min + 1

    @property
    def n_bands(self) -> int:
        return int(self.band_of_age.max()) + 1

    @property
    def shape_z(self) -> tuple[int, int, int]:
        """(G, R, A)"""
        return len(GENDERS), len(self.races), self.n_ages


def from_settings(population: Population) -> Domain:
    """The axes of an audit's population.

    Age bands are those of `population.experience.age_bands` (lower bounds); ages below the first
    bound belong to the first band, and bands that no configured age reaches are left out.
    """
    ages = np.arange(population.age_min, population.age_max + 1)
    inner = np.array(sorted(population.experience.age_bands)[1:], dtype=np.int64)
    _, bands = np.unique(np.searchsorted(inner, ages, side="right"), return_inverse=True)
    states = tuple(sorted(STATES))
    levels = tuple(population.education)
    groups = tuple(population.education_groups)
    group_of = {level: i for i, g in enumerate(groups) for level in population.education_groups[g]}
    return Domain(
        races=population.race_labels,
        age_min=population.age_min,
        age_max=population.age_max,
        band_of_age=bands.astype(np.int64),
        states=states,
        region_of_state=np.array([REGIONS.index(STATES[s].region) for s in states]),
        levels=levels,
        groups=groups,
        group_of_level=np.array([group_of[level] for level in levels]),
    )
