"""A spec and a graph in, a game out; picks in, the states that they lead to out.

A page sends all picks of its episode every time, so the server has nothing to lose: what it keeps
are states that it would otherwise play again. Tabs cannot disturb each other, a page that is
loaded again goes on, and so does one whose server was killed.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import RLock

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter, Transition
from gnarl_compiler.interpret.state import STOP, IllegalPick, State
from gnarl_dsl.model import Problem, choose_reward
from gnarl_runtime.play.editing_answers import SpecText
from gnarl_runtime.play.graphs_asked import GraphAsked, instance_of
from gnarl_runtime.viewing.recording import Decision, Moment, moment_of
from gnarl_runtime.web.replies import Question, Refused

GAMES = 24
MOST_PICKS = 5_000
_CELLS = 2_000_000  # of kept states: fewer of large graphs
UNKNOWN = 410  # the page tells its graph again


class GameAsked(Question):
    spec: SpecText
    graph: GraphAsked
    reward: str | None = None


@dataclass(frozen=True, eq=False)
class Place:
    """Where an episode stands, and the pick that led there."""

    state: State
    moment: Moment
    move: Transition | None = None  # None: it is the start
    pick: int = STOP


@dataclass(eq=False)
class Game:
    """A problem on an instance, and the states that were reached."""

    key: str
    problem: Problem
    instance: Instance
    game: Interpreter
    kept: OrderedDict[tuple[int, ...], Place] = field(default_factory=OrderedDict)
    lock: RLock = field(default_factory=RLock)

    def place(self, picks: Sequence[int]) -> Place:
        """Where these picks lead; Refused if one of them is not legal."""
        with self.lock:
            return self._place(tuple(picks))

    def legal_part(self, picks: Sequence[int]) -> list[int]:
        """The picks up to the first that is not legal."""
        for count in range(len(picks)):
            try:
                self.place(picks[: count + 1])
            except Refused:
                return list(picks[:count])
        return list(picks)

    def _place(self, picks: tuple[int, ...]) -> Place:
        known = len(picks)
        while known and picks[:known] not in self.kept:
            known -= 1
        place = self.kept.get(picks[:known]) or self._start()
        for count in range(known, len(picks)):
            place = self._after(place, picks[count])
            self._keep(picks[: count + 1], place)
        self._keep(picks, place)
        return place

    def _start(self) -> Place:
        state = self.game.reset(self.instance)
        return Place(state, moment_of(self.game, state, None, None))

    def _after(self, place: Place, pick: int) -> Place:
        try:
            move = self.game.step(place.state, pick)
        except IllegalPick as error:
            raise Refused(str(error)) from error
        nobody = np.zeros(place.state.n)
        made = Decision(pick, nobody, move.changes, move.reward, ())
        before = replace(place.moment, decision=made)
        return Place(move.state, moment_of(self.game, move.state, before, None), move, pick)

    def _keep(self, picks: tuple[int, ...], place: Place) -> None:
        self.kept[picks] = place
        self.kept.move_to_end(picks)
        n = self.instance.graph.n
        while len(self.kept) > max(8, _CELLS // (n * n + 100)):
            self.kept.popitem(last=False)


class Games:
    """The games that pages have begun; the oldest go when there are too many."""

    def __init__(self) -> None:
        self.known: OrderedDict[str, Game] = OrderedDict()
        self.lock = RLock()

    def begin(self, problem: Problem, asked: GameAsked) -> Game:
        key = hashlib.sha256(asked.model_dump_json().encode()).hexdigest()[:24]
        with self.lock:
            found = self.known.get(key)
        if found is not None and found.problem.hash == problem.hash:
            return found
        instance = instance_of(problem, asked.graph)
        chosen = choose_reward(problem, asked.reward)
        game = Game(key, problem, instance, Interpreter(problem, chosen.name if chosen else None))
        game.place(())
        with self.lock:
            self.known[key] = game
            while len(self.known) > GAMES:
                self.known.popitem(last=False)
        return game

    def game(self, key: str) -> Game:
        with self.lock:
            if key not in self.known:
                raise Refused("this game is not known any more", UNKNOWN)
            self.known.move_to_end(key)
            return self.known[key]
