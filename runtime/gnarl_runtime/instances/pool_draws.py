"""A problem, a split and a seed go in, many instances come out: `draw_instance`, many at once.

The fast twin of `gnarl_compiler.instances.draw`, tested equal to it: instance `number`
of attempt `attempt` comes from the same streams. It is faster because one generator serves all
streams, graphs are tested for connection together, and whether an episode is over at its start
is asked of the compiled reset instead of the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact, compile_problem
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream_key
from gnarl_compiler.instances import draw as reference
from gnarl_compiler.instances import generators
from gnarl_compiler.instances.brought import brought_graph
from gnarl_compiler.instances.draw import Family, draw_inputs, draw_instance, split_seed
from gnarl_compiler.passes.pruning import Mode
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl.model import InputLaw, Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.instances.pool_arrays import Index, load_cells, load_instances, pack_words, stack
from gnarl_runtime.instances.pool_oracles import Tick, solve_oracles

PATIENCE = 20  # attempts without any success before the reference is asked, which may give up
_ONLY_RESET = Mode(experts=(), reward=False, metrics=False, observation=False)


@dataclass(frozen=True)
class Wish:
    """One instance to draw: its number, its family and its size if the family's is not wanted."""

    number: int
    family: Family
    nodes: int | None


class Streams:
    """`gnarl_compiler.graphs.streams.stream` with one generator that moves from stream to stream.

    Opening a stream of its own asks the system for entropy, which is then not used.
    """

    def __init__(self) -> None:
        self._bits = np.random.Philox(key=0)
        self._generator = np.random.Generator(self._bits)
        self._blank: dict[str, Any] = {**self._bits.state}
        self._counter: dict[str, Any] = {**self._blank["state"]}

    def open(self, seed: int, number: int, attempt: int, part: int) -> np.random.Generator:
        """The generator of a part of an instance, until the next one is opened."""
        key = np.frombuffer(stream_key(seed, "instance", number, attempt, part), "<u8")
        at: Any = {**self._blank, "state": {**self._counter, "key": key}}
        self._bits.state = at
        return self._generator


def draw_instances(
    problem: Problem, wishes: Sequence[Wish], seed: int, streams: Streams, attempt: int
) -> list[Instance | None]:
    """One attempt at each wish: nothing where the graph is not of the problem's kind."""
    seeds = [split_seed(seed, wish.family.split) for wish in wishes]
    graphs = [
        _draw_graph(problem, wish, own, streams, attempt)
        for wish, own in zip(wishes, seeds, strict=True)
    ]
    fits = _fitting(problem, graphs)
    return [
        _finish(problem, graph, wish.family.laws, streams, (own, wish.number, attempt))
        if fit
        else None
        for wish, own, graph, fit in zip(wishes, seeds, graphs, fits, strict=True)
    ]


def _draw_graph(problem: Problem, wish: Wish, seed: int, streams: Streams, attempt: int) -> Graph:
    rng = streams.open(seed, wish.number, attempt, reference.GRAPH)
    family, kind = wish.family, problem.graph
    args = {arg.name: reference.draw_argument(arg, rng) for arg in family.args}
    own = args.pop("n", 0.0)
    n = int(own) if wish.nodes is None else wish.nodes
    declared = problem.extern(family.generator)
    if declared is not None:
        return brought_graph(problem, declared, n, args, rng)
    if kind.acyclic and not kind.directed:  # redraws of its own, from the same stream
        return generators.draw_graph(
            family.generator, n, args, directed=False, acyclic=True, rng=rng
        )
    known = generators.check_family(family.generator, n, args)
    if kind.directed:
        adjacency = generators.draw_directed(known, n, args, rng, kind.acyclic)
    else:
        once = known.draw(n, args, rng)
        adjacency = once | once.T
    old = np.argsort(rng.permutation(n))
    return Graph.trusted(kind.directed, adjacency[old[:, None], old])


def _fitting(problem: Problem, graphs: Sequence[Graph]) -> NDArray[np.bool_]:
    """Which graphs are as connected and acyclic as the problem wants: (K,)."""
    fits = np.ones(len(graphs), np.bool_)
    if problem.graph.connected:
        sizes = np.array([graph.n for graph in graphs])
        fits &= are_connected(stack([g.adjacency for g in graphs], int(sizes.max())), sizes)
    if problem.graph.acyclic:
        fits &= np.array([graph.is_acyclic() for graph in graphs])
    return fits


def are_connected(adjacency: NDArray[np.bool_], sizes: Index) -> NDArray[np.bool_]:
    """Which of K padded graphs (K, N, N) are connected, ignoring directions: (K,)."""
    nodes = adjacency.shape[1]
    rows = pack_words(adjacency | adjacency.transpose(0, 2, 1))  # (K, N, words)
    reached = np.arange(nodes) >= sizes[:, None]  # (K, N), padding included
    reached[:, 0] = True
    while True:
        near = np.where(reached[:, :, None], rows, np.uint64(0))
        words = np.bitwise_or.reduce(near, axis=1).view(np.uint8)  # (K, 8 * words)
        bits = np.unpackbits(words, axis=1, count=nodes, bitorder="little")
        grown = reached | bits.astype(np.bool_)
        if np.array_equal(grown, reached):
            return np.asarray(reached.all(axis=1))
        reached = grown


def _finish(
    problem: Problem,
    graph: Graph,
    laws: tuple[InputLaw, ...],
    streams: Streams,
    key: tuple[int, int, int],
) -> Instance:
    rng = streams.open(*key, reference.TAGS)
    tags = rng.integers(0, 2**63, graph.n).astype(np.uint64)
    values = streams.open(*key, reference.VALUES)
    return Instance(graph, draw_inputs(problem, graph, values, laws), tags)


class Drawer:
    """Draws instances of a problem into batches, again and again until all can be played."""

    def __init__(
        self, problem: Problem, seed: int, oracles: Sequence[str], artifact: Artifact | None
    ) -> None:
        self.problem, self.seed, self.streams = problem, seed, Streams()
        self.reset = artifact or compile_problem(problem, mode=_ONLY_RESET)
        self.oracles = tuple(dict.fromkeys([*oracles, *read_at_reset(self.reset)]))

    def draw(self, wishes: Sequence[Wish], nodes: int, tick: Tick) -> Batch:
        """A batch whose slots are the wishes come true, with their oracle columns."""
        room = [feature.name for feature in self.problem.features if feature.stage is ORACLE]
        batch = Batch.allocate(layout_of(self.problem, len(wishes), nodes, oracles=room))
        kernels, left = Kernels(self.reset, batch), np.arange(len(wishes))
        for attempt in range(reference.ATTEMPTS):
            left = self._attempt(kernels, wishes, left, attempt, tick)
            if not len(left):
                return batch
            if attempt >= PATIENCE and len(left) == len(wishes):
                break
        rest = [wishes[k] for k in left.tolist()]
        slow = [draw_instance(self.problem, w.family, self.seed, w.number, w.nodes) for w in rest]
        self._load(batch, left, slow, wishes, tick)
        return batch

    def _attempt(
        self, kernels: Kernels, wishes: Sequence[Wish], left: Index, attempt: int, tick: Tick
    ) -> Index:
        """Fill the slots `left`; the ones that have no playable instance yet are returned."""
        chosen, batch = [wishes[k] for k in left.tolist()], kernels.batch
        drawn = draw_instances(self.problem, chosen, self.seed, self.streams, attempt)
        found = np.array([instance is not None for instance in drawn])
        if found.any():
            fresh = left[found]
            self._load(batch, fresh, [i for i in drawn if i is not None], wishes, tick)
            kernels.reset(fresh)
            found[found] = batch.ended[fresh] == RUNNING
        return np.asarray(left[~found])

    def _load(
        self,
        batch: Batch,
        slots: Index,
        instances: Sequence[Instance],
        wishes: Sequence[Wish],
        tick: Tick,
    ) -> None:
        load_instances(batch, slots, instances)
        numbers = [wishes[k].number for k in slots.tolist()]
        solved = solve_oracles(self.problem, instances, self.oracles, numbers, tick)
        for name, cells in solved.items():
            load_cells(batch, slots, self.problem.feature(name), cells)


def read_at_reset(artifact: Artifact) -> tuple[str, ...]:
    """The oracles that decide whether an episode is over at its start."""
    return artifact.abi.oracles_of([artifact.abi.kernel(Role.RESET.of())])
