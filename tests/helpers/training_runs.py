"""Runs of a second, and what they leave behind."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from gnarl_runtime.checkpoints.arrays import read_arrays
from gnarl_runtime.checkpoints.recipe import Recipe

TINY = {
    "data": {"pool": 24, "nodes": 5},
    "policy": {"width": 8},
    "bc": {"updates": 30, "graphs": 8},
    "ppo": {"updates": 3, "graphs": 8, "steps": 4, "epochs": 2, "minibatch": 16},
    "validation": {"graphs": 4, "nodes": 5, "every": 5, "stop_when_perfect": False},
}


def tiny(**changes: object) -> Recipe:
    return Recipe.model_validate({**TINY, **changes})


def weights(path: Path) -> dict[str, np.ndarray]:
    return read_arrays(path)[0]


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)


def command(out: Path, *more: str) -> list[str]:
    flat = ["bc.updates=60", "bc.graphs=8", "data.pool=24", "data.nodes=5", "policy.width=8"]
    flat += ["validation.every=5", "validation.graphs=4", "stop_when_perfect=false"]
    sets = [part for entry in flat for part in ("--set", entry)]
    module = [sys.executable, "-m", "gnarl_runtime.commands.train"]
    return [*module, "--spec", "bfs", "--out", str(out), *sets, *more]
