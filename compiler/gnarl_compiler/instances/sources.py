"""A source and its arguments go in, random values for one input of a graph come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.instances.generators import GenerationError
from gnarl_dsl.language.signatures import SourceSignature
from gnarl_dsl.model.kinds import (
    EDGE,
    GRAPH,
    MASK,
    MASK_ONE,
    NODE,
    PAIR,
    PLACES,
    SCALAR,
    TYPES,
    FeatureType,
    Place,
)


@dataclass(frozen=True)
class Source:
    """Where input values come from: a draw per place, the types it fits, and its arguments."""

    draws: Mapping[Place, Callable[[Graph, Sequence[float], Generator], NDArray[Any]]]
    types: tuple[FeatureType, ...]
    args: tuple[str, ...]
    doc: str
    whole: bool = False  # or may be

    @property
    def signature(self) -> SourceSignature:
        return SourceSignature(tuple(self.draws), self.types, self.args, self.doc, self.whole)


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
    if len(args) != len(known.args) or list(args) != sorted(args):
        wanted = " <= ".join(known.args) or "no arguments"
        raise GenerationError(f"{source} takes {wanted}, found {list(args)}")
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


def _given(graph: Graph, args: Sequence[float], rng: Generator) -> NDArray[Any]:
    raise GenerationError("values that come from files only (~ given) cannot be generated")


# What specs call a source, with what the checker and people know of it; after a change here:
# `make tables`.
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "clrs_weight": Source(
            {EDGE: _clrs_weight}, (SCALAR,), (), "edge weights as in the CLRS-30 sampler"
        ),
        "any_node": Source({NODE: _any_node}, (MASK_ONE,), (), "one node, uniformly"),
        "uniform": Source(
            {
                NODE: lambda g, args, rng: _single(_uniform((g.n,), args, rng)),
                EDGE: lambda g, args, rng: _on_edges(_uniform((g.n, g.n), args, rng), g),
                PAIR: lambda g, args, rng: _single(_uniform((g.n, g.n), args, rng)),
                GRAPH: lambda g, args, rng: _single(_uniform((), args, rng)),
            },
            (SCALAR,),
            ("low", "high"),
            "uniform numbers",
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
        ),
        "euclidean": Source(
            {
                EDGE: lambda g, args, rng: _on_edges(_distances(g, args, rng), g),
                PAIR: _distances,
            },
            (SCALAR,),
            (),
            "distances of points in the unit square",
        ),
        "given": Source(
            dict.fromkeys(PLACES.values(), _given),
            tuple(TYPES.values()),
            (),
            "only from an instance file",
            whole=True,
        ),
    }
)
