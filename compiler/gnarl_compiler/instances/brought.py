"""A problem and a family or a source that it names in, a graph or values out, brought or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gnarl_compiler.externs.calls import Guarded, drawn_graph, drawn_values
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.instances.generators import draw_graph
from gnarl_compiler.instances.sources import draw_feature
from gnarl_dsl.externs import code_for
from gnarl_dsl.model import Extern, Feature, InputSource, Problem


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
    guarded = _guarded(problem, declared)
    adjacency = drawn_graph(guarded, n, dict(args), rng)
    if not problem.graph.directed:
        adjacency = adjacency | adjacency.T
    if problem.graph.complete and not (adjacency | np.eye(n, dtype=np.bool_)).all():
        raise guarded.fail("left out an edge; the graphs of this problem are complete")
    return Graph(problem.graph.directed, adjacency).relabel(rng.permutation(n))


def draw_input(
    problem: Problem, feature: Feature, source: InputSource, graph: Graph, rng: np.random.Generator
) -> Array:
    """Values of an input from a source of it, registered or brought; of several laws from one."""
    if all(problem.extern(law.name) is None for law in source.laws):
        return draw_feature(feature, source, graph, rng)
    law = source.laws[int(rng.integers(len(source.laws)))] if source.others else source
    declared = problem.extern(law.name)
    if declared is None:
        return draw_feature(feature, law, graph, rng)
    return drawn_values(_guarded(problem, declared), law.args, graph, rng)


def _guarded(problem: Problem, declared: Extern) -> Guarded:
    return Guarded.of(problem, declared, code_for(problem, declared))
