"""A graph's hidden node tags go in, a way to and from their order comes out.

Solvers break ties, and round sums, by node order. Solving in the order of the tags, which
travel with the nodes, makes the answer the same under every labelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class TagOrder:
    """Nodes sorted by tag: `order[i]` is the i-th node, `rank[v]` the place of node v."""

    order: NDArray[np.intp]  # (nodes,)
    rank: NDArray[np.intp]  # (nodes,)

    def graph(self, graph: Graph) -> Graph:
        """The graph with its nodes in tag order."""
        return graph.relabel(self.rank)

    def nodes(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Node values (n,), in tag order."""
        return values[self.order]

    def pairs(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Edge or pair values (n, n), in tag order."""
        return values[np.ix_(self.order, self.order)]

    def restore_nodes(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Node values (n,) from tag order back to the caller's labels."""
        return values[self.rank]

    def restore_pairs(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Edge or pair values (n, n) from tag order back to the caller's labels."""
        return values[np.ix_(self.rank, self.rank)]


def tag_order(tags: NDArray[np.uint64]) -> TagOrder:
    """The order of these tags (n,), which must differ from node to node."""
    order: NDArray[Any] = np.argsort(tags)
    if (np.diff(tags[order]) == 0).any():
        raise ValueError("expected a different tag for every node, found one twice")
    return TagOrder(order, np.argsort(order))
