"""A graph and predecessors go in, whether a depth-first search could leave them comes out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.registration import Twin, register
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.support.edges import joined
from gnarl_compiler.support.jit import njit
from gnarl_dsl.language.signatures import NODE_POINTER, FunctionSignature
from gnarl_dsl.model.kinds import GRAPH, MASK


@njit
def is_dfs_forest_twin(b, pred, adjacency):  # type: ignore[no-untyped-def]
    """`is_dfs_forest` on the graph in slot b; `pred` has a pointer per node."""
    nodes = len(pred)
    depth = np.zeros(nodes, np.int64)
    for x in range(nodes):
        parent = pred[x]
        if parent != x and not joined(adjacency, b, parent, x):
            return False
        y, steps = x, 0
        while pred[y] != y:
            y = pred[y]
            steps += 1
            if steps > nodes:
                return False
        depth[x] = steps
    siblings = np.zeros((nodes, nodes), np.bool_)
    for u in range(nodes):
        for v in range(nodes):
            if joined(adjacency, b, u, v):
                mark_siblings(pred, depth, u, v, siblings)
    return is_acyclic(siblings)


@njit
def mark_siblings(pred, depth, u, v, siblings):  # type: ignore[no-untyped-def]
    """An edge between unrelated nodes orders the sibling subtrees that they hang from."""
    x, y = u, v
    while depth[x] > depth[y]:
        x = pred[x]
    while depth[y] > depth[x]:
        y = pred[y]
    if x == y:
        return
    while pred[x] != pred[y] and depth[x] > 0:
        x, y = pred[x], pred[y]
    siblings[x, y] = True


@njit
def is_acyclic(arcs):  # type: ignore[no-untyped-def]
    """Peel nodes without incoming arcs; a cycle is what cannot be peeled."""
    nodes = len(arcs)
    incoming = np.zeros(nodes, np.int64)
    for u in range(nodes):
        for v in range(nodes):
            if arcs[u, v]:
                incoming[v] += 1
    waiting = np.empty(nodes, np.int64)
    count = 0
    for v in range(nodes):
        if incoming[v] == 0:
            waiting[count] = v
            count += 1
    done = 0
    while done < count:
        u = waiting[done]
        done += 1
        for v in range(nodes):
            if arcs[u, v]:
                incoming[v] -= 1
                if incoming[v] == 0:
                    waiting[count] = v
                    count += 1
    return count == nodes


@register(
    FunctionSignature(
        (NODE_POINTER,),
        GRAPH,
        MASK,
        "whether the pointers form a forest that some depth-first search produces",
        cost=((1, 1),),
        oracle=False,
    ),
    Twin(is_dfs_forest_twin, ("adjacency",)),
)
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
