"""Instances go in, their state spaces come out: every state that legal picks can reach.

States are found breadth first, all instances of a call side by side. The number of picks so far
follows from rounds and phase, which are part of a state, so equal states are in the same layer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.support.endings import DEAD_END, RUNNING
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.explore.board import Board, Index, Rows
from gnarl_runtime.checks.explore.space import Layer, Space

# Which picks to follow from some states of a board: (rows, instances) -> (states, nodes).
Choice = Callable[[Board, Rows, Index], NDArray[np.bool_]]


def explore(
    problem: Problem,
    instances: Sequence[Instance],
    *,
    states: int = 200_000,
    transitions: int | None = None,
    jit: bool = False,
    artifact: Artifact | None = None,
    board: Board | None = None,
    choose: Choice | None = None,
) -> Space:
    """The states of some instances, at most `states` each; `choose` follows fewer picks.

    An instance whose next layer could exceed its share stops there; that is its depth.
    `transitions` bounds all instances together in the same way. A `board` that has these
    instances already saves solving their oracles again.
    """
    if board is None:
        board = Board(problem, instances, artifact or artifact_of(problem, jit))
    return Explorer(board, states, transitions, choose or follow_all).run()


def follow_all(board: Board, rows: Rows, instance: Index) -> NDArray[np.bool_]:
    """Every legal pick."""
    return np.asarray(board.field(rows, "legal"))


class Explorer:
    """One exploration under way."""

    def __init__(self, board: Board, states: int, transitions: int | None, choose: Choice) -> None:
        self.board, self.states, self.transitions = board, states, transitions
        self.choose = choose
        count = len(board.instances)
        self.found = np.zeros(count, np.int64)  # states per instance
        self.bound = np.full(count, -1, np.int64)  # picks at which an instance was given up
        self.spent = 0
        self.layers: list[Layer] = []

    def run(self) -> Space:
        usable = np.array(
            [k for k in range(len(self.board.instances)) if self._usable(k)], np.int64
        )
        rows = self.board.first_rows()[usable]
        unset = np.full(len(usable), -1, np.int64)
        layer = Layer(rows, usable, unset, unset, np.zeros(len(usable), np.int32))
        depth = 0
        while len(layer.rows):
            self.found += np.bincount(layer.instance, minlength=len(self.found))
            self.layers.append(layer)
            layer = self._expand(layer, depth)
            depth += 1
        return Space(self.board, tuple(self.layers), self.bound)

    def _usable(self, k: int) -> bool:
        return k not in self.board.failed and self.board.faults[k] == 0

    def _expand(self, layer: Layer, depth: int) -> Layer:
        """The next layer; what leads there is noted in this one."""
        board = self.board
        wanted = self.choose(board, layer.rows, layer.instance)
        wanted[board.field(layer.rows, "ended") != RUNNING] = False
        self._give_up(layer, wanted, depth)
        wanted[self.bound[layer.instance] >= 0] = False
        source, picks = np.nonzero(wanted)
        self.spent += len(source)
        if not len(source):
            return Layer(layer.rows[:0], source, source, picks, np.zeros(0, np.int32))
        stepped = board.step(layer.rows[source], layer.instance[source], picks)
        stopped = stepped.fault > 0
        kept = np.flatnonzero(~stopped)
        instance = layer.instance[source]
        first, target = distinct(stepped.rows[kept, : board.key_width], instance[kept])
        layer.note(source, picks, stepped, kept, target)
        chosen = kept[first]
        dead = np.where(stepped.fault[chosen] == DEAD_END, DEAD_END, 0).astype(np.int32)
        return Layer(stepped.rows[chosen], instance[chosen], source[chosen], picks[chosen], dead)

    def _give_up(self, layer: Layer, wanted: NDArray[np.bool_], depth: int) -> None:
        """Close the instances whose next layer might not fit."""
        count = len(self.found)
        following = np.bincount(layer.instance, wanted.sum(axis=1), count).astype(np.int64)
        too_many = (following > 0) & (self.found + following > self.states) & (self.bound < 0)
        self.bound[too_many] = depth
        if self.transitions is not None:
            room = self.transitions - self.spent
            running = np.where(self.bound < 0, following, 0)
            # The smallest spaces go on longest: more of them can be finished.
            order = np.argsort(running, kind="stable")
            over = order[np.cumsum(running[order]) > room]
            self.bound[over[running[over] > 0]] = depth


def distinct(rows: Rows, instance: Index) -> tuple[Index, Index]:
    """Where each different row comes first, and which of those every row equals.

    Rows are told apart by a 64-bit hash, and by their bytes if two hashes ever coincide.
    """
    hashes = hash_rows(rows) ^ hash_rows(instance.reshape(-1, 1).view(np.uint8))
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    same = first[inverse]
    if (rows != rows[same]).any() or (instance != instance[same]).any():
        both = np.concatenate([rows, instance.reshape(-1, 1).view(np.uint8)], axis=1)
        _, first, inverse = np.unique(both, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.reshape(-1)]


def hash_rows(rows: Rows) -> NDArray[np.uint64]:
    """One 64-bit number per row of bytes."""
    width = -(-rows.shape[1] // 8) * 8
    padded = np.zeros((len(rows), width), np.uint8)
    padded[:, : rows.shape[1]] = rows
    words = padded.view(np.uint64)
    total = np.full(len(rows), 0x9E3779B97F4A7C15, np.uint64)
    for column in range(words.shape[1]):
        total ^= words[:, column]
        total *= np.uint64(0xBF58476D1CE4E5B9)
        total ^= total >> np.uint64(29)
    return total
