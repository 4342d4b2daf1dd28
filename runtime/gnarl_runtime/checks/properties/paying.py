"""A problem in, the parts of it that pay out: what a right answer must have most of."""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.model import Problem

BEST = "optimal"  # an expert of this name claims that no play is worth more than its own

Paying = model.Objective | model.Reward


def paying(problem: Problem) -> list[Paying]:
    """What a right answer must pay most of: objectives, potentials and rewards at the end."""
    return [*problem.objectives, *(r for r in problem.rewards if r.kind != "step")]


def step_rewards(problem: Problem) -> list[model.Reward]:
    """Rewards that are paid pick by pick, so that it matters how an end was reached."""
    return [reward for reward in problem.rewards if reward.kind == "step"]
