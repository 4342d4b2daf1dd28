"""A problem and an instance go in; an InstanceError says what does not fit, if anything does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT, ORACLE
from gnarl_dsl.report.failures import Failure

Values = NDArray[Any]

MAX_NODES = 10_000  # that an instance from a file may have: it holds (n, n) matrices


class InstanceError(Failure, ValueError):
    """An instance, or a file of them, that cannot be used: which, what was found, what to do."""


def verify_instance(problem: Problem, instance: Instance, where: str) -> None:
    """Raise an InstanceError unless graph, tags, inputs and given oracles fit the problem."""
    verify_graph(problem, instance.graph, where)
    _verify_tags(instance, where)
    for feature in problem.features:
        if feature.stage is INPUT and feature.name not in instance.inputs:
            raise InstanceError(f"{where}: the input `{feature.name}` is missing; {_form(feature)}")
    for stage, given in ((INPUT, instance.inputs), (ORACLE, instance.oracles)):
        known = {feature.name: feature for feature in problem.features if feature.stage is stage}
        for name, values in given.items():
            if name not in known:
                has = ", ".join(known) or "none"
                raise InstanceError(f"{where}: {problem.name} has no {stage} `{name}`; has: {has}")
            verify_values(known[name], np.asarray(values), instance.graph, where)


# The graph


def verify_graph(problem: Problem, graph: Graph, where: str) -> None:
    """Raise an InstanceError unless the graph is of the problem's kind."""
    kind = problem.graph
    if graph.directed != kind.directed:
        raise InstanceError(
            f"{where}: found {_direction(graph.directed)} graph, but {problem.name} is about "
            f"{_direction(kind.directed)} one"
        )
    if graph.n < 1:
        raise InstanceError(f"{where}: the graph has no nodes; expected at least one")
    if kind.complete:
        verify_complete(graph, where)
    if kind.connected and not graph.is_connected():
        raise InstanceError(
            f"{where}: {_parts(graph)}; likely fix: keep the "
            "largest part only (reading a file with repair=True does)"
        )
    if kind.acyclic and not graph.is_acyclic():
        raise InstanceError(f"{where}: the graph has a cycle; expected an acyclic graph")


def verify_complete(graph: Graph, where: str) -> None:
    """Raise an InstanceError unless every pair of nodes is joined."""
    absent = np.argwhere(~graph.adjacency & ~np.eye(graph.n, dtype=np.bool_))
    if len(absent):
        u, v = absent[0]
        most = graph.n * (graph.n - 1) // (1 if graph.directed else 2)
        raise InstanceError(
            f"{where}: the graph has {graph.m} of {most} edges, expected all of them (a complete "
            f"graph); there is none between {u} and {v}, for example"
        )


def _direction(directed: bool) -> str:
    return "a directed" if directed else "an undirected"


def _parts(graph: Graph) -> str:
    """How a graph falls apart, in words."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(graph.adjacency, directed=True, connection="weak")
    sizes = np.bincount(part)
    return (
        f"the graph falls into {count} parts, the largest with {sizes.max()} of {graph.n} nodes; "
        "expected a connected graph"
    )


# Tags and values


def _verify_tags(instance: Instance, where: str) -> None:
    tags, n = instance.tags, instance.graph.n
    if tags.shape != (n,) or tags.dtype != np.uint64:
        raise InstanceError(
            f"{where}: tags must be uint64 of shape ({n},), found {tags.dtype} of {tags.shape}"
        )
    if len(np.unique(tags)) != n:
        raise InstanceError(f"{where}: two nodes have the same tag; expected {n} different ones")


def verify_values(feature: Feature, values: Values, graph: Graph, where: str) -> None:
    """Raise an InstanceError unless an input's or oracle's values fit their place and type."""
    what = f"{where}: the {feature.stage} `{feature.name}`"
    shape = feature.shape(graph.n)
    if values.shape != shape:
        raise InstanceError(f"{what} has shape {values.shape}, expected {shape}: {_form(feature)}")
    if values.dtype.kind not in feature.type.accepted:
        words = "whole numbers" if feature.limit(graph.n) else feature.type.value.plural
        raise InstanceError(f"{what} must hold {words}, found {values.dtype}")
    _verify_range(feature, values, graph.n, what)
    if feature.place is EDGE:
        _verify_edges(values, graph, what)


def _verify_range(feature: Feature, values: Values, n: int, what: str) -> None:
    if feature.is_truth:
        return
    most = feature.limit(n)
    if most is None:
        bad = np.isnan(values) if feature.stage is ORACLE else ~np.isfinite(values)
        expected = "a finite number"
    else:
        bad = (values < 0) | (values >= most)
        expected = f"a whole number from 0 to {most - 1}"
    if np.any(bad):
        cell = tuple(int(i) for i in np.argwhere(bad)[0])
        at = f" at {list(cell)}" if cell else ""
        raise InstanceError(f"{what} is {values[cell]}{at}, expected {expected}")


def _verify_edges(values: Values, graph: Graph, what: str) -> None:
    """Edge values are 0 off the edges and, in an undirected graph, the same both ways."""
    stray = np.argwhere(~graph.adjacency & (values != 0))
    if len(stray):
        u, v = stray[0]
        raise InstanceError(
            f"{what} is {values[u, v]} at [{u}, {v}], where there is no edge; expected 0 off the "
            "edges (likely fix: np.where(adjacency, values, 0))"
        )
    uneven = np.argwhere(values != values.T) if not graph.directed else stray
    if len(uneven):
        u, v = uneven[0]
        raise InstanceError(
            f"{what} is {values[u, v]} at [{u}, {v}] but {values[v, u]} at [{v}, {u}]; "
            "expected the same both ways in an undirected graph"
        )


def _form(feature: Feature) -> str:
    """What an input or oracle looks like, in words."""
    if feature.type.apart:
        return "it is a complex number x + i y per node: (n,)"
    return "it is one node, as a number from 0" if feature.type.single else feature.place.form
