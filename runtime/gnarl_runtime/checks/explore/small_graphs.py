"""A problem and a number of nodes go in, every small instance of it comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore.census import MOST_NODES, adjacency_of, canonical_codes
from gnarl_runtime.checks.explore.small_values import Assignments, assignments

__all__ = ["MOST_NODES", "SmallInstances", "plan_instances", "small_graphs", "small_instances"]


@cache
def _all_graphs(n: int, directed: bool) -> tuple[Graph, ...]:
    codes = sorted(canonical_codes(n, directed), key=lambda code: (code.bit_count(), code))
    return tuple(Graph(directed, adjacency_of(code, n, directed)) for code in codes)


def small_graphs(
    n: int,
    directed: bool,
    connected: bool = False,
    complete: bool = False,
    acyclic: bool = False,
) -> list[Graph]:
    """Every graph on n nodes up to isomorphism, fewest edges first.

    A directed graph is connected if it is without its directions, as in a spec.
    """
    if complete:
        whole = [Graph(directed, ~np.eye(n, dtype=np.bool_))]
        return [graph for graph in whole if not acyclic or graph.is_acyclic()]
    return [
        graph
        for graph in _all_graphs(n, directed)
        if (not connected or graph.is_connected()) and (not acyclic or graph.is_acyclic())
    ]


def graphs_of(problem: Problem, n: int) -> list[Graph]:
    """Every graph on n nodes of the kind that a problem is about."""
    kind = problem.graph
    return small_graphs(n, kind.directed, kind.connected, kind.complete, kind.acyclic)


@dataclass(frozen=True)
class SmallInstances:
    """Instances of one size: `possible` is how many there would be without thinning them."""

    nodes: int
    graphs: int
    possible: int
    instances: tuple[Instance, ...]


def plan_instances(problem: Problem, n: int, per_graph: int = 400, seed: int = 0) -> SmallInstances:
    """Every graph of n nodes, each with at most so many assignments of values.

    The first few instances are of different graphs and have values far apart.
    """
    graphs = graphs_of(problem, n)
    tags = stream(seed, "small tags", n).permutation(n).astype(np.uint64)
    found = [assignments(problem, graph, per_graph, seed) for graph in graphs]
    columns = [_instances(g, a, tags) for g, a in zip(graphs, found, strict=True)]
    rows = zip_longest(*columns)
    ordered = tuple(instance for row in rows for instance in row if instance is not None)
    return SmallInstances(n, len(graphs), sum(a.possible for a in found), ordered)


def small_instances(
    problem: Problem, n: int, per_graph: int = 400, seed: int = 0
) -> Iterator[Instance]:
    """The instances of `plan_instances`."""
    yield from plan_instances(problem, n, per_graph, seed).instances


def _instances(graph: Graph, given: Assignments, tags: NDArray[np.uint64]) -> Iterator[Instance]:
    for digits in given.digits:
        inputs, start = {}, 0
        for part in given.cells:
            end = start + len(part.places)
            inputs[part.feature.name] = part.array(digits[start:end], graph.n)
            start = end
        yield Instance(graph, inputs, tags)
