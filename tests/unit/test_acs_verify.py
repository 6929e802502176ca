"""Weighted totals by state and characteristic, and the comparison with published figures."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from acs_files import REPLICATES, newer, person, zipped
from fairscreen import cli
from fairscreen.errors import InputError
from fairscreen.sources.acs_reader import batches, inspect
from fairscreen.sources.acs_verify import VerifyRow, characteristics, compare, total, verify

REMEDY = "Give the Bureau's file of PUMS estimates for user verification."


def weights(weight: int, replicate: int) -> dict[str, str]:
    return {"PWGTP": str(weight), **dict.fromkeys(REPLICATES, str(replicate))}


@pytest.fixture
def wyoming(tmp_path: Path) -> Path:
    return zipped(
        tmp_path / "wy.zip",
        person(SPORDER="01", AGEP="4", SEX="1", RELP="15", **weights(10, 11)),
        person(SPORDER="02", AGEP="5", SEX="2", RELP="16", **weights(20, 22)),
        person(SPORDER="03", AGEP="84", SEX="2", RELP="17", **weights(30, 27)),
        person(SPORDER="04", AGEP="85", SEX="2", RELP="00", **weights(40, 40)),
    )


def by_name(rows: list[VerifyRow], state: str = "56") -> dict[str, VerifyRow]:
    return {r.characteristic: r for r in rows if r.state == state}


def test_labels_follow_the_relationship_column() -> None:
    old, new = characteristics("RELP"), characteristics("RELSHIPP")
    assert len(old) == len(new) == 20
    assert old[1:5] == [
        "Housing unit population (RELP=0-15)",
        "GQ population (RELP=16-17)",
        "GQ institutional population (RELP=16)",
        "GQ noninstitutional population (RELP=17)",
    ]
    assert new[1:5] == [
        "Housing unit population (RELSHIPP=20-36)",
        "GQ population (RELSHIPP=37-38)",
        "GQ institutional population (RELSHIPP=37)",
        "GQ noninstitutional population (RELSHIPP=38)",
    ]


def test_totals_and_errors_by_hand(wyoming: Path) -> None:
    rows = by_name(verify([wyoming]))
    assert list(rows) == characteristics("RELP")
    expected = {  # total, and its distance under every replicate; the error is twice that
        "Total population": (100, 0),
        "Housing unit population (RELP=0-15)": (50, 1),
        "GQ population (RELP=16-17)": (50, 1),
        "GQ institutional population (RELP=16)": (20, 2),
        "GQ noninstitutional population (RELP=17)": (30, 3),
        "Total males (SEX=1)": (10, 1),
        "Total females (SEX=2)": (90, 1),
        "Age 0-4": (10, 1),
        "Age 5-9": (20, 2),
        "Age 10-14": (0, 0),
        "Age 75-84": (30, 3),
        "Age 85 and over": (40, 0),
    }
    for name, (estimate, distance) in expected.items():
        row = rows[name]
        assert (row.vintage, row.estimate, row.status, row.reason) == (2018, estimate, "ok", None)
        assert row.std_error == pytest.approx(2 * distance)
        assert row.moe90 == pytest.approx(1.645 * 2 * distance)


def test_several_states_have_their_sum_first_and_vintages_stay_apart(
    tmp_path: Path, wyoming: Path
) -> None:
    vermont = zipped(
        tmp_path / "vt.zip", person(ST="50", SERIALNO="2018GQ0000007", **weights(5, 4))
    )
    later = zipped(
        tmp_path / "later.zip", person(ST="50", SERIALNO="2019HU0000007", RELP=None, RELSHIPP="37")
    )
    rows = verify([wyoming, vermont, later])
    order = [(r.vintage, r.state) for r in rows][::20]
    assert order == [(2018, "all"), (2018, "50"), (2018, "56"), (2019, "50")]
    together = by_name(rows, "all")["Total population"]
    assert (together.estimate, together.std_error) == (105, 2.0)
    assert together.vintage == 2018


def test_the_same_content_counts_once(tmp_path: Path, wyoming: Path) -> None:
    copy = tmp_path / "copy.zip"
    copy.write_bytes(wyoming.read_bytes())
    assert verify([wyoming, copy]) == verify([wyoming])


def test_the_command_says_what_came_twice(wyoming: Path, capsys) -> None:
    note = "wy.zip/psam_p56.csv was given twice (same content): nothing to do."
    assert cli.main(["verify-acs", str(wyoming), str(wyoming)]) == 0
    assert capsys.readouterr().out.endswith(f"\nnote: {note}\n")
    assert cli.main(["verify-acs", str(wyoming), str(wyoming), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [note]
    assert cli.main(["verify-acs", str(wyoming)]) == 0
    assert "note:" not in capsys.readouterr().out


def test_without_weights_or_relationship_the_reason_stands_there(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", newer(RELSHIPP=None))
    rows = by_name(verify([path]), "01")
    people = rows["Total population"]
    assert (people.estimate, people.std_error, people.moe90) == (48, None, None)
    assert (people.status, people.reason) == ("estimate_only", "no_replicate_weights")
    quarters = rows["GQ institutional population"]
    assert (quarters.estimate, quarters.std_error) == (None, None)
    assert (quarters.status, quarters.reason) == ("not_computable", "no_relationship_column")


def test_total_by_predicate(wyoming: Path, tmp_path: Path) -> None:
    def children(batch):  # type: ignore[no-untyped-def]
        return batch.column("age").to_numpy() < 18

    (member,) = inspect(wyoming)
    estimate, error = total(batches(member), children)
    assert (estimate, error) == (30, pytest.approx(6.0))
    (bare,) = inspect(zipped(tmp_path / "bare.zip", newer(AGEP="3")))
    assert total(batches(bare), children) == (48, None)


def official(path: Path, *lines: str, header: str = "pums_est_18,pums_se_18,pums_moe_18") -> Path:
    content = "\n".join([f"st,characteristic,{header}", *lines])
    path.write_text("\ufeff" + content + "\n", encoding="utf-8")
    return path


def test_compare_says_which_figures_differ(wyoming: Path, tmp_path: Path) -> None:
    published = official(
        tmp_path / "o.csv",
        'US,Total population,"327,167,439",0,0',  # one state is not the nation: left out
        "56,Total population,100,0,0",
        "56,GQ institutional population (RELSHIPP=37),21,4,7",
        "56,Total males (SEX=1),10,3,3",
        "50,Total population,626299,0,0",
    )
    rows = verify([wyoming])
    found = [
        (c.characteristic.split(" (")[0], c.figure, c.ours, c.published, c.difference, c.status)
        for c in compare(rows, published)
    ]
    assert found == [
        ("Total population", "estimate", 100.0, 100.0, 0.0, "equal"),
        ("Total population", "std_error", 0.0, 0.0, 0.0, "equal"),
        ("Total population", "moe90", 0.0, 0.0, 0.0, "equal"),
        ("GQ institutional population", "estimate", 20.0, 21.0, -1.0, "differs"),
        ("GQ institutional population", "std_error", 4.0, 4.0, 0.0, "equal"),
        ("GQ institutional population", "moe90", 6.58, 7.0, pytest.approx(-0.42), "equal"),
        ("Total males", "estimate", 10.0, 10.0, 0.0, "equal"),
        ("Total males", "std_error", 2.0, 3.0, -1.0, "differs"),
        ("Total males", "moe90", 3.29, 3.0, pytest.approx(0.29), "equal"),
    ]


def test_compare_with_the_file_for_five_years(tmp_path: Path) -> None:
    years = [person(SERIALNO=f"{y}HU0000001", **weights(10, 11)) for y in range(2019, 2024)]
    header = "PUMS_EST_19_TO_23,PUMS_SE_19_TO_23,pums_moe_19_to_23,pums_est_23"
    published = official(tmp_path / "o.csv", "56,Total males (SEX=1),50,10,-,7", header=header)
    found = compare(verify([zipped(tmp_path / "a.zip", *years)]), published)
    assert [(c.vintage, c.period, c.figure, c.ours, c.published, c.status) for c in found] == [
        (2023, 5, "estimate", 50.0, 50.0, "equal"),
        (2023, 5, "std_error", 10.0, 10.0, "equal"),
        (2023, 5, "moe90", 16.45, 0.0, "differs"),
    ]


def test_compare_where_an_error_cannot_be_computed(tmp_path: Path) -> None:
    rows = verify([zipped(tmp_path / "a.zip", newer())])
    header = "pums_est_24,pums_se_24"
    published = official(tmp_path / "o.csv", "01,Total population,48,0", header=header)
    estimate, error = compare(rows, published)
    assert (estimate.status, error.status) == ("equal", "not_computable")
    assert (error.ours, error.difference) == (None, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, f"FILE: no such file or directory. {REMEDY}"),
        (b"st,characteristic,pums_est_18\n56,\xe9,1\n", f"FILE: is not UTF-8. {REMEDY}"),
        (b"state,characteristic,pums_est_18\n", f"FILE: column st is missing. {REMEDY}"),
        (b"st,characteristic,n\n", f"FILE: no column is named like pums_est_24. {REMEDY}"),
        (
            b"st,characteristic,pums_est_18\n56,Total population,many\n",
            f"FILE, line 2, column pums_est_18: 'many' is not a number. {REMEDY}",
        ),
        (
            b"st,characteristic,pums_est_18\n56,Total population\n",
            f"FILE, line 2: has 2 fields, the header has 3. {REMEDY}",
        ),
        (
            b"st,characteristic,pums_est_18\n56," + b"T" * 200_000 + b",1\n",
            "FILE: cannot be split into fields: field larger than field limit (131072). " + REMEDY,
        ),
        (
            b"st,characteristic,pums_est_17\n56,Total population,100\n",
            f"FILE: holds none of the states given, for 2018. {REMEDY}",
        ),
    ],
)
def test_bad_official_file(
    wyoming: Path, tmp_path: Path, content: bytes | None, message: str
) -> None:
    file = tmp_path / "o.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        compare(verify([wyoming]), file)
    assert str(caught.value).replace(str(file), "FILE") == message


def test_errors_are_finite_for_legal_zero_weights(tmp_path: Path) -> None:
    rows = verify([zipped(tmp_path / "a.zip", person(**weights(7, 0)))])
    assert by_name(rows)["Total population"].std_error == pytest.approx(14.0)
    assert all(r.std_error is not None and math.isfinite(r.std_error) for r in rows)
