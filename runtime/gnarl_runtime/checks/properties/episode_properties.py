"""Properties of a problem as such: views of explored spaces go in, what breaks them comes out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_dsl import model
from gnarl_dsl.language.operators import SNAP
from gnarl_dsl.model.kinds import DERIVED
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.explore.board import Board
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties.found import Found

# Things that must not happen at all


def fault_at(board: Board, code: int) -> tuple[str, Span]:
    """What a fault of the kernels says, and where in the spec."""
    fault = board.artifact.abi.fault(code)
    return fault.what, fault.span


def start_failures(board: Board) -> Iterator[Failure]:
    """Instances that cannot even be reset."""
    for k, why in board.failed.items():
        yield Failure("run-error", why, board.instances[k], (), None)
    for slot in np.flatnonzero(board.faults > 0).tolist():
        what, span = fault_at(board, int(board.faults[slot]))
        yield Failure("run-error", f"at the reset, {what}", board.instances[slot], (), span)


def check_run_errors(view: View) -> Iterator[Found]:
    """Picks that stop the spec, and states that a policy cannot observe."""
    space = view.space
    for code in np.unique(space.faults[space.faults > 0]):
        what, span = fault_at(space.board, int(code))
        hit = np.flatnonzero(space.faults == code)
        yield Found("run-error", space.source[hit], what, span, last=space.picks[hit])
    if any(feature.stage is DERIVED for feature in view.problem.features):
        states = np.arange(len(space))
        _, faults = space.observe((), states)
        for code in np.unique(faults[faults > 0]):
            what, span = fault_at(space.board, int(code))
            yield Found("run-error", states[faults == code], what, span)


def check_dead_ends(view: View) -> Iterator[Found]:
    """States inside a round without a legal pick, and episodes that cannot begin."""
    space, problem = view.space, view.problem
    phases = space.field("phase")
    for number, phase in enumerate(problem.phases):
        hit = np.flatnonzero(space.dead & (phases == number))
        span = phase.allow.span if phase.allow else phase.span
        yield Found("dead-end", hit, f"no node can be picked in phase `{phase.name}`", span)
    first = problem.phases[0]
    span = first.allow.span if first.allow else first.span
    what = (
        f"the episode is over before it begins: no node can be picked in phase `{first.name}`, "
        f"and the start is not {_wanted(problem)}"
    )
    yield Found("dead-end", np.flatnonzero(stuck_at_start(view) & ~view.good), what, span)


def stuck_at_start(view: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """First states that are over only because no node can be picked."""
    space = view.space
    horizon = space.board.home.batch.horizon[space.instance]
    over = (space.depth == 0) & (space.ended == TERMINATED) & (horizon > SNAP)
    if view.problem.terminate is None:
        return np.asarray(over)
    return np.asarray(over & ~_terminates(view))


def _terminates(view: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether `terminate` holds in the first state of each instance, by the interpreter."""
    from gnarl_compiler.interpret.episode import Interpreter
    from gnarl_compiler.interpret.evaluate import Evaluator

    space, clause = view.space, view.problem.terminate
    result = np.zeros(len(space), np.bool_)
    game = Interpreter(view.problem)
    for state in np.flatnonzero((space.depth == 0) & (space.ended == TERMINATED)):
        first = game.reset(space.board.instances[int(space.instance[state])])
        result[state] = clause is not None and Evaluator(first).truth(clause, {})
    return result


def _wanted(problem: model.Problem) -> str:
    return "correct" if problem.correct is not None else "valid"


def check_endless(view: View) -> Iterator[Found]:
    """States that go on although the horizon is reached."""
    space = view.space
    horizon = space.board.home.batch.horizon[space.instance]
    late = space.live & (space.field("rounds") >= horizon - SNAP) & view.starting
    what = "the episode goes on although its horizon is reached"
    yield Found("endless", np.flatnonzero(late), what, view.problem.horizon.span)


def check_unwinnable(view: View) -> Iterator[Found]:
    """Instances without any legal play that ends correct; invalid ends are reported as such."""
    space, clause = view.space, view.problem.correct
    if clause is None:
        return
    lost = (space.depth == 0) & space.live & ~view.win.maybe
    what = "no legal play ends in a state that is correct"
    yield Found("unwinnable", np.flatnonzero(lost), what, clause.span)


# Ends


def check_ends(view: View) -> Iterator[Found]:
    """Ends that break `valid`, those at a limit included, and correct ones that do."""
    space, clause = view.space, view.problem.valid
    if clause is None:
        return
    broken = (space.ended != RUNNING) & ~view.valid
    if view.problem.correct is not None:
        both = (space.ended != RUNNING) & view.correct & ~view.valid
        what = "the state is `correct` but not `valid`"
        yield Found("correct-invalid", np.flatnonzero(both), what, clause.span)
        broken &= ~both
    what = "the episode has ended in a state that is not `valid`"
    yield Found("invalid-end", np.flatnonzero(broken), what, clause.span)
