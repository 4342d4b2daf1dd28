"""A failure of an expert whose time is over in; the same, or told for what it is, out.

More time helps an expert that is late. One that makes a wrong pick among those that it holds for
equally good stays wrong, however long it goes on.
"""

from __future__ import annotations

from dataclasses import replace

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.witness.witness_play import (
    expert_ends,
    is_good,
    needs_time,
    play_picks,
)


def told_apart(problem: Problem, failure: Failure) -> Failure:
    """An `expert-late` whose expert would not be right later either is an `expert-fails`."""
    if failure.property != "expert-late":
        return failure
    game = Interpreter(problem)
    played = play_picks(game, failure.instance, failure.picks)
    if played is None or played.error is not None or played.end.ended is None:
        return failure
    try:
        if needs_time(game, played, failure.expert):
            return failure
        what = _what(game, failure)
    except SpecRunError:
        return failure
    span = problem.expert(failure.expert).span
    return replace(failure, property="expert-fails", message=what, span=span)


def _what(game: Interpreter, failure: Failure) -> str:
    ends = expert_ends(game, failure.instance, failure.expert)
    wanted = "valid" if game.problem.correct is None else "correct"
    told = f"the play of the expert `{failure.expert}` ends in a state that is not {wanted}"
    if any(is_good(game, state, failure.expert) for state, _ in ends):
        return (
            f"{told}, and more time would not help; other plays of it end well here: not all picks "
            "that it holds for equally good are"
        )
    return f"{told}, and more time would not help"
