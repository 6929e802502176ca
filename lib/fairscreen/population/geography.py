"""States (FIPS code, two digits) with their USPS code and Census Bureau region."""

from __future__ import annotations

from typing import NamedTuple


class State(NamedTuple):
    usps: str
    name: str
    region: str


_BY_REGION = {
    "northeast": "09 CT Connecticut;23 ME Maine;25 MA Massachusetts;33 NH New Hampshire;"
    "34 NJ New Jersey;36 NY New York;42 PA Pennsylvania;44 RI Rhode Island;50 VT Vermont",
    "midwest": "17 IL Illinois;18 IN Indiana;19 IA Iowa;20 KS Kansas;26 MI Michigan;"
    "27 MN Minnesota;29 MO Missouri;31 NE Nebraska;38 ND North Dakota;39 OH Ohio;"
    "46 SD South Dakota;55 WI Wisconsin",
    "south": "01 AL Alabama;05 AR Arkansas;10 DE Delaware;11 DC District of Columbia;"
    "12 FL Florida;13 GA Georgia;21 KY Kentucky;22 LA Louisiana;24 MD Maryland;"
    "28 MS Mississippi;37 NC North Carolina;40 OK Oklahoma;45 SC South Carolina;"
    "47 TN Tennessee;48 TX Texas;51 VA Virginia;54 WV West Virginia",
    "west": "02 AK Alaska;04 AZ Arizona;06 CA California;08 CO Colorado;15 HI Hawaii;"
    "16 ID Idaho;30 MT Montana;32 NV Nevada;35 NM New Mexico;41 OR Oregon;49 UT Utah;"
    "53 WA Washington;56 WY Wyoming",
}

#: FIPS code -> State, for the 50 states and DC. Puerto Rico (72) has no Census region.
STATES: dict[str, State] = {
    fips: State(usps, name, region)
    for region, text in _BY_REGION.items()
    for fips, usps, name in (entry.split(" ", 2) for entry in text.split(";"))
}
