"""What a network reads of some graphs: rows of a pack in, nodes of the instances out, and back.

Whoever turns a row into a node, or a node into a row, does it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    node: Index | None = None  # (nodes,) which node of its instance a row is; None: all, in order
    stop: NDArray[np.bool_] | None = None  # (G,) may the episode be ended? None: it never may
    capacity: int = 0  # the number of the pick that ends an episode, if there is one

    @property
    def graphs(self) -> int:
        return len(self.offsets) - 1

    @property
    def nodes(self) -> Index:
        """Which node of its instance each row is."""  # (nodes,)
        if self.node is not None:
            return self.node
        return np.arange(len(self.graph)) - self.offsets[self.graph]

    # What can be picked: the rows of each graph, then to end its episode where that is known.

    @property
    def choice_offsets(self) -> Index:
        """Choices of graph g are from one of these up to the next."""  # (G + 1,)
        if self.stop is None:
            return self.offsets
        return self.offsets + np.arange(self.graphs + 1)

    @property
    def choice_graph(self) -> Index:
        """Which graph a choice is of."""  # (choices,)
        if self.stop is None:
            return self.graph
        return np.repeat(np.arange(self.graphs), np.diff(self.choice_offsets))

    @property
    def choices(self) -> Index:
        """Which pick each choice is: a node of its instance, or the end."""  # (choices,)
        if self.stop is None:
            return self.nodes
        return self._interleaved(self.nodes, np.full(self.graphs, self.capacity))

    @property
    def choice_legal(self) -> NDArray[np.bool_]:
        """Which choices there are now."""  # (choices,)
        if self.stop is None:
            return self.legal
        return self._interleaved(self.legal, self.stop)

    def _interleaved(self, rows: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
        """Values per row and per graph, in the order of choices."""
        out = np.empty(len(rows) + len(ends), rows.dtype)
        out[np.arange(len(rows)) + self.graph] = rows
        out[self.choice_offsets[1:] - 1] = ends
        return out

    def places(self, picks: Index) -> Index:
        """Where a pick of each graph is among the choices, -1 where it is not read."""  # (G,)
        if self.stop is None:
            return self.rows(picks)
        ends = picks == self.capacity
        rows = self.rows(np.where(ends, 0, picks))
        found = np.where(rows >= 0, rows + np.arange(self.graphs), -1)
        return np.where(ends, self.choice_offsets[1:] - 1, found)

    def rows(self, nodes: Index) -> Index:
        """The row of one node of each graph, -1 where the network does not read it."""  # (G,)
        if self.node is None:
            return self.offsets[:-1] + nodes
        beyond = int(max(self.node.max(initial=0), nodes.max(initial=0))) + 1
        keys = self.graph * beyond + self.node  # ascending
        wanted = np.arange(self.graphs) * beyond + nodes
        found = np.searchsorted(keys, wanted)
        there = (nodes >= 0) & (found < len(keys))
        there[there] = keys[found[there]] == wanted[there]
        return np.where(there, found, -1)

    def of_choices(self, values: NDArray[Any]) -> NDArray[Any]:
        """What belongs to each choice, of values per pick of each graph (G, N)."""  # (choices,)
        return values[self.choice_graph, self.choices]

    def spread(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Put values per row (nodes,) where their nodes are in `out` (G, N)."""
        out[self.graph, self.nodes] = values

    def spread_choices(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Put values per choice where their picks are in `out` (G, N), or (G, N + 1)."""
        out[self.choice_graph, self.choices] = values
