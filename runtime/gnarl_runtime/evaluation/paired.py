"""Outcomes of two players on the same graphs in, their mean difference with its interval out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.evaluation.summary import Z95
from gnarl_runtime.search.outcomes import Outcomes

Standing = Literal["ahead", "level", "behind"]


@dataclass(frozen=True)
class Paired:
    """The mean of one player's figure minus the other's, graph by graph."""

    graphs: int
    mean: float
    low: float  # of the 95 % interval; infinite if one graph is all there is
    high: float

    @property
    def standing(self) -> Standing:
        """How the first stands beside the second, as far as can be told."""
        return "ahead" if self.low > 0 else "behind" if self.high < 0 else "level"

    @property
    def interval(self) -> str:
        return f"95 % interval {self.low:+.4g} to {self.high:+.4g}"


def paired(own: NDArray[np.float64], other: NDArray[np.float64]) -> Paired:
    """Both (G,), of the same graphs in the same order."""
    differences = own - other
    count, mean = len(differences), float(differences.mean())
    spread = float(differences.std(ddof=1)) if count > 1 else math.inf
    margin = Z95 * spread / math.sqrt(count)
    return Paired(count, mean, mean - margin, mean + margin)


def judged(players: Sequence[Outcomes], has_objective: bool) -> list[NDArray[np.float64]]:
    """What counts of each player, (G,) each: the objective, or whether the answer is right.

    An end that is not right is worse than any that is: as bad as the worst of all, and once more.
    Several attempts at a graph count by their mean.
    """
    if not has_objective:
        return [_by_graph(own, own.success.astype(np.float64)) for own in players]
    right = [own.success & np.isfinite(own.objective) for own in players]
    lowest = [own.objective[r].min(initial=0.0) for own, r in zip(players, right, strict=True)]
    worst = min(lowest) - 1.0
    return [
        _by_graph(own, np.where(r, own.objective, worst))
        for own, r in zip(players, right, strict=True)
    ]


def _by_graph(outcomes: Outcomes, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(E,) as (G,), in the order of the instances."""
    _, graph = np.unique(outcomes.instance, return_inverse=True)
    mean: NDArray[np.float64] = np.bincount(graph, values) / np.bincount(graph)
    return mean
