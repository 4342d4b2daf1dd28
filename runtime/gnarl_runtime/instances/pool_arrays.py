"""Many instances go in, the slots of a Batch come out: whole arrays at a time, no loop per node.

Only what never changes in an episode is written: graph, tags, inputs and oracles. The reset
kernel fills in the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.support.jit import njit
from gnarl_dsl.model import Feature
from gnarl_dsl.model.kinds import EDGE, INPUT, PAIR
from gnarl_runtime.batch.batch import Batch, CapacityError
from gnarl_runtime.batch.layout import WORD
from gnarl_runtime.instances.cells import Values

Index = NDArray[np.int64]


# Instances in


@dataclass(frozen=True, eq=False)
class _Edges:
    """Every edge of K graphs: which graph, its number there, and its ends."""

    graph: Index  # (edges,)
    number: Index  # (edges,)
    u: Index  # (edges,)
    v: Index  # (edges,)


def stack(matrices: Sequence[Values], nodes: int) -> Values:
    """Square matrices of up to `nodes` rows, padded with zeros: (K, nodes, nodes)."""
    room = np.zeros((len(matrices), nodes, nodes), matrices[0].dtype)
    for place, matrix in zip(room, matrices, strict=True):
        place[: len(matrix), : len(matrix)] = matrix
    return room


def load_instances(batch: Batch, slots: Index, instances: Sequence[Instance]) -> None:
    """Graphs, tags and inputs of instances into slots, whatever was there before."""
    sizes = np.array([instance.graph.n for instance in instances])
    adjacency = stack([instance.graph.adjacency for instance in instances], int(sizes.max()))
    directed = batch.layout.problem.graph.directed
    arcs = np.count_nonzero(adjacency, axis=(1, 2))
    counts = arcs if directed else arcs // 2
    numbered = any(feature.place is EDGE for feature in batch.layout.stored())
    # Three numbers per edge are more than all else that is kept of a complete graph.
    edges = _edges((adjacency if directed else np.triu(adjacency)) if numbered else adjacency[:0])
    _require_room(batch, int(sizes.max()), int(counts.max()))
    batch.n[slots], batch.m[slots] = sizes, counts
    _load_arcs(batch, slots, adjacency)
    _load_table(batch, slots, edges)
    _fill(batch.tags, slots, sizes, np.concatenate([instance.tags for instance in instances]))
    for feature in batch.layout.problem.features:
        if feature.stage is INPUT:
            values = [np.asarray(instance.inputs[feature.name]) for instance in instances]
            load_cells(batch, slots, feature, _cells(feature, values, edges, len(adjacency[0])))


def _edges(once: NDArray[np.bool_]) -> _Edges:
    """Edges in the order of their ids: by graph, then u, then v."""
    graph, u, v = np.nonzero(once)
    return _Edges(graph, _within(np.bincount(graph, minlength=len(once))), u, v)


def _within(counts: NDArray[np.integer]) -> Index:
    """0, 1, … for each group of so many."""
    starts = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) - np.repeat(starts, counts), np.int64)


def _load_arcs(batch: Batch, slots: Index, adjacency: NDArray[np.bool_]) -> None:
    nodes = adjacency.shape[1]
    directed = batch.layout.problem.graph.directed
    into = np.ascontiguousarray(adjacency.transpose(0, 2, 1)) if directed else adjacency
    list_arcs(into, np.asarray(slots, np.int64), batch.rowptr, batch.src)
    words = -(-nodes // WORD)
    batch.adjacency[slots] = 0
    batch.adjacency[slots, :nodes, :words] = pack_words(adjacency)


@njit
def list_arcs(into, slots, rowptr, src):  # type: ignore[no-untyped-def]
    """Where the arcs into each node come from; `into` (K, nodes, nodes) has a row per node."""
    for k in range(len(slots)):
        b, arc = slots[k], 0
        for v in range(into.shape[1]):
            rowptr[b, v] = arc
            for u in range(into.shape[2]):
                if into[k, v, u]:
                    src[b, arc] = u
                    arc += 1
        rowptr[b, into.shape[1] :] = arc
        src[b, arc:] = 0


def pack_words(adjacency: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Matrices (K, n, n) as rows of 64-bit words (K, n, words)."""
    count, nodes, _ = adjacency.shape
    room = np.zeros((count, nodes, -(-nodes // WORD) * WORD), np.bool_)
    room[:, :, :nodes] = adjacency
    return np.packbits(room, axis=2, bitorder="little").view("<u8")


def _load_table(batch: Batch, slots: Index, edges: _Edges) -> None:
    if not batch.edge_id.shape[1]:
        return
    batch.edge_id[slots] = -1
    batch.edge_id[slots[edges.graph], edges.u, edges.v] = edges.number
    if not batch.layout.problem.graph.directed:
        batch.edge_id[slots[edges.graph], edges.v, edges.u] = edges.number


def _cells(feature: Feature, values: list[Values], edges: _Edges, nodes: int) -> Values:
    if feature.place is EDGE:
        return stack(values, nodes)[edges.graph, edges.u, edges.v]
    return np.concatenate([np.ravel(value) for value in values])


def load_cells(batch: Batch, slots: Index, feature: Feature, cells: Values) -> None:
    """Cells of a feature, slot after slot in a row, into slots whose graphs are there."""
    values, n = batch.features[feature.name], batch.n[slots]
    if values.ndim == 1:
        values[slots] = cells
    elif feature.place is PAIR:
        sizes = n.astype(np.int64) ** 2
        place, side = _within(sizes), np.repeat(n, sizes)
        values[slots] = 0
        values[np.repeat(slots, sizes), place // side, place % side] = cells
    else:
        _fill(values, slots, batch.m[slots] if feature.place is EDGE else n, cells)


def _fill(target: Values, slots: Index, sizes: NDArray[np.integer], cells: Values) -> None:
    target[slots] = 0
    target[np.repeat(slots, sizes), _within(sizes)] = cells


def _require_room(batch: Batch, n: int, m: int) -> None:
    layout = batch.layout
    if n > layout.nodes or m > layout.edges:
        raise CapacityError(
            f"graphs of {n} nodes and {m} edges do not fit into slots for "
            f"{layout.nodes} nodes and {layout.edges} edges"
        )


# From batch to batch


@njit
def copy_rows(source, picks, target, slots, blank):  # type: ignore[no-untyped-def]
    """Bytes (P, rows, width) of some slots into those of others, which may have other room."""
    rows, width = source.shape[1], source.shape[2]
    for k in range(len(slots)):
        for row in range(target.shape[1]):
            room = target[slots[k], row]
            start = 0
            if row < rows:
                given = source[picks[k], row]
                start = min(width, len(room))
                for i in range(start):  # not slices, which Numba copies byte by byte
                    room[i] = given[i]
            for i in range(start, len(room)):
                room[i] = blank


def copy_cells(source: Values, picks: Index, target: Values, slots: Index, blank: int) -> None:
    """The same for numbers of other sizes: a batch with room for fewer edges has shorter ids."""
    both = zip(source.shape[1:], target.shape[1:], strict=True)
    corner = tuple(slice(min(ours, theirs)) for ours, theirs in both)
    target[slots] = blank
    for pick, slot in zip(picks, slots, strict=True):
        target[slot][corner] = source[pick][corner]


class Copier:
    """Copies graphs, tags, inputs and oracles from one batch to another, again and again."""

    def __init__(self, source: Batch, target: Batch) -> None:
        verify_room(source, target)
        self.source, self.target = source, target
        graph = [pair for pair in _graph(source, target) if pair[1].size]
        self.graph = _parts(pair for pair in graph if pair[0].dtype == pair[1].dtype)
        self.resized = [
            (ours, theirs, -1 if blank else 0)
            for ours, theirs, blank in graph
            if ours.dtype != theirs.dtype
        ]
        self.rest = _parts(_values(source, target))
        self.alike = all_alike(target)
        # Where the room is the same, rows are copied as they are.
        everything = self.graph + self.rest
        self.same_room = all(ours.shape[1:] == theirs.shape[1:] for ours, theirs, _ in everything)

    def copy(self, picks: Index, slots: Index) -> Index:
        """Put what the source has in `picks` into the target's `slots`; out come those of them
        that got another graph than they had."""
        if len(slots) == 1 and self.same_room:
            return slots if self._copy_one(int(picks[0]), int(slots[0])) else slots[:0]
        others = (
            self.target.n[slots] != self.source.n[picks]
            if self.alike
            else np.ones(len(slots), np.bool_)
        )
        for ours, theirs, blank in self.graph:
            copy_rows(ours, picks[others], theirs, slots[others], blank)
        for ours, theirs, blank in self.resized:
            copy_cells(ours, picks[others], theirs, slots[others], blank)
        for ours, theirs, blank in self.rest:
            copy_rows(ours, picks, theirs, slots, blank)
        room = self.source.rowptr.shape[1]
        if self.target.rowptr.shape[1] > room:
            self.target.rowptr[slots, room:] = self.source.rowptr[picks, -1:]
        changed: Index = slots[others]
        return changed

    def _copy_one(self, pick: int, slot: int) -> bool:
        """Whole rows into one slot, which calls of compiled code cost more than; whether it got
        another graph."""
        other = not self.alike or bool(self.target.n[slot] != self.source.n[pick])
        if other:
            for ours, theirs, _ in self.graph:
                theirs[slot] = ours[pick]
        for ours, theirs, _ in self.rest:
            theirs[slot] = ours[pick]
        return other


def all_alike(batch: Batch) -> bool:
    """Whether all graphs of a size are the same: complete ones that nothing changes."""
    graph = batch.layout.problem.graph
    return graph.complete and not graph.directed and not graph.mutable


_Pair = tuple[Values, Values, int]


def _parts(pairs: Iterator[_Pair]) -> list[_Pair]:
    return [(*_bytes(ours, theirs), blank) for ours, theirs, blank in pairs if theirs.size]


def _graph(source: Batch, target: Batch) -> Iterator[_Pair]:
    """Arrays of the graph, and the byte that fills what is not copied: -1 is all ones."""
    for name in ("n", "m", "rowptr", "src", "adjacency"):
        yield getattr(source, name), getattr(target, name), 0
    yield source.edge_id, target.edge_id, 255


def _values(source: Batch, target: Batch) -> Iterator[_Pair]:
    """All others."""
    yield source.tags, target.tags, 0
    for feature in target.layout.stored():
        if feature.stage.steady:
            yield source.features[feature.name], target.features[feature.name], 0


def _bytes(source: Values, target: Values) -> tuple[Values, Values]:
    """Views (slots, rows, bytes per row): one row unless the room differs in both axes."""
    rows = source.ndim == 3 and source.shape[1:] != target.shape[1:]
    return _rows(source, rows), _rows(target, rows)


def _rows(array: Values, rows: bool) -> Values:
    count = array.shape[1] if rows else 1
    width = array.nbytes // max(1, len(array) * count)
    return array.view(np.uint8).reshape(len(array), count, width)


def verify_room(source: Batch, target: Batch) -> None:
    """Raise unless every slot of one batch can be copied to the other: problem, room, oracles."""
    ours, theirs = source.layout, target.layout
    if ours.problem is not theirs.problem and ours.problem.hash != theirs.problem.hash:
        raise ValueError(
            f"a pool of {ours.problem.name} ({ours.problem.hash}) cannot fill a batch of "
            f"{theirs.problem.name} ({theirs.problem.hash}): they are different problems"
        )
    _require_room(target, int(source.n.max()), int(source.m.max()))
    missing = [name for name in theirs.oracles if name not in ours.oracles]
    if missing:
        raise ValueError(
            f"the batch reads the oracle `{missing[0]}`, which the pool was not asked to solve; "
            f"likely fix: oracles={list(theirs.oracles)}"
        )
