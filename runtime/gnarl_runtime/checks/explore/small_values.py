"""A problem and a small graph go in, its input values up to symmetry come out.

Numbers come from a few multiples of powers of two, so that sums of them are exact and ties are
frequent. Other types take all their values. Assignments that a symmetry of the graph turns into
each other count once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.sources import SOURCES, could_draw, usual_range
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT
from gnarl_runtime.checks.explore.census import automorphisms

Digits = NDArray[np.int64]  # (assignments, cells): which of its values a cell has

MOST_LISTED = 200_000  # assignments that are all looked at; of more, some are drawn
_DRAWN = 2_000

_WEIGHTS = (0.25, 0.5, 1.0)  # ties, and paths of two edges that tie with one
_DISTANCES = (0.5, 0.75, 1.0)  # any three of them obey the triangle inequality
_ANY = (0.0, 0.5, 1.0)
_POINTS = (0j, 0.5 + 0j, 0.75j)  # with the middle of two, a right angle, and the same place twice


@dataclass(frozen=True)
class Cells:
    """The cells of one input in one graph: where they are and how many values each can have."""

    feature: Feature
    places: tuple[tuple[int, ...], ...]  # nodes of each cell; one empty tuple for the graph
    values: tuple[float | complex, ...]  # of a cell; node numbers if it holds a node
    symmetric: bool
    sound: bool = True  # whether all combinations of the values can be drawn

    @property
    def holds_node(self) -> bool:
        return self.feature.type.names_nodes

    def image(self, order: Sequence[int]) -> list[int]:
        """Where a renaming of the nodes moves each cell."""
        index = {place: i for i, place in enumerate(self.places)}
        moved = [tuple(order[v] for v in place) for place in self.places]
        return [index[place] if place in index else index[place[::-1]] for place in moved]

    def array(self, digits: NDArray[np.int64], n: int) -> Array:
        """The input as an instance has it."""
        chosen = np.asarray(self.values)[digits].astype(self.feature.type.value.array)
        if self.feature.single:
            return np.asarray(chosen[0])
        room = np.zeros(self.feature.shape(n), chosen.dtype)
        for place, value in zip(self.places, chosen, strict=True):
            room[place] = value
            if self.symmetric:
                room[place[::-1]] = value
        return np.asarray(room)


def input_cells(problem: Problem, graph: Graph) -> list[Cells]:
    """The cells of every input."""
    return [_cells(f, graph) for f in problem.features if f.stage is INPUT]


def _cells(feature: Feature, graph: Graph) -> Cells:
    n = graph.n
    symmetric = feature.place is EDGE and not graph.directed
    places: Iterable[tuple[int, ...]]
    if feature.place is EDGE:
        places = [(int(u), int(v)) for u, v in graph.edges()]
    elif feature.source is not None and feature.source.name == "euclidean":
        places, symmetric = combinations(range(n), 2), True
    else:
        places = product(range(n), repeat=feature.width)
    values = cell_values(feature, n)
    return Cells(feature, tuple(places), values, symmetric, not _is_order(feature))


def cell_values(feature: Feature, n: int) -> tuple[float | complex, ...]:
    """The values that one cell of an input is given."""
    if feature.type.apart:
        return _POINTS
    if feature.is_number:
        return _numbers(feature, n)
    most = feature.limit(n)
    return tuple(float(k) for k in range(2 if most is None else most))


def _is_order(feature: Feature) -> bool:
    """Whether each value is there once, so that most combinations of them cannot be."""
    return feature.source is not None and feature.source.name == "position"


def _numbers(feature: Feature, n: int) -> tuple[float, ...]:
    source = feature.source
    if _is_order(feature):
        return tuple(float(np.float32(k / n)) for k in range(n))
    name = source.name if source else ""
    if name == "clrs_weight":
        return _WEIGHTS
    if name == "euclidean":
        return _DISTANCES
    known = SOURCES.get(name)
    if known is None or known.span is None:
        return _ANY
    if known.positive:
        return _WEIGHTS
    low, high = usual_range(source)
    return (low, low + (high - low) // 2, high) if known.whole else dyadic_range(low, high)


def dyadic_range(low: float, high: float) -> tuple[float, ...]:
    """Both ends of a range and its middle, moved inwards to a grid of powers of two."""
    if low >= high:
        return (low,)
    grid = 2.0 ** (math.floor(math.log2(high - low)) - 3)
    first, last = math.ceil(low / grid), math.floor(high / grid)
    return tuple(k * grid for k in sorted({first, (first + last) // 2, last}))


# All assignments of a graph


@dataclass(frozen=True)
class Assignments:
    """Input values for one graph: those listed, of how many that differ up to symmetry."""

    cells: tuple[Cells, ...]
    digits: Digits
    possible: int


def assignments(problem: Problem, graph: Graph, most: int, seed: int) -> Assignments:
    """At most so many assignments, different up to symmetry, far apart first."""
    cells = input_cells(problem, graph)
    orders = automorphisms(graph.adjacency)
    possible = count_orbits(cells, orders)
    sizes = [len(part.values) for part in cells for _ in part.places]
    total = math.prod(sizes)
    if total <= MOST_LISTED:
        digits = _listed(sizes, total)
    else:
        rng = stream(seed, "small values", graph.n, graph.m)
        digits = rng.integers(0, sizes, (_DRAWN, len(sizes)))
        digits[0] = 0
    if not all(part.sound for part in cells):
        digits = digits[_drawable(digits, cells, graph)]
    kept = _one_per_orbit(digits, cells, orders, sizes)
    if total <= MOST_LISTED:
        possible = len(kept)
    return Assignments(tuple(cells), kept[spread(len(kept), most)], possible)


def _drawable(digits: Digits, cells: Sequence[Cells], graph: Graph) -> NDArray[np.bool_]:
    """Which assignments the sources of the inputs may give."""
    possible, start = np.ones(len(digits), np.bool_), 0
    for part in cells:
        own = digits[:, start : start + len(part.places)]
        start += len(part.places)
        if not part.sound:
            different, which = np.unique(own, axis=0, return_inverse=True)
            fits = [could_draw(part.feature, graph, part.array(row, graph.n)) for row in different]
            possible &= np.asarray(fits, np.bool_)[which.reshape(-1)]
    return possible


def _listed(sizes: list[int], total: int) -> Digits:
    """Every combination of digits, the first changing slowest."""
    digits = np.zeros((total, len(sizes)), np.int64)
    rest = np.arange(total)
    for column in reversed(range(len(sizes))):
        rest, digits[:, column] = np.divmod(rest, sizes[column])
    return digits


def _one_per_orbit(
    digits: Digits, cells: list[Cells], orders: NDArray[np.int64], sizes: list[int]
) -> Digits:
    """The first of the assignments that symmetries turn into each other."""
    if not sizes:
        return digits
    codes = _codes(digits, sizes)
    smallest = codes.copy()
    for order in orders:
        moved = np.empty_like(digits)
        start = 0
        for part in cells:
            own = digits[:, start : start + len(part.places)]
            image = start + np.asarray(part.image(order.tolist()), np.int64)
            moved[:, image] = order[own] if part.holds_node else own
            start += len(part.places)
        np.minimum(smallest, _codes(moved, sizes), out=smallest)
    _, first = np.unique(smallest, return_index=True)
    return np.asarray(digits[np.sort(first)])


def _codes(digits: Digits, sizes: list[int]) -> NDArray[np.float64] | Digits:
    """One number per assignment, in their order; of very many cells, only nearly always its own."""
    code = np.zeros(len(digits), np.int64)
    with np.errstate(over="ignore"):  # wraps around, which keeps nearly all apart
        for column, size in enumerate(sizes):
            code = code * size + digits[:, column]
    return code


def count_orbits(cells: Sequence[Cells], orders: NDArray[np.int64]) -> int:
    """How many assignments differ up to symmetry: the mean number of fixed ones (Burnside)."""
    fixed = 0
    for order in orders:
        count = 1
        for part in cells:
            for length in _cycles(part.image(order.tolist())):
                count *= _stays(order, length) if part.holds_node else len(part.values)
        fixed += count
    return fixed // len(orders)


def _cycles(image: list[int]) -> list[int]:
    """The lengths of the cycles of a permutation."""
    lengths, seen = [], set[int]()
    for start in range(len(image)):
        length, at = 0, start
        while at not in seen:
            seen.add(at)
            at, length = image[at], length + 1
        if length:
            lengths.append(length)
    return lengths


def _stays(order: NDArray[np.int64], times: int) -> int:
    """How many nodes a renaming leaves alone if it is applied so many times."""
    nodes = np.arange(len(order))
    moved = nodes
    for _ in range(times):
        moved = order[moved]
    return int((moved == nodes).sum())


def spread(count: int, most: int) -> NDArray[np.int64]:
    """Up to `most` of 0..count-1, evenly spaced; any first few of them are far apart, too."""
    chosen = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))
    bits = max(1, len(chosen) - 1).bit_length()
    places = np.arange(1 << bits)
    reverse = sum(((places >> bit) & 1) << (bits - 1 - bit) for bit in range(bits))
    order = np.asarray(reverse)
    return np.asarray(chosen[order[order < len(chosen)]])
