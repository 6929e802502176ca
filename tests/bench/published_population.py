"""The paper's population beside the shipped one: sizes under several readings, and shares.

    python tests/bench/published_population.py [FOLDER] > tests/bench/published_population.txt

FOLDER: person files of the ACS 2024 1-year (parquet, columns as in the Census layout, codes as
integers) of the same states, with people who are not employed: they are not in what ships.
Not run by CI; tests/golden/test_published_population.py holds the counts of what ships.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

import pandas as pd

from fairscreen import resources
from fairscreen.config import load
from fairscreen.reporting.population import published

LABELS = {"3255": "nurses", "2310": "teachers", "1021": "developers", "0800": "accountants",
          "6260": "laborers"}  # fmt: skip
COLUMNS = ["AGEP", "SEX", "RAC1P", "SCHL", "ESR", "OCCP", "PWGTP"]
# Resident population of California and Texas, and of the 50 states and DC: 2020 Census.
CA_TX, NATION = 39_538_223 + 29_145_505, 331_449_281


def shipped() -> pd.DataFrame:
    with ZipFile(resources.resolve("bundled:acs_2024_five_jobs.zip")) as z:
        return pd.read_csv(z.open(z.namelist()[0]), usecols=COLUMNS, dtype="Int64")


def everybody(folder: Path) -> pd.DataFrame:
    codes = [int(code) for code in LABELS]
    files = sorted(folder.glob("p_*.parquet"))
    frames = [pd.read_parquet(f, columns=COLUMNS, filters=[("OCCP", "in", codes)]) for f in files]
    return pd.concat(frames, ignore_index=True).astype("Int64")


def readings(people: pd.DataFrame) -> dict[str, pd.Series]:
    """Which people each reading takes; ages 18 to 44 in all."""
    cfg = load(resources.path("conf", "audits", "published.yml")).population
    age = people["AGEP"].between(cfg.age_min, cfg.age_max)
    race = people["RAC1P"].isin([int(c) for codes in cfg.races.values() for c in codes])
    school = people["SCHL"].ge(16).fillna(False)
    return {
        "age only": age,
        "age, education": age & school,
        "age, race": age & race,
        "age, education, race": age & school & race,
        "the same, two or more races too": age & school & (race | people["RAC1P"].eq(9)),
    }


def sizes(title: str, people: pd.DataFrame, taken: dict[str, pd.Series]) -> str:
    job = people["OCCP"].map({int(c): name for c, name in LABELS.items()})
    paper = pd.Series({LABELS[occp[0]]: n for occp, _, n in published().jobs})
    lines = [title, "", f"{'':<34}" + "".join(f"{j:>12}" for j in [*paper.index, "all"])]
    lines.append(f"{'paper':<34}" + "".join(f"{n:>12,}" for n in [*paper, paper.sum()]))
    for name, inside in taken.items():
        n = job[inside].value_counts()[paper.index]
        lines.append(f"{name:<34}" + "".join(f"{v:>12,}" for v in [*n, n.sum()]))
        left = [*(1 - n / paper), 1 - n.sum() / paper.sum()]
        lines.append(
            f"{'  left for California and Texas':<34}" + "".join(f"{v:>12.1%}" for v in left)
        )
    return "\n".join(lines)


def shares(people: pd.DataFrame) -> str:
    """Shares of who is in, unweighted (as published, everybody once) and by PWGTP."""
    cfg = load(resources.path("conf", "audits", "published.yml")).population
    inside = people[readings(people)["age, education, race"]]
    job = inside["OCCP"].map({int(c): name for c, name in LABELS.items()})
    groups = {
        "gender": {"female": ["2"], "male": ["1"]},
        "race": cfg.races,
        "education": cfg.education,
    }
    columns = {"gender": "SEX", "race": "RAC1P", "education": "SCHL"}
    lines = ["Shares of who is in, unweighted / by PWGTP", ""]
    lines.append(f"{'':<24}" + "".join(f"{j:>16}" for j in LABELS.values()))
    for variable, values in groups.items():
        for value, codes in values.items():
            has = inside[columns[variable]].isin([int(c) for c in codes])
            text = f"{variable} {value}"
            line = f"{text:<24}"
            for name in LABELS.values():
                mine = job == name
                weight = inside.loc[mine, "PWGTP"]
                share = has[mine].mean(), weight[has[mine]].sum() / weight.sum()
                line += f"{f'{share[0]:.1%} / {share[1]:.1%}':>16}"
            lines.append(line)
    return "\n".join(lines)


TEXT = """\
The population of PopResume (table 3: ACS 2023, all states) beside what fairscreen ships
(ACS 2024, 48 states and DC, no California, no Texas).

"Left for California and Texas" is 1 - ours / paper's: what those two states would hold of the
paper's people if a reading of its filters held and the years did not differ. They hold
{share:.1%} of the nation (2020 Census), and more of its Hispanic people: of the Hispanic laborers
here, aged 18 to 44, 88% are outside the paper's three races (2,225 of 2,520), of others 9%.
"""

FINDINGS = """\
What the sizes say about the paper's filters

- Without an education filter there are more laborers here (age only: 7,223) than in the paper's
  whole nation (5,910), or (age and race) about as large a share is left as of the other jobs,
  although the two states' laborers are mostly outside the three races.
- With all three filters on employed people, as the paper's text has it, 3,850 laborers remain:
  California and Texas would hold 34.9% of the nation's, and 33.4% of the developers. Too many.
- The code that the authors published (sumin-yu/PopResume, notebooks 01-1 and 01-2) keeps seven
  education levels from high school up, three races (a fourth, AIAN, has no surname table), ages
  18 to 44 - and has no filter on employment: everybody with an occupation code and an answer on
  recent work stays, jobless people and those out of the labor force too. Counted so (second
  table; age, education, race) 19.4% of all and 10.8% of the laborers are left. That fits.
- Employed people with two or more races taken in fit the total as well (20.1%; laborers 22.1%).
  Against it: paper and code name no such group, and the laborers of the two states should fall
  short of their share of the nation, being Hispanic more often.
- So education is what makes laborers few in the paper, as here, and the missing filter on
  employment is the likely reason why they are not as few as here. It stays likely, not shown:
  year and states differ, and the extract behind the notebooks is not published.
- To take such people from a Census file of your own: population.esr = ["1", ..., "6"].

The paper draws shares by gender, race and education in its figure 7 only, as bars without
numbers, so none stand beside ours below.
"""


def main(argv: list[str]) -> int:
    people = shipped()
    print(TEXT.format(share=CA_TX / NATION))
    print(sizes("Employed people (what ships)", people, readings(people)), end="\n\n")
    if argv:
        more = everybody(Path(argv[0]))
        title = "Everybody with an occupation, employed or not (person files of the same states)"
        print(sizes(title, more, readings(more)), end="\n\n")
    print(FINDINGS)
    print(shares(people))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
