"""Rewards and ends of many episodes in, means over the finished ones out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.training.trainer import Metrics


class EpisodeTally:
    """Follows the episodes of all graphs, across updates."""

    def __init__(self, graphs: int) -> None:
        self.gained = np.zeros(graphs)  # (graphs,) in the running episode
        self.steps = np.zeros(graphs, np.int64)  # (graphs,) of the running episode
        self.begin()

    def begin(self) -> None:
        """Forget the finished episodes, but not the running ones."""
        self.returns: list[NDArray[np.float64]] = []
        self.lengths: list[NDArray[np.int64]] = []
        self.right: list[NDArray[np.bool_]] = []

    def add(
        self,
        rewards: NDArray[np.float64],
        finished: NDArray[np.int64],
        right: NDArray[np.bool_],
    ) -> None:
        """A step of all graphs, and which episodes it finished; `right` (graphs,) judges those."""
        self.gained += rewards
        self.steps += 1
        self.returns.append(self.gained[finished])
        self.lengths.append(self.steps[finished])
        self.right.append(right[finished])
        self.gained[finished] = 0.0
        self.steps[finished] = 0

    def metrics(self) -> Metrics:
        """Means over the episodes that finished since `begin`; none if there were none."""
        returns = np.concatenate(self.returns)
        if not len(returns):
            return {"episodes": 0.0}
        return {
            "episodes": float(len(returns)),
            "return": float(returns.mean()),
            "length": float(np.concatenate(self.lengths).mean()),
            "success": float(np.concatenate(self.right).mean()),
        }

    def arrays(self) -> Arrays:
        return {"gained": self.gained.copy(), "steps": self.steps.copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        np.copyto(self.gained, arrays["gained"])
        np.copyto(self.steps, arrays["steps"])
