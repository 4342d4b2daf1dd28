"""A graph and the inputs that a problem declares go in, values with or without ties come out."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.instances.brought import draw_input
from gnarl_compiler.instances.sources import SOURCES, is_metric, usual_range
from gnarl_dsl.model import Feature, InputSource, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT

# drawn: as the spec draws them; ties: few different ones, whose sums are exact;
# near: ties that differ by less than `~=` can see.
Style = Literal["drawn", "ties", "near"]

DIGITS = 3  # binary ones of the values that tie, so that sums do not round
_GRID_SIDE = 8  # points of a euclidean instance with ties
_NUDGE = 2.0**-22  # relative: a float32 number can hold it, `~=` ignores it


def sample_inputs(problem: Problem, graph: Graph, style: Style, rng: Generator) -> dict[str, Array]:
    """Every input feature of one instance, in the order of the spec."""
    own = [feature for feature in problem.features if feature.stage is INPUT]
    return {feature.name: sample_feature(problem, feature, graph, style, rng) for feature in own}


def sample_feature(
    problem: Problem, feature: Feature, graph: Graph, style: Style, rng: Generator
) -> Array:
    """Values of one input: (n,) per node, (n, n) per edge or pair, () per graph or for a node."""
    if feature.type.apart:
        return sample_points(problem, feature, graph, style, rng)
    if not feature.is_number:
        return _whole(feature, graph, rng)
    source = feature.source
    if source is not None and source.name != "given" and (style == "drawn" or _is_order(source)):
        return draw_input(problem, feature, source, graph, rng)
    if source is not None and source.name == "euclidean":
        values: NDArray[Any] = _grid_distances(graph.n, rng)
    else:
        first, last, grid = scalar_grid(feature)
        values = rng.integers(first, last + 1, feature.shape(graph.n)) * grid
    if style == "near":
        values = values * (1 + _NUDGE * _either_way(feature, rng, np.shape(values)))
    return on_edges(values, graph) if feature.place is EDGE else np.asarray(values)


def _either_way(feature: Feature, rng: Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """-1, 0 or 1 for each cell; a distance is the same in both directions."""
    ways = rng.integers(-1, 2, shape)
    if len(shape) == 2 and is_metric(feature):
        upper = np.triu(ways, 1)
        return np.asarray(upper + upper.T)
    return np.asarray(ways)


def sample_points(
    problem: Problem, feature: Feature, graph: Graph, style: Style, rng: Generator
) -> Array:
    """As they are drawn, or points of a coarse grid, which are often equally far apart."""
    source = feature.source
    if style == "drawn" and source is not None and source.name != "given":
        return draw_input(problem, feature, source, graph, rng)
    points = grid_points(graph.n, rng)
    return points * (1 + _NUDGE * rng.integers(-1, 2, graph.n)) if style == "near" else points


def _is_order(source: InputSource) -> bool:
    """Whether values only make sense together."""
    return source.name == "position"


def scalar_grid(feature: Feature) -> tuple[int, int, float]:
    """Values on a grid that an input may have: the first and last multiple, and of what."""
    low, high = usual_range(feature.source)
    if low >= high:
        return 1, 1, low
    grid = 2.0 ** (math.floor(math.log2(high - low)) - DIGITS)
    known = SOURCES.get(feature.source.name) if feature.source is not None else None
    if known is not None and known.whole:
        grid = max(grid, 1.0)
    first, last = math.ceil(low / grid), math.floor(high / grid)
    return max(first, 1) if known is not None and known.positive else first, last, grid


def _whole(feature: Feature, graph: Graph, rng: Generator) -> Array:
    """Masks, categories and nodes: there are few values anyway."""
    values: NDArray[Any] = rng.integers(0, feature.limit(graph.n) or 2, feature.shape(graph.n))
    if feature.place is EDGE:
        values = on_edges(values, graph)
    return np.asarray(values, feature.type.value.array)


def grid_points(n: int, rng: Generator) -> NDArray[np.complex128]:
    """Points of a coarse grid, all different while there are enough."""
    cells = rng.choice(_GRID_SIDE**2, n, replace=n > _GRID_SIDE**2)
    return np.asarray(cells % _GRID_SIDE / _GRID_SIDE + 1j * (cells // _GRID_SIDE / _GRID_SIDE))


def _grid_distances(n: int, rng: Generator) -> NDArray[np.float64]:
    """Distances between such points."""
    points = grid_points(n, rng)
    x, y = points.real, points.imag
    return np.asarray(np.hypot(x[:, None] - x, y[:, None] - y))


def on_edges(values: NDArray[Any], graph: Graph) -> NDArray[Any]:
    """One value per edge, the same both ways if undirected, and zero off the edges."""
    upper = np.triu(values, 1)
    both = values if graph.directed else upper + upper.T
    return np.asarray(np.where(graph.adjacency, both, np.zeros_like(both)))
