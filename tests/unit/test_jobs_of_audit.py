"""Selected and translated jobs: known counts, known draws, errors before any work."""

from __future__ import annotations

import random as shuffle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import population_inputs as inputs
from fairscreen import random, resources
from fairscreen.documents import pools
from fairscreen.errors import InputError
from fairscreen.population import jobs, occupations
from fairscreen.population.jobs import Counted, Pool
from fairscreen.settings.population import Job, Select
from fairscreen.stations import selection

COUNTS = [
    Counted("3255", 50, 900), Counted("0800", 40, 100), Counted("2310", 40, 300),
    Counted("4720", 30, 950), Counted("6260", 0, 0),
]  # fmt: skip
POOLS = [
    Pool("nurses", "Nurse", ("3255",)), Pool("accountants", None, ("0800",)),
    Pool("teachers", "Teacher", ("2310",)), Pool("cashiers", "Cashier", ("4720",)),
    Pool("developers", "Developer", ("1021",)), Pool("testers", "Tester", ("1022",)),
]  # fmt: skip


def select(counts=COUNTS, seed=7, vintage=2024, pools=POOLS, **wanted) -> jobs.Chosen:
    return jobs.select(counts, Select(**wanted), pools, seed=seed, vintage=vintage)


def codes(chosen: jobs.Chosen) -> list[str]:
    return [code for job in chosen.jobs.values() for code in job.occp]


def test_the_largest_by_people_and_by_weight() -> None:
    assert codes(select(largest=3)) == ["3255", "0800", "2310"]  # the tie goes by code
    assert codes(select(largest=2, by="weight")) == ["4720", "3255"]
    assert codes(select(largest=20)) == ["3255", "0800", "2310", "4720"]  # nobody has 6260
    assert select(largest=1).jobs == {"nurses": Job(title="Nurse", occp=("3255",))}
    # A file of content without a title: the official one.
    assert select(largest=2).jobs["accountants"].title == "Accountants And Auditors"


def test_the_draw_is_a_hash_of_seed_and_code() -> None:
    chosen = select(largest=4, draw=2)
    ticket = dict(zip(["3255", "0800", "2310", "4720"],
                      random.hashes(7, "jobs", ["3255", "0800", "2310", "4720"]).tolist(),
                      strict=True))  # fmt: skip
    assert set(codes(chosen)) == set(sorted(ticket, key=ticket.__getitem__)[:2])
    assert (
        select(largest=4, draw=2, seed=1).jobs
        == select(largest=4, draw=2, seed=1, counts=COUNTS[::-1]).jobs
    )
    draws = {tuple(codes(select(largest=4, draw=2, seed=seed))) for seed in range(40)}
    assert len(draws) == 6  # every pair occurs
    # The selection's own seed wins over the audit's.
    own = Select(largest=4, draw=2, seed=1)
    assert jobs.select(COUNTS, own, POOLS, seed=99, vintage=2024) == select(
        largest=4, draw=2, seed=1
    )


@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_the_order_of_rows_does_not_matter(order: shuffle.Random, n: int) -> None:
    mixed = list(COUNTS)
    order.shuffle(mixed)
    assert select(counts=mixed, largest=4, draw=n) == select(largest=4, draw=n)


def test_a_selection_is_recorded() -> None:
    chosen = select(largest=2, draw=1, seed=3)
    drawn = codes(chosen)[0]
    assert chosen.detail == {
        "vintage": 2024, "by": "people", "seed": 3,
        "ranked": [
            {"code": "3255", "title": "Registered Nurses", "people": 50, "weighted": 900,
             "drawn": drawn == "3255"},
            {"code": "0800", "title": "Accountants And Auditors", "people": 40, "weighted": 100,
             "drawn": drawn == "0800"},
        ],
    }  # fmt: skip
    assert chosen.notes == (
        "1 job, drawn with seed 3, of the 2 occupations with the most surveyed people in ACS "
        f"2024: {occupations.title(drawn, '2018')}. To choose from were: Registered Nurses (50), "
        "Accountants And Auditors (40).",
    )


def test_occupations_by_name_code_and_other_list() -> None:
    chosen = select(occupations=["4720", "registered nurses"])
    assert {key: job.occp for key, job in chosen.jobs.items()} == {
        "cashiers": ("4720",), "nurses": ("3255",),
    }  # fmt: skip
    counts = [Counted("1020", 9, 90), Counted("3255", 8, 80)]
    old = select(counts=counts, vintage=2015, occupations=["Software Developers"])
    assert codes(old) == ["1020"]
    assert old.notes[0].startswith("ACS 2015 has occupation codes of 2010: 1021 (Software Dev")
    # The other way: content in 2018 codes serves the survey's 2010 code; testers have none there.
    assert list(select(counts=counts, vintage=2015, largest=2).jobs) == ["developers", "nurses"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"largest": 20, "draw": 5},
         "population.select.draw: 5 are to be drawn and ACS 2024 has 4 occupations to draw from. "
         "Ingest a file of all occupations, or draw fewer."),
        ({"largest": 3, "draw": 1, "pools": POOLS[:1]},
         "population.select: no content ships for 0800 (Accountants And Auditors), 2310 "
         "(Elementary And Middle School Teachers) of the 3 largest occupations of ACS 2024. Write "
         "a file of pools for each, like conf/jobs/accountants.yml, and name it: "
         'population.select.content={"0800": my_pools.yml}; or name occupations that have '
         "content (`fairscreen occupations`)."),
        ({"occupations": ["Cashier"]},
         "population.select.occupations: 'Cashier' is no occupation of the Census list of 2018. "
         "The nearest are 4720 (Cashiers), 4140 (Dishwashers), 6360 (Glaziers). Codes are text "
         "of four digits."),
        ({"occupations": ["6260", "3255", "Cooks"]},
         "population.select.occupations: nobody employed, of the ages in use, has 6260 or Cooks in "
         "ACS 2024. The largest of 4 there: Registered Nurses; Accountants And Auditors; "
         "Elementary And Middle School Teachers; Cashiers. `fairscreen occupations --warehouse "
         "FOLDER` lists all; other files of sources.acs may hold more."),
        ({"occupations": ["4720", "cashiers"]},
         "population.select.occupations: cashiers is there twice. Name it once."),
        ({"largest": 1, "counts": []},
         "population.select: nobody employed, of the ages in use, is in ACS 2024. Check "
         "population.esr and the age range."),
    ],
)  # fmt: skip
def test_selections_that_cannot_be_had(wanted: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        select(**wanted)
    assert str(caught.value) == message


def test_two_occupations_need_two_contents() -> None:
    both = [Pool("care", "Aide", ("0800", "3255"))]
    with pytest.raises(InputError, match=r"^population.select: 0800 and 3255 share the content of"):
        select(pools=both, largest=2)
    own = [*both, Pool("accountants_and_auditors", None, ("0800",), "mine.yml")]
    chosen = select(pools=own, largest=2)
    assert [job.content for job in chosen.jobs.values()] == [None, "mine.yml"]


def test_jobs_in_the_surveys_own_codes() -> None:
    given = inputs.demo().population.jobs
    assert jobs.concrete(given, 2024) == jobs.Chosen(given)
    old = jobs.concrete(given, 2015)
    assert old.jobs["software_developers"].occp == ("1020",)
    assert old.jobs["accountants"] == given["accountants"]
    assert old.notes == (
        "ACS 2015 has occupation codes of 2010; job software_developers: 1021 (Software "
        "Developers) is 1020 (Software Developers, Applications And Systems Software), which also "
        "holds 1022 (Software Quality Assurance Analysts and Testers, 10% of 1020).",
    )
    assert jobs.concrete(old.jobs, 2015) == jobs.Chosen(old.jobs)  # nothing is translated twice
    # A year before the lists: codes are taken as they are.
    ancient = {"x": Job(title="X", occp=("9999",), psid_occp=())}
    assert jobs.concrete(ancient, 2009).jobs == ancient


def test_psid_codes_by_the_crosswalk() -> None:
    open_ = {key: replace_psid(job) for key, job in inputs.demo().population.jobs.items()}
    found = jobs.concrete(open_, 2024)
    assert found.jobs == inputs.demo().population.jobs  # the lists of conf/designs
    assert [n.partition(";")[0] for n in found.notes] == ["PSID has occupation codes of 2010"]
    testers = jobs.concrete({"testers": Job(title="T", occp=("1022",))}, 2024)
    assert testers.jobs["testers"].psid_occp == ()
    assert "has no counterpart" in testers.notes[0]
    assert jobs.concrete({"chiefs": Job(title="C", occp=("0010",))}, 2015).jobs[
        "chiefs"
    ].psid_occp == ("0010", "0030")
    own = {"x": Job(title="X", occp=("3255",), psid_occp=("0800",))}
    assert jobs.concrete(own, 2024).jobs == own  # an explicit list wins


def replace_psid(job: Job) -> Job:
    return job.model_copy(update={"psid_occp": None})


def test_unknown_codes_stop_before_any_work() -> None:
    jobs.check(inputs.demo().population)
    wrong = inputs.demo("population.jobs={x: {title: X, occp: ['3256', '3266']}}").population
    with pytest.raises(InputError) as caught:
        jobs.check(wrong)
    assert str(caught.value) == (
        "population.jobs.x.occp: '3266' is no occupation of the Census list of 2018. The nearest "
        "are 3270 (Healthcare Diagnosing Or Treating Practitioners, All Other), 3261 "
        "(Acupuncturists), 3258 (Nurse Practitioners, And Nurse Midwives). Codes are text of four "
        "digits."
    )
    title = inputs.demo("population.select={occupations: [Nurse]}").population
    with pytest.raises(InputError, match=r"^population\.select\.occupations: 'Nurse' is no occ"):
        jobs.check(title)
    content = inputs.demo("population.select={largest: 2, content: {'9999': x.yml}}").population
    with pytest.raises(InputError, match=r"^population\.select\.content: '9999' is no occupation"):
        jobs.check(content)


def test_keys_of_titles() -> None:
    assert jobs.slug("Driver/Sales Workers And Truck Drivers") == (
        "driver_sales_workers_and_truck_drivers"
    )
    assert len(jobs.slug("a b " * 40)) <= 60
    assert not jobs.slug("a b " * 40).endswith("_")


def test_shipped_content_serves_one_occupation_each(tmp_path: Path) -> None:
    shipped = selection.shipped()
    assert sorted(p.key for p in shipped) == list(pools.shipped_jobs())
    found = [code for p in shipped for code in p.occp]
    assert len(found) == len(set(found)) == len(shipped)
    assert set(found) <= set(occupations.lists()["2018"])
    assert all(p.title for p in shipped)
    base = inputs.demo().population.jobs
    by_key = {p.key: p for p in shipped}
    assert {k: (by_key[k].title, by_key[k].occp) for k in base} == {
        key: (job.title, job.occp) for key, job in base.items()
    }


def test_a_users_content_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    text = resources.path("conf", "jobs", "accountants.yml").read_text(encoding="utf-8")
    file.write_text(text.replace("title: Accountant\n", "title: Auditor\n"), encoding="utf-8")
    wanted = Select(occupations=["0800"], content={"0800": str(file)})
    known = (*selection.shipped(), *selection._given(wanted, 2024))
    chosen = jobs.select(COUNTS, wanted, known, seed=1, vintage=2024)
    assert chosen.jobs == {
        "accountants_and_auditors": Job(title="Auditor", occp=("0800",), content=str(file))
    }
    gone = wanted.model_copy(update={"content": {"0800": str(tmp_path / "gone.yml")}})
    with pytest.raises(InputError, match=r"gone\.yml: No such file"):
        selection._given(gone, 2024)
