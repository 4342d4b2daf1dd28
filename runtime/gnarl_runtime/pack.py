"""A batch and some of its slots go in, one ragged graph that the network reads comes out.

Padding never gets here: what one slot packs to does not depend on the other slots or on the
capacity of the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime import signature as sig
from gnarl_runtime.batch import Batch
from gnarl_runtime.layout import WORD

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
class _Nodes:
    """Every node in use: its slot, its graph's place in the pack, and its index there."""

    slot: Index  # (nodes,)
    graph: Index  # (nodes,)
    node: Index  # (nodes,)


@dataclass(frozen=True, eq=False)
class _Messages:
    """Every message: its slot and its two ends within the slot."""

    slot: Index  # (messages,)
    graph: Index  # (messages,)
    src: Index  # (messages,)
    dst: Index  # (messages,)


def pack(batch: Batch, slots: Sequence[int] | NDArray[np.integer]) -> Packed:
    """The graphs in `slots`, in that order, as the network reads them."""
    chosen = np.asarray(slots, np.int64)  # (G,)
    offsets = np.concatenate([[0], np.cumsum(batch.n[chosen], dtype=np.int64)])
    nodes = _nodes(batch, chosen)
    messages = _messages(batch, chosen, nodes)
    columns = batch.layout.signature
    dst = offsets[messages.graph] + messages.dst
    arriving = np.bincount(dst, minlength=int(offsets[-1]))  # (nodes,)
    return Packed(
        x=_stack([_node_column(batch, c, nodes) for c in columns.node]),
        edge_raw=_stack([_message_column(batch, c, messages) for c in columns.edge]),
        graph_raw=_stack([_graph_column(batch, c, chosen) for c in columns.graph]),
        rowptr=np.concatenate([[0], np.cumsum(arriving, dtype=np.int64)]),
        src=offsets[messages.graph] + messages.src,
        dst=dst,
        graph=nodes.graph,
        offsets=offsets,
        legal=batch.legal[nodes.slot, nodes.node],
    )


def _stack(columns: list[NDArray[Any]]) -> Floats:
    """Columns side by side, as the single precision of the network."""
    stacked = np.empty((len(columns[0]), len(columns)), np.float32)
    for position, column in enumerate(columns):
        stacked[:, position] = column
    return stacked


# Which nodes and messages there are


def _nodes(batch: Batch, slots: Index) -> _Nodes:
    used = np.arange(batch.layout.nodes) < batch.n[slots, None]  # (G, N)
    graph, node = np.nonzero(used)
    return _Nodes(slots[graph], graph, node)


def _messages(batch: Batch, slots: Index, nodes: _Nodes) -> _Messages:
    """Each message once, sorted by graph, destination and source."""
    size = batch.layout.nodes
    ends = list(_ends(batch, slots, nodes))
    keys = np.sort(np.concatenate([(g * size + dst) * size + src for g, dst, src in ends]))
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]
    rows, src = np.divmod(keys[fresh], size)
    graph, dst = np.divmod(rows, size)
    return _Messages(slots[graph], graph, src, dst)


def _ends(batch: Batch, slots: Index, nodes: _Nodes) -> Iterator[tuple[Index, Index, Index]]:
    """(graph, destination, source) of every message, some more than once."""
    columns = batch.layout.signature
    yield nodes.graph, nodes.node, nodes.node
    if columns.all_pairs:
        yield _pairs(batch, slots)
        return
    graph, dst, src = _arcs(batch, slots)
    yield graph, dst, src
    if batch.layout.problem.graph.directed:
        yield graph, src, dst
    for name in columns.pointers:
        target = batch.features[name][nodes.slot, nodes.node].astype(np.int64)
        yield nodes.graph, nodes.node, target
        yield nodes.graph, target, nodes.node


def _arcs(batch: Batch, slots: Index) -> tuple[Index, Index, Index]:
    """(graph, destination, source) of every arc of the current graphs."""
    rowptr = batch.rowptr[slots]  # (G, N + 1)
    rows = np.repeat(np.arange(rowptr[:, 1:].size), np.diff(rowptr).ravel())
    graph, dst = np.divmod(rows, batch.layout.nodes)
    position = np.arange(len(rows)) - (np.cumsum(rowptr[:, -1]) - rowptr[:, -1])[graph]
    return graph, dst, batch.src[slots[graph], position].astype(np.int64)


def _pairs(batch: Batch, slots: Index) -> tuple[Index, Index, Index]:
    used = np.arange(batch.layout.nodes) < batch.n[slots, None]  # (G, N)
    graph, dst, src = np.nonzero(used[:, :, None] & used[:, None, :])
    return graph, dst, src


# What they carry


def _node_column(batch: Batch, column: sig.NodeColumn, at: _Nodes) -> NDArray[Any]:
    match column:
        case sig.ValueColumn():
            return _value(column, batch.features[column.feature][at.slot, at.node])
        case sig.MarkColumn():
            return _same(batch.features[column.feature][at.slot], at.node)
        case sig.LastColumn():
            return _same(batch.last[at.slot, column.phase], at.node)
        case _:
            assert_never(column)


def _graph_column(batch: Batch, column: sig.GraphColumn, slots: Index) -> NDArray[Any]:
    match column:
        case sig.ValueColumn():
            return _value(column, batch.features[column.feature][slots])
        case sig.PhaseColumn():
            return _same(batch.phase[slots], column.phase)
        case _:
            assert_never(column)


def _message_column(batch: Batch, column: sig.MessageColumn, at: _Messages) -> NDArray[Any]:
    match column:
        case sig.SelfColumn():
            return _same(at.src, at.dst)
        case sig.EdgeColumn(against=against):
            return _has_edge(batch, at.slot, *_oriented(at, against))
        case sig.PointerColumn(against=against):
            start, end = _oriented(at, against)
            return _same(batch.features[column.feature][at.slot, end], start)
        case sig.ValueColumn(against=against):
            return _pair_value(batch, column, at.slot, *_oriented(at, against))
        case _:
            assert_never(column)


def _oriented(at: _Messages, against: bool) -> tuple[Index, Index]:
    return (at.dst, at.src) if against else (at.src, at.dst)


def _has_edge(batch: Batch, slot: Index, u: Index, v: Index) -> NDArray[np.bool_]:
    words = batch.adjacency[slot, u, v // WORD]
    return _same((words >> (v % WORD).astype(np.uint64)) & np.uint64(1), 1)


def _pair_value(
    batch: Batch, column: sig.ValueColumn, slot: Index, u: Index, v: Index
) -> NDArray[Any]:
    """An edge or pair feature at (u, v); an edge feature carries nothing off the edges."""
    values = batch.features[column.feature]
    if values.ndim == 3:
        return _value(column, values[slot, u, v])
    if not values.shape[1]:
        return np.zeros(len(slot))
    ids = batch.edge_id[slot, u, v]
    return np.where(ids >= 0, _value(column, values[slot, ids]), 0)


def _value(column: sig.ValueColumn, values: NDArray[Any]) -> NDArray[Any]:
    return values if column.category is None else _same(values, column.category)


def _same(left: NDArray[Any], right: NDArray[Any] | int) -> NDArray[np.bool_]:
    return np.asarray(left == right)
