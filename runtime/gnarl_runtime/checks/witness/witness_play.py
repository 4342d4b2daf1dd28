"""Picks in, the states they lead to out; and bounded searches for other plays, all interpreted."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter, Transition
from gnarl_compiler.interpret.state import IllegalPick, SpecRunError, State
from gnarl_dsl.model import GreedyExpert

SEARCHED = 3_000  # states that a search for a good continuation may look at
PLAYS = 400  # states of an expert's plays that a comparison may look at
SMALL = 5  # nodes up to which searches look everywhere

Plays = list[tuple[State, tuple[int, ...]]]  # where plays have led, and their picks


@dataclass(frozen=True, eq=False)
class Played:
    """Picks played from reset: every state, every transition, and the error that stopped it."""

    states: tuple[State, ...]
    moves: tuple[Transition, ...]
    error: SpecRunError | None

    @property
    def end(self) -> State:
        return self.states[-1]


def play_picks(game: Interpreter, instance: Instance, picks: Sequence[int]) -> Played | None:
    """Play the picks; None if one of them is not legal where it stands."""
    states: list[State] = []
    moves: list[Transition] = []
    try:
        states.append(game.reset(instance))
        for pick in picks:
            moves.append(game.step(states[-1], pick))
            states.append(moves[-1].state)
    except IllegalPick:
        return None
    except SpecRunError as error:
        if len(moves) + 1 < len(picks):  # it stops before the last pick: not this play
            return None
        return Played(tuple(states), tuple(moves), error)
    return Played(tuple(states), tuple(moves), None)


# Experts


def is_good(game: Interpreter, state: State, expert: str | None = None) -> bool:
    """Whether a state is an answer: correct and valid; of a greedy expert, valid is enough."""
    if expert is not None and isinstance(game.problem.expert(expert), GreedyExpert):
        return game.valid(state)
    return game.correct(state) and game.valid(state)


def is_silent(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether the episode goes on and the expert has no answer."""
    if state.ended is not None or game.is_dead_end(state):
        return False
    return not game.answers(state, expert)


def is_done(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether an expert that has no answer needs none: a round begins, and all is well."""
    return state.opening and is_good(game, state, expert)


def follows(game: Interpreter, played: Played, picks: Sequence[int], expert: str | None) -> bool:
    """Whether every pick is one that the expert may make."""
    pairs = zip(played.states, picks, strict=False)
    return all(pick in game.answers(state, expert) for state, pick in pairs)


def ends_badly(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether an expert's play is over, or stops, without an answer."""
    if state.ended is None:
        return is_silent(game, state, expert) and not is_done(game, state, expert)
    return not is_good(game, state, expert)


def expert_ends(
    game: Interpreter, instance: Instance, expert: str | None, most: int = PLAYS
) -> Iterator[tuple[State, tuple[int, ...]]]:
    """Where an expert's plays stop and the picks that lead there; equal states once."""
    waiting: deque[tuple[State, tuple[int, ...]]] = deque([(game.reset(instance), ())])
    seen: set[bytes] = set()
    deep = instance.graph.n > SMALL  # large ones: one play to its end before the next
    while waiting and len(seen) < most:
        state, picks = waiting.pop() if deep else waiting.popleft()
        key = identity(state)
        if key in seen:
            continue
        seen.add(key)
        answers = game.answers(state, expert) if state.ended is None else []
        if not answers:
            yield state, picks
        for pick in answers:
            waiting.append((game.step(state, pick).state, (*picks, pick)))


# Searches


def identity(state: State) -> bytes:
    """Bytes that are the same for the same state of one episode."""
    parts = [np.ascontiguousarray(values).tobytes() for values in state.features.values()]
    skipped = [pick < 0 for pick in state.picks]
    standing = f"{state.phase} {state.last} {skipped} {state.rounds} {state.ended}".encode()
    return b"|".join([standing, state.adjacency.tobytes(), *parts])


def explore(
    game: Interpreter, start: State, picks: tuple[int, ...] = (), most: int = SEARCHED
) -> Iterator[tuple[State, tuple[int, ...]]]:
    """Every state reachable by legal picks, nearest first, with the picks that lead there."""
    waiting: deque[tuple[State, tuple[int, ...]]] = deque([(start, picks)])
    seen = {identity(start)}
    while waiting:
        state, path = waiting.popleft()
        yield state, path
        for pick in game.choices(state):
            if len(seen) >= most:
                break
            after = game.step(state, pick).state
            key = identity(after)
            if key not in seen:
                seen.add(key)
                waiting.append((after, (*path, pick)))


def can_end_well(game: Interpreter, state: State, most: int = SEARCHED) -> bool | None:
    """Whether some continuation ends with an answer; None if a bounded search cannot tell."""
    count, most = 0, max(20, most * SMALL**2 // max(SMALL, state.n) ** 2)
    for reached, _ in explore(game, state, most=most):
        count += 1
        if reached.ended is not None and is_good(game, reached):
            return True
    return None if count >= most else False


def ends_well(game: Interpreter, state: State, expert: str | None) -> bool:
    """Whether every play of an expert from here on ends well in the time that is left."""
    waiting: Plays = [(state, ())]
    while waiting:
        if any(ends_badly(game, at, expert) for at, _ in waiting):
            return False
        waiting = _advice(game, waiting, expert)
    return True


def loses_its_way(game: Interpreter, state: State, expert: str | None) -> tuple[int, ...] | None:
    """Picks of an expert that lead nowhere, although it has the whole horizon again; or None.

    Nowhere: to a state without an answer that is not one, or on and on until the time is over.
    """
    left = state.episode.horizon * len(game.problem.phases) - state.phase
    ahead = replace(state, episode=replace(state.episode, horizon=math.inf, limit=math.inf))
    waiting: Plays = [(replace(ahead, rounds=0), ())]
    for _ in range(math.floor(left) + 1):
        if not waiting:
            return None
        stuck = (path for at, path in waiting if ends_badly(game, at, expert) and not at.ended)
        if (path := next(stuck, None)) is not None:
            return path
        waiting = _advice(game, waiting, expert)
    return waiting[0][1] if waiting else None


def needs_time(game: Interpreter, played: Played, expert: str | None) -> bool:
    """Whether every play of an expert comes to an answer if it may go on where time was over."""
    rounds = played.end.episode.horizon + played.end.n + 1  # a horizon can be far too short
    endless = replace(played.end.episode, horizon=math.inf, limit=math.inf)
    waiting: Plays = [(replace(played.end, episode=endless, ended=None), ())]
    for _ in range(math.floor(rounds * len(game.problem.phases))):
        waiting = [entry for entry in waiting if not is_done(game, entry[0], expert)]
        if not waiting:
            return True
        if any(ends_badly(game, state, expert) for state, _ in waiting):
            return False
        waiting = _advice(game, waiting, expert)
    return False


def _advice(game: Interpreter, waiting: Plays, expert: str | None) -> Plays:
    """Where one more pick of the expert leads from states that are not over; equal ones once."""
    reached: dict[bytes, tuple[State, tuple[int, ...]]] = {}
    for state, path in waiting:
        for pick in game.answers(state, expert) if not state.ended else ():
            after = game.step(state, pick).state
            reached.setdefault(identity(after), (after, (*path, pick)))
    return list(reached.values())[:PLAYS]
