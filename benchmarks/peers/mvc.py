"""Minimum vertex cover by hand: pick nodes until every edge is covered; and its expert."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from benchmarks.peers.graphs import barabasi_albert, single

Observation = dict[str, Any]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


class MvcEnv(gymnasium.Env[Observation, int]):
    """Weighted vertex cover on a Barabási-Albert graph; the reward is minus the picked weight."""

    def __init__(self, nodes: int = 16) -> None:
        self.nodes = nodes
        self.action_space = spaces.Discrete(nodes)
        self.observation_space = spaces.Dict(
            {
                "adj": spaces.MultiBinary((nodes, nodes)),
                "w": spaces.Box(0.0, 1.0, (nodes,), np.float64),
                "in_cover": spaces.MultiBinary(nodes),
                "last_add": spaces.Discrete(nodes + 1, start=-1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        edges_per_node = int(self.np_random.integers(1, 11))
        self.adjacency = barabasi_albert(self.nodes, edges_per_node, self.np_random)
        self.adj = self.adjacency.view(np.int8)
        self.weights = single(self.np_random.random(self.nodes))
        self.outside = np.ones(self.nodes, np.bool_)
        self.uncovered = int(np.count_nonzero(self.adjacency)) // 2
        self.last = -1
        return self._observation(), {}

    def step(self, action: int) -> Step:
        if not self.outside[action]:
            raise ValueError(f"node {action} is in the cover already")
        self.outside[action] = False
        self.uncovered -= int(np.count_nonzero(self.adjacency[action] & self.outside))
        self.last = int(action)
        reward = -float(self.weights[action])
        return self._observation(), reward, self.uncovered == 0, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now."""
        return self.outside.copy()

    def _observation(self) -> Observation:
        return {
            "adj": self.adj,
            "w": self.weights,
            "in_cover": (~self.outside).view(np.int8),
            "last_add": self.last,
        }


def mvc_expert(observation: Observation, best: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Equal probability on every node of an optimal cover (n,) that is not picked yet."""
    chosen = best & (observation["in_cover"] == 0)
    return chosen / max(np.count_nonzero(chosen), 1)
