"""Updates: statements and a state in, changed features out, with a record of every write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.interpret.evaluate import Bindings, Evaluator
from gnarl_compiler.interpret.state import Change, SpecRunError, State, Value, unfit
from gnarl_dsl import model
from gnarl_dsl.model.kinds import EDGE
from gnarl_dsl.report.source import Span


@dataclass(frozen=True)
class Write:
    """A value for one cell; the target `edge` is the graph itself."""

    span: Span
    target: str
    index: tuple[int, ...]
    value: Value


class Executor:
    """Runs the update of one pick on private copies of the features and the graph."""

    def __init__(self, state: State) -> None:
        self.problem = state.episode.problem
        self.features: dict[str, Array] = {k: v.copy() for k, v in state.features.items()}
        self.adjacency: NDArray[np.bool_] = state.adjacency.copy()
        self.state = replace(state, features=self.features, adjacency=self.adjacency)
        self.changes: list[Change] = []

    def run(self, body: tuple[model.Statement, ...], bound: Bindings) -> None:
        """Statements in order, each seeing what those above it wrote."""
        for statement in body:
            if isinstance(statement, model.Bind):
                bound = {**bound, statement.name: self.now().value(statement.value, bound)}
            elif isinstance(statement, model.When):
                taken = self.now().truth(statement.condition, bound)
                self.run(statement.then if taken else statement.otherwise, bound)
            else:
                for write in self.writes(statement, bound):
                    self.apply(write)

    def now(self) -> Evaluator:
        return Evaluator(self.state)

    def writes(self, statement: model.Statement, bound: Bindings) -> list[Write]:
        """What a statement is going to write, all of it read before any of it is written."""
        read = self.now()
        match statement:
            case model.Assign():
                index = tuple(read.node(part, bound) for part in statement.index)
                value = read.value(statement.value, bound)
                return [Write(statement.span, statement.feature, index, value)]
            case model.SetEdge():
                ends = (read.node(statement.source, bound), read.node(statement.target, bound))
                value = read.truth(statement.value, bound)
                return [Write(statement.span, "edge", ends, value)]
            case model.ForEach():
                rounds = read.combinations(statement.binders, bound)
                where = statement.where
                chosen = [b for b in rounds if where is None or read.truth(where, b)]
                return [write for b in chosen for write in self.block_writes(statement.body, b)]
            case model.Bind() | model.When():
                return self.block_writes((statement,), bound)
            case _:
                assert_never(statement)

    def block_writes(self, body: tuple[model.Statement, ...], bound: Bindings) -> list[Write]:
        """The writes of one round of a parallel loop, which sees none of them."""
        read, result = self.now(), []
        for statement in body:
            if isinstance(statement, model.Bind):
                bound = {**bound, statement.name: read.value(statement.value, bound)}
            elif isinstance(statement, model.When):
                taken = read.truth(statement.condition, bound)
                chosen = statement.then if taken else statement.otherwise
                result += self.block_writes(chosen, bound)
            else:
                result += self.writes(statement, bound)
        return result

    def apply(self, write: Write) -> None:
        if write.target == "edge":
            self.apply_edge(write)
            return
        feature = self.problem.feature(write.target)
        self.verify(feature, write)
        values = self.features[write.target]
        before = values[write.index].item()
        values[write.index] = write.value or 0
        if feature.place is EDGE and not self.problem.graph.directed:
            values[write.index[::-1]] = write.value or 0
        self.record(write, before)

    def apply_edge(self, write: Write) -> None:
        u, v = write.index
        if u == v:
            raise SpecRunError(self.problem, write.span, f"node {u} cannot be joined to itself")
        before = bool(self.adjacency[u, v])
        self.adjacency[u, v] = write.value
        if not self.problem.graph.directed:
            self.adjacency[v, u] = write.value
        self.record(write, before)

    def record(self, write: Write, before: Value) -> None:
        self.changes.append(Change(write.span, write.target, write.index, before, write.value))

    def verify(self, feature: model.Feature, write: Write) -> None:
        """What a feature can never hold, and where it has no cell."""
        what = unfit(feature, float(write.value or 0.0))
        if what:
            raise SpecRunError(self.problem, write.span, f"`{feature.name}` would become {what}")
        if feature.place is EDGE and not self.adjacency[write.index]:
            u, v = write.index
            what = f"`{feature.name}` has no cell between {u} and {v}: they are not joined"
            raise SpecRunError(self.problem, write.span, what)
