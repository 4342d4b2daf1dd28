"""Prim's minimum spanning tree by hand: pick a node to grow from, then a neighbour to reach."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from benchmarks.peers.graphs import clrs_weights, connected_erdos_renyi

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]

GROW, REACH = 0, 1


class MstPrimEnv(gymnasium.Env[Observation, int]):
    """Spanning trees grown from one node; ends with a minimum one or after n * n rounds."""

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
                "key": spaces.Box(0.0, np.inf, (nodes,), np.float64),
                "mark": spaces.MultiBinary(nodes),
                "in_queue": spaces.MultiBinary(nodes),
                "phase": spaces.Discrete(2),
                "last_grow": spaces.Discrete(nodes + 1, start=-1),
                "last_reach": spaces.Discrete(nodes + 1, start=-1),
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
        self.best = minimum_tree_weight(self.adjacency, self.weights)
        self.rounds, self.phase, self.grown, self.reached = 0, GROW, -1, -1
        self.pred = self.columns.copy()
        self.key = np.zeros(self.nodes)
        self.mark = np.zeros(self.nodes, np.bool_)
        self.in_queue = self.columns == self.start
        return self._observation(), {}

    def step(self, action: int) -> Step:
        v = int(action)
        if self.phase == GROW:
            self._grow(v)
            return self._observation(), 0.0, False, False, {}
        done = self._reach(v)
        self.phase = GROW
        self.rounds += 1
        terminated = done or self.rounds >= self.nodes * self.nodes
        return self._observation(), 0.0, terminated, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now."""
        if self.phase == REACH:
            return self.adjacency[self.grown].copy()
        legal = self.in_queue.copy()
        if self.grown >= 0:
            legal[self.grown] = True
        return legal

    def _grow(self, u: int) -> None:
        if not self.in_queue[u] and u != self.grown:
            raise ValueError(f"node {u} is not in the queue")
        self.mark[u] = True
        self.in_queue[u] = False
        self.grown, self.phase = u, REACH

    def _reach(self, v: int) -> bool:
        """Offer v the edge from the growing node; whether that made a minimum tree."""
        u = self.grown
        if not self.adjacency[u, v]:
            raise ValueError(f"no edge {u}-{v}")
        self.reached = v
        weight = self.weights[u, v]
        if self.mark[v] or (self.in_queue[v] and weight >= self.key[v]):
            return False  # the tree is as it was, and it was not a minimum one
        self.pred[v] = u
        self.key[v] = weight
        self.in_queue[v] = True
        return self._is_minimum()

    def _is_minimum(self) -> bool:
        """Whether all nodes hang from the start and the edges weigh no more than they must."""
        total = float(self.weights[self.pred, self.columns].sum())
        if abs(total - self.best) > 1e-6 * max(total, self.best):
            return False
        jump = self.pred.copy()
        jump[self.start] = self.start
        for _ in range(self.doublings):
            jump = jump[jump]
        return bool((jump == self.start).all())

    def _observation(self) -> Observation:
        return {
            "adj": self.adj,
            "A": self.weights,
            "s": self.start,
            "pred": self.pred.copy(),
            "key": self.key.copy(),
            "mark": self.mark.astype(np.int8),
            "in_queue": self.in_queue.astype(np.int8),
            "phase": self.phase,
            "last_grow": self.grown,
            "last_reach": self.reached,
        }


def minimum_tree_weight(adjacency: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """The weight of a minimum spanning tree of a connected graph (Prim, dense)."""
    cost = np.where(adjacency, weights, np.inf)
    key = cost[0].copy()
    inside = np.zeros(len(cost), np.bool_)
    inside[0] = True
    total = 0.0
    for _ in range(len(cost) - 1):
        node = int(np.where(inside, np.inf, key).argmin())
        total += float(key[node])
        inside[node] = True
        np.minimum(key, cost[node], out=key)
    return total
