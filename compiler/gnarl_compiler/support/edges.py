"""The graph of a slot in; out: its edges, looked up or changed."""

from __future__ import annotations

import math

import numpy as np

from gnarl_compiler.support.jit import inlined, njit


@inlined
def joined(adjacency, b, u, v):  # type: ignore[no-untyped-def]
    return (adjacency[b, u, v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != np.uint64(0)


@inlined
def out_degree(adjacency, b, u):  # type: ignore[no-untyped-def]
    total = 0
    for w in range(adjacency.shape[2]):
        bits = adjacency[b, u, w]
        while bits != np.uint64(0):
            bits &= bits - np.uint64(1)
            total += 1
    return total


@inlined
def edge_number(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return np.float64(values[b, e]) if e >= 0 else 0.0


@inlined
def points_apart(points, b, u, v):  # type: ignore[no-untyped-def]
    """How far two nodes are apart: coordinates are single numbers, arithmetic is double."""
    one, other = points[b, u], points[b, v]
    x = np.float64(one.real) - np.float64(other.real)
    y = np.float64(one.imag) - np.float64(other.imag)
    return math.sqrt(x * x + y * y)


@inlined
def complete_number(values, n, b, u, v):  # type: ignore[no-untyped-def]
    """As edge_number on a complete undirected graph, where the id of an edge can be computed."""
    if u == v:
        return 0.0
    low, high = min(u, v), max(u, v)
    return np.float64(values[b, low * (2 * n[b] - low - 1) // 2 + high - low - 1])


@inlined
def edge_truth(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return bool(values[b, e]) if e >= 0 else False


@inlined
def edge_category(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    e = edge_id[b, u, v]
    return int(values[b, e]) if e >= 0 else 0


@inlined
def edge_node(values, edge_id, b, u, v):  # type: ignore[no-untyped-def]
    """Off the edges the node that is asked first."""
    e = edge_id[b, u, v]
    return int(values[b, e]) if e >= 0 else int(u)


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


@njit
def fill_ends(slots, ends, directed, n, rowptr, src, adjacency):  # type: ignore[no-untyped-def]
    """Both ends of every edge by its id, -1 behind the last; an undirected edge once."""
    for b in slots:
        if directed:
            count = list_directed(b, ends, n, adjacency)
        else:
            count = list_undirected(b, ends, n, rowptr, src)
        while count < ends.shape[1] and ends[b, count, 0] >= 0:  # what was there before
            ends[b, count, :] = -1
            count += 1


@njit
def list_undirected(b, ends, n, rowptr, src):  # type: ignore[no-untyped-def]
    """Edges from their smaller end; how many there are."""
    count = 0
    for u in range(n[b]):
        for arc in range(rowptr[b, u], rowptr[b, u + 1]):
            if src[b, arc] > u:
                ends[b, count, 0] = u
                ends[b, count, 1] = src[b, arc]
                count += 1
    return count


@njit
def list_directed(b, ends, n, adjacency):  # type: ignore[no-untyped-def]
    """Edges by rows of the matrix, whose empty words are passed over; how many there are."""
    count = 0
    for u in range(n[b]):
        for w in range(adjacency.shape[2]):
            bits, v = adjacency[b, u, w], w * 64
            while bits != np.uint64(0):
                if bits & np.uint64(1):
                    ends[b, count, 0] = u
                    ends[b, count, 1] = v
                    count += 1
                bits >>= np.uint64(1)
                v += 1
    return count
