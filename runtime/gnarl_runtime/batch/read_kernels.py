"""Numbers of a Batch and some of its slots in, the numbers that a network reads out: loops.

The cells of a feature in a slot are `rows` times `columns` of them, `stride` apart.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import njit


@njit
def note_changes(slots, rows, columns, stride, values, seen, stale):  # type: ignore[no-untyped-def]
    """Whether the cells of a slot are other ones than were seen there; they are seen now."""
    for k in range(len(slots)):
        b = slots[k]
        for i in range(rows[k]):
            for cell in range(i * stride, i * stride + columns[k]):
                if values[b, cell] != seen[b, cell]:
                    stale[k] = True
                    seen[b, cell] = values[b, cell]


@njit
def add_sizes(slots, rows, columns, stride, values, total, count):  # type: ignore[no-untyped-def]
    """The sum of absolute values, and how many are not 0."""
    for k in range(len(slots)):
        b = slots[k]
        for i in range(rows[k]):
            for cell in range(i * stride, i * stride + columns[k]):
                size = abs(np.float64(values[b, cell]))
                if size > 0.0:
                    total[k] += size
                    count[k] += 1


@njit
def add_spread(slots, nodes, points, total, count):  # type: ignore[no-untyped-def]
    """How far points are from their middle, which is where it is however they are numbered."""
    for k in range(len(slots)):
        b, n = slots[k], nodes[k]
        x = y = 0.0
        for v in range(n):
            x += np.float64(points[b, v].real) / n
            y += np.float64(points[b, v].imag) / n
        for v in range(n):
            size = np.hypot(np.float64(points[b, v].real) - x, np.float64(points[b, v].imag) - y)
            if size > 0.0:
                total[k] += size
                count[k] += 1


@njit
def scale_values(slots, rows, columns, stride, values, factor, out):  # type: ignore[no-untyped-def]
    """Values times the factor of their slot."""
    for k in range(len(slots)):
        b = slots[k]
        for i in range(rows[k]):
            for cell in range(i * stride, i * stride + columns[k]):
                out[b, cell] = np.float32(np.float64(values[b, cell]) * factor[b])


@njit
def rank_values(slots, rows, columns, stride, values, table, codes, length, out):  # type: ignore[no-untyped-def]
    """The code of each value in the table of its slot; halfway where it lies between two."""
    for k in range(len(slots)):
        b = slots[k]
        last = length[b] - 1
        for i in range(rows[k]):
            for cell in range(i * stride, i * stride + columns[k]):
                value = np.float64(values[b, cell])
                low, high = 0, last  # the first entry that is not below the value
                while low < high:
                    middle = (low + high) >> 1
                    if table[b, middle] < value:
                        low = middle + 1
                    else:
                        high = middle
                code = codes[b, low]
                if low > 0 and table[b, low] > value:
                    code = (code + codes[b, low - 1]) * np.float32(0.5)
                out[b, cell] = code
