"""An instance and the slopes of a margin in, the ways to move that margin out.

A move has one number to choose, and gives an instance that the spec's own sources could have
drawn. Values that are drawn cell by cell are moved cell by cell, within their range. Distances
between points are moved by shifting a point: a single distance would break the metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.instances.sources import usual_range
from gnarl_dsl.model import Feature, InputSource, Problem
from gnarl_dsl.model.kinds import EDGE, PAIR
from gnarl_runtime.training.boundary.flow import CELLS
from gnarl_runtime.training.boundary.slopes import Cell, usable

Matrix = NDArray[np.float64]

_FARTHEST = 0.95  # of the way to another point: two points never fall together
_BEYOND = -0.5  # how far back a point may go when only the expert's answer is wanted


@dataclass(frozen=True)
class CellMove:
    """A new value for one cell; an undirected edge keeps one value both ways."""

    feature: Feature
    index: tuple[int, ...]
    both_ways: bool
    low: float
    high: float

    @property
    def lowest(self) -> float:
        return self.low

    def apply(self, instance: Instance, value: float) -> Instance:
        values = np.array(instance.inputs[self.feature.name], np.float64)
        values[self.index] = value
        if self.both_ways:
            values[self.index[::-1]] = value
        return with_input(instance, self.feature.name, values)


@dataclass(frozen=True)
class PointMove:
    """A point shifted towards another, by a share of the way; distances follow.

    By Stewart's theorem the distances from the new place need no coordinates. The new place
    lies between two points, so wherever those could be drawn, so could it.
    """

    feature: Feature
    node: int
    toward: int
    low: float = 0.0
    high: float = _FARTHEST
    lowest: float = _BEYOND

    def apply(self, instance: Instance, share: float) -> Instance:
        values = np.array(instance.inputs[self.feature.name], np.float64)  # (nodes, nodes)
        own, other = values[self.node], values[self.toward]
        squares = (1 - share) * own**2 + share * other**2
        squares -= share * (1 - share) * own[self.toward] ** 2
        distances = np.sqrt(np.maximum(squares, 0.0))
        distances[self.node] = 0.0
        values[self.node, :] = values[:, self.node] = distances
        return with_input(instance, self.feature.name, values)


Move = CellMove | PointMove


@dataclass(frozen=True)
class Slide:
    """A move, where its number stands now, and how steeply a margin goes with it."""

    move: Move
    start: float
    slope: float


def with_input(instance: Instance, name: str, values: Array) -> Instance:
    """The instance with other values of an input; labels of the old values are gone."""
    return Instance(instance.graph, {**instance.inputs, name: values}, instance.tags)


def slides(problem: Problem, instance: Instance, slopes: Mapping[Cell, float]) -> list[Slide]:
    """Every way to move a margin that has these slopes."""
    found, points = list[Slide](), dict[str, dict[Cell, float]]()
    for cell, slope in usable(slopes).items():
        feature = problem.feature(cell[0])
        assert feature.source is not None
        if feature.source.name in CELLS:
            start = float(instance.inputs[feature.name][cell[1]])
            found.append(Slide(cell_move(problem, feature, cell[1]), start, slope))
        elif feature.place is PAIR or is_complete(instance):
            points.setdefault(feature.name, {})[cell] = slope
    for name, cells in points.items():
        found += point_slides(problem.feature(name), instance, cells)
    return found


def cell_move(problem: Problem, feature: Feature, index: tuple[int, ...]) -> CellMove:
    both_ways = feature.place is EDGE and not problem.graph.directed
    low, high = value_range(feature, directed=problem.graph.directed)
    return CellMove(feature, index, both_ways, low, high)


def value_range(feature: Feature, *, directed: bool) -> tuple[float, float]:
    """What the laws of a feature draw values between."""
    assert feature.source is not None
    lows, highs = zip(*(_law_range(law, directed) for law in feature.source.laws), strict=True)
    return min(lows), max(highs)


def _law_range(law: InputSource, directed: bool) -> tuple[float, float]:
    if law.name == "clrs_weight" and not directed:  # sqrt(w w' + 1e-3), with w in 0..1
        return math.sqrt(1e-3), math.sqrt(1 + 1e-3)
    return usual_range(law)


def is_complete(instance: Instance) -> bool:
    """Whether every distance is there, as Stewart's theorem needs."""
    n = instance.graph.n
    return int(np.count_nonzero(instance.graph.adjacency)) == n * (n - 1)


def point_slides(
    feature: Feature, instance: Instance, cells: Mapping[Cell, float]
) -> Iterator[Slide]:
    """Every end of a distance that matters, shifted towards every other point."""
    distance = np.asarray(instance.inputs[feature.name], np.float64)  # (nodes, nodes)
    pull = np.zeros_like(distance)
    for (_, (u, v)), slope in cells.items():
        pull[u, v] += slope
        pull[v, u] += slope
    for node in np.flatnonzero(pull.any(axis=1)).tolist():
        for toward in range(len(distance)):
            slope = _pull_slope(distance, pull[node], node, toward)
            if toward != node and slope and math.isfinite(slope):
                yield Slide(PointMove(feature, node, toward), 0.0, slope)


def _pull_slope(distance: Matrix, pull: Matrix, node: int, toward: int) -> float:
    """How fast a margin changes when `node` leaves for `toward`."""
    others = np.flatnonzero((pull != 0) & (distance[node] > 0))
    own, other = distance[node, others], distance[toward, others]
    change = (other**2 - own**2 - distance[node, toward] ** 2) / (2 * own)
    return float(pull[others] @ change)
