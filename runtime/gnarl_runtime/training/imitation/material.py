"""A problem and a recipe in, what imitation plays on out: kernels, instances, which come when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnarl_dsl.model import Problem, cheapest_reward
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.envs.episode_arrays import copy_episodes
from gnarl_runtime.instances.pools import Pool, pool_of
from gnarl_runtime.instances.sampler import uniform_below
from gnarl_runtime.search.planned.planning import plan_experts
from gnarl_runtime.training.boundary.boundary import Boundary, boundary_states, play_picks
from gnarl_runtime.training.scaling import training_pool

Progress = Callable[[int, int], None]
Index = NDArray[np.int64]
_FINE = 1 << 20  # steps in which a share is told apart


@dataclass(frozen=True, eq=False)
class Material:
    """Kernels with an expert, and the instances to play on: ordinary ones, then boundary ones."""

    compiled: Compiled
    pool: Pool
    starts: Engine | None = None  # slot k stands at the boundary of boundary instance k
    share: float = 0.0  # of episodes on boundary instances; half of these start there
    always: float = 0.0  # share of slots whose episodes all start there, and are broken off
    steps: int = 0  # picks after which these are

    def broken_off(self, engine: Engine, ages: Index, graphs: int) -> Index:
        """The slots whose episode, `ages` (slots,) picks old, has seen enough of its boundary.

        `graphs` is the number of all slots, of which an engine may have a share.
        """
        if not self.always:
            return np.zeros(0, np.int64)
        there = self._starts_there(engine.numbers, graphs)
        return np.flatnonzero(there & (ages % self.steps == 0))

    def _starts_there(self, numbers: Index, graphs: int) -> NDArray[np.bool_]:
        return np.asarray(numbers < round(self.always * graphs))

    def start(self, engine: Engine, seed: int, slots: Index, graphs: int) -> None:
        """Start the next episodes in some slots of an engine over this pool."""
        if self.starts is None or not len(slots):
            engine.reset(slots)
            return
        keys = engine.numbers[slots], engine.episodes[slots]
        ordinary = len(self.pool) - self.starts.slots
        number = uniform_below(ordinary, seed, "pool", *keys)
        always = self._starts_there(engine.numbers[slots], graphs)
        moved = always | _happens(self.share, seed, "boundary", *keys)
        which = uniform_below(self.starts.slots, seed, "boundary instance", *keys)
        engine.episodes[slots] += 1
        engine.load(slots, np.where(moved, ordinary + which, number))
        there = always | (moved & _happens(0.5, seed, "start there", *keys))
        copy_episodes(self.starts, which[there], engine, slots[there])


def _happens(share: float, seed: int, purpose: str, *keys: ArrayLike) -> NDArray[np.bool_]:
    return np.asarray(uniform_below(_FINE, seed, purpose, *keys) < share * _FINE)


def draw_material(
    problem: Problem,
    recipe: Recipe,
    seed: int,
    pool: Pool | None = None,
    progress: Progress | None = None,
) -> Material:
    """What the recipe asks for; `pool` replaces the instances that it would draw."""
    expert = recipe.bc.expert or problem.experts[0].name
    compiled = compile_for(problem, _reward(problem, recipe), (expert,))
    data = recipe.data
    pool = pool or training_pool(compiled, data, seed, progress, recipe.bc.larger)
    pool = plan_experts(compiled, pool, progress)
    if not (data.boundary or data.boundary_starts):
        return Material(compiled, pool)
    boundary = boundary_states(
        problem,
        expert=expert,
        count=data.boundary_pool,
        margin=data.boundary_margin,
        scale=data.scale,
        seed=seed,
        nodes=data.nodes,
        instances=data.instances,
        oracles=compiled.oracles,
        progress=progress,
    )
    both = pool_of(problem, [*pool.instances(), *boundary.pool.instances()], compiled.oracles)
    starts = _at_the_boundary(compiled, both, boundary)
    return Material(
        compiled, both, starts, data.boundary, data.boundary_starts, data.boundary_steps
    )


def _at_the_boundary(compiled: Compiled, pool: Pool, boundary: Boundary) -> Engine:
    """An engine whose episodes stand where the expert's comparison is close."""
    engine = Engine(compiled, pool, len(boundary))
    engine.load(engine.environments, len(pool) - len(boundary) + engine.environments)
    play_picks(engine, engine.environments, boundary.picks)
    return engine


def _reward(problem: Problem, recipe: Recipe) -> str | None:
    """What will be learned from afterwards, else whatever is quick to compute."""
    if len(recipe.parts) > 1:
        return recipe.reward
    return cheapest_reward(problem)
