"""A graph and weights or predecessors go in, what its spanning forests say comes out."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph


def mst_weight(graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]) -> float:
    """The weight of a minimum spanning forest of an undirected graph (Prim, dense)."""
    if graph.directed:
        raise ValueError("mst_weight needs an undirected graph, found a directed one")
    cost = np.where(graph.adjacency, weight, np.inf)  # a zero weight is an edge
    key = np.full(graph.n, np.inf)
    outside = np.ones(graph.n, dtype=np.bool_)
    taken: list[float] = []
    for _ in range(graph.n):
        node = int(np.flatnonzero(outside)[np.argmin(key[outside])])
        taken.append(float(key[node]))
        outside[node] = False
        key = np.minimum(key, cost[node])
    # Every minimum forest has the same weights, and fsum the same sum of them in any order.
    return fsum(w for w in taken if w < np.inf)


def is_dfs_forest(graph: Graph, pred: NDArray[np.int64], *, tags: NDArray[np.uint64]) -> bool:
    """Whether some depth-first search leaves exactly these predecessors; a root is its own.

    App. F of the paper checks, level by level, that sibling subtrees can be put in an order
    with edges from later to earlier ones only. All levels are checked here as one graph on the
    nodes: an edge between two subtrees becomes an edge between the siblings they hang from.
    """
    nodes = np.arange(graph.n)
    is_root = pred == nodes
    if not (is_root | graph.adjacency[pred, nodes]).all():  # App. F leaves this to its caller
        return False
    lifts = ancestors(np.append(np.where(is_root, graph.n, pred), graph.n))
    # App. F accepts a cycle of predecessors beside a single tree; here it is never a forest.
    if (lifts[-1] != graph.n).any():
        return False
    u, v = diverging_siblings(lifts, np.argwhere(graph.adjacency))
    siblings = np.zeros((graph.n, graph.n), dtype=np.bool_)
    siblings[u, v] = True
    return Graph(directed=True, adjacency=siblings).is_acyclic()


def ancestors(parent: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """For k = 0, 1, …, every node's ancestor 2**k steps up, until a step exceeds the depth.

    The last node is the virtual parent of all roots, and its own.
    """
    lifts = [parent]
    while 2 ** (len(lifts) - 1) < len(parent):
        lifts.append(lifts[-1][lifts[-1]])
    return lifts


def diverging_siblings(
    lifts: list[NDArray[np.intp]], edges: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For edges (m, 2) between unrelated nodes, the two siblings they descend from."""
    top = len(lifts[0]) - 1
    depth = np.zeros(top + 1, dtype=np.intp)
    place = np.arange(top + 1)
    for k in reversed(range(len(lifts))):
        below = lifts[k][place] != top
        depth += below * 2**k
        place = np.where(below, lifts[k][place], place)
    u, v = edges.T
    for k in reversed(range(len(lifts))):
        u, v = (
            np.where(depth[u] - depth[v] >= 2**k, lifts[k][u], u),
            np.where(depth[v] - depth[u] >= 2**k, lifts[k][v], v),
        )
    unrelated = u != v
    u, v = u[unrelated], v[unrelated]
    for lift in reversed(lifts):
        apart = lift[u] != lift[v]
        u, v = np.where(apart, lift[u], u), np.where(apart, lift[v], v)
    return u, v
