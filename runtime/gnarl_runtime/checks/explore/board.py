"""A problem's kernels and some instances go in, states as rows of bytes go in and out.

A row holds everything that a pick can change. Whatever stays the same in an episode (graph,
inputs, oracles, bounds) is kept once per instance. Rows are written into the slots of a Batch,
where compiled and uncompiled kernels work on them alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import TURNS
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import STOP, Episode
from gnarl_dsl import model
from gnarl_dsl.model import Problem
from gnarl_dsl.model.parts import parts_inside
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.instances.pool_arrays import load_instances

Rows = NDArray[np.uint8]  # (states, bytes)
Index = NDArray[np.int64]
Values = NDArray[Any]

_PROGRESS = ("phase", "last", "rounds", "potential", "ended", "legal")
_GRAPH = ("m", "adjacency")
_FOLLOWS_GRAPH = ("rowptr", "src", "edge_id")  # their unused ends remember older graphs


@dataclass(frozen=True)
class Column:
    """Where one array of the batch is in a row."""

    name: str
    start: int
    width: int


class Uncheckable(Failure, ValueError):
    """A problem whose instances nobody but its author can make."""


class Board:
    """Instances of one problem, and room in which kernels work on many of their states."""

    def __init__(self, problem: Problem, instances: Sequence[Instance], artifact: Artifact) -> None:
        self.problem, self.instances, self.artifact = problem, tuple(instances), artifact
        self.jit = artifact.path.suffix == ".py"
        self.nodes = max(instance.graph.n for instance in instances)
        self.failed: dict[int, str] = {}  # instances whose oracles cannot be computed, and why
        self.home = self._kernels(len(instances))
        self._load_home()
        self.work = self._kernels(self.room)
        self.columns = tuple(self._columns())
        self.width = self.columns[-1].start + self.columns[-1].width

    @property
    def room(self) -> int:
        """How many states the kernels work on at once."""
        return 1 << 16 if self.jit else 1 << 11

    @cached_property
    def oracles(self) -> tuple[str, ...]:
        return self.artifact.abi.oracles

    def _kernels(self, slots: int) -> Kernels:
        edges = None
        if not self.problem.graph.mutable:
            edges = max(instance.graph.m for instance in self.instances)
        layout = layout_of(self.problem, slots, self.nodes, edges, self.oracles)
        return Kernels(self.artifact, Batch.allocate(layout))

    # Instances

    def _load_home(self) -> None:
        batch = self.home.batch
        load_instances(batch, np.arange(len(self.instances)), self.instances)
        for slot, instance in enumerate(self.instances):
            self._solve(batch, slot, instance)
        fault = np.zeros(len(self.instances), np.int32)
        with np.errstate(all="ignore"):
            self.home.run("reset", np.arange(len(self.instances)), fault)
        self.faults = fault

    def _solve(self, batch: Batch, slot: int, instance: Instance) -> None:
        """The labels that the kernels read; plain formulas, nothing is kept on disk."""
        episode = Episode(self.problem, instance, dict(instance.oracles), math.inf, math.inf)
        read = Evaluator(Interpreter(self.problem).blank_state(episode))
        for name in self.oracles:
            feature = self.problem.feature(name)
            if feature.initial is None and name not in instance.oracles:
                raise Uncheckable(
                    f"the oracle `{name}` of {self.problem.name} comes with instance files only, "
                    "so small instances cannot be made; likely fix: give it a formula"
                )
            try:
                with np.errstate(invalid="ignore"):
                    value = np.asarray(read.stored(name))
                    batch.load_feature(slot, feature, value, instance.graph.adjacency)
            except (ValueError, ArithmeticError) as error:
                self.failed[slot] = f"the oracle `{name}` cannot be computed: {error}"

    def oracle_values(self, slot: int) -> dict[str, Values]:
        """The labels of an instance, as an Instance brings them."""
        return {name: self.home.batch.read_feature(slot, name) for name in self.oracles}

    def solved(self) -> tuple[Instance, ...]:
        """The instances together with their labels, so that nothing needs solving again."""
        slots = enumerate(self.instances)
        return tuple(replace(instance, oracles=self.oracle_values(k)) for k, instance in slots)

    # Rows

    def _columns(self) -> Iterator[Column]:
        abi = self.artifact.abi
        names = [*abi.state_arrays, *_PROGRESS]
        if self.problem.may_skip:
            names += TURNS
        if self.problem.graph.mutable:
            names += _GRAPH
        start = 0
        for name in names:
            yield (column := Column(name, start, self.bytes_of(name).shape[1]))
            start += column.width
        self.key_width = start
        follows = [table.array for table in abi.kept if table.live]  # updates write these
        if self.problem.graph.mutable:
            follows += _FOLLOWS_GRAPH
        for name in follows:
            yield (column := Column(name, start, self.bytes_of(name).shape[1]))
            start += column.width

    @property
    def choices(self) -> int:
        """What can be picked: nodes, and to end the episode."""
        return self.nodes + self.problem.may_stop

    def as_picked(self, pick: int) -> int:
        """A pick as the interpreter has it."""
        return STOP if pick == self.nodes else pick

    def opening(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether nothing has been picked in the round of these states."""
        if self.problem.may_skip:
            return np.asarray(~self.field(rows, "picked").any(axis=1))
        return np.asarray(self.field(rows, "phase") == 0)

    def bytes_of(self, name: str, home: bool = False) -> Rows:
        """An array of the batch as bytes (slots, width)."""
        array = (self.home if home else self.work).arrays[name]
        width = array.nbytes // max(1, len(array))
        return array.view(np.uint8).reshape(len(array), width)

    @cached_property
    def changing(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns)

    @cached_property
    def scratch(self) -> frozenset[str]:
        """Arrays that kernels use for themselves while they work on one slot."""
        return frozenset(space.array for space in self.artifact.abi.scratch)

    @cached_property
    def forgotten(self) -> tuple[int, ...]:
        """The phases whose picks of earlier rounds nothing in the spec reads."""
        read = set(find_last(self.problem))
        return tuple(k for k, phase in enumerate(self.problem.phases) if phase.name not in read)

    def first_rows(self) -> Rows:
        """The state of every instance after its reset."""
        parts = [self.bytes_of(column.name, home=True) for column in self.columns]
        return np.concatenate(parts, axis=1)

    def load(self, rows: Rows, instance: Index, kernel: str) -> None:
        """Put states into the first slots, with what a kernel reads of their instances."""
        count = len(rows)
        for name in self.artifact.abi.kernel(kernel).arrays:
            if name not in self.changing and name not in self.scratch:
                self.work.arrays[name][:count] = self.home.arrays[name][instance]
        for column in self.columns:
            own = rows[:, column.start : column.start + column.width]
            self.bytes_of(column.name)[:count] = own

    def run(self, kernel: str, count: int, *first: Values) -> None:
        """Run a kernel on the first slots only."""
        arrays = [
            self.work.arrays[name] if name in self.scratch else self.work.arrays[name][:count]
            for name in self.artifact.abi.kernel(kernel).arrays
        ]
        with np.errstate(all="ignore"):
            self.artifact.kernel(kernel)(*first, *arrays)

    def rows(self, count: int) -> Rows:
        """The states in the first slots; earlier picks that nothing reads are forgotten."""
        batch = self.work.batch
        for k in self.forgotten:
            gone = batch.phase[:count] <= k
            if self.problem.may_skip:
                gone |= ~batch.picked[:count, k]
            batch.last[:count, k][gone] = -1
        return np.concatenate([self.bytes_of(c.name)[:count] for c in self.columns], axis=1)

    def field(self, rows: Rows, name: str) -> Values:
        """One array of the batch, for these states: (states, …)."""
        column = next(column for column in self.columns if column.name == name)
        own = np.ascontiguousarray(rows[:, column.start : column.start + column.width])
        array = self.work.arrays[name]
        return own.view(array.dtype).reshape(len(rows), *array.shape[1:])

    def value(self, kernel: str, rows: Rows, instance: Index) -> NDArray[np.float64]:
        """A judgement, objective or metric of some states."""
        result = np.zeros(len(rows))
        for start in range(0, len(rows), self.room):
            chunk = slice(start, start + self.room)
            self.load(rows[chunk], instance[chunk], kernel)
            count = len(rows[chunk])
            self.run(kernel, count, np.arange(count), out := np.zeros(count))
            result[chunk] = out
        return result

    def step(self, rows: Rows, instance: Index, picks: Index) -> Stepped:
        """Where picks lead, one per state."""
        parts = []
        for start in range(0, len(rows), self.room):
            chunk = slice(start, start + self.room)
            parts.append(self._step(rows[chunk], instance[chunk], picks[chunk]))
        return Stepped(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _step(self, rows: Rows, instance: Index, picks: Index) -> tuple[Values, ...]:
        count = len(rows)
        self.load(rows, instance, "step")
        rewards, fault = np.zeros(count), np.zeros(count, np.int32)
        self.run("step", count, np.ascontiguousarray(picks), rewards, fault)
        return self.rows(count), rewards, fault


@dataclass(frozen=True, eq=False)
class Stepped:
    """What some picks led to."""

    rows: Rows
    rewards: NDArray[np.float64]  # (picks,)
    fault: NDArray[np.int32]  # (picks,)


def find_last(part: object) -> Iterator[str]:
    """The phases whose `last` pick some formula reads."""
    return (item.phase for item in parts_inside(part) if isinstance(item, model.Last))
