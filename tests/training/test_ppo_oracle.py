"""Advantages and the loss of PPO: values and gradients are those of TorchRL."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tensordict import TensorDict
from tensordict.nn import (
    ProbabilisticTensorDictModule,
    ProbabilisticTensorDictSequential,
    TensorDictModule,
)
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value.functional import generalized_advantage_estimate

from gnarl_compiler.graphs.streams import stream
from gnarl_runtime.batch.pack import Packed
from gnarl_runtime.checkpoints.recipe import Reinforcement
from gnarl_runtime.network.policy import Output
from gnarl_runtime.training.ppo.advantages import estimate_advantages
from gnarl_runtime.training.ppo.ppo_loss import normalised, ppo_loss
from gnarl_runtime.training.ppo.rollout_buffer import Samples


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.99, 0.0)])
def test_advantages_are_those_of_torchrl(seed: int, gamma: float, lam: float) -> None:
    rng = stream(seed, "advantages")
    shape = 30, 7
    rewards, values, following = rng.normal(size=(3, *shape))
    done = rng.random(shape) < 0.2
    terminated = done & (rng.random(shape) < 0.5)  # the others are cut off
    ours = estimate_advantages(rewards, values, following, done, terminated, gamma, lam)

    def turned(array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array.T))[..., None]  # (graphs, steps, 1)

    given = (turned(array) for array in (values, following, rewards, done, terminated))
    advantages, returns = generalized_advantage_estimate(gamma, lam, *given)
    close = {"rtol": 1e-6, "atol": 1e-6}  # its discounts are float32
    np.testing.assert_allclose(ours.advantages, advantages[..., 0].numpy().T, **close)
    np.testing.assert_allclose(ours.returns, returns[..., 0].numpy().T, **close)


GRAPHS, NODES, FEATURES = 40, 6, 5


class Case:
    """Decisions in graphs of several sizes, for a policy that is linear in random features."""

    def __init__(self, seed: int) -> None:
        rng = stream(seed, "loss")
        sizes = rng.integers(1, NODES + 1, GRAPHS)
        self.there = np.arange(NODES) < sizes[:, None]  # (graphs, nodes)
        self.legal = self.there & (rng.random((GRAPHS, NODES)) < 0.7)
        self.legal[:, 0] = True
        self.actions = (rng.random((GRAPHS, NODES)) * self.legal).argmax(axis=1)
        self.x = torch.from_numpy(rng.normal(size=(GRAPHS, FEATURES)))
        self.actor = torch.from_numpy(rng.normal(size=(FEATURES, NODES)))
        self.critic = torch.from_numpy(rng.normal(size=FEATURES))
        self.returns = torch.from_numpy(rng.normal(size=GRAPHS))
        self.advantages = torch.from_numpy(rng.normal(size=GRAPHS))
        self.drift = torch.from_numpy(0.4 * rng.normal(size=GRAPHS))  # of log-chances since then

    def old_log_chances(self) -> torch.Tensor:
        logits = (self.x @ self.actor).masked_fill(~torch.from_numpy(self.legal), -torch.inf)
        chosen = logits.log_softmax(1).gather(1, torch.from_numpy(self.actions)[:, None])
        return chosen[:, 0] + self.drift

    def packed(self) -> Packed:
        """Only what a loss reads: the rest of a pack is for the network."""
        sizes = self.there.sum(axis=1)
        offsets = np.append(0, np.cumsum(sizes))
        nothing, none = np.zeros((0, 0), np.float32), np.zeros(0, np.int64)
        graph = np.repeat(np.arange(GRAPHS), sizes)
        legal = self.legal[self.there]
        return Packed(nothing, nothing, nothing, none, none, none, graph, offsets, legal)


def our_loss(case: Case, recipe: Reinforcement) -> tuple[float, list[torch.Tensor]]:
    actor, critic = (weight.clone().requires_grad_() for weight in (case.actor, case.critic))
    packed = case.packed()
    logits = (case.x @ actor)[torch.from_numpy(case.there)]
    illegal = ~torch.from_numpy(packed.legal)
    output = Output(logits.masked_fill(illegal, -torch.inf), case.x @ critic, pooled=case.x)
    picks = torch.from_numpy(packed.offsets[:-1] + case.actions)
    samples = Samples(packed, picks, case.old_log_chances(), case.advantages, case.returns)
    total = ppo_loss(output, samples, recipe).total
    total.backward()
    return float(total.detach()), [actor.grad, critic.grad]


def torchrl_loss(case: Case, recipe: Reinforcement) -> tuple[float, list[torch.Tensor]]:
    actor = torch.nn.Linear(FEATURES, NODES, bias=False, dtype=torch.float64)
    critic = torch.nn.Linear(FEATURES, 1, bias=False, dtype=torch.float64)
    actor.weight.data.copy_(case.actor.T)
    critic.weight.data.copy_(case.critic[None])
    masked = ProbabilisticTensorDictModule(
        in_keys={"logits": "logits", "mask": "mask"},
        out_keys=["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    scores = TensorDictModule(actor, in_keys=["x"], out_keys=["logits"])
    loss = ClipPPOLoss(
        ProbabilisticTensorDictSequential(scores, masked),
        ValueOperator(critic, in_keys=["x"]),
        clip_epsilon=recipe.clip,
        entropy_coeff=recipe.entropy,
        critic_coeff=recipe.value,
        loss_critic_type="l2",
    )
    given = {
        "x": case.x,
        "mask": torch.from_numpy(case.legal),
        "action": torch.from_numpy(case.actions),
        "action_log_prob": case.old_log_chances(),
        "advantage": normalised(case.advantages)[:, None],
        "value_target": case.returns[:, None],
    }
    parts = loss(TensorDict(given, [GRAPHS]))
    total = parts["loss_objective"] + parts["loss_critic"] + parts["loss_entropy"]
    total.backward()
    grads = {name: weight.grad for name, weight in loss.named_parameters()}
    from_actor, from_critic = (grad for grad in grads.values() if grad is not None)
    return float(total.detach()), [from_actor.T, from_critic[0]]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("entropy", [0.0, 0.02])
def test_loss_and_gradients_are_those_of_torchrl(seed: int, entropy: float) -> None:
    case, recipe = Case(seed), Reinforcement(entropy=entropy, clip=0.2, value=0.5)
    assert (case.drift.abs() > 0.25).any(), "no decision would be clipped"
    ours, our_grads = our_loss(case, recipe)
    theirs, their_grads = torchrl_loss(case, recipe)
    assert ours == pytest.approx(theirs, abs=1e-6)
    for mine, other in zip(our_grads, their_grads, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-6)


def test_advantages_are_normalised_per_minibatch() -> None:
    scaled = normalised(torch.tensor([3.0, 5.0, 10.0]))
    assert float(scaled.mean()) == pytest.approx(0, abs=1e-6)
    assert float(scaled.std()) == pytest.approx(1, abs=1e-6)
    assert normalised(torch.tensor([4.0])).tolist() == [4.0]
