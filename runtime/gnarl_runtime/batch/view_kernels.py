"""Arrays of a Batch and a list of slots in, rows of a pack of windows out: compiled loops.

The functions that fill columns are those of `pack_kernels`, for rows that are some nodes of a
graph: `slot` and `node` say of each row where it comes from, messages are given by their rows.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.edges import joined, points_apart
from gnarl_compiler.support.jit import njit
from gnarl_runtime.batch.pack_kernels import NONE, ONE, count_bits, read, self_bits, set_bit

__all__ = [
    "add_sources",
    "count_nodes",
    "edge_bits",
    "edge_values",
    "list_nodes",
    "list_sources",
    "node_marks",
    "node_values",
    "pair_values",
    "point_rows",
    "pointer_bits",
    "self_bits",
    "start_all",
    "start_rows",
]


@njit
def shows(window, b, v):  # type: ignore[no-untyped-def]
    """Without a window all nodes are shown."""
    return window.shape[1] == 0 or window[b, v]


@njit
def has_bit(bits, row, position):  # type: ignore[no-untyped-def]
    return (bits[row, position >> 6] >> np.uint64(position & 63)) & ONE != NONE


@njit
def count_nodes(slots, n, window, offsets):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, count = slots[g], 0
        for v in range(n[b]):
            count += shows(window, b, v)
        offsets[g + 1] = offsets[g] + count


@njit
def list_nodes(slots, n, window, offsets, slot, node, graph, shown, place):  # type: ignore[no-untyped-def]
    """The nodes of each window, ascending; also as bits, and where in the window each is."""
    for g in range(len(slots)):
        b, row = slots[g], offsets[g]
        for v in range(n[b]):
            if shows(window, b, v):
                slot[row], node[row], graph[row] = b, v, g
                set_bit(shown, g, v)
                place[g, v] = row - offsets[g]
                row += 1


@njit
def start_rows(slot, node, graph, shown, joins, bits):  # type: ignore[no-untyped-def]
    """Whom each node hears by the bits of its own row, and itself."""
    for row in range(len(node)):
        for w in range(bits.shape[1]):
            bits[row, w] = joins[slot[row], node[row], w] & shown[graph[row], w]
        set_bit(bits, row, node[row])


@njit
def start_all(graph, shown, bits):  # type: ignore[no-untyped-def]
    for row in range(len(graph)):
        for w in range(bits.shape[1]):
            bits[row, w] = shown[graph[row], w]


@njit
def add_sources(slot, node, graph, shown, rowptr, src, bits):  # type: ignore[no-untyped-def]
    """A directed edge is heard at both ends."""
    for row in range(len(node)):
        b, v = slot[row], node[row]
        for arc in range(rowptr[b, v], rowptr[b, v + 1]):
            if has_bit(shown, graph[row], src[b, arc]):
                set_bit(bits, row, src[b, arc])


@njit
def point_rows(slots, offsets, node, shown, place, pointer, bits):  # type: ignore[no-untyped-def]
    """A node and what it points to hear each other, if the window shows both."""
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for row in range(first, offsets[g + 1]):
            u = pointer[b, node[row]]
            if has_bit(shown, g, u):
                set_bit(bits, row, u)
                set_bit(bits, first + place[g, u], node[row])


@njit
def list_sources(bits, offsets, place, src, dst):  # type: ignore[no-untyped-def]
    """The set bits as numbers of rows in the pack, ascending."""
    e = 0
    for g in range(len(offsets) - 1):
        first = offsets[g]
        for row in range(first, offsets[g + 1]):
            for w in range(bits.shape[1]):
                word, base = bits[row, w], 64 * w
                while word != NONE:
                    lowest = word & (~word + ONE)
                    src[e] = first + place[g, base + count_bits(lowest - ONE)]
                    dst[e] = row
                    e += 1
                    word ^= lowest


# Columns: see pack_kernels.


@njit
def node_values(slot, node, values, category, out):  # type: ignore[no-untyped-def]
    for row in range(len(node)):
        out[row] = read(values[slot[row], node[row]], category)


@njit
def node_marks(slot, node, marked, out):  # type: ignore[no-untyped-def]
    for row in range(len(node)):
        out[row] = np.float32(node[row] == marked[slot[row]])


@njit
def edge_bits(slot, node, src, dst, against, adjacency, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        b, u, v = slot[dst[e]], node[src[e]], node[dst[e]]
        there = joined(adjacency, b, v, u) if against else joined(adjacency, b, u, v)
        out[e] = np.float32(there)


@njit
def pointer_bits(slot, node, src, dst, against, pointer, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        b, u, v = slot[dst[e]], node[src[e]], node[dst[e]]
        out[e] = np.float32(pointer[b, u] == v if against else pointer[b, v] == u)


@njit
def distances(slot, node, src, dst, points, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        out[e] = np.float32(points_apart(points, slot[dst[e]], node[src[e]], node[dst[e]]))


@njit
def edge_values(slot, node, src, dst, against, values, edge_id, category, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        b, u, v = slot[dst[e]], node[src[e]], node[dst[e]]
        cell = edge_id[b, v, u] if against else edge_id[b, u, v]
        out[e] = read(values[b, cell], category) if cell >= 0 else np.float32(0)


@njit
def pair_values(slot, node, src, dst, against, values, category, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        b, u, v = slot[dst[e]], node[src[e]], node[dst[e]]
        out[e] = read(values[b, v, u] if against else values[b, u, v], category)
