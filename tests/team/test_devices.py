"""Policies learn on every device that torch finds; environments stay on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from training_runs import TINY

import gnarl_dsl as gnarl
from gnarl_runtime.checkpoints.recipe import Recipe

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
PARTS = {
    "bc": {"trainer": "bc"},
    "ppo": {"trainer": "ppo"},
    "improve": {"trainer": "improve", "improve": {"updates": 2, "graphs": 4, "samples": 3}},
}


@pytest.mark.long
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("trainer", PARTS)
def test_a_policy_learns_where_it_is(trainer: str, device: str, tmp_path: Path) -> None:
    recipe = Recipe.model_validate({**TINY, **PARTS[trainer]})
    trained = gnarl.train("tsp", recipe=recipe, device=device, out=tmp_path / "run")
    assert all(bool(weight.isfinite().all()) for weight in trained.policy.parameters())
    solved = gnarl.evaluate(trained, sizes=[6], graphs=4)
    assert solved.rows[0].success == 1.0
