"""A pool in, expert episodes out; instances and picks in, the expert's answers out: batched."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import RUNNING
from gnarl_runtime.envs.engine import Compiled, Engine
from gnarl_runtime.instances.pools import Pool, pool_of

Picks = NDArray[np.int64]  # (episodes, steps), -1 after the last pick
STAY = -1  # no pick: the slot stays as it is


@dataclass(frozen=True, eq=False)
class Rolled:
    """An expert episode on each instance of a pool."""

    pool: Pool
    picks: Picks
    lengths: NDArray[np.int64]  # (episodes,)


def roll_expert(compiled: Compiled, pool: Pool, seed: int) -> Rolled:
    """Play the expert until it has nothing to say, drawing among the nodes it names."""
    engine = Engine(compiled, pool, len(pool))
    engine.load(engine.environments, engine.environments)
    columns: list[NDArray[np.int64]] = []
    while True:
        answers = engine.expert().cumsum(axis=1)
        going = answers[:, -1] > 0
        if not going.any():
            break
        drawn = stream(seed, "boundary roll", len(columns)).random(len(pool))
        picks = (answers <= (drawn * answers[:, -1])[:, None]).sum(axis=1)
        columns.append(np.where(going, picks, STAY))
        move(engine, columns[-1])
    picks = np.array(columns, np.int64).reshape(len(columns), len(pool)).T
    return Rolled(pool, picks, (picks >= 0).sum(axis=1))


def move(engine: Engine, picks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """One pick in each slot that has one; whether it could be made."""
    wanted, running = picks != STAY, engine.batch.ended == RUNNING
    with contextlib.suppress(SpecRunError):  # which slots failed is in `fault`; others have moved
        engine.step(picks)
    return np.asarray(~wanted | (running & (engine.kernels.fault == 0)))


@dataclass(frozen=True, eq=False)
class Answers:
    """What the expert says after given picks."""

    made: NDArray[np.bool_]  # (episodes,) all picks could be made
    shares: NDArray[np.float64]  # (episodes, nodes), zeros where it has nothing to say

    def speaks(self, number: int) -> bool:
        """Whether the state is reached and the expert names a node there."""
        return bool(self.made[number] and self.shares[number].any())

    def differ(self, left: int, right: int) -> bool:
        """Whether two states are reached in which the expert names different nodes."""
        both = bool(self.made[left] and self.made[right])
        return both and not np.array_equal(self.shares[left] > 0, self.shares[right] > 0)


def ask_expert(
    compiled: Compiled, instances: Sequence[Instance], picks: Sequence[NDArray[np.int64]]
) -> Answers:
    """Play given picks from the start of each instance, then ask the expert."""
    pool = pool_of(compiled.problem, instances, compiled.oracles)
    engine = Engine(compiled, pool, len(pool))
    engine.load(engine.environments, engine.environments)
    made = play_picks(engine, engine.environments, pad(picks))
    return Answers(made, engine.expert())


def play_picks(engine: Engine, slots: NDArray[np.int64], picks: Picks) -> NDArray[np.bool_]:
    """Lead some slots through their picks while the others stay; whether all could be made.

    `picks` has a row per slot of `slots`. The rewards of these steps are overwritten.
    """
    made = np.ones(engine.slots, np.bool_)
    for column in picks.T:
        row = np.full(engine.slots, STAY)
        row[slots] = column
        made &= move(engine, row)
    return np.asarray(made[slots])


def pad(rows: Sequence[NDArray[np.int64]]) -> Picks:
    """Sequences of picks as the rows of one array."""
    padded = np.full((len(rows), max(map(len, rows), default=0)), STAY, np.int64)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return padded
