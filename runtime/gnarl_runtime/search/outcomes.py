"""What came of many episodes, in arrays of one entry per episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
Picks = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """E episodes, those of one instance side by side in the order of their samples."""

    instance: NDArray[np.int64]  # (E,) number in the pool
    sample: NDArray[np.int64]  # (E,) which attempt at that instance
    nodes: NDArray[np.int64]  # (E,)
    valid: NDArray[np.bool_]  # (E,) the spec's clause at the end; true if it has none
    correct: NDArray[np.bool_]  # (E,) the spec's clause at the end; `valid` if it has none
    truncated: NDArray[np.bool_]  # (E,) cut off by a limit of rounds
    stopped: NDArray[np.bool_]  # (E,) given up by the player
    objective: NDArray[np.float64]  # (E,) NaN if there is none
    metrics: Mapping[str, NDArray[np.float64]]  # by name, (E,)
    reward: NDArray[np.float64]  # (E,) total
    steps: NDArray[np.int64]  # (E,) picks
    seconds: float  # all of it, without compiling
    solutions: NDArray[np.uint64] | None = None  # (E,) equal where all state features are equal
    picks: tuple[Picks, ...] | None = None  # (E,) each (steps,)
    phases: tuple[tuple[int, ...], ...] | None = None  # (E,) each (steps,), of the picks
    # (E,) by name, as Batch.read_feature gives them; `edge` is the graph of a mutable problem.
    states: tuple[Mapping[str, Values], ...] | None = field(default=None, repr=False)

    @property
    def success(self) -> NDArray[np.bool_]:
        """What counts: a right answer where the spec says what is right, else a valid one."""
        return self.correct

    def __len__(self) -> int:
        return len(self.instance)


@dataclass(frozen=True)
class Keep:
    """What to keep of every episode besides numbers."""

    picks: bool = False
    states: bool = False
    solutions: bool = False


def blank_outcomes(
    instance: NDArray[np.int64],
    sample: NDArray[np.int64],
    nodes: NDArray[np.integer],
    metrics: Sequence[str],
) -> Outcomes:
    """Arrays for the episodes, to be filled in as they end."""
    count = len(instance)
    return Outcomes(
        instance=instance,
        sample=sample,
        nodes=nodes.astype(np.int64),
        valid=np.zeros(count, np.bool_),
        correct=np.zeros(count, np.bool_),
        truncated=np.zeros(count, np.bool_),
        stopped=np.zeros(count, np.bool_),
        objective=np.full(count, np.nan),
        metrics={name: np.full(count, np.nan) for name in metrics},
        reward=np.zeros(count),
        steps=np.zeros(count, np.int64),
        seconds=0.0,
    )


def without_ends(outcomes: Outcomes, endless: NDArray[np.bool_]) -> Outcomes:
    """Episodes (E,) that came to no end are no answers: neither valid nor worth anything."""
    return replace(
        outcomes,
        valid=outcomes.valid & ~endless,
        correct=outcomes.correct & ~endless,
        objective=np.where(endless, np.nan, outcomes.objective),
    )


def join_outcomes(parts: Sequence[Outcomes]) -> Outcomes:
    """Episodes on several pools as if on one; picks and states are left out."""
    sizes = [int(part.instance.max()) + 1 for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    arrays = {
        name: np.concatenate([vars(part)[name] for part in parts])
        for name, values in vars(parts[0]).items()
        if isinstance(values, np.ndarray)
    }
    moved = [part.instance + offset for part, offset in zip(parts, before, strict=True)]
    names = parts[0].metrics
    return replace(
        parts[0],
        **{**arrays, "instance": np.concatenate(moved)},
        metrics={name: np.concatenate([part.metrics[name] for part in parts]) for name in names},
        seconds=sum(part.seconds for part in parts),
        picks=None,
        phases=None,
        states=None,
    )
