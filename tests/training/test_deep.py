"""Policies for deep graphs: what they learn carries over, is kept, and goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from shipped_specs import shipped
from training_runs import TINY, same, tiny

import gnarl_dsl as gnarl
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint, make_meta, save_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.rollout import play
from gnarl_runtime.training.fresh import fresh_policy, vary_rounds
from gnarl_runtime.training.trainers import make_trainer

DEEP = {
    "width": 32,
    "rounds": 5,
    "least_rounds": 2,
    "played_rounds": 7,
    "tied": True,
    "whole": True,
    "chains": True,
    "firsts": 2,
    "layer_norm": True,
}


@pytest.mark.long
def test_what_is_learned_on_small_graphs_holds_on_deep_ones() -> None:
    """Random directed graphs of 16 nodes; then of 80, with chains five times as long."""
    sparse = "".join(f"  {split} 1  er(n = 80, p = 0.05)\n" for split in ("train", "valid", "test"))
    text = f'gnarl 1\nproblem sparse extends dfs\n  "Deep."\n\ninstances er\n{sparse}'
    recipe = change_recipe(load_recipe("dfs_deep"), ["bc.updates=700", "bc.graphs=64"])
    trainer = make_trainer(shipped("dfs"), recipe, seed=1)
    while trainer.done < trainer.updates:
        trainer.update()
    compiled = compile_for(gnarl.loads(text))
    graphs = draw_pool(compiled.problem, count=20, seed=1, split="test", oracles=compiled.oracles)
    assert play(trainer.best_policy().eval(), compiled, graphs).success.mean() >= 0.9


@pytest.mark.parametrize("trainer", ["bc", "ppo", "improve"])
def test_a_deep_policy_goes_on_as_if_nothing_had_happened(trainer: str) -> None:
    few = {"updates": 2, "graphs": 4, "samples": 2, "epochs": 1, "batch": 8}
    short = {"bc": {**TINY["bc"], "updates": 3}, "improve": few}
    recipe = tiny(trainer=trainer, policy=DEEP, **short)
    whole = make_trainer(shipped("bfs"), recipe, 3)
    while whole.done < whole.updates:
        whole.update()
    first, second = (make_trainer(shipped("bfs"), recipe, 3) for _ in range(2))
    first.update()
    second.restore(first.arrays(), first.done)
    while second.done < second.updates:
        second.update()
    assert same(second.arrays(), whole.arrays())


def test_training_draws_the_number_of_tied_rounds() -> None:
    policy = fresh_policy(shipped("bfs"), Recipe.model_validate({"policy": DEEP}), 0)
    assert policy.processor.count == 7
    drawn = []
    for done in range(60):
        vary_rounds(policy, 4, done)
        drawn.append(policy.processor.count)
    assert set(drawn) == {2, 3, 4, 5}


def test_a_file_says_how_deep_a_policy_is(tmp_path: Path) -> None:
    problem, recipe = shipped("dfs"), Recipe.model_validate({"policy": DEEP})
    policy = fresh_policy(problem, recipe, 0).eval()
    file = tmp_path / "deep.safetensors"
    save_checkpoint(file, policy, make_meta(problem, recipe, 0, 0, {}, {}))
    again = load_checkpoint(file).policy
    compiled = compile_for(problem)
    pool = draw_pool(problem, count=3, nodes=9, seed=0, oracles=compiled.oracles)
    engine = Engine(compiled, pool, 3)
    engine.load(np.arange(3), np.arange(3))
    packed = pack(engine.batch, range(3), policy.signature)
    with torch.inference_mode():
        assert torch.equal(policy(packed).logits, again(packed).logits)
