"""Keys go in, uniform whole numbers come out: which instance an episode plays, and its size.

Counter-based: the answer depends on the keys only, never on the batch, its size or what was
asked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnarl_compiler.graphs.streams import mix64, stream_key

_STEP = np.uint64(0x9E3779B97F4A7C15)  # splitmix64's: 2**64 over the golden ratio
_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Sampler:
    """Chooses among `size` instances, uniformly and with replacement."""

    seed: int
    size: int

    def picks(self, environments: ArrayLike, episodes: ArrayLike) -> NDArray[np.int64]:
        """Which instance each environment plays in its episode of that number."""
        return uniform_below(self.size, self.seed, "pool", environments, episodes)

    def pick(self, environment: int, episode: int) -> int:
        """The same for one of them, many times as fast."""
        mixed = int(_start(self.seed, "pool"))
        for key in (environment, episode):
            mixed = _mix64(mixed + (key + 1) * int(_STEP) & _WORD)
        return (mixed >> 32) * self.size >> 32


def uniform_below(size: int, seed: int, purpose: str, *keys: ArrayLike) -> NDArray[np.int64]:
    """A number from 0 to size - 1 for each of the keys, which are whole and broadcast together."""
    if not 1 <= size < 2**32:
        raise ValueError(f"expected a size from 1 to {2**32 - 1}, found {size}")
    mixed = np.array([_start(seed, purpose)])  # NumPy lets arrays wrap around, scalars warn
    for key in keys:
        mixed = mix64(mixed + (np.atleast_1d(key).astype(np.uint64) + np.uint64(1)) * _STEP)
    # The upper half times the size: off from uniform by less than size / 2**32.
    chosen = ((mixed >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32)
    return chosen.reshape(np.broadcast_shapes(*map(np.shape, keys))).astype(np.int64)


def _mix64(number: int) -> int:
    """`mix64` of one number: NumPy takes thirty times as long for arrays of one."""
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _WORD
    return number ^ number >> 31


@lru_cache(maxsize=64)  # asked for at every reset
def _start(seed: int, purpose: str) -> np.uint64:
    return np.uint64(int.from_bytes(stream_key(seed, purpose, size=8), "little"))
