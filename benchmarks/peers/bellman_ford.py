"""Bellman-Ford by hand: pick a reached source, then a neighbour to relax; and its expert."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from benchmarks.peers.graphs import clrs_weights, connected_erdos_renyi

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]

SOURCE, TARGET = 0, 1


class BellmanFordEnv(gymnasium.Env[Observation, int]):
    """Shortest paths from one node on a connected Erdős-Rényi graph.

    The reward is the gain in the share of nodes whose path along `pred` is a shortest one. The
    episode ends when all are, and is cut off after twice the assignments of the algorithm.
    """

    def __init__(self, nodes: int = 16) -> None:
        self.nodes = nodes
        self.doublings = max(nodes - 1, 1).bit_length()
        self.columns = np.arange(nodes)
        self.action_space = spaces.Discrete(nodes)
        self.observation_space = spaces.Dict(
            {
                "adj": spaces.MultiBinary((nodes, nodes)),
                "A": spaces.Box(0.0, np.inf, (nodes, nodes), np.float64),
                "s": spaces.Discrete(nodes),
                "pred": spaces.Box(0, nodes - 1, (nodes,), np.int64),
                "mask": spaces.MultiBinary(nodes),
                "d": spaces.Box(0.0, np.inf, (nodes,), np.float64),
                "phase": spaces.Discrete(2),
                "last_source": spaces.Discrete(nodes + 1, start=-1),
                "last_target": spaces.Discrete(nodes + 1, start=-1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.adjacency = connected_erdos_renyi(self.nodes, self.np_random)
        self.weights = clrs_weights(self.adjacency, self.np_random)
        self.start = int(self.np_random.integers(self.nodes))
        self.adj = self.adjacency.view(np.int8)
        self.distance, updates = shortest_paths(self.adjacency, self.weights, self.start)
        self.limit = 2 * updates
        self.horizon = (self.nodes - 1) * int(np.count_nonzero(self.adjacency))
        self.rounds, self.phase, self.source, self.target = 0, SOURCE, -1, -1
        self.pred = self.columns.copy()
        self.mask = self.columns == self.start
        self.d = np.zeros(self.nodes)
        self.matches = self._matches()
        return self._observation(), {}

    def step(self, action: int) -> Step:
        if self.phase == SOURCE:
            if not self.mask[action]:
                raise ValueError(f"node {action} has not been reached")
            self.source, self.phase = int(action), TARGET
            return self._observation(), 0.0, False, False, {}
        if not self.adjacency[self.source, action]:
            raise ValueError(f"no edge {self.source}-{action}")
        gained = self._relax(int(action))
        self.phase = SOURCE
        self.rounds += 1
        terminated = self.matches == self.nodes or self.rounds >= self.horizon
        truncated = not terminated and self.rounds >= self.limit
        return self._observation(), gained / self.nodes, terminated, truncated, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now."""
        return self.mask.copy() if self.phase == SOURCE else self.adjacency[self.source].copy()

    def _relax(self, v: int) -> int:
        """Set v's distance along the edge from the source; how many more paths are right."""
        u = self.source
        self.target = v
        self.d[v] = self.d[u] + self.weights[u, v]
        self.mask[v] = True
        if self.pred[v] == u:
            return 0  # the tree is as it was
        self.pred[v] = u
        before, self.matches = self.matches, self._matches()
        return self.matches - before

    def _matches(self) -> int:
        """How many nodes' paths along `pred` are as short as can be, by pointer doubling."""
        jump = self.pred.copy()
        jump[self.start] = self.start
        cost = self.weights[jump, self.columns]
        for _ in range(self.doublings):
            cost += cost[jump]
            jump = jump[jump]
        gap = np.abs(cost - self.distance) <= 1e-6 * cost
        return int(np.count_nonzero(gap & (jump == self.start)))

    def _observation(self) -> Observation:
        return {
            "adj": self.adj,
            "A": self.weights,
            "s": self.start,
            "pred": self.pred.copy(),
            "mask": self.mask.astype(np.int8),
            "d": self.d.copy(),
            "phase": self.phase,
            "last_source": self.source,
            "last_target": self.target,
        }


def shortest_paths(
    adjacency: NDArray[np.bool_], weights: NDArray[np.float64], start: int
) -> tuple[NDArray[np.float64], int]:
    """Distances (n,) and how often the synchronous algorithm assigns one, as CLRS-30 counts."""
    cost = np.where(adjacency, weights, np.inf)
    distance = np.full(len(cost), np.inf)
    distance[start] = 0.0
    changed, updates = np.array([start]), 0
    while changed.size:
        offers = distance[changed, None] + cost[changed]
        best = np.minimum.accumulate(np.vstack([distance, offers]))
        updates += int(np.count_nonzero(best[1:] < best[:-1]))
        changed = np.flatnonzero(best[-1] < distance)
        distance = best[-1]
    return distance, updates


def bellman_ford_expert(observation: Observation) -> NDArray[np.float64]:
    """Stay on the last source while it improves a neighbour, else any source that does."""
    mask, d, last = observation["mask"], observation["d"], observation["last_source"]
    if observation["phase"] == TARGET:
        return uniform(improved_by(observation, last))
    if last >= 0 and mask[last] and improved_by(observation, last).any():
        return uniform(np.arange(len(d)) == last)
    sources = np.flatnonzero(mask)
    offers = d[sources, None] + observation["A"][sources]
    better = observation["adj"][sources].view(np.bool_) & ((mask == 0) | (offers < d))
    useful = np.zeros(len(d), np.bool_)
    useful[sources] = better.any(axis=1)
    return uniform(useful)


def improved_by(observation: Observation, u: int) -> NDArray[np.bool_]:
    """The neighbours of u (n,) that are not reached yet or reached more cheaply through u."""
    d = observation["d"]
    better = (observation["mask"] == 0) | (d[u] + observation["A"][u] < d)
    return better & observation["adj"][u].view(np.bool_)


def uniform(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Equal probabilities on the chosen nodes, zero everywhere if there is none."""
    return chosen / max(np.count_nonzero(chosen), 1)
