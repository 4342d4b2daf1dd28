"""A source and its arguments go in, random values for one input of a graph come out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.instances.generators import GenerationError
from gnarl_dsl.language.signatures import SourceSignature
from gnarl_dsl.model import Feature, InputSource
from gnarl_dsl.model.kinds import (
    CATEGORICAL,
    EDGE,
    GRAPH,
    MASK,
    MASK_ONE,
    NODE,
    PAIR,
    PLACES,
    POINT,
    SCALAR,
    TYPES,
    FeatureType,
    Place,
)

_ROUNDING = 1e-6  # of float32


@dataclass(frozen=True)
class Source:
    """Where input values come from: a draw per place, the types it fits, and its arguments."""

    draws: Mapping[Place, Callable[[Graph, Sequence[float], Generator], NDArray[Any]]]
    types: tuple[FeatureType, ...]
    args: tuple[str, ...]
    doc: str
    defaults: tuple[float, ...] = ()
    ordered: bool = False
    whole: bool = False
    least: float | None = None
    most: float | None = None
    span: Callable[[Sequence[float]], tuple[float, float]] | None = None
    told: tuple[str, ...] = ()  # arguments that no spec writes
    positive: bool = False  # it never draws 0 or less
    counts: bool = False  # or may be numbers of things
    # Whether values can stand together, each being one that may be drawn.
    together: Callable[[Graph, Place, NDArray[Any]], bool] | None = None

    @property
    def signature(self) -> SourceSignature:
        shared = {field.name: getattr(self, field.name) for field in fields(SourceSignature)[1:]}
        return SourceSignature(tuple(self.draws), **shared)


def usual_range(source: InputSource | None) -> tuple[float, float]:
    """Between which numbers most draws are; all of them where there are bounds."""
    known = SOURCES.get(source.name) if source is not None else None
    if source is None or known is None or known.span is None:
        return 0.0, 1.0
    return known.span(source.args)


def could_draw(feature: Feature, graph: Graph, values: NDArray[Any]) -> bool:
    """Whether one of an input's laws may give these values; what is brought may give any."""
    laws = () if feature.source is None else feature.source.laws
    if not laws or any(law.name not in SOURCES for law in laws):
        return True
    return any(_could_be(SOURCES[law.name], law.args, feature.place, graph, values) for law in laws)


def is_metric(feature: Feature) -> bool:
    """Whether an input says how far nodes are apart."""
    laws = () if feature.source is None else feature.source.laws
    return any(law.name in SOURCES and SOURCES[law.name].together is _are_distances for law in laws)


def _could_be(
    law: Source, args: Sequence[float], place: Place, graph: Graph, values: NDArray[Any]
) -> bool:
    used = values[graph.adjacency] if place is EDGE else values
    room = _ROUNDING * np.maximum(1.0, np.abs(used))
    if law.ordered and not np.all((args[0] - room <= used) & (used <= args[1] + room)):
        return False
    if law.whole and not np.all(np.abs(used - np.round(used)) <= room):
        return False
    if law.positive and not np.all(used > 0):
        return False
    return law.together is None or law.together(graph, place, values)


def draw_feature(
    feature: Feature, source: InputSource, graph: Graph, rng: Generator
) -> NDArray[Any]:
    """Values for one input from a source of it; of several laws, this instance gets one."""
    law = source.laws[int(rng.integers(len(source.laws)))] if source.others else source
    args = (float(feature.categories),) if SOURCES[law.name].told else law.args
    return draw_values(law.name, args, feature.place, graph, rng)


def draw_values(
    source: str, args: Sequence[float], location: Place, graph: Graph, rng: Generator
) -> NDArray[Any]:
    """Values for one input: (n,) per node, (n, n) per edge or pair, () per graph or for a node."""
    if source not in SOURCES:
        raise GenerationError(f"unknown source `{source}`; known: {', '.join(SOURCES)}")
    known = SOURCES[source]
    if location not in known.draws:
        fitting = " or ".join(place.name for place in known.draws)
        raise GenerationError(f"{source} fits {fitting}, found {location.name}")
    wanted = known.args or known.told
    if len(args) != len(wanted) or (known.ordered and list(args) != sorted(args)):
        form = (" <= " if known.ordered else ", ").join(wanted) or "no arguments"
        raise GenerationError(f"{source} takes {form}, found {list(args)}")
    return known.draws[location](graph, args, rng)


def _single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inputs are float32 values in float64 arithmetic, so that sums of them rarely round."""
    return values.astype(np.float32).astype(np.float64)


def _on_edges(values: NDArray[np.float64], graph: Graph) -> NDArray[np.float64]:
    """One value per edge, the same both ways if undirected, and zero off the edges."""
    if not graph.directed:
        upper = np.triu(values, 1)
        values = upper + upper.T
    return _single(np.where(graph.adjacency, values, 0.0))


def _clrs_weight(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    """The CLRS-30 sampler's weights, which on undirected graphs lean towards the middle."""
    weight = rng.random((graph.n, graph.n))
    return _on_edges(weight if graph.directed else np.sqrt(weight * weight.T + 1e-3), graph)


def _any_node(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.int64]:
    return np.asarray(rng.integers(graph.n), dtype=np.int64)


def _uniform(shape: tuple[int, ...], args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    low, high = args
    return np.asarray(rng.uniform(low, high, size=shape))


def _coin(shape: tuple[int, ...], args: Sequence[float], rng: Generator) -> NDArray[np.bool_]:
    return np.asarray(rng.random(shape) < args[0])


def _edge_coins(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.bool_]:
    """One throw per edge, the same both ways if undirected, and false off the edges."""
    thrown = _coin((graph.n, graph.n), args, rng)
    upper = np.triu(thrown, 1)
    return graph.adjacency & (thrown if graph.directed else upper | upper.T)


def _distances(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    """Distances between points drawn uniformly from the unit square."""
    x, y = rng.random((2, graph.n))
    return _single(np.hypot(x[:, None] - x, y[:, None] - y))


def _are_distances(graph: Graph, place: Place, values: NDArray[np.float64]) -> bool:
    """Nothing from a node to itself, the same both ways, and no detour by one node is shorter."""
    known = graph.adjacency if place is EDGE else ~np.eye(graph.n, dtype=np.bool_)
    twice = known & known.T
    if values.diagonal().any() or (values != values.T)[twice].any():
        return False
    far = np.where(known, values, np.where(known.T, values.T, np.inf))
    if (far[known] < 0).any() or (far[known] > math.sqrt(2) + _ROUNDING).any():
        return False
    detour = (far[:, :, None] + far[None, :, :]).min(axis=1, initial=np.inf)
    return bool((far <= detour + _ROUNDING)[known].all())


def _everywhere(
    draw: Callable[[tuple[int, ...], Sequence[float], Generator], NDArray[np.float64]],
) -> Mapping[Place, Callable[[Graph, Sequence[float], Generator], NDArray[np.float64]]]:
    """A law of single numbers, at every place; undirected edges have one number both ways."""
    return {
        NODE: lambda g, args, rng: _single(draw((g.n,), args, rng)),
        EDGE: lambda g, args, rng: _on_edges(draw((g.n, g.n), args, rng), g),
        PAIR: lambda g, args, rng: _single(draw((g.n, g.n), args, rng)),
        GRAPH: lambda g, args, rng: _single(draw((), args, rng)),
    }


def _exponential(
    shape: tuple[int, ...], args: Sequence[float], rng: Generator
) -> NDArray[np.float64]:
    return np.asarray(rng.exponential(args[0], shape))


def _integers(shape: tuple[int, ...], args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    low, high = map(int, args)
    return np.asarray(rng.integers(low, high + 1, shape), np.float64)


def _normal(shape: tuple[int, ...], args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    mean, deviation = args
    return np.asarray(rng.normal(mean, deviation, shape))


def _lognormal(
    shape: tuple[int, ...], args: Sequence[float], rng: Generator
) -> NDArray[np.float64]:
    mean, deviation = args
    return np.asarray(rng.lognormal(mean, deviation, shape))


def _categories(shape: tuple[int, ...], args: Sequence[float], rng: Generator) -> NDArray[np.int64]:
    return np.asarray(rng.integers(int(args[0]), size=shape), np.int64)


def _edge_categories(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.int64]:
    """One per edge, the same both ways if undirected, and the first off the edges."""
    drawn = _categories((graph.n, graph.n), args, rng)
    upper = np.triu(drawn, 1)
    return np.where(graph.adjacency, drawn if graph.directed else upper + upper.T, 0)


def _position(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.float64]:
    """i / n for the i-th node: along a path from an end of it, else in random order."""
    order = rng.permutation(graph.n)  # of a path's two ends the earlier one is its start
    if graph.n > 1 and graph.m == graph.n - 1:
        order = _along_path(graph, order)
    positions = np.empty(graph.n)
    positions[order] = np.arange(graph.n) / graph.n
    return _single(positions)


def _along_path(graph: Graph, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes from one end of a path to the other; `order` where the graph is no such path."""
    before, after = graph.adjacency.sum(axis=0), graph.adjacency.sum(axis=1)
    ends = (before == 0) & (after == 1) if graph.directed else after == 1
    if after.max() > (1 if graph.directed else 2) or not ends.any():
        return order
    node = int(order[ends[order]][0])
    found, seen = [node], {node}
    while node is not None:
        near = [int(v) for v in np.flatnonzero(graph.adjacency[node]) if int(v) not in seen]
        if not near:
            break
        node = near[0]
        found.append(node)
        seen.add(node)
    return np.array(found) if len(found) == graph.n else order


def _is_position(graph: Graph, place: Place, values: NDArray[np.float64]) -> bool:
    """Whether these are i / n for some order of the nodes, which along a path is that path."""
    order = np.argsort(values, kind="stable")
    evenly = np.allclose(values[order], np.arange(graph.n) / graph.n)
    if not evenly or graph.n < 2 or graph.m != graph.n - 1:
        return bool(evenly)
    return bool((_along_path(graph, order) == order).all())


def _square(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[np.complex128]:
    x, y = rng.random((2, graph.n))
    return np.asarray(x + 1j * y).astype(np.complex64).astype(np.complex128)


def _given(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[Any]:
    raise GenerationError("values that come from files only (~ given) cannot be generated")


# What specs call a source, with what the checker and people know of it; after a change here:
# `make tables`.
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "clrs_weight": Source(
            {EDGE: _clrs_weight},
            (SCALAR,),
            (),
            "edge weights as in the CLRS-30 sampler",
            positive=True,
        ),
        "any_node": Source({NODE: _any_node}, (MASK_ONE,), (), "one node, uniformly"),
        "uniform": Source(
            _everywhere(_uniform),
            (SCALAR,),
            ("low", "high"),
            "uniform numbers",
            ordered=True,
            span=lambda args: (args[0], args[1]),
        ),
        "coin": Source(
            {
                NODE: lambda g, args, rng: _coin((g.n,), args, rng),
                EDGE: _edge_coins,
                PAIR: lambda g, args, rng: _coin((g.n, g.n), args, rng),
                GRAPH: lambda g, args, rng: _coin((), args, rng),
            },
            (MASK,),
            ("p",),
            "true with probability p",
            least=0,
            most=1,
        ),
        "euclidean": Source(
            {
                EDGE: lambda g, args, rng: _on_edges(_distances(g, args, rng), g),
                PAIR: _distances,
            },
            (SCALAR,),
            (),
            "distances of points in the unit square",
            together=_are_distances,
        ),
        "exponential": Source(
            _everywhere(_exponential),
            (SCALAR,),
            ("mean",),
            "exponentially distributed numbers, of mean 1 unless told",
            defaults=(1.0,),
            least=0,
            span=lambda args: (0.0, 4 * args[0]),
            positive=True,
        ),
        "integers": Source(
            _everywhere(_integers),
            (SCALAR,),
            ("low", "high"),
            "whole numbers, both ends included",
            ordered=True,
            whole=True,
            span=lambda args: (args[0], args[1]),
            counts=True,
        ),
        "normal": Source(
            _everywhere(_normal),
            (SCALAR,),
            ("mean", "deviation"),
            "normally distributed numbers, of mean 0 and deviation 1 unless told",
            defaults=(0.0, 1.0),
            least=0,
            span=lambda args: (args[0] - 2 * args[1], args[0] + 2 * args[1]),
        ),
        "lognormal": Source(
            _everywhere(_lognormal),
            (SCALAR,),
            ("mean", "deviation"),
            "numbers whose logarithm is normally distributed",
            defaults=(0.0, 1.0),
            least=0,
            span=lambda args: (0.0, math.exp(args[0] + 2 * args[1])),
            positive=True,
        ),
        "any_category": Source(
            {
                NODE: lambda g, args, rng: _categories((g.n,), args, rng),
                EDGE: _edge_categories,
                PAIR: lambda g, args, rng: _categories((g.n, g.n), args, rng),
                GRAPH: lambda g, args, rng: _categories((), args, rng),
            },
            (CATEGORICAL,),
            (),
            "each category with the same probability",
            told=("categories",),
        ),
        "position": Source(
            {NODE: _position},
            (SCALAR,),
            (),
            "i / n for the i-th node along a path, or in random order",
            together=_is_position,
        ),
        "square": Source({NODE: _square}, (POINT,), (), "points of the unit square, uniformly"),
        "given": Source(
            dict.fromkeys(PLACES.values(), _given),
            tuple(TYPES.values()),
            (),
            "only from an instance file",
            counts=True,
        ),
    }
)
