"""Instances and ways to play go in, finished plays come out: all of them at once, in kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.interpret.state import STOP
from gnarl_compiler.support.endings import RUNNING, TERMINATED, SpecFault
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.checks.explore.artifacts import batch_for
from gnarl_runtime.instances.pools import Pool

Index = NDArray[np.int64]
Chances = NDArray[np.float64]  # (slots, nodes)

MOST_PICKS = 2_000  # of a play that is no expert's own: a long one shows nothing new
MOST_EXPERT_PICKS = 50_000


@dataclass(frozen=True)
class Seat:
    """Who plays which instance: an expert, or nobody (any legal pick); `slip` picks at random."""

    instance: int
    expert: str | None = None
    slip: float = 0.0

    @property
    def is_pure(self) -> bool:
        """Whether every pick is the expert's own."""
        return self.expert is not None and self.slip == 0.0


@dataclass(frozen=True)
class Stop:
    """Why a play stopped before its episode ended."""

    kind: str  # silent, illegal, fault (of the spec), dead-end, cut (long enough)
    fault: int = 0  # the kernels' code
    text: str = ""


class Arena:
    """One slot per seat; `play` runs all of them until they end or stop."""

    def __init__(self, artifact: Artifact, pool: Pool, seats: Sequence[Seat]) -> None:
        self.problem = pool.problem
        self.artifact = artifact
        self.seats = tuple(seats)
        self.batch = batch_for(pool, [seat.instance for seat in seats])
        self.kernels = Kernels(artifact, self.batch)
        self.rewards = np.zeros(len(seats))
        self.gained = np.zeros(len(seats))  # (slots,) all rewards so far
        self.lengths = np.zeros(len(seats), np.int64)  # (slots,) picks so far
        self.stops: dict[int, Stop] = {}
        self._rows: list[NDArray[np.int32]] = []  # one (slots,) per step
        self._slips = np.array([seat.slip for seat in seats])
        self._pure = np.array([seat.is_pure for seat in seats], np.bool_)
        self._experts = {
            name: np.array([k for k, seat in enumerate(seats) if seat.expert == name], np.int64)
            for name in sorted({seat.expert for seat in seats if seat.expert})
        }
        self.reset()

    def reset(self) -> None:
        self.run("reset", np.arange(len(self.seats)), self.kernels.fault)
        self._note_faults(np.arange(len(self.seats)))
        # A limit is made for the default expert; others have until the horizon.
        first = self.problem.experts[0].name if self.problem.experts else None
        lifted = [seat.is_pure and seat.expert != first for seat in self.seats]
        self.limits = self.batch.limit.copy()  # (slots,)
        self.batch.limit[lifted] = np.inf

    # Results

    @property
    def running(self) -> Index:
        return np.flatnonzero(self.batch.ended == RUNNING)

    @property
    def finished(self) -> Index:
        """The slots whose episode has ended, as the spec means it."""
        slots = np.flatnonzero(self.batch.ended != RUNNING)
        return np.array([slot for slot in slots if slot not in self.stops], np.int64)

    def picks(self, slot: int) -> tuple[int, ...]:
        """What was picked in a slot from its reset on."""
        ends = self.batch.layout.nodes
        made = (int(row[slot]) for row in self._rows[: self.lengths[slot]])
        return tuple(STOP if pick == ends else pick for pick in made)

    def values(self, kernel: str, slots: Index) -> NDArray[np.float64]:
        """What a kernel says about some slots, in their order."""
        out = np.zeros(len(self.seats))
        self.run(kernel, slots, out)
        return out[slots]

    def run(self, kernel: str, *first: NDArray[np.generic]) -> None:
        with np.errstate(all="ignore"):  # uncompiled arithmetic warns of infinities
            self.kernels.run(kernel, *first)

    # Playing

    def play(self, rng: Generator) -> None:
        """Every seat to its end."""
        while len(self.running):
            self.advance(self.choose(rng))

    def choose(self, rng: Generator) -> Index:
        """A pick for every running slot; those whose expert cannot go on stop here."""
        chances = self.batch.legal.astype(np.float64)
        slipping = rng.random(len(self.seats)) < self._slips
        for name, slots in self._experts.items():
            answers = self.answers(name, slots[self.batch.ended[slots] == RUNNING])
            self._follow(slots, answers, slipping, chances)
        return draw_picks(chances, rng.random(len(self.seats)))

    def answers(self, expert: str, slots: Index) -> Chances:
        """An expert's distributions (all slots, nodes); slots in which it stops are stopped."""
        out = np.zeros(self.batch.legal.shape)
        try:
            self.run(Role.EXPERT.of(expert), slots, out)
        except SpecFault:  # does not say in which slot
            for slot in slots:
                self._answer_alone(expert, int(slot), out)
        return out

    def _answer_alone(self, expert: str, slot: int, out: Chances) -> None:
        try:
            self.run(Role.EXPERT.of(expert), np.array([slot]), out)
        except SpecFault as fault:
            self.stop(slot, Stop("fault", text=str(fault)))

    def _follow(
        self, slots: Index, answers: Chances, slipping: NDArray[np.bool_], chances: Chances
    ) -> None:
        """Let experts that have an answer choose, and stop those that should have one."""
        here = slots[self.batch.ended[slots] == RUNNING]
        outside = (answers[here] > 0) & ~self.batch.legal[here]
        for slot in here[outside.any(axis=1)]:
            self.stop(int(slot), Stop("illegal"))
        silent = ~answers[here].any(axis=1)
        for slot in here[silent & self._pure[here]]:
            self.stop(int(slot), Stop("silent"))
        led = here[~silent & ~slipping[here]]
        chances[led] = answers[led]

    def advance(self, actions: Index) -> None:
        """One step of every running slot."""
        slots = self.running
        if not len(slots):
            return
        self._rows.append(actions.astype(np.int32))
        self.lengths[slots] += 1
        self.run("step", actions, self.rewards, self.kernels.fault)
        self.gained[slots] += self.rewards[slots]
        self._note_faults(slots)
        most = np.where(self._pure, MOST_EXPERT_PICKS, MOST_PICKS)
        for slot in self.running[self.lengths[self.running] >= most[self.running]]:
            self.stop(int(slot), Stop("cut"))

    def _note_faults(self, slots: Index) -> None:
        for slot in slots[self.kernels.fault[slots] != 0]:
            code = int(self.kernels.fault[slot])
            self.stop(int(slot), Stop("fault" if code > 0 else "dead-end", code))

    def stop(self, slot: int, why: Stop) -> None:
        """Take a slot out of the play."""
        self.stops.setdefault(slot, why)
        self.batch.ended[slot] = TERMINATED


def draw_picks(chances: Chances, uniform: NDArray[np.float64]) -> Index:
    """One node per row, by weight; rows without any weight give node 0."""
    sums = np.cumsum(chances, axis=1)
    wanted = uniform[:, None] * sums[:, -1:]
    chosen = np.minimum((sums <= wanted).sum(axis=1), chances.shape[1] - 1)
    blank = np.take_along_axis(chances, chosen[:, None], axis=1)[:, 0] <= 0
    chosen[blank] = chances[blank].argmax(axis=1)  # rounding at the upper end
    return np.asarray(chosen, np.int64)
