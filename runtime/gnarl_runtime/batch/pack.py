"""A batch and some of its slots go in, one ragged graph that the network reads comes out.

Padding never gets here: what one slot packs to does not depend on the other slots or on the
capacity of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.batch import compare_kernels, view_kernels
from gnarl_runtime.batch import pack_kernels as whole_kernels
from gnarl_runtime.batch import signature as sig
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.between import pointer_kernels
from gnarl_runtime.batch.comparable import ComparedColumn, EndTerm, Term, WayTerm
from gnarl_runtime.batch.packed import Floats, Index, Packed
from gnarl_runtime.batch.read_tables import DrawnRanks, features_read
from gnarl_runtime.batch.window_scales import read_in_windows

Features = Mapping[str, NDArray[Any]]

__all__ = ["Packed", "pack"]


@dataclass(frozen=True, eq=False)
class View:
    """The nodes of windows, graph by graph."""

    slot: Index  # (nodes,) in which slot
    node: Index  # (nodes,) which node of its instance


@dataclass(frozen=True, eq=False)
class _Rows:
    """Where the nodes and messages of the pack are, in the batch and in the pack."""

    slots: Index  # (G,)
    offsets: Index  # (G + 1,)
    rowptr: Index  # (nodes + 1,)
    src: Index  # (messages,)
    dst: Index  # (messages,)
    graph: Index  # (nodes,)
    view: View | None = None  # where the network reads a part of each graph

    @property
    def kernels(self) -> ModuleType:
        """The loops that fill the columns of these rows."""
        return whole_kernels if self.view is None else view_kernels

    @property
    def nodes_at(self) -> tuple[Index, ...]:
        """What those need to find the nodes."""
        return (self.slots, self.offsets) if self.view is None else (self.view.slot, self.view.node)

    @property
    def places(self) -> tuple[Index, Index]:
        """Of every row its slot, and which node of its instance it is."""
        if self.view is not None:
            return self.view.slot, self.view.node
        return self.slots[self.graph], np.arange(len(self.graph)) - self.offsets[self.graph]

    @property
    def messages_at(self) -> tuple[Index, ...]:
        """What those need to find the ends of the messages."""
        own = (self.rowptr, self.src) if self.view is None else (self.src, self.dst)
        return (*self.nodes_at, *own)


def pack(
    batch: Batch,
    slots: Sequence[int] | NDArray[np.integer],
    signature: sig.Signature | None = None,
    drawn: DrawnRanks | None = None,
) -> Packed:
    """The graphs in `slots`, in that order, as a network reads them: that of `signature`."""
    chosen = np.asarray(slots, np.int64)  # (G,)
    rows = _rows(batch, chosen)
    columns = signature or batch.layout.signature
    features = features_read(batch, chosen, columns.reading, drawn)
    legal, may_stop = np.empty(len(rows.graph), np.bool_), batch.layout.problem.may_stop
    rows.kernels.node_values(*rows.nodes_at, batch.legal, -1, legal)
    packed = Packed(
        x=_node_columns(batch, features, columns.node, rows),
        edge_raw=_message_columns(batch, features, columns.edge, rows),
        graph_raw=_graph_columns(batch, features, columns.graph, chosen),
        rowptr=rows.rowptr,
        src=rows.src,
        dst=rows.dst,
        graph=rows.graph,
        offsets=rows.offsets,
        legal=legal,
        node=None if rows.view is None else rows.view.node,
        stop=batch.legal[chosen, -1] if may_stop else None,
        capacity=batch.layout.nodes if may_stop else 0,
    )
    read_in_windows(packed, columns)
    return packed


def _rows(batch: Batch, slots: Index) -> _Rows:
    """Which nodes and messages there are: each message once, sorted."""
    if batch.layout.problem.windows or batch.layout.problem.messages:
        return _viewed_rows(batch, slots)
    offsets = np.zeros(len(slots) + 1, np.int64)
    np.cumsum(batch.n[slots], out=offsets[1:])
    nodes, columns = int(offsets[-1]), batch.layout.signature
    bits = np.zeros((nodes, batch.layout.words), np.uint64)
    whole_kernels.start_rows(
        slots, offsets, columns.all_pairs, batch.n, batch.rowptr, batch.src, bits
    )
    for name in columns.pointers:
        whole_kernels.point_rows(slots, offsets, batch.n, batch.features[name], bits)
    rowptr, graph = np.empty(nodes + 1, np.int64), np.empty(nodes, np.int64)
    whole_kernels.count_rows(bits, rowptr)
    src, dst = np.empty(int(rowptr[-1]), np.int64), np.empty(int(rowptr[-1]), np.int64)
    whole_kernels.list_sources(bits, offsets, src, dst, graph)
    return _Rows(slots, offsets, rowptr, src, dst, graph)


def _viewed_rows(batch: Batch, slots: Index) -> _Rows:
    """The nodes of the windows, then what these hear: nothing costs what the graphs cost."""
    offsets = np.zeros(len(slots) + 1, np.int64)
    view_kernels.count_nodes(slots, batch.n, batch.window, offsets)
    nodes, columns = int(offsets[-1]), batch.layout.signature
    view = View(np.empty(nodes, np.int64), np.empty(nodes, np.int64))
    graph = np.empty(nodes, np.int64)
    shown = np.zeros((len(slots), batch.layout.words), np.uint64)
    place = np.empty((len(slots), batch.layout.nodes), np.int32)
    view_kernels.list_nodes(
        slots, batch.n, batch.window, offsets, view.slot, view.node, graph, shown, place
    )
    bits = np.zeros((nodes, batch.layout.words), np.uint64)
    if batch.layout.problem.messages:
        view_kernels.start_rows(view.slot, view.node, graph, shown, batch.heard, bits)
    elif columns.all_pairs:
        view_kernels.start_all(graph, shown, bits)
    else:
        view_kernels.start_rows(view.slot, view.node, graph, shown, batch.adjacency, bits)
        if columns.directed:
            arcs = batch.rowptr, batch.src
            view_kernels.add_sources(view.slot, view.node, graph, shown, *arcs, bits)
    for name in columns.pointers:
        pointer = batch.features[name]
        view_kernels.point_rows(slots, offsets, view.node, shown, place, pointer, bits)
    rowptr = np.empty(nodes + 1, np.int64)
    whole_kernels.count_rows(bits, rowptr)
    src, dst = np.empty(int(rowptr[-1]), np.int64), np.empty(int(rowptr[-1]), np.int64)
    view_kernels.list_sources(bits, offsets, place, src, dst)
    return _Rows(slots, offsets, rowptr, src, dst, graph, view)


def _graph_columns(
    batch: Batch, features: Features, columns: tuple[sig.GraphColumn, ...], slots: Index
) -> Floats:
    out = np.empty((len(slots), len(columns)), np.float32)
    for position, column in enumerate(columns):
        match column:
            case sig.ValueColumn():
                values: NDArray[Any] = features[column.feature][slots]
                category = column.category
                out[:, position] = values if category is None else values == category
            case sig.PhaseColumn():
                out[:, position] = batch.phase[slots] == column.phase
            case sig.PickedColumn():
                out[:, position] = batch.picked[slots, column.phase]
            case _:
                assert_never(column)
    return out


def _node_columns(
    batch: Batch, features: Features, columns: tuple[sig.NodeColumn, ...], rows: _Rows
) -> Floats:
    table = np.empty((len(rows.graph), len(columns)), np.float32)
    for position, column in enumerate(columns):
        where, out, kernels = rows.nodes_at, table[:, position], rows.kernels
        match column:
            case sig.ValueColumn():
                kernels.node_values(*where, features[column.feature], _category(column), out)
            case sig.MarkColumn():
                kernels.node_marks(*where, batch.features[column.feature], out)
            case sig.LastColumn():
                kernels.node_marks(*where, batch.last[:, column.phase], out)
            case sig.StepsColumn() | sig.EndlessColumn() | sig.ChainColumn():
                _chain_column(batch, column, rows, out)
            case _:
                assert_never(column)
    return table


def _chain_column(
    batch: Batch,
    column: sig.StepsColumn | sig.EndlessColumn | sig.ChainColumn,
    rows: _Rows,
    out: NDArray[np.float32],
) -> None:
    """Chains run through all of a graph, whichever part of it the network reads."""
    pointer, offsets, found = batch.features[column.feature], rows.offsets, out
    if rows.view is not None:
        offsets = np.zeros(len(rows.slots) + 1, np.int64)
        np.cumsum(batch.n[rows.slots], out=offsets[1:])
        found = np.empty(offsets[-1], np.float32)
    match column:
        case sig.StepsColumn():
            whole_kernels.chain_steps(rows.slots, offsets, pointer, found)
        case sig.EndlessColumn():
            whole_kernels.chain_endless(rows.slots, offsets, pointer, found)
        case sig.ChainColumn(start=start):
            marked = _marked(batch, start)
            whole_kernels.chain_bits(rows.slots, offsets, pointer, marked, found)
        case _:
            assert_never(column)
    if rows.view is not None:
        out[:] = found[offsets[rows.graph] + rows.view.node]


def _marked(batch: Batch, mark: sig.MarkColumn | sig.LastColumn) -> NDArray[np.integer]:
    """The marked node of every slot, -1 if there is none."""  # (B,)
    match mark:
        case sig.MarkColumn():
            return batch.features[mark.feature]
        case sig.LastColumn():
            return batch.last[:, mark.phase]
        case _:
            assert_never(mark)


def _message_columns(
    batch: Batch, features: Features, columns: tuple[sig.MessageColumn, ...], rows: _Rows
) -> Floats:
    table = np.empty((len(rows.src), len(columns)), np.float32)
    between: dict[str, _Between] = {}
    for position, column in enumerate(columns):
        where, out, kernels = rows.messages_at, table[:, position], rows.kernels
        match column:
            case sig.SelfColumn():
                kernels.self_bits(rows.src, rows.dst, out)
            case sig.EdgeColumn(against=against):
                kernels.edge_bits(*where, against, batch.adjacency, out)
            case sig.PointerColumn(against=against):
                kernels.pointer_bits(*where, against, batch.features[column.feature], out)
            case sig.EndColumn() | sig.ShareColumn() | sig.LiftedColumn():
                if column.feature not in between:
                    between[column.feature] = _between(batch, column.feature, rows)
                _between_column(batch, column, between[column.feature], rows, out)
            case sig.DistanceColumn():
                kernels.distances(*where, features[column.feature], out)
            case sig.ValueColumn():
                _pair_column(batch, features[column.feature], column, rows, out)
            case ComparedColumn(left=left, right=right, close=close):
                sums = (_sum(batch, terms, rows) for terms in (left, (right,)))
                compare_kernels.compare(*sums, close, out)
            case _:
                assert_never(column)
    return table


@dataclass(frozen=True, eq=False)
class _Between:
    """Pointers of edges or pairs, by rows of the pack: see pointer_kernels."""

    nodes: Index  # (nodes,) which node of its instance each row is
    starts: Index  # (G,) where the table of each graph begins
    table: NDArray[np.int32]


def _between(batch: Batch, name: str, rows: _Rows) -> _Between:
    sizes = np.diff(rows.offsets) ** 2
    starts = np.cumsum(sizes) - sizes
    nodes = np.arange(len(rows.graph)) - rows.offsets[rows.graph]
    if rows.view is not None:
        nodes = rows.view.node
    table = np.empty(int(sizes.sum()), np.int32)
    place = np.empty(batch.layout.nodes, np.int32)
    where, values = (rows.slots, rows.offsets, nodes, starts, place), batch.features[name]
    if values.ndim == 3:
        pointer_kernels.gather_pairs(*where, values, table)
    else:
        pointer_kernels.gather_edges(*where, batch.edge_id, values, table)
    return _Between(nodes, starts, table)


def _between_column(
    batch: Batch, column: sig.BetweenColumn, known: _Between, rows: _Rows, out: Floats
) -> None:
    where = (rows.offsets, rows.rowptr, rows.src, known.starts, known.table)
    match column:
        case sig.EndColumn(of_source=of_source, against=against):
            pointer_kernels.end_bits(*where, of_source, against, out)
        case sig.ShareColumn(by_row=by_row, against=against):
            counts = np.empty(int(np.diff(rows.offsets).max(initial=0)) ** 2, np.int32)
            pointer_kernels.shares(*where, by_row, against, counts, out)
        case sig.LiftedColumn(start=start, by_row=by_row, against=against):
            marks = np.empty(len(rows.slots), np.int64)
            marked = _marked(batch, start)
            pointer_kernels.find_marks(rows.slots, rows.offsets, known.nodes, marked, marks)
            pointer_kernels.lifted_bits(*where, marks, by_row, against, out)
        case _:
            assert_never(column)


def _pair_column(
    batch: Batch, values: NDArray[Any], column: sig.ValueColumn, rows: _Rows, out: Floats
) -> None:
    """An edge or pair feature along each message."""
    category, where, kernels = _category(column), rows.messages_at, rows.kernels
    if values.ndim == 3:
        kernels.pair_values(*where, column.against, values, category, out)
    else:
        kernels.edge_values(*where, column.against, values, batch.edge_id, category, out)


def _sum(batch: Batch, terms: tuple[Term, ...], rows: _Rows) -> NDArray[np.float64]:
    """Of numbers as the episode has them, not as a network reads them, along each message."""
    total = np.zeros(len(rows.src))
    for term in terms:
        values = batch.features[term.feature]
        match term:
            case EndTerm(source=source):
                ends = rows.src if source else rows.dst
                compare_kernels.add_ends(*rows.places, ends, values, total)
            case WayTerm(against=against):
                way = (rows.dst, rows.src) if against else (rows.src, rows.dst)
                if values.ndim == 3:
                    compare_kernels.add_pairs(*rows.places, *way, values, total)
                else:
                    compare_kernels.add_edges(*rows.places, *way, values, batch.edge_id, total)
            case _:
                assert_never(term)
    return total


def _category(column: sig.ValueColumn) -> int:
    return -1 if column.category is None else column.category
