"""Robust graph construction by hand: pick both ends of every new edge until the budget is spent."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from benchmarks.peers.graphs import erdos_renyi

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]

FROM, TO = 0, 1


class RgcEnv(gymnasium.Env[Observation, int]):
    """Edges added to an Erdős-Rényi graph; the reward is the gain in its critical fraction.

    The critical fraction is estimated over 2n random removal orders, drawn at reset, so that
    the gain from an edge is not hidden by another draw.
    """

    def __init__(self, nodes: int = 20, tau: float = 0.05, p: float = 0.2) -> None:
        self.nodes, self.p = nodes, p
        self.budget = math.ceil(round(tau * nodes * (nodes - 1) / 2, 9))
        self.action_space = spaces.Discrete(nodes)
        self.observation_space = spaces.Dict(
            {
                "adj": spaces.MultiBinary((nodes, nodes)),
                "left": spaces.Box(-1.0, 1.0, (), np.float64),
                "phase": spaces.Discrete(2),
                "last_from": spaces.Discrete(nodes + 1, start=-1),
                "last_to": spaces.Discrete(nodes + 1, start=-1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.adjacency = erdos_renyi(self.nodes, self.p, self.np_random)
        self.degree = np.count_nonzero(self.adjacency, axis=0)
        self.removed_at = self._removal_times()
        self.robustness = critical_fraction(self.adjacency, self.removed_at)
        self.rounds, self.left, self.phase, self.start, self.end = 0, 1.0, FROM, -1, -1
        return self._observation(), {}

    def step(self, action: int) -> Step:
        if self.phase == FROM:
            if self.degree[action] == self.nodes - 1:
                raise ValueError(f"node {action} is joined to all others")
            self.start, self.phase = int(action), TO
            return self._observation(), 0.0, False, False, {}
        self._join(self.start, int(action))
        self.phase = FROM
        self.rounds += 1
        before = self.robustness
        self.robustness = critical_fraction(self.adjacency, self.removed_at)
        full = int(self.degree.min()) == self.nodes - 1
        terminated = self.rounds >= self.budget or full
        return self._observation(), self.robustness - before, terminated, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now."""
        if self.phase == FROM:
            return self.degree < self.nodes - 1
        free = ~self.adjacency[self.start]
        free[self.start] = False
        return free

    def _join(self, u: int, v: int) -> None:
        if u == v or self.adjacency[u, v]:
            raise ValueError(f"there can be no new edge {u}-{v}")
        self.adjacency[u, v] = self.adjacency[v, u] = True
        self.degree[[u, v]] += 1
        self.left -= 1 / self.budget
        self.end = v

    def _removal_times(self) -> NDArray[np.int64]:
        """When each node is removed, in each of 2n random orders (orders, nodes)."""
        times = np.tile(np.arange(self.nodes), (2 * self.nodes, 1))
        return self.np_random.permuted(times, axis=1)

    def _observation(self) -> Observation:
        return {
            "adj": self.adjacency.astype(np.int8),
            "left": np.asarray(self.left),
            "phase": self.phase,
            "last_from": self.start,
            "last_to": self.end,
        }


def critical_fraction(adjacency: NDArray[np.bool_], removed_at: NDArray[np.int64]) -> float:
    """The mean share of nodes removed until the graph falls apart, 1 where it never does.

    An edge lasts until its first end goes. Once k nodes are gone, n - k nodes are left, joined
    by those edges of a spanning forest of the longest-lasting edges that last: the difference
    is the number of components. All orders are solved as one graph of separate copies.
    """
    orders, n = removed_at.shape
    lasting = longest_lasting_forest(adjacency, removed_at)  # (orders, n)
    joined = lasting[:, ::-1].cumsum(axis=1)[:, ::-1]  # edges there after k removals
    apart = np.arange(n, 0, -1) - joined > 1
    first = np.where(apart.any(axis=1), apart.argmax(axis=1), n)
    return float(first.sum() / (orders * n))


def longest_lasting_forest(
    adjacency: NDArray[np.bool_], removed_at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many edges of such a forest go at each removal (orders, n), by SciPy's Kruskal."""
    orders, n = removed_at.shape
    u, v = np.nonzero(np.triu(adjacency))
    lasts = np.minimum(removed_at[:, u], removed_at[:, v])  # (orders, edges)
    copies = np.arange(orders)[:, None]
    columns = (v + n * copies).ravel()
    starts = np.append(0, np.tile(np.bincount(u, minlength=n), orders).cumsum())
    graph = csr_matrix(((n - lasts).ravel(), columns, starts), shape=(orders * n, orders * n))
    forest = minimum_spanning_tree(graph, overwrite=True)
    removal = n - forest.data.astype(np.int64)
    copy = np.repeat(np.arange(orders * n) // n, np.diff(forest.indptr))
    return np.bincount(copy * n + removal, minlength=orders * n).reshape(orders, n)
