"""Imitation learns, from losses and picks that are what they are said to be."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import shipped
from training_runs import tiny

from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.checkpoints.recipe_files import load_recipe
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.rollout import play
from gnarl_runtime.training.imitation.imitation import ImitationTrainer
from gnarl_runtime.training.imitation.imitation_loss import imitation_loss
from gnarl_runtime.training.imitation.labels import draw_labelled

# It learns


def test_bfs_is_learned_in_a_minute() -> None:
    problem = shipped("bfs")
    recipe = load_recipe("bfs")
    shorter = recipe.model_copy(update={"bc": recipe.bc.model_copy(update={"updates": 250})})
    trainer = ImitationTrainer(problem, shorter, 0)
    for _ in range(250):
        trainer.update()
    compiled = compile_for(problem)
    pool = draw_pool(problem, count=50, nodes=16, seed=5, split="test", oracles=compiled.oracles)
    assert play(trainer.best_policy(), compiled, pool).success.all()


# Losses


def some_states() -> tuple[Packed, np.ndarray, Policy]:
    problem = shipped("bfs")
    trainer = ImitationTrainer(problem, tiny(), 0)
    engine = trainer.engine
    labels = engine.expert()
    labels[2] = 0.0  # an expert without an answer
    return pack(engine.batch, engine.environments), labels, trainer.policy


def test_losses_are_those_of_their_definitions() -> None:
    packed, labels, policy = some_states()
    with torch.no_grad():
        logits = policy(packed).logits.double().numpy()
    parts = {"set": [], "kl": [], "ce": []}
    label = np.concatenate(
        [labels[g, : packed.offsets[g + 1] - packed.offsets[g]] for g in range(8)]
    )
    log_chance = np.zeros(len(logits))
    for g in range(packed.graphs):
        own = slice(packed.offsets[g], packed.offsets[g + 1])
        shifted = logits[own] - logits[own].max()
        log_p = shifted - np.log(np.exp(shifted).sum())
        log_chance[own] = log_p
        wanted = label[own] > 0
        if not wanted.any():
            continue
        q = label[own][wanted]
        parts["set"].append(-np.log(np.exp(log_p[wanted]).sum()))
        parts["kl"].append((q * (np.log(q) - log_p[wanted])).sum())
        parts["ce"].append(-(q * log_p[wanted]).sum())
    for kind, expected in parts.items():
        loss, labelled = imitation_loss(
            kind, torch.from_numpy(log_chance), torch.from_numpy(label), packed
        )
        assert labelled == 7
        assert float(loss) == pytest.approx(np.mean(expected), rel=1e-6)


@given(st.integers(0, 10**6))
def test_drawn_picks_are_the_experts_and_else_legal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    legal = rng.random((6, 5)) < 0.6
    legal[:, 0] |= ~legal.any(axis=1)
    chosen = legal & (rng.random((6, 5)) < 0.5)
    labels = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    picks = draw_labelled(labels, legal, rng.random(6))
    for row, pick in enumerate(picks):
        assert (chosen if chosen[row].any() else legal)[row, pick]


def test_drawn_picks_are_uniform() -> None:
    labels = np.tile([0.0, 0.5, 0.0, 0.5], (4000, 1))
    legal = np.ones(labels.shape, np.bool_)
    picks = draw_labelled(labels, legal, (np.arange(4000) + 0.5) / 4000)
    assert np.bincount(picks, minlength=4).tolist() == [0, 2000, 0, 2000]
