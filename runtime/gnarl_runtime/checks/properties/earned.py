"""Finished plays go in, a reward that is the same for all plays of an instance comes out.

Whatever is picked then earns as much as anything else: there is nothing to learn. On two or three
nodes that is common (all tours of three are equally long), so larger instances decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem, choose_reward
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties.worth import ENOUGH, SMALLEST
from gnarl_runtime.checks.sample.judges import close
from gnarl_runtime.checks.sample.plays import Arena, Index


class Earned:
    """How many instances were played in several ways, and whether that ever made a difference."""

    def __init__(self, problem: Problem) -> None:
        self.entry = choose_reward(problem, None)
        self.compared = 0
        self.varied = False
        self.example: tuple[Instance, tuple[int, ...]] | None = None

    def add(self, arena: Arena, instances: Sequence[Instance]) -> None:
        """Compare the finished plays of each instance."""
        if self.varied:
            return
        owner = np.array([arena.seats[slot].instance for slot in arena.finished], np.int64)
        for number in np.unique(owner):
            slots = arena.finished[owner == number]
            different = len({arena.picks(int(slot)) for slot in slots}) > 1
            if different and instances[number].graph.n >= SMALLEST:
                self._compare(arena, instances[number], slots)

    def _compare(self, arena: Arena, instance: Instance, slots: Index) -> None:
        self.compared += 1
        earned = arena.gained[slots]
        self.varied |= not bool(close(earned, earned[0]).all())
        if self.example is None or instance.graph.n < self.example[0].graph.n:
            self.example = instance, arena.picks(int(slots[0]))

    def failures(self) -> Iterator[Failure]:
        """One failure if it never made a difference what was picked."""
        if self.entry is None or self.varied or self.compared < ENOUGH or self.example is None:
            return
        what = (
            f"whatever is picked earns the same `{self.entry.name}`: on all {self.compared:,} "
            "instances that were played in different ways"
        )
        span, (instance, picks) = self.entry.value.span, self.example
        yield Failure("reward-flat", what, instance, picks, span, None, self.compared)
