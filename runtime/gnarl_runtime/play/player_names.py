"""A game and the name of a player in; out: how likely that player finds each node.

`random`, `expert NAME`, `shipped NAME` for weights that are shipped, `run NAME` for a run folder.
torch is loaded when the first policy is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.state import STOP, State
from gnarl_dsl.model import Problem, SearchExpert
from gnarl_runtime.checkpoints.pretrained import pretrained_names
from gnarl_runtime.play.games import Game
from gnarl_runtime.play.run_list import Runs
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.viewing.choosers import Chances, Chooser, expert_chooser, random_chooser
from gnarl_runtime.web.replies import Refused

RANDOM, EXPERT, SHIPPED, RUN = "random", "expert", "shipped", "run"


@dataclass
class Players:
    """Who can play; policies are loaded once per problem and size."""

    runs: Runs
    loaded: dict[tuple[str, ...], Chooser] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def listed(self, problem: Problem) -> list[dict[str, object]]:
        """What the page offers, best guess first."""
        free = free_experts(problem)
        experts = sorted((expert.name for expert in problem.experts), key=lambda n: n not in free)
        shipped = [problem.name] if problem.name in pretrained_names() else []
        return [
            *({"id": f"{EXPERT} {n}", "name": f"expert {n}", "free": n in free} for n in experts),
            *({"id": f"{SHIPPED} {n}", "name": "shipped policy", "free": True} for n in shipped),
            *(
                {"id": f"{RUN} {run.name}", "name": f"policy {run.name}", "free": True}
                for run in self.runs.policies(problem.name)
            ),
            {"id": RANDOM, "name": "random picks", "free": True},
        ]

    def chances(self, game: Game, state: State, name: str) -> Chances:
        """Of every node, and behind them of ending the episode where that may be."""
        return self.chooser(game, name).chances(state)

    def pick(self, game: Game, state: State, name: str, seed: int) -> int:
        """What the player picks here; the same for the same seed, state and player."""
        chooser = self.chooser(game, name)
        odds = chooser.odds(chooser.chances(state))
        if not odds.any():
            raise Refused(f"{chooser.label} has nothing to pick here")
        rng = stream(seed, "picks", len(state.made))
        pick = int(rng.choice(len(odds), p=odds / odds.sum()))
        return STOP if pick == state.n else pick

    def chooser(self, game: Game, name: str) -> Chooser:
        kind, _, own = name.partition(" ")
        if kind == RANDOM:
            return random_chooser(game.game)
        if kind == EXPERT:
            return self._expert(game, own)
        if kind in (SHIPPED, RUN):
            return self._policy(game, kind, own)
        raise Refused(f"there is no player {name[:80]!r}")

    def _expert(self, game: Game, name: str) -> Chooser:
        if name not in {expert.name for expert in game.problem.experts}:
            raise Refused(f"{game.problem.name} has no expert {name[:80]}")
        if isinstance(game.problem.expert(name), SearchExpert):
            self._plan(game, name)
        return expert_chooser(game.game, name)

    def _plan(self, game: Game, name: str) -> None:
        """The episode that such an expert follows, found once and kept with the game."""
        plans = game.place(()).state.episode.plans
        with self.lock:
            if name not in plans:
                from gnarl_runtime.search.planned.planning import plan_instance

                plans[name] = plan_instance(game.problem, game.instance, name).plans[name]

    def _policy(self, game: Game, kind: str, name: str) -> Chooser:
        path = name if kind == SHIPPED else str(self.runs.weights(name))
        version = "" if kind == SHIPPED else str(self.runs.weights(name).stat().st_mtime_ns)
        nodes = game.instance.graph.n
        key = (kind, name, version, game.problem.hash, str(nodes))
        with self.lock:
            if key not in self.loaded:
                from gnarl_runtime.api.policies import load_policy
                from gnarl_runtime.network.policy import prepare_torch
                from gnarl_runtime.viewing.learned import learned_chooser

                prepare_torch(1)
                trained = load_policy(path, game.problem)
                own = learned_chooser(trained.policy, game.problem, nodes)
                self.loaded[key] = _one_at_a_time(own)
            return self.loaded[key]


def _one_at_a_time(chooser: Chooser) -> Chooser:
    """A policy reads states by way of one batch."""
    lock = Lock()

    def chances(state: State) -> Chances:
        with lock:
            return chooser.chances(state)

    return Chooser(chooser.label, chances, chooser.best, chooser.expert)


def weighed(chances: Chances, nodes: int, least: float = 5e-4) -> Mapping[str, object]:
    """Nodes with their chances, and that of ending the episode."""
    likely = np.flatnonzero(chances[:nodes] >= least).tolist()
    end = float(chances[nodes]) if len(chances) > nodes else 0.0
    return {"nodes": [[v, round(float(chances[v]), 4)] for v in likely], "end": end}
