"""An instance in, whether it makes no difference there what is picked: by the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.language.operators import ABSOLUTE, nearly_equal
from gnarl_runtime.checks.properties.worth import SMALLEST
from gnarl_runtime.checks.witness.witness_play import SEARCHED, identity

_PLAYS = 24  # random ones, to be compared with one another
_PICKS = 2_000  # of one play


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
        chances = self._chances(state)
        if state.ended is not None or not chances.any():
            self.ends.append(self.game.objective(state))
            return self.ends[-1]
        self.indifferent &= bool(((chances > 0) == self.game.mask(state)).all())
        picks = np.flatnonzero(chances)
        after = [self.of(self.game.step(state, int(pick)).state) for pick in picks]
        return float(np.dot(chances[picks], after) / chances.sum())

    def _chances(self, state: State) -> NDArray[np.float64]:
        if state.ended is not None or self.expert is None:
            return self.game.mask(state).astype(np.float64)
        return self.game.expert(state, self.expert)


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
    while state.ended is None and len(picks) < _PICKS and (legal := game.mask(state)).any():
        picks.append(int(rng.choice(np.flatnonzero(legal))))
        move = game.step(state, picks[-1])
        state, earned = move.state, earned + move.reward
    return earned, tuple(picks)
