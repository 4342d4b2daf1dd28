"""Picks of many slots in, the sequence that each slot has made so far out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.search.outcomes import Picks

Index = NDArray[np.int64]
_ROOM = 16


class Sequences:
    """One growing row of picks per slot."""

    def __init__(self, slots: int) -> None:
        self.rows = np.full((slots, _ROOM), -1, np.int64)  # (slots, room)
        self.length = np.zeros(slots, np.int64)  # (slots,)

    def clear(self, slots: Index) -> None:
        self.length[slots] = 0

    def append(self, slots: Index, picks: Index) -> None:
        """One more pick in each of these slots."""
        if len(slots):
            self.reserve(int(self.length[slots].max()) + 1)
        self.rows[slots, self.length[slots]] = picks
        self.length[slots] += 1

    def reserve(self, length: int) -> None:
        """Room for sequences of that length."""
        room = self.rows.shape[1]
        if length > room:
            more = np.full((len(self.rows), max(length, 2 * room) - room), -1, np.int64)
            self.rows = np.hstack([self.rows, more])

    def copy(self, source: Index, target: Index) -> None:
        self.rows[target] = self.rows[source]
        self.length[target] = self.length[source]

    def put(self, slots: Index, picks: Picks) -> None:
        """The same whole sequence into several slots."""
        self.reserve(len(picks))
        self.rows[slots, : len(picks)] = picks
        self.length[slots] = len(picks)

    def of(self, slot: int) -> Picks:
        return tuple(self.rows[slot, : self.length[slot]].tolist())
