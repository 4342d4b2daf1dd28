"""Pointers of edges or pairs and rows of a pack in, what messages tell of them out: loops.

A table has, for every two rows of a graph, the row that the pointer between them names, or -1:
there is no edge, or the network does not read that node. All costs what the table costs.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import njit


@njit
def gather_pairs(slots, offsets, nodes, starts, place, values, table):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first, k = slots[g], offsets[g], offsets[g + 1] - offsets[g]
        place[:] = -1
        for i in range(k):
            place[nodes[first + i]] = i
        for i in range(k):
            for j in range(k):
                to = values[b, nodes[first + i], nodes[first + j]]
                table[starts[g] + i * k + j] = place[to]


@njit
def gather_edges(slots, offsets, nodes, starts, place, edge_id, values, table):  # type: ignore[no-untyped-def]
    for g in range(len(slots)):
        b, first, k = slots[g], offsets[g], offsets[g + 1] - offsets[g]
        place[:] = -1
        for i in range(k):
            place[nodes[first + i]] = i
        for i in range(k):
            for j in range(k):
                cell = edge_id[b, nodes[first + i], nodes[first + j]]
                table[starts[g] + i * k + j] = place[values[b, cell]] if cell >= 0 else -1


@njit
def end_bits(offsets, rowptr, src, starts, table, of_source, against, out):  # type: ignore[no-untyped-def]
    """Whether the pointer along a message names the message's source, or its destination."""
    for g in range(len(offsets) - 1):
        first, k = offsets[g], offsets[g + 1] - offsets[g]
        for j in range(k):
            for e in range(rowptr[first + j], rowptr[first + j + 1]):
                i = src[e] - first
                at = j * k + i if against else i * k + j
                out[e] = np.float32(table[starts[g] + at] == (i if of_source else j))


@njit
def shares(offsets, rowptr, src, starts, table, by_row, against, counts, out):  # type: ignore[no-untyped-def]
    """In how many of the pointers into a node (or, by row, out of it) another one is named."""
    for g in range(len(offsets) - 1):
        first, k = offsets[g], offsets[g + 1] - offsets[g]
        counts[: k * k] = 0
        for i in range(k):
            for j in range(k):
                to = table[starts[g] + i * k + j]
                if to >= 0:
                    counts[to * k + (i if by_row else j)] += 1
        for j in range(k):
            for e in range(rowptr[first + j], rowptr[first + j + 1]):
                i = src[e] - first
                at = j * k + i if against else i * k + j
                out[e] = np.float32(counts[at]) / np.float32(k)


@njit
def find_marks(slots, offsets, nodes, marked, rows):  # type: ignore[no-untyped-def]
    """The row of each graph's marked node, -1 where there is none."""
    for g in range(len(slots)):
        rows[g] = -1
        for row in range(offsets[g], offsets[g + 1]):
            if nodes[row] == marked[slots[g]]:
                rows[g] = row - offsets[g]


@njit
def lifted_bits(offsets, rowptr, src, starts, table, marks, by_row, against, out):  # type: ignore[no-untyped-def]
    """The pointers of one row, or of one column, as if they were pointers of nodes."""
    for g in range(len(offsets) - 1):
        first, k, mark = offsets[g], offsets[g + 1] - offsets[g], marks[g]
        for j in range(k):
            for e in range(rowptr[first + j], rowptr[first + j + 1]):
                i = src[e] - first
                at, to = (i, j) if against else (j, i)
                cell = mark * k + at if by_row else at * k + mark
                out[e] = np.float32(mark >= 0 and table[starts[g] + cell] == to)
