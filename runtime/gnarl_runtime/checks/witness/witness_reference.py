"""A play in, whether it is worth more than what the spec calls right: judged in the interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import State
from gnarl_dsl import model
from gnarl_dsl.language.operators import nearly_equal
from gnarl_runtime.checks.properties.paying import Paying, paying, step_rewards
from gnarl_runtime.checks.witness.witness_play import (
    Played,
    expert_ends,
    explore,
    is_good,
    play_picks,
)


def worth(entry: Paying, start: State, end: State) -> float:
    """The sum of all rewards of a play, from its two ends alone."""
    value = Evaluator(end).number(entry.value, {})
    if isinstance(entry, model.Reward) and entry.kind == "terminal":
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
