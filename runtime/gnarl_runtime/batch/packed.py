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

    @property
    def graphs(self) -> int:
        return len(self.offsets) - 1

    @property
    def nodes(self) -> Index:
        """Which node of its instance each row is."""  # (nodes,)
        if self.node is not None:
            return self.node
        return np.arange(len(self.graph)) - self.offsets[self.graph]

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

    def of_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """What belongs to each row, of values per node of each graph (G, N)."""  # (nodes,)
        return values[self.graph, self.nodes]

    def spread(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Put values per row (nodes,) where their nodes are in `out` (G, N)."""
        out[self.graph, self.nodes] = values
