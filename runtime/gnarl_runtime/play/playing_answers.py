"""What the Play panel asks in, answers out: states, reasons, chances, picks, how it ended."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from pydantic import Field

from gnarl_compiler.interpret.explain import why_illegal
from gnarl_compiler.interpret.planned import lowest_rank
from gnarl_compiler.interpret.state import STOP, State
from gnarl_dsl.model import Problem, RuleExpert
from gnarl_runtime.instances.instance_json import case_of
from gnarl_runtime.play.editing_answers import Editing
from gnarl_runtime.play.games import MOST_PICKS, Game, GameAsked, Games, Place
from gnarl_runtime.play.player_names import Players, weighed
from gnarl_runtime.readers.raw import Imported
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.viewing.document import Numbered, changes_of, frame_of, scene_of
from gnarl_runtime.viewing.places import places_of
from gnarl_runtime.viewing.recording import labels_of
from gnarl_runtime.viewing.source_marks import lines_of, phase_lines, written_lines
from gnarl_runtime.web.replies import Question, Refused

_SECONDS = 2.0  # that all experts together may take to show what can be reached
_SMALL = 24  # nodes up to which experts that read an oracle or look ahead are asked, too


class Begun(GameAsked):
    """A game, and picks that a page would like to go on from."""

    picks: list[int] = Field(default_factory=list)


class Picks(Question):
    """Where an episode stands."""

    game: str
    picks: list[int]


class Look(Picks):
    """The states from the one after so many picks on."""

    since: int | None = None  # None: the last only


class AtNode(Picks):
    node: int


class Asked(Picks):
    player: str
    seed: int = 0


class GameKey(Question):
    game: str


class Playing:
    """Answers about games; nothing in it is lost if the server ends."""

    def __init__(self, editing: Editing, players: Players) -> None:
        self.editing = editing
        self.players = players
        self.games = Games()

    def begin(self, asked: Begun) -> dict[str, Any]:
        """The scene and the states so far; of the picks as many as are legal."""
        problem = self.editing.problem(asked.spec)
        only = GameAsked(spec=asked.spec, graph=asked.graph, reward=asked.reward)
        game = self.games.begin(problem, only)
        picks = game.legal_part(asked.picks[:MOST_PICKS])
        episode, reward = game.place(()).state.episode, game.game.reward
        scene = scene_of(
            problem,
            game.instance,
            places_of(problem, game.instance, getattr(asked.graph, "seed", 0)),
            None,
            reward.name if reward else None,
            episode.horizon,
        )
        return {
            "game": game.key,
            "scene": {key: value for key, value in asdict(scene).items() if key != "sources"},
            "notes": list(game.instance.notes) if isinstance(game.instance, Imported) else [],
            "players": self.players.listed(problem),
            "experts": {e.name: _own(_expert_lines(problem, e.name)) for e in problem.experts},
            "picks": picks,
            "frames": self._frames(game, picks, 0),
        }

    def look(self, asked: Look) -> list[dict[str, Any]]:
        game = self.games.game(asked.game)
        since = len(asked.picks) if asked.since is None else asked.since
        return self._frames(game, asked.picks, since)

    def _frames(self, game: Game, picks: Sequence[int], since: int) -> list[dict[str, Any]]:
        if len(picks) > MOST_PICKS:
            raise Refused(f"an episode of more than {MOST_PICKS:,} picks is not shown")
        since = max(0, min(since, len(picks)))
        return [_shown(game, game.place(picks[:k])) for k in range(since, len(picks) + 1)]

    def why(self, asked: AtNode) -> list[dict[str, Any]]:
        """What forbids a node: words, and the lines of this spec that say so."""
        game = self.games.game(asked.game)
        state = game.place(asked.picks).state
        _require_node(game, asked.node)
        if state.ended is not None:
            return [{"text": f"the episode has {state.ended}", "lines": []}]
        labels = labels_of(game.instance)
        return [
            {
                "text": reason.describe(game.problem, labels),
                "lines": _own(lines_of(game.problem, [reason.span])),
            }
            for reason in why_illegal(game.game, state, asked.node)
        ]

    def would(self, asked: AtNode) -> dict[str, Any]:
        """The state that a pick would lead to."""
        game = self.games.game(asked.game)
        return _shown(game, game.place([*asked.picks, asked.node]))

    def chances(self, asked: Asked) -> dict[str, Any]:
        """How likely a player finds each node here."""
        game = self.games.game(asked.game)
        state = game.place(asked.picks).state
        if state.ended is not None or game.game.is_dead_end(state):
            return {"nodes": [], "end": 0.0}
        return dict(weighed(self.players.chances(game, state, asked.player), state.n))

    def move(self, asked: Asked) -> dict[str, Any]:
        """What a player picks here."""
        game = self.games.game(asked.game)
        state = game.place(asked.picks).state
        if state.ended is not None:
            raise Refused(f"the episode has {state.ended}")
        if game.game.is_dead_end(state):
            raise Refused("dead end: no node can be picked in the middle of a round")
        return {"pick": self.players.pick(game, state, asked.player, asked.seed)}

    def ending(self, asked: Picks) -> dict[str, Any]:
        """How an episode ended: what the spec says is valid and correct, and its metrics."""
        game = self.games.game(asked.game)
        problem, state = game.problem, game.place(asked.picks).state
        return {
            "valid": None if problem.valid is None else game.game.valid(state),
            "correct": None if problem.correct is None else game.game.correct(state),
            "metrics": {m.name: game.game.metric(state, m.name) for m in problem.metrics},
        }

    def known(self, asked: GameKey) -> list[dict[str, Any]]:
        """What experts reach on this graph, as far as there is time."""
        game = self.games.game(asked.game)
        if not game.problem.objectives:
            return []
        until, small = time.monotonic() + _SECONDS, game.instance.graph.n <= _SMALL
        free = free_experts(game.problem)
        names = [
            expert.name
            for expert in game.problem.own_experts
            if small or (expert.name in free and isinstance(expert, RuleExpert))
        ]
        found = (_played(game, name, until) for name in names)
        return [entry for entry in found if entry is not None]

    def case(self, asked: GameKey) -> dict[str, Any]:
        """The instance in every detail, for a file."""
        game = self.games.game(asked.game)
        return case_of(game.problem, game.instance).model_dump(mode="json")


def _require_node(game: Game, node: int) -> None:
    if not 0 <= node < game.instance.graph.n:
        raise Refused(f"there is no node {node} in a graph of {game.instance.graph.n} nodes")


def _shown(game: Game, place: Place) -> dict[str, Any]:
    """A state as the page draws it, with what the pick that led here did."""
    problem, state = game.problem, place.state
    frame = asdict(frame_of(problem, game.instance, place.moment, Numbered()))
    del frame["why_not"], frame["changes"], frame["written"]
    return {
        **frame,
        "ended": state.ended,
        "stuck": game.game.is_dead_end(state),
        "mayStop": game.game.may_stop(state),
        "latest": None if place.move is None else _latest(game, place),
        "allow": _own(phase_lines(problem, problem.phases[state.phase], None).allow),
    }


def _latest(game: Game, place: Place) -> dict[str, Any]:
    """The pick that led to a place, and what it wrote."""
    assert place.move is not None
    changes, reward = place.move.changes, place.move.reward
    return {
        "pick": place.pick,
        "changes": list(changes_of(game.problem, game.instance, changes)),
        "written": _own(written_lines(game.problem, changes)),
        "reward": f"{reward + 0.0:.4g}" if math.isfinite(reward) else str(reward),
    }


def _own(lines: Sequence[tuple[int, int]]) -> list[int]:
    """Lines of the file itself, from 0, as the editor counts them."""
    return [line - 1 for file, line in lines if file == 0]


def _expert_lines(problem: Problem, name: str) -> tuple[tuple[int, int], ...]:
    found = {line for phase in problem.phases for line in phase_lines(problem, phase, name).expert}
    return tuple(sorted(found))


def _played(game: Game, name: str, until: float) -> dict[str, Any] | None:
    """An expert's episode in the interpreter, of its answers those of the lowest rank."""
    own, picks = game.game, list[int]()
    state: State = game.place(()).state
    while state.ended is None and not own.is_dead_end(state):
        if time.monotonic() > until or len(picks) > MOST_PICKS:
            return None
        answers = own.expert(state, name)
        if not answers.any() and own.done(state, name):
            state = own.step(state, STOP).state
            break
        nodes = np.flatnonzero(answers if answers.any() else own.mask(state))
        picks.append(lowest_rank(nodes, game.instance.tags))
        state = own.step(state, picks[-1]).state
    if not own.valid(state):
        return None
    return {"name": name, "value": own.objective(state), "picks": picks}
