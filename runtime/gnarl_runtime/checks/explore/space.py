"""An explored state space: layers of states with what leads where, and values of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING, SpecFault
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT
from gnarl_runtime.checks.explore.board import Board, Index, Rows, Stepped

Values = NDArray[Any]


@dataclass(eq=False)
class Layer:
    """States after the same number of picks, and the picks that were followed from them."""

    rows: Rows
    instance: Index  # (states,)
    parent: Index  # (states,) in the layer before
    pick: Index  # (states,) that led here from the parent
    fault: NDArray[np.int32]  # (states,) DEAD_END where no node can be picked inside a round
    source: Index = field(default_factory=lambda: np.zeros(0, np.int64))  # (transitions,)
    picks: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    target: Index = field(default_factory=lambda: np.zeros(0, np.int64))  # -1: the spec failed
    rewards: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    faults: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def note(
        self, source: Index, picks: Index, stepped: Stepped, kept: Index, target: Index
    ) -> None:
        """Remember the picks that were followed; only an explorer calls this."""
        self.source, self.picks, self.rewards = source, picks, stepped.rewards
        self.faults = stepped.fault
        self.target = np.full(len(source), -1, np.int64)
        self.target[kept] = target


@dataclass(frozen=True, eq=False)
class Space:
    """All states of some instances, numbered layer by layer; transitions likewise."""

    board: Board
    layers: tuple[Layer, ...]
    bound: Index  # (instances,) picks at which an instance was given up, -1 if it was not

    @property
    def problem(self) -> Problem:
        return self.board.problem

    def __len__(self) -> int:
        return len(self.instance)

    # States

    @cached_property
    def starts(self) -> Index:
        """The number of the first state of each layer, and of the one after the last."""
        return np.cumsum([0, *(len(layer.rows) for layer in self.layers)])

    @cached_property
    def rows(self) -> Rows:
        return np.concatenate([layer.rows for layer in self.layers] or [np.zeros((0, 0), np.uint8)])

    @cached_property
    def instance(self) -> Index:
        """Which instance each state belongs to."""
        return _joined([layer.instance for layer in self.layers])

    @cached_property
    def depth(self) -> Index:
        """How many picks lead to each state."""
        return np.repeat(np.arange(len(self.layers)), np.diff(self.starts))

    @cached_property
    def dead(self) -> NDArray[np.bool_]:
        """Inside a round, but no node can be picked."""
        return np.asarray(_joined([layer.fault for layer in self.layers]) != 0)

    def field(self, name: str) -> Values:
        """An array of the batch for every state: `phase`, `legal`, `ended`, `s_…`."""
        return self.board.field(self.rows, name)

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        return np.asarray(self.field("legal"))

    @cached_property
    def ended(self) -> NDArray[np.int8]:
        return np.asarray(self.field("ended"))

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Neither ended nor dead."""
        return np.asarray((self.ended == RUNNING) & ~self.dead)

    @cached_property
    def expanded(self) -> NDArray[np.bool_]:
        """Every chosen pick from the state was followed."""
        bound = self.bound[self.instance]
        return np.asarray((bound < 0) | (self.depth < bound))

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """Which instances were explored to the end."""
        return self.bound < 0

    def picks_to(self, state: int) -> tuple[int, ...]:
        """The picks from the reset that lead to a state."""
        depth = int(self.depth[state])
        at, picks = state - int(self.starts[depth]), []
        for layer in reversed(self.layers[1 : depth + 1]):
            picks.append(self.board.as_picked(int(layer.pick[at])))
            at = int(layer.parent[at])
        return tuple(reversed(picks))

    # Transitions

    @cached_property
    def source(self) -> Index:
        """(transitions,) the state each pick was made in, ascending."""
        return _joined([a.source + s for a, s in zip(self.layers, self.starts, strict=False)])

    @cached_property
    def target(self) -> Index:
        """(transitions,) the state each pick led to, or -1 where the spec failed."""
        following = self.starts[1:]
        parts = zip(self.layers, following, strict=True)
        return _joined([np.where(a.target < 0, -1, a.target + s) for a, s in parts])

    @cached_property
    def picks(self) -> Index:
        return _joined([layer.picks for layer in self.layers])

    @cached_property
    def rewards(self) -> NDArray[np.float64]:
        return np.concatenate([layer.rewards for layer in self.layers] or [np.zeros(0)])

    @cached_property
    def faults(self) -> NDArray[np.int32]:
        """(transitions,) the fault of each pick; positive where the spec failed."""
        return _joined([layer.faults for layer in self.layers]).astype(np.int32)

    def backwards(self) -> Iterator[tuple[slice, Index, Index, slice]]:
        """Layers from the last: its states, sources within it, targets, its transitions."""
        ends = np.cumsum([0, *(len(layer.source) for layer in self.layers)])
        for d in reversed(range(len(self.layers))):
            edges = slice(int(ends[d]), int(ends[d + 1]))
            own = slice(int(self.starts[d]), int(self.starts[d + 1]))
            yield own, self.layers[d].source, self.target[edges], edges

    # Values of states

    def _chunks(self, kernel: str, states: Index) -> Iterator[tuple[slice, int]]:
        for start in range(0, len(states), self.board.room):
            own = states[start : start + self.board.room]
            self.board.load(self.rows[own], self.instance[own], kernel)
            yield slice(start, start + len(own)), len(own)

    def has(self, kernel: str) -> bool:
        return self.board.artifact.abi.has(kernel)

    def value(self, kernel: str, states: Index | None = None) -> NDArray[np.float64]:
        """A judgement, objective or metric of every state, or of some."""
        states = np.arange(len(self)) if states is None else states
        return self.board.value(kernel, self.rows[states], self.instance[states])

    def expert(self, name: str, states: Index | None = None) -> NDArray[np.float64]:
        """An expert's distribution (states, choices); zeros also where asking it stops the spec."""
        states = np.arange(len(self)) if states is None else states
        result = np.zeros((len(states), self.board.choices))
        for part, count in self._chunks(Role.EXPERT.of(name), states):
            result[part] = ask_expert(self.board, name, count)
        return result

    def observe(self, names: tuple[str, ...], states: Index) -> tuple[dict[str, Values], Values]:
        """Observed features in the form of a Batch, and the fault of observing each state."""
        found: dict[str, list[Values]] = {name: [] for name in names}
        faults = np.zeros(len(states), np.int32)
        for part, count in self._chunks("observe", states):
            fault = np.zeros(count, np.int32)
            self.board.run("observe", count, np.arange(count), fault)
            faults[part] = fault
            for name in names:
                values = self.board.work.batch.features[name][:count]
                if self.problem.feature(name).stage is INPUT:
                    own = self.instance[states[part]]
                    values = self.board.home.batch.features[name][own]
                found[name].append(values.copy())
        return {name: np.concatenate(parts) for name, parts in found.items() if parts}, faults


def ask_expert(board: Board, name: str, count: int) -> NDArray[np.float64]:
    """An expert's distribution in the first slots of a board, which hold states."""
    out = np.zeros((count, board.choices))
    try:
        board.run(Role.EXPERT.of(name), count, np.arange(count), out)
    except SpecFault:
        for slot in range(count):
            try:
                board.run(Role.EXPERT.of(name), count, np.array([slot]), out)
            except SpecFault:
                out[slot] = 0.0
    return out


def _joined(parts: list[Values]) -> Values:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
