"""A failure in, the smallest one of its kind that was found out: fewer nodes, edges and picks.

Every candidate is played in the interpreter, so what comes out is a failure whatever was tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import STOP, SpecRunError
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.witness.candidates import acceptable, pieces, smaller_instances
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.witness_play import SMALL, expert_ends, explore

SECONDS = 10.0  # of this process: a busy machine must not make witnesses larger
_TRIED = 250  # states in which a new play is looked for after an instance got smaller
# About many instances at once: a smaller one says less.
_COLLECTIVE = ("expert-aimless", "reward-flat", "idle")
_BY_EXPERT = ("expert-fails", "expert-late")

Test = Callable[[Failure], bool]


def minimise(
    problem: Problem,
    failure: Failure,
    seconds: float = SECONDS,
    test: Test | None = None,
) -> Failure:
    """The smallest failure of the same property; the one given if it cannot be shown again.

    It is called the smallest only if there was time to try everything that is smaller.
    """
    shrinker = _Shrinker(
        problem, test or (lambda found: holds(problem, found)), time.process_time() + seconds
    )
    if failure.property in _COLLECTIVE or not shrinker.shows(failure):
        return failure
    while (smaller := shrinker.improve(failure)) is not None:
        failure = smaller
    return replace(failure, smallest=shrinker.has_time)


@dataclass(frozen=True)
class _Shrinker:
    problem: Problem
    test: Test
    deadline: float

    @property
    def has_time(self) -> bool:
        return time.process_time() < self.deadline

    def shows(self, failure: Failure) -> bool:
        return self.has_time and self.test(failure)

    def improve(self, failure: Failure) -> Failure | None:
        """The first smaller failure, or None when nothing smaller was found."""
        if failure.instance.graph.n > SMALL:
            # Most mistakes show on a few nodes, where looking at all plays is quick.
            for instance, names in pieces(self.problem, failure.instance):
                found = self.on(failure, instance, names)
                if found is not None:
                    return found
        for picks in shorter_plays(self.problem, failure.picks):
            if self.shows(shorter := replace(failure, picks=picks)):
                return shorter
        for instance, names in smaller_instances(self.problem, failure.instance):
            found = self.on(failure, instance, names)
            if found is not None:
                return found
        return None

    def on(self, failure: Failure, instance: Instance, names: dict[int, int]) -> Failure | None:
        """The failure on another instance, with the old picks or with new ones."""
        if not self.has_time or not acceptable(self.problem, instance):
            return None
        for picks in self.plays(failure, instance, names):
            if self.shows(smaller := replace(failure, instance=instance, picks=picks)):
                return smaller
        return None

    def plays(
        self, failure: Failure, instance: Instance, names: dict[int, int]
    ) -> Iterator[tuple[int, ...]]:
        """Plays worth trying: the old one without what is gone, then all short ones."""
        yield without_rounds(self.problem, failure.picks, names)
        game = Interpreter(self.problem)
        try:
            if failure.property in _BY_EXPERT:
                ends = expert_ends(game, instance, failure.expert, _TRIED)
                yield from (picks for _, picks in ends)
            elif instance.graph.n <= SMALL:
                start = game.reset(instance)
                reached = explore(game, start, most=_TRIED)
                yield from (path for _, path in reached)
        except SpecRunError:
            return


# Shorter plays


def rounds_of(problem: Problem, picks: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The picks of each round; each by itself where phases may be skipped."""
    size = 1 if problem.may_skip else len(problem.phases)
    return [picks[k : k + size] for k in range(0, len(picks), size)]


def shorter_plays(problem: Problem, picks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The play cut off early, then with runs of rounds left out, longest runs first."""
    for length in _some(len(picks)):
        yield picks[:length]
    rounds = rounds_of(problem, picks)
    run = len(rounds) // 2
    while run >= 1:
        for start in range(len(rounds) - run + 1):
            left = rounds[:start] + rounds[start + run :]
            yield tuple(pick for group in left for pick in group)
        run //= 2


def _some(length: int) -> list[int]:
    """Every length below this one, or thirty spread out evenly if they are many."""
    if length <= 30:
        return list(range(length))
    return sorted({int(k) for k in np.linspace(0, length - 1, 30)})


def without_rounds(
    problem: Problem, picks: tuple[int, ...], names: dict[int, int]
) -> tuple[int, ...]:
    """The picks under new names; rounds that pick a node without one are left out."""
    rounds = rounds_of(problem, picks)
    known = {**names, STOP: STOP}
    kept = [group for group in rounds if all(pick in known for pick in group)]
    return tuple(known[pick] for group in kept for pick in group)
