"""The five functionals a second time: the plain g-formula, by enumeration on discrete data.

Counts give conditional frequencies, and sums over all values of Z, R and B give the functionals:
no influence function, no propensity, nothing of fairscreen.
Source: PopResume, section on path-specific effects (identification under sequential ignorability).
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

# Whose mean of the score, whose B and whose R each functional takes.
WORLDS = {"E1": (1, 1, 1), "E0": (0, 0, 0), "E_W": (1, 0, 0), "E_B": (1, 0, 1), "E_R": (1, 1, 0)}


class Frequencies:
    """Weighted counts of the people, and what follows from them by division."""

    def __init__(self, d: dict[str, np.ndarray], weighted: bool) -> None:
        self.count: dict[tuple, float] = defaultdict(float)
        self.score: dict[tuple, float] = defaultdict(float)
        rows = zip(d["x"], d["z"], d["r"], d["b"], d["y"], d["w"], strict=True)
        for x, z, r, b, y, w in rows:
            place = (int(x), tuple(z.tolist()), tuple(r.tolist()), tuple(b.tolist()))
            w = float(w) if weighted else 1.0
            for depth in range(1, 5):
                self.count[place[:depth]] += w
            self.count[("z", place[1])] += w
            self.score[place] += w * float(y)
        self.total = sum(v for k, v in self.count.items() if len(k) == 1)
        places = [k for k in self.count if len(k) == 4]
        self.z, self.r, self.b = (sorted({k[i] for k in places}) for i in (1, 2, 3))

    def p_z(self, z: tuple) -> float:
        """Among everybody, whatever his x."""
        return self.count[("z", z)] / self.total

    def p_r(self, r: tuple, x: int, z: tuple) -> float:
        return self.count[(x, z, r)] / self.count[(x, z)]

    def p_b(self, b: tuple, r: tuple, x: int, z: tuple) -> float:
        return self.count[(x, z, r, b)] / self.count[(x, z, r)]

    def mean(self, b: tuple, r: tuple, x: int, z: tuple) -> float:
        return self.score[(x, z, r, b)] / self.count[(x, z, r, b)]

    def functional(self, y: int, b: int, r: int, given: tuple | None = None) -> float:
        """E[Y_{y, B_{b, R_r}, R_r}]; y, b, r: kinds of X. given: of one z instead of all."""
        return sum(
            (self.p_z(z) if given is None else float(z == given))
            * self.p_r(rr, r, z)
            * self.p_b(bb, rr, b, z)
            * self.mean(bb, rr, y, z)
            for z, rr, bb in itertools.product(self.z, self.r, self.b)
        )

    def functionals(self, x1: int, x0: int) -> dict[str, float]:
        kind = (x0, x1)
        return {name: self.functional(*(kind[k] for k in who)) for name, who in WORLDS.items()}


def effects(e: dict[str, float]) -> dict[str, float]:
    bie = 0.5 * ((e["E1"] - e["E_B"]) + (e["E_R"] - e["E_W"]))
    rie = 0.5 * ((e["E1"] - e["E_R"]) + (e["E_B"] - e["E_W"]))
    return {
        "TE": e["E1"] - e["E0"], "NDE": e["E_W"] - e["E0"], "NIE": e["E1"] - e["E_W"],
        "BIE": bie, "RIE": rie,
    }  # fmt: skip
