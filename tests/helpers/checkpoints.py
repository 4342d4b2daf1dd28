"""Checkpoints of untrained policies, for tests of the commands that read them."""

from __future__ import annotations

from pathlib import Path

import torch
from shipped_specs import shipped

from gnarl_runtime.checkpoints.checkpoint import BEST, make_meta, save_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.network.policy import Policy, PolicyConfig


def untrained_run(folder: Path, name: str, temperature: float = 0.0, **params: str) -> Path:
    """A run folder whose best weights are random ones."""
    problem = shipped(name, **params)
    recipe = Recipe(policy=PolicyConfig(width=8, rounds=1), temperature=temperature)
    torch.manual_seed(1)
    run = folder / name
    run.mkdir()
    meta = make_meta(problem, recipe, 0, 0, {"success": 0.5}, {"cpu": "any"})
    save_checkpoint(run / BEST, Policy(problem, recipe.policy), meta)
    return run
