"""Arrays of a Batch and a list of slots in, rows of a pack filled in place: compiled loops.

Sources of a node are collected as bits, which sorts them and drops duplicates at once.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.edges import joined, points_apart
from gnarl_compiler.support.jit import njit

ONE = np.uint64(1)
NONE = np.uint64(0)


@njit
def count_bits(word):  # type: ignore[no-untyped-def]
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit
def set_bit(bits, row, position):  # type: ignore[no-untyped-def]
    bits[row, position >> 6] |= ONE << np.uint64(position & 63)


@njit
def start_rows(slots, offsets, all_pairs, n, rowptr, src, bits):  # type: ignore[no-untyped-def]
    """Whom each node hears along edges in either direction, and itself, as bits."""
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(n[b]):
            set_bit(bits, first + v, v)
            if all_pairs:
                for u in range(n[b]):
                    set_bit(bits, first + v, u)
            else:
                for arc in range(rowptr[b, v], rowptr[b, v + 1]):
                    u = src[b, arc]
                    set_bit(bits, first + v, u)
                    set_bit(bits, first + u, v)


@njit
def point_rows(slots, offsets, n, pointer, bits):  # type: ignore[no-untyped-def]
    """A node and what it points to hear each other, edge or not."""
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(n[b]):
            u = pointer[b, v]
            set_bit(bits, first + v, u)
            set_bit(bits, first + u, v)


@njit
def count_rows(bits, rowptr):  # type: ignore[no-untyped-def]
    """How many sources come before each node's, from the bits."""
    total = 0
    for v in range(bits.shape[0]):
        rowptr[v] = total
        for w in range(bits.shape[1]):
            total += count_bits(bits[v, w])
    rowptr[bits.shape[0]] = total


@njit
def list_sources(bits, offsets, src, dst, graph):  # type: ignore[no-untyped-def]
    """The set bits as numbers of nodes in the pack, ascending."""
    e = 0
    for g in range(len(offsets) - 1):
        first = offsets[g]
        for v in range(first, offsets[g + 1]):
            graph[v] = g
            for w in range(bits.shape[1]):
                word, base = bits[v, w], first + 64 * w
                while word != NONE:
                    lowest = word & (~word + ONE)
                    src[e] = base + count_bits(lowest - ONE)
                    dst[e] = v
                    e += 1
                    word ^= lowest


# Columns: one call each, compiled once per type of feature. `category` is -1 where the value
# itself is wanted, otherwise the column says whether the value is that category.


@njit
def read(value, category):  # type: ignore[no-untyped-def]
    return np.float32(value) if category < 0 else np.float32(value == category)


@njit
def node_values(slots, offsets, values, category, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            out[first + v] = read(values[b, v], category)


@njit
def node_marks(slots, offsets, marked, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        first, mark = offsets[g], marked[slots[g]]
        for v in range(offsets[g + 1] - first):
            out[first + v] = np.float32(v == mark)


UNKNOWN, UNDER_WAY, ENDLESS = -1, -2, -3


@njit
def count_steps(pointer, steps):  # type: ignore[no-untyped-def]
    """To the node that points to itself, along each node's chain; ENDLESS in a circle."""
    steps[:] = UNKNOWN
    for v in range(len(steps)):
        u, walked = v, 0
        while steps[u] == UNKNOWN:
            steps[u] = UNDER_WAY
            if pointer[u] == u:
                steps[u] = 0
            else:
                u = pointer[u]
                walked += 1
        known = ENDLESS if steps[u] == UNDER_WAY else steps[u]
        u = v
        while steps[u] == UNDER_WAY:
            steps[u] = ENDLESS if known == ENDLESS else known + walked
            walked -= 1
            u = pointer[u]


@njit
def chain_steps(slots, offsets, pointer, out):  # type: ignore[no-untyped-def]
    """Steps to the end of the chain over the most of the graph; 0 in a circle."""
    for g in range(len(slots)):
        first, n = offsets[g], offsets[g + 1] - offsets[g]
        steps = np.empty(n, np.int64)
        count_steps(pointer[slots[g]], steps)
        most = max(np.int64(1), steps.max()) if n else 1
        for v in range(n):
            out[first + v] = np.float32(max(steps[v], 0)) / np.float32(most)


@njit
def chain_endless(slots, offsets, pointer, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        first, n = offsets[g], offsets[g + 1] - offsets[g]
        steps = np.empty(n, np.int64)
        count_steps(pointer[slots[g]], steps)
        for v in range(n):
            out[first + v] = np.float32(steps[v] == ENDLESS)


@njit
def chain_bits(slots, offsets, pointer, marked, out):  # type: ignore[no-untyped-def]
    """The nodes that the chain of a graph's marked node passes through, itself included."""
    for g in range(len(slots)):
        first, n, b = offsets[g], offsets[g + 1] - offsets[g], slots[g]
        out[first : first + n] = np.float32(0)
        u = marked[b]
        while 0 <= u < n and out[first + u] == np.float32(0):
            out[first + u] = np.float32(1)
            u = pointer[b, u]


@njit
def self_bits(src, dst, out):  # type: ignore[no-untyped-def]
    for e in range(len(src)):
        out[e] = np.float32(src[e] == dst[e])


@njit
def edge_bits(slots, offsets, rowptr, src, against, adjacency, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            for e in range(rowptr[first + v], rowptr[first + v + 1]):
                u = src[e] - first
                there = joined(adjacency, b, v, u) if against else joined(adjacency, b, u, v)
                out[e] = np.float32(there)


@njit
def pointer_bits(slots, offsets, rowptr, src, against, pointer, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            for e in range(rowptr[first + v], rowptr[first + v + 1]):
                u = src[e] - first
                there = pointer[b, u] == v if against else pointer[b, v] == u
                out[e] = np.float32(there)


@njit
def distances(slots, offsets, rowptr, src, points, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            for e in range(rowptr[first + v], rowptr[first + v + 1]):
                out[e] = np.float32(points_apart(points, b, src[e] - first, v))


@njit
def edge_values(slots, offsets, rowptr, src, against, values, edge_id, category, out):  # type: ignore[no-untyped-def]
    """A feature by edge id; nothing off the edges."""
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            for e in range(rowptr[first + v], rowptr[first + v + 1]):
                u = src[e] - first
                cell = edge_id[b, v, u] if against else edge_id[b, u, v]
                out[e] = read(values[b, cell], category) if cell >= 0 else np.float32(0)


@njit
def pair_values(slots, offsets, rowptr, src, against, values, category, out):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first = slots[g], offsets[g]
        for v in range(offsets[g + 1] - first):
            for e in range(rowptr[first + v], rowptr[first + v + 1]):
                u = src[e] - first
                value = values[b, v, u] if against else values[b, u, v]
                out[e] = read(value, category)
