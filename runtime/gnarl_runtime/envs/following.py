"""What was found for the instances of a pool in; out: how far each slot's picks follow it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
_LEFT = -1  # the picks of a slot are no beginning of the found episode


class Following:
    """One found episode per instance, and how many of its picks each slot has made."""

    def __init__(self, episodes: Index, slots: int) -> None:
        self.episodes = episodes  # (instances, longest) nodes, -1 behind the end
        self.along = np.full(slots, _LEFT, np.int64)  # (slots,)

    def start(self, slots: Index) -> None:
        self.along[slots] = 0

    def note(self, actions: Index, running: NDArray[np.bool_], instance: Index) -> None:
        """Picks (slots,) are about to be made in running slots, on these instances."""
        meant = self._next(instance, self.along) == actions
        self.along[running] = np.where(meant & (actions >= 0), self.along + 1, _LEFT)[running]

    def fill(
        self,
        out: NDArray[np.float64],
        slots: Index,
        instance: Index,
        open_: NDArray[np.bool_],
        stops: NDArray[np.bool_] | None = None,
    ) -> None:
        """Probability 1 for the next pick in those slots that are open and still follow.

        Where picks may end an episode, that comes last; an episode that was found may end so.
        """
        out[slots] = 0.0
        following = self._next(instance[slots], self.along[slots])
        said = (following >= 0) & open_[slots]
        out[slots[said], following[said]] = 1.0
        if stops is not None:
            length = (self.episodes[instance[slots]] >= 0).sum(axis=1)
            done = open_[slots] & (self.along[slots] == length) & (length > 0) & stops[slots]
            out[slots[done], -1] = 1.0

    def _next(self, instance: Index, along: Index) -> Index:
        """The next node of each episode, -1 if there is none."""
        inside = (along >= 0) & (along < self.episodes.shape[1])
        found = np.full(len(along), -1, np.int64)
        found[inside] = self.episodes[instance[inside], along[inside]]
        return found
