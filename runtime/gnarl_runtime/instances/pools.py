"""Instances go in, a `Pool` comes out: many of them in arrays, their oracles solved once.

An environment that starts an episode copies an instance from a pool: no solver, no generator and
no interpreter runs then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import (
    ChosenSplit,
    Family,
    choose_split,
    draw_instance,
    families,
    family_of,
)
from gnarl_dsl.model import BestExpert, Problem
from gnarl_dsl.model.kinds import INPUT, ORACLE, Stage
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.instances.cells import Values
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError, verify_instance
from gnarl_runtime.instances.instance_files import Provenance, write_instances
from gnarl_runtime.instances.pool_arrays import Copier, load_cells, load_instances
from gnarl_runtime.instances.pool_draws import Drawer, Wish
from gnarl_runtime.instances.pool_oracles import solve_oracles
from gnarl_runtime.instances.sampler import Sampler, uniform_below

__all__ = ["InstanceError", "Pool", "Sampler", "draw_pool", "pool_of"]

Progress = Callable[[int, int], None]  # (done, total)

_PAUSE = 0.2  # seconds between two reports
_CELLS = 1 << 22  # of the (instances, nodes, nodes) matrices that are handled together
_MOST_CELLS = 1 << 36  # bytes of the same matrices for all
_FEW = 512  # nodes in all for which compiling a reset would take longer than the interpreter


@dataclass(frozen=True, eq=False)
class Pool:
    """Instances of one problem in the slots of a Batch, and the oracle columns asked for.

    `plans` is what was found for experts that are made for each instance: for `search` the picks
    of an episode (instances, longest), -1 behind its end; for `best of` a member (instances, 1).
    """

    batch: Batch
    provenance: Provenance = Provenance()  # noqa: RUF009 (frozen)
    plans: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    _copiers: list[Copier] = field(default_factory=list, init=False, repr=False)

    def __reduce__(self) -> tuple[type[Pool], tuple[Any, ...]]:
        """Copies of a pool start without copiers, whose views belong to this one's arrays."""
        return Pool, (self.batch, self.provenance, self.plans)

    def __len__(self) -> int:
        return self.batch.layout.slots

    @property
    def problem(self) -> Problem:
        return self.batch.layout.problem

    @property
    def oracles(self) -> tuple[str, ...]:
        """The oracles that were solved."""
        return self.batch.layout.oracles

    def copy_into(self, batch: Batch, slots: ArrayLike, picks: ArrayLike) -> NDArray[np.int64]:
        """Put instances `picks` into `slots` of a batch; a reset of these slots must follow.

        Out come the slots that got another graph than they had.
        """
        chosen = _indices(picks, len(self), "instance")
        places = _indices(slots, batch.layout.slots, "slot")
        if len(chosen) != len(places):
            raise ValueError(f"expected a pick per slot, found {len(chosen)} for {len(places)}")
        return self.copier(batch).copy(chosen, places)

    def copier(self, batch: Batch) -> Copier:
        """What copies instances into a batch and takes their numbers as they are."""
        if not self._copiers or self._copiers[0].target is not batch:
            self._copiers[:] = [Copier(self.batch, batch)]
        return self._copiers[0]

    def sampler(self, seed: int) -> Sampler:
        """Which instance an environment gets in which of its episodes."""
        return Sampler(seed, len(self))

    def instance(self, number: int) -> Instance:
        """One instance with its oracles, as the interpreter reads it."""
        _indices(number, len(self), "instance")
        batch, n = self.batch, int(self.batch.n[number])
        graph = Graph(self.problem.graph.directed, batch.read_adjacency(number))
        values: dict[Stage, dict[str, Values]] = {INPUT: {}, ORACLE: {}}
        for feature in batch.layout.stored():
            if feature.stage.steady:
                stored = batch.read_feature(number, feature.name)
                whole = stored.dtype.kind == "i"
                values[feature.stage][feature.name] = stored.astype(np.int64) if whole else stored
        tags = batch.tags[number, :n].copy()
        return Instance(graph, values[INPUT], tags, values[ORACLE], plans=self._plans(number))

    def _plans(self, number: int) -> dict[str, NDArray[np.int64]]:
        """What was found for one instance; nothing where nothing was."""
        rows = {name: plan[number] for name, plan in self.plans.items()}
        best = {e.name for e in self.problem.experts if isinstance(e, BestExpert)}
        return {
            name: np.array(row[0]) if name in best else row[row >= 0] for name, row in rows.items()
        }

    def instances(self) -> list[Instance]:
        """All of them, in order."""
        return [self.instance(number) for number in range(len(self))]

    def write(self, path: str | Path) -> str:
        """Keep the pool in a file with its oracles; returns the hash of its content."""
        return write_instances(path, self.problem, self.instances(), self.provenance)


def draw_pool(
    problem: Problem,
    *,
    count: int,
    first: int = 0,
    nodes: int | tuple[int, int] | None = None,
    seed: int,
    split: str = "train",
    instances: str | None = None,
    oracles: Sequence[str] = (),
    artifact: Artifact | None = None,
    progress: Progress | None = None,
) -> Pool:
    """Draw `count` instances of a split: number k is `draw_instance`'s number `first` + k.

    `nodes` replaces the split's own sizes: a number, or a range (both ends included) from which
    each instance draws its size. Instances that are over at their start are drawn again; an
    `artifact` whose reset can tell saves compiling one for that. The batch has room for the most
    nodes that were asked for and the most edges that were drawn.
    """
    chosen = choose_split(problem, split, instances)
    kinds = families(chosen)
    verify_room(count, _most_nodes(kinds, nodes))
    wishes = _wishes(chosen, range(first, first + count), nodes, index(seed))
    most, report = _most_nodes(kinds, nodes), _Reporter(progress, count)
    recipe = "; ".join(kind.label() for kind in kinds) + (f" nodes={nodes}" if nodes else "")
    source = Provenance(seed=index(seed), split=split, recipe=recipe)
    if count * most <= _FEW:
        drawn = [draw_instance(problem, w.family, index(seed), w.number, w.nodes) for w in wishes]
        return Pool(_filled(problem, drawn, oracles, report, most), source)
    drawer = Drawer(problem, index(seed), oracles, artifact)
    parts: list[Batch] = []
    for start, end in _chunks(count, most):
        part = drawer.draw(wishes[start:end], most, lambda number: report.done(number - first))
        parts.append(_joined(problem, [part], oracles, most))
        report.done(end)
    return Pool(_joined(problem, parts, oracles, most), source)


def pool_of(
    problem: Problem,
    instances: Sequence[Instance],
    oracles: Sequence[str] = (),
    *,
    progress: Progress | None = None,
    provenance: Provenance | None = None,
) -> Pool:
    """A pool of given instances; oracles that they do not bring are solved."""
    for number, instance in enumerate(instances):
        verify_instance(problem, instance, f"instance {number}")
    if not instances:
        raise InstanceError("found no instances; a pool needs at least one")
    nodes = max(instance.graph.n for instance in instances)
    batch = _filled(problem, instances, oracles, _Reporter(progress, len(instances)), nodes)
    return Pool(batch, provenance or Provenance())


def joined(pools: Sequence[Pool]) -> Pool:
    """The instances of several pools of a problem in one, in order; plans are to be made anew."""
    first, nodes = pools[0], max(pool.batch.layout.nodes for pool in pools)
    parts = [pool.batch for pool in pools]
    return Pool(_joined(first.problem, parts, first.oracles, nodes), first.provenance)


def most_nodes(problem: Problem, split: str, instances: str | None = None) -> int | None:
    """The largest number of nodes that a split draws; None if it says no numbers."""
    lines = choose_split(problem, split, instances).lines
    sizes = [max(arg.values) for line in lines for arg in line.args if arg.name == "n"]
    return int(max(sizes)) if sizes else None


# Parts


def _indices(given: ArrayLike, size: int, what: str) -> NDArray[np.int64]:
    """Whole numbers (k,) below a size: compiled code does not look again."""
    indices = np.ascontiguousarray(given, np.int64).reshape(-1)
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        wrong = indices[(indices < 0) | (indices >= size)][0]
        raise IndexError(f"there is no {what} {wrong}, expected 0 to {size - 1}")
    return indices


def _wishes(
    split: ChosenSplit, numbers: range, nodes: int | tuple[int, int] | None, seed: int
) -> list[Wish]:
    if not numbers:
        raise UsageError(f"a pool needs at least one instance, found count={len(numbers)}")
    if isinstance(nodes, tuple):
        low, high = nodes
        if not 1 <= low <= high:
            raise UsageError(f"expected nodes=(low, high) with 1 <= low <= high, found {nodes}")
        sizes = (low + uniform_below(high - low + 1, seed, "nodes", np.array(numbers))).tolist()
    else:
        sizes = [nodes] * len(numbers)
    return [Wish(k, family_of(split, k), n) for k, n in zip(numbers, sizes, strict=True)]


def _most_nodes(kinds: Sequence[Family], nodes: int | tuple[int, int] | None) -> int:
    if nodes is not None:
        return nodes[1] if isinstance(nodes, tuple) else nodes
    sizes = [arg.values for kind in kinds for arg in kind.args if arg.name == "n"]
    return int(max(max(values) for values in sizes))


def verify_room(count: int, nodes: int) -> None:
    """A UsageError for so many graphs of so many nodes that no machine holds them."""
    if nodes > MAX_NODES:
        raise UsageError(f"found graphs of {nodes:,} nodes; expected at most {MAX_NODES:,}")
    if count * nodes**2 > _MOST_CELLS:
        raise UsageError(
            f"{count:,} graphs of up to {nodes:,} nodes would take more than "
            f"{_MOST_CELLS >> 30} GB; expected fewer, or smaller ones"
        )


def _chunks(count: int, nodes: int) -> list[tuple[int, int]]:
    """Where to cut so many instances, for arrays of a bounded size."""
    size = min(512, max(1, _CELLS // nodes**2))
    return [(start, min(start + size, count)) for start in range(0, count, size)]


def _filled(
    problem: Problem,
    instances: Sequence[Instance],
    oracles: Sequence[str],
    report: _Reporter,
    nodes: int,
) -> Batch:
    """A batch of these instances, with the oracles that they bring or that are solved now."""
    edges = max(instance.graph.m for instance in instances)
    batch = Batch.allocate(layout_of(problem, len(instances), nodes, edges, oracles))
    for start, end in _chunks(len(instances), nodes):
        slots, chunk = np.arange(start, end), instances[start:end]
        load_instances(batch, slots, chunk)
        solved = solve_oracles(problem, chunk, oracles, slots, report.done)
        for name, cells in solved.items():
            load_cells(batch, slots, problem.feature(name), cells)
        report.done(end)
    return batch


def _joined(problem: Problem, parts: Sequence[Batch], oracles: Sequence[str], nodes: int) -> Batch:
    """The slots of several batches in one, with room for the edges they have."""
    slots = sum(part.layout.slots for part in parts)
    edges = max(int(part.m.max()) for part in parts)
    joined = Batch.allocate(layout_of(problem, slots, nodes, edges, oracles))
    start = 0
    for part in parts:
        own = np.arange(part.layout.slots)
        Copier(part, joined).copy(own, start + own)
        start += len(own)
    return joined


class _Reporter:
    """Tells how far things are, now and then and at the end."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.last = progress, total, time.monotonic()

    def done(self, count: int) -> None:
        now = time.monotonic()
        if self.progress and (count == self.total or now - self.last >= _PAUSE):
            self.last = now
            self.progress(count, self.total)
