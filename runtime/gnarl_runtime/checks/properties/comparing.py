"""Properties that compare plays: views of explored spaces go in, what breaks them comes out.

An expert called `optimal` is held to its name; a reward must pay right answers best; experts and
rewards must not hang on the hidden ranks of nodes; an expert that stops must have ended the
episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl import model
from gnarl_dsl.language.builtins import FUNCTIONS
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE
from gnarl_dsl.model import Problem, choose_reward
from gnarl_runtime.checks.explore.board import Board
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.expert_properties import rule_span
from gnarl_runtime.checks.properties.found import Check, Found
from gnarl_runtime.checks.properties.paying import BEST, Paying, paying, step_rewards

Numbers = NDArray[np.float64]
Truths = NDArray[np.bool_]


# The expert called optimal


def check_optimal(view: View) -> Iterator[Found]:
    """No legal play that ends well is worth more than a play of the expert called `optimal`."""
    problem, space = view.problem, view.space
    if not problem.objectives or all(expert.name != BEST for expert in problem.experts):
        return
    goal = problem.objective()
    worth = space.value(Role.OBJECTIVE.of(goal.name))
    over = space.ended != RUNNING
    own = over & reached_by(view, BEST)
    claimed = per_instance(space, np.where(own, worth, np.inf), own, np.minimum)
    better = over & view.good & (worth > above(claimed)[space.instance])
    what = f"this play ends with more `{goal.name}` than a play of the expert `{BEST}`"
    yield Found("reference", np.flatnonzero(better), what, goal.value.span, BEST)


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


# Rewards


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
        before, width = space.layers[depth - 1], space.board.nodes
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
    if isinstance(entry, model.Reward) and entry.kind == "terminal":
        result = np.zeros(len(space))
        led = space.target >= 0
        result[space.target[led]] = space.rewards[led]
        return result
    potential = space.field("potential")
    first = np.zeros(len(space.board.instances))
    at_start = space.depth == 0
    first[space.instance[at_start]] = potential[at_start]
    return np.asarray(potential - first[space.instance])


# Hidden ranks


def check_uneven(view: View) -> Iterator[Found]:
    """An expert's answer does not change when the hidden ranks of the nodes are dealt anew.

    Ranks break ties in `any argmin`; a policy cannot see them. Labels stay as they are: an
    oracle may choose among equally good answers.
    """
    problem, space = view.problem, view.space
    steady = [e for e in problem.experts if e.name in steady_experts(problem)]
    if not steady or not len(space):
        return
    other = Space(retagged(space.board), space.layers, space.bound)
    for expert in steady:
        mine = view.expert(expert.name).distribution
        moved = np.flatnonzero((mine != other.expert(expert.name)).any(axis=1))
        what = (
            f"the expert `{expert.name}` chooses among equally good nodes by their hidden ranks, "
            "which no policy can see; likely fix: `uniform v … minimising`, which keeps all ties"
        )
        phases = space.field("phase")
        for number in range(len(problem.phases)):
            here = moved[phases[moved] == number]
            span = rule_span(problem, expert, number)
            yield Found("expert-uneven", here, what, span, expert.name)


def check_luck(view: View) -> Iterator[Found]:
    """What a pick earns does not change when the hidden ranks of the nodes are dealt anew.

    `any argmin` in an update may take either of two nodes; a policy that cannot see which can
    learn what its pick is worth only if both are worth the same.
    """
    problem, space = view.problem, view.space
    entry = choose_reward(problem, None)
    decides = (tuple(phase.update for phase in problem.phases), problem.lets, entry)
    ranked = next(_ranked(decides), None)
    led = np.flatnonzero(space.target >= 0)
    if entry is None or ranked is None or not len(led) or _draws(decides):
        return
    source, picks = space.source[led], space.picks[led]
    other = retagged(space.board).step(space.rows[source], space.instance[source], picks)
    mine = space.rewards[led]
    gap, size = np.abs(mine - other.rewards), np.maximum(np.abs(mine), np.abs(other.rewards))
    moved = (other.fault <= 0) & (gap > np.maximum(RELATIVE * size, ABSOLUTE))
    what = (
        f"what this pick earns in `{entry.name}` hangs on the hidden ranks of nodes, which no "
        "policy can see; likely fix: nodes that tie here should be worth the same"
    )
    yield Found("reward-uneven", source[moved], what, ranked.span, last=picks[moved])


def _ranked(node: object) -> Iterator[model.Quantifier]:
    """The places at which hidden ranks break ties."""
    match node:
        case model.Quantifier(op="argmin" | "argmax"):
            yield node
        case model.Model():
            for value in vars(node).values():
                yield from _ranked(value)
        case tuple():
            for value in node:
                yield from _ranked(value)


def retagged(board: Board) -> Board:
    """The same instances and labels with ranks in the opposite order."""
    instances = [
        replace(i, tags=np.sort(i.tags)[::-1][np.argsort(np.argsort(i.tags))])
        for i in board.solved()
    ]
    return Board(board.problem, instances, board.artifact)


def steady_experts(problem: Problem) -> set[str]:
    """The experts that read no function which draws from the ranks by design."""
    shared = (problem.lets, tuple(f for f in problem.features if f.stage == "derived"))
    if _draws(shared):
        return set()
    return {expert.name for expert in problem.experts if not _draws(_own(problem, expert))}


def _own(problem: Problem, expert: model.Expert) -> object:
    if isinstance(expert, model.GreedyExpert):
        return problem.objective(expert.objective)
    return expert


def _draws(node: object) -> bool:
    """Whether a formula calls a random function."""
    match node:
        case model.Call():
            return FUNCTIONS[node.function].random or _draws(node.args)
        case model.Model():
            return any(_draws(value) for value in vars(node).values())
        case tuple():
            return any(_draws(value) for value in node)
        case _:
            return False


# Experts that stop


def check_finish(view: View, name: str) -> Iterator[Found]:
    """In a space of the expert's own play: where it has nothing more to say, it is over.

    A policy cannot stop: whatever it picks in the rounds that are left may spoil the answer.
    """
    play = view.expert(name)
    what = (
        f"the expert `{name}` is done, but the episode goes on: later picks can spoil the answer; "
        "likely fix: `terminate when correct`, or a shorter horizon"
    )
    span = view.problem.horizon.span
    yield Found("expert-silent", np.flatnonzero(play.done), what, span, name)


EXTRA_CHECKS: tuple[Check, ...] = (
    check_optimal,
    check_rewards,
    check_misleading,
    check_uneven,
    check_luck,
)
