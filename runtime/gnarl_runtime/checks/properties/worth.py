"""Views of explored spaces go in, experts that play no better than chance come out.

Where nothing is right or wrong, only better or worse, an expert must be worth listening to. On
instances of four nodes and more it prefers some legal picks to others, and over all of them in
which plays differ, its play earns more of the objective than random legal picks do. Both are
expected values, computed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl.language.operators import ABSOLUTE
from gnarl_dsl.model import GreedyExpert, Problem
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.findings.findings import Failure

SMALLEST = 4  # nodes; all plays of fewer are too much alike
ENOUGH = 10  # instances

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Standing:
    """How much more an expert earns than chance on some instances, and where it earns least."""

    instances: int = 0
    advantage: float = 0.0  # of all instances together
    least: float = np.inf
    worst: Instance | None = None

    def with_one(self, advantage: float, instance: Instance) -> Standing:
        lower = advantage < self.least
        return Standing(
            self.instances + 1,
            self.advantage + advantage,
            advantage if lower else self.least,
            instance if lower else self.worst,
        )


class Standings:
    """Standings of all experts, kept by size: one that is explored again replaces the former."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        judged = problem.correct is None and bool(problem.objectives)
        rules = [e.name for e in problem.experts if not isinstance(e, GreedyExpert)]
        self.experts = rules if judged else []
        self._kept: dict[tuple[int, str], Standing] = {}
        self._choosy: set[tuple[int, str]] = set()  # experts that prefer some pick somewhere
        self._choices: dict[int, Instance] = {}  # by nodes: an instance with something to choose

    def forget(self, nodes: int) -> None:
        self._kept = {key: value for key, value in self._kept.items() if key[0] != nodes}
        self._choosy = {key for key in self._choosy if key[0] != nodes}
        self._choices.pop(nodes, None)

    def add(self, view: View) -> None:
        """The instances of one more space."""
        space = view.space
        if space.board.nodes < SMALLEST or not self.experts or not len(space):
            return
        self._note_choices(view)
        worth = space.value(Role.OBJECTIVE.of(self.problem.objective().name))
        chance = np.maximum(space.legal.sum(axis=1, keepdims=True), 1)
        starts = np.flatnonzero(space.depth == 0)
        starts = starts[(differ(space, worth) & space.complete)[space.instance[starts]]]
        base = expected(space, space.legal / chance, worth)[starts]
        for name in self.experts:
            own = expected(space, view.expert(name).distribution, worth)[starts]
            for start, gain in zip(starts, own - base, strict=True):
                instance = space.board.instances[int(space.instance[start])]
                self._note((space.board.nodes, name), float(gain), instance)

    def _note_choices(self, view: View) -> None:
        """Which experts leave out a legal pick, where there are several."""
        space, nodes = view.space, view.space.board.nodes
        open_states = np.flatnonzero(space.live & (space.legal.sum(axis=1) > 1))
        if len(open_states):
            several = {int(k) for k in np.unique(space.instance[open_states])}
            richest = max((space.board.instances[k] for k in sorted(several)), key=_variety)
            self._choices.setdefault(nodes, richest)
        for name in self.experts:
            support = view.expert(name).support[open_states]
            if (support != space.legal[open_states])[support.any(axis=1)].any():
                self._choosy.add((nodes, name))

    def _note(self, key: tuple[int, str], gain: float, instance: Instance) -> None:
        self._kept[key] = self._kept.get(key, Standing()).with_one(gain, instance)

    def failures(self) -> Iterator[Failure]:
        """Experts that prefer nothing, or earn no more than chance on all sizes together."""
        for name in self.experts:
            if self._choices and all(key[1] != name for key in self._choosy):
                yield self._indifferent(name)
                continue
            parts = [entry for key, entry in self._kept.items() if key[1] == name]
            count = sum(entry.instances for entry in parts)
            mean = sum(entry.advantage for entry in parts) / max(1, count)
            if count >= ENOUGH and mean <= ABSOLUTE:
                least = min(parts, key=lambda entry: entry.least)
                assert least.worst is not None
                span = self.problem.expert(name).span
                what = (
                    f"the play of the expert `{name}` is worth no more than random legal picks: "
                    f"{mean:+.4g} `{self.problem.objective().name}` on average over {count:,} "
                    f"instances, {least.least:+.4g} on this one"
                )
                yield Failure("expert-aimless", what, least.worst, (), span, name, count)

    def _indifferent(self, name: str) -> Failure:
        what = f"the expert `{name}` never prefers a legal pick to another: it picks at random"
        instance = self._choices[min(self._choices)]
        return Failure("expert-aimless", what, instance, (), self.problem.expert(name).span, name)


def _variety(instance: Instance) -> int:
    """How many different values the inputs have: where all are equal, nothing is preferable."""
    return sum(len(np.unique(values)) for values in instance.inputs.values())


def differ(space: Space, worth: Numbers) -> NDArray[np.bool_]:
    """Per instance: whether its ends are worth more or less than one another."""
    over = space.ended != RUNNING
    most = np.full(len(space.board.instances), -np.inf)
    least = -most
    np.maximum.at(most, space.instance[over], worth[over])
    np.minimum.at(least, space.instance[over], worth[over])
    return np.asarray(most - least > ABSOLUTE)


def expected(space: Space, chances: Numbers, worth: Numbers) -> Numbers:
    """What play with these chances (states, nodes) is worth on average, from every state on."""
    result = np.where(space.ended != RUNNING, worth, 0.0)
    weights = chances[space.source, space.picks] * (space.target >= 0)
    for own, source, target, edges in space.backwards():
        gained = weights[edges] * result[target]
        result[own] += np.bincount(source, gained, minlength=own.stop - own.start)
    return result
