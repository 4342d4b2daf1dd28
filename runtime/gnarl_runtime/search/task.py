"""What every strategy is given and gives back: a task in, answers out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.outcomes import Outcomes, Picks
from gnarl_runtime.search.strategy import Strategy

Progress = Callable[[float, int], None]  # (instances done, of all)


@dataclass(frozen=True, eq=False)
class Drivers:
    """Who makes picks while searching; picks by chance need nobody."""

    policy: Policy | None = None
    experts: tuple[str, ...] = ()  # with which the kernels were compiled


@dataclass(frozen=True)
class Moment:
    """When something better was found."""

    decisions: int
    seconds: float  # since the search began
    value: float  # the objective; without one, minus the number of picks
    right: bool  # correct where that is known, else valid


Improved = Callable[[int, Moment], None]  # (number of the instance, when and what)


@dataclass(frozen=True, eq=False)
class Task:
    """Instances to search on, and with what."""

    drivers: Drivers
    compiled: Compiled
    pool: Pool
    seed: int
    temperature: float | None  # at which the policy plays by itself; None: its best picks
    objective: str | None
    max_rounds: int | None
    slots: int | None  # episodes side by side, which changes no answer
    progress: Progress
    improved: Improved


@dataclass(frozen=True, eq=False)
class Answers:
    """For each of I instances the best episode."""

    picks: tuple[Picks, ...]  # (I,)
    decisions: NDArray[np.int64]  # (I,) picks that were chosen to find it
    proven: NDArray[np.bool_]  # (I,) nothing can be better
    history: tuple[tuple[Moment, ...], ...] = ()  # (I,) each from the first episode to the best
    ran: Strategy | None = None  # if not the one that was asked for: what repeats it
    endless: NDArray[np.bool_] | None = None  # (I,) no end is known: the picks lead to none


@dataclass(frozen=True, eq=False)
class Found:
    """The best episode per instance, and what it took."""

    outcomes: Outcomes  # (I,) one each, with picks; `seconds` are those of the search
    decisions: NDArray[np.int64]  # (I,)
    proven: NDArray[np.bool_]  # (I,)
    history: tuple[tuple[Moment, ...], ...]
    strategy: Strategy  # what repeats it: `work:N` if `time:S` was asked for
    endless: NDArray[np.bool_]  # (I,) no end of an episode is known, so this is none


def unproven(task: Task) -> NDArray[np.bool_]:
    return np.zeros(len(task.pool), np.bool_)
