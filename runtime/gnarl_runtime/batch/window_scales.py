"""Columns of a pack in, the same in multiples of what each window shows out.

A larger graph has numbers that are more multiples than any in training, and how many more matters
little: r multiples are read as r / (1 + r / FAR), below FAR and in the same order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.support.jit import njit
from gnarl_runtime.batch import signature as sig
from gnarl_runtime.batch.packed import Packed
from gnarl_runtime.batch.reading import UnitInputs
from gnarl_runtime.batch.signature import Signature

FAR = 8.0


def read_in_windows(packed: Packed, signature: Signature) -> None:
    """Change the columns of `signature` in place, graph by graph."""
    reading = signature.reading
    if not reading.shown:
        return
    sides = (
        (signature.node, packed.x, packed.graph),
        (signature.edge, packed.edge_raw, packed.graph[packed.dst]),
        (signature.graph, packed.graph_raw, np.arange(packed.graphs)),
    )
    scales = {unit.name: _scale(packed, signature, unit) for unit in reading.shown_units}
    for rule in reading.shown:
        for columns, table, graph in sides:
            for column in _columns_of(columns, (rule.feature,)):
                for name, power in rule.powers:
                    measure(table, column, graph, scales[name], power)
                press(table, column, FAR)


def _scale(packed: Packed, signature: Signature, unit: UnitInputs) -> NDArray[np.float64]:
    """The median size of the unit's inputs in each window, leaving out zeros."""  # (graphs,)
    scale = np.ones(packed.graphs)
    nodes, messages = (_columns_of(own, unit.inputs) for own in (signature.node, signature.edge))
    middle_sizes(packed.offsets, packed.rowptr, packed.x, nodes, packed.edge_raw, messages, scale)
    return scale


def _columns_of(
    columns: tuple[sig.NodeColumn | sig.MessageColumn | sig.GraphColumn, ...],
    features: tuple[str, ...],
) -> NDArray[np.int64]:
    """Where the numbers of some features are."""
    return np.array(
        [
            position
            for position, column in enumerate(columns)
            if isinstance(column, sig.ValueColumn | sig.DistanceColumn)
            and column.feature in features
        ],
        np.int64,
    )


@njit
def middle_sizes(offsets, rowptr, x, nodes, edge_raw, messages, scale):  # type: ignore[no-untyped-def]
    """One of the sizes that are there, the middle one, so that factors of two change no bit."""
    for g in range(len(offsets) - 1):
        first, last = offsets[g], offsets[g + 1]
        start, end = rowptr[first], rowptr[last]
        sizes = np.empty((last - first) * len(nodes) + (end - start) * len(messages))
        count = 0
        for column in nodes:
            for row in range(first, last):
                if x[row, column] != 0:
                    sizes[count] = abs(x[row, column])
                    count += 1
        for column in messages:
            for e in range(start, end):
                if edge_raw[e, column] != 0:
                    sizes[count] = abs(edge_raw[e, column])
                    count += 1
        scale[g] = np.sort(sizes[:count])[count // 2] if count else 1.0


@njit
def measure(table, column, graph, scale, power):  # type: ignore[no-untyped-def]
    """Divide by the scale, `power` times."""
    for row in range(len(table)):
        value = np.float64(table[row, column])
        for _ in range(abs(power)):
            value = value / scale[graph[row]] if power > 0 else value * scale[graph[row]]
        table[row, column] = np.float32(value)


@njit
def press(table, column, far):  # type: ignore[no-untyped-def]
    """What is far from 0 comes closer, to `far` at most."""
    for row in range(len(table)):
        value = np.float64(table[row, column])
        table[row, column] = np.float32(value / (1.0 + abs(value) / far))
