"""A layout goes in, fixed-capacity slots come out: the arrays that all stages share.

A `Batch` is the contract between environment, encoder and kernels (docs/batch.md). It holds
one graph and its progress per slot, in arrays that are edited in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model import Feature
from gnarl_dsl.model.kinds import EDGE
from gnarl_runtime.batch.layout import WORD, BatchLayout

Ints = NDArray[np.int32]
Values = NDArray[Any]


class CapacityError(ValueError):
    """A graph that does not fit into the slots of a batch."""


@dataclass(frozen=True, eq=False)
class Batch:
    """B slots of up to N nodes, E edges and M arcs; P phases, W words of adjacency bits.

    An arc is a direction in which an edge can be followed: an undirected edge has two.
    """

    layout: BatchLayout
    n: Ints  # (B,) nodes in use
    m: Ints  # (B,) edges, undirected ones once; their ids are 0..m-1
    rowptr: Ints  # (B, N + 1) arcs into node v are rowptr[v] .. rowptr[v + 1] - 1
    src: Ints  # (B, M) where each arc comes from, ascending per destination
    adjacency: NDArray[np.uint64]  # (B, N, W) bit v of row u: edge(u, v)
    edge_id: Ints  # (B, N, N) or (B, 0, 0) without edge features; -1 off the edges
    tags: NDArray[np.uint64]  # (B, N) hidden random labels that break ties
    phase: Ints  # (B,)
    last: Ints  # (B, P) latest pick per phase, -1 unset; picks of this round: last[:phase]
    rounds: Ints  # (B,) completed
    horizon: NDArray[np.float64]  # (B,) in rounds, may be inf
    limit: NDArray[np.float64]  # (B,) in rounds, may be inf
    potential: NDArray[np.float64]  # (B,) what the next round's reward is measured from
    ended: NDArray[np.int8]  # (B,) RUNNING, TERMINATED or TRUNCATED
    legal: NDArray[np.bool_]  # (B, N) which nodes may be picked now; (B, N + 1) with `may stop`
    # By name. node (B, N), edge (B, E) by edge id, pair (B, N, N), graph and mask_one (B,).
    features: dict[str, Values]
    # Only where phases may be skipped: (B, P) which of them have had their pick in this round.
    picked: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    # Only where the network does not read all.
    window: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), np.bool_))  # (B, N)
    heard: NDArray[np.uint64] = field(  # (B, N, W) bit u of row v: v hears u
        default_factory=lambda: np.zeros((0, 0, 0), np.uint64)
    )
    # What readings keep of the inputs (read_tables.py): found again wherever it is missing.
    tables: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "tables": {}}

    @staticmethod
    def allocate(layout: BatchLayout) -> Batch:
        """An empty batch: every slot has no nodes."""
        core: dict[str, Any] = {
            spec.name: np.zeros(spec.shape, spec.dtype) for spec in layout.core()
        }
        own = {spec.name: np.zeros(spec.shape, spec.dtype) for spec in layout.features()}
        return Batch(layout=layout, features=own, **core)

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        return self.layout.bytes

    def opening(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether nothing has been picked in the round of these slots."""
        if self.layout.problem.may_skip:
            return np.asarray(~self.picked[slots].any(axis=1))
        return np.asarray(self.phase[slots] == 0)

    # Slots in

    def load_graph(self, slot: int, adjacency: NDArray[np.bool_]) -> None:
        """Put a graph (n, n) into a slot, whatever was there before."""
        n, ends = len(adjacency), self._ends(adjacency)
        self._require_room(n, len(ends[0]))
        self.n[slot], self.m[slot] = n, len(ends[0])
        src = np.nonzero(adjacency.T)[1]
        self.src[slot] = 0
        self.src[slot, : len(src)] = src
        self.rowptr[slot] = len(src)
        self.rowptr[slot, : n + 1] = np.concatenate([[0], np.cumsum(adjacency.sum(axis=0))])
        self.adjacency[slot] = pack_bits(adjacency, self.layout.nodes)
        if self.edge_id.shape[1]:
            self.edge_id[slot] = -1
            self.edge_id[slot][ends] = np.arange(len(ends[0]))
            if not self.layout.problem.graph.directed:
                self.edge_id[slot][ends[::-1]] = np.arange(len(ends[0]))

    def _ends(self, adjacency: NDArray[np.bool_]) -> tuple[NDArray[np.intp], ...]:
        """Both ends of every edge, in the order of their ids: by (u, v), undirected u < v."""
        directed = self.layout.problem.graph.directed
        return np.nonzero(adjacency if directed else np.triu(adjacency))

    def _require_room(self, n: int, m: int) -> None:
        layout = self.layout
        if n > layout.nodes or m > layout.edges:
            raise CapacityError(
                f"a graph of {n} nodes and {m} edges does not fit into slots for "
                f"{layout.nodes} nodes and {layout.edges} edges"
            )

    def load_feature(
        self, slot: int, feature: Feature, dense: Values, adjacency: NDArray[np.bool_]
    ) -> None:
        """Put a feature's dense values, (n,), (n, n) or (), into a slot of that graph."""
        values = self.features[feature.name]
        values[slot] = 0
        if values.ndim == 1:
            values[slot] = dense
        elif feature.place is EDGE:
            on_edges = dense[self._ends(adjacency)]
            values[slot, : len(on_edges)] = on_edges
        else:
            values[slot][_corner(dense.shape)] = dense

    # Slots out

    def read_feature(self, slot: int, name: str) -> Values:
        """A feature as the interpreter has it: (n,), (n, n) or (); edges read 0 off the edges."""
        feature = self.layout.problem.feature(name)
        values, n = self.features[name], int(self.n[slot])
        if values.ndim == 1:
            return values[slot, ...].copy()
        if feature.place is not EDGE:
            return np.array(values[slot][_corner(feature.shape(n))])
        ids = self.edge_id[slot, :n, :n]
        dense = np.zeros((n, n), values.dtype)
        dense[ids >= 0] = values[slot, ids[ids >= 0]]
        return dense

    def read_adjacency(self, slot: int) -> NDArray[np.bool_]:
        """The current graph of a slot as a matrix (n, n)."""
        return unpack_bits(self.adjacency[slot], int(self.n[slot]))


def _corner(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The part of a slot that a graph of fewer nodes uses."""
    return tuple(slice(size) for size in shape)


def pack_bits(adjacency: NDArray[np.bool_], nodes: int) -> NDArray[np.uint64]:
    """A matrix (n, n) as rows of 64-bit words (nodes, words); bit v of row u is edge(u, v)."""
    n = len(adjacency)
    room = np.zeros((nodes, -(-nodes // WORD) * WORD), np.bool_)
    room[:n, :n] = adjacency
    return np.packbits(room, axis=1, bitorder="little").view("<u8")


def unpack_bits(words: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """The matrix (n, n) in rows of 64-bit words (nodes, words)."""
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return bits[:n, :n].astype(np.bool_)
