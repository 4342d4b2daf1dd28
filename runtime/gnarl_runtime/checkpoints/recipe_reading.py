"""A problem and a recipe in, how a policy trained by it reads numbers out. Needs no torch."""

from __future__ import annotations

from gnarl_dsl.levels.levels import Use
from gnarl_dsl.model import Problem, choose_reward
from gnarl_dsl.model.kinds import INPUT
from gnarl_runtime.batch.reading import PLAIN, Reading, reading_of
from gnarl_runtime.checkpoints.recipe import Recipe


def reading_for(problem: Problem, recipe: Recipe) -> Reading:
    """How numbers are read by a policy that this recipe trains from the start."""
    return reading_of(problem, use_of(problem, recipe)) if recipe.policy.levels else PLAIN


def use_of(problem: Problem, recipe: Recipe) -> Use:
    """What decides besides the rules: the expert that is imitated, the reward that is gained."""
    experts: tuple[str, ...] = ()
    if "bc" in recipe.parts and problem.experts:
        experts = (problem.expert(recipe.bc.expert).name,)
    gains = [part for part in recipe.parts if part != "bc"]
    names = [recipe.ppo.reward if part == "ppo" else recipe.improve.reward for part in gains]
    goals = [choose_reward(problem, name) for name in names]
    return Use(experts, tuple(dict.fromkeys(goal.name for goal in goals if goal is not None)))


def read_by_level(problem: Problem, reading: Reading) -> list[str]:
    """The inputs whose size the network cannot see."""
    return [f.name for f in problem.features if f.stage is INPUT and f.name in reading.ruled]
