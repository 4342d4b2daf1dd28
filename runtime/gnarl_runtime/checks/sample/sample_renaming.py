"""Instances go in, failures of symmetry come out: each is played under two names of its nodes.

Both plays make the same picks, renamed; after each one everything must be the same, renamed.
Values on a binary grid keep sums exact, so that order of summation cannot tell nodes apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.support.endings import SpecFault
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, NODE
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.checks.explore.artifacts import instance_pool
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.sample.backends import evaluate_cost
from gnarl_runtime.checks.sample.judges import close
from gnarl_runtime.checks.sample.plays import Arena, Index, Seat

_MOST_STEPS = 120
_COST = 400_000  # of all experts at one state: beyond that their answers are not compared

Values = NDArray[Any]


def renaming_failures(
    problem: Problem, artifact: Artifact, instances: Sequence[Instance], rng: Generator
) -> Iterator[Failure]:
    """The smallest instance that behaves otherwise after its nodes were renamed, if any does."""
    if not instances:
        return
    names = [rng.permutation(instance.graph.n) for instance in instances]
    twins = [i.relabel(problem, name) for i, name in zip(instances, names, strict=True)]
    pool = instance_pool(problem, artifact, [*instances, *twins])
    arena = Arena(artifact, pool, [Seat(k) for k in range(2 * len(instances))])
    pairs = _Pairs(arena, padded(names, arena.batch.layout.nodes))
    broken: dict[int, tuple[str, tuple[int, ...]]] = {}
    for _ in range(_MOST_STEPS):
        for k, what in pairs.differences():
            broken.setdefault(k, (what, arena.picks(k)))
        if not len(arena.running):
            break
        pairs.advance(rng, list(broken))
    if broken:
        k = min(broken, key=lambda k: (instances[k].graph.n, len(broken[k][1])))
        what, picks = broken[k]
        message = f"{what} depends on how the nodes are numbered"
        yield Failure("relabelling", message, instances[k], picks, None)


def padded(names: Sequence[Index], nodes: int) -> Index:
    """Permutations of different sizes as rows (instances, nodes); padding stays where it is."""
    rows = np.tile(np.arange(nodes), (len(names), 1))
    for row, name in zip(rows, names, strict=True):
        row[: len(name)] = name
    return rows


class _Pairs:
    """An arena whose second half plays the first half's instances under other names."""

    def __init__(self, arena: Arena, names: Index) -> None:
        self.arena, self.names = arena, names
        self.count = len(names)
        self.here, self.there = np.arange(self.count), self.count + np.arange(self.count)
        # Names for values that are nodes; -1, an unset pick, stays as it is.
        self.targets = np.concatenate([names, np.full((self.count, 1), -1)], axis=1)

    def advance(self, rng: Generator, broken: Sequence[int]) -> None:
        """A random pick in every pair; pairs that differ already stop."""
        arena = self.arena
        arena.batch.ended[[*broken, *(self.count + k for k in broken)]] = 1
        picks = arena.choose(rng)
        ends = np.full((self.count, 1), arena.batch.layout.nodes)  # has no name
        picks[self.there] = np.hstack([self.names, ends])[self.here, picks[self.here]]
        arena.advance(picks)

    def differences(self) -> Iterator[tuple[int, str]]:
        """Pairs that are not the same but for the names, and in what."""
        for what, same in self.comparisons():
            for k in np.flatnonzero(~same):
                yield int(k), what

    def comparisons(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        arena, batch = self.arena, self.arena.batch
        for name in ("ended", "phase", "rounds", "horizon", "limit"):
            values = getattr(batch, name)
            yield f"the {name}", self.equal(values[self.here], values[self.there])
        yield "the reward", self.equal(arena.gained[self.here], arena.gained[self.there])
        yield "the mask", self.equal(batch.legal[self.here], self.back(batch.legal))
        last = np.take_along_axis(self.targets, batch.last[self.here].astype(np.int64), axis=1)
        yield "the last pick", self.equal(last, batch.last[self.there])
        arena.run("observe", np.arange(2 * self.count), np.zeros(2 * self.count, np.int32))
        for feature in batch.layout.stored():
            if not feature.stage.steady:
                yield f"`{feature.name}`", self.same_feature(batch, feature)
        yield from self.judgements()

    def judgements(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        arena, problem = self.arena, self.arena.problem
        for kernel in arena.artifact.abi.kernels:
            if kernel.role in (Role.JUDGE, Role.OBJECTIVE):
                values = arena.values(kernel.name, np.arange(2 * self.count))
                yield kernel.subject, self.equal(values[self.here], values[self.there])
        n, m = int(arena.batch.n.max()), int(arena.batch.m.max())
        for name, terms in problem.costs.experts:
            if evaluate_cost(terms, n, m) <= _COST:
                yield f"the expert `{name}`", self.same_answers(name)

    def same_answers(self, expert: str) -> NDArray[np.bool_]:
        answers = np.zeros(self.arena.batch.legal.shape)
        try:
            self.arena.run(Role.EXPERT.of(expert), np.arange(2 * self.count), answers)
        except SpecFault:
            return np.ones(self.count, np.bool_)  # a run-time error, which plays report
        return self.equal(answers[self.here], self.back(answers))

    def back(self, values: Values) -> Values:
        """A node feature of the second half under the names of the first."""
        return self._aligned(values[self.there])

    def same_feature(self, batch: Batch, feature: Feature) -> NDArray[np.bool_]:
        """A feature of both halves; edges are compared as matrices."""
        values = batch.features[feature.name]
        if feature.place is EDGE:
            values = _dense(batch, values)
        here, there = values[self.here], self._aligned(values[self.there])
        if feature.type.names_nodes:
            rows = self.here.reshape(-1, *(1,) * (here.ndim - 1))
            moved = self.targets[rows, here]
            here = np.where(_in_use(batch, feature)[self.here], moved, there)
        return self.equal(here, there)

    def _aligned(self, there: Values) -> Values:
        """Cells of the second half in the places that the first half has them in."""
        if there.ndim == 2:
            nodes = np.take_along_axis(there, self.names, axis=1)
            return np.hstack([nodes, there[:, self.names.shape[1] :]])
        if there.ndim == 3:
            rows = np.take_along_axis(there, self.names[:, :, None], axis=1)
            return np.take_along_axis(rows, self.names[:, None, :], axis=2)
        return there

    def equal(self, here: Values, there: Values) -> NDArray[np.bool_]:
        """Pair by pair; numbers may differ in their last digits, where formulas divide."""
        same = close(here, there) if here.dtype.kind == "f" else here == there
        return np.asarray(np.asarray(same).reshape(self.count, -1).all(axis=1))


def _in_use(batch: Batch, feature: Feature) -> NDArray[np.bool_]:
    """Which cells hold a value: those of nodes, pairs or edges that are there."""
    if feature.single:
        return np.ones(len(batch.n), np.bool_)
    if feature.place is EDGE:
        return np.asarray(batch.edge_id >= 0)
    nodes = np.arange(batch.layout.nodes) < batch.n[:, None]
    return nodes if feature.place is NODE else nodes[:, :, None] & nodes[:, None, :]


def _dense(batch: Batch, values: Values) -> Values:
    """An edge feature (slots, edges) as matrices (slots, nodes, nodes), zero off the edges."""
    ids = batch.edge_id.astype(np.int64)
    slots = np.arange(len(ids))[:, None, None]
    return np.where(ids >= 0, values[slots, np.maximum(ids, 0)], np.zeros((), values.dtype))
