"""What a policy says about some decisions and how these turned out in, PPO's loss out."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gnarl_runtime.checkpoints.recipe import Reinforcement
from gnarl_runtime.network.policy import Output, log_chances
from gnarl_runtime.training.ppo.rollout_buffer import Samples
from gnarl_runtime.training.team.team import ALONE, Team


@dataclass(frozen=True, eq=False)
class PpoLoss:
    """The loss of a minibatch and what it is made of; all are scalars."""

    total: Tensor
    actor: Tensor
    critic: Tensor
    entropy: Tensor  # mean over decisions, in nats
    kl: Tensor  # of the old policy from the new one, approximately
    clipped: Tensor  # share of decisions whose ratio is out of range

    def detached(self) -> PpoLoss:
        """The same numbers without the pack of graphs that they were computed from."""
        return PpoLoss(*(getattr(self, field.name).detach() for field in fields(self)))


def ppo_loss(
    output: Output, samples: Samples, recipe: Reinforcement, team: Team = ALONE
) -> PpoLoss:
    """The clipped surrogate, the critic's squared error and the entropy of the legal picks.

    Means over these samples; advantages are put on the scale of the samples of all processes.
    """
    device = output.values.device
    chances = log_chances(output, samples.packed)  # (choices,)
    log_ratio = chances[samples.picks.to(device)] - samples.log_chances.to(device)  # (samples,)
    return combine_losses(
        log_ratio,
        normalised(samples.advantages.to(device), team, samples.wanted),
        output.values - samples.returns.to(device),
        entropy(chances, samples.count),
        recipe,
    )


def combine_losses(
    log_ratio: Tensor, advantages: Tensor, errors: Tensor, entropy: Tensor, recipe: Reinforcement
) -> PpoLoss:
    """Schulman et al. 2017, equation 9, with the value loss unclipped; per-sample tensors in."""
    ratio = log_ratio.exp()
    limited = ratio.clamp(1 - recipe.clip, 1 + recipe.clip)
    actor = -torch.minimum(advantages * ratio, advantages * limited).mean()
    critic = errors.square().mean()
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()  # Schulman's low-variance estimate, as in SB3
        clipped = ((ratio - 1).abs() > recipe.clip).float().mean()
    total = actor + recipe.value * critic - recipe.entropy * entropy
    return PpoLoss(total, actor, critic, entropy, kl, clipped)


def normalised(advantages: Tensor, team: Team = ALONE, wanted: bool = True) -> Tensor:
    """Mean 0 and deviation 1, but for a single one, which has no deviation.

    Over the samples of all processes; of those that are not `wanted` nobody else hears.
    """
    if team.size > 1:
        return _normalised_together(advantages, team, wanted)
    if len(advantages) < 2:
        return advantages
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def _normalised_together(advantages: Tensor, team: Team, wanted: bool) -> Tensor:
    own = advantages.double() if wanted else advantages.double()[:0]
    total, count = team.sums(float(own.sum()), len(own))
    mean = total / count
    (squares,) = team.sums(float((own - mean).square().sum()))
    if count < 2:
        return advantages
    return (advantages - mean) / (math.sqrt(squares / (count - 1)) + 1e-8)


def entropy(chances: Tensor, graphs: int) -> Tensor:
    """The mean entropy of distributions given by log-probabilities (nodes,); -inf adds nothing."""
    possible = chances[chances > -torch.inf]
    return -(possible.exp() * possible).sum() / graphs
