"""A problem goes in, its kernels come out: machine code, or the same functions uncompiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnarl_compiler.build.artifact import Artifact, compile_problem, generate_code
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.externs.find import plain_twins
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.instances.cells import to_cells
from gnarl_runtime.instances.pool_arrays import load_cells, load_instances
from gnarl_runtime.instances.pools import Pool, pool_of


def artifact_of(problem: Problem, jit: bool, reward: str | None = None) -> Artifact:
    """All kernels of a problem; uncompiled ones are there at once and slow."""
    if jit:
        return compile_problem(problem, reward)
    text = generate_code(problem, reward)
    return Artifact(text, Path("plain"), load_plain(text, plain_twins(problem)))


def instance_pool(
    problem: Problem, artifact: Artifact, instances: Sequence[Instance], metrics: bool = True
) -> Pool:
    """The instances with everything that the kernels read of them.

    Without `metrics`, oracles that only metrics read are not solved, and these are meaningless.
    """
    names = artifact.abi.oracles
    if not metrics:
        instances = _without(problem, _metric_only(artifact), instances)
    if all(name in instance.oracles for instance in instances for name in names):
        return _given_pool(problem, instances, names)
    return pool_of(problem, instances, names)


def _metric_only(artifact: Artifact) -> list[str]:
    """The oracles that no kernel but those of metrics reads."""
    abi = artifact.abi
    used = abi.oracles_of(kernel for kernel in abi.kernels if kernel.role is not Role.METRIC)
    return [name for name in abi.oracles if name not in used]


def _without(
    problem: Problem, unused: Sequence[str], instances: Sequence[Instance]
) -> list[Instance]:
    """The instances with zeros for labels that nobody will read."""

    def blank(instance: Instance, name: str) -> Array:
        feature = problem.feature(name)
        return np.zeros(feature.shape(instance.graph.n), feature.type.value.array)

    return [
        replace(i, oracles={**i.oracles, **{name: blank(i, name) for name in unused}})
        for i in instances
    ]


def _given_pool(problem: Problem, instances: Sequence[Instance], oracles: Sequence[str]) -> Pool:
    """A pool of instances that bring their oracles: nothing is solved, nothing kept on disk."""
    nodes = max(instance.graph.n for instance in instances)
    edges = max(instance.graph.m for instance in instances)
    batch = Batch.allocate(layout_of(problem, len(instances), nodes, edges, oracles))
    slots = np.arange(len(instances))
    load_instances(batch, slots, instances)
    for feature in (problem.feature(name) for name in oracles):
        dense = [np.asarray(instance.oracles[feature.name]) for instance in instances]
        parts = zip(dense, instances, strict=True)
        cells = [to_cells(feature, values, i.graph.edges()) for values, i in parts]
        load_cells(batch, slots, feature, np.concatenate(cells))
    return Pool(batch)


def batch_for(pool: Pool, instances: Sequence[int]) -> Batch:
    """A batch with one slot per entry, which names an instance of the pool; not yet reset."""
    room, problem = pool.batch.layout, pool.problem
    edges = None if problem.graph.mutable else room.edges
    batch = Batch.allocate(layout_of(problem, len(instances), room.nodes, edges, pool.oracles))
    pool.copy_into(batch, np.arange(len(instances)), np.asarray(instances, np.int64))
    return batch
