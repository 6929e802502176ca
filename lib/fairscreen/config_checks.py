"""Checks of settings against each other and against what exists; called by `config`.

Each raises ValueError with what is wrong and what to do: pydantic adds the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairscreen import resources

#: Levels of schooling (SCHL) since ACS 2008.
SCHL = tuple(f"{code:02}" for code in range(1, 25))

#: Columns of `applicants` that can be mediators; the second set holds numbers.
TEXT_MEDIATORS = (
    "first_name", "surname", "first_name_gender", "first_name_cohort", "surname_race",
    "state", "region", "edu_level", "edu_group",
)  # fmt: skip
NUMBER_MEDIATORS = (
    "exp_year", "first_name_p_female", "first_name_mean_year",
    "surname_p_white", "surname_p_black", "surname_p_asian_pacific", "surname_p_hispanic",
)  # fmt: skip

#: Variables that the generator draws after gender, race and age, in order.
DRAWN = ("state", "edu_level", "exp_year", "first_name", "surname")
# Which of them a column is made of, and what each is drawn from among them.
_MADE_OF = {
    "state": "state", "region": "state", "edu_level": "edu_level", "edu_group": "edu_level",
    "exp_year": "exp_year",
    **{c: "first_name" for c in (*TEXT_MEDIATORS, *NUMBER_MEDIATORS) if c.startswith("first_name")},
    **{c: "surname" for c in (*TEXT_MEDIATORS, *NUMBER_MEDIATORS) if c.startswith("surname")},
}  # fmt: skip
_PARENTS = {"edu_level": ("state",), "exp_year": ("state", "edu_level")}


def not_empty(name: str, values: Iterable[object]) -> None:
    if not list(values):
        raise ValueError(f"{name} is empty; give at least one")


def once(name: str, values: Sequence[str]) -> None:
    """Every value at most once."""
    twice = sorted({v for v in values if list(values).count(v) > 1})
    if twice:
        raise ValueError(f"{name} names {twice[0]} twice; keep it once")


def place(name: str) -> str:
    """A path or address as given; ValueError where it can be none."""
    try:
        resources.user_path(name)
    except ValueError as error:
        raise ValueError(f"{error}; give another path") from None
    return name


def codes(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Every code is one of the Bureau's."""
    known = list(known)
    wrong = sorted(set(given) - set(known))
    if wrong:
        raise ValueError(f"{name} has no code {wrong[0]}; codes are {known[0]} to {known[-1]}")


def four_digits(name: str, given: Iterable[str]) -> None:
    """Occupation codes as the Bureau writes them."""
    for code in given:
        if not re.fullmatch("[0-9]{4}", code):
            raise ValueError(f"{name}: {code!r} is no code; codes are text of four digits, '0800'")


def slugs(name: str, given: Iterable[str]) -> None:
    """Names of the user's own that go into tables and reports."""
    for one in given:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", one):
            raise ValueError(
                f"{name}: {one!r} is no name; give letters, digits, - and _, at most 63, the first "
                "a letter or digit"
            )


def parsers(given: Iterable[str], known: Iterable[str]) -> None:
    """Every parser of replies exists."""
    known = list(known)
    for name in given:
        if name not in known:
            newer = [k for k in known if k.split("/")[0] == name.split("/")[0]]
            now = f" any more, {newer[0]} has taken its place" if newer else ""
            raise ValueError(f"{name} is no parser{now}; parsers are {', '.join(known)}")


def select(largest: int | None, draw: int | None, occupations: Sequence[str]) -> None:
    """Either the largest occupations, some of them drawn, or occupations by name."""
    if (largest is None) == (not occupations):
        raise ValueError("give either largest (how many to choose from) or a list of occupations")
    if draw is not None and largest is None:
        raise ValueError("draw goes with largest; occupations that are named are all taken")
    if draw is not None and largest is not None and draw > largest:
        raise ValueError(f"cannot draw {draw} of the {largest} largest; lower draw")
    once("occupations", occupations)


def increasing(name: str, values: Sequence[int]) -> None:
    """At least one bound, each above the one before."""
    not_empty(name, values)
    if list(values) != sorted(set(values)):
        raise ValueError(f"{name} does not increase; sort its bounds")


def bands(name: str, lower: Sequence[int], *, first: int | None, low: int, high: int) -> None:
    """Lower bounds of bands in [low, high]; `first`: where the first band must begin."""
    increasing(name, lower)
    if first is not None and lower[0] != first:
        raise ValueError(
            f"{name} begins at {lower[0]}; the first bound must be {first}, so that everybody has "
            "a band"
        )
    for bound in lower:
        if not low <= bound <= high:
            raise ValueError(f"{name} has {bound}; its bounds are {low} to {high}")


def cohorts(given: Mapping[str, tuple[int, int]]) -> None:
    """Birth cohorts: first to last year, apart from each other."""
    not_empty("cohorts", given)
    if "neutral" in given:
        raise ValueError("a cohort cannot be called neutral: names of no cohort are; rename it")
    last = 1879
    for label, (low, high) in sorted(given.items(), key=lambda item: item[1]):
        if low > high:
            raise ValueError(f"cohort {label} ends before it begins; swap {low} and {high}")
        if low <= last:
            where = "begins before 1880" if last == 1879 else "overlaps the one before it"
            raise ValueError(f"cohort {label} {where}; correct its years")
        if high > 2100:
            raise ValueError(f"cohort {label} ends after 2100; correct its years")
        last = high


def cohorts_reach(cohorts: Mapping[str, tuple[int, int]], years: tuple[int, int]) -> None:
    """Some birth year of the applicants, first and last, is in a cohort."""
    first, last = min(low for low, _ in cohorts.values()), max(high for _, high in cohorts.values())
    if last < years[0] or first > years[1]:
        raise ValueError(
            f"applicants are born {years[0]} to {years[1]}, and the cohorts of population."
            f"first_names end before or begin after that ({first} to {last}); give cohorts of "
            "these years, or other ages or another documents.as_of"
        )


def roles(
    redlining: Sequence[str], business: Sequence[str], bins: Mapping[str, Sequence[float]]
) -> None:
    """Mediators that exist, each in one role, and cut points that increase."""
    used = [*redlining, *business]
    not_empty("redlining and business together", used)
    _mediators(used)
    for column, cuts in bins.items():
        _cut_points(f"bins.{column}", column, cuts)
    for column in used:
        if column in NUMBER_MEDIATORS and not bins.get(column):
            raise ValueError(f"bins lacks {column}, a number; give its cut points")


def ungrouped(
    redlining: Sequence[str], business: Sequence[str], bins: Mapping[str, Sequence[float]]
) -> None:
    """The same of the ungrouped roles, which may be empty; bins: of the numbers kept as such."""
    used = [*redlining, *business]
    _mediators(used)
    for column, cuts in bins.items():
        _cut_points(f"numbers.{column}.bins", column, cuts)
    for column in used:
        if column in NUMBER_MEDIATORS and column not in bins:
            raise ValueError(f"numbers lacks {column}; give its step and its bins")


def _mediators(used: Sequence[str]) -> None:
    known = (*TEXT_MEDIATORS, *NUMBER_MEDIATORS)
    for column in used:
        if column not in known:
            raise ValueError(f"{column} is no mediator; mediators are {', '.join(known)}")
    once("redlining and business together", used)


def _cut_points(name: str, column: str, cuts: Sequence[float]) -> None:
    if column not in (*NUMBER_MEDIATORS, "age"):
        raise ValueError(f"{name} is no number; numbers are age, {', '.join(NUMBER_MEDIATORS)}")
    if list(cuts) != sorted(set(cuts)):
        raise ValueError(f"{name} does not increase; sort its cut points")


def drawn_by(columns: Iterable[str]) -> tuple[str, ...]:
    """The variables of the generator, in its order, that columns of `applicants` are made of."""
    used = {_MADE_OF[column] for column in columns}
    return tuple(variable for variable in DRAWN if variable in used)


def drawn_order(redlining: Sequence[str]) -> None:
    """R of drawn variables, each drawn from variables of R alone: B comes after it."""
    if unknown := [v for v in redlining if v not in DRAWN]:
        raise ValueError(f"{unknown[0]} is no drawn variable; they are {', '.join(DRAWN)}")
    for name in redlining:
        if after := [p for p in _PARENTS.get(name, ()) if p not in redlining]:
            raise ValueError(f"{name} is drawn given {after[0]}, so it cannot come before it")


def rescoring_roles(redlining: Sequence[str], business: Sequence[str]) -> None:
    """Every variable that is drawn given X is in exactly one role, and R can be drawn before B."""
    r, b = drawn_by(redlining), drawn_by(business)
    if both := [v for v in r if v in b]:
        raise ValueError(
            f"rescoring draws {both[0]} anew as a whole, and the roles take it for redlining and "
            "for business; put all its columns into one role"
        )
    if missing := [v for v in DRAWN if v not in (*r, *b)]:
        columns = [c for c, variable in _MADE_OF.items() if variable == missing[0]]
        raise ValueError(
            f"rescoring needs a role for {missing[0]}, which differs by gender or race; put one of "
            f"{', '.join(columns)} into redlining or business"
        )
    try:
        drawn_order(r)
    except ValueError as error:
        raise ValueError(
            f"rescoring draws redlining mediators before business ones: {error}; put both into "
            "one role"
        ) from None


def rescoring_mode(mode: str) -> None:
    """Only a drawn applicant can be drawn again as somebody else."""
    if mode != "balanced":
        taken = {"surveyed": "are surveyed people as they are"}.get(
            mode, "have the state and the degree of a surveyed person"
        )
        raise ValueError(
            f"estimation.approach rescoring asks who an applicant were, were he of another gender "
            f"or race; population.mode {mode} cannot answer it: its applicants {taken}; set "
            "population.mode: balanced, or estimation.approach: observational"
        )


def contrast_values(
    name: str, attribute: str, values: Iterable[str], known: Mapping[str, Sequence[str]]
) -> None:
    """A contrast names values that its attribute can have."""
    for value in values:
        if value not in known[attribute]:
            raise ValueError(
                f"contrast {name}: {attribute} has no value {value}; "
                f"values are {', '.join(known[attribute])}"
            )


def pairs(given: object) -> None:
    """`all`, or a list of pairs of names, each pair once."""
    if given == "all":
        return
    if not isinstance(given, list | tuple):
        raise ValueError("is neither `all` nor a list of pairs; write [[a, b]], or [] for none")
    seen: list[set[str]] = []
    for pair in given:
        named = isinstance(pair, list | tuple) and all(isinstance(one, str) for one in pair)
        if not named or len(set(pair)) != 2 or len(pair) != 2:
            raise ValueError(f"{pair!r} is no pair of two different names; write [a, b]")
        if set(pair) in seen:
            raise ValueError(f"compares {pair[0]} and {pair[1]} twice; keep it once")
        seen.append(set(pair))


def pairs_exist(
    given: Iterable[tuple[str, str]], models: Sequence[str], formats: Sequence[str]
) -> None:
    """Every pair names two models, or two document formats."""
    for pair in given:
        if not (set(pair) <= set(models) or set(pair) <= set(formats)):
            raise ValueError(
                f"estimation.compare: {pair[0]} and {pair[1]} are neither two models "
                f"({', '.join(models)}) nor two document formats ({', '.join(formats)})"
            )


def asked_as(data: Any, prompt: str, parser: str) -> Any:
    """Raw settings in which chat models have a design's prompt, and its parser with it, where they
    name neither."""
    scoring = data.get("scoring") if isinstance(data, dict) else None
    models = scoring.get("models") if isinstance(scoring, dict) else None
    if not isinstance(scoring, dict) or not isinstance(models, dict):
        return data

    def asked(model: Any) -> Any:
        if not isinstance(model, dict) or model.get("kind") != "chat":
            return model
        params = model.get("params", {})
        if not isinstance(params, dict) or "prompt" in params or model.get("parser"):
            return model
        return {**model, "params": {**params, "prompt": prompt}, "parser": parser}

    return {**data, "scoring": {**scoring, "models": {k: asked(m) for k, m in models.items()}}}
