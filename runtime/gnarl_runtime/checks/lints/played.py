"""Play at growing sizes goes in, figures about it come out: choices, ties, ranges, rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import DERIVED
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.checks.explore.artifacts import instance_pool
from gnarl_runtime.checks.sample.backends import evaluate_cost
from gnarl_runtime.checks.sample.plays import Arena, Seat
from gnarl_runtime.checks.sample.sample_instances import sample_family

SIZES = (5, 10, 20)
PLAIN_SIZES = (3, 5, 7)  # without a compiler
INSTANCES = 16  # of every size
_WORK = 2e8  # steps of one expert's formulas at one size
_MOST_STEPS = 4_000


@dataclass
class Figures:
    """What was seen at one size: counts over states of one kind of play."""

    states: int = 0
    single: int = 0  # states with one legal pick
    tied: int = 0  # states in which the expert has several picks
    picks: int = 0  # expert picks in all
    nats: float = 0.0  # sum of the logarithms of their numbers
    ranges: dict[str, float] = field(default_factory=dict)  # largest value, mean over plays
    rounds: float = 0.0  # most rounds of a play, as a share of its horizon; 1 if it was cut short
    longest: int = 0  # most rounds of a play
    plays: int = 0
    over_limit: int = 0  # plays that took more rounds than the limit

    def note_choices(self, legal: NDArray[np.bool_]) -> None:
        counts = legal.sum(axis=1)
        self.states += len(counts)
        self.single += int((counts == 1).sum())

    def note_answers(self, answers: NDArray[np.bool_]) -> None:
        counts = answers.sum(axis=1)
        counts = counts[counts > 0]
        self.tied += int((counts > 1).sum())
        self.picks += int(counts.sum())
        self.nats += float(np.log(counts).sum())


@dataclass(frozen=True)
class Played:
    """Figures of random legal play and of every expert's own, by size."""

    random: dict[int, Figures]
    experts: dict[str, dict[int, Figures]]

    def players(self) -> Iterator[tuple[str, dict[int, Figures]]]:
        """Who played, in words, and what was seen by size."""
        yield "random play", self.random
        yield from ((f"play of the expert `{name}`", seen) for name, seen in self.experts.items())


def play_sizes(problem: Problem, artifact: Artifact, sizes: Sequence[int], seed: int) -> Played:
    """Everybody's play at every size; experts whose formulas take too long stay out."""
    names = [expert.name for expert in problem.experts]
    played = Played({}, {name: {} for name in names})
    for n in sizes:
        instances = [sample_family(problem, n, k, seed) for k in range(INSTANCES)]
        pool = instance_pool(problem, artifact, instances, metrics=False)
        m = int(pool.batch.m.max())
        fast = [name for name in names if _affordable(problem, name, n, m)]
        seats = [Seat(k, name) for name in (None, *fast) for k in range(INSTANCES)]
        watch = _Watch(Arena(artifact, pool, seats))
        watch.play(stream(seed, "lint play", n))
        played.random[n] = watch.figures[None]
        for name in fast:
            played.experts[name][n] = watch.figures[name]
    return played


def _affordable(problem: Problem, expert: str, n: int, m: int) -> bool:
    terms = dict(problem.costs.experts)[expert]
    work = evaluate_cost(terms, n, m) * len(problem.phases) * 2 * n * INSTANCES
    return work <= _WORK


class _Watch:
    """An arena and what is seen while it plays."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.figures: dict[str | None, Figures] = {s.expert: Figures() for s in arena.seats}
        seats = list(enumerate(arena.seats))
        self.slots = {
            name: np.array([k for k, seat in seats if seat.expert == name], np.int64)
            for name in self.figures
        }
        self.most: dict[str, NDArray[np.float64]] = {}  # largest value per slot
        self.scalars = [
            feature
            for feature in arena.problem.features
            if feature.is_number and not feature.stage.steady
        ]

    def play(self, rng: np.random.Generator) -> None:
        for _ in range(_MOST_STEPS):
            self.look()
            if not len(self.arena.running):
                break
            self.arena.advance(self.arena.choose(rng))
        self.finish()

    def look(self) -> None:
        """Note the states that everybody is in."""
        arena, running = self.arena, self.arena.running
        if any(feature.stage is DERIVED for feature in self.scalars):
            arena.run("observe", np.arange(len(arena.seats)), np.zeros(len(arena.seats), np.int32))
        for name, slots in self.slots.items():
            figures, here = self.figures[name], np.intersect1d(slots, running)
            figures.note_choices(arena.batch.legal[here])
            if name is not None:
                figures.note_answers(arena.answers(name, here)[here] > 0)
        for feature in self.scalars:
            now = largest(arena.batch, feature)
            self.most[feature.name] = np.maximum(self.most.get(feature.name, now), now)

    def finish(self) -> None:
        batch, limits = self.arena.batch, self.arena.limits
        for name, slots in self.slots.items():
            figures, rounds = self.figures[name], batch.rounds[slots]
            bounds = np.maximum(batch.horizon[slots], 1.0)
            cut = any(
                self.arena.stops[int(k)].kind == "cut" for k in slots if k in self.arena.stops
            )
            figures.rounds = 1.0 if cut else float((rounds / bounds).max())
            figures.ranges = {name: float(most[slots].mean()) for name, most in self.most.items()}
            figures.longest, figures.plays = int(rounds.max()), len(slots)
            figures.over_limit = int((rounds > limits[slots]).sum())


def largest(batch: Batch, feature: Feature) -> NDArray[np.float64]:
    """The largest size of a number in every slot; padding is zero."""
    values = np.abs(batch.features[feature.name])
    return np.asarray(values.reshape(len(values), -1).max(axis=1, initial=0.0))
