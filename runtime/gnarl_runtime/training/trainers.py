"""A problem, a recipe and a seed in, the trainer that the recipe names out."""

from __future__ import annotations

from importlib import import_module

from gnarl_dsl.brought_names import is_brought
from gnarl_dsl.externs import brought_as
from gnarl_dsl.model import Problem, Trade
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.recipe import TRAINERS, Recipe
from gnarl_runtime.instances.pools import Pool, Progress
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.team.team import ALONE, Team
from gnarl_runtime.training.trainer import Trainer


def make_trainer(
    problem: Problem,
    recipe: Recipe,
    seed: int,
    policy: Policy | None = None,
    pool: Pool | None = None,
    progress: Progress | None = None,
    team: Team = ALONE,
) -> Trainer:
    """Ready for its first update, from the weights of `policy` or from random ones.

    `pool` replaces the instances that the recipe draws; `progress` is told how far drawing is;
    `team` are the processes that share the work.
    """
    if is_brought(recipe.trainer):
        if team.size > 1:
            raise UsageError(f"{recipe.trainer} trains in one process; expected --workers 1")
        own: Trainer = brought_as(Trade.TRAINER, recipe.trainer, problem.code).function(
            problem, recipe, seed, policy, pool=pool, progress=progress
        )
        return own
    module, _, name = TRAINERS[recipe.trainer].home.partition(":")
    trainer: Trainer = getattr(import_module(module), name)(
        problem, recipe, seed, policy, pool=pool, progress=progress, team=team
    )
    return trainer
