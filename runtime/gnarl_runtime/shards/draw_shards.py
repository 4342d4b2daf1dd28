"""A plan and a folder in, its shards out: drawn and solved by several processes, on any machine.

A shard appears whole or not at all, under a name that says what is in it, so nobody has to know of
the others: what is there is done, and who draws a shard holds a lock beside it meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.shards.plan import DrawPlan, Shard, Tell, silent


def missing_shards(plan: DrawPlan, folder: Path) -> list[Shard]:
    return [shard for shard in plan.shards if not (folder / shard.name).is_file()]


def draw_shards(plan: DrawPlan, folder: Path, jobs: int = 1, tell: Tell = silent) -> int:
    """Everything that is missing; how many instances were drawn here."""
    folder.mkdir(parents=True, exist_ok=True)
    todo = missing_shards(plan, folder)
    if not todo:
        return 0
    # One process fills the cache of compiled kernels before others read it.
    first, rest = todo[:1], todo[1:]
    drawn = draw_one(plan, folder, first[0])
    tell("drawing instances", plan.count - _left(rest), plan.count)
    if jobs == 1 or not rest:
        for place, shard in enumerate(rest):
            drawn += draw_one(plan, folder, shard)
            tell("drawing instances", plan.count - _left(rest[place + 1 :]), plan.count)
        return drawn
    return drawn + _side_by_side(plan, folder, rest, jobs, tell)


def _left(shards: Sequence[Shard]) -> int:
    return sum(shard.count for shard in shards)


def _side_by_side(
    plan: DrawPlan, folder: Path, shards: Sequence[Shard], jobs: int, tell: Tell
) -> int:
    from joblib import Parallel, delayed

    work = (delayed(draw_one)(plan, folder, shard) for shard in shards)
    done = plan.count - _left(shards)
    drawn = 0
    for place, count in enumerate(
        Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered")(work)
    ):
        drawn += count
        done += shards[place].count
        tell("drawing instances", done, plan.count)
    return drawn


def draw_one(plan: DrawPlan, folder: Path, shard: Shard) -> int:
    """One shard, unless it is there or somebody else is at it; how many were drawn."""
    path = folder / shard.name
    lock = FileLock(folder / f".{shard.name}.lock")
    try:
        with lock.acquire(timeout=0):
            if path.is_file():
                return 0
            compiled = compile_for(plan.problem)
            pool = draw_pool(
                plan.problem,
                count=shard.count,
                first=shard.first,
                nodes=plan.nodes,
                seed=plan.seed,
                split=plan.split,
                instances=plan.instances,
                oracles=plan.oracles,
                artifact=compiled.artifact,
            )
            pool.write(path)
            # Whoever waits for nothing holds nothing: a lock that is gone is one that is free.
            (folder / f".{shard.name}.lock").unlink(missing_ok=True)
    except Timeout:
        return 0
    return shard.count
