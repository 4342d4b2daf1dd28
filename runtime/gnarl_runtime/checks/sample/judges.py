"""Finished plays go in, what they break comes out: every property that one play can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import TRUNCATED
from gnarl_dsl.language.operators import SNAP
from gnarl_dsl.model import OPTIMAL, GreedyExpert, Problem
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.findings.findings import Property
from gnarl_runtime.checks.findings.waived import Key as WaiverKey
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.sample.plays import Arena, Index, Stop

RELATIVE, ABSOLUTE = 1e-6, 1e-9


@dataclass(frozen=True)
class Found:
    """A property that the play in one slot breaks."""

    property: Property
    slot: int
    message: str
    span: Span | None
    expert: str | None = None


class Judge:
    """Reads an arena after its plays; `started` are the objectives at the reset."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.problem: Problem = arena.problem
        goals = self.problem.objectives
        self.goal = goals[0] if goals else None
        everyone = np.arange(len(arena.seats))
        self.started = self._objective(everyone)

    def _objective(self, slots: Index) -> NDArray[np.float64]:
        if self.goal is None:
            return np.zeros(len(slots))
        return self.arena.values(Role.OBJECTIVE.of(self.goal.name), slots)

    def found(self) -> Iterator[Found]:
        """Everything that the plays break."""
        for slot, why in self.arena.stops.items():
            yield from self.stopped(slot, why)
        ended = self.arena.finished
        if len(ended):
            yield from self.ends(ended)
            yield from self.sums(ended)
            yield from self.beaten(ended)

    # Plays that stopped

    def stopped(self, slot: int, why: Stop) -> Iterator[Found]:
        expert, problem = self.arena.seats[slot].expert, self.problem
        phase = problem.phases[int(self.arena.batch.phase[slot])]
        match why.kind:
            case "fault":
                what, span = self.fault(why)
                yield Found("run-error", slot, what, span)
            case "dead-end":
                span = phase.allow.span if phase.allow is not None else phase.span
                what = f"no node can be picked in phase `{phase.name}`, but the round is not over"
                yield Found("dead-end", slot, what, span)
            case "silent" if expert is not None and not self.is_done(slot):
                what = (
                    f"the expert `{expert}` has no answer in phase `{phase.name}` on its own path"
                )
                yield Found("expert-silent", slot, what, problem.expert(expert).span, expert)
            case "illegal" if expert is not None:
                what = f"the expert `{expert}` picks what phase `{phase.name}` does not allow"
                yield Found("expert-illegal", slot, what, problem.expert(expert).span, expert)

    def is_done(self, slot: int) -> bool:
        """Whether an expert that has no answer needs none: a round begins, and all is well."""
        here, batch = np.array([slot]), self.arena.batch
        correct, valid = self._judged("correct", here)[0], self._judged("valid", here)[0]
        return bool(batch.opening(here)[0] and self._suffices(slot, bool(correct), bool(valid)))

    def _suffices(self, slot: int, correct: bool, valid: bool) -> bool:
        """A greedy expert improves an objective; nothing says that this leads to an answer."""
        expert = self.problem.expert(self.arena.seats[slot].expert)
        return valid and (correct or isinstance(expert, GreedyExpert))

    def fault(self, why: Stop) -> tuple[str, Span | None]:
        """What went wrong at run time, and where; an expert's attempt only tells in words."""
        if not why.fault:
            return why.text, None
        fault = self.arena.artifact.abi.fault(why.fault)
        return fault.what, fault.span

    # Plays that ended

    def ends(self, slots: Index) -> Iterator[Found]:
        """`valid` and `correct` at the end, of any play and of an expert's own."""
        problem = self.problem
        correct, valid = self._judged("correct", slots), self._judged("valid", slots)
        for k, slot in enumerate(map(int, slots)):
            if problem.valid is not None and not valid[k]:
                if problem.correct is not None and correct[k]:
                    what = "the state is `correct` but not `valid`"
                    yield Found("correct-invalid", slot, what, problem.valid.span)
                else:
                    what = "the episode has ended in a state that is not `valid`"
                    yield Found("invalid-end", slot, what, problem.valid.span)
            if self.arena.seats[slot].is_pure:
                yield from self.expert_end(slot, bool(correct[k]), bool(valid[k]))

    def _judged(self, clause: str, slots: Index) -> NDArray[np.bool_]:
        kernel = Role.JUDGE.of(clause)
        if not self.arena.artifact.abi.has(kernel):
            return np.ones(len(slots), np.bool_)
        return np.asarray(self.arena.values(kernel, slots) != 0)

    def expert_end(self, slot: int, correct: bool, valid: bool) -> Iterator[Found]:
        batch, name = self.arena.batch, self.arena.seats[slot].expert
        expert = self.problem.expert(name)
        rounds, horizon = int(batch.rounds[slot]), float(batch.horizon[slot])
        stillborn = self.arena.lengths[slot] == 0 and horizon > SNAP  # no expert's fault
        if stillborn or self._suffices(slot, correct, valid):
            return
        clause = "valid" if not valid else "correct"
        cut = batch.ended[slot] == TRUNCATED
        if cut or rounds >= horizon - SNAP:
            bound = self.problem.limit if cut and self.problem.limit else self.problem.horizon
            what = f"the expert `{name}` is not done after {rounds} rounds, when the time is over"
            yield Found("expert-late", slot, what, bound.span, name)
            return
        what = f"the play of the expert `{name}` ends in a state that is not {clause}"
        yield Found("expert-fails", slot, what, expert.span, name)

    def sums(self, slots: Index) -> Iterator[Found]:
        """Rewards add up to what the objective gained."""
        if self.goal is None:
            return
        wanted = self._objective(slots) - self.started[slots]
        wrong = ~close(self.arena.gained[slots], wanted)
        for slot, gain in zip(slots[wrong], wanted[wrong], strict=True):
            paid = self.arena.gained[slot]
            what = f"rewards add up to {paid:g}, but `{self.goal.name}` gained {gain:g}"
            yield Found("reward-telescope", int(slot), what, self.goal.span)

    def beaten(self, slots: Index) -> Iterator[Found]:
        """Plays that end better than those of the expert that is called optimal."""
        if self.goal is None or all(expert.name != OPTIMAL for expert in self.problem.experts):
            return
        seats, worth = (
            self.arena.seats,
            dict(zip(slots.tolist(), self._objective(slots), strict=True)),
        )
        fair = [int(s) for s, ok in zip(slots, self._judged("valid", slots), strict=True) if ok]
        claims = {
            seats[s].instance: s for s in fair if seats[s].expert == OPTIMAL and seats[s].is_pure
        }
        span = self.problem.expert(OPTIMAL).span
        for slot in fair:
            claim = claims.get(seats[slot].instance)
            if claim is None or worth[slot] <= worth[claim] or close(worth[slot], worth[claim]):
                continue
            what = (
                f"this play ends with `{self.goal.name}` = {worth[slot]:g}, "
                f"the expert `{OPTIMAL}` with {worth[claim]:g}"
            )
            yield Found("reference", slot, what, span, OPTIMAL)


def close(
    left: NDArray[np.float64] | float, right: NDArray[np.float64] | float
) -> NDArray[np.bool_]:
    """Equal but for rounding, infinities included."""
    return np.asarray(np.isclose(left, right, rtol=RELATIVE, atol=ABSOLUTE))


def smallest_each(
    arena: Arena, found: Iterable[Found], sizes: Index, waivers: Waivers
) -> list[tuple[Found, int]]:
    """One finding per property and expert, on the fewest nodes, and how many there were."""
    best: dict[WaiverKey, Found] = {}

    def effort(entry: Found) -> tuple[int, int, int]:
        nodes = int(sizes[arena.seats[entry.slot].instance])
        return nodes, int(arena.lengths[entry.slot]), entry.slot

    counts: Counter[WaiverKey] = Counter()
    for entry in found:
        key = waivers.key(entry.property, entry.expert, entry.span)
        counts[key] += 1
        if key not in best or effort(entry) < effort(best[key]):
            best[key] = entry
    return [(entry, counts[key]) for key, entry in best.items()]
