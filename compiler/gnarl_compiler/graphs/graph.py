"""A boolean adjacency matrix goes in, a checked, immutable `Graph` comes out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple graph without loops; an undirected one stores both directions of an edge."""

    directed: bool
    adjacency: NDArray[np.bool_]  # (nodes, nodes)

    def __post_init__(self) -> None:
        verify_adjacency(self.adjacency, directed=self.directed)
        frozen = self.adjacency.copy()
        frozen.setflags(write=False)
        object.__setattr__(self, "adjacency", frozen)

    @classmethod
    def trusted(cls, directed: bool, adjacency: NDArray[np.bool_]) -> Graph:
        """A graph that keeps a matrix (nodes, nodes) of the caller's, who knows that it is one.

        For generators: looking at a small graph takes longer than drawing it.
        """
        graph = cls.__new__(cls)
        adjacency.setflags(write=False)
        object.__setattr__(graph, "directed", directed)
        object.__setattr__(graph, "adjacency", adjacency)
        return graph

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.adjacency)

    @property
    def m(self) -> int:
        """The number of edges; an undirected edge counts once."""
        arcs = int(np.count_nonzero(self.adjacency))
        return arcs if self.directed else arcs // 2

    def edges(self) -> NDArray[np.int64]:
        """All edges as rows (u, v); an undirected edge appears once, with u < v."""
        once = self.adjacency if self.directed else np.triu(self.adjacency)
        return np.argwhere(once).astype(np.int64)  # (edges, 2)

    def relabel(self, permutation: NDArray[np.integer]) -> Graph:
        """The same graph with old node v renamed to permutation[v]."""
        if not np.array_equal(np.sort(permutation), np.arange(self.n)):
            found = np.asarray(permutation).tolist()
            raise ValueError(f"expected a permutation of 0..{self.n - 1}, found {found}")
        old = np.argsort(permutation)
        return Graph(self.directed, self.adjacency[np.ix_(old, old)])

    def is_connected(self) -> bool:
        """Whether every node can be reached from every other, ignoring directions."""
        either = self.adjacency | self.adjacency.T if self.directed else self.adjacency
        reached = np.zeros(self.n, dtype=np.bool_)
        frontier = reached.copy()
        reached[:1] = frontier[:1] = True
        while frontier.any():
            frontier = either[frontier].any(axis=0) & ~reached
            reached |= frontier
        return bool(reached.all())

    def is_acyclic(self) -> bool:
        """Whether there is no cycle; an undirected graph without one is a forest."""
        # Peel what cannot lie on a cycle: sources, or leaves and isolated nodes.
        spare = 0 if self.directed else 1
        degree = self.adjacency.sum(axis=0)
        left = np.ones(self.n, dtype=np.bool_)
        while (peeled := left & (degree <= spare)).any():
            left &= ~peeled
            degree = degree - self.adjacency[peeled].sum(axis=0)
        return not left.any()


def verify_adjacency(adjacency: NDArray[np.bool_], *, directed: bool) -> None:
    """Raise a ValueError unless the matrix is square, boolean, loop-free and fits `directed`."""
    if adjacency.ndim != 2 or len(set(adjacency.shape)) != 1:
        raise ValueError(f"adjacency must be a square matrix, found shape {adjacency.shape}")
    if adjacency.dtype != np.bool_:
        raise ValueError(f"adjacency must be boolean, found {adjacency.dtype}")
    loops = np.flatnonzero(adjacency.diagonal())
    if loops.size:
        raise ValueError(f"an edge joins two different nodes, found a loop at node {loops[0]}")
    one_way = np.argwhere(adjacency & ~adjacency.T)
    if not directed and one_way.size:
        u, v = one_way[0]
        raise ValueError(
            f"an undirected adjacency must be symmetric, found {u} -> {v} without {v} -> {u}"
        )
