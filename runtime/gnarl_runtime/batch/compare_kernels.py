"""Numbers of a Batch along the messages of a pack in, sums and comparisons out: loops.

Rows are nodes of the pack: `slot` and `node` say where each comes from, `src` and `dst` are rows.
"""

from __future__ import annotations

import math

import numpy as np

from gnarl_compiler.support.jit import njit


@njit
def add_ends(slot, node, ends, values, total):  # type: ignore[no-untyped-def]
    """Add what the node at one end of each message has."""
    for e in range(len(ends)):
        total[e] += np.float64(values[slot[ends[e]], node[ends[e]]])


@njit
def add_edges(slot, node, tails, heads, values, edge_id, total):  # type: ignore[no-untyped-def]
    """Add what the edge from tail to head has; off the edges there is no number."""
    for e in range(len(tails)):
        b = slot[tails[e]]
        cell = edge_id[b, node[tails[e]], node[heads[e]]]
        total[e] += np.float64(values[b, cell]) if cell >= 0 else np.nan


@njit
def add_pairs(slot, node, tails, heads, values, total):  # type: ignore[no-untyped-def]
    for e in range(len(tails)):
        total[e] += np.float64(values[slot[tails[e]], node[tails[e]], node[heads[e]]])


@njit
def compare(left, right, close, out):  # type: ignore[no-untyped-def]
    """-1, 0 or 1; 0 as well where there is no number."""
    for e in range(len(out)):
        one, other = left[e], right[e]
        gap = abs(one - other)  # infinite if one of them is
        if (gap <= close * max(abs(one), abs(other))) & (gap < math.inf):
            out[e] = 0
        else:
            out[e] = np.float32(one > other) - np.float32(one < other)
