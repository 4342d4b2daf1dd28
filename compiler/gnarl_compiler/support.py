"""Helpers that generated kernels call: arithmetic, graph look-ups, compiled algorithms.

Every function here is plain Python that Numba compiles; run uncompiled they are the same.
The batched twins of registered algorithms are tested equal to the reference ones.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

INF = math.inf
RUNNING, TERMINATED, TRUNCATED = 0, 1, 2
ILLEGAL, DEAD_END = -1, -2

COMPILED = os.environ.get("GNARL_JIT") != "off"  # off: for debugging, tests of many small specs

if not COMPILED:

    def njit(function: Any) -> Any:
        return function

else:
    import numba

    njit: Any = numba.njit(cache=True, nogil=True)  # type: ignore[no-redef]


class SpecFault(Exception):
    """A pick that an expert tried stops the episode; the text names the line of the spec."""


@njit
def plus(a, b):  # type: ignore[no-untyped-def]
    value = a + b
    return 0.0 if value != value else value


@njit
def minus(a, b):  # type: ignore[no-untyped-def]
    value = a - b
    return 0.0 if value != value else value


@njit
def times(a, b):  # type: ignore[no-untyped-def]
    value = a * b
    return 0.0 if value != value else value


@njit
def divide(a, b):  # type: ignore[no-untyped-def]
    if b == 0.0:
        return 0.0
    value = a / b
    return 0.0 if value != value else value


@njit
def nearly(a, b):  # type: ignore[no-untyped-def]
    """`~=`: see numbers.nearly_equal."""
    if a == b:
        return True
    gap = abs(a - b)  # infinite if one of them is; both would be equal, or apart
    return (gap <= max(1e-6 * max(abs(a), abs(b)), 1e-12)) & (gap < INF)


@njit
def ceiling(a):  # type: ignore[no-untyped-def]
    if math.isinf(a):
        return a
    near = float(np.rint(a))
    return near if abs(a - near) <= 1e-9 else float(math.ceil(a))


@njit
def flooring(a):  # type: ignore[no-untyped-def]
    if math.isinf(a):
        return a
    near = float(np.rint(a))
    return near if abs(a - near) <= 1e-9 else float(math.floor(a))


# The graph


@njit
def joined(adjacency, b, u, v):  # type: ignore[no-untyped-def]
    return (adjacency[b, u, v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@njit
def out_degree(adjacency, b, u):  # type: ignore[no-untyped-def]
    total = 0
    for w in range(adjacency.shape[2]):
        bits = adjacency[b, u, w]
        while bits != np.uint64(0):
            bits &= bits - np.uint64(1)
            total += 1
    return total


@njit
def edge_number(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return np.float64(values[b, e]) if e >= 0 else 0.0


@njit
def complete_number(values, n, b, u, v):  # type: ignore[no-untyped-def]
    """As edge_number on a complete undirected graph, where the id of an edge can be computed."""
    if u == v:
        return 0.0
    low, high = min(u, v), max(u, v)
    return np.float64(values[b, low * (2 * n[b] - low - 1) // 2 + high - low - 1])


@njit
def edge_truth(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return bool(values[b, e]) if e >= 0 else False


@njit
def edge_category(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return int(values[b, e]) if e >= 0 else 0


@njit
def set_arc(b, u, v, present, n, rowptr, src, adjacency):  # type: ignore[no-untyped-def]
    """Add or remove the arc u -> v: its adjacency bit and its place in the rows of v."""
    bit = np.uint64(1) << np.uint64(v & 63)
    if present:
        adjacency[b, u, v >> 6] |= bit
    else:
        adjacency[b, u, v >> 6] &= ~bit
    end = rowptr[b, n[b]]
    place = rowptr[b, v]
    while place < rowptr[b, v + 1] and src[b, place] < u:
        place += 1
    if present:
        if end == src.shape[1]:
            raise IndexError("no room for another edge: give the batch more edges")
        for k in range(end, place, -1):
            src[b, k] = src[b, k - 1]
        src[b, place] = u
        change = 1
    else:
        for k in range(place, end - 1):
            src[b, k] = src[b, k + 1]
        src[b, end - 1] = 0
        change = -1
    for w in range(v + 1, rowptr.shape[1]):
        rowptr[b, w] += change


@njit
def set_edge(b, u, v, present, directed, n, m, rowptr, src, adjacency):  # type: ignore[no-untyped-def]
    """Add or remove an edge; nothing happens if it is there, or gone, already."""
    if joined(adjacency, b, u, v) == present:
        return
    set_arc(b, u, v, present, n, rowptr, src, adjacency)
    if not directed:
        set_arc(b, v, u, present, n, rowptr, src, adjacency)
    m[b] += 1 if present else -1


@njit
def set_numbered_edge(b, u, v, present, directed, n, m, rowptr, src, adjacency, edge_id):  # type: ignore[no-untyped-def]
    """The same with edge ids: a new edge gets the next, the last one moves into a gap."""
    if joined(adjacency, b, u, v) == present:
        return
    if present:
        edge = m[b]
        edge_id[b, u, v] = edge
        if not directed:
            edge_id[b, v, u] = edge
    else:
        edge, moved = edge_id[b, u, v], m[b] - 1
        for x in range(n[b]):
            for y in range(n[b]):
                if edge_id[b, x, y] == edge:
                    edge_id[b, x, y] = -1
                elif edge_id[b, x, y] == moved:
                    edge_id[b, x, y] = edge
    set_edge(b, u, v, present, directed, n, m, rowptr, src, adjacency)


# Registered algorithms


@njit
def mix64(x):  # type: ignore[no-untyped-def]
    z = np.uint64(x)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def find_root(parent, x):  # type: ignore[no-untyped-def]
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit
def critical_fraction(b, targeted, n, rowptr, src, tags):  # type: ignore[no-untyped-def]
    """Twin of algorithms.robustness.critical_fraction: nodes return last to first."""
    nodes = n[b]
    key = np.empty(nodes, np.uint64)
    order = np.empty(nodes, np.int64)
    parent = np.empty(nodes, np.int64)
    present = np.empty(nodes, np.bool_)
    total = 0
    for k in range(2 * nodes):
        salt = mix64(np.uint64(k))
        for x in range(nodes):
            key[x] = mix64(tags[b, x] ^ salt)
        fill_order(b, targeted, nodes, key, order, rowptr)
        for x in range(nodes):
            parent[x] = x
            present[x] = False
        components = 0
        apart_at = nodes
        for removed in range(nodes - 1, -1, -1):
            x = order[removed]
            present[x] = True
            components += 1
            for arc in range(rowptr[b, x], rowptr[b, x + 1]):
                y = src[b, arc]
                if present[y]:
                    one, other = find_root(parent, x), find_root(parent, y)
                    if one != other:
                        parent[one] = other
                        components -= 1
                        if components == 1:
                            break  # nothing is left to join
            if components > 1:
                apart_at = removed
        total += apart_at
    return total / (2 * nodes * nodes) if nodes > 0 else 0.0


@njit
def fill_order(b, targeted, nodes, key, order, rowptr):  # type: ignore[no-untyped-def]
    """Nodes by falling degree (if targeted) and then by key."""
    if nodes <= 48:  # insertion is faster on short lists
        for i in range(nodes):
            j = i
            while j > 0 and key[i] < key[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    else:
        order[:] = np.argsort(key, kind="mergesort")
    if targeted:
        by_degree(b, nodes, order, rowptr)


@njit
def by_degree(b, nodes, order, rowptr):  # type: ignore[no-untyped-def]
    """Sort by falling degree; nodes of one degree keep their order."""
    start = np.zeros(nodes + 1, np.int64)
    for x in range(nodes):
        start[nodes - (rowptr[b, x + 1] - rowptr[b, x])] += 1
    total = 0
    for k in range(nodes + 1):
        start[k], total = total, total + start[k]
    before = order.copy()
    for x in before:
        k = nodes - (rowptr[b, x + 1] - rowptr[b, x])
        order[start[k]] = x
        start[k] += 1


@njit
def is_dfs_forest(b, pred, adjacency):  # type: ignore[no-untyped-def]
    """Twin of algorithms.forests.is_dfs_forest; `pred` has a pointer per node."""
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


# Observations


@njit
def fill_ends(slots, ends, directed, n, adjacency):  # type: ignore[no-untyped-def]
    """Both ends of every edge by its id, -1 behind the last; an undirected edge once."""
    for b in slots:
        count = 0
        for u in range(n[b]):
            for v in range(0 if directed else u + 1, n[b]):
                if joined(adjacency, b, u, v):
                    ends[b, count, 0] = u
                    ends[b, count, 1] = v
                    count += 1
        ends[b, count:, :] = -1
