"""A recipe's data in, instances to learn from out, with their numbers larger or smaller if asked.

Larger graphs, and other distributions of weights, show a policy numbers that training did not:
distances add up along longer paths, and nearest neighbours are closer. Labels stay right, because
the spec's own expert is asked on the new instance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.draw import choose_split
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.recipe import Data
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.instances.pools import Pool, Progress, draw_pool, joined, pool_of
from gnarl_runtime.shards.mapped import shard_pool

Scale = tuple[float, float]
SAME: Scale = (1.0, 1.0)


def training_pool(
    compiled: Compiled,
    data: Data,
    seed: int,
    progress: Progress | None = None,
    larger: float = 0.0,
) -> Pool:
    """The instances that a recipe draws to learn from; the last ones, a share, are larger."""
    if data.shards is not None:
        return _from_shards(compiled, data, progress)
    count = data.pool or choose_split(compiled.problem, "train", data.instances).count
    last = round(larger * count) if data.larger_nodes is not None else 0

    def draw(first: int, some: int, nodes: int | tuple[int, int] | None) -> Pool:
        return draw_pool(
            compiled.problem,
            count=some,
            first=first,
            nodes=nodes,
            seed=seed,
            instances=data.instances,
            oracles=compiled.oracles,
            artifact=compiled.artifact,
            progress=progress,
        )

    pools = [draw(0, count - last, data.nodes)] if count > last else []
    pools += [draw(count - last, last, data.larger_nodes)] if last else []
    pool = pools[0] if len(pools) == 1 else joined(pools)
    return rescaled(compiled.problem, pool, data.scale, seed, compiled.oracles)


def _from_shards(compiled: Compiled, data: Data, progress: Progress | None) -> Pool:
    """Given instances as they are, however many."""
    changed = {"scale": data.scale != SAME, "boundary": data.boundary > 0}
    changed |= {
        "boundary_starts": data.boundary_starts > 0,
        "larger_nodes": bool(data.larger_nodes),
    }
    for name, set_ in changed.items():
        if set_:
            raise UsageError(
                f"data.{name} changes the instances that are drawn, and data.shards brings all of "
                f"them; expected one of the two (--set data.{name}= as in a recipe without it)"
            )

    def tell(step: str, done: int, total: int) -> None:
        if progress is not None:
            progress(done, total)

    return shard_pool(compiled.problem, Path(data.shards or ""), compiled.oracles, tell)


def rescaled(
    problem: Problem, pool: Pool, scale: Scale, seed: int, oracles: Sequence[str] = ()
) -> Pool:
    """All scalar inputs of each instance times one factor, log-uniform in `scale`."""
    if scale == SAME:
        return pool
    low, high = map(math.log, scale)
    factors = np.exp(stream(seed, "scale").uniform(low, high, len(pool)))
    drawn = zip(pool.instances(), factors, strict=True)
    return pool_of(problem, [times(problem, i, float(f)) for i, f in drawn], oracles)


def times(problem: Problem, instance: Instance, factor: float) -> Instance:
    """An instance with its numbers multiplied; its labels are to be solved anew."""
    own = [f for f in problem.features if f.stage is INPUT and (f.is_number or f.type.apart)]
    scaled = {f.name: f.type.value.array for f in own}
    inputs = {
        name: np.asarray(values, scaled[name]) * factor if name in scaled else values
        for name, values in instance.inputs.items()
    }
    return replace(instance, inputs=inputs, oracles={})
