"""A pool and experts that are made for each instance in, the pool with what was found out.

Found once and kept on disk, as oracles are: for `search` an episode per instance, for `best of`
which of its members to follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.cache import private_cache
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.planned import Play, best_play
from gnarl_dsl.model import BestExpert, PlannedExpert, Problem, SearchExpert, cheapest_reward
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.instances.pool_oracles import (
    GROUP,
    algorithms_hash,
    hash_instances,
    read_whole_array,
    write_column,
)
from gnarl_runtime.instances.pools import Pool, pool_of
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.players import STOP, Index, Turn
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers

Progress = Callable[[int, int], None]  # (instances done, of all)


def plan_experts(compiled: Compiled, pool: Pool, progress: Progress | None = None) -> Pool:
    """The pool with what those of the compiled experts need that are made for each instance."""
    problem = compiled.problem
    wanted = [e for e in map(problem.expert, compiled.experts) if isinstance(e, PlannedExpert)]
    missing = [expert for expert in wanted if expert.name not in pool.plans]
    if not missing:
        return pool
    instances = pool.instances()
    parts: dict[str, list[Index]] = {expert.name: [] for expert in missing}
    for start in range(0, len(instances), GROUP):
        group = instances[start : start + GROUP]
        content = hash_instances(group, problem.hash + algorithms_hash() + _search_hash())
        for expert in missing:
            parts[expert.name].append(_known_or_found(problem, expert, group, content))
        if progress is not None:
            progress(start + len(group), len(instances))
    found = {name: _stacked(rows) for name, rows in parts.items()}
    return replace(pool, plans={**pool.plans, **found})


def plan_instance(problem: Problem, instance: Instance, expert: str) -> Instance:
    """One instance with what an expert needs of it, as the interpreter reads it."""
    if not isinstance(problem.expert(expert), PlannedExpert):
        return instance
    compiled = compile_for(problem, cheapest_reward(problem), (expert,))
    planned = plan_experts(compiled, pool_of(problem, [instance], compiled.oracles))
    return replace(instance, plans=planned.instance(0).plans)


def _stacked(parts: Sequence[Index]) -> Index:
    """Rows of several lengths below each other, -1 behind their ends."""
    longest = max(part.shape[1] for part in parts)
    room = [np.pad(p, ((0, 0), (0, longest - p.shape[1])), constant_values=-1) for p in parts]
    return np.concatenate(room)


def _known_or_found(
    problem: Problem, expert: PlannedExpert, instances: Sequence[Instance], content: str
) -> Index:
    """(instances, longest) from the disk if it is there."""
    key = hashlib.blake2b(f"{content}|{expert.name}".encode(), digest_size=16)
    path = private_cache("plans") / f"{key.hexdigest()}.npy"
    known = read_whole_array(path)
    if known is not None and known.ndim == 2 and len(known) == len(instances):
        return known.astype(np.int64)
    match expert:
        case BestExpert():
            found = _best_members(problem, expert, instances)
        case SearchExpert():
            found = _found_episodes(problem, expert, instances)
        case _:
            assert_never(expert)
    write_column(path, found)
    return found


@cache
def _search_hash() -> str:
    """The version of what searches: its text."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _compiled(problem: Problem, experts: Sequence[str]) -> Compiled:
    """Kernels with these experts that can tell every objective, and solve no oracle for metrics."""
    bare = problem.model_copy(update={"metrics": ()})
    return compile_for(bare, cheapest_reward(problem), tuple(experts), metrics=True)


# best of


@dataclass(frozen=True)
class RankPlayer:
    """An expert that takes, of several picks, the node with the lowest hidden rank."""

    expert: str

    def choose(self, engine: Engine, turn: Turn) -> Index:
        meant = engine.expert(self.expert)[turn.slots] > 0
        silent = ~meant.any(axis=1)
        meant[silent] = engine.batch.legal[turn.slots[silent]]
        nodes = meant[:, : engine.batch.layout.nodes]
        tags = np.where(nodes, engine.batch.tags[turn.slots], np.iinfo(np.uint64).max)
        picks = np.asarray(tags.argmin(axis=1), np.int64)
        picks[~nodes.any(axis=1)] = engine.batch.layout.nodes  # to end it is all that is left
        picks[silent & engine.batch.opening(turn.slots)] = STOP
        return picks


def _best_members(problem: Problem, expert: BestExpert, instances: Sequence[Instance]) -> Index:
    """(instances, 1) the number of the member whose play ends best."""
    compiled = _compiled(problem, expert.members)
    pool = pool_of(compiled.problem, instances, compiled.oracles)
    ends = [play_with(RankPlayer(name), compiled, pool) for name in expert.members]
    has_goal = bool(problem.objectives)
    chosen = []
    for k in range(len(instances)):
        plays = [
            Play(
                bool(end.valid[k] and end.correct[k]),
                float(end.objective[k]) if has_goal else 0.0,
                int(end.steps[k]),
            )
            for end in ends
        ]
        chosen.append([best_play(plays)])
    return np.array(chosen, np.int64)


# search


def _found_episodes(problem: Problem, expert: SearchExpert, instances: Sequence[Instance]) -> Index:
    """(instances, longest) the picks of the best episodes; no picks where none succeeded."""
    drivers = Drivers(None, free_experts(problem))
    compiled = _compiled(problem, drivers.experts)
    pool = pool_of(compiled.problem, instances, compiled.oracles)
    found = search(
        Strategy("work", expert.work), drivers, compiled, pool, objective=expert.objective
    )
    ends = found.outcomes
    # Without a right answer, an episode shows nothing where right answers are what is wanted.
    good = ends.valid & ends.correct if expert.objective is None else ends.valid
    rows = [picks if ok else () for picks, ok in zip(ends.picks or (), good, strict=True)]
    room: NDArray[np.int64] = np.full((len(rows), max(1, *map(len, rows))), -1, np.int64)
    for row, picks in zip(room, rows, strict=True):
        row[: len(picks)] = picks
    return room
