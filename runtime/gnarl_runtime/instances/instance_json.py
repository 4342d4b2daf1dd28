"""An instance of a problem in, values that JSON can hold out, and back: nothing is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT, ORACLE, Stage
from gnarl_runtime.instances.cells import cell_type, to_cells, to_dense
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError, verify_instance

Cells = Sequence[float | int | bool | str]


class Case(BaseModel):
    """An instance: cells of each input and given oracle in a row, in the order of its place.

    Cells of edges stand in the order of `edges`. Tags are texts: JSON numbers lose large ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    nodes: int
    edges: list[tuple[int, int]]
    tags: list[str]
    inputs: dict[str, list[float | int | bool | str]]  # a point as text: 0.5+1j
    oracles: dict[str, list[float | int | bool | str]]

    def instance(self, problem: Problem, where: str) -> Instance:
        """The instance, if it is one of the problem; `where` is what an InstanceError calls it."""
        graph = self._graph(problem, where)
        inputs = self._dense(problem, where, graph, INPUT, self.inputs)
        oracles = self._dense(problem, where, graph, ORACLE, self.oracles)
        instance = Instance(graph, inputs, self._tags(where), oracles)
        verify_instance(problem, instance, where)
        return instance

    def _graph(self, problem: Problem, where: str) -> Graph:
        n, directed = self.nodes, problem.graph.directed
        if not 1 <= n <= MAX_NODES:
            raise InstanceError(f"{where}: `nodes` is {n}; expected 1 to {MAX_NODES:,}")
        adjacency = np.zeros((n, n), np.bool_)
        for k, (u, v) in enumerate(self.edges):
            if not (0 <= u < n and 0 <= v < n and u != v) or adjacency[u, v]:
                what = f"two different nodes from 0 to {n - 1}, no edge twice"
                raise InstanceError(f"{where}: edge {k} is [{u}, {v}]; expected {what}")
            adjacency[u, v] = True
            adjacency[v, u] |= not directed
        graph = Graph(directed, adjacency)
        if [tuple(edge) for edge in graph.edges().tolist()] != self.edges:
            order = "sorted" if directed else "sorted, with u < v"
            raise InstanceError(f"{where}: `edges` must be {order}: values follow their order")
        return graph

    def _tags(self, where: str) -> Any:
        try:
            return np.array([int(tag) for tag in self.tags], np.uint64)
        except (ValueError, OverflowError) as error:
            raise InstanceError(f"{where}: `tags` must be whole numbers ({error})") from error

    def _dense(
        self, problem: Problem, where: str, graph: Graph, stage: Stage, given: Mapping[str, Cells]
    ) -> dict[str, Array]:
        known = {f.name: f for f in problem.features if f.stage is stage}
        values: dict[str, Array] = {}
        for name, cells in given.items():
            if name not in known:
                raise InstanceError(f"{where}: {problem.name} has no {stage.name} `{name}`")
            wanted = known[name].cells(graph.n, graph.m)
            if len(cells) != wanted:
                found = f"`{name}` has {len(cells)} values, expected {wanted}"
                raise InstanceError(f"{where}: {found}")
            try:
                number = complex if known[name].type.apart else _number
                row = np.array([number(cell) for cell in cells]).astype(cell_type(known[name]))
            except (ValueError, OverflowError) as error:
                raise InstanceError(f"{where}: `{name}`: {error}") from error
            values[name] = to_dense(known[name], row, graph, graph.edges())
        return values


def case_of(problem: Problem, instance: Instance) -> Case:
    ends = instance.graph.edges()
    return Case(
        nodes=instance.graph.n,
        edges=[(int(u), int(v)) for u, v in ends],
        tags=[str(int(tag)) for tag in instance.tags],
        inputs={name: _row(problem, name, v, ends) for name, v in instance.inputs.items()},
        oracles={
            name: [_finite(cell) for cell in _row(problem, name, v, ends)]
            for name, v in instance.oracles.items()
        },
    )


def _row(problem: Problem, name: str, values: Array, ends: Any) -> list[Any]:
    cells = to_cells(problem.feature(name), np.asarray(values), ends).tolist()
    return [str(cell) if isinstance(cell, complex) else cell for cell in cells]


def _finite(cell: Any) -> Any:
    """JSON has no infinity."""
    return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell


def _number(cell: float | int | bool | str) -> float | int | bool:
    return float(cell) if isinstance(cell, str) else cell
