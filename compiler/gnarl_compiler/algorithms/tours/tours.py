"""A complete graph and distances go in, tours come out as symmetric edge masks (n, n)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.algorithms.tours.exact import held_karp, integer_program
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import SYMMETRIC_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import EDGE, MASK, RATIO

HELD_KARP_NODES = 10  # 0.8 ms, and nothing to compile
INTEGER_PROGRAM_NODES = 40
BRANCHING_NODES = 60  # above that, more than one search in ten is given up
BRANCHING_LIMIT = 3000  # subproblems, 0.3 s on 60 nodes
QUICK_KICKS, DEEP_KICKS = 50, 5  # per node: 0.1 s on 100 nodes
FEWEST_KICKS, PROOF_KICKS = 8, 0.02  # before a proof; per node squared
ROUNDING = 1e-12  # of the largest distance, per node: what is closer is the same

# From distances (n, n) to a tour (n,), the nodes in the order of the visit.
Solver = Callable[[NDArray[np.float64]], NDArray[np.intp]]


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR,),
        EDGE,
        MASK,
        "edges of a shortest tour",
        directed=False,
        complete=True,
        keeps=RATIO,
    )
)
def optimal_tour(
    graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """A shortest tour: proven up to 40 nodes, above that the best one that is found."""
    return _tour_mask("optimal_tour", graph, weight, tags, shortest_tour)


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR,),
        EDGE,
        MASK,
        "edges of a tour by Christofides",
        directed=False,
        complete=True,
        keeps=RATIO,
    )
)
def christofides_tour(
    graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """A tour by Christofides, at most 1.5 times the shortest if the triangle inequality holds."""
    return _tour_mask("christofides_tour", graph, weight, tags, _christofides)


def shortest_tour(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """By branch and bound, and where that takes too long, by what takes longer still."""
    n = len(distance)
    if n <= HELD_KARP_NODES:
        return held_karp(distance)
    from gnarl_compiler.algorithms.tours import branch, kicks  # Numba takes a while to load
    from gnarl_compiler.support.jit import COMPILED

    if COMPILED and n <= BRANCHING_NODES and np.isfinite(distance).all():
        margin = margin_of(distance)
        enough = max(FEWEST_KICKS, round(PROOF_KICKS * n * n))
        start = kicks.good_tour(distance, margin, enough, 0)
        tour, proven = branch.branch_and_bound(distance, margin, start, BRANCHING_LIMIT)
        if proven:
            return np.asarray(tour)
    if n <= INTEGER_PROGRAM_NODES:
        return integer_program(distance)
    return kicked_tour(distance)


def kicked_tour(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """A tour by local search with kicks, the same for the same distances on every machine."""
    from gnarl_compiler.algorithms.tours.kicks import good_tour

    finite = np.isfinite(distance)
    if not finite.all():  # more than all others together, so that it is taken only if it must be
        distance = np.where(finite, distance, 2 * np.abs(distance[finite]).max() * len(distance))
    kicks = (QUICK_KICKS * len(distance), DEEP_KICKS * len(distance))
    return np.asarray(good_tour(distance, margin_of(distance), *kicks))


def margin_of(distance: NDArray[np.float64]) -> float:
    """Lengths of tours that are within this are the same, but for rounding."""
    return ROUNDING * len(distance) * float(np.abs(distance).max())


def _tour_mask(
    name: str,
    graph: Graph,
    weight: NDArray[np.float64],
    tags: NDArray[np.uint64],
    solve: Solver,
) -> NDArray[np.bool_]:
    """The edges of a solver's tour; up to three nodes there is only one."""
    if graph.directed or graph.m < graph.n * (graph.n - 1) // 2:
        kind = "directed" if graph.directed else "undirected"
        raise ValueError(
            f"{name} needs a complete undirected graph, found a {kind} one with "
            f"{graph.m} edges on {graph.n} nodes"
        )
    if graph.n <= 3:
        return graph.adjacency.copy()
    sorted_ = tag_order(tags)
    tour = solve(sorted_.pairs(weight))
    mask = np.zeros((graph.n, graph.n), dtype=np.bool_)
    after = np.roll(tour, -1)
    mask[tour, after] = mask[after, tour] = True
    return sorted_.restore_pairs(mask)


def _christofides(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    import networkx as nx
    from networkx.algorithms.approximation import christofides

    complete = nx.complete_graph(len(distance))
    for u, v, data in complete.edges(data=True):
        data["weight"] = float(distance[u, v])
    return np.array(christofides(complete)[:-1])
