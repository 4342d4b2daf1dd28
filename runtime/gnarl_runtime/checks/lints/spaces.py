"""Explored spaces go in, figures about all their states come out: choices, changes, aliases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import array_name
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import DERIVED, EDGE, INPUT, NODE, NODE_VALUE, PAIR
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import WORD
from gnarl_runtime.checks.explore.board import Index
from gnarl_runtime.checks.explore.explore import hash_rows
from gnarl_runtime.checks.explore.space import Space, Values
from gnarl_runtime.instances.cells import to_cells

_MOST_STATES = 20_000  # of one size that are compared under all names of their nodes
_MOST_NODES = 4


def single_share(spaces: Sequence[Space]) -> tuple[int, int]:
    """Live states with one legal pick, and all live states."""
    single = total = 0
    for space in spaces:
        counts = space.legal[space.live].sum(axis=1)
        single += int((counts == 1).sum())
        total += len(counts)
    return single, total


def unchanged_features(problem: Problem, spaces: Sequence[Space]) -> Iterator[Feature]:
    """State features that no explored pick changes."""
    if not any(len(space.source) for space in spaces):
        return
    for feature in problem.features:
        if feature.stage.written and not any(_changes(space, feature) for space in spaces):
            yield feature


def _changes(space: Space, feature: Feature) -> bool:
    values = space.field(array_name(feature))
    led = space.target >= 0
    before, after = values[space.source[led]], values[space.target[led]]
    return bool((before != after).any())


def constant_features(problem: Problem, spaces: Sequence[Space]) -> Iterator[tuple[Feature, float]]:
    """Derived features that have one and the same value everywhere, and that value."""
    for feature in problem.features:
        if feature.stage is not DERIVED or feature.type.cell is NODE_VALUE:
            continue
        seen: set[float] = set()
        for space in spaces:
            states = sampled(space)
            found, _ = space.observe((feature.name,), states)
            if feature.name in found:
                seen |= set(np.unique(_cells(space, feature, found[feature.name], states)).tolist())
        if len(seen) == 1:
            yield feature, float(seen.pop())


def sampled(space: Space, most: int = _MOST_STATES) -> Index:
    """Some states, evenly spaced."""
    count = len(space)
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def _cells(space: Space, feature: Feature, values: Values, states: Index) -> Values:
    """The values in use, in a row."""
    if values.ndim == 1:
        return values
    home, owner = space.board.home.batch, space.instance[states]
    if feature.place is EDGE:
        count = space.field("m")[states] if space.problem.graph.mutable else home.m[owner]
        return np.asarray(values[np.arange(values.shape[1]) < count[:, None]])
    inside = np.arange(space.board.nodes) < home.n[owner][:, None]
    if feature.place is PAIR:
        inside = inside[:, :, None] & inside[:, None, :]
    return np.asarray(values[inside])


# Aliases


@dataclass(frozen=True)
class Aliases:
    """States that look like another one in which the expert answers differently."""

    states: int
    aliased: int
    nodes: int  # of the smallest graph with such a state


def find_aliases(spaces: Sequence[Space], expert: str) -> Aliases:
    """A policy treats nodes by what it sees, whatever their names; so names do not tell apart.

    Instances with two equal input numbers are left out: drawn numbers never tie.
    """
    states = aliased = 0
    smallest = 0
    for space in spaces:
        for n in range(1, min(space.board.nodes, _MOST_NODES) + 1):
            look = _Looks(space, n)
            if len(look.states):
                bad = look.conflicts(expert)
                states, aliased = states + len(bad), aliased + int(bad.sum())
                smallest = n if bad.any() and not smallest else smallest
    return Aliases(states, aliased, smallest)


class _Looks:
    """What a policy sees of the live states of n nodes in one space."""

    def __init__(self, space: Space, n: int) -> None:
        self.space, self.n = space, n
        sizes = space.board.home.batch.n[space.instance]
        generic = np.array([_is_generic(space.problem, i) for i in space.board.instances])
        chosen = np.flatnonzero(space.live & (sizes == n) & generic[space.instance])
        step = max(1, -(-len(chosen) // _MOST_STATES))
        self.states = chosen[::step]

    def conflicts(self, expert: str) -> NDArray[np.bool_]:
        """(states,) another one, or this one renamed, looks the same but is answered otherwise."""
        support = self.space.expert(expert, self.states)[:, : self.n] > 0
        spoken = support.any(axis=1)
        parts = self.parts()
        looks, answers = [], []
        for order in permutations(range(self.n)):
            names = np.array(order)
            looks.append(hash_rows(_bytes([part.renamed(names) for part in parts])))
            answers.append(support[:, np.argsort(names)] @ (1 << np.arange(self.n)))
        look, answer = np.concatenate(looks), np.concatenate(answers)
        kept = np.tile(spoken, len(looks))
        _, group = np.unique(look, return_inverse=True)
        least = np.full(group.max() + 1, 1 << 62)
        most = np.full(group.max() + 1, -1)
        np.minimum.at(least, group[kept], answer[kept])
        np.maximum.at(most, group[kept], answer[kept])
        clash = (least < most)[group] & kept
        return np.asarray(clash.reshape(len(looks), -1).any(axis=0))

    def parts(self) -> list[_Part]:
        """Everything that a policy sees, as matrices whose axes are nodes."""
        space, n = self.space, self.n
        home, owner = space.board.home.batch, space.instance[self.states]
        parts = [_Part(space.field("phase")[self.states][:, None], 0)]
        last = space.field("last")[self.states]
        parts += [_Part(last[:, k : k + 1], 0, True) for k in range(last.shape[1])]
        if space.problem.may_skip:
            parts.append(_Part(space.field("picked")[self.states], 0))
        words = (
            space.field("adjacency")[self.states]
            if space.problem.graph.mutable
            else home.adjacency[owner]
        )
        parts.append(_Part(unpacked(words, n), 2))
        observed = [f for f in space.problem.features if f.observed]
        names = tuple(f.name for f in observed)
        seen, _ = space.observe(names, self.states)
        for feature in observed:
            parts.append(self._part(feature, seen[feature.name], home, owner))
        return parts

    def _part(self, feature: Feature, values: Values, home: Batch, owner: Index) -> _Part:
        pointer, n = feature.type.names_nodes, self.n
        if values.ndim == 1:
            return _Part(values[:, None], 0, pointer)
        if feature.type.apart:
            return _Part(np.abs(values[:, :n, None] - values[:, None, :n]), 2)
        if feature.place is NODE:
            return _Part(values[:, :n], 1, pointer)
        if feature.place is EDGE and not values.shape[1]:  # no graph has an edge
            values = np.zeros((len(values), n, n))
        elif feature.place is EDGE:
            changing = self.space.problem.graph.mutable
            ids = self.space.field("edge_id")[self.states] if changing else home.edge_id[owner]
            ids = ids[:, :n, :n].astype(np.int64)
            rows = np.arange(len(ids))[:, None, None]
            values = np.where(ids >= 0, values[rows, np.maximum(ids, 0)], -1 if pointer else 0)
        return _Part(values[:, :n, :n], 2, pointer)


def _all_apart(points: Values) -> bool:
    """Whether no two pairs of points are equally far apart."""
    between = np.abs(points[:, None] - points)[np.triu_indices(len(points), 1)]
    return len(np.unique(np.round(between, 9))) == len(between)


def _is_generic(problem: Problem, instance: Instance) -> bool:
    """Whether no input has the same number twice."""
    for feature in problem.features:
        if feature.type.apart and not _all_apart(np.asarray(instance.inputs[feature.name])):
            return False
        if feature.stage is INPUT and feature.is_number:
            ends = instance.graph.edges()
            cells = to_cells(feature, np.asarray(instance.inputs[feature.name]), ends)
            if len(np.unique(cells)) < len(cells):
                return False
    return True


@dataclass(frozen=True, eq=False)
class _Part:
    """One thing that is seen: (states, …) with so many axes of nodes; a pointer's values are."""

    values: Values
    axes: int
    pointer: bool = False

    def renamed(self, names: Index) -> Values:
        old, values = np.argsort(names), self.values
        if self.pointer:
            values = np.append(names, -1)[values.astype(np.int64)]
        if self.axes == 1:
            return values[:, old]
        if self.axes == 2:
            return values[:, old][:, :, old]
        return values


def _bytes(parts: Sequence[Values]) -> NDArray[np.uint8]:
    """One row of bytes per state, in the precision that a network reads."""
    flat = [part.reshape(len(part), -1).astype(np.float32) + np.float32(0) for part in parts]
    return np.ascontiguousarray(np.concatenate(flat, axis=1)).view(np.uint8)


def unpacked(words: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Adjacency bits (states, nodes, words) as matrices (states, n, n)."""
    node = np.arange(n)
    bits = words[:, :n, node // WORD] >> (node % WORD).astype(np.uint64)
    return np.asarray(bits & np.uint64(1), np.bool_)
