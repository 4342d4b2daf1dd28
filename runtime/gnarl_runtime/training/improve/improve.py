"""A problem and a recipe in, a policy that learns the best of what it has played out.

Self-improvement (Pirnay and Grimm 2024; Corsini et al. 2024, SLIM): for some instances of a fixed
pool, draw several episodes from the policy and one from every expert that reads no oracle, keep
the best that is known of each instance, and learn it pick by pick. No critic, no scale of rewards.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import (
    module_arrays,
    optimizer_arrays,
    restore_module,
    restore_optimizer,
)
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import Pool, Progress
from gnarl_runtime.network.policy import Policy, log_chances
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.training.fresh import fresh_policy, scale_scores, vary_rounds
from gnarl_runtime.training.improve.drawing import DrawnPlayer, ExpertStage, Stage
from gnarl_runtime.training.improve.lessons import Lesson, Lessons
from gnarl_runtime.training.improve.memory import Episodes, Flags, Index, Memory
from gnarl_runtime.training.scaling import training_pool
from gnarl_runtime.training.team.team import ALONE, Team, merged, take_share, weight_of
from gnarl_runtime.training.trainer import Metrics, Stretch


class ImproveTrainer:
    """Fulfils `Trainer`."""

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
        self.recipe, self.seed, self.team = recipe.improve, seed, team
        self.updates, self.done = recipe.improve.updates, 0
        experts = free_experts(problem) if recipe.improve.experts else ()
        compiled = compile_for(problem, recipe.improve.reward, experts)
        self.pool = pool or training_pool(
            compiled, recipe.data, seed, progress, recipe.improve.larger
        )
        graphs = min(recipe.improve.graphs, len(self.pool))
        self.share = take_share(team, graphs, "improve.graphs")
        self.memory = Memory(len(self.pool), shortest=not problem.objectives)
        own = self.share.count
        self.stage = Stage(compiled, self.pool, own, recipe.improve.samples)
        self.larger = _larger(recipe, self.pool)
        few = recipe.improve.larger_samples
        self.few = Stage(compiled, self.pool, own, few) if self.larger.any() else self.stage
        self.experts = ExpertStage(compiled, self.pool, own, seed)
        self.graphs = graphs
        self.policy = policy or fresh_policy(problem, recipe, seed)
        batch, signature = recipe.improve.batch, self.policy.signature
        self.lessons = Lessons(compiled, self.pool, self.memory, batch, seed, signature, team)
        if policy is None and recipe.improve.spread > 0:
            engine = self.stage.engine
            numbers = self.share.first * recipe.improve.samples + engine.environments
            engine.load(engine.environments, numbers % len(self.pool))
            scale_scores(self.policy, engine, recipe.improve.spread, team)
        self.learn = team.learning(self.policy)
        self.averaged = copy.deepcopy(self.policy)
        self.optimizer = torch.optim.Adam(
            self.policy.parameters(),
            recipe.improve.lr,
            betas=(0.9, recipe.improve.beta2),
            fused=True,
        )
        self.learned = 0  # batches, in all

    @property
    def stretch(self) -> Stretch:
        return Stretch(0, self.updates)

    # One update

    def update(self) -> Metrics:
        """Play some instances, remember what is best, learn it."""
        vary_rounds(self.policy, self.seed, self.done)
        instances = self._instances()
        told = self._play(instances[self.share.rows])
        self.memory.share(self.team, instances[self.share.rows])
        for _ in range(self.recipe.epochs):
            self.lessons.add(instances[self.memory.length[instances] > 0])
        losses, states = [], 0
        for lesson in self.lessons.batches():
            losses.append(self._learn(lesson))
            states += lesson.count
        self.done += 1
        told = {**told, "states": float(states)}
        told = {**told, "loss": float(np.mean(losses))} if losses else told
        return merged(self.team, told, self.share.count, ("states", "drawn"))

    def _instances(self) -> Index:
        """The next ones: all of the pool in turn, in another order every time."""
        first = self.done * self.graphs
        numbers = np.arange(first, first + self.graphs)
        rounds, places = np.divmod(numbers, len(self.pool))
        orders = {k: stream(self.seed, "turns", k).permutation(len(self.pool)) for k in set(rounds)}
        return np.array([orders[k][place] for k, place in zip(rounds, places, strict=True)])

    def _play(self, instances: Index) -> Metrics:
        before = self.memory.reward[instances]
        taught = [self.memory.offer(episodes) for episodes in self.experts.play(instances)]
        player = DrawnPlayer(self.averaged, self.seed, f"improve {self.done}")
        larger = self.larger[instances]
        parts = [
            stage.play(player, chosen)
            for stage, chosen in ((self.stage, instances[~larger]), (self.few, instances[larger]))
            if len(chosen)
        ]
        own = np.zeros(len(self.pool), np.bool_)  # by instance
        for drawn in parts:
            own[drawn.instance[self.memory.offer(drawn, instead=True)]] = True
        return {
            **self._standing(parts),
            "improved": float((self.memory.reward[instances] > before).mean()),
            "from_experts": self._share(own[instances], taught),
            "drawn": float(sum(drawn.length.sum() for drawn in parts)),
        }

    def _share(self, last: Flags, taught: Sequence[Flags]) -> float:
        """Of the episodes that were kept this time: how many are an expert's."""
        lent = np.any(taught, axis=0) & ~last if taught else np.zeros_like(last)
        kept = lent.sum() + last.sum()
        return float(lent.sum() / kept) if kept else 0.0

    def _standing(self, parts: Sequence[Episodes]) -> Metrics:
        """How good the best known episodes are, and how far the policy's best picks are behind."""
        success = np.concatenate([drawn.success for drawn in parts])
        # The first episode of each instance is the one of best picks.
        first = [np.unique(drawn.instance, return_index=True)[1] for drawn in parts]
        both = list(zip(parts, first, strict=True))
        known = self.memory.reward[np.concatenate([drawn.instance[k] for drawn, k in both])]
        best = np.concatenate([drawn.reward[k] for drawn, k in both])
        right = np.concatenate([drawn.success[k] for drawn, k in both]) & np.isfinite(known)
        told = {"success": float(success.mean())}
        if np.isfinite(known).any():
            told["best"] = float(known[np.isfinite(known)].mean())
        if right.any():
            told["behind"] = float((known - best)[right].mean())
        return told

    def _learn(self, lesson: Lesson) -> float:
        rate = self.recipe.lr * (0.5 + 0.5 * math.cos(math.pi * self.done / self.updates))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        total, loss = self.learn(lambda policy: self._loss(policy, lesson))
        self.optimizer.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.recipe.clip)
        self.optimizer.step()
        self.learned += 1
        self._average()
        return float(loss)

    def _loss(self, policy: Policy, lesson: Lesson) -> tuple[Tensor, Tensor]:
        """What gradients go back from, and the mean over the own states, for the record."""
        chances = log_chances(policy(lesson.packed), lesson.packed)
        places = lesson.packed.places(lesson.wanted)
        wanted = torch.from_numpy(places[places >= 0]).to(chances.device)  # what the network reads
        loss = -chances[wanted].sum() / max(len(wanted), 1)
        return loss * weight_of(self.team, len(wanted) if lesson.count else 0), loss.detach()

    def _average(self) -> None:
        """Weights averaged over the latest batches; over all of them at first."""
        decay = min(self.recipe.average, (1 + self.learned) / (10 + self.learned))
        pairs = zip(self.averaged.parameters(), self.policy.parameters(), strict=True)
        with torch.no_grad():
            for mean, new in pairs:
                mean.lerp_(new, 1 - decay)

    # Between updates

    def best_policy(self) -> Policy:
        """The averaged weights."""
        return self.averaged

    def arrays(self) -> Arrays:
        return {
            **prefixed("policy", module_arrays(self.policy)),
            **prefixed("averaged", module_arrays(self.averaged)),
            **prefixed("optimizer", optimizer_arrays(self.optimizer)),
            **prefixed("memory", self.memory.arrays()),
            **prefixed("lessons", self.lessons.arrays()),
            "learned": np.array(self.learned),
        }

    def restore(self, arrays: Arrays, done: int) -> None:
        self.memory.restore(under("memory", arrays))
        self.lessons.restore(under("lessons", arrays))
        restore_module(self.policy, under("policy", arrays))
        restore_module(self.averaged, under("averaged", arrays))
        restore_optimizer(self.optimizer, under("optimizer", arrays))
        self.learned = int(arrays["learned"])
        self.done = done


def _larger(recipe: Recipe, pool: Pool) -> Flags:
    """Which instances are among the larger ones, of which fewer episodes are drawn."""  # (P,)
    share = recipe.improve.larger if recipe.data.larger_nodes is not None else 0.0
    found: Flags = np.arange(len(pool)) >= len(pool) - round(share * len(pool))
    return found
