"""The work of `gnarl-trace`: a problem and a request in, one episode on standard output out."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass

from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.draw import choose_split, draw_instance, family_of
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.trace import (
    Trace,
    describe_changes,
    describe_instance,
    expert_policy,
    random_policy,
    summarise_changes,
)
from gnarl_dsl.model import Problem, SearchExpert


@dataclass(frozen=True)
class Request:
    """What the user asked for, already verified against the problem."""

    nodes: int
    seed: int
    policy: str
    expert: str | None
    reward: str | None
    instances: str | None
    why: bool
    format: str


def report(problem: Problem, request: Request) -> int:
    """Play one episode and print it."""
    play = start(problem, request)
    if request.format == "json":
        return _print_json(play, request)
    return _print_text(play, request)


def start(problem: Problem, request: Request) -> Trace:
    family = family_of(choose_split(problem, "train", request.instances), 0)
    instance = draw_instance(problem, family, request.seed, 0, nodes=request.nodes)
    name = request.expert or (problem.experts[0].name if problem.experts else None)
    if request.policy != "random" and isinstance(problem.expert(name), SearchExpert):
        from gnarl_runtime.search.planned.planning import (
            plan_instance,  # compiles, as nobody else does
        )

        instance = plan_instance(problem, instance, str(name))
    game = Interpreter(problem, request.reward)
    policy = (
        random_policy(game) if request.policy == "random" else expert_policy(game, request.expert)
    )
    return Trace(game, game.reset(instance), policy, stream(request.seed, "picks"))


def _print_text(play: Trace, request: Request) -> int:
    problem, episode = play.game.problem, play.state.episode
    print(f"{problem.name}: {_player(problem, request)}, seed {request.seed}")
    for line in describe_instance(problem, episode.instance):
        print(f"  {line}")
    widths = _Widths(request.nodes, [phase.name for phase in problem.phases])
    print(widths.row("step", "round", "phase", "pick", "reward", "legal", "what changed"))
    for step in play.steps(request.why):
        changes = summarise_changes(problem, step.changes) or "-"
        legal = " ".join([*map(str, step.legal), *["stop"] * step.may_stop])
        reward = f"{step.reward:.4g}"
        print(widths.row(step.number, step.round, step.phase, step.pick, reward, legal, changes))
        for node, reason in step.why:
            print(f"        not {node}: {reason}")
        sys.stdout.flush()
    _print_ending(play)
    return 0


def _player(problem: Problem, request: Request) -> str:
    if request.policy == "random":
        return "random picks"
    return f"expert {request.expert or problem.experts[0].name}"


class _Widths:
    """Column widths that fit every row, known before the first one is printed."""

    def __init__(self, nodes: int, phases: list[str]) -> None:
        self.phase = max(5, *(len(name) for name in phases))
        legal = len(" ".join(map(str, range(nodes))))
        self.legal = max(5, min(40, legal))

    def row(self, *cells: object) -> str:
        number, rounds, phase, pick, reward, legal, changes = map(str, cells)
        if len(legal) > self.legal:
            legal = f"{legal[: self.legal - 1]}…"
        return (
            f"{number:>4}  {rounds:>5}  {phase:<{self.phase}}  {pick:>4}  {reward:>8}  "
            f"{legal:<{self.legal}}  {changes}"
        ).rstrip()


def _print_ending(play: Trace) -> None:
    for label, value in _ending(play).items():
        print(f"{label}: {_text(value)}")


def _text(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float | int) else str(value)


def _ending(play: Trace) -> dict[str, str | float | bool | None]:
    game, state, problem = play.game, play.state, play.game.problem
    facts: dict[str, str | float | bool | None] = {
        "ended": play.stopped or (f"{state.ended} by choice" if play.chosen else state.ended),
        "rounds": state.rounds,
        "horizon": state.episode.horizon,
    }
    if problem.correct is not None:
        facts["correct"] = game.correct(state)
    if problem.valid is not None:
        facts["valid"] = game.valid(state)
    for objective in problem.objectives:
        facts[f"objective {objective.name}"] = game.objective(state, objective.name)
    for metric in problem.metrics:
        facts[f"metric {metric.name}"] = game.metric(state, metric.name)
    facts["total reward"] = play.total
    return facts


def _print_json(play: Trace, request: Request) -> int:
    problem = play.game.problem
    steps = [
        {
            "step": step.number,
            "round": step.round,
            "phase": step.phase,
            "legal": list(step.legal),
            **({"may_stop": step.may_stop} if problem.may_stop else {}),
            "pick": step.pick,
            "changed": describe_changes(problem, step.changes),
            "reward": step.reward,
            "why": [{"node": node, "reason": reason} for node, reason in step.why],
        }
        for step in play.steps(request.why)
    ]
    document = {
        "problem": problem.name,
        "hash": problem.hash,
        "seed": request.seed,
        "nodes": request.nodes,
        "edges": play.state.episode.instance.graph.edges().tolist(),
        "steps": steps,
        "ending": {label: _json_value(value) for label, value in _ending(play).items()},
    }
    print(json.dumps(document, indent=2))
    return 0


def _json_value(value: str | float | bool | None) -> str | float | bool | None:
    """JSON has no infinity: an open bound is null."""
    return None if isinstance(value, float) and math.isinf(value) else value
