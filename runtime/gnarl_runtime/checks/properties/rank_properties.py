"""Properties under other hidden ranks: views of explored spaces go in, what hangs on them out.

Ranks break ties; neither what an expert answers nor what a pick earns may depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gnarl_dsl import model
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE
from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.model import Problem, choose_reward
from gnarl_dsl.model.kinds import DERIVED
from gnarl_dsl.model.parts import parts_inside
from gnarl_runtime.checks.explore.board import Board
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.expert_properties import rule_span
from gnarl_runtime.checks.properties.found import Found


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
    if entry is None or ranked is None or not len(led) or _draws(decides, _drawing(problem)):
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


def _ranked(part: object) -> Iterator[model.Quantifier]:
    """The places at which hidden ranks break ties."""
    folds = (item for item in parts_inside(part) if isinstance(item, model.Quantifier))
    return (fold for fold in folds if fold.op in ("argmin", "argmax"))


def retagged(board: Board) -> Board:
    """The same instances and labels with ranks in the opposite order."""
    instances = [
        replace(i, tags=np.sort(i.tags)[::-1][np.argsort(np.argsort(i.tags))])
        for i in board.solved()
    ]
    return Board(board.problem, instances, board.artifact)


def steady_experts(problem: Problem) -> set[str]:
    """The experts that read no function which draws from the ranks by design."""
    shared = (problem.lets, tuple(f for f in problem.features if f.stage is DERIVED))
    drawing = _drawing(problem)
    if _draws(shared, drawing):
        return set()
    own = ((expert.name, _own(problem, expert)) for expert in problem.experts)
    return {name for name, part in own if not _draws(part, drawing)}


def _own(problem: Problem, expert: model.Expert) -> object:
    if isinstance(expert, model.GreedyExpert):
        return problem.objective(expert.objective)
    return expert


def _drawing(problem: Problem) -> set[str]:
    """The functions that draw from the ranks by design."""
    registered = {name for name, known in FUNCTIONS.items() if known.random}
    registered -= {extern.name for extern in problem.externs}
    return registered | {extern.name for extern in problem.externs if extern.random}


def _draws(part: object, drawing: set[str]) -> bool:
    """Whether a formula calls one of these functions."""
    calls = (item for item in parts_inside(part) if isinstance(item, model.Call))
    return any(call.function in drawing for call in calls)
