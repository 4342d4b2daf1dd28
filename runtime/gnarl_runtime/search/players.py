"""A state of many episodes goes in, a pick per episode comes out: policy, expert or chance.

Whatever is random is a function of (seed, instance, sample, step): an episode is the same
whichever slot it is played in and whoever plays beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.instances.sampler import uniform_below
from gnarl_runtime.network.policy import Policy, argmax, sample, verify_numbers

Index = NDArray[np.int64]

# A pick that gives an episode up: the expert has nothing left to do, and no way to end it. Where
# it may be ended, that is the last of the legal picks, and no giving up.
STOP = -1
_FINE = 2**32 - 1  # steps of the uniform numbers


@dataclass(frozen=True, eq=False)
class Turn:
    """The episodes that need a pick, and where each of them is."""

    slots: Index  # (K,)
    instance: Index  # (K,) its number
    sample: Index  # (K,) number of the attempt at that instance
    step: Index  # (K,) picks made so far

    def uniform(self, seed: int, purpose: str) -> NDArray[np.float64]:
        """A number in [0, 1) per episode, of its own."""  # (K,)
        keys = (self.instance, self.sample, self.step)
        return uniform_below(_FINE, seed, purpose, *keys) / _FINE


class Player(Protocol):
    """Somebody who picks nodes."""

    def choose(self, engine: Engine, turn: Turn) -> Index:
        """A legal pick per episode of the turn, or STOP."""  # (K,)
        ...


@dataclass(frozen=True, eq=False)
class PolicyPlayer:
    """A policy: its best pick, or with a temperature a pick drawn from it."""

    policy: Policy
    temperature: float | None = None
    seed: int = 0

    def choose(self, engine: Engine, turn: Turn) -> Index:
        packed = pack(engine.batch, turn.slots, self.policy.signature)
        with torch.inference_mode():
            output = self.policy(packed)
            verify_numbers(output)
            if self.temperature is None:
                picks = argmax(output, packed)
            else:
                uniform = torch.from_numpy(turn.uniform(self.seed, "policy"))
                picks = sample(output, packed, uniform, self.temperature)
        return np.asarray(picks.cpu().numpy(), np.int64)


@dataclass(frozen=True)
class RandomPlayer:
    """Every legal node is as likely as any other."""

    seed: int = 0

    def choose(self, engine: Engine, turn: Turn) -> Index:
        legal = engine.batch.legal[turn.slots].astype(np.float64)
        return draw_picks(legal, turn.uniform(self.seed, "random"))


@dataclass(frozen=True)
class ExpertPlayer:
    """An expert of the spec, with which the engine was compiled.

    Without an answer at the start of a round it is done and stops; inside a round, where it
    cannot stop, any legal node will do. Of several answers it draws one, or takes the `first`.
    """

    expert: str
    seed: int = 0
    first: bool = False

    def choose(self, engine: Engine, turn: Turn) -> Index:
        chances = engine.expert(self.expert, slots=turn.slots)[turn.slots]
        silent = ~chances.any(axis=1)
        chances[silent] = engine.batch.legal[turn.slots[silent]]
        drawn = np.zeros(len(turn.slots)) if self.first else turn.uniform(self.seed, "expert")
        picks = draw_picks(chances, drawn)
        picks[silent & engine.batch.opening(turn.slots)] = STOP
        return picks


@dataclass(frozen=True, eq=False)
class KeyedPlayer:
    """Somebody who draws by what an instance is called instead of by its number."""

    player: Player
    keys: Index  # (instances,)

    def choose(self, engine: Engine, turn: Turn) -> Index:
        return self.player.choose(engine, replace(turn, instance=self.keys[turn.instance]))


def draw_picks(chances: NDArray[np.float64], uniform: NDArray[np.float64]) -> Index:
    """One column per row of (K, N) by weight; `uniform` (K,) decides."""  # (K,)
    upto = np.cumsum(chances, axis=1)
    passed = upto <= uniform[:, None] * upto[:, -1:]
    # Rounding must not step over the last column that has any weight.
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
    return np.asarray(np.minimum(passed.sum(axis=1), last), np.int64)


class ReplayError(ValueError):
    """Picks that cannot be made again."""


@dataclass(frozen=True, eq=False)
class ReplayPlayer:
    """Makes given picks again, on instances that may differ in numbers."""

    picks: tuple[tuple[int, ...], ...]  # (instances * samples,) each (steps,)
    samples: int = 1

    def choose(self, engine: Engine, turn: Turn) -> Index:
        chosen = np.full(len(turn.slots), STOP, np.int64)
        for k, episode in enumerate(turn.instance * self.samples + turn.sample):
            known = self.picks[episode]
            chosen[k] = known[turn.step[k]] if turn.step[k] < len(known) else STOP
        if engine.problem.may_stop:
            over = (chosen == STOP) & engine.batch.legal[turn.slots, -1]
            chosen[over] = engine.batch.layout.nodes
        playing = chosen != STOP
        legal = engine.batch.legal[turn.slots[playing], chosen[playing]]
        if not legal.all():
            raise ReplayError("a pick that was legal in one instance is not in the other")
        return chosen
