"""Draws are fixed for ever: golden values, range, uniformity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fairscreen import random


def test_golden_values() -> None:
    # XXH64 chained from seed 42; the Spark test holds the same values.
    assert random.hashes(7, "age", ["a", "é"]).astype(np.int64).tolist() == GOLDEN_TEXT
    assert random.hashes(7, "age", np.array([0, -1, 2**40])).astype(np.int64).tolist() == GOLDEN_INT


GOLDEN_TEXT = [-1820358297262345205, 3950044019610066344]
GOLDEN_INT = [4457600466043323347, -3666406606261159740, 1420664859523014635]


def test_uniforms_are_uniform_and_never_0_or_1() -> None:
    u = random.uniforms(1, "x", np.arange(20_000))
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4


def test_largest_hash_stays_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    top = np.array([2**64 - 1, 0], dtype=np.uint64)
    monkeypatch.setattr(random, "hashes", lambda *_: top)
    u = random.uniforms(1, "x", ["a", "b"])
    assert u[0] < 1
    assert u[1] > 0


def test_purposes_and_seeds_are_independent() -> None:
    keys = [str(i) for i in range(5000)]
    u, v = random.uniforms(1, "a", keys), random.uniforms(1, "b", keys)
    w = random.uniforms(2, "a", keys)
    for other in (v, w):
        assert abs(np.corrcoef(u, other)[0, 1]) < 0.06


def test_integers_cover_their_range() -> None:
    drawn = random.integers(3, "slot", [str(i) for i in range(2000)], 7)
    assert sorted(set(drawn.tolist())) == list(range(7))
