"""A problem and capacities go in, the shape and type of every array of a Batch comes out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, ORACLE
from gnarl_runtime.batch.signature import Signature, signature_of

WORD = 64  # adjacency bits per word


@dataclass(frozen=True)
class ArraySpec:
    """One array of a batch."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class BatchLayout:
    """Capacities and arrays of a batch; `edges` counts an undirected edge once."""

    problem: Problem
    signature: Signature
    slots: int
    nodes: int
    edges: int
    oracles: tuple[str, ...]

    @property
    def arcs(self) -> int:
        """Entries of the CSR: an undirected edge takes two."""
        return self.edges if self.problem.graph.directed else 2 * self.edges

    @property
    def choices(self) -> int:
        """What can be picked: nodes, and to end the episode, which comes last."""
        return self.nodes + self.problem.may_stop

    @property
    def words(self) -> int:
        return -(-self.nodes // WORD)

    def stored(self) -> tuple[Feature, ...]:
        """The features that have an array: all but oracles, and the chosen ones of these."""
        features = self.problem.features
        return tuple(f for f in features if f.stage is not ORACLE or f.name in self.oracles)

    def core(self) -> tuple[ArraySpec, ...]:
        """The arrays that every problem has."""
        b, n, phases = self.slots, self.nodes, len(self.problem.phases)
        table = n if any(feature.place is EDGE for feature in self.stored()) else 0
        return (
            ArraySpec("n", (b,), "int32"),
            ArraySpec("m", (b,), "int32"),
            ArraySpec("rowptr", (b, n + 1), "int32"),
            ArraySpec("src", (b, self.arcs), _counter(n)),
            ArraySpec("adjacency", (b, n, self.words), "uint64"),
            ArraySpec("edge_id", (b, table, table), _counter(self.edges)),
            ArraySpec("tags", (b, n), "uint64"),
            ArraySpec("phase", (b,), "int32"),
            ArraySpec("last", (b, phases), "int32"),
            ArraySpec("rounds", (b,), "int32"),
            ArraySpec("horizon", (b,), "float64"),
            ArraySpec("limit", (b,), "float64"),
            ArraySpec("potential", (b,), "float64"),
            ArraySpec("ended", (b,), "int8"),
            ArraySpec("legal", (b, self.choices), "bool"),
            *self._turns(),
            *self._views(),
        )

    def _turns(self) -> Iterator[ArraySpec]:
        """What later phases may ask about the round, where some may be skipped."""
        if self.problem.may_skip:
            yield ArraySpec("picked", (self.slots, len(self.problem.phases)), "bool")

    def _views(self) -> Iterator[ArraySpec]:
        """What the network reads, where that is not all."""
        if self.problem.windows:
            yield ArraySpec("window", (self.slots, self.nodes), "bool")
        if self.problem.messages:
            yield ArraySpec("heard", (self.slots, self.nodes, self.words), "uint64")

    def features(self) -> tuple[ArraySpec, ...]:
        """The arrays of the spec's own features, by their names in the spec."""
        return tuple(
            ArraySpec(f.name, (self.slots, *f.room(self.nodes, self.edges)), f.stored)
            for f in self.stored()
        )

    @property
    def bytes(self) -> int:
        """What a batch of this layout takes."""
        return sum(spec.bytes for spec in (*self.core(), *self.features()))


def _counter(most: int) -> str:
    """A small type for node numbers and edge ids: these two tables are the largest arrays."""
    return "int16" if most < 2**15 else "int32"


def layout_of(
    problem: Problem,
    slots: int,
    nodes: int,
    edges: int | None = None,
    oracles: Iterable[str] = (),
) -> BatchLayout:
    """The layout for `slots` graphs of up to `nodes` nodes; room for all edges unless told."""
    most = nodes * (nodes - 1) // (1 if problem.graph.directed else 2)
    room = most if edges is None else min(edges, most)
    if slots < 1 or nodes < 1 or room < 0:
        raise ValueError(f"a batch needs slots and nodes, found {slots} slots of {nodes} nodes")
    known = [feature.name for feature in problem.features if feature.stage is ORACLE]
    for name in (chosen := tuple(oracles)):
        if name not in known:
            raise ValueError(f"{problem.name} has no oracle `{name}`; it has: {', '.join(known)}")
    return BatchLayout(problem, signature_of(problem), slots, nodes, room, chosen)
