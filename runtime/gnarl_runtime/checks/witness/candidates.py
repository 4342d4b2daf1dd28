"""An instance in, instances with less to read out: fewer nodes, fewer edges, plainer values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.instances.sources import could_draw, is_metric
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE
from gnarl_runtime.checks.witness.witness_play import SMALL
from gnarl_runtime.instances.instance_checks import InstanceError, verify_instance

_PLAIN = (1.0, 0.5, 0.25)  # values in the order of preference
_PIECES = 12  # choices of nodes for each small size
_NEAR = 0.9  # how often the next node of a piece is a neighbour


# Smaller instances


def acceptable(problem: Problem, instance: Instance) -> bool:
    """Whether an instance is of the problem's kind."""
    try:
        verify_instance(problem, instance, "candidate")
    except InstanceError:
        return False
    return True


def smaller_instances(
    problem: Problem, instance: Instance
) -> Iterator[tuple[Instance, dict[int, int]]]:
    """Instances with less to read, each with the new names of its nodes; best first."""
    if any(_only_given(problem, name) for name in instance.oracles):
        return  # labels that came from outside fit this instance only
    n = instance.graph.n
    for gone in _node_sets(n):
        names = {node: k for k, node in enumerate(v for v in range(n) if v not in gone)}
        yield from ((smaller, names) for smaller in _without_nodes(problem, instance, names))
    same = {node: node for node in range(n)}
    for u, v in instance.graph.edges():
        yield cleared(problem, _without_edge(instance, int(u), int(v))), same
    for plainer in _plainer(problem, instance):
        yield plainer, same


def pieces(problem: Problem, instance: Instance) -> Iterator[tuple[Instance, dict[int, int]]]:
    """The instance on a few nodes that hang together, for many choices of them."""
    if any(_only_given(problem, name) for name in instance.oracles):
        return
    rng = np.random.default_rng(instance.graph.n)
    either = instance.graph.adjacency | instance.graph.adjacency.T
    for size in range(1, SMALL + 1):
        chosen = {_piece(either, size, rng) for _ in range(_PIECES)}
        for nodes in sorted(chosen):
            names = {node: k for k, node in enumerate(nodes)}
            yield from ((part, names) for part in _without_nodes(problem, instance, names))


def _piece(either: NDArray[np.bool_], size: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Up to so many nodes, each next to an earlier one where possible."""
    nodes = [int(rng.integers(len(either)))]
    while len(nodes) < size:
        near = np.flatnonzero(either[nodes].any(axis=0))
        fresh = np.setdiff1d(near if rng.random() < _NEAR else np.arange(len(either)), nodes)
        if not len(fresh):
            fresh = np.setdiff1d(np.arange(len(either)), nodes)
        nodes.append(int(rng.choice(fresh)))
    return tuple(sorted(nodes))


def _only_given(problem: Problem, name: str) -> bool:
    return problem.feature(name).initial is None


def _node_sets(n: int) -> Iterator[set[int]]:
    """Halves, quarters … of the nodes, then every single one."""
    size = n // 2
    while size > 1:
        yield from (set(range(k, min(n, k + size))) for k in range(0, n, size))
        size //= 2
    if n > 1:
        yield from ({node} for node in range(n))


def _without_nodes(
    problem: Problem, instance: Instance, names: dict[int, int]
) -> Iterator[Instance]:
    """The graph on the nodes that keep a name; a mark on a lost node moves to each of them."""
    kept = list(names)
    graph = Graph(instance.graph.directed, instance.graph.adjacency[np.ix_(kept, kept)])
    columns: list[dict[str, Array]] = [{}]
    for name, values in instance.inputs.items():
        feature = problem.feature(name)
        options = _kept_values(feature, values, names)
        columns = [{**column, name: option} for column in columns for option in options]
    found = (Instance(graph, inputs, instance.tags[kept]) for inputs in columns[:8])
    yield from (cleared(problem, one) for one in found)


def _kept_values(feature: Feature, values: Array, names: dict[int, int]) -> list[Array]:
    kept = list(names)
    if feature.marks:
        node = int(values[()])
        return [np.asarray(names[node])] if node in names else [*map(np.asarray, names.values())]
    if feature.single:
        return [values]
    part = values[np.ix_(*[kept] * feature.width)]
    if feature.type.names_nodes:
        part = np.vectorize(lambda node: names.get(int(node), 0), otypes=[np.int64])(part)
    return [part]


def _without_edge(instance: Instance, u: int, v: int) -> Instance:
    adjacency = instance.graph.adjacency.copy()
    adjacency[u, v] = False
    if not instance.graph.directed:
        adjacency[v, u] = False
    graph = Graph(instance.graph.directed, adjacency)
    return Instance(graph, instance.inputs, instance.tags)


def cleared(problem: Problem, instance: Instance) -> Instance:
    """The same with zero where an edge value has no edge any more."""
    inputs = {
        name: np.where(instance.graph.adjacency, values, np.zeros((), values.dtype))
        if problem.feature(name).place is EDGE
        else values
        for name, values in instance.inputs.items()
    }
    return Instance(instance.graph, inputs, instance.tags)


# Plainer values


def plainness(value: float) -> tuple[int, int, float]:
    """What makes a number hard to read: 1 before 1/2 before 1/4 before 3/7."""
    if value in _PLAIN:
        return (0, _PLAIN.index(value), 0.0)
    exact = Fraction(value)
    return (1, exact.denominator, value)


def _plainer(problem: Problem, instance: Instance) -> Iterator[Instance]:
    ranks = np.arange(instance.graph.n).astype(np.uint64)
    for name, values in instance.inputs.items():
        feature = problem.feature(name)
        if feature.is_number and feature.source is not None:
            for plain in _PLAIN:
                yield from _drawable(feature, _all_equal(instance, feature, values, plain))
                yield from _drawable(feature, _with_value(instance, feature, values, plain))
    if (instance.tags != ranks).any():
        yield Instance(instance.graph, instance.inputs, ranks)


def _drawable(feature: Feature, found: Iterator[Instance]) -> Iterator[Instance]:
    """Those that the declared source of an input could have given."""
    name = feature.name
    return (one for one in found if could_draw(feature, one.graph, one.inputs[name]))


def _used(instance: Instance, feature: Feature, values: Array) -> NDArray[np.bool_]:
    """The cells that say something: a distance from a node to itself does not."""
    if feature.place is EDGE:
        return instance.graph.adjacency
    used = np.ones(values.shape, np.bool_)
    if feature.width == 2 and is_metric(feature):
        np.fill_diagonal(used, False)
    return used


def _all_equal(
    instance: Instance, feature: Feature, values: Array, plain: float
) -> Iterator[Instance]:
    """Every cell at once: ties may need it."""
    used = _used(instance, feature, values)
    equal = np.where(used, plain, 0.0)
    if plainness(plain) < max((plainness(float(v)) for v in values[used]), default=(0, 0, 0.0)):
        inputs = {**instance.inputs, feature.name: equal}
        yield Instance(instance.graph, inputs, instance.tags)


def _with_value(
    instance: Instance, feature: Feature, values: Array, plain: float
) -> Iterator[Instance]:
    """One cell at a time set to a plainer value; both directions of an undirected edge."""
    symmetric = feature.place is EDGE and not instance.graph.directed
    symmetric |= feature.width == 2 and is_metric(feature)
    used = _used(instance, feature, values)
    for cell in np.argwhere(used):
        place = tuple(int(i) for i in cell)
        if symmetric and place[0] > place[1] and used[place[::-1]]:
            continue
        if plainness(plain) >= plainness(float(values[place])):
            continue
        changed = values.copy()
        changed[place] = plain
        if symmetric and used[place[::-1]]:
            changed[place[::-1]] = plain
        inputs = {**instance.inputs, feature.name: changed}
        yield Instance(instance.graph, inputs, instance.tags)
