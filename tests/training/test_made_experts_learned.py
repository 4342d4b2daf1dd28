"""Imitation of an expert by search: it is learned, and a run that goes on is the same run."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_experts import made_problem

from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.rollout import play
from gnarl_runtime.training.boundary.flow import BoundaryError, choose_expert
from gnarl_runtime.training.imitation.imitation import ImitationTrainer

PROBLEM = made_problem()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slow where other processes compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _recipe(expert: str) -> Recipe:
    recipe = Recipe()
    own = {"expert": expert, "updates": 80, "graphs": 32}
    parts = {
        "policy": replace(recipe.policy, width=16),
        "bc": recipe.bc.model_copy(update=own),
        "data": recipe.data.model_copy(update={"pool": 64}),
    }
    return recipe.model_copy(update=parts)


def test_search_is_learned_and_resumed() -> None:
    trainer = ImitationTrainer(PROBLEM, _recipe("found"), 0)
    fresh = copy.deepcopy(trainer.best_policy())
    metrics = [trainer.update() for _ in range(20)]
    kept = {name: np.copy(values) for name, values in trainer.arrays().items()}
    ahead = [trainer.update() for _ in range(3)]
    again = ImitationTrainer(PROBLEM, _recipe("found"), 0)
    again.restore(kept, 20)
    assert [again.update() for _ in range(3)] == ahead
    metrics += [trainer.update() for _ in range(57)]
    assert 0 < np.mean([m["unlabelled"] for m in metrics]) < 32
    compiled = compile_for(PROBLEM, metrics=True)
    pool = draw_pool(PROBLEM, count=100, seed=77)
    before, after = (
        play(policy, compiled, pool).objective.mean() for policy in (fresh, trainer.best_policy())
    )
    assert after > before + 0.2


def test_boundaries_need_rules() -> None:
    for name in ("better", "found"):
        with pytest.raises(BoundaryError, match="made for each instance"):
            choose_expert(PROBLEM, name)
