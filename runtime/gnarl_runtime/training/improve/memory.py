"""Episodes in, the best one of every instance out: what self-improvement learns from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.training.team.team import Team

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Picks = NDArray[np.int32]

_ROUNDING = 1e-9  # rewards are sums of differences: less than this, relatively, is no gain


@dataclass(frozen=True, eq=False)
class Episodes:
    """K episodes that were played to their end."""

    instance: Index  # (K,) its number in the pool
    success: Flags  # (K,) what counts: a right or a valid end
    reward: NDArray[np.float64]  # (K,) total
    picks: Picks  # (K, T) -1 behind the last
    length: Index  # (K,)


class Memory:
    """The best episode known of each of P instances; one is replaced by a better one only."""

    def __init__(self, instances: int, shortest: bool) -> None:
        """`shortest`: of two that are right and gain as much, the shorter is the better one."""
        self.shortest = shortest
        self.reward = np.full(instances, -np.inf)  # (P,) -inf: none is known
        self.length = np.zeros(instances, np.int64)  # (P,)
        self.picks = np.full((instances, 1), -1, np.int32)  # (P, longest)

    @property
    def known(self) -> Index:
        """The instances of which an episode is known."""
        return np.flatnonzero(self.reward > -np.inf)

    def offer(self, episodes: Episodes, instead: bool = False) -> Flags:
        """Keep those that are right and better than what is known; which of them were kept.

        `instead`: as good is good enough, against what was known before. Among equals the
        policy's own are the easier ones to learn: all of them then break ties in the same way.
        """
        kept = np.zeros(len(episodes.instance), np.bool_)
        open_to_equals = set(np.unique(episodes.instance).tolist()) if instead else set()
        for k in np.flatnonzero(episodes.success & np.isfinite(episodes.reward)).tolist():
            number = int(episodes.instance[k])
            gain = self._gain(episodes, k, number)
            kept[k] = gain > 0 or (gain == 0 and number in open_to_equals)
            if kept[k]:
                open_to_equals.discard(number)
                kept[:k] &= episodes.instance[:k] != number
                self._keep(episodes, k, number)
        return kept

    def _gain(self, episodes: Episodes, k: int, number: int) -> int:
        """1: better than what is known, 0: as good, -1: worse."""
        known, offered = float(self.reward[number]), float(episodes.reward[k])
        if known == -np.inf:
            return 1
        margin = _ROUNDING * (1 + abs(known))
        if abs(offered - known) > margin:
            return 1 if offered > known else -1
        shorter = int(self.length[number] - episodes.length[k]) if self.shortest else 0
        return (shorter > 0) - (shorter < 0)

    def _keep(self, episodes: Episodes, k: int, number: int) -> None:
        length = int(episodes.length[k])
        self.require_room(length)
        self.reward[number] = episodes.reward[k]
        self.length[number] = length
        self.picks[number] = -1
        self.picks[number, :length] = episodes.picks[k, :length]

    def share(self, team: Team, instances: Index) -> None:
        """Tell the others what is known of these, and hear what they know of theirs."""
        if team.size == 1:
            return
        own = instances, self.reward[instances], self.length[instances], self.picks[instances]
        for numbers, reward, length, picks in team.everyone(own):
            self.require_room(picks.shape[1])
            self.reward[numbers], self.length[numbers] = reward, length
            self.picks[numbers] = -1
            self.picks[numbers, : picks.shape[1]] = picks

    def require_room(self, length: int) -> None:
        """Columns for episodes of that length."""
        missing = length - self.picks.shape[1]
        if missing > 0:
            self.picks = np.pad(self.picks, ((0, 0), (0, missing)), constant_values=-1)

    def arrays(self) -> Arrays:
        return {
            "reward": self.reward.copy(),
            "length": self.length.copy(),
            "picks": self.picks.copy(),
        }

    def restore(self, arrays: Arrays) -> None:
        if len(arrays["reward"]) != len(self.reward):
            raise ValueError(
                f"expected the best episodes of {len(self.reward)} instances, found those of "
                f"{len(arrays['reward'])}"
            )
        self.reward[:], self.length[:] = arrays["reward"], arrays["length"]
        self.picks = np.array(arrays["picks"], np.int32)
