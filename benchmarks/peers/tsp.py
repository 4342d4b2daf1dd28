"""The travelling salesperson by hand: append nodes to a tour; and the nearest-node expert."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from benchmarks.peers.graphs import single

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


class TspEnv(gymnasium.Env[Observation, int]):
    """Points in the unit square; the reward is minus the growth of the closed tour."""

    def __init__(self, nodes: int = 20) -> None:
        self.nodes = nodes
        self.action_space = spaces.Discrete(nodes)
        self.observation_space = spaces.Dict(
            {
                "A": spaces.Box(0.0, np.sqrt(2.0), (nodes, nodes), np.float64),
                "s": spaces.Discrete(nodes),
                "in_tour": spaces.MultiBinary(nodes),
                "next": spaces.Box(0, nodes - 1, (nodes,), np.int64),
                "last_visit": spaces.Discrete(nodes + 1, start=-1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        x, y = self.np_random.random((2, self.nodes))
        self.weights = single(np.hypot(x[:, None] - x, y[:, None] - y))
        self.start = int(self.np_random.integers(self.nodes))
        self.free = np.ones(self.nodes, np.bool_)
        self.next = np.arange(self.nodes)
        self.visited, self.last = 0, -1
        return self._observation(), {}

    def step(self, action: int) -> Step:
        v = int(action)
        if not self.free[v] or (self.visited == 0 and v != self.start):
            raise ValueError(f"node {v} cannot be visited now")
        reward = self._append(v)
        self.free[v] = False
        self.visited += 1
        self.last = v
        return self._observation(), reward, self.visited == self.nodes, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now: the start node first."""
        if self.visited == 0:
            return np.arange(self.nodes) == self.start
        return self.free.copy()

    def _append(self, v: int) -> float:
        """Put v between the last node and the start; minus what that adds to the tour."""
        if self.visited == 0:
            return 0.0
        here, start = self.last, self.start
        self.next[v] = start
        self.next[here] = v
        weights = self.weights
        return float(weights[here, start] - weights[here, v] - weights[v, start])

    def _observation(self) -> Observation:
        return {
            "A": self.weights,
            "s": self.start,
            "in_tour": (~self.free).view(np.int8),
            "next": self.next.copy(),
            "last_visit": self.last,
        }


def tsp_expert(observation: Observation) -> NDArray[np.float64]:
    """The start node, then the nearest node that is not in the tour; ties share."""
    last = observation["last_visit"]
    if last < 0:
        nearest = np.arange(len(observation["next"])) == observation["s"]
    else:
        distance = np.where(observation["in_tour"], np.inf, observation["A"][last])
        nearest = distance <= distance.min() * (1 + 1e-6)
    return nearest / max(np.count_nonzero(nearest), 1)
