"""Rewards, values and ends of a rollout in, advantages and value targets out (GAE)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Advantages:
    """How much better each pick was than expected, and what its state turned out to be worth."""

    advantages: Floats  # (steps, graphs)
    returns: Floats  # (steps, graphs) targets of the critic


def estimate_advantages(
    rewards: Floats,  # (steps, graphs)
    values: Floats,  # (steps, graphs) of the state in which a pick was made
    next_values: Floats,  # (steps, graphs) of the state that it led to, before any restart
    done: Truths,  # (steps, graphs) the episode ended, in whatever way
    terminated: Truths,  # (steps, graphs) it ended normally: nothing more was to be had
    gamma: float,
    lam: float,
) -> Advantages:
    """Generalised advantage estimates (Schulman et al. 2016).

    An episode that was cut off is worth what the critic expects of the state it was cut off in;
    one that ended normally is worth nothing more.
    """
    surprise = rewards + gamma * next_values * ~terminated - values
    advantages = np.empty_like(surprise)
    later = np.zeros(rewards.shape[1])
    for step in reversed(range(len(rewards))):
        later = surprise[step] + gamma * lam * ~done[step] * later
        advantages[step] = later
    return Advantages(advantages, advantages + values)
