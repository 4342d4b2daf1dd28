"""Self-improvement: what is remembered, exact resumption, chains, and that it learns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import shipped

from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.checkpoints.recipe import Data, Imitation, Improvement, Recipe, Reinforcement
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.players import RandomPlayer, ReplayPlayer
from gnarl_runtime.search.rollout import play, play_with
from gnarl_runtime.training.improve.improve import ImproveTrainer
from gnarl_runtime.training.improve.memory import Episodes, Memory
from gnarl_runtime.training.trainer import Trainer
from gnarl_runtime.training.trainers import make_trainer


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def recipe_for(nodes: int, trainer: str = "improve", **improve: Any) -> Recipe:
    settings = {"graphs": 6, "samples": 4, "batch": 8, "updates": 6, **improve}
    return Recipe(
        trainer=trainer,
        policy=PolicyConfig(width=16, rounds=1),
        data=Data(nodes=nodes, pool=16),
        bc=Imitation(updates=3, graphs=8),
        ppo=Reinforcement(updates=2, graphs=8, steps=4, epochs=1, minibatch=16),
        improve=Improvement(**settings),
    )


def weights(trainer: Trainer) -> Arrays:
    state = trainer.best_policy().state_dict()
    return {name: tensor.numpy().copy() for name, tensor in state.items()}


def assert_equal(left: Arrays, right: Arrays) -> None:
    assert left.keys() == right.keys()
    for name, values in left.items():
        assert np.array_equal(values, right[name]), name


# What is remembered

rewards = st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, float("nan"), float("-inf")])
entries = st.tuples(st.integers(0, 2), st.booleans(), rewards, st.integers(1, 5))


def episodes_of(drawn: list[tuple[int, bool, float, int]]) -> Episodes:
    picks = np.full((len(drawn), 5), -1, np.int32)
    for k, (*_, length) in enumerate(drawn):
        picks[k, :length] = k
    columns = list(zip(*drawn, strict=True))
    return Episodes(
        np.array(columns[0]),
        np.array(columns[1]),
        np.array(columns[2]),
        picks,
        np.array(columns[3]),
    )


@given(st.lists(entries, min_size=1, max_size=12), st.booleans())
def test_the_best_right_episode_of_each_instance_is_remembered(
    drawn: list[tuple[int, bool, float, int]], shortest: bool
) -> None:
    memory = Memory(3, shortest)
    kept = memory.offer(episodes_of(drawn))
    for number in range(3):
        right = [
            (reward, -length if shortest else 0, -k)
            for k, (instance, success, reward, length) in enumerate(drawn)
            if instance == number and success and np.isfinite(reward)
        ]
        if not right:
            assert memory.reward[number] == -np.inf
            assert memory.length[number] == 0
            continue
        reward, _, place = max(right)
        assert memory.reward[number] == reward
        assert (memory.picks[number][memory.picks[number] >= 0] == -place).all()
        assert kept[-place]
    assert kept.sum() == (memory.length > 0).sum()
    assert not memory.offer(episodes_of(drawn)).any()  # as good is not better


@pytest.mark.parametrize("name", ["mvc", "tsp", "rgc", "bellman_ford"])
def test_remembered_picks_earn_what_is_remembered(name: str) -> None:
    problem = shipped(name)
    trainer = ImproveTrainer(problem, recipe_for(6), seed=3)
    for _ in range(3):
        trainer.update()
    known = trainer.memory.known
    assert len(known)
    picks = tuple(
        tuple(trainer.memory.picks[k, : trainer.memory.length[k]].tolist())
        for k in range(len(trainer.pool))
    )
    again = play_with(ReplayPlayer(picks), trainer.stage.engine.compiled, trainer.pool)
    assert again.success[known].all()
    assert np.allclose(again.reward[known], trainer.memory.reward[known])


def test_experts_that_know_the_answer_are_left_out() -> None:
    assert free_experts(shipped("tsp")) == ("nearest", "weak")
    trainer = ImproveTrainer(shipped("tsp"), recipe_for(6), seed=0)
    assert trainer.stage.engine.compiled.oracles == ()


def test_experts_play_along_unless_they_may_not() -> None:
    told = ImproveTrainer(shipped("tsp"), recipe_for(12, samples=2), seed=0).update()
    alone = ImproveTrainer(shipped("tsp"), recipe_for(12, samples=2, experts=False), seed=0)
    assert told["from_experts"] > 0
    assert alone.update()["from_experts"] == 0


# Going on


@pytest.mark.parametrize("kind", ["improve", "bc+improve", "ppo+improve"])
def test_a_restored_trainer_goes_on_exactly(kind: str) -> None:
    recipe = recipe_for(5, kind)
    through = make_trainer(shipped("mvc"), recipe, 1)
    reached: dict[int, Arrays] = {}
    for done in range(1, through.updates):
        through.update()
        if done in reached:
            assert_equal(weights(through), reached[done])
        if done in (2, 4):  # in the first part of a chain and in its second, or twice in one
            arrays = {name: values.copy() for name, values in through.arrays().items()}
            again = make_trainer(shipped("mvc"), recipe, 1)
            again.restore(arrays, through.done)
            assert again.stretch == through.stretch
            for _ in range(2):
                again.update()
            reached[done + 2] = weights(again)


def test_parts_of_a_chain_follow_each_other() -> None:
    trainer = make_trainer(shipped("mvc"), recipe_for(5, "bc+improve"), 0)
    assert trainer.updates == 9
    assert "self-improvement (6 updates)" in trainer.stretch.then
    for _ in range(3):
        trainer.update()
    learned = weights(trainer)
    assert (trainer.stretch.begin, trainer.stretch.end) == (3, 9)
    trainer.update()
    assert trainer.done == 4
    assert learned.keys() == weights(trainer).keys()


# Learning


def test_it_learns_from_an_objective_alone() -> None:
    """Without any expert, far above chance and above what it started from."""
    problem = shipped("max_cut")
    recipe = recipe_for(10, updates=40, graphs=16, samples=8, batch=32, experts=False, lr=5e-3)
    recipe = recipe.model_copy(
        update={
            "policy": PolicyConfig(width=32, rounds=2, aggregation="sum", layer_norm=True),
            "data": Data(nodes=10, pool=128),
        }
    )
    trainer = ImproveTrainer(problem, recipe, seed=0)
    compiled = compile_for(problem)
    fresh = draw_pool(problem, count=64, nodes=10, seed=99, split="valid")
    before = play(trainer.best_policy(), compiled, fresh).reward.mean()
    while trainer.done < trainer.updates:
        told = trainer.update()
    after = play(trainer.best_policy(), compiled, fresh).reward.mean()
    chance = play_with(RandomPlayer(0), compiled, fresh).reward.mean()
    best_of_chance = (
        play_with(RandomPlayer(0), compiled, fresh, samples=4).reward.reshape(64, 4).max(axis=1)
    )
    assert after > before
    assert after > chance
    assert after > best_of_chance.mean()
    assert 0 <= told["behind"] < 1
