"""Plays of one instance in, the best of them out: what `best of` means by best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.language.operators import nearly_equal


@dataclass(frozen=True)
class Play:
    """How a play from the start of an instance ended; without an objective it is 0."""

    success: bool
    objective: float
    steps: int


def best_play(plays: Sequence[Play]) -> int:
    """Success first, then the objective, where ties are ties, then fewer picks, then the first."""
    kept = [k for k, play in enumerate(plays) if play.success] or list(range(len(plays)))
    values = {k: _value(plays[k]) for k in kept}
    best = max(values.values())
    kept = [k for k in kept if nearly_equal(values[k], best)]
    return min(kept, key=lambda k: plays[k].steps)


def _value(play: Play) -> float:
    return -math.inf if math.isnan(play.objective) else play.objective


def lowest_rank(nodes: NDArray[np.int64], tags: NDArray[np.uint64]) -> int:
    """The one of some nodes with the lowest hidden rank."""
    return int(nodes[tags[nodes].argmin()])
