"""A problem in, the name of one of its rewards out."""

from __future__ import annotations

from gnarl_dsl.model import Problem


def cheapest_reward(problem: Problem) -> str | None:
    """A reward that is quick to compute, for those who need none; None is the spec's first."""
    return next((reward.name for reward in problem.rewards if reward.kind != "potential"), None)
