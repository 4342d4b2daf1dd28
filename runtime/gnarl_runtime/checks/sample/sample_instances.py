"""A problem, a number and a seed go in, random instances of many shapes and sizes come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.brought import draw_family
from gnarl_compiler.instances.draw import Family, choose_split, families
from gnarl_compiler.instances.generators import GenerationError, draw_connected, draw_graph
from gnarl_dsl.check.instance_sets import WHOLE_ARGUMENTS
from gnarl_dsl.model import Draw, GraphKind, Problem
from gnarl_runtime.checks.sample.sample_values import Style, sample_inputs

SMALLEST = 2
_STYLES: tuple[Style, ...] = ("ties", "drawn", "near", "ties")

Matrix = NDArray[np.bool_]
Shape = Callable[[int, Generator], Matrix]


@dataclass(frozen=True, eq=False)
class Example:
    """One instance and where it comes from; with `exact` values, sums do not round."""

    instance: Instance
    label: str
    exact: bool


def sample_instances(problem: Problem, count: int, nodes: int, seed: int) -> list[Example]:
    """Instances of up to `nodes` nodes: half from the spec's own generators, half of set shapes.

    Small sizes are drawn more often than large ones (uniform on a logarithmic scale), which
    gives every size about the same share of the work.
    """
    own = _own_families(problem)
    shapes = [name for name in SHAPES if fits(problem.graph, SHAPES[name])]
    return [_example(problem, own, shapes, number, nodes, seed) for number in range(count)]


def _example(
    problem: Problem, own: list[Family], shapes: list[str], number: int, nodes: int, seed: int
) -> Example:
    rng = stream(seed, "check instance", number)
    n = round(math.exp(rng.uniform(math.log(SMALLEST), math.log(max(nodes, SMALLEST)))))
    graph, label = None, ""
    turn = number // 2
    if number % 2 == 0 and own:
        family = own[turn % len(own)]
        graph, label = _from_family(problem, family, n, rng), family.generator
        style: Style = "drawn" if turn // len(own) % 2 == 0 else "ties"
    if graph is None:
        label = shapes[turn % len(shapes)]
        graph = shaped_graph(problem.graph, SHAPES[label], n, rng)
        style = _STYLES[turn // len(shapes) % len(_STYLES)]
    tags = rng.integers(0, 2**63, graph.n).astype(np.uint64)
    instance = Instance(graph, sample_inputs(problem, graph, style, rng), tags)
    return Example(instance, f"{label}, {style}", style == "ties")


def sample_family(problem: Problem, n: int, number: int, seed: int) -> Instance:
    """An instance of n nodes as training draws it, or of some shape if nothing says how."""
    rng = stream(seed, "check size", n, number)
    own = _own_families(problem)
    graph = _from_family(problem, own[number % len(own)], n, rng) if own else None
    if graph is None:
        shapes = [name for name in SHAPES if fits(problem.graph, SHAPES[name])]
        graph = shaped_graph(problem.graph, SHAPES[shapes[number % len(shapes)]], n, rng)
    tags = rng.integers(0, 2**63, n).astype(np.uint64)
    return Instance(graph, sample_inputs(problem, graph, "drawn", rng), tags)


def _own_families(problem: Problem) -> list[Family]:
    """How each instance set draws its training graphs."""
    return [
        family
        for entry in problem.instances
        for family in families(choose_split(problem, "train", entry.name))
    ]


def _from_family(problem: Problem, family: Family, n: int, rng: Generator) -> Graph | None:
    """A graph as training draws it, or nothing if there is none of this size."""
    args = {arg.name: _argument(arg, rng) for arg in family.args if arg.name != "n"}
    kind = problem.graph
    if problem.extern(family.generator) is not None:
        graph = draw_family(problem, family.generator, n, args, rng)
        apart = kind.connected and not graph.is_connected()
        return None if apart or (kind.acyclic and not graph.is_acyclic()) else graph
    draw = draw_connected if kind.connected else draw_graph
    try:
        return draw(
            family.generator, n, args, directed=kind.directed, acyclic=kind.acyclic, rng=rng
        )
    except GenerationError:
        return None


def _argument(arg: Draw, rng: Generator) -> float:
    if arg.kind == "one_of":
        return float(rng.choice(arg.values))
    low, high = arg.values
    drawn = rng.uniform(low, high)
    return float(round(drawn) if arg.name in WHOLE_ARGUMENTS else drawn)


# Shapes: one triangle of a matrix (nodes, nodes), or both.


def _path(n: int, rng: Generator) -> Matrix:
    return np.eye(n, k=1, dtype=np.bool_)


def _star(n: int, rng: Generator) -> Matrix:
    adjacency = np.zeros((n, n), np.bool_)
    adjacency[0, 1:] = True
    return adjacency


def _cycle(n: int, rng: Generator) -> Matrix:
    adjacency = np.eye(n, k=1, dtype=np.bool_)
    adjacency[0, n - 1] = True  # on two nodes it is the edge that is there already
    return adjacency


def _complete(n: int, rng: Generator) -> Matrix:
    return np.triu(np.ones((n, n), np.bool_), 1)


def _empty(n: int, rng: Generator) -> Matrix:
    return np.zeros((n, n), np.bool_)


def _sparse(n: int, rng: Generator) -> Matrix:
    return np.triu(rng.random((n, n)) < 2 / n, 1)


def _tree(n: int, rng: Generator) -> Matrix:
    adjacency = np.zeros((n, n), np.bool_)
    for node in range(1, n):
        adjacency[int(rng.integers(node)), node] = True
    return adjacency


def _meshed(n: int, rng: Generator) -> Matrix:
    return _tree(n, rng) | _sparse(n, rng)


def _two_parts(n: int, rng: Generator) -> Matrix:
    """Two components, each a tree with a few more edges."""
    split = n // 2
    adjacency = np.zeros((n, n), np.bool_)
    for part in (slice(0, split), slice(split, n)):
        size = part.stop - part.start
        adjacency[part, part] = _meshed(size, rng)
    return adjacency


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "path": _path,
        "star": _star,
        "cycle": _cycle,
        "complete": _complete,
        "empty": _empty,
        "sparse": _sparse,
        "tree": _tree,
        "meshed tree": _meshed,
        "two components": _two_parts,
    }
)


def shaped_graph(kind: GraphKind, shape: Shape, n: int, rng: Generator) -> Graph:
    """A graph of a shape, its nodes in random order, with directions if the problem has them."""
    drawn = shape(n, rng)
    adjacency = _directed(drawn, kind, shape, rng) if kind.directed else drawn | drawn.T
    return Graph(kind.directed, adjacency).relabel(rng.permutation(n))


def _directed(upper: Matrix, kind: GraphKind, shape: Shape, rng: Generator) -> Matrix:
    """Along the order of the nodes if acyclic; else one way or the other, sometimes both."""
    if kind.acyclic:
        return upper
    if kind.complete:
        return np.asarray(upper | upper.T)
    draw = np.triu(rng.random(upper.shape), 1)
    if shape is _cycle and rng.random() < 0.5:  # a cycle that can be followed all around
        turned = upper.copy()
        turned[0, -1], turned[-1, 0] = False, upper[0, -1]
        return np.asarray(turned)
    return np.asarray((upper & (draw < 0.6)) | (upper & (draw > 0.4)).T)


def fits(kind: GraphKind, shape: Shape) -> bool:
    """Whether graphs of a shape are what a problem asks for, judged by some of them."""
    return all(suits(kind, graph) for graph in _probes(kind, shape))


def _probes(kind: GraphKind, shape: Shape) -> Iterator[Graph]:
    for n in (2, 3, 5, 8):
        for seed in range(4):
            yield shaped_graph(kind, shape, n, stream(seed, "check shape", n))


def suits(kind: GraphKind, graph: Graph) -> bool:
    """Whether a graph is of the declared kind."""
    n = graph.n
    most = n * (n - 1) // (1 if kind.directed else 2)
    return (
        (not kind.connected or graph.is_connected())
        and (not kind.acyclic or graph.is_acyclic())
        and (not kind.complete or graph.m == most)
    )
