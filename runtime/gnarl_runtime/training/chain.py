"""A problem and a recipe of several parts in, a policy that learns by one after the other out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.checkpoints.recipe import TRAINERS, Recipe
from gnarl_runtime.instances.pools import Pool, Progress
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.imitation.imitation import ImitationTrainer
from gnarl_runtime.training.improve.improve import ImproveTrainer
from gnarl_runtime.training.ppo.ppo import PpoTrainer
from gnarl_runtime.training.team.team import ALONE, Team
from gnarl_runtime.training.trainer import Metrics, Stretch, Trainer

_PARTS: Mapping[str, Callable[..., Trainer]] = {
    "bc": ImitationTrainer,
    "ppo": PpoTrainer,
    "improve": ImproveTrainer,
}
_WORDS = {"bc": "imitation", "ppo": "PPO", "improve": "self-improvement"}


class ChainTrainer:
    """Each part starts from the weights that the one before would keep, or from better ones.

    Fulfils `Trainer`.
    """

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        seed: int,
        policy: Policy | None = None,
        pool: Pool | None = None,
        progress: Progress | None = None,
        team: Team = ALONE,
    ) -> None:
        self.problem, self.recipe, self.seed = problem, recipe, seed
        self.pool, self.progress, self.team = pool, progress, team
        self.names = TRAINERS[recipe.trainer].parts
        counts = [int(getattr(recipe, name).updates) for name in self.names]
        self.ends = [sum(counts[: k + 1]) for k in range(len(counts))]
        self.updates = self.ends[-1]
        self.place = 0
        self.better: Policy | None = None  # to start the next part from
        self.part = self._make(policy)

    def _make(self, policy: Policy | None) -> Trainer:
        make = _PARTS[self.names[self.place]]
        drawn = {"pool": self.pool, "progress": self.progress}
        return make(self.problem, self.recipe, self.seed, policy, **drawn, team=self.team)

    @property
    def begin(self) -> int:
        """Updates of the parts before this one."""
        return self.ends[self.place - 1] if self.place else 0

    @property
    def done(self) -> int:
        return self.begin + self.part.done

    @property
    def stretch(self) -> Stretch:
        place = self.place + (self.done == self.ends[self.place] and self.done < self.updates)
        begin = self.ends[place - 1] if place else 0
        if place + 1 == len(self.names):
            return Stretch(begin, self.updates)
        following = self.names[place + 1]
        count = self.ends[place + 1] - self.ends[place]
        return Stretch(begin, self.ends[place], f"then {_WORDS[following]} ({count:,} updates)")

    @property
    def policy(self) -> Policy:
        return self.part.policy

    def update(self) -> Metrics:
        if self.done == self.ends[self.place]:
            learned = self.better or self.part.best_policy()
            self.place, self.better = self.place + 1, None
            self.part = self._make(learned)
        return self.part.update()

    def best_policy(self) -> Policy:
        return self.part.best_policy()

    def arrays(self) -> Arrays:
        return {**prefixed("part", self.part.arrays()), "place": np.array(self.place)}

    def restore(self, arrays: Arrays, done: int) -> None:
        # States of version 0.1 say whether the second of two parts has begun.
        place = int(arrays["place"] if "place" in arrays else arrays["second"])
        if place != self.place:
            self.place = place
            self.part = self._make(None)
        self.part.restore(under("part", arrays), done - self.begin)
