"""A problem and wishes in, the recipe to train it by out. Needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import default_recipe, load_recipe, set_keys


def choose_recipe(
    problem: Problem,
    wanted: str | Path | Recipe | None,
    changes: Mapping[str, Any],
    where: str,
) -> tuple[str, Recipe]:
    """The recipe with its name; without a wish the one that suits the problem.

    `where` is how changes are given, for messages.
    """
    if isinstance(wanted, Recipe):
        name, recipe = problem.name, wanted
    elif wanted is None:
        name, recipe = default_recipe(problem)
    else:
        name, recipe = Path(wanted).stem, load_recipe(str(wanted))
    return name, set_keys(recipe, changes, where)


def verify_recipe(problem: Problem, recipe: Recipe) -> None:
    """What the recipe names must be in the spec."""
    experts = [expert.name for expert in problem.experts]
    rewards = [entry.name for entry in problem.objectives] + [r.name for r in problem.rewards]
    sets = [entry.name for entry in problem.instances]
    for what, wanted, known, needed in (
        ("expert", recipe.bc.expert, experts, "bc" in recipe.parts),
        ("reward or objective", recipe.ppo.reward, rewards, "ppo" in recipe.parts),
        ("reward or objective", recipe.improve.reward, rewards, "improve" in recipe.parts),
        ("instance set", recipe.data.instances, sets, True),
    ):
        if needed and not known:
            raise UsageError(f"{problem.name} has no {what}, which {recipe.trainer} training needs")
        if wanted is not None and wanted not in known and needed:
            raise UsageError(f"{problem.name} has no {what} {wanted}; it has: {', '.join(known)}")
