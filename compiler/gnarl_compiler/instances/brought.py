"""A problem and a family or a source that it names in, a graph or values out, brought or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gnarl_compiler.externs.calls import Guarded, drawn_graph, drawn_values
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.instances.generators import draw_graph
from gnarl_compiler.instances.sources import draw_values
from gnarl_dsl.externs import code_for
from gnarl_dsl.model import Extern, Feature, Problem
from gnarl_dsl.report.diagnostics import InternalError


def draw_family(
    problem: Problem, family: str, n: int, args: Mapping[str, float], rng: np.random.Generator
) -> Graph:
    """One random graph of a family that the problem means, its nodes in random order."""
    declared, kind = problem.extern(family), problem.graph
    if declared is None:
        return draw_graph(family, n, args, directed=kind.directed, acyclic=kind.acyclic, rng=rng)
    return brought_graph(problem, declared, n, args, rng)


def brought_graph(
    problem: Problem, declared: Extern, n: int, args: Mapping[str, float], rng: np.random.Generator
) -> Graph:
    """The same from code that somebody brought; an undirected graph has an edge either way."""
    adjacency = drawn_graph(_guarded(problem, declared), n, dict(args), rng)
    if not problem.graph.directed:
        adjacency = adjacency | adjacency.T
    return Graph(problem.graph.directed, adjacency).relabel(rng.permutation(n))


def draw_input(problem: Problem, feature: Feature, graph: Graph, rng: np.random.Generator) -> Array:
    """Values of an input from its source, registered or brought."""
    source = feature.source
    if source is None:
        raise InternalError(f"the input `{feature.name}` has no source")
    declared = problem.extern(source.name)
    if declared is None:
        return draw_values(source.name, source.args, feature.place, graph, rng)
    return drawn_values(_guarded(problem, declared), source.args, graph, rng)


def _guarded(problem: Problem, declared: Extern) -> Guarded:
    return Guarded.of(problem, declared, code_for(problem, declared))
