"""Properties of what is paid: views of explored spaces go in, what breaks them comes out.

Rewards add up to what they measure, and pay right answers best; an expert called `optimal` is
held to its name.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl import model
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE
from gnarl_dsl.model import OPTIMAL, Problem, choose_reward
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.found import Found

Numbers = NDArray[np.float64]
Truths = NDArray[np.bool_]
Paying = model.Objective | model.Reward


def paying(problem: Problem) -> list[Paying]:
    """What a right answer must pay most of: objectives, potentials and rewards at the end."""
    return [*problem.objectives, *(r for r in problem.rewards if r.kind != "step")]


def step_rewards(problem: Problem) -> list[model.Reward]:
    """Rewards that are paid pick by pick, so that it matters how an end was reached."""
    return [reward for reward in problem.rewards if reward.kind == "step"]


def check_telescope(view: View, reward: str | None = None) -> Iterator[Found]:
    """Every round pays exactly J(after) - J(before), so that rewards add up to J(end) - J(start).

    Compared bit for bit: both sides are the same subtraction.
    """
    entry = choose_reward(view.problem, reward)
    if entry is None or entry.kind != "potential":
        return
    space, span = view.space, entry.value.span
    potential = space.field("potential")
    bad = np.flatnonzero(~np.isfinite(potential))
    yield Found("reward-telescope", bad, f"`{entry.name}` is not a finite number here", span)
    led = space.target >= 0
    source, target = space.source[led], space.target[led]
    gain = np.where(view.starting[target], potential[target] - potential[source], 0.0)
    with np.errstate(invalid="ignore"):
        odd = (space.rewards[led] != gain) & np.isfinite(gain)
    what = f"the reward of this pick is not the gain in `{entry.name}`"
    yield Found("reward-telescope", source[odd], what, span, last=space.picks[led][odd])
    kernel = Role.OBJECTIVE.of(entry.name)
    if isinstance(entry, model.Objective) and space.has(kernel):
        value = space.value(kernel)
        off = np.flatnonzero(view.starting & (value != potential) & np.isfinite(potential))
        what = f"rewards are measured from another value than `{entry.name}` has here"
        yield Found("reward-telescope", off, what, span)


# The expert called optimal


def check_optimal(view: View) -> Iterator[Found]:
    """No legal play that ends well is worth more than a play of the expert called `optimal`."""
    problem, space = view.problem, view.space
    if not problem.objectives or all(expert.name != OPTIMAL for expert in problem.experts):
        return
    goal = problem.objective()
    worth = space.value(Role.OBJECTIVE.of(goal.name))
    over = space.ended != RUNNING
    own = over & reached_by(view, OPTIMAL)
    claimed = per_instance(space, np.where(own, worth, np.inf), own, np.minimum)
    better = over & view.good & (worth > above(claimed)[space.instance])
    what = f"this play ends with more `{goal.name}` than a play of the expert `{OPTIMAL}`"
    yield Found("reference", np.flatnonzero(better), what, goal.value.span, OPTIMAL)


def reached_by(view: View, expert: str) -> Truths:
    """The states that an expert's own play can reach."""
    space, support = view.space, view.expert(expert).support
    reached = space.depth == 0
    follows = support[space.source, space.picks] & (space.target >= 0)
    for own, source, target, edges in reversed(list(space.backwards())):
        led = follows[edges] & reached[own][source]
        reached[target[led]] = True
    return np.asarray(reached)


def per_instance(space: Space, values: Numbers, states: Truths, choose: np.ufunc) -> Numbers:
    """The least or largest value among some states of each instance; infinite without any."""
    start = np.inf if choose is np.minimum else -np.inf
    result = np.full(len(space.board.instances), start)
    choose.at(result, space.instance[states], values[states])
    return result


def above(values: Numbers) -> Numbers:
    """What a number must exceed to be more than another in the sense of `~=`."""
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.asarray(values + np.maximum(RELATIVE * np.abs(finite), ABSOLUTE))


# Right and wrong ends


def check_rewards(view: View, reward: str | None = None) -> Iterator[Found]:
    """Plays that end right are all paid the same, and plays that end wrong are paid less.

    The view's kernels are those of the reward. Judged on instances explored to the end.
    """
    problem, space = view.problem, view.space
    entry = choose_reward(problem, reward)
    if problem.correct is None or entry is None or entry not in paying(problem):
        return
    paid = returns(space, entry)
    over = (space.ended != RUNNING) & space.complete[space.instance]
    best = per_instance(space, paid, over & view.good, np.maximum)
    known = np.isfinite(best)[space.instance]
    wrong = over & ~view.good & known & (paid >= below(best)[space.instance])
    what = (
        f"this play ends wrong, but `{entry.name}` pays it as much as the best play that ends right"
    )
    yield Found("reference", np.flatnonzero(wrong), what, entry.value.span)
    poor = over & view.good & known & (paid < below(best)[space.instance])
    what = f"this play ends right, but `{entry.name}` pays it less than another that ends right"
    yield Found("reference", np.flatnonzero(poor), what, entry.value.span)


def check_misleading(view: View, reward: str | None = None) -> Iterator[Found]:
    """No play that ends wrong is paid more, pick by pick, than an expert's, which ends right.

    How long a play takes may cost something; to have it cost less than nothing makes dawdling
    worth more than the answer. Judged on instances explored to the end.
    """
    problem, space = view.problem, view.space
    entry = choose_reward(problem, reward)
    if problem.correct is None or entry not in step_rewards(problem) or not len(space):
        return
    over = (space.ended != RUNNING) & space.complete[space.instance]
    paid = paid_on_the_way(space)
    for expert in problem.experts:
        least = least_paid(view, expert.name)
        own = over & view.good & np.isfinite(least)
        known = per_instance(space, least, own, np.minimum)
        wrong = over & ~view.good & (paid > above(known)[space.instance])
        what = (
            f"this play ends wrong, but `{entry.name}` pays it more than a play of the expert "
            f"`{expert.name}`, which ends right"
        )
        yield Found("reward-misleads", np.flatnonzero(wrong), what, entry.value.span, expert.name)


def paid_on_the_way(space: Space) -> Numbers:
    """The sum of rewards of the play that was found first to lead to each state."""
    paid = np.zeros(len(space))
    for depth, layer in enumerate(space.layers[1:], 1):
        before, width = space.layers[depth - 1], space.board.choices
        place = np.searchsorted(
            before.source * width + before.picks, layer.parent * width + layer.pick
        )
        parents = space.starts[depth - 1] + layer.parent
        paid[space.starts[depth] : space.starts[depth + 1]] = paid[parents] + before.rewards[place]
    return paid


def least_paid(view: View, expert: str) -> Numbers:
    """The least that an expert's play earns on its way to each state; infinite off its way."""
    space, support = view.space, view.expert(expert).support
    least = np.where(space.depth == 0, 0.0, np.inf)
    follows = support[space.source, space.picks] & (space.target >= 0)
    for own, source, target, edges in reversed(list(space.backwards())):
        led = follows[edges]
        earned = least[own][source[led]] + space.rewards[edges][led]
        np.minimum.at(least, target[led], earned)
    return np.asarray(least)


def below(values: Numbers) -> Numbers:
    finite = np.where(np.isfinite(values), values, 0.0)
    return np.asarray(values - np.maximum(RELATIVE * np.abs(finite), ABSOLUTE))


def returns(space: Space, entry: Paying) -> Numbers:
    """The sum of rewards of any play that leads to each end, which its last state decides."""
    if entry.kind == "terminal":
        result = np.zeros(len(space))
        led = space.target >= 0
        result[space.target[led]] = space.rewards[led]
        return result
    potential = space.field("potential")
    first = np.zeros(len(space.board.instances))
    at_start = space.depth == 0
    first[space.instance[at_start]] = potential[at_start]
    return np.asarray(potential - first[space.instance])
