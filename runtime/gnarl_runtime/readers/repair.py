"""A graph with blemishes goes in, one that a problem can use comes out, with notes on what went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model import Problem
from gnarl_runtime.instances.cells import Values
from gnarl_runtime.readers.raw import RawGraph

Kept = NDArray[np.int64]


def repair_graph(problem: Problem, raw: RawGraph) -> tuple[RawGraph, tuple[str, ...]]:
    """Without loops and repeated edges and, where that matters, in one part and undirected."""
    notes: list[str] = []
    steps = [_without_loops, _undirected, _without_repeats]
    if problem.graph.connected:
        steps.append(_largest_part)
    for step in steps:
        repaired, note = step(problem, raw)
        if note:
            raw = repaired
            notes.append(f"repaired: {note}")
    return raw, tuple(notes)


Repaired = tuple[RawGraph, str]


def _without_loops(problem: Problem, raw: RawGraph) -> Repaired:
    loops = raw.ends[:, 0] == raw.ends[:, 1]
    return _with_edges(raw, np.flatnonzero(~loops)), _count(loops, "self-loops removed")


def _undirected(problem: Problem, raw: RawGraph) -> Repaired:
    """One-way edges lose their direction if the problem knows none."""
    if problem.graph.directed or not raw.directed:
        return raw, ""
    size = len(raw.labels)
    one_way = ~np.isin(raw.ends[:, 1] * size + raw.ends[:, 0], raw.ends @ [size, 1])
    return replace(raw, directed=False), _count(one_way, "one-way edges taken as undirected")


def _without_repeats(problem: Problem, raw: RawGraph) -> Repaired:
    """The first of several edges between two nodes stays, with its values."""
    directed = problem.graph.directed if raw.directed is None else raw.directed
    ends = raw.ends if directed else np.sort(raw.ends, axis=1)
    first = np.sort(np.unique(ends @ [len(raw.labels), 1], return_index=True)[1])
    again = np.ones(len(ends), np.bool_)
    again[first] = False
    return _with_edges(raw, first), _count(again, "repeated edges removed")


def _largest_part(problem: Problem, raw: RawGraph) -> Repaired:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(raw.labels)
    joined = coo_array((np.ones(len(raw.ends)), raw.ends.T), shape=(n, n))
    part = connected_components(joined, directed=False)[1]
    inside = part == np.bincount(part, minlength=1).argmax() if n else np.ones(0, np.bool_)
    kept = _with_edges(raw, np.flatnonzero(inside[raw.ends[:, 0]]))
    position = np.cumsum(inside) - 1
    nodes = np.flatnonzero(inside)
    smaller = replace(
        kept,
        labels=[raw.labels[v] for v in nodes.tolist()],
        ends=position[kept.ends],
        node_values=_taken(raw.node_values, nodes),
    )
    return smaller, _count(~inside, "nodes outside the largest part removed")


def _with_edges(raw: RawGraph, kept: Kept) -> RawGraph:
    numbers = kept.tolist()
    return replace(
        raw,
        ends=raw.ends[kept],
        edge_values=_taken(raw.edge_values, kept),
        spot=lambda k: raw.edge_at(numbers[k]),
    )


def _taken(
    values: Mapping[str, Sequence[Any] | Values], kept: Kept
) -> dict[str, Sequence[Any] | Values]:
    return {
        name: column[kept] if isinstance(column, np.ndarray) else [column[k] for k in kept.tolist()]
        for name, column in values.items()
    }


def _count(which: NDArray[np.bool_], what: str) -> str:
    """What was done, and how often; nothing if it was not needed."""
    number = int(np.count_nonzero(which))
    return f"{what}: {number}" if number else ""
