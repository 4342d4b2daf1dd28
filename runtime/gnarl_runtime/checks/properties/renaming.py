"""A view goes in, what depends on the names of nodes comes out.

The same picks are made, under other names, on a renamed instance: every transition, mask, end,
reward, judgement and expert must be the same under the new names. Discrete values are compared
exactly, numbers with `~=`: the small input values add without rounding, but a spec may divide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import TURNS, Role
from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, NODE
from gnarl_runtime.checks.explore.board import Board, Index
from gnarl_runtime.checks.explore.space import Layer, Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.found import Found

Values = NDArray[Any]
Truths = NDArray[np.bool_]


def check_renaming(view: View, seed: int) -> Iterator[Found]:
    """Rename the nodes of every instance and follow the same picks."""
    space = view.space
    if space.board.nodes < 2 or not len(space):
        return
    twin = _renamed_twin(space, seed)
    other, odd = twin.follow()
    for what, states in odd:
        yield Found("relabelling", states, f"after renaming the nodes, {what}", None)
    if any(len(states) for _, states in odd):
        return  # whatever else differs follows from this
    for kernel, what in _kernels(view.problem):
        here, there = space.value(kernel), other.value(kernel)
        states = np.flatnonzero(~nearly(here, there))
        yield Found("relabelling", states, f"{what} changes when the nodes are renamed", None)
    for expert in view.problem.experts:
        here, there = view.expert(expert.name).distribution, other.expert(expert.name)
        moved = twin.along(here, space.instance)
        states = np.flatnonzero((moved != there).any(axis=1))
        what = f"the expert `{expert.name}` changes when the nodes are renamed"
        yield Found("relabelling", states, what, expert.span, expert.name)


def _kernels(problem: Problem) -> Iterator[tuple[str, str]]:
    for clause in ("correct", "valid"):
        if getattr(problem, clause) is not None:
            yield Role.JUDGE.of(clause), f"`{clause}`"
    for goal in problem.objectives:
        yield Role.OBJECTIVE.of(goal.name), f"the objective `{goal.name}`"


def nearly(left: Values, right: Values) -> Truths:
    """`~=` of arrays."""
    with np.errstate(invalid="ignore"):
        gap = np.abs(left - right)
        most = np.maximum(np.abs(left), np.abs(right))
        close = (gap <= RELATIVE * most) & np.isfinite(most)
    return np.asarray((left == right) | close | (gap <= ABSOLUTE))


def _renamed_twin(space: Space, seed: int) -> Twin:
    """The instances of a space under other names."""
    board = space.board
    rng = stream(seed, "renaming", board.nodes, len(board.instances))
    order = np.array([_moving(rng, board.nodes) for _ in board.instances], np.int64)
    renamed = [
        instance.relabel(space.problem, own)
        for instance, own in zip(board.instances, order, strict=True)
    ]
    return Twin(space, Board(space.problem, renamed, board.artifact), order)


class Twin:
    """The same instances otherwise: under other names of the nodes, as `order` has them."""

    def __init__(self, space: Space, board: Board, order: NDArray[np.int64]) -> None:
        self.space, self.board, self.order = space, board, order

    def follow(self) -> tuple[Space, list[tuple[str, Index]]]:
        """The twin of every state, and states whose twins differ, with what does."""
        layers: list[Layer] = []
        odd: list[tuple[str, Index]] = []
        for depth, layer in enumerate(self.space.layers):
            start = int(self.space.starts[depth])
            rows = self._arrive(layers[-1], depth, odd) if depth else self._first(layer)
            differing = self._compare(layer, rows)
            odd += [(what, start + states) for what, states in differing]
            layers.append(replace(layer, rows=rows))
        return Space(self.board, tuple(layers), self.space.bound), odd

    def _first(self, layer: Layer) -> NDArray[np.uint8]:
        return self.board.first_rows()[layer.instance]

    def _arrive(self, before: Layer, depth: int, odd: list[tuple[str, Index]]) -> NDArray[np.uint8]:
        """Follow every transition into a layer; those that meet in a state must still meet."""
        owner = before.instance[before.source]
        ends = np.full((len(self.order), 1), self.board.nodes)  # has no name
        picks = np.hstack([self.order, ends])[owner, before.picks]
        stepped = self.board.step(before.rows[before.source], owner, picks)
        led = np.flatnonzero(before.target >= 0)
        size = len(self.space.layers[depth].rows)
        rows = np.zeros((size, self.board.width), np.uint8)
        rows[before.target[led]] = stepped.rows[led]
        key = self.board.key_width
        met = (stepped.rows[led, :key] == rows[before.target[led], :key]).all(axis=1)
        pays = nearly(stepped.rewards, before.rewards)
        start = int(self.space.starts[depth - 1])
        odd.append(("a pick leads elsewhere", start + before.source[led][~met]))
        odd.append(("a pick pays something else", start + before.source[~pays]))
        odd.append(("a pick fails", start + before.source[stepped.fault != before.faults]))
        return rows

    def _compare(self, layer: Layer, rows: NDArray[np.uint8]) -> Iterator[tuple[str, Index]]:
        """Every field of the states of one layer against that of their twins."""
        for name, feature in self.fields.items():
            here = self.space.board.field(layer.rows, name)
            there = self.board.field(rows, name)
            wanted, found = self._both(name, feature, here, there, layer.instance)
            same = nearly(wanted, found) if wanted.dtype.kind == "f" else wanted == found
            same = same.reshape(len(same), -1).all(axis=1)
            yield f"`{feature.name if feature else name}` differs", np.flatnonzero(~same)

    @cached_property
    def fields(self) -> dict[str, Feature | None]:
        """What to compare: the spec's own features and the progress of the episode."""
        abi, features = self.board.artifact.abi, self.space.problem.features
        own: dict[str, Feature | None] = {
            abi.array_of(f.name): f for f in features if f.stage.written
        }
        names = ["phase", "rounds", "ended", "potential", "legal", "last"]
        if self.space.problem.may_skip:
            names += TURNS
        if self.space.problem.graph.mutable:
            names += ["m", "adjacency"]
        return own | dict.fromkeys(names)

    def _both(
        self, name: str, feature: Feature | None, here: Values, there: Values, owner: Index
    ) -> tuple[Values, Values]:
        """The values of states under new names, and those that their twins have."""
        order = self.order[owner]
        if name == "adjacency":
            n = self.board.nodes
            return self.across(_bits(here, n), owner), _bits(there, n)
        if name == "legal":
            return self.along(here, owner), there
        if name == "last":
            return _renamed(here, order), there
        if feature is None:
            return here, there
        if feature.type.names_nodes:
            here = _renamed(here.reshape(len(here), -1), order).reshape(here.shape)
        if here.ndim == 1:
            return here, there
        if feature.place is EDGE:
            dense = _dense(self.space.board, here, owner)
            return self.across(dense, owner), _dense(self.board, there, owner)
        move = self.along if feature.place is NODE else self.across
        return move(here, owner), there

    def along(self, values: Values, owner: Index) -> Values:
        """Values per node (states, n) under the new names; what is behind the nodes stays."""
        moved, n = values.copy(), self.order.shape[1]
        np.put_along_axis(moved[:, :n], self.order[owner], values[:, :n], axis=1)
        return moved

    def across(self, values: Values, owner: Index) -> Values:
        """Values per pair of nodes (states, n, n) under the new names."""
        order = self.order[owner]
        moved = np.empty_like(values)
        states = np.arange(len(values))[:, None, None]
        moved[states, order[:, :, None], order[:, None, :]] = values
        return moved


def _moving(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """A random permutation that moves something."""
    while True:
        order = rng.permutation(n)
        if (order != np.arange(n)).any():
            return order.astype(np.int64)


def _renamed(nodes: Values, order: NDArray[np.int64]) -> Values:
    """Node numbers (states, k) under new names; -1 stays."""
    return np.where(nodes < 0, nodes, np.take_along_axis(order, np.maximum(nodes, 0), axis=1))


def _bits(words: Values, n: int) -> Truths:
    octets = words.view(np.uint8).reshape(*words.shape[:2], -1)
    raw = np.unpackbits(octets, axis=2, bitorder="little")
    return raw[:, :n, :n].astype(np.bool_)


def _dense(board: Board, cells: Values, owner: Index) -> Values:
    """Values by edge id (states, edges) as matrices, 0 off the edges."""
    ids = board.home.batch.edge_id[owner].astype(np.int64)
    values = np.take_along_axis(cells, np.maximum(ids, 0).reshape(len(ids), -1), axis=1)
    return np.where(ids >= 0, values.reshape(ids.shape), 0)
