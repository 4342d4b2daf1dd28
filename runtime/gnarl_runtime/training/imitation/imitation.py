"""A problem and a recipe in, a policy that imitates the expert out, update by update.

Many episodes are played side by side. Every visited state is labelled by the expert *in that
state*, whoever led there (DAgger), learned from once, and left by a pick of the expert or of the
policy itself.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.read_tables import DrawnRanks
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import (
    module_arrays,
    optimizer_arrays,
    restore_module,
    restore_optimizer,
)
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.instances.pools import Pool, Progress
from gnarl_runtime.network.policy import Output, Policy, argmax, log_chances, sample
from gnarl_runtime.training.environment_arrays import engine_arrays, restore_engine
from gnarl_runtime.training.fresh import fresh_policy, vary_rounds
from gnarl_runtime.training.imitation.critic_lessons import CriticLessons
from gnarl_runtime.training.imitation.imitation_loss import imitation_loss
from gnarl_runtime.training.imitation.labels import count_outside, draw_labelled, label_rows
from gnarl_runtime.training.imitation.material import Material, draw_material
from gnarl_runtime.training.team.team import ALONE, Team, merged, take_share, weight_of
from gnarl_runtime.training.trainer import Metrics, Stretch

WARM_UP = 64  # steps of the expert before the first update, so that not all episodes are young


@dataclass(frozen=True, eq=False)
class Taught:
    """A loss to go back from, and what was found on the way, from which nothing goes back."""

    total: Tensor
    loss: Tensor  # of imitation alone, over the own graphs
    labelled: int
    output: Output


class ImitationTrainer:
    """Fulfils `Trainer`."""

    def __init__(
        self,
        problem: Problem,
        recipe: Recipe,
        seed: int,
        policy: Policy | None = None,
        pool: Pool | None = None,
        material: Material | None = None,
        progress: Progress | None = None,
        team: Team = ALONE,
    ) -> None:
        self.recipe, self.seed, self.team = recipe.bc, seed, team
        self.share = take_share(team, recipe.bc.graphs, "bc.graphs")
        self.updates, self.done = recipe.bc.updates, 0
        self.material = material or draw_material(problem, recipe, seed, pool, progress)
        self.engine = Engine(
            self.material.compiled, self.material.pool, self.share.count, seed, self.share.first
        )
        self.labels = np.zeros(self.engine.batch.legal.shape)  # (slots, N)
        self.policy = policy or fresh_policy(problem, recipe, seed)
        self.averaged = copy.deepcopy(self.policy)
        self.learn = team.learning(self.policy)
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(), recipe.bc.lr, betas=(0.9, recipe.bc.beta2), fused=True
        )
        share = recipe.data.drawn_ranks
        self.drawn = DrawnRanks(seed, share) if share > 0 else None
        self.critic = CriticLessons(self.engine.slots, recipe.policy.width)
        self.ages = np.zeros(self.engine.slots, np.int64)  # (slots,) picks of the episodes so far
        self._start_episodes()

    def _start_episodes(self) -> None:
        """Episodes of every age: some slots start anew after each step of the expert."""
        engine = self.engine
        self._restart(engine.environments)
        for step in range(WARM_UP):
            engine.expert(out=self.labels)
            uniform = stream(self.seed, "warm up", step).random(self.share.total)[self.share.rows]
            engine.step(draw_labelled(self.labels, engine.batch.legal, uniform))
            over = engine.batch.ended != 0
            over |= engine.numbers % WARM_UP == step
            self._restart(np.flatnonzero(over))
        self.ages[:] = engine.numbers  # so that not all are broken off at once

    @property
    def stretch(self) -> Stretch:
        return Stretch(0, self.updates)

    # One update

    def update(self) -> Metrics:
        """Label the states, learn from them, and move on."""
        engine = self.engine
        vary_rounds(self.policy, self.seed, self.done)
        engine.expert(out=self.labels)
        packed = pack(engine.batch, engine.environments, self.policy.signature, self.drawn)
        label = torch.from_numpy(label_rows(self.labels, packed))
        taught: Taught = self.learn(lambda policy: self._taught(policy, packed, label))
        self._learn(taught.total)
        self._average()
        outside = {}
        if packed.node is not None:
            outside["outside"] = float(count_outside(self.labels, packed))
        agreed = self._move(taught.output, packed)
        self.done += 1
        told = {
            "loss": float(taught.loss),
            "states": float(packed.graphs),
            "unlabelled": float(packed.graphs - taught.labelled),
            **outside,
            "agreement": agreed,
        }
        return merged(self.team, told, packed.graphs, ("states", "unlabelled", "outside"))

    def _taught(self, policy: Policy, packed: Packed, label: Tensor) -> Taught:
        """What the states say, over those of all processes; only the total leads back to it."""
        output = policy(packed)
        loss, labelled = imitation_loss(
            self.recipe.loss, log_chances(output, packed), label, packed
        )
        total = loss * weight_of(self.team, labelled)
        if self.recipe.critic:
            lesson = self.critic.loss(policy, output) * weight_of(self.team, packed.graphs)
            total = total + self.recipe.critic * lesson
        return Taught(total, loss.detach(), labelled, output.detached())

    def _learn(self, loss: Tensor) -> None:
        rate = self.recipe.lr * (0.5 + 0.5 * math.cos(math.pi * self.done / self.updates))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.recipe.clip)
        self.optimizer.step()

    def _average(self) -> None:
        """Weights averaged over the latest updates; over all of them at first."""
        decay = min(self.recipe.average, (1 + self.done) / (10 + self.done))
        pairs = zip(self.averaged.parameters(), self.policy.parameters(), strict=True)
        with torch.no_grad():
            for mean, new in pairs:
                mean.lerp_(new, 1 - decay)

    def _move(self, output: Output, packed: Packed) -> float:
        """A pick in every graph; how often the policy's best was one of the expert's."""
        engine, recipe = self.engine, self.recipe
        drawn = stream(self.seed, "imitation", self.done).random((3, self.share.total))
        turn, draw, lead = drawn[:, self.share.rows]
        with torch.no_grad():
            best = argmax(output, packed).cpu().numpy()
            sampled = sample(output, packed, torch.from_numpy(draw)).cpu().numpy()
        picks = np.where(turn < recipe.expert_share + recipe.sampled_share, sampled, best)
        led = (turn < recipe.expert_share) & self.labels.any(axis=1)
        picks = np.where(led, draw_labelled(self.labels, engine.batch.legal, lead), picks)
        agreed = self.labels[engine.environments, best] > 0
        engine.step(picks)
        self.ages += 1
        broken_off = self.material.broken_off(engine, self.ages, self.share.total)
        self.critic.note(output, engine, broken_off)
        self._restart(np.union1d(engine.finished(), broken_off))
        return float(agreed.mean())

    def _restart(self, slots: NDArray[np.int64]) -> None:
        self.ages[slots] = 0
        self.material.start(self.engine, self.seed, slots, self.share.total)

    # Between updates

    def best_policy(self) -> Policy:
        """The averaged weights."""
        return self.averaged

    def arrays(self) -> Arrays:
        return {
            **prefixed("policy", module_arrays(self.policy)),
            **prefixed("averaged", module_arrays(self.averaged)),
            **prefixed("optimizer", optimizer_arrays(self.optimizer)),
            **self.team.gathered(self._of_graphs()),
        }

    def _of_graphs(self) -> Arrays:
        """What belongs to the graphs of this process, by row."""
        return {
            **prefixed("environment", engine_arrays(self.engine)),
            **prefixed("critic", self.critic.arrays()),
            "ages": self.ages.copy(),
        }

    def restore(self, arrays: Arrays, done: int) -> None:
        restore_engine(self.engine, self.share.of(under("environment", arrays)))
        restore_module(self.policy, under("policy", arrays))
        restore_module(self.averaged, under("averaged", arrays))
        restore_optimizer(self.optimizer, under("optimizer", arrays))
        self.critic.restore(self.share.of(under("critic", arrays)))
        self.ages[:] = arrays["ages"][self.share.rows]
        self.done = done
