"""Masks in, random picks out, fast enough not to matter: one call for a whole batch."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


class Sampler:
    """Uniform picks from rows of masks, repeatable from a seed."""

    def __init__(self, seed: int = 0) -> None:
        self.state = np.array([seed], np.uint64)

    def rows(self, wanted: NDArray[np.bool_], legal: NDArray[np.bool_]) -> NDArray[np.int64]:
        """One node per row (rows, nodes): a wanted one, else a legal one, else 0."""
        picks: NDArray[np.int64] = pick_rows(wanted, legal, self.state)
        return picks

    def one(self, wanted: NDArray[np.bool_], legal: NDArray[np.bool_]) -> int:
        """The same for a single row (nodes,)."""
        return int(pick_rows(wanted[None], legal[None], self.state)[0])


@numba.njit(cache=True)
def random_bits(state):  # type: ignore[no-untyped-def]
    """The next number of a splitmix64 sequence."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(cache=True)
def pick_from(row, count, state):  # type: ignore[no-untyped-def]
    """A random true position of a row that has `count` of them."""
    left = np.int64((random_bits(state) >> np.uint64(11)) % np.uint64(count))
    for node in range(len(row)):
        if row[node]:
            if left == 0:
                return node
            left -= 1
    return 0


@numba.njit(cache=True)
def pick_rows(wanted, legal, state):  # type: ignore[no-untyped-def]
    """A random wanted node of every row, else a legal one, else 0."""
    picks = np.zeros(len(legal), np.int64)
    for row in range(len(legal)):
        count = np.sum(wanted[row])
        if count:
            picks[row] = pick_from(wanted[row], count, state)
            continue
        count = np.sum(legal[row])
        if count:
            picks[row] = pick_from(legal[row], count, state)
    return picks
