"""A problem goes in, Hypothesis strategies of its instances and plays come out.

What is drawn shrinks to fewer nodes, fewer edges, plainer values and fewer picks. To that end
nothing that is drawn depends on how many nodes there are: lists say what is not plain, and
whatever of them lies beyond the last node has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Feature, GraphKind, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT
from gnarl_runtime.checks.sample.sample_instances import suits
from gnarl_runtime.checks.sample.sample_values import on_edges, scalar_grid

Draw = st.DrawFn


class Shown:
    """Something that a failing test prints on one line."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis calls; it would print a dataclass field by field, whatever its repr."""
        printer.text(repr(self))


@dataclass(frozen=True, eq=False)
class Case(Shown):
    """A play: an instance, legal picks, and every state from the reset on."""

    problem: Problem
    instance: Instance
    picks: tuple[int, ...]
    states: tuple[State, ...]

    @property
    def state(self) -> State:
        """Where the picks lead."""
        return self.states[-1]

    @property
    def game(self) -> Interpreter:
        """What answers questions about a state: mask, expert, objective, correct …"""
        return Interpreter(self.problem)

    def __repr__(self) -> str:
        return f"Case({describe(self.instance)}, picks={self.picks})"


def describe(instance: Instance) -> str:
    """An instance on one line."""
    edges = [tuple(edge) for edge in instance.graph.edges().tolist()]
    inputs = {name: np.asarray(value).tolist() for name, value in instance.inputs.items()}
    return f"n={instance.graph.n}, edges={edges}, inputs={inputs}, tags={instance.tags.tolist()}"


class ShownInstance(Shown, Instance):
    """An instance that a failing test can print."""

    def __repr__(self) -> str:
        return f"Instance({describe(self)})"


def instances(problem: Problem, min_nodes: int, max_nodes: int) -> st.SearchStrategy[Instance]:
    """Instances of the kind that a problem declares, with frequent ties."""
    if not 1 <= min_nodes <= max_nodes:
        found = f"min_nodes={min_nodes}, max_nodes={max_nodes}"
        raise ValueError(f"expected 1 <= min_nodes <= max_nodes, found {found}")

    @st.composite
    def instance(draw: Draw) -> Instance:  # without arguments, for the sake of its repr
        return _instance(draw, problem, min_nodes, max_nodes)

    return instance()


def _instance(draw: Draw, problem: Problem, least: int, most: int) -> Instance:
    n = draw(st.integers(least, most))
    names, tags = draw(_ORDERS), draw(_ORDERS)
    graph = _graph(draw, problem.graph, n, most).relabel(_order(names, n))
    own = [feature for feature in problem.features if feature.stage is INPUT]
    inputs = {feature.name: _values(draw, feature, graph, most) for feature in own}
    return ShownInstance(graph, inputs, _order(tags, n).astype(np.uint64))


_ORDERS = st.integers(0, 999)


def _order(number: int, n: int) -> NDArray[np.int64]:
    """A permutation of n nodes; number 0 leaves them as they are."""
    return np.arange(n) if number == 0 else stream(number, "order").permutation(n)


def plays(
    problem: Problem, given: st.SearchStrategy[Instance], max_picks: int
) -> st.SearchStrategy[Case]:
    """An instance and some legal picks on it."""
    number = st.integers(0, 999)
    few = st.lists(number, max_size=max_picks)
    many = st.lists(number, min_size=max_picks // 2, max_size=max_picks)

    @st.composite
    def case(draw: Draw) -> Case:
        instance, game = draw(given), Interpreter(problem)
        states, picks = [game.reset(instance)], []
        for choice in draw(few | many):
            legal = game.choices(states[-1])
            if not legal:
                break
            picks.append(legal[choice % len(legal)])
            states.append(game.step(states[-1], picks[-1]).state)
        return Case(problem, instance, tuple(picks), tuple(states))

    return case()


# Graphs


def _graph(draw: Draw, kind: GraphKind, n: int, most: int) -> Graph:
    adjacency = np.zeros((n, n), np.bool_)
    for u, v in [*_tree(draw, kind, most), *_more(draw, kind, n, most)]:
        if max(u, v) < n:
            adjacency[u, v] = True
            adjacency[v, u] |= not kind.directed
    graph = Graph(kind.directed, adjacency)
    assume(suits(kind, graph))
    return graph


Edges = Iterable[tuple[int, int]]


def _tree(draw: Draw, kind: GraphKind, most: int) -> Edges:
    """Edges that connect all nodes, or make a forest, where the problem wants that."""
    is_forest = kind.acyclic and not kind.directed
    if kind.complete or not (kind.connected or is_forest):
        return
    parents = draw(st.lists(st.tuples(_ORDERS, st.booleans()), max_size=most - 1))
    for v in range(1, most):
        number, turned = parents[v - 1] if v <= len(parents) else (0, False)
        parent = number % v if kind.connected else number % (v + 1) - 1
        if parent >= 0:
            turns = turned and kind.directed and not kind.acyclic
            yield (v, parent) if turns else (parent, v)


def _more(draw: Draw, kind: GraphKind, n: int, most: int) -> Edges:
    """Any other edges that the kind of graph allows: some of them, or all but some."""
    both_ways = kind.directed and not kind.acyclic
    pairs = list(permutations(range(n), 2) if both_ways else combinations(range(n), 2))
    if kind.complete:
        return pairs
    if kind.acyclic and not kind.directed:
        return []
    node = st.integers(0, most - 1)
    listed = draw(st.lists(st.tuples(node, node), max_size=most * most))
    some = {pair if both_ways else (min(pair), max(pair)) for pair in listed}
    dense = draw(st.booleans())
    return [pair for pair in pairs if (pair in some) != dense]


# Values


def _values(draw: Draw, feature: Feature, graph: Graph, most: int) -> Array:
    """One input: (n,) per node, (n, n) per edge or pair, () per graph or for a node."""
    n = graph.n
    if feature.type.apart:
        return _points(draw, n, most)
    if feature.source is not None and feature.source.name == "euclidean":
        distances = _distances(draw, n, most)
        return on_edges(distances, graph) if feature.place is EDGE else distances
    cells = _listed(draw, feature, n, feature.cells(n, graph.m), most**feature.width)
    if feature.place is not EDGE:
        return cells.reshape(feature.shape(n))
    ends = graph.edges()
    room = np.zeros((n, n), cells.dtype)
    room[ends[:, 0], ends[:, 1]] = cells
    return on_edges(room, graph)


def _listed(draw: Draw, feature: Feature, n: int, cells: int, most: int) -> NDArray[Any]:
    """So many cells: the first ones from a list, the others the plainest value there is."""
    drawn = draw(st.lists(_cell(feature), max_size=most))
    values = [*drawn, *[_plain(feature)] * cells][:cells]
    kind = feature.type
    return np.array([v % n if kind.names_nodes else v for v in values], kind.value.array)


def _cell(feature: Feature) -> st.SearchStrategy[Any]:
    if feature.is_number:
        return _number(feature)
    most = feature.limit(1000)
    return st.booleans() if most is None else st.integers(0, most - 1)


def _plain(feature: Feature) -> float:
    return _ties(feature)[0] if feature.is_number else 0


def _number(feature: Feature) -> st.SearchStrategy[float]:
    """Few values that tie and add without rounding, and any others in the range."""
    ties = _ties(feature)
    if len(ties) == 1:
        return st.just(ties[0])
    return st.sampled_from(ties) | st.floats(min(ties), max(ties), width=32)


def _ties(feature: Feature) -> list[float]:
    first, last, grid = scalar_grid(feature)
    return sorted((float(np.float32(k * grid)) for k in range(first, last + 1)), key=_plainness)


def _plainness(value: float) -> tuple[bool, float, float]:
    """1 before 1/2 before 3/4: numbers that a person reads with less effort come first."""
    numerator, denominator = value.as_integer_ratio()
    return value == 0, math.log2(denominator) + abs(numerator), value


def _points(draw: Draw, n: int, most: int) -> NDArray[np.complex128]:
    """Different points of the unit square, on a grid."""
    side = st.integers(0, 8).map(lambda k: k / 8)
    points = draw(st.lists(st.tuples(side, side), min_size=most, max_size=most, unique=True))
    x, y = np.array(points[:n]).reshape(n, 2).T
    return np.asarray(x + 1j * y)


def _distances(draw: Draw, n: int, most: int) -> NDArray[np.float64]:
    """Distances between different points of the unit square."""
    points = _points(draw, n, most)
    x, y = points.real, points.imag
    return np.asarray(np.hypot(x[:, None] - x, y[:, None] - y))
