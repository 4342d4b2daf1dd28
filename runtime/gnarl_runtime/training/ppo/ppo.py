"""A problem and a recipe in, a policy that learns from rewards out: PPO, update by update.

Proximal policy optimisation (Schulman et al. 2017) as Stable Baselines 3 does it, over
hundreds of graphs at once: collect, estimate advantages, learn, report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.support.endings import TERMINATED, TRUNCATED
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import (
    module_arrays,
    optimizer_arrays,
    restore_module,
    restore_optimizer,
)
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.instances.pools import Pool, Progress
from gnarl_runtime.network.policy import Output, Policy, log_chances, sample
from gnarl_runtime.training.environment_arrays import engine_arrays, restore_engine
from gnarl_runtime.training.fresh import fresh_policy, scale_scores, vary_rounds
from gnarl_runtime.training.ppo.advantages import Advantages
from gnarl_runtime.training.ppo.episode_tally import EpisodeTally
from gnarl_runtime.training.ppo.ppo_loss import PpoLoss, ppo_loss
from gnarl_runtime.training.ppo.rollout_buffer import RolloutBuffer, Samples
from gnarl_runtime.training.scaling import training_pool
from gnarl_runtime.training.team.team import ALONE, Team, merged, take_share, weight_of
from gnarl_runtime.training.trainer import Metrics, Stretch


class PpoTrainer:
    """Fulfils `Trainer`. A policy that comes with weights is a warm start (`bc+ppo`)."""

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        seed: int,
        policy: Policy | None = None,
        pool: Pool | None = None,
        progress: Progress | None = None,
        team: Team = ALONE,
    ) -> None:
        """`pool`: instances to play on, instead of those that the recipe draws."""
        self.recipe, self.seed, self.team = recipe.ppo, seed, team
        self.share = take_share(team, recipe.ppo.graphs, "ppo.graphs")
        self.updates, self.done = recipe.ppo.updates, 0
        compiled = compile_for(problem, recipe.ppo.reward)
        pool = pool or training_pool(compiled, recipe.data, seed, progress)
        self.engine = Engine(compiled, pool, self.share.count, seed, self.share.first)
        self.engine.reset()
        self.policy = policy or fresh_policy(problem, recipe, seed)
        if policy is None and recipe.ppo.spread > 0:
            scale_scores(self.policy, self.engine, recipe.ppo.spread, team)
        self.learn = team.learning(self.policy)
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(), recipe.ppo.lr, eps=1e-5, fused=True
        )
        self.buffer = RolloutBuffer(self.engine.batch.layout, recipe.ppo.steps)
        self.tally = EpisodeTally(self.engine.slots)

    @property
    def stretch(self) -> Stretch:
        return Stretch(0, self.updates)

    # One update

    def update(self) -> Metrics:
        """Play `steps` steps of all graphs, learn from them for `epochs` epochs."""
        self.tally.begin()
        vary_rounds(self.policy, self.seed, self.done)
        for step in range(self.recipe.steps):
            self._play(step)
        self._value_what_follows()
        estimates = self.buffer.advantages(self.recipe.gamma, self.recipe.lam)
        losses = self._learn(estimates)
        self.done += 1
        told = {
            "states": float(len(self.buffer)),
            **_mean_losses(losses),
            "explained_variance": _explained_variance(self.buffer, estimates),
        }
        episodes = self.tally.metrics()
        return {
            **merged(self.team, told, len(self.buffer), ("states",)),
            **merged(self.team, episodes, episodes["episodes"], ("episodes",)),
        }

    def _play(self, step: int) -> None:
        """Pick a node in every graph, and keep what was known, done and gained."""
        engine, buffer = self.engine, self.buffer
        buffer.store_states(step, engine.batch)
        drawn = stream(self.seed, "ppo picks", self.done, step).random(self.share.total)
        uniform = torch.from_numpy(drawn[self.share.rows])
        packed = pack(engine.batch, engine.environments, self.policy.signature)
        with torch.inference_mode():
            output = self.policy(packed)
            actions = sample(output, packed, uniform).cpu().numpy()
            chances = log_chances(output, packed).cpu().numpy()
        buffer.actions[step] = actions
        buffer.log_chances[step] = chances[packed.places(actions)]
        buffer.values[step] = output.values.cpu().numpy()
        engine.step(actions)
        buffer.rewards[step] = engine.rewards
        self._end_episodes(step)

    def _end_episodes(self, step: int) -> None:
        """Note which episodes are over, and start others in their place."""
        engine, buffer = self.engine, self.buffer
        finished, ended = engine.finished(), engine.batch.ended
        buffer.terminated[step] = ended == TERMINATED
        buffer.done[step] = buffer.terminated[step] | (ended == TRUNCATED)
        buffer.next_values[step] = 0.0
        cut_off = np.flatnonzero(ended == TRUNCATED)
        buffer.next_values[step, cut_off] = self._values(cut_off)
        self.tally.add(engine.rewards, finished, engine.judge("correct", finished))
        engine.reset(finished)

    def _value_what_follows(self) -> None:
        """The value of the state after each pick: that of the next one, unless restarted."""
        buffer = self.buffer
        following = np.append(buffer.values[1:], self._values(self.engine.environments)[None], 0)
        np.copyto(buffer.next_values, following, where=~buffer.done)

    def _values(self, slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """What the critic expects in some slots."""
        if not len(slots):
            return np.zeros(0, np.float32)
        with torch.inference_mode():
            packed = pack(self.engine.batch, slots, self.policy.signature)
            output: Output = self.policy(packed)
        values: NDArray[np.float32] = output.values.cpu().numpy()
        return values

    def _learn(self, estimates: Advantages) -> list[PpoLoss]:
        """Epochs of minibatches; all their losses."""
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        losses = []
        for chosen in self._minibatches():
            samples = self._samples(chosen, estimates)
            total, loss = self.learn(partial(self._loss, samples=samples))
            losses.append(loss)
            if self._moved_too_far(loss, samples):
                break
            self.optimizer.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.recipe.max_norm)
            self.optimizer.step()
        return losses

    def _loss(self, policy: Policy, samples: Samples) -> tuple[Tensor, PpoLoss]:
        """What gradients go back from, and the same over the own decisions, for the record."""
        loss = ppo_loss(policy(samples.packed), samples, self.recipe, self.team)
        count = samples.count if samples.wanted else 0
        return loss.total * weight_of(self.team, count), loss.detached()

    def _samples(self, chosen: NDArray[np.int64], estimates: Advantages) -> Samples:
        """The own ones of these decisions, whose numbers count the graphs of all processes."""
        step, graph = np.divmod(chosen, self.share.total)
        own = (graph >= self.share.first) & (graph < self.share.first + self.share.count)
        found = step[own] * self.share.count + graph[own] - self.share.first
        if len(found):
            return self.buffer.samples(found, estimates, self.policy.signature)
        # Everybody takes part in every step of learning; a stand-in weighs nothing.
        first = self.buffer.samples(np.zeros(1, np.int64), estimates, self.policy.signature)
        return replace(first, wanted=False)

    def _minibatches(self) -> Iterator[NDArray[np.int64]]:
        """Numbers of decisions: each once per epoch, in an order of its own."""
        count = self.recipe.steps * self.share.total
        for epoch in range(self.recipe.epochs):
            order = stream(self.seed, "ppo", self.done, epoch).permutation(count)
            for start in range(0, len(order), self.recipe.minibatch):
                yield order[start : start + self.recipe.minibatch]

    def _moved_too_far(self, loss: PpoLoss, samples: Samples) -> bool:
        target = self.recipe.target_kl
        if target is None:
            return False
        count = samples.count if samples.wanted else 0
        total, whole = self.team.sums(float(loss.kl) * count, count)
        return total / whole > 1.5 * target  # SB3's factor

    def _learning_rate(self) -> float:
        left = 1 - self.done / self.updates
        return self.recipe.lr * (left if self.recipe.decay else 1.0)

    # Between updates

    def best_policy(self) -> Policy:
        """The weights that learn: PPO averages none."""
        return self.policy

    def arrays(self) -> Arrays:
        return {
            **prefixed("policy", module_arrays(self.policy)),
            **prefixed("optimizer", optimizer_arrays(self.optimizer)),
            **self.team.gathered(
                {
                    **prefixed("environment", engine_arrays(self.engine)),
                    **prefixed("tally", self.tally.arrays()),
                }
            ),
        }

    def restore(self, arrays: Arrays, done: int) -> None:
        restore_engine(self.engine, self.share.of(under("environment", arrays)))
        restore_module(self.policy, under("policy", arrays))
        restore_optimizer(self.optimizer, under("optimizer", arrays))
        self.tally.restore(self.share.of(under("tally", arrays)))
        self.done = done


def _mean_losses(losses: Sequence[PpoLoss]) -> Metrics:
    """Means over the minibatches of an update."""

    def mean(name: str) -> float:
        return float(torch.stack([getattr(loss, name) for loss in losses]).mean())

    return {
        "loss": mean("total"),
        "actor_loss": mean("actor"),
        "critic_loss": mean("critic"),
        "entropy": mean("entropy"),
        "kl": mean("kl"),
        "clipped": mean("clipped"),
    }


def _explained_variance(buffer: RolloutBuffer, estimates: Advantages) -> float:
    """1: the critic knew all returns; 0: it knew no more than their mean."""
    spread = float(np.var(estimates.returns))
    return 1 - float(np.var(estimates.returns - buffer.values)) / spread if spread > 0 else 0.0
