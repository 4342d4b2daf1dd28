"""A graph, edge weights and a source go in, distances and the work to find them come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import EDGE_SCALAR, ONE_NODE, FunctionSignature
from gnarl_dsl.model.kinds import GRAPH, NODE, RATIO, SCALAR


@register(FunctionSignature((ONE_NODE,), NODE, SCALAR, "number of edges from a node", whole=True))
def bfs_depth(graph: Graph, source: int, *, tags: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The number of edges from the source to every node (n,), inf where there is no path."""
    depth = np.full(graph.n, np.inf)
    frontier = np.arange(graph.n) == source
    hops = 0
    while frontier.any():
        depth[frontier] = hops
        hops += 1
        frontier = graph.adjacency[frontier].any(axis=0) & np.isinf(depth)
    return depth


@register(
    FunctionSignature(
        (EDGE_SCALAR, ONE_NODE),
        NODE,
        SCALAR,
        "distance from a node, infinite if there is no path",
        keeps=RATIO,
        like=0,
    )
)
def shortest_path_length(
    graph: Graph, weight: NDArray[np.float64], source: int, *, tags: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """The length of a shortest path from the source to every node (n,), inf if there is none."""
    return bellman_ford(graph, weight, source)[0]


@register(
    FunctionSignature(
        (EDGE_SCALAR, ONE_NODE),
        GRAPH,
        SCALAR,
        "updates made by synchronous Bellman-Ford",
        whole=True,
        cost=((1, 1),),
        keeps=RATIO,
    )
)
def relaxation_count(
    graph: Graph, weight: NDArray[np.float64], source: int, *, tags: NDArray[np.uint64]
) -> float:
    """How often synchronous Bellman-Ford assigns a distance, scanning nodes in tag order.

    This is the CLRS-30 sampler's loop. A node assigned by several others in one sweep counts
    each time, which depends on the scanning order; counted once per sweep, the figure is about
    half of what the paper's expert takes (App. B: 446.6 picks, two per update, at n = 64).
    """
    sorted_ = tag_order(tags)
    start = int(sorted_.rank[source])
    return float(bellman_ford(sorted_.graph(graph), sorted_.pairs(weight), start)[1])


def bellman_ford(
    graph: Graph, weight: NDArray[np.float64], source: int
) -> tuple[NDArray[np.float64], int]:
    """Distances (n,) from the source, and the number of assignments made in index order.

    Rounding is monotone, so the result is the least sum from the source on over all paths,
    whatever the labelling. Sweeps read the distances of the sweep before.
    """
    cost = np.where(graph.adjacency, weight, np.inf)  # a zero weight is an edge
    distance = np.full(graph.n, np.inf)
    distance[source] = 0.0
    changed = np.array([source])
    updates = 0
    for _ in range(graph.n):
        # Only what changed in the sweep before can improve anything now.
        offers = distance[changed, None] + cost[changed]
        best = np.minimum.accumulate(np.vstack([distance, offers]))  # (1 + changed, nodes)
        updates += int(np.count_nonzero(best[1:] < best[:-1]))
        changed = np.flatnonzero(best[-1] < distance)
        distance = best[-1]
        if not changed.size:
            return distance, updates
    raise ValueError(
        f"shortest paths need a graph without negative cycles, found one with weights from "
        f"{weight[graph.adjacency].min():g}"
    )
