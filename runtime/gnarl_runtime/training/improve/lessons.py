"""Best episodes in, batches of their states with the pick to learn in each out.

Slots play remembered episodes again, each at a place of its own, so that a batch holds states of
many instances and of all ages. What is remembered may change meanwhile; a slot ends what it began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.signature import Signature
from gnarl_runtime.checkpoints.arrays import Arrays, prefixed, under
from gnarl_runtime.envs.engine import Compiled, Engine
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.instances.sampler import uniform_below
from gnarl_runtime.training.environment_arrays import engine_arrays, restore_engine
from gnarl_runtime.training.improve.memory import Index, Memory
from gnarl_runtime.training.team.team import ALONE, Team, share_of


@dataclass(frozen=True, eq=False)
class Lesson:
    """States, and the pick that the best known episode makes in each."""

    packed: Packed
    wanted: Index  # (graphs,) numbered within the graph
    count: int  # states that it is about: none, if it stands in for the states of others


class Lessons:
    """Episodes that wait for a slot, and those that are being played again."""

    def __init__(
        self,
        compiled: Compiled,
        pool: Pool,
        memory: Memory,
        slots: int,
        seed: int,
        signature: Signature | None = None,
        team: Team = ALONE,
    ) -> None:
        """`signature`: what the network that learns reads, if not the problem's own.

        Every process of a team plays all slots again, which costs next to nothing, and learns
        from a share of them.
        """
        self.team = team
        self.engine, self.memory, self.seed = Engine(compiled, pool, slots), memory, seed
        self.signature = signature
        self.engine.batch.ended[:] = TERMINATED
        self.step = np.zeros(slots, np.int64)  # (slots,) picks made so far
        self.picks = np.full((slots, 1), -1, np.int32)  # (slots, longest)
        self.waiting: Index = np.zeros(0, np.int64)
        self.begun = 0  # episodes, in all

    def add(self, instances: Index) -> None:
        """Learn what is known of these, when there is room."""
        self.waiting = np.concatenate([self.waiting, instances])

    def batches(self) -> Iterator[Lesson]:
        """States to learn from, as long as episodes wait; the engine moves on after each."""
        self._fill()
        while len(self.waiting):
            running = np.flatnonzero(self.engine.batch.ended == RUNNING)
            yield self._lesson(running)
            self._move(running)
            self._fill()

    def _lesson(self, running: Index) -> Lesson:
        own = running[share_of(len(running), self.team.rank, self.team.size).rows]
        slots = own if len(own) else running[:1]
        wanted = self.picks[slots, self.step[slots]].astype(np.int64)
        return Lesson(pack(self.engine.batch, slots, self.signature), wanted, len(own))

    def _move(self, slots: Index) -> None:
        """The remembered pick in these slots."""
        actions = np.full(self.engine.slots, -1, np.int64)
        actions[slots] = self.picks[slots, self.step[slots]]
        self.engine.step(actions)
        self.step[slots] += 1

    def _fill(self) -> None:
        free = np.flatnonzero(self.engine.batch.ended != RUNNING)
        count = min(len(free), len(self.waiting))
        if count:
            first = self.begun < self.engine.slots
            slots = free[:count]
            self._begin(slots, self.waiting[:count])
            self.waiting = self.waiting[count:]
            if first:
                self._spread(slots)

    def _begin(self, slots: Index, instances: Index) -> None:
        known = self.memory.picks
        if self.picks.shape[1] < known.shape[1]:
            missing = known.shape[1] - self.picks.shape[1]
            self.picks = np.pad(self.picks, ((0, 0), (0, missing)), constant_values=-1)
        self.engine.load(slots, instances)
        self.step[slots] = 0
        self.picks[slots] = -1
        self.picks[slots, : known.shape[1]] = known[instances]
        self.begun += len(slots)

    def _spread(self, slots: Index) -> None:
        """The first episodes begin anywhere: else those of one length would stay in step."""
        lengths = (self.picks[slots] >= 0).sum(axis=1)
        share = uniform_below(1 << 20, self.seed, "spread", slots) / (1 << 20)
        ahead = (share * lengths).astype(np.int64)  # (slots,) below the length
        for step in range(int(ahead.max(initial=0))):
            self._move(slots[ahead > step])

    def arrays(self) -> Arrays:
        return {
            **prefixed("environment", engine_arrays(self.engine)),
            "step": self.step.copy(),
            "picks": self.picks.copy(),
            "waiting": self.waiting.copy(),
            "begun": np.array(self.begun),
        }

    def restore(self, arrays: Arrays) -> None:
        restore_engine(self.engine, under("environment", arrays))
        self.step[:] = arrays["step"]
        self.picks = np.array(arrays["picks"], np.int32)
        self.waiting = np.array(arrays["waiting"], np.int64)
        self.begun = int(arrays["begun"])
