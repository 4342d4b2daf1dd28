"""Jumanji's environments, as serve.py asks for them: `jit` and `vmap` of a step, or `scan` of many.

python -m benchmarks.foreign.side_jumanji         a call per step, as a trainer elsewhere calls it
python -m benchmarks.foreign.side_jumanji scan    many steps in one call, picks included in them
"""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

import jax
import jax.numpy as jnp
from jumanji.environments import CVRP, TSP, GraphColoring
from jumanji.environments.logic.graph_coloring.generator import RandomGenerator
from jumanji.environments.routing.cvrp.generator import UniformGenerator as Customers
from jumanji.environments.routing.tsp.generator import UniformGenerator as Cities

from benchmarks.foreign.answering import serve

SCANNED = 32  # steps in one call
EDGES = 0.4  # probability of an edge of the graphs to colour


def environment(problem: str, nodes: int) -> Any:
    """The environment for a problem of ours at a number of nodes."""
    if problem == "tsp":
        return TSP(generator=Cities(nodes))
    if problem == "cvrp":
        return CVRP(generator=Customers(nodes - 1, max_capacity=30, max_demand=9))
    if problem == "colouring":
        return GraphColoring(generator=RandomGenerator(nodes, EDGES))
    raise LookupError("Jumanji has no such environment")


class Playing:
    """A batch; an episode that is over starts again in the same step, on a graph drawn then."""

    def __init__(self, problem: str, nodes: int, batch: int) -> None:
        self.batch, self.key = batch, jax.random.PRNGKey(0)
        env = environment(problem, nodes)
        self.first = jax.jit(jax.vmap(env.reset))
        self.pick = jax.jit(jax.vmap(chosen))

        def step(key: Any, state: Any, pick: Any) -> Any:
            state, seen = env.step(state, pick)
            return jax.lax.cond(seen.last(), lambda: env.reset(key), lambda: (state, seen))

        def further(carried: Any, key: Any) -> tuple[Any, None]:
            state, seen = carried
            keys = jax.random.split(key, 2 * batch)
            picks = jax.vmap(chosen)(keys[:batch], seen.observation.action_mask)
            return jax.vmap(step)(keys[batch:], state, picks), None

        self.step = jax.jit(jax.vmap(step))
        self.many = jax.jit(lambda carried, keys: jax.lax.scan(further, carried, keys)[0])
        self.now = self.first(self.keys(batch))

    def keys(self, count: int) -> Any:
        self.key, own = jax.random.split(self.key)
        return jax.random.split(own, count)

    def turn(self) -> tuple[int, float]:
        """One step in one call."""
        state, seen = self.now
        picks = self.pick(self.keys(self.batch), seen.observation.action_mask)
        keys = jax.block_until_ready(self.keys(self.batch))
        jax.block_until_ready(picks)
        start = process_time()
        self.now = jax.block_until_ready(self.step(keys, state, picks))
        return self.batch, process_time() - start


class Scanning(Playing):
    """Many steps in one call."""

    def turn(self) -> tuple[int, float]:
        keys = jax.block_until_ready(self.keys(SCANNED))
        start = process_time()
        self.now = jax.block_until_ready(self.many(self.now, keys))
        return self.batch * SCANNED, process_time() - start


def chosen(key: Any, legal: Any) -> Any:
    """A random legal pick."""
    return jax.random.categorical(key, jnp.where(legal, 0.0, -jnp.inf))


if __name__ == "__main__":
    serve(Scanning if "scan" in sys.argv[1:] else Playing, {})
