"""What an episode is and where it stands: `Episode` never changes, `State` is one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.externs.find import AnyAlgorithm
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import CATEGORICAL, SCALAR
from gnarl_dsl.report.failures import Failure
from gnarl_dsl.report.source import Span

Ending = Literal["terminated", "truncated"]
STOP = -1  # the pick that is none: it ends the episode
Value = float | bool | int | None


@dataclass(frozen=True, eq=False)
class Episode:
    """An instance with its labels (filled in when first read) and its bounds in rounds.

    `plans` is what is known of the instance to experts that are made for it; `algorithms` are the
    functions that its formulas have called.
    """

    problem: Problem
    instance: Instance
    oracles: dict[str, Array]
    horizon: float
    limit: float
    plans: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    algorithms: dict[str, AnyAlgorithm] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class State:
    """Values of the state features and everything the paper adds to them.

    `last[k]` is the latest pick of phase k, -1 if there was none; `picks` are those of the
    round under way, -1 for a phase that was skipped, `made` all of the episode; `potential` is
    the value that the next round's reward is measured from.
    """

    episode: Episode
    features: Mapping[str, Array]
    adjacency: NDArray[np.bool_]  # (nodes, nodes)
    phase: int
    last: tuple[int, ...]  # (phases,)
    picks: tuple[int, ...]  # (phases done or skipped in this round,)
    rounds: int
    potential: float
    ended: Ending | None
    made: tuple[int, ...] = ()  # (steps,)

    @property
    def n(self) -> int:
        return len(self.adjacency)

    @property
    def opening(self) -> bool:
        """Whether nothing has been picked in this round."""
        return all(pick < 0 for pick in self.picks)


@dataclass(frozen=True)
class Change:
    """One write of an update: which line, which cell, from what to what."""

    span: Span
    target: str
    index: tuple[int, ...]
    before: Value
    after: Value


class SpecRunError(Failure):
    """A spec that did something at run time which no check could foresee."""

    def __init__(self, problem: Problem, span: Span, what: str) -> None:
        self.line = problem.line_of(span)
        super().__init__(problem.located(span, what))


class IllegalPick(Exception):
    """A pick that the mask forbids."""


def unfit(feature: Feature, value: float) -> str:
    """What keeps a value out of an observed feature, in words; nothing if it fits."""
    if feature.type is SCALAR and math.isinf(value):
        return "infinite, which a policy cannot read"
    if feature.type is CATEGORICAL and not 0 <= value < feature.categories:
        return f"{value:g}, outside 0..{feature.categories - 1}"
    return ""
