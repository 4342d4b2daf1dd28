"""A spec and wishes in, CLRS-style trajectories of one of its experts out."""

from __future__ import annotations

from collections.abc import Sequence

from gnarl_dsl.externs import Given
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import (
    MOST_GRAPHS,
    MOST_NODES,
    PYTHON,
    Spelling,
    Tell,
    verify_between,
    verify_choice,
    verify_seed,
)
from gnarl_runtime.api.policies import Params, compiled_or_told
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.planned.planning import plan_experts
from gnarl_runtime.search.players import ExpertPlayer
from gnarl_runtime.trajectories.expert_episodes import record
from gnarl_runtime.trajectories.trajectory import Trajectories

TIES = DRAWN, FIRST = "drawn", "first"
SPLITS = ("train", "valid", "test")


def trajectories(
    problem: Spec,
    count: int = 100,
    nodes: int = 16,
    *,
    expert: str | None = None,
    split: str = "train",
    instances: str | None = None,
    seed: int = 0,
    ties: str = DRAWN,
    params: Params | None = None,
    extern: Sequence[Given] = (),
    progress: Tell | None = None,
) -> Trajectories:
    """Episodes of an expert as CLRS-style probes, as `gnarl-export --clrs` writes them.

    problem    a file, the name of a shipped spec, or a problem
    count      how many episodes, each on an instance of its own
    nodes      size of the graphs; all have the same
    expert     None takes the first of the spec
    split      which split of the instance set to draw from
    instances  the name of an instance set of the spec; None takes the first
    seed       of the instances and of picks among several
    ties       which of several right picks: "drawn", or the "first", in the order of the nodes
    params     other values for params of the spec
    extern     code for what the spec declares as `extern`: files, modules, functions
    progress   is told (what is being done, done, total)
    """
    own = problem_of(problem, params, extern)
    verify_export(PYTHON, own, count, nodes, expert, split, instances, seed, ties)
    return run_export(own, count, nodes, expert, split, instances, seed, ties, progress)


def verify_export(
    spell: Spelling,
    problem: Problem,
    count: int,
    nodes: int,
    expert: str | None,
    split: str,
    instances: str | None,
    seed: int,
    ties: str = DRAWN,
) -> None:
    """Raise a UsageError for what makes no sense, before anything slow happens."""
    verify_between(spell, "count", count, 1, MOST_GRAPHS)
    verify_between(spell, "nodes", nodes, 1, MOST_NODES)
    verify_seed(spell, seed)
    if nodes > MOST_NODES:
        raise UsageError(f"{spell.value('nodes', nodes)}: expected at most {MOST_NODES:,}")
    if not problem.experts:
        raise UsageError(f"{problem.name} declares no expert; a trajectory is an expert's episode")
    if not problem.instances:
        raise UsageError(f"{problem.name} declares no instances to draw graphs from")
    verify_choice(spell, "expert", expert, [entry.name for entry in problem.experts])
    verify_choice(spell, "split", split, SPLITS)
    verify_choice(spell, "ties", ties, TIES)
    verify_choice(spell, "instances", instances, [entry.name for entry in problem.instances])


def run_export(
    problem: Problem,
    count: int,
    nodes: int,
    expert: str | None,
    split: str,
    instances: str | None,
    seed: int,
    ties: str = DRAWN,
    progress: Tell | None = None,
) -> Trajectories:
    """Draw, play, read off."""
    name = expert or problem.experts[0].name
    with compiled_or_told(problem):
        compiled = compile_for(problem, None, (name,))
        pool = draw_pool(
            problem,
            count=count,
            nodes=nodes,
            seed=seed,
            split=split,
            instances=instances,
            oracles=compiled.oracles,
            artifact=compiled.artifact,
        )
        player = ExpertPlayer(name, seed, first=ties == FIRST)
        return record(compiled, plan_experts(compiled, pool), player, progress)
