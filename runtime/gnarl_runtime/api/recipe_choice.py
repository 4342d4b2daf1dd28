"""A problem and wishes in, the recipe to train it by out. Needs no torch."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT
from gnarl_dsl.report.failures import Notice, UsageError
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import (
    AUTO,
    auto_base,
    default_recipe,
    load_recipe,
    set_keys,
)
from gnarl_runtime.checkpoints.recipe_reading import read_by_level, reading_for


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
    elif wanted == AUTO:
        name, recipe = AUTO, auto_base()
    else:
        name, recipe = Path(wanted).stem, load_recipe(str(wanted))
    if name == AUTO and "trainer" in changes:
        name = str(changes["trainer"])  # decided already: its own settings will do
    return name, set_keys(recipe, changes, where)


def run_name(problem: Problem, recipe_name: str, seed: int) -> str:
    """What a run is called that nobody gave a name."""
    if recipe_name in (AUTO, problem.name) or recipe_name.startswith(f"{problem.name}_"):
        name = problem.name if recipe_name == AUTO else recipe_name
    else:
        name = f"{problem.name}-{recipe_name}"
    return f"{name}-seed{seed}"


def verify_recipe(problem: Problem, recipe: Recipe, name: str = "") -> None:
    """What the recipe names must be in the spec, unless it is still to be chosen."""
    experts = [expert.name for expert in problem.experts]
    rewards = [entry.name for entry in problem.objectives] + [r.name for r in problem.rewards]
    sets = [entry.name for entry in problem.instances]
    for what, wanted, known, needed in (
        ("expert", recipe.bc.expert, experts, name != AUTO and "bc" in recipe.parts),
        ("reward or objective", recipe.ppo.reward, rewards, "ppo" in recipe.parts),
        ("reward or objective", recipe.improve.reward, rewards, "improve" in recipe.parts),
        ("instance set", recipe.data.instances, sets, True),
    ):
        if needed and not known:
            raise UsageError(f"{problem.name} has no {what}, which {recipe.trainer} training needs")
        if wanted is not None and wanted not in known and needed:
            raise UsageError(f"{problem.name} has no {what} {wanted}; it has: {', '.join(known)}")
    _tell_needless_scale(problem, recipe)


def _tell_needless_scale(problem: Problem, recipe: Recipe) -> None:
    """A notice where instances are scaled for a network that cannot see the difference."""
    known = set(read_by_level(problem, reading_for(problem, recipe)))
    numbers = {f.name for f in problem.features if f.stage is INPUT and f.is_number}
    if recipe.data.scale != (1.0, 1.0) and numbers and numbers == known:
        told = (
            f"data.scale is not needed: with policy.levels the network reads "
            f"{', '.join(sorted(known))} by level, so that all scales look the same"
        )
        warnings.warn(told, Notice, stacklevel=3)
