"""A graph and its hidden tags in, the read-only view that code from outside gets out."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream

Array = NDArray[Any]


def frozen(values: Array) -> Array:
    """A copy that nobody can write to, whatever flags they set."""
    values = np.asarray(values)
    return np.frombuffer(values.tobytes(), values.dtype).reshape(values.shape)


class GraphView:
    """The current graph, as code that somebody brought sees it; nothing in it can be changed.

    n           the number of nodes, which are 0 to n - 1
    m           the number of edges; an undirected one counts once
    directed    whether edges have a direction
    adjacency   truth values (n, n): row u, column v says whether there is an edge from u to v
    edges       whole numbers (m, 2): both ends of each edge; undirected ones with u < v
    neighbours  `neighbours(v)`: the nodes that an edge leads to from v
    tags        hidden random numbers (n,), one per node, which break ties the same way whatever
                the nodes are called
    rng         a random generator that starts the same way in every call on one instance
    """

    def __init__(self, graph: Graph, tags: NDArray[np.uint64]) -> None:
        self._adjacency = frozen(graph.adjacency)
        self._tags = tags
        self._directed = graph.directed

    @property
    def n(self) -> int:
        return len(self._adjacency)

    @cached_property
    def m(self) -> int:
        arcs = int(np.count_nonzero(self._adjacency))
        return arcs if self._directed else arcs // 2

    @property
    def directed(self) -> bool:
        return self._directed

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        return self._adjacency

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        once = self._adjacency if self._directed else np.triu(self._adjacency)
        return frozen(np.argwhere(once).astype(np.int64))

    def neighbours(self, node: int) -> NDArray[np.int64]:
        return np.flatnonzero(self._adjacency[node])

    neighbors = neighbours

    @cached_property
    def tags(self) -> NDArray[np.uint64]:
        return frozen(self._tags)

    @cached_property
    def rng(self) -> np.random.Generator:
        """Of the instance, however its nodes are numbered."""
        return stream(0, "extern", *sorted(int(tag) for tag in self._tags))
