"""A failure of symmetry in, whether other names or ranks of the nodes really change anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance, relabel_values
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.language.operators import nearly_equal
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.witness.witness_play import SMALL

Permutation = NDArray[np.int64]
SOME = 11  # renamings of larger graphs


def renamings(n: int) -> Iterator[Permutation]:
    """Permutations of n nodes other than the identity; all of them where they are few."""
    if n <= SMALL:
        for order in islice(permutations(range(n)), 1, None):
            yield np.array(order, np.int64)
        return
    yield np.arange(n)[::-1].copy()
    rng = np.random.default_rng(n)
    yield from (rng.permutation(n) for _ in range(SOME))


# Renaming the nodes


def renaming_matters(problem: Problem, failure: Failure) -> bool:
    """Whether some renaming of the nodes changes what the picks do."""
    names = renamings(failure.instance.graph.n)
    return any(_differs(problem, failure, permutation) for permutation in names)


def _differs(problem: Problem, failure: Failure, permutation: Permutation) -> bool:
    game = Interpreter(problem)
    try:
        here = game.reset(failure.instance)
        there = game.reset(failure.instance.relabel(problem, permutation))
        for pick in failure.picks:
            if not same_views(game, here, there, permutation):
                return True
            mine, theirs = game.step(here, pick), game.step(there, int(permutation[pick]))
            if not nearly_equal(mine.reward, theirs.reward):
                return True
            here, there = mine.state, theirs.state
        return not same_views(game, here, there, permutation)
    except SpecRunError:
        return False


def same_views(game: Interpreter, here: State, there: State, permutation: Permutation) -> bool:
    """Whether one state is the other with its nodes renamed, in all that can be seen of it."""
    problem = game.problem
    old = np.argsort(permutation)
    if (here.phase, here.rounds, here.ended) != (there.phase, there.rounds, there.ended):
        return False
    if not np.array_equal(here.adjacency[np.ix_(old, old)], there.adjacency):
        return False
    if not np.array_equal(game.mask(here), game.mask(there)[permutation]):
        return False
    for name, values in game.observation(here).items():
        moved = relabel_values(problem.feature(name), values, permutation, here.adjacency)
        if not _close(moved, game.observation(there)[name]):
            return False
    if (game.correct(here), game.valid(here)) != (game.correct(there), game.valid(there)):
        return False
    return all(
        np.array_equal(game.expert(here, e.name), game.expert(there, e.name)[permutation])
        for e in problem.experts
    )


def _close(left: NDArray[np.generic], right: NDArray[np.generic]) -> bool:
    pairs = zip(np.ravel(left), np.ravel(right), strict=True)
    return all(nearly_equal(float(a), float(b)) for a, b in pairs)


# Changing the hidden ranks


def uneven(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether the expert's answer hangs on the hidden ranks of nodes, which mean nothing."""
    mine = game.expert(state, expert)
    return any(
        not np.array_equal(game.expert(retagged(state, order), expert), mine)
        for order in renamings(state.n)
    )


def earns_by_rank(game: Interpreter, state: State, pick: int) -> bool:
    """Whether the reward of a pick hangs on the hidden ranks of nodes."""
    mine = game.step(state, pick).reward
    return any(
        not nearly_equal(game.step(retagged(state, order), pick).reward, mine)
        for order in renamings(state.n)
    )


def retagged(state: State, order: Permutation) -> State:
    """The same state with the hidden ranks dealt out in another way; labels stay as they were."""
    read = Evaluator(state)
    hidden = [f.name for f in state.episode.problem.features if f.stage is ORACLE]
    labels = {name: np.asarray(read.stored(name)) for name in hidden}
    instance = state.episode.instance
    dealt = Instance(instance.graph, instance.inputs, instance.tags[order], labels)
    return replace(state, episode=replace(state.episode, instance=dealt, oracles=labels))
