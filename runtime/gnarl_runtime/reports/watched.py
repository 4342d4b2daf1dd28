"""A trained policy in; out: where it fails and first left an expert, and episodes to watch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import GreedyExpert, Problem, RuleExpert
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.evaluation.evaluate import FRESH, without_metrics
from gnarl_runtime.evaluation.paired import judged
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.reports.contents import Sheet, Watched, plural
from gnarl_runtime.reports.limits_of_time import Budget, counted
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.limits import TookTooLong
from gnarl_runtime.search.players import ExpertPlayer, PolicyPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.viewing.choosers import expert_chooser
from gnarl_runtime.viewing.document import ending_of, page_of
from gnarl_runtime.viewing.learned import learned_chooser
from gnarl_runtime.viewing.page import page_text
from gnarl_runtime.viewing.places import places_of
from gnarl_runtime.viewing.recording import Recording, labels_of, record

WATCHED = 3
SHOWN_FAILURES = 10
LARGEST = 24  # nodes of a graph that is drawn


@dataclass(frozen=True)
class Played:
    """How every one of some graphs went."""

    instances: tuple[Instance, ...]
    lost: tuple[int, ...]  # numbers of those that went wrong, the worst first
    rival: str | None  # the expert that was better on them; None: the end was not right
    told: str


@dataclass(frozen=True)
class Departure:
    """Where an episode did something that the expert never would."""

    step: int
    phase: str
    pick: str
    advised: tuple[str, ...]


def play_fresh(
    trained: TrainedPolicy, nodes: int | None, count: int, seed: int, budget: Budget
) -> Played:
    """Graphs of one size, played by the policy and by experts: without oracles, or the first."""
    problem = trained.problem
    experts = free_experts(problem) or tuple(own.name for own in problem.own_experts[:1])
    compiled = compile_for(without_metrics(problem), experts=experts, metrics=True)
    pool = draw_pool(
        compiled.problem,
        count=count,
        nodes=nodes,
        seed=FRESH + seed,
        split="test",
        oracles=compiled.oracles,
        artifact=compiled.artifact,
    )
    tell = counted(budget.tell, "looking for failures")
    own = play_with(
        PolicyPlayer(trained.policy, trained.temperature(), seed), compiled, pool, progress=tell
    )
    size = f"{nodes} nodes" if nodes else "the test split"
    graphs = f"{plural(len(pool), 'fresh graph')} of {size}"
    instances = tuple(pool.instances())
    wrong = np.flatnonzero(~own.success)
    if len(wrong):
        told = f"{len(wrong)} of {graphs} ended in a state that is not right."
        return Played(instances, tuple(map(int, wrong)), None, told)
    if not problem.objectives or not experts:
        return Played(instances, (), None, f"None in {graphs}.")
    others = [play_with(ExpertPlayer(name, seed), compiled, pool) for name in experts]
    scores = judged([own, *others], True)
    place = max(range(len(experts)), key=lambda k: float(scores[k + 1].mean()))
    missing = scores[place + 1] - scores[0]
    behind = [int(k) for k in np.argsort(-missing) if missing[k] > 1e-9]
    rival = experts[place]
    told = f"Every end is right in {graphs}; `{rival}` was better on {len(behind)} of them."
    return Played(instances, tuple(behind), rival, told)


def watch(
    trained: TrainedPolicy, played: Played, seed: int, budget: Budget
) -> tuple[Sheet | None, tuple[Watched, ...], tuple[str, ...]]:
    """A table of what went wrong, three episodes, and what there was no time for."""
    shown = [number for number in played.lost if played.instances[number].graph.n <= LARGEST]
    others = [k for k in range(len(played.instances)) if k not in played.lost]
    numbers = [*shown[: WATCHED - 1], *others, *shown[WATCHED - 1 :]][:WATCHED]
    rows, pages, left = [], [], []
    for done, number in enumerate(dict.fromkeys([*numbers, *shown[:SHOWN_FAILURES]])):
        try:
            recording = _record(trained, played.instances[number], seed, budget)
        except TookTooLong:
            left.append("some episodes")
            break
        budget.tell("episodes", done, WATCHED + SHOWN_FAILURES)
        found = departure(recording)
        if number in shown:
            rows.append(_row(number, recording, found))
        if number in numbers:
            pages.append(_watched(number, number in shown, recording, seed))
    head = ("graph", "nodes", "ended", "step", "policy picked", "expert would", "expert")
    sheet = Sheet(head, tuple(rows), len(head)) if rows else None
    return sheet, tuple(pages), tuple(left)


def _record(trained: TrainedPolicy, instance: Instance, seed: int, budget: Budget) -> Recording:
    problem = trained.problem
    game = Interpreter(problem)
    adviser = _adviser(problem)
    own = learned_chooser(trained.policy, problem, instance.graph.n)
    asked = expert_chooser(game, adviser) if adviser else None
    return record(game, instance, own, asked, seed, budget.until(1.0, "episodes"))


def _adviser(problem: Problem) -> str | None:
    """The first expert that can be asked in any state."""
    ready = [own for own in problem.experts if isinstance(own, RuleExpert | GreedyExpert)]
    return ready[0].name if ready else None


def departure(recording: Recording) -> Departure | None:
    """The first pick that the expert gives no chance where it has an answer."""
    labels = labels_of(recording.instance)
    for number, moment in enumerate(recording.moments, 1):
        made, advice = moment.decision, moment.advice
        if made is None or advice is None or made.pick >= len(advice) or not advice.any():
            continue
        if advice[made.pick] <= 0:
            phase = recording.problem.phases[moment.phase].name
            likely = np.argsort(-advice, kind="stable")
            advised = tuple(labels[node] for node in likely if advice[node] > 0)
            return Departure(number, phase, labels[made.pick], advised)
    return None


def _row(number: int, recording: Recording, found: Departure | None) -> tuple[str, ...]:
    n, expert = str(recording.instance.graph.n), recording.adviser or ""
    ended = ending_of(recording)
    if found is None:
        return str(number), n, ended, "never left it" if expert else "", "", "", expert
    advised = ", ".join(found.advised[:3]) + (", …" if len(found.advised) > 3 else "")
    picked = f"{found.phase} {found.pick}"
    return str(number), n, ended, str(found.step), picked, advised, expert


def _watched(number: int, lost: bool, recording: Recording, seed: int) -> Watched:
    graph = recording.instance.graph
    found = departure(recording)
    word = "lost" if lost else "not lost"
    left = f"; left the expert in step {found.step}" if found else ""
    title = f"Graph {number}, {plural(graph.n, 'node')}, {word}: {ending_of(recording)}{left}"
    places = places_of(recording.problem, recording.instance, seed)
    subtitle = f"{recording.player} on {plural(graph.n, 'node')}, graph {number}, seed {seed}"
    return Watched(title, page_text(page_of(recording, places, subtitle)))
