"""Every draw of the project: a hash of (seed, purpose, row key), never of order or partition.

XXH64 over the three values in turn, each hash the seed of the next, starting from 42. Spark's
`xxhash64(seed, purpose, key)` is the same function, so a draw may be made on either side.
Two traps are closed here: Spark skips nulls (keys must not be null), and hashes INT unlike
BIGINT (integer keys are always 64 bit).

Uniforms come from integers. Normals, logs and inverse distribution functions belong in numpy,
never partly in SQL: their last digit differs between the two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import xxhash
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark.sql import Column

_SPARK_SEED = 42
_UNIT = 2.0**-52
_CHUNK = 100_000  # rows whose bytes are copied at a time


@lru_cache(maxsize=4096)
def prefix(seed: int | str, purpose: str) -> int:
    """Hash of (seed, purpose), from which the keys of one purpose go on."""
    first = xxhash.xxh64_intdigest(str(seed).encode(), _SPARK_SEED)
    return int(xxhash.xxh64_intdigest(purpose.encode(), first))


def hashes(
    seed: int | str, purpose: str, keys: Sequence[str] | Iterable[str] | NDArray[np.int64]
) -> NDArray[np.uint64]:
    """64-bit hashes of keys (n,): text, or integers that are hashed as BIGINT."""
    start = prefix(seed, purpose)
    digest = xxhash.xxh64_intdigest
    if isinstance(keys, np.ndarray) and np.issubdtype(keys.dtype, np.integer):
        values = [digest(struct.pack("<q", int(k)), start) for k in keys]
    else:
        values = [digest(k.encode(), start) for k in keys]
    return np.array(values, dtype=np.uint64)


def uniforms(
    seed: int | str, purpose: str, keys: Sequence[str] | Iterable[str] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Uniform draws (n,) strictly inside (0, 1), one per key."""
    # 52 bits: with 53 the largest value plus a half would round to 1.
    top = hashes(seed, purpose, keys) >> np.uint64(12)
    return (top.astype(np.float64) + 0.5) * _UNIT


def row_uniforms(seed: int | str, purpose: str, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Uniform draws (n,) strictly inside (0, 1), one per row of keys (n, k): its bytes in turn,
    little-endian."""
    start, width = prefix(seed, purpose), 8 * keys.shape[1]
    digest = xxhash.xxh64_intdigest
    found = np.empty(len(keys), dtype=np.uint64)
    for first in range(0, len(keys), _CHUNK):
        some = keys[first : first + _CHUNK].astype("<i8").tobytes()
        values = [digest(some[at : at + width], start) for at in range(0, len(some), width)]
        found[first : first + len(values)] = values
    return ((found >> np.uint64(12)).astype(np.float64) + 0.5) * _UNIT


def integers(
    seed: int | str,
    purpose: str,
    keys: Sequence[str] | Iterable[str] | NDArray[np.int64],
    bound: int,
) -> NDArray[np.int64]:
    """Integers (n,) in [0, bound), one per key; the bias of the modulus is below bound / 2^64."""
    return (hashes(seed, purpose, keys) % np.uint64(bound)).astype(np.int64)


def integer(start: int, key: bytes, bound: int) -> int:
    """One integer in [0, bound): `integers` for a single UTF-8 key, `start` from `prefix`."""
    return int(xxhash.xxh64_intdigest(key, start)) % bound


def hash_column(seed: int | str, purpose: str, key: Column) -> Column:
    """The same hash as a Spark column (signed 64 bit). `key` must be STRING or BIGINT, not null."""
    from pyspark.sql import functions as sf

    return sf.xxhash64(sf.lit(str(seed)), sf.lit(purpose), key)
