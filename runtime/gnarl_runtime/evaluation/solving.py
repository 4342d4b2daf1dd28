"""A policy and graphs of a user's own go in, the best solution it finds for each comes out.

Nothing is solved beforehand unless the spec's own end of an episode asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnarl_compiler.describe.oracle_reads import oracles_read_by
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.scales import rescaled
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.outcomes import Keep, Outcomes, Values
from gnarl_runtime.search.players import PolicyPlayer, ReplayPlayer
from gnarl_runtime.search.rollout import play_with

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class BestEpisode:
    """The end of the best episode on one graph."""

    instance: Instance
    state: Mapping[str, Values]
    picks: tuple[int, ...]
    objective: float  # NaN if the spec has none
    valid: bool | None  # None: the spec has no such clause
    correct: bool | None  # None: unknown without the reference, or no such clause
    truncated: bool
    attempts: int
    seconds: float  # of playing, per graph


@dataclass(frozen=True)
class Attempts:
    """How each graph is tried."""

    temperature: float | None = None
    samples: int = 1
    seed: int = 0
    rescale: bool = False
    max_rounds: int | None = None


def without_judges(problem: Problem) -> Problem:
    """The problem without what only those ask who know the answer: metrics, rewards, experts.

    `correct` goes too if it reads an oracle, unless the end of an episode needs it anyway.
    """
    hidden = {feature.name for feature in problem.features if feature.stage is ORACLE}
    reads = hidden & set(oracles_read_by(problem, problem.correct))
    unknown = problem.deployable and bool(reads)
    gone: dict[str, Any] = {"metrics": (), "rewards": (), "experts": ()}
    return problem.model_copy(update={**gone, "correct": None} if unknown else gone)


def solve(
    policy: Policy,
    problem: Problem,
    instances: Sequence[Instance],
    attempts: Attempts | None = None,
    progress: Progress | None = None,
) -> list[BestEpisode]:
    """The best of all attempts at each graph: successful, then of the best objective."""
    attempts = attempts or Attempts()
    compiled = compile_for(without_judges(problem), metrics=True)
    given = [replace_oracles(instance, compiled) for instance in instances]
    outcomes = _attempt(policy, compiled, given, attempts, progress)
    best = [_best(outcomes, number) for number in range(len(instances))]
    return [_solution(compiled, outcomes, instances, episode) for episode in best]


def replace_oracles(instance: Instance, compiled: Compiled) -> Instance:
    """The instance with only those of its oracles that somebody will read."""
    kept = {k: v for k, v in instance.oracles.items() if k in compiled.oracles}
    return replace(instance, oracles=kept)


def _attempt(
    policy: Policy,
    compiled: Compiled,
    instances: Sequence[Instance],
    attempts: Attempts,
    progress: Progress | None,
) -> Outcomes:
    """All attempts; picks found on rescaled graphs are made again on the graphs as given."""
    tell = progress or (lambda what, done, total: None)
    shown = rescaled(compiled.problem, instances) if attempts.rescale else instances
    pool = pool_of(compiled.problem, shown, compiled.oracles)
    outcomes = play_with(
        PolicyPlayer(policy, attempts.temperature, attempts.seed),
        compiled,
        pool,
        samples=attempts.samples,
        max_rounds=attempts.max_rounds,
        keep=Keep(picks=True, states=True),
        progress=lambda done, total: tell("solving", int(1000 * done), 1000 * total),
    )
    if not attempts.rescale or outcomes.picks is None:
        return outcomes
    original = pool_of(compiled.problem, instances, compiled.oracles)
    again = ReplayPlayer(outcomes.picks, attempts.samples)
    played = play_with(
        again,
        compiled,
        original,
        samples=attempts.samples,
        max_rounds=attempts.max_rounds,
        keep=Keep(picks=True, states=True),
    )
    return replace(played, seconds=outcomes.seconds)


def _best(outcomes: Outcomes, number: int) -> int:
    """The episode that solves an instance best: right, then valuable, then short, then first."""
    own = np.flatnonzero(outcomes.instance == number)
    values = np.nan_to_num(outcomes.objective[own], nan=0.0)
    order = np.lexsort((outcomes.steps[own], -values, ~outcomes.success[own]))
    return int(own[order[0]])


def _solution(
    compiled: Compiled, outcomes: Outcomes, instances: Sequence[Instance], episode: int
) -> BestEpisode:
    assert outcomes.picks is not None
    assert outcomes.states is not None
    problem = compiled.problem
    return BestEpisode(
        instance=instances[outcomes.instance[episode]],
        state=outcomes.states[episode],
        picks=outcomes.picks[episode],
        objective=float(outcomes.objective[episode]),
        valid=None if problem.valid is None else bool(outcomes.valid[episode]),
        correct=None if problem.correct is None else bool(outcomes.correct[episode]),
        truncated=bool(outcomes.truncated[episode]),
        attempts=len(outcomes) // len(instances),
        seconds=outcomes.seconds / len(instances),
    )
