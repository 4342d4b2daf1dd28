"""A batch and some of its slots go in, one ragged graph that the network reads comes out.

Padding never gets here: what one slot packs to does not depend on the other slots or on the
capacity of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.batch import pack_kernels as kernels
from gnarl_runtime.batch import signature as sig
from gnarl_runtime.batch.batch import Batch

Floats = NDArray[np.float32]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Packed:
    """G graphs side by side: nodes numbered through, messages sorted by destination, source."""

    x: Floats  # (nodes, F) columns of Signature.node
    edge_raw: Floats  # (messages, K) columns of Signature.edge
    graph_raw: Floats  # (G, H) columns of Signature.graph
    rowptr: Index  # (nodes + 1,) messages into node v are rowptr[v] .. rowptr[v + 1] - 1
    src: Index  # (messages,)
    dst: Index  # (messages,)
    graph: Index  # (nodes,) which graph a node is in
    offsets: Index  # (G + 1,) nodes of graph g are offsets[g] .. offsets[g + 1] - 1
    legal: NDArray[np.bool_]  # (nodes,) which nodes may be picked now

    @property
    def graphs(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class _Rows:
    """Where the nodes and messages of the pack are, in the batch and in the pack."""

    slots: Index  # (G,)
    offsets: Index  # (G + 1,)
    rowptr: Index  # (nodes + 1,)
    src: Index  # (messages,)
    dst: Index  # (messages,)
    graph: Index  # (nodes,)


def pack(batch: Batch, slots: Sequence[int] | NDArray[np.integer]) -> Packed:
    """The graphs in `slots`, in that order, as the network reads them."""
    chosen = np.asarray(slots, np.int64)  # (G,)
    rows = _rows(batch, chosen)
    columns = batch.layout.signature
    legal = np.empty(len(rows.graph), np.bool_)
    kernels.node_values(chosen, rows.offsets, batch.legal, -1, legal)
    return Packed(
        x=_node_columns(batch, columns.node, rows),
        edge_raw=_message_columns(batch, columns.edge, rows),
        graph_raw=_graph_columns(batch, columns.graph, chosen),
        rowptr=rows.rowptr,
        src=rows.src,
        dst=rows.dst,
        graph=rows.graph,
        offsets=rows.offsets,
        legal=legal,
    )


def _rows(batch: Batch, slots: Index) -> _Rows:
    """Which nodes and messages there are: each message once, sorted."""
    offsets = np.zeros(len(slots) + 1, np.int64)
    np.cumsum(batch.n[slots], out=offsets[1:])
    nodes, columns = int(offsets[-1]), batch.layout.signature
    bits = np.zeros((nodes, batch.layout.words), np.uint64)
    kernels.start_rows(slots, offsets, columns.all_pairs, batch.n, batch.rowptr, batch.src, bits)
    for name in columns.pointers:
        kernels.point_rows(slots, offsets, batch.n, batch.features[name], bits)
    rowptr, graph = np.empty(nodes + 1, np.int64), np.empty(nodes, np.int64)
    kernels.count_rows(bits, rowptr)
    src, dst = np.empty(int(rowptr[-1]), np.int64), np.empty(int(rowptr[-1]), np.int64)
    kernels.list_sources(bits, offsets, src, dst, graph)
    return _Rows(slots, offsets, rowptr, src, dst, graph)


def _graph_columns(batch: Batch, columns: tuple[sig.GraphColumn, ...], slots: Index) -> Floats:
    out = np.empty((len(slots), len(columns)), np.float32)
    for position, column in enumerate(columns):
        match column:
            case sig.ValueColumn():
                values: NDArray[Any] = batch.features[column.feature][slots]
                category = column.category
                out[:, position] = values if category is None else values == category
            case sig.PhaseColumn():
                out[:, position] = batch.phase[slots] == column.phase
            case _:
                assert_never(column)
    return out


def _node_columns(batch: Batch, columns: tuple[sig.NodeColumn, ...], rows: _Rows) -> Floats:
    table = np.empty((len(rows.graph), len(columns)), np.float32)
    for position, column in enumerate(columns):
        where, out = (rows.slots, rows.offsets), table[:, position]
        match column:
            case sig.ValueColumn():
                kernels.node_values(*where, batch.features[column.feature], _category(column), out)
            case sig.MarkColumn():
                kernels.node_marks(*where, batch.features[column.feature], out)
            case sig.LastColumn():
                kernels.node_marks(*where, batch.last[:, column.phase], out)
            case _:
                assert_never(column)
    return table


def _message_columns(batch: Batch, columns: tuple[sig.MessageColumn, ...], rows: _Rows) -> Floats:
    table = np.empty((len(rows.src), len(columns)), np.float32)
    for position, column in enumerate(columns):
        where, out = (rows.slots, rows.offsets, rows.rowptr, rows.src), table[:, position]
        match column:
            case sig.SelfColumn():
                kernels.self_bits(rows.src, rows.dst, out)
            case sig.EdgeColumn(against=against):
                kernels.edge_bits(*where, against, batch.adjacency, out)
            case sig.PointerColumn(against=against):
                kernels.pointer_bits(*where, against, batch.features[column.feature], out)
            case sig.DistanceColumn():
                kernels.distances(*where, batch.features[column.feature], out)
            case sig.ValueColumn():
                _pair_column(batch, column, where, out)
            case _:
                assert_never(column)
    return table


def _pair_column(
    batch: Batch, column: sig.ValueColumn, where: tuple[Index, Index, Index, Index], out: Floats
) -> None:
    """An edge or pair feature along each message."""
    values, category = batch.features[column.feature], _category(column)
    if values.ndim == 3:
        kernels.pair_values(*where, column.against, values, category, out)
    else:
        kernels.edge_values(*where, column.against, values, batch.edge_id, category, out)


def _category(column: sig.ValueColumn) -> int:
    return -1 if column.category is None else column.category
