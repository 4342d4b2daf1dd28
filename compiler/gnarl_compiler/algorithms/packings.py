"""A graph and weights go in, heaviest sets of nodes or triangles that do not clash come out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import Rows, choose, incidence, verify_weights
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import NODE_SCALAR, SYMMETRIC_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import EDGE, MASK, NODE, RATIO

EXACT_TRIANGLES, PER_NODE = 300, 10


@register(
    FunctionSignature(
        (NODE_SCALAR,),
        NODE,
        MASK,
        "a heaviest independent set (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def max_independent_set(
    graph: Graph, w: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Nodes of the largest total weight (n,), no two of them neighbours (HiGHS).

    No node can be added: nodes of weight 0 are in if they fit.
    """
    verify_weights("max_independent_set", w)
    sorted_ = tag_order(tags)
    return sorted_.restore_nodes(_independent(sorted_.graph(graph), sorted_.nodes(w)))


@register(
    FunctionSignature(
        (NODE_SCALAR,),
        NODE,
        MASK,
        "a heaviest clique (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def max_clique(
    graph: Graph, w: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Nodes of the largest total weight (n,), all of them neighbours; none can be added."""
    verify_weights("max_clique", w)
    sorted_ = tag_order(tags)
    apart = ~sorted_.graph(graph).adjacency & ~np.eye(graph.n, dtype=np.bool_)
    return sorted_.restore_nodes(_independent(Graph(False, apart), sorted_.nodes(w)))


def _independent(graph: Graph, w: NDArray[np.float64]) -> NDArray[np.bool_]:
    """x_u + x_v <= 1 on every edge, then whatever still fits, in order."""
    chosen = np.ones(graph.n, dtype=np.bool_)
    if graph.m:
        ends = incidence(graph.edges(), graph.n)
        chosen = choose(-w, [Rows(ends, high=1.0)], "independent set")
    for node in range(graph.n):
        chosen[node] |= not (graph.adjacency[node] & chosen).any()
    return chosen


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR,),
        EDGE,
        MASK,
        "edges of heaviest triangles without common nodes (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def triangle_packing(
    graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """The edges (n, n) of triangles without common nodes, of the largest total weight.

    Proven up to 300 triangles. Of more, only the heaviest ten of each node are considered.
    """
    verify_weights("triangle_packing", weight)
    sorted_ = tag_order(tags)
    adjacency, value = sorted_.graph(graph).adjacency, sorted_.pairs(weight)
    found = np.zeros((graph.n, graph.n), dtype=np.bool_)
    triangles = _triangles(adjacency)
    if len(triangles):
        a, b, c = triangles.T
        worth = value[a, b] + value[b, c] + value[a, c]
        if len(triangles) > EXACT_TRIANGLES:
            kept = _heaviest(triangles, worth, graph.n)
            triangles, worth = triangles[kept], worth[kept]
        rows = [Rows(incidence(triangles, graph.n, transpose=True), high=1.0)]
        for u, v, w in triangles[choose(-worth, rows, "packing of triangles")]:
            found[[u, v, w, v, w, u], [v, w, u, u, v, w]] = True
    return sorted_.restore_pairs(found)


def _heaviest(triangles: NDArray[np.intp], worth: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Which triangles are among the heaviest few of one of their nodes, in order."""
    order = np.argsort(-worth, kind="stable")
    kept = [order[(triangles[order] == node).any(axis=1)][:PER_NODE] for node in range(n)]
    return np.unique(np.concatenate(kept))


def _triangles(adjacency: NDArray[np.bool_]) -> NDArray[np.intp]:
    """All triangles (k, 3), nodes in order."""
    upper = np.triu(adjacency, 1)
    found = [
        (u, v, w)
        for u in range(len(upper))
        for v, w in combinations(np.flatnonzero(upper[u]).tolist(), 2)
        if upper[v, w]
    ]
    return np.array(found, dtype=np.intp).reshape(-1, 3)
