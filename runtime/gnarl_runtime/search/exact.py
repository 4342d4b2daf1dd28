"""`exact`: every instance in, its best episode out, and whether it is proven to be the best.

Where the search does not finish within its limits, the answer is the best that is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.ir.ops import Ref
from gnarl_dsl.model.kinds import INPUT
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.search.arena import Arena
from gnarl_runtime.search.better import LEAST, RIGHT, first_best, worth_of_outcomes
from gnarl_runtime.search.outcomes import Keep, Outcomes
from gnarl_runtime.search.players import ExpertPlayer, Player, PolicyPlayer, RandomPlayer
from gnarl_runtime.search.proof.branching import (
    BLOCK,
    Best,
    Branching,
    Limits,
    NotAdditive,
    Searched,
)
from gnarl_runtime.search.proof.falling import can_only_fall
from gnarl_runtime.search.proof.futures import Live, formulas_of, live_part, whole_state
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.task import Answers, Task

LIMITS = Limits(decisions=4_000_000, states=1_000_000)
_RANDOM_PLAYS = 8


def search_exact(task: Task, amount: float | None) -> Answers:
    """Each instance by itself; `amount` is a limit of decisions, or none."""
    limits = LIMITS if amount is None else replace(LIMITS, decisions=int(amount))
    known, spent = first_plays(task)
    prover = Prover(task)
    picks, decisions, proven, endless = [], [], [], []
    for instance, best in enumerate(known):
        found, is_proven = prover.prove(instance, best, limits)
        picks.append(found.best.picks)
        decisions.append(found.decisions + spent[instance])
        proven.append(is_proven)
        endless.append(not found.best.played)
        task.progress(instance + 1, len(known))
    return Answers(
        tuple(picks),
        np.array(decisions, np.int64),
        np.array(proven, np.bool_),
        endless=np.array(endless, np.bool_),
    )


class Prover:
    """What is known of a problem before its instances are searched."""

    def __init__(self, task: Task) -> None:
        self.arena = Arena(task, BLOCK)
        self.formulas = formulas_of(task.compiled.problem)
        self.objective = self._objective(task.objective)
        self.whole = whole_state(self.formulas, self.objective)
        self.least = self._least()

    def _objective(self, name: str | None) -> Ref | None:
        entries = dict(self.formulas.program.objectives)
        return entries[name] if name is not None else next(iter(entries.values()), None)

    def _least(self) -> Live | None:
        """A smaller key than the whole state, if there is one."""
        if self.objective is None:
            return None
        live = live_part(self.formulas, self.objective)
        return None if live == replace(self.whole, judged=False) else live

    def prove(self, instance: int, best: Best, limits: Limits) -> tuple[Searched, bool]:
        """The best episode of an instance of the pool, and whether nothing can be better."""
        if self.least is not None:
            found = self._search(instance, self.least, best, limits)
            # An end that does not count may have stood in for a valid one of the same value.
            settled = found.best.worth[0] == RIGHT and found.ceiling <= found.best.worth[1]
            if found.complete and settled:
                return found, True
            left = limits.decisions - found.decisions
            if not found.complete or left <= 0:
                return found, False
            again = self._search(instance, self.whole, found.best, replace(limits, decisions=left))
            return replace(again, decisions=again.decisions + found.decisions), again.complete
        found = self._search(instance, self.whole, best, limits)
        return found, found.complete

    def _search(self, instance: int, live: Live, best: Best, limits: Limits) -> Searched:
        slots = np.arange(BLOCK)
        falls = self._falls(instance)
        self.arena.start(slots, np.full(BLOCK, instance))
        try:
            return Branching(self.arena, live, falls, limits, best).run()
        except NotAdditive:
            self.arena.start(slots, np.full(BLOCK, instance))
            return Branching(self.arena, self.whole, False, limits, best).run()

    def _falls(self, instance: int) -> bool:
        if self.objective is None:
            return True  # fewer picks are better
        batch = self.arena.task.pool.batch
        return can_only_fall(
            self.formulas, self.objective, lambda name: _not_below_zero(batch, name, instance)
        )


def _not_below_zero(batch: Batch, name: str, instance: int) -> bool:
    feature = batch.layout.problem.feature(name)
    if feature.stage is not INPUT or not feature.is_number:
        return False
    return bool((batch.features[name][instance] >= 0).all())


# Episodes to start from


def first_plays(task: Task) -> tuple[list[Best], list[int]]:
    """The best that policy, experts and chance play, and the picks that it took."""
    players: list[tuple[Player, int]] = [(RandomPlayer(task.seed), _RANDOM_PLAYS)]
    players += [(ExpertPlayer(name, task.seed), 1) for name in task.drivers.experts]
    if task.drivers.policy is not None:
        players.append((PolicyPlayer(task.drivers.policy, None, task.seed), 1))
    best = [Best() for _ in range(len(task.pool))]
    spent = [0] * len(task.pool)
    for player, samples in players:
        try:
            outcomes = _played(task, player, samples)
        except SpecRunError:
            continue  # somewhere the spec itself fails; the search walks around such places
        for instance in range(len(task.pool)):
            own = slice(instance * samples, (instance + 1) * samples)
            spent[instance] += int(outcomes.steps[own].sum())
            best[instance] = _better(task, best[instance], outcomes, own)
    return best, spent


def _played(task: Task, player: Player, samples: int) -> Outcomes:
    return play_with(
        player,
        task.compiled,
        task.pool,
        samples=samples,
        slots=task.slots,
        objective=task.objective,
        max_rounds=task.max_rounds,
        keep=Keep(picks=True),
    )


def _better(task: Task, best: Best, outcomes: Outcomes, own: slice) -> Best:
    """An expert that stops has not come to an end that anybody could reach by picks alone."""
    worth = worth_of_outcomes(outcomes, bool(task.compiled.problem.objectives))
    level = np.where(outcomes.stopped, LEAST[0], worth.level)[own]
    part = worth._replace(level=level, value=np.where(level == LEAST[0], 0.0, worth.value[own]))
    place = first_best(part)
    assert outcomes.picks is not None
    played = not outcomes.stopped[own.start + place]
    found = Best(part.at(place), outcomes.picks[own.start + place], bool(played))
    return found if (found.worth, found.played) > (best.worth, best.played) else best
