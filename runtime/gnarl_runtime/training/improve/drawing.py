"""A policy, experts and instances in, whole episodes of each of them out."""

from __future__ import annotations

import numpy as np
import torch

from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.engine import Compiled, Engine
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.network.policy import Policy, argmax, sample
from gnarl_runtime.search.players import STOP, ExpertPlayer, Player, Turn
from gnarl_runtime.training.improve.memory import Episodes, Index

_FIRST = 16  # picks for which there is room at first


class DrawnPlayer:
    """The policy: its best picks in the first attempt at an instance, drawn ones in the others."""

    def __init__(self, policy: Policy, seed: int, purpose: str) -> None:
        self.policy, self.seed, self.purpose = policy, seed, purpose

    def choose(self, engine: Engine, turn: Turn) -> Index:
        packed = pack(engine.batch, turn.slots, self.policy.signature)
        with torch.inference_mode():
            output = self.policy(packed)
            best = argmax(output, packed).cpu().numpy()
            uniform = torch.from_numpy(turn.uniform(self.seed, self.purpose))
            drawn = sample(output, packed, uniform).cpu().numpy()
        return np.asarray(np.where(turn.sample == 0, best, drawn), np.int64)


class Stage:
    """Slots for `attempts` episodes on each of `graphs` instances, side by side."""

    def __init__(self, compiled: Compiled, pool: Pool, graphs: int, attempts: int) -> None:
        self.engine = Engine(compiled, pool, graphs * attempts)
        self.attempts = attempts

    def play(self, player: Player, instances: Index) -> Episodes:
        """Every instance `attempts` times to its end, an instance's episodes side by side.

        An episode that its player gives up has not come to an end, so it is no success.
        """
        engine = self.engine
        instance = np.repeat(instances, self.attempts)
        sample = np.tile(np.arange(self.attempts), len(instances))
        used = np.arange(len(instance))
        engine.batch.ended[:] = TERMINATED
        engine.load(used, instance)
        reward, length = np.zeros(len(used)), np.zeros(len(used), np.int64)
        given_up = np.zeros(len(used), np.bool_)
        picks = np.full((len(used), _FIRST), -1, np.int32)
        while len(running := np.flatnonzero(engine.batch.ended[: len(used)] == RUNNING)):
            turn = Turn(running, instance[running], sample[running], length[running])
            chosen = player.choose(engine, turn)
            stopped = running[chosen == STOP]
            given_up[stopped] = True
            engine.batch.ended[stopped] = TERMINATED
            actions = np.full(engine.slots, STOP, np.int64)
            actions[running] = chosen
            engine.step(actions)
            if length[running].max() >= picks.shape[1]:
                picks = np.pad(picks, ((0, 0), (0, picks.shape[1])), constant_values=-1)
            picks[running, length[running]] = chosen
            reward[running] += engine.rewards[running]
            length[running] += 1
        clause = "correct" if engine.problem.correct is not None else "valid"
        success = engine.judge(clause, used)[used] & ~given_up
        return Episodes(instance, success, reward, picks[:, : length.max(initial=1)], length)


class ExpertStage:
    """The experts that read no oracle, each with one attempt at an instance."""

    def __init__(self, compiled: Compiled, pool: Pool, graphs: int, seed: int) -> None:
        self.players = [ExpertPlayer(name, seed) for name in compiled.experts]
        self.stage = Stage(compiled, pool, graphs, 1) if self.players else None

    def play(self, instances: Index) -> list[Episodes]:
        if self.stage is None:
            return []
        return [self.stage.play(player, instances) for player in self.players]
