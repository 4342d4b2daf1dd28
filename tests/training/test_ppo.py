"""PPO: what rollouts keep, exact resumption, and that it learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from shipped_specs import shipped

from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.support.endings import RUNNING
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.checkpoints.recipe import Data, Recipe, Reinforcement
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.envs.making import make_engine
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.policy import Policy, argmax
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.training.ppo.ppo import PpoTrainer
from gnarl_runtime.training.ppo.rollout_buffer import RolloutBuffer
from gnarl_runtime.training.trainer import Trainer

SMALL = PolicyConfig(width=32, rounds=1)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other are slow where other processes compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def recipe_for(nodes: int, policy: PolicyConfig = SMALL, **ppo: Any) -> Recipe:
    defaults = {"graphs": 8, "steps": 6, "epochs": 2, "minibatch": 20, "updates": 4}
    return Recipe(
        trainer="ppo",
        policy=policy,
        data=Data(nodes=nodes, pool=32),
        ppo=Reinforcement(**{**defaults, **ppo}),
    )


def weights(trainer: Trainer) -> Arrays:
    return {name: tensor.numpy().copy() for name, tensor in trainer.policy.state_dict().items()}


def assert_equal(left: Arrays, right: Arrays) -> None:
    assert left.keys() == right.keys()
    for name, values in left.items():
        assert np.array_equal(values, right[name]), name


# Rollouts


@pytest.mark.parametrize("name", ["bellman_ford", "rgc", "tsp"])
def test_kept_states_pack_like_the_live_ones(name: str) -> None:
    engine = make_engine(shipped(name), slots=5, nodes=6, pool=12)
    engine.reset()
    buffer = RolloutBuffer(engine.batch.layout, steps=9)
    live = []
    for step in range(9):
        buffer.store_states(step, engine.batch)
        live.append(pack(engine.batch, engine.environments))
        picks = stream(1, "picks", step).random(engine.batch.legal.shape) * engine.batch.legal
        engine.step(picks.argmax(axis=1))
        engine.reset(engine.finished())
    for step, expected in enumerate(live):
        kept = pack(buffer.states, step * 5 + np.arange(5))
        for field in ("x", "edge_raw", "graph_raw", "rowptr", "src", "dst", "offsets", "legal"):
            assert np.array_equal(getattr(kept, field), getattr(expected, field)), (step, field)


def test_only_what_was_cut_off_is_bootstrapped() -> None:
    """With a critic that always says 7 and no discount, returns are known in advance."""
    recipe = recipe_for(4, reward="step", graphs=16, steps=60, lam=1.0, epochs=1)
    trainer = PpoTrainer(shipped("bellman_ford"), recipe, seed=3)
    last = trainer.policy.critic.layers[-1]
    last.weight.data.zero_()
    last.bias.data.fill_(7.0)
    trainer.update()
    buffer = trainer.buffer
    cut_off = buffer.done & ~buffer.terminated
    assert cut_off.any(), "no episode was cut off"
    assert buffer.terminated.any(), "no episode ended normally"
    following = np.full(recipe.ppo.graphs, 7.0)  # of the running episodes
    for step in reversed(range(recipe.ppo.steps)):
        following[buffer.terminated[step]] = 0.0
        following[cut_off[step]] = 7.0
        following = following + buffer.rewards[step]
        np.testing.assert_allclose(buffer.advantages(1.0, 1.0).returns[step], following)


def test_minibatches_hold_every_decision_once_per_epoch() -> None:
    trainer = PpoTrainer(shipped("mvc"), recipe_for(6), seed=0)
    drawn = list(trainer._minibatches())
    assert [len(chosen) for chosen in drawn] == [20, 20, 8] * 2
    first, second = np.concatenate(drawn[:3]), np.concatenate(drawn[3:])
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(48))
    assert not np.array_equal(first, second)
    trainer.done = 1
    assert not np.array_equal(np.concatenate(list(trainer._minibatches())[:3]), first)


def test_picks_are_legal_and_ends_are_noted() -> None:
    trainer = PpoTrainer(shipped("mvc"), recipe_for(6), seed=0)
    for _ in range(3):
        metrics = trainer.update()
        buffer = trainer.buffer
        picked = buffer.states.legal[np.arange(len(buffer)), buffer.actions.reshape(-1)]
        assert picked.all()
        assert metrics["states"] == len(buffer)
        assert metrics["episodes"] == buffer.done.sum()
        assert np.array_equal(buffer.done, buffer.terminated)  # mvc has no limit
    assert trainer.done == 3


def test_a_rollout_stops_when_the_policy_has_moved_far_enough() -> None:
    recipe = recipe_for(6, target_kl=1e-9, lr=1e-2)
    trainer = PpoTrainer(shipped("mvc"), recipe, seed=0)
    trainer.update()
    assert trainer.arrays()["optimizer.0.step"] == 1  # the second minibatch would go further


@pytest.mark.parametrize("spread", [0.1, 2.0])
def test_a_fresh_policy_scores_with_the_wanted_spread(spread: float) -> None:
    deep = PolicyConfig(width=32, rounds=4, aggregation="sum")
    trainer = PpoTrainer(shipped("mvc"), recipe_for(12, deep, spread=spread), seed=0)
    engine = trainer.engine
    packed = pack(engine.batch, engine.environments)
    with torch.inference_mode():
        scores = trainer.policy(packed).logits.numpy().reshape(engine.slots, 12)
    assert np.sqrt(scores.var(axis=1).mean()) == pytest.approx(spread, rel=1e-3)


def test_spread_is_left_alone_where_it_is_known() -> None:
    free = PpoTrainer(shipped("mvc"), recipe_for(6, spread=0), seed=0)
    assert float(free.policy.actor.log_temperature.detach()) == 0.0
    warm = PpoTrainer(shipped("mvc"), recipe_for(6), seed=0, policy=free.policy)
    assert float(warm.policy.actor.log_temperature.detach()) == 0.0


def test_learning_rate_falls_to_nothing() -> None:
    trainer = PpoTrainer(shipped("mvc"), recipe_for(6, lr=1e-3, updates=4), seed=0)
    rates = []
    for _ in range(4):
        trainer.update()
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1e-3, 7.5e-4, 5e-4, 2.5e-4])


# Resumption


@pytest.mark.parametrize("name", ["mvc", "bellman_ford"])
def test_restored_training_ends_with_the_same_weights(name: str) -> None:
    recipe = recipe_for(5)
    whole = PpoTrainer(shipped(name), recipe, seed=1)
    for _ in range(4):
        expected = whole.update()

    first = PpoTrainer(shipped(name), recipe, seed=1)
    first.update()
    first.update()
    kept = first.arrays()
    first.update()  # what was kept must not move along
    resumed = PpoTrainer(shipped(name), recipe, seed=1)
    resumed.restore(kept, done=2)
    resumed.update()
    assert resumed.update() == expected
    assert_equal(weights(resumed), weights(whole))
    assert_equal(resumed.arrays(), whole.arrays())


def test_a_seed_decides_everything() -> None:
    runs = [PpoTrainer(shipped("mvc"), recipe_for(5), seed=seed) for seed in (4, 4, 5)]
    for trainer in runs:
        torch.manual_seed(len(weights(trainer)) + id(trainer) % 97)  # nobody reads torch's stream
        trainer.update()
    assert_equal(weights(runs[0]), weights(runs[1]))
    different = weights(runs[2])
    assert any(not np.array_equal(v, different[k]) for k, v in weights(runs[0]).items())


def test_warm_start_continues_from_given_weights() -> None:
    recipe = recipe_for(5)
    torch.manual_seed(0)
    policy = Policy(shipped("mvc"), replace(SMALL, rounds=2))
    before = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    trainer = PpoTrainer(shipped("mvc"), recipe, seed=0, policy=policy)
    assert trainer.policy is policy
    assert trainer.best_policy() is policy
    assert all(torch.equal(tensor, before[name]) for name, tensor in policy.state_dict().items())
    trainer.update()
    assert any(not torch.equal(t, before[name]) for name, t in policy.state_dict().items())


# Learning


def covers(engine: Engine, pick: Any) -> NDArray[np.float64]:
    """The weight of the cover of each instance of the pool, with picks by `pick(slots)`."""
    engine.load(engine.environments, np.arange(engine.slots))
    total = np.zeros(engine.slots)
    while len(running := np.flatnonzero(engine.batch.ended == RUNNING)):
        actions = np.zeros(engine.slots, np.int64)
        actions[running] = pick(running)
        engine.step(actions)
        total[running] -= engine.rewards[running]
    return total


def test_ppo_learns_vertex_covers() -> None:
    """Nine tenths of the way from random play to the optimum, on graphs it has not seen."""
    problem = shipped("mvc")
    policy = PolicyConfig(width=32, rounds=2, aggregation="sum", pooling="mean", layer_norm=True)
    recipe = recipe_for(
        8, policy, reward="cover", graphs=64, steps=8, epochs=4, minibatch=256, lr=3e-3, updates=15
    )
    recipe = recipe.model_copy(update={"data": Data(nodes=8, pool=500)})
    trainer = PpoTrainer(problem, recipe, seed=0)
    for _ in range(trainer.updates):
        trainer.update()

    pool = draw_pool(problem, count=128, nodes=8, seed=9, split="test", oracles=("best",))
    engine = Engine(compile_for(problem, "cover"), pool, len(pool))

    def best_pick(slots: NDArray[np.int64]) -> NDArray[np.int64]:
        packed = pack(engine.batch, slots)
        with torch.inference_mode():
            return np.asarray(argmax(trainer.policy(packed), packed).numpy())

    def random_pick(slots: NDArray[np.int64]) -> NDArray[np.int64]:
        legal = engine.batch.legal[slots]
        return np.asarray((stream(0, "random", len(slots)).random(legal.shape) * legal).argmax(1))

    batch = pool.batch
    optimum = (batch.features["best"] * batch.features["w"]).sum(axis=1).mean()
    learned, random = covers(engine, best_pick).mean(), covers(engine, random_pick).mean()
    assert random - learned > 0.9 * (random - optimum), (random, learned, optimum)
