"""Lines of the SSA's files, national and by state: no header, no quotes, five births or more."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from fairscreen import spelling
from fairscreen.errors import InputError

MIN_BIRTHS = 5
YEARS = (1880, 2100)  # the SSA's first birth year; a year beyond the second is a typing error


def parse(
    data: bytes, columns: Mapping[str, pa.DataType], where: str, *,
    form: str, remedy: str, state: str | None = None,
) -> pa.Table:  # fmt: skip
    """The lines as a table of `columns`: name, sex, births, and birth_year and state in some files.

    form: a line as it should be, for messages; state: the only one allowed. Raises InputError
    naming the first line that is not UTF-8, malformed, of an impossible sex, year, state or number
    of births, or there already.
    """
    data = data.removeprefix(codecs.BOM_UTF8)

    def wrong() -> InputError:
        return _bad_line(data, columns, where, form, remedy, state)

    try:
        odd = spelling.ODD.search(data.decode("utf-8"))
        rows = pyarrow.csv.read_csv(
            pa.py_buffer(data),
            read_options=pyarrow.csv.ReadOptions(column_names=list(columns)),
            parse_options=pyarrow.csv.ParseOptions(quote_char=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict(columns), strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise wrong() from None
    if odd or not rows.num_rows:
        raise wrong()
    sound = pc.and_(
        pc.and_(pc.is_in(rows["sex"], pa.array(["F", "M"])), pc.not_equal(rows["name"], "")),
        pc.greater_equal(rows["births"], MIN_BIRTHS),
    )
    if "birth_year" in columns:
        year = rows["birth_year"]
        inside = pc.and_(pc.greater_equal(year, YEARS[0]), pc.less_equal(year, YEARS[1]))
        sound = pc.and_(sound, inside)
    if state is not None:
        sound = pc.and_(sound, pc.equal(rows["state"], state))
    if not pc.all(pc.fill_null(sound, False), min_count=0).as_py():
        raise wrong()
    if not data.isascii():
        names = pa.array([spelling.clean(n) for n in rows["name"].to_pylist()], pa.string())
        rows = rows.set_column(rows.schema.get_field_index("name"), "name", names)
    key = [c for c in columns if c != "births"]
    if rows.group_by(key, use_threads=False).aggregate([]).num_rows != rows.num_rows:
        raise wrong()
    return rows


def _bad_line(
    data: bytes, columns: Mapping[str, pa.DataType], where: str, form: str, remedy: str,
    state: str | None,
) -> InputError:  # fmt: skip
    """The first line that is wrong: looked for only once something is known to be wrong."""
    seen: dict[tuple[str, ...], int] = {}
    for number, raw in enumerate(re.split(rb"\r\n|\n|\r", data), start=1):
        at = f"{where}, line {number}"
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            return InputError(at, "is not UTF-8 text", remedy)
        if not line:
            continue
        cells = line.split(",")
        fields = dict(zip(columns, cells, strict=False))
        if len(cells) != len(columns) or not fields["name"]:
            return InputError(at, f"{line[:60]!r} is not of the form {form}", remedy)
        if problem := _fault(fields, state):
            return InputError(at, problem, remedy)
        key = tuple(spelling.clean(v) for c, v in fields.items() if c != "births")
        if key in seen:
            shown = ",".join(key)
            return InputError(at, f"{shown} stands already in line {seen[key]}", remedy)
        seen[key] = number
    return InputError(where, "holds no names", remedy)


def _fault(fields: Mapping[str, str], state: str | None) -> str | None:
    if odd := spelling.ODD.search(fields["name"]):
        return f"name {fields['name'][:60]!r} holds the character U+{ord(odd.group()):04X}"
    if state is not None and fields["state"] != state:
        return f"state is {fields['state']!r}, not {state}"
    if fields["sex"] not in ("F", "M"):
        return f"sex is {fields['sex']!r}, not F or M"
    year = fields.get("birth_year")
    if year is not None and not (
        re.fullmatch(r"[0-9]{4}", year) and YEARS[0] <= int(year) <= YEARS[1]
    ):
        return f"birth year {year!r} is not between {YEARS[0]} and {YEARS[1]}"
    births = fields["births"]
    if not re.fullmatch(r"[0-9]{1,9}", births):
        return f"{births!r} is not a number of births"
    if int(births) < MIN_BIRTHS:
        return f"{births} births; the SSA publishes {MIN_BIRTHS} or more"
    return None
