"""Two versions of a spec in, the first thing in which they behave differently out, if any.

Both are played side by side in the interpreter with the same picks, on every small instance
that fits into the budget and, with random picks, on some of five to seven nodes. What can be
observed is compared: endings, masks, observed features, objectives, rewards, experts, and at the
end of an episode `correct` and `valid`. Numbers that differ by rounding only are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.language.operators import nearly_equal
from gnarl_dsl.model import Problem, Reward
from gnarl_runtime.checks.explore.small_graphs import small_instances
from gnarl_runtime.checks.sample.sample_instances import sample_instances
from gnarl_runtime.checks.witness.witness_play import identity


@dataclass(frozen=True)
class Budget:
    """How many instances of each size are played, and how many states of each.

    Then random instances, of which those of a size between `least` and `most` nodes are played
    `plays` times, for at most `picks` picks each.
    """

    sizes: tuple[tuple[int, int], ...] = ((1, 4), (2, 24), (3, 60), (4, 20))
    states: int = 80
    drawn: int = 60
    least: int = 5
    most: int = 7
    plays: int = 2
    picks: int = 30


@dataclass(frozen=True)
class Difference:
    """In which respect, and on how many nodes at least, behaviour was seen to differ."""

    what: str
    nodes: int

    def __str__(self) -> str:
        return f"{self.what} (n = {self.nodes})"


def first_difference(
    original: Problem, changed: Problem, budget: Budget | None = None
) -> Difference | None:
    """Where behaviour differs, on the fewest nodes; nothing if that was not seen."""
    budget = budget or Budget()
    for nodes, count in budget.sizes:
        for instance in thinned(list(small_instances(original, nodes, 60)), count):
            what = differs_on(original, changed, instance, budget.states)
            if what:
                return Difference(what, nodes)
    return larger_difference(original, changed, budget)


def larger_difference(original: Problem, changed: Problem, budget: Budget) -> Difference | None:
    """The same for random instances and random picks."""
    rng = np.random.default_rng(0)
    for example in sample_instances(original, budget.drawn, budget.most, seed=0):
        nodes = example.instance.graph.n
        for _ in range(budget.plays if nodes >= budget.least else 0):
            what = differs_in_play(original, changed, example.instance, budget.picks, rng)
            if what:
                return Difference(what, nodes)
    return None


def differs_in_play(
    original: Problem, changed: Problem, instance: Instance, most: int, rng: np.random.Generator
) -> str:
    """What differs in one play with random legal picks."""
    mine, theirs = Interpreter(original), Interpreter(changed)
    first, what = _both(lambda game: game.reset(instance), mine, theirs)
    pair = first
    for _ in range(most):
        if what or pair is None or first is None:
            return what
        what = _compare(mine, theirs, *pair, first)
        legal = np.flatnonzero(mine.mask(pair[0]))
        if what or not len(legal):
            return what
        pair, what = _step(mine, theirs, *pair, int(rng.choice(legal)))
    return what


def thinned(instances: list[Instance], count: int) -> list[Instance]:
    if len(instances) <= count:
        return instances
    return [instances[int(k)] for k in np.linspace(0, len(instances) - 1, count)]


def differs_on(original: Problem, changed: Problem, instance: Instance, most: int) -> str:
    mine, theirs = Interpreter(original), Interpreter(changed)
    first, what = _both(lambda game: game.reset(instance), mine, theirs)
    if what or first is None:
        return what
    waiting, seen = [first], {identity(first[0])}
    for here, there in waiting:
        what = _compare(mine, theirs, here, there, first)
        if what:
            return what
        for pick in np.flatnonzero(mine.mask(here)):
            if len(seen) >= most:
                break
            moved, what = _step(mine, theirs, here, there, int(pick))
            if what:
                return what
            if moved is not None and identity(moved[0]) not in seen:
                seen.add(identity(moved[0]))
                waiting.append(moved)
    return ""


Pair = tuple[State, State]


def _both(action: object, mine: Interpreter, theirs: Interpreter) -> tuple[Pair | None, str]:
    """The same in both; one that stops with an error while the other does not is a difference."""
    found: list[State | None] = []
    for game in (mine, theirs):
        try:
            found.append(action(game))  # type: ignore[operator]
        except SpecRunError:
            found.append(None)
    left, right = found
    if left is not None and right is not None:
        return (left, right), ""
    return None, "" if left is right else "run-time error"


def _step(
    mine: Interpreter, theirs: Interpreter, here: State, there: State, pick: int
) -> tuple[Pair | None, str]:
    states = {id(mine): here, id(theirs): there}
    return _both(lambda game: game.step(states[id(game)], pick).state, mine, theirs)


def _compare(mine: Interpreter, theirs: Interpreter, here: State, there: State, first: Pair) -> str:
    if (here.ended, here.phase) != (there.ended, there.phase):
        return "ending"
    mask = mine.mask(here)
    if not np.array_equal(mask, theirs.mask(there)):
        return "mask"
    if not np.array_equal(here.adjacency, there.adjacency):
        return "graph"
    views = zip(_views(mine, here, first[0]), _views(theirs, there, first[1]), strict=True)
    return next((name for (name, a), (_, b) in views if not _same(a, b)), "")


def _same(left: Any, right: Any) -> bool:
    """Equal but for rounding: a potential that is shifted by a constant pays the same."""
    if np.shape(left) != np.shape(right):
        return False
    pairs = zip(np.ravel(left), np.ravel(right), strict=True)
    return all(nearly_equal(float(a), float(b)) for a, b in pairs)


def _views(game: Interpreter, state: State, start: State) -> Iterator[tuple[str, Any]]:
    """Everything else that can be seen of a state, by name."""
    problem = game.problem
    yield from game.observation(state).items()
    if state.ended is not None:  # they speak about ends only
        yield "correct", game.correct(state)
        yield "valid", game.valid(state)
    if state.phase == 0:
        for entry in problem.objectives:
            yield f"objective {entry.name}", game.objective(state, entry.name)
        for reward in problem.rewards:
            yield f"reward {reward.name}", _paid(reward, state, start)
    for expert in problem.experts:
        yield f"expert {expert.name}", game.expert(state, expert.name)


def _paid(reward: Reward, state: State, start: State) -> float:
    value = Evaluator(state).number(reward.value, {})
    if reward.kind == "potential":
        return value - Evaluator(start).number(reward.value, {})
    if reward.kind == "terminal" and state.ended is None:
        return 0.0
    return value if state is not start else 0.0
