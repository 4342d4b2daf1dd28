"""Weights in, how they do on held-out graphs out: what decides which weights are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnarl_compiler.interpret.state import SpecRunError
from gnarl_dsl.model import Objective, Problem, Reward
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.instances.pools import Pool, Progress, draw_pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.rollout import play


@dataclass(frozen=True)
class Scores:
    """Means over the validation graphs; where some are larger, halfway between both means."""

    success: float
    reward: float
    steps: float

    @property
    def order(self) -> tuple[float, ...]:
        """The paper's order: success, then reward, then shorter episodes."""
        return self.success, self.reward, -self.steps

    @property
    def metrics(self) -> dict[str, float]:
        return {"success": self.success, "reward": self.reward, "steps": self.steps}


@dataclass(frozen=True, eq=False)
class Validator:
    """Plays the same graphs every time."""

    compiled: Compiled
    pools: tuple[Pool, ...]  # one for every size
    temperature: float = 0.0
    larger_weight: float | None = None  # of rewards on the last pool, if it is of larger graphs

    def scores(self, policy: Policy) -> Scores:
        was_training = policy.training
        drawn = self.temperature or None
        policy.eval()
        outcomes = [play(policy, self.compiled, pool, temperature=drawn) for pool in self.pools]
        policy.train(was_training)
        for part in outcomes:
            require_finite_rewards(self.compiled, part)
        return scores_of(outcomes, self.larger_weight)


def scores_of(outcomes: Sequence[Outcomes], larger_weight: float | None = None) -> Scores:
    """Means over the graphs of all pools; with a weight, the last pool counts half."""
    if larger_weight is None:
        return _means(outcomes)
    usual, larger = _means(outcomes[:-1]), _means(outcomes[-1:])
    return Scores(
        success=(usual.success + larger.success) / 2,
        reward=(usual.reward + larger_weight * larger.reward) / 2,
        steps=(usual.steps + larger.steps) / 2,
    )


def _means(outcomes: Sequence[Outcomes]) -> Scores:
    return Scores(
        success=float(np.mean(np.concatenate([o.success for o in outcomes]))),
        reward=float(np.mean(np.concatenate([o.reward for o in outcomes]))),
        steps=float(np.mean(np.concatenate([o.steps for o in outcomes]))),
    )


def larger_weight_of(recipe: Recipe) -> float | None:
    """What rewards on larger graphs count; None if there are none."""
    return None if recipe.validation.larger is None else recipe.validation.larger_weight


def require_finite_rewards(compiled: Compiled, outcomes: Outcomes) -> None:
    """A spec whose rewards are no numbers cannot be learned; it says where they come from."""
    strange = ~np.isfinite(outcomes.reward)
    if not strange.any():
        return
    problem = compiled.problem
    entries: list[Objective | Reward] = [*problem.objectives, *problem.rewards]
    named = [entry for entry in entries if compiled.reward in (None, entry.name)]
    found = outcomes.reward[strange][0]
    what = (
        f"its value is {found} at the end of {strange.sum()} of {len(outcomes)} episodes; nothing "
        "can be learned from that. Look for a division by 0 or an infinite input"
    )
    raise SpecRunError(problem, named[0].span, f"{named[0].name}: {what}")


def make_validator(
    problem: Problem, recipe: Recipe, seed: int, progress: Progress | None = None
) -> Validator:
    """The graphs of the `valid` split, the same for every run with that seed."""
    compiled = compile_for(problem, recipe.reward)
    pools = tuple(
        draw_pool(
            problem,
            count=count,
            nodes=nodes,
            seed=seed,
            split="valid",
            instances=recipe.data.instances,
            oracles=compiled.oracles,
            progress=progress,
        )
        for nodes, count in recipe.validation.shares
    )
    return Validator(compiled, pools, recipe.temperature, larger_weight_of(recipe))
