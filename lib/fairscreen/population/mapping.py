"""Which people of the survey a value of the audit stands for: codes with the Bureau's labels.

Labels: Census Bureau, ACS PUMS data dictionaries of 2018 and 2023, which agree on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairscreen.population import occupations
from fairscreen.settings.population import HISPANIC, Population

RAC1P = {
    "1": "White alone",
    "2": "Black or African American alone",
    "3": "American Indian alone",
    "4": "Alaska Native alone",
    "5": "American Indian and Alaska Native tribes specified, or not specified and no other races",
    "6": "Asian alone",
    "7": "Native Hawaiian and Other Pacific Islander alone",
    "8": "Some Other Race alone",
    "9": "Two or More Races",
}
_ORIGINS = (
    "Not Spanish/Hispanic/Latino", "Mexican", "Puerto Rican", "Cuban", "Dominican", "Costa Rican",
    "Guatemalan", "Honduran", "Nicaraguan", "Panamanian", "Salvadoran", "Other Central American",
    "Argentinean", "Bolivian", "Chilean", "Colombian", "Ecuadorian", "Paraguayan", "Peruvian",
    "Uruguayan", "Venezuelan", "Other South American", "Spaniard",
    "All Other Spanish/Hispanic/Latino",
)  # fmt: skip
HISP = {f"{code:02d}": label for code, label in enumerate(_ORIGINS, start=1)}
NOT_HISPANIC = "01"
SCHL = {
    "01": "No schooling completed",
    "02": "Nursery school, preschool",
    "03": "Kindergarten",
    **{f"{grade + 3:02d}": f"Grade {grade}" for grade in range(1, 12)},
    "15": "12th grade, no diploma",
    "16": "Regular high school diploma",
    "17": "GED or alternative credential",
    "18": "Some college, but less than 1 year",
    "19": "1 or more years of college credit, no degree",
    "20": "Associate's degree",
    "21": "Bachelor's degree",
    "22": "Master's degree",
    "23": "Professional degree beyond a bachelor's degree",
    "24": "Doctorate degree",
}


@dataclass(frozen=True)
class MappingRow:
    """One value of an attribute, its codes (`RAC1P 6, 7`) and theirs in words.

    value is null for people who are outside the audit.
    """

    attribute: str
    value: str | None
    codes: str
    labels: str


def mapping_rows(population: Population, vintage: int | None = None) -> list[MappingRow]:
    """Race, Hispanic origin, education and jobs of an audit, in the order of the config.

    vintage: the survey's year, for the titles of occupations; null = the list of 2018.
    """
    which = "2018" if vintage is None else occupations.list_of(vintage)
    origin = {
        "within_races": "by race",
        "own_group": f"race {HISPANIC}, whatever RAC1P",
        "excluded": None,
    }[population.hispanic]
    hispanic = [code for code in HISP if code != NOT_HISPANIC]
    return [
        *_rows("race", "RAC1P", RAC1P, population.races),
        MappingRow("Hispanic origin", origin, *_words("HISP", HISP, hispanic)),
        *_rows("education", "SCHL", SCHL, population.education),
        *(
            MappingRow("education group", group, "", ", ".join(levels).replace("_", " "))
            for group, levels in population.education_groups.items()
        ),
        *(
            MappingRow(
                "job",
                job.title,
                f"OCCP {', '.join(job.occp)}",
                "; ".join(occupations.title(code, which) for code in job.occp),
            )
            for job in population.jobs.values()
        ),
    ]


def _rows(
    attribute: str, variable: str, labels: Mapping[str, str], groups: Mapping[str, Sequence[str]]
) -> list[MappingRow]:
    """One row for each value, and one for the codes that no value takes."""
    taken = {code for codes in groups.values() for code in codes}
    left = [code for code in labels if code not in taken]
    rows: list[tuple[str | None, Sequence[str]]] = [
        *groups.items(),
        *([(None, left)] if left else []),
    ]
    return [MappingRow(attribute, value, *_words(variable, labels, codes)) for value, codes in rows]


def _words(variable: str, labels: Mapping[str, str], codes: Sequence[str]) -> tuple[str, str]:
    """Codes and labels as text; more than five codes in a row by the first and the last."""
    known = list(labels)
    at = [known.index(code) if code in known else -1 for code in codes]
    if len(codes) > 5 and -1 not in at and at == list(range(at[0], at[0] + len(at))):
        between = f"{variable} {codes[0]} to {codes[-1]}"
        return between, f"{labels[codes[0]]} to {labels[codes[-1]]}"
    return (
        f"{variable} {', '.join(codes)}",
        "; ".join(labels.get(code, "no such code") for code in codes),
    )
