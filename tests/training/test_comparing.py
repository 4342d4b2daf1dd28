"""A policy that compares numbers is trained, kept, and holds for other graphs and laws."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from shipped_specs import shipped
from training_runs import tiny

import gnarl_dsl as gnarl
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint, make_meta, save_checkpoint
from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.rollout import play
from gnarl_runtime.training.trainers import make_trainer


@pytest.mark.long
def test_what_is_learned_by_comparing_holds_on_other_graphs_and_laws() -> None:
    """Small graphs of many kinds; then grids of 49 nodes with large whole weights."""
    grid = "".join(f"  {split} 1  grid(n = 49)\n" for split in ("train", "valid", "test"))
    head = 'gnarl 1\nproblem far extends bellman_ford\n  "Far."\n\ninstances er\n'
    changes = ["bc.updates=250", "bc.graphs=128", "data.pool=1000"]
    recipe = change_recipe(load_recipe("bellman_ford_wide"), changes)
    trainer = make_trainer(gnarl.load("bellman_ford_wide"), recipe, seed=1)
    while trainer.done < trainer.updates:
        trainer.update()
    compiled = compile_for(gnarl.loads(f"{head}  A ~ integers(100, 900)\n{grid}"))
    graphs = draw_pool(compiled.problem, count=20, seed=1, split="test", oracles=compiled.oracles)
    assert play(trainer.best_policy().eval(), compiled, graphs).success.mean() >= 0.9


def test_a_checkpoint_keeps_what_is_compared(tmp_path: Path) -> None:
    problem = shipped("bellman_ford")
    recipe = tiny(trainer="bc", policy={"width": 32, "levels": True, "compares": True})
    trainer = make_trainer(problem, recipe, 3)
    trainer.update()
    policy = trainer.best_policy().eval()
    file = tmp_path / "kept.safetensors"
    save_checkpoint(file, policy, make_meta(problem, recipe, 3, 1, {}, {}))
    again = load_checkpoint(file).policy
    assert again.signature == policy.signature
    packed = pack(trainer.engine.batch, trainer.engine.environments, policy.signature)
    with torch.inference_mode():
        assert torch.equal(again(packed).logits, policy(packed).logits)
