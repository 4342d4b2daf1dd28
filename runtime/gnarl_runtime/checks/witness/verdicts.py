"""A play in, whether it breaks a property that needs other plays: judged in the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_compiler.support.endings import SpecFault
from gnarl_dsl.language.operators import ABSOLUTE, nearly_equal
from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties.idle import Part, parts_of
from gnarl_runtime.checks.properties.reward_properties import Paying, paying, step_rewards
from gnarl_runtime.checks.properties.seen import seen_in
from gnarl_runtime.checks.properties.worth import SMALLEST
from gnarl_runtime.checks.sample.backends import first_difference
from gnarl_runtime.checks.witness.witness_play import (
    SEARCHED,
    Played,
    expert_ends,
    explore,
    identity,
    is_good,
    play_picks,
)
from gnarl_runtime.envs.interpreted import load_state

_PLAYS = 24  # random ones, to be compared with one another
_PICKS = 2_000  # of one play


# Generated code


def backend_differs(problem: Problem, failure: Failure) -> bool:
    """Whether generated code, run uncompiled, departs from the interpreter along the picks."""
    artifact = artifact_of(problem, jit=False)
    try:
        return first_difference(problem, artifact, failure.instance, failure.picks) is not None
    except (SpecRunError, SpecFault):
        return False


# Worth more than what the spec calls right


def worth(entry: Paying, start: State, end: State) -> float:
    """The sum of all rewards of a play, from its two ends alone."""
    value = Evaluator(end).number(entry.value, {})
    if entry.kind == "terminal":
        return value
    return value - Evaluator(start).number(entry.value, {})


def beats_expert(game: Interpreter, instance: Instance, end: State, expert: str) -> bool:
    """Whether an episode ended well with more of the objective than some play of the expert."""
    if end.ended is None or not game.problem.objectives or not is_good(game, end):
        return False
    value = game.objective(end)
    for reached, _ in expert_ends(game, instance, expert):
        other = game.objective(reached)
        if reached.ended is not None and other < value and not nearly_equal(other, value):
            return True
    return False


def pays_badly(game: Interpreter, instance: Instance, picks: Sequence[int]) -> bool:
    """Whether a play is worth as much as the best right one but ends wrong, or less but right."""
    played = play_picks(game, instance, picks)
    if played is None or played.end.ended is None or game.problem.correct is None:
        return False
    right = list(_right_ends(game, played))
    good = is_good(game, played.end)
    return bool(right) and any(
        _worth_as_best(entry, played, right) != good for entry in paying(game.problem)
    )


def misleads(
    game: Interpreter, instance: Instance, picks: Sequence[int], expert: str | None
) -> bool:
    """Whether a play ends wrong and some `step` reward pays it more than a play of the expert."""
    played = play_picks(game, instance, picks)
    if played is None or played.end.ended is None or is_good(game, played.end):
        return False
    right = [own for end, own in expert_ends(game, instance, expert) if is_good(game, end)]
    for reward in step_rewards(game.problem):
        paying_game = Interpreter(game.problem, reward=reward.name)
        earned = _earned(paying_game, instance, picks)
        least = min((_earned(paying_game, instance, own) for own in right), default=earned)
        if earned > least and not nearly_equal(earned, least):
            return True
    return False


def _earned(game: Interpreter, instance: Instance, picks: Sequence[int]) -> float:
    played = play_picks(game, instance, picks)
    assert played is not None  # it was played before
    return sum(move.reward for move in played.moves)


def _right_ends(game: Interpreter, played: Played) -> Iterator[State]:
    reached = explore(game, played.states[0])
    return (state for state, _ in reached if state.ended is not None and is_good(game, state))


def _worth_as_best(entry: Paying, played: Played, right: list[State]) -> bool:
    start = played.states[0]
    best = max(worth(entry, start, end) for end in right)
    own = worth(entry, start, played.end)
    return own > best or nearly_equal(own, best)


# As good as chance


def plays_by_chance(game: Interpreter, state: State, expert: str) -> bool:
    """Whether an expert's play from here is worth no more than random picks, on average."""
    if state.n < SMALLEST or game.problem.correct is not None or not game.problem.objectives:
        return False
    own, chance = Mean(game, expert), Mean(game)
    gain = own.of(state) - chance.of(state)
    if max(len(own.known), len(chance.known)) >= SEARCHED:
        return False
    matters = max(chance.ends) - min(chance.ends) > ABSOLUTE
    return gain <= ABSOLUTE and (matters or own.indifferent)


@dataclass
class Mean:
    """Expected objectives at the end of an expert's play, or of random picks."""

    game: Interpreter
    expert: str | None = None
    known: dict[bytes, float] = field(default_factory=dict)
    ends: list[float] = field(default_factory=list)
    indifferent: bool = True  # so far, all legal picks were as good as one another

    def of(self, state: State) -> float:
        """The mean from a state on; without meaning once too many states were met."""
        key = identity(state)
        if key not in self.known and len(self.known) < SEARCHED:
            self.known[key] = self._computed(state)
        return self.known.get(key, 0.0)

    def _computed(self, state: State) -> float:
        picks = self._picks(state)
        if not picks:
            self.ends.append(self.game.objective(state))
            return self.ends[-1]
        self.indifferent &= picks == self.game.choices(state)
        after = [self.of(self.game.step(state, pick).state) for pick in picks]
        return float(np.mean(after))

    def _picks(self, state: State) -> list[int]:
        """Each is as likely as the others."""
        if self.expert is None or state.ended is not None:
            return self.game.choices(state)
        return self.game.answers(state, self.expert)


def earns_the_same(game: Interpreter, instance: Instance) -> bool:
    """Whether random plays that pick differently all earn the same."""
    if instance.graph.n < SMALLEST:
        return False
    rng = np.random.default_rng(0)
    plays = [_random_play(game, instance, rng) for _ in range(_PLAYS)]
    earned = [reward for reward, _ in plays]
    different = len({picks for _, picks in plays}) > 1
    return different and all(nearly_equal(reward, earned[0]) for reward in earned)


def _random_play(
    game: Interpreter, instance: Instance, rng: np.random.Generator
) -> tuple[float, tuple[int, ...]]:
    """What random legal picks earn until the end, and the picks."""
    state, earned = game.reset(instance), 0.0
    picks: list[int] = []
    while len(picks) < _PICKS and (choices := game.choices(state)):
        picks.append(int(rng.choice(choices)))
        move = game.step(state, picks[-1])
        state, earned = move.state, earned + move.reward
    return earned, tuple(picks)


# What a window leaves out


def window_loses(game: Interpreter, pick: int, played: Played) -> bool:
    """Whether the last pick does something else in another state that looks the same."""
    before, move = played.states[-2], played.moves[-1]
    seen = look(before)
    for state, _ in explore(game, played.states[0]):
        if state.ended is None and state.rounds == before.rounds and look(state) == seen:
            other = game.step(state, pick)
            pays = nearly_equal(other.reward, move.reward)
            if not pays or look(other.state) != look(move.state):
                return True
    return False


def look(state: State) -> bytes:
    """What a network reads of a state; nothing once the episode has ended."""
    if state.ended is not None:
        return b""
    batch = Batch.allocate(layout_of(state.episode.problem, 1, state.n))
    load_state(batch, 0, state)
    return next(seen_in(pack(batch, [0])))


# Parts of the spec that make no difference


def is_idle(game: Interpreter, span: Span | None, played: Played) -> bool:
    """Whether the part that stands there changes nothing, in the last pick or at its end."""
    parts = [part for part in parts_of(game.problem) if part.span == span]
    return bool(parts) and not any(_matters(game, part, played) for part in parts)


def _matters(game: Interpreter, part: Part, played: Played) -> bool:
    other = Interpreter(part.without)
    if part.phase is None:
        return other.correct(played.end) != game.correct(played.end)
    if not played.moves or played.states[-2].phase != part.phase:
        return True
    pick = played.end.last[part.phase]
    return not _same(other.step(played.states[-2], pick).state, played.end)


def _same(a: State, b: State) -> bool:
    pairs = ((a.features[name], b.features[name]) for name in a.features)
    same = all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in pairs)
    return same and bool((a.adjacency == b.adjacency).all())
