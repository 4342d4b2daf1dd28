"""One of several processes: trains some updates of a recipe, and leaves its weights in a file.

torchrun ... -m team_member RECIPE.json SPEC UPDATES FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import gnarl_dsl as gnarl
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import module_arrays
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.training.team.processes import joined_team
from gnarl_runtime.training.team.team import Team
from gnarl_runtime.training.trainers import make_trainer


def train_some(recipe: Recipe, spec: str, updates: int, folder: Path, team: Team) -> None:
    """The weights after `updates` updates, and what is needed to go on."""
    trainer = make_trainer(gnarl.load(spec), recipe, 3, team=team)
    for _ in range(updates):
        trainer.update()
    np.savez(folder / f"{team.rank}-of-{team.size}.npz", **module_arrays(trainer.policy))
    state = trainer.arrays()
    if team.leads:
        np.savez(folder / f"state-of-{team.size}.npz", **state)


if __name__ == "__main__":
    given, spec, updates, folder = sys.argv[1:]
    prepare_torch(1)
    with joined_team() as team:
        recipe = Recipe.model_validate(json.loads(Path(given).read_text()))
        train_some(recipe, spec, int(updates), Path(folder), team)
