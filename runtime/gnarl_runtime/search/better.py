"""Ends of episodes in, how much each is worth out: the one place that says what is better.

Right before merely valid, where the spec says what is right; then the objective, which is always
maximised; without an objective, fewer picks among those that are right. An episode that is not
valid, or whose objective is no finite number, never wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.search.outcomes import Outcomes

NOTHING, VALID, RIGHT = 0, 1, 2  # levels


class Worth(NamedTuple):
    """Of E episodes."""

    level: NDArray[np.int64]  # (E,) NOTHING, VALID or RIGHT
    value: NDArray[np.float64]  # (E,) to compare within a level

    def at(self, episode: int) -> tuple[int, float]:
        """That of one episode; as tuples, larger is better, and equal is not."""
        return int(self.level[episode]), float(self.value[episode])


LEAST = (NOTHING, 0.0)


def worth_of(
    valid: NDArray[np.bool_],
    right: NDArray[np.bool_],
    objective: NDArray[np.float64] | None,
    steps: NDArray[np.int64],
) -> Worth:
    """`right` is `valid` again where nobody says what is right; no objective is None."""
    counts = valid if objective is None else valid & np.isfinite(objective)
    level = counts.astype(np.int64) + (counts & right)
    value = np.where(level == RIGHT, -steps.astype(np.float64), 0.0)
    if objective is not None:
        value = np.where(level > NOTHING, objective, 0.0)
    return Worth(level, value)


def worth_of_outcomes(outcomes: Outcomes, has_objective: bool) -> Worth:
    """The same of episodes that were played elsewhere."""
    objective = outcomes.objective if has_objective else None
    return worth_of(outcomes.valid, outcomes.success, objective, outcomes.steps)


def first_best(worth: Worth) -> int:
    """The best episode, the first of several."""
    order = np.lexsort((-worth.value, -worth.level))
    return int(order[0])
