"""What properties report, and how the smallest witness of each is kept.

A property is a function from a View to Found entries; every entry names all the states that
break it. The collector keeps one Failure per property and expert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.explore.board import Index
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.findings.findings import Failure, Property
from gnarl_runtime.checks.findings.waived import Key as WaiverKey
from gnarl_runtime.checks.findings.waived import Waivers

Check = Callable[[View], Iterator["Found"]]


@dataclass(frozen=True, eq=False)
class Found:
    """States that break a property; `last` is one more pick each, `message` may look closer."""

    property: Property
    states: Index
    message: str | Callable[[int], str]  # of the position in `states`
    span: Span | None
    expert: str | None = None
    last: Index | None = None


Key = tuple[int, int, int]


def size_key(instance: Instance, picks: tuple[int, ...]) -> Key:
    """Smaller witnesses first: nodes, edges, picks."""
    return instance.graph.n, instance.graph.m, len(picks)


def is_asked(only: str | None, found: str) -> bool:
    """Whether a property is wanted, or may turn out to be the one that is.

    Only the witness tells whether an expert whose time is over needs more of it.
    """
    return only in (None, found) or {only, found} == {"expert-fails", "expert-late"}


class Collector:
    """One failure per property and expert: its smallest witness, and how many there were.

    One that the spec waives stands beside it, so that it hides no other.
    """

    def __init__(self, waivers: Waivers, only: str | None = None) -> None:
        self.waivers, self.only = waivers, only
        self.kept: dict[WaiverKey, Failure] = {}

    @property
    def failing(self) -> bool:
        """Whether there is something that the spec does not waive."""
        return any(waiver is None for *_, waiver in self.kept)

    def take(self, space: Space, found: Found) -> None:
        if len(found.states):
            self.add(_smallest(space, found))

    def add(self, failure: Failure) -> None:
        """Keep a failure if it is the first or smallest of its kind; count it anyway."""
        if not is_asked(self.only, failure.property):
            return
        key = self.waivers.key(failure.property, failure.expert, failure.span)
        known = self.kept.get(key)
        if known is None:
            self.kept[key] = failure
            return
        smaller = min(known, failure, key=lambda f: size_key(f.instance, f.picks))
        self.kept[key] = replace(smaller, count=known.count + failure.count)

    def failures(self) -> tuple[Failure, ...]:
        """Causes before what tends to follow from them."""
        order = get_args(Property)
        return tuple(sorted(self.kept.values(), key=lambda f: order.index(f.property)))


def _smallest(space: Space, found: Found) -> Failure:
    graphs = [instance.graph for instance in space.board.instances]
    owner = space.instance[found.states]
    nodes = np.array([graph.n for graph in graphs])[owner]
    edges = np.array([graph.m for graph in graphs])[owner]
    best = int(np.lexsort((found.states, space.depth[found.states], edges, nodes))[0])
    state = int(found.states[best])
    picks = space.picks_to(state)
    if found.last is not None:
        picks = (*picks, space.board.as_picked(int(found.last[best])))
    message = found.message if isinstance(found.message, str) else found.message(best)
    instance = space.board.instances[int(owner[best])]
    count = len(found.states)
    return Failure(found.property, message, instance, picks, found.span, found.expert, count)
