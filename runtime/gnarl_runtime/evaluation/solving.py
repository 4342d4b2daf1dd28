"""A policy or none and graphs of a user's own in, the best solution found for each out.

Nothing is solved beforehand unless the spec's own end of an episode asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnarl_compiler.describe.oracle_reads import oracles_read_by
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.scales import rescaled
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.outcomes import Keep, Values, without_ends
from gnarl_runtime.search.players import ReplayPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import PICKS, Strategy
from gnarl_runtime.search.task import Drivers, Found, Improved

Progress = Callable[[str, int, int], None]
_ENDS = Keep(picks=True, states=True)


@dataclass(frozen=True, eq=False)
class BestEpisode:
    """The end of the best episode on one graph."""

    instance: Instance
    state: Mapping[str, Values]
    picks: tuple[int, ...]
    phases: tuple[int, ...]  # of the picks
    objective: float  # NaN if the spec has none
    valid: bool | None  # None: the spec has no such clause
    correct: bool | None  # None: unknown without the reference, or no such clause
    truncated: bool
    endless: bool  # the picks lead to no end of an episode, since none was found
    attempts: int  # episodes to choose from, where their number was asked for
    seconds: float  # of searching, per graph
    search: Strategy = PICKS  # what finds the same again
    decisions: int = 0  # picks that were chosen on the way
    proven: bool = False  # nothing can be better


@dataclass(frozen=True)
class Attempts:
    """How each graph is tried."""

    strategy: Strategy = PICKS
    temperature: float | None = None
    seed: int = 0
    rescale: bool = False
    max_rounds: int | None = None


def without_judges(problem: Problem, experts: Sequence[str] = ()) -> Problem:
    """The problem without what only those ask who know the answer: metrics, rewards, experts.

    `correct` goes too if it reads an oracle, unless the end of an episode needs it anyway.
    Those `experts` stay that a search asks.
    """
    hidden = {feature.name for feature in problem.features if feature.stage is ORACLE}
    reads = hidden & set(oracles_read_by(problem, problem.correct))
    unknown = problem.deployable and bool(reads)
    asked = tuple(expert for expert in problem.experts if expert.name in experts)
    gone: dict[str, Any] = {"metrics": (), "rewards": (), "experts": asked}
    return problem.model_copy(update={**gone, "correct": None} if unknown else gone)


def solve(
    policy: Policy | None,
    problem: Problem,
    instances: Sequence[Instance],
    attempts: Attempts | None = None,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> list[BestEpisode]:
    """The best episode that the strategy finds on each graph."""
    attempts = attempts or Attempts()
    asked = attempts.strategy.kind.experts or policy is None
    experts = free_experts(problem) if asked else ()
    compiled = compile_for(without_judges(problem, experts), experts=experts, metrics=True)
    given = [replace_oracles(instance, compiled) for instance in instances]
    drivers = Drivers(policy, experts)
    found = _attempt(drivers, compiled, given, attempts, progress, improved)
    return [_solution(compiled, found, instances, number) for number in range(len(instances))]


def replace_oracles(instance: Instance, compiled: Compiled) -> Instance:
    """The instance with only those of its oracles that somebody will read."""
    kept = {k: v for k, v in instance.oracles.items() if k in compiled.oracles}
    return replace(instance, oracles=kept)


def _attempt(
    drivers: Drivers,
    compiled: Compiled,
    instances: Sequence[Instance],
    attempts: Attempts,
    progress: Progress | None,
    improved: Improved | None,
) -> Found:
    """The search; picks found on rescaled graphs are made again on the graphs as given."""
    tell = progress or (lambda what, done, total: None)
    shown = rescaled(compiled.problem, instances) if attempts.rescale else instances
    pool = pool_of(compiled.problem, shown, compiled.oracles)
    found = search(
        attempts.strategy,
        drivers,
        compiled,
        pool,
        seed=attempts.seed,
        temperature=attempts.temperature,
        max_rounds=attempts.max_rounds,
        keep=_ENDS,
        progress=lambda done, total: tell("solving", int(1000 * done), 1000 * total),
        # In other units than the user's, a value says nothing.
        improved=None if attempts.rescale else improved,
    )
    if not attempts.rescale or found.outcomes.picks is None:
        return found
    original = pool_of(compiled.problem, instances, compiled.oracles)
    again = ReplayPlayer(found.outcomes.picks)
    played = play_with(again, compiled, original, max_rounds=attempts.max_rounds, keep=_ENDS)
    played = without_ends(played, found.endless)
    return replace(found, outcomes=replace(played, seconds=found.outcomes.seconds))


def _solution(
    compiled: Compiled, found: Found, instances: Sequence[Instance], episode: int
) -> BestEpisode:
    outcomes = found.outcomes
    assert outcomes.picks is not None
    assert outcomes.phases is not None
    assert outcomes.states is not None
    problem, strategy = compiled.problem, found.strategy
    endless = bool(found.endless[episode])
    return BestEpisode(
        instance=instances[outcomes.instance[episode]],
        state=outcomes.states[episode],
        picks=outcomes.picks[episode],
        phases=outcomes.phases[episode],
        objective=float(outcomes.objective[episode]),
        valid=None if problem.valid is None and not endless else bool(outcomes.valid[episode]),
        correct=None if problem.correct is None else bool(outcomes.correct[episode]),
        truncated=bool(outcomes.truncated[episode]),
        endless=endless,
        attempts=int(strategy.amount or 1) if strategy.name == "sample" else 1,
        seconds=outcomes.seconds / len(instances),
        search=strategy,
        decisions=int(found.decisions[episode]),
        proven=bool(found.proven[episode]),
    )
