"""A problem and a recipe in, a policy that imitates first and then learns from rewards out."""

from __future__ import annotations

import numpy as np

from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.imitation.imitation import ImitationTrainer
from gnarl_runtime.training.ppo.ppo import PpoTrainer
from gnarl_runtime.training.trainer import Metrics, Stretch


class WarmStartTrainer:
    """First imitation, then reinforcement from the averaged weights. Fulfils `Trainer`."""

    def __init__(
        self, problem: Problem, recipe: Recipe, seed: int, policy: Policy | None = None
    ) -> None:
        self.problem, self.recipe, self.seed = problem, recipe, seed
        self.imitated = recipe.bc.updates
        self.updates = recipe.bc.updates + recipe.ppo.updates
        self.part: ImitationTrainer | PpoTrainer = ImitationTrainer(problem, recipe, seed, policy)

    @property
    def done(self) -> int:
        own = self.part.done
        return own if isinstance(self.part, ImitationTrainer) else self.imitated + own

    @property
    def stretch(self) -> Stretch:
        if self.done < self.imitated:
            then = f"then PPO ({self.recipe.ppo.updates:,} updates)"
            return Stretch(0, self.imitated, then)
        return Stretch(self.imitated, self.updates)

    @property
    def policy(self) -> Policy:
        return self.part.policy

    def update(self) -> Metrics:
        if isinstance(self.part, ImitationTrainer) and self.part.done == self.imitated:
            self._reinforce(self.part.best_policy())
        return self.part.update()

    def _reinforce(self, policy: Policy | None) -> None:
        self.part = PpoTrainer(self.problem, self.recipe, self.seed, policy)

    def best_policy(self) -> Policy:
        return self.part.best_policy()

    def arrays(self) -> Arrays:
        second = isinstance(self.part, PpoTrainer)
        return {**prefixed("part", self.part.arrays()), "second": np.array(second)}

    def restore(self, arrays: Arrays, done: int) -> None:
        if bool(arrays["second"]):
            self._reinforce(None)
            self.part.restore(under("part", arrays), done - self.imitated)
        else:
            self.part.restore(under("part", arrays), done)
