"""A failure in, whether the interpreter shows it: picks played again and the property judged."""

from __future__ import annotations

from typing import assert_never

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.language.operators import SNAP, nearly_equal
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties.extern_answers import odd_answer
from gnarl_runtime.checks.properties.reward_properties import Paying
from gnarl_runtime.checks.witness.verdicts import (
    backend_differs,
    beats_expert,
    earns_the_same,
    is_idle,
    misleads,
    pays_badly,
    plays_by_chance,
    window_loses,
)
from gnarl_runtime.checks.witness.witness_levels import level_matters
from gnarl_runtime.checks.witness.witness_play import (
    Played,
    can_end_well,
    ends_badly,
    ends_well,
    follows,
    is_done,
    is_good,
    is_silent,
    loses_its_way,
    play_picks,
)
from gnarl_runtime.checks.witness.witness_renaming import earns_by_rank, renaming_matters, uneven


def holds(problem: Problem, failure: Failure) -> bool:
    """Whether playing the picks in the interpreter still shows the failure."""
    game = Interpreter(problem)
    if failure.expert is not None and failure.expert not in {e.name for e in problem.experts}:
        return False
    played = play_picks(game, failure.instance, failure.picks)
    if played is None:
        return False
    if failure.property == "run-error":
        return _stops(game, played)
    if failure.property == "backend":
        return backend_differs(problem, failure)
    if played.error is not None:
        return False
    try:
        return _shows(game, failure, played)
    except SpecRunError:
        return False


def _shows(game: Interpreter, failure: Failure, played: Played) -> bool:
    """The property's own test at the end of the picks."""
    state, expert = played.end, failure.expert
    match failure.property:
        case "dead-end":
            return game.is_dead_end(state) or _never_begins(game, state)
        case "endless":
            return state.ended is None and state.rounds >= state.episode.horizon
        case "unwinnable":
            return can_end_well(game, state) is False
        case "invalid-end":
            return state.ended is not None and not game.valid(state)
        case "correct-invalid":
            return state.ended is not None and game.correct(state) and not game.valid(state)
        case "expert-silent":
            return _says_nothing(game, failure, played)
        case "expert-illegal":
            return bool((game.expert(state, expert) > 0)[~game.mask(state)].any())
        case "expert-fails" | "expert-late":
            return follows(game, played, failure.picks, expert) and ends_badly(game, state, expert)
        case "expert-lost":
            return _is_lost(game, state, expert)
        case "expert-aimless":
            return expert is not None and plays_by_chance(game, state, expert)
        case "expert-uneven":
            return uneven(game, state, expert)
        case "reward-telescope":
            return _telescope_breaks(game.problem, failure)
        case "reward-flat":
            return earns_the_same(game, failure.instance)
        case "reward-uneven":
            return bool(failure.picks) and earns_by_rank(game, played.states[-2], failure.picks[-1])
        case "reward-misleads":
            return misleads(game, failure.instance, failure.picks, expert)
        case "window-loses":
            return bool(failure.picks) and window_loses(game, failure.picks[-1], played)
        case "idle":
            return is_idle(game, failure.span, played)
        case "relabelling":
            return renaming_matters(game.problem, failure)
        case "extern":
            return odd_answer(game, state) is not None
        case "level-broken":
            return level_matters(game.problem, failure)
        case "reference":
            return _beats_reference(game, failure, played)
        case "run-error" | "backend":
            return False  # judged before
        case _:
            assert_never(failure.property)


def _never_begins(game: Interpreter, state: State) -> bool:
    """Whether an episode is over at reset for want of a legal node, and not well."""
    if state.ended is None or any(node >= 0 for node in state.last):
        return False
    clause = game.problem.terminate
    meant = clause is not None and Evaluator(state).truth(clause, {})
    in_time = state.episode.horizon > SNAP
    return in_time and not meant and not game.legal(state).any() and not is_good(game, state)


def _says_nothing(game: Interpreter, failure: Failure, played: Played) -> bool:
    """Whether the expert is silent on its own path, or where the episode can still end well."""
    state, expert = played.end, failure.expert
    if not is_silent(game, state, expert):
        return False
    if follows(game, played, failure.picks, expert):
        return True
    return not is_done(game, state, expert) and can_end_well(game, state) is True


def _is_lost(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether the expert does not arrive from here, although the episode can still end well."""
    if state.ended is not None or is_silent(game, state, expert) or ends_well(game, state, expert):
        return False
    lost = loses_its_way(game, state, expert) is not None
    return lost and can_end_well(game, state) is True


def _stops(game: Interpreter, played: Played) -> bool:
    """Whether playing, or asking for anything that can be seen, stops with an error."""
    if played.error is not None:
        return True
    try:
        look_at_everything(game, played.end)
    except SpecRunError:
        return True
    return False


def look_at_everything(game: Interpreter, state: State) -> None:
    """Compute all that a spec says about a state, for the errors it may raise."""
    problem = game.problem
    game.observation(state)
    game.mask(state)
    game.correct(state)
    game.valid(state)
    for expert in problem.experts:
        game.expert(state, expert.name)
    for objective in problem.objectives:
        game.objective(state, objective.name)
    for metric in problem.metrics if state.ended is not None else ():
        game.metric(state, metric.name)


# Rewards and references


def _potentials(problem: Problem) -> list[Paying]:
    return [*problem.objectives, *(r for r in problem.rewards if r.kind == "potential")]


def _telescope_breaks(problem: Problem, failure: Failure) -> bool:
    for entry in _potentials(problem):
        game = Interpreter(problem, entry.name)
        played = play_picks(game, failure.instance, failure.picks)
        if played is None or played.error is not None:
            continue
        gained = sum(move.reward for move in played.moves)
        first, last = (Evaluator(s).number(entry.value, {}) for s in (played.states[0], played.end))
        if played.end.opening and not nearly_equal(first + gained, last):
            return True
    return False


def _beats_reference(game: Interpreter, failure: Failure, played: Played) -> bool:
    """With an expert: the play is worth more than its own. Without: it is paid wrongly."""
    if failure.expert is None:
        return pays_badly(game, failure.instance, failure.picks)
    return beats_expert(game, failure.instance, played.end, failure.expert)
