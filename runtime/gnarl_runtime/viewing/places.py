"""An instance and a seed go in, a place for every node within the unit square comes out.

Coordinates count if the instance has them: as points, as inputs `x` and `y` of its nodes, or
hidden in distances between all nodes that only points of a plane can have. Otherwise the graph
decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE

Places = NDArray[np.float64]  # (nodes, 2)

ASPECT = 1.6  # width over height of what is drawn on
_PLANE = 1e-3  # how far distances in a plane may be off, as a share of the largest: rounding
_SPRINGS = 150  # nodes up to which every pair of them is given a distance
_APART = 1.15  # least distance between nodes, as a share of what a grid would give them / 2


def places_of(problem: Problem, instance: Instance, seed: int) -> Places:
    """Places for all nodes, the same for the same seed; y grows downwards."""
    given = _coordinates(problem, instance)
    places = given if given is not None else _drawn(instance.graph, seed)
    return _apart(_fitted(places))


def _fitted(places: Places) -> Places:
    """Moved and scaled into the unit square, which stands for ASPECT times as wide a picture."""
    low, high = places.min(axis=0), places.max(axis=0)
    width, height = np.maximum(high - low, 1e-9)
    scale = min(ASPECT / width, 1 / height)
    centred = (places - (low + high) / 2) * scale
    return np.asarray(centred / (ASPECT, 1.0) + 0.5)


def _apart(places: Places, rounds: int = 60) -> Places:
    """Nodes that would cover one another pushed aside, by as little as will do."""
    stretched, n = places * (ASPECT, 1.0), len(places)
    least = _APART * 0.5 * np.sqrt(ASPECT / max(n, 9))
    for _ in range(rounds):
        gaps = stretched[:, None] - stretched[None, :]  # (nodes, nodes, 2)
        far = np.hypot(gaps[..., 0], gaps[..., 1])
        close = (far < least) & ~np.eye(n, dtype=np.bool_)
        if not close.any():
            break
        # Points in one place have no direction to go: their numbers give them one.
        turn = np.arange(n) * 2.4
        away = np.where(far[..., None] > 1e-9, gaps, np.stack([np.cos(turn), np.sin(turn)], 1))
        unit = away / np.maximum(np.hypot(away[..., 0], away[..., 1]), 1e-9)[..., None]
        push = np.where(close, (least - far) / 2, 0.0)
        stretched = stretched + (unit * push[..., None]).sum(axis=1) * 0.6
    return _fitted(stretched)


# Coordinates


def _coordinates(problem: Problem, instance: Instance) -> Places | None:
    numbers = {f.name for f in problem.features if f.place is NODE and f.is_number}
    inputs = instance.inputs
    for feature in problem.features:
        if feature.type.apart and feature.name in inputs:
            points = np.asarray(inputs[feature.name], np.complex128)
            return np.stack([points.real, -points.imag], axis=1)
    if {"x", "y"} <= numbers & set(inputs):
        x, y = (np.asarray(inputs[name], np.float64) for name in ("x", "y"))
        return np.stack([x, -y], axis=1)
    for distances in _distances(problem, instance):
        places = _plane(distances)
        if places is not None:
            return places
    return None


def _distances(problem: Problem, instance: Instance) -> Iterator[NDArray[np.float64]]:
    """Inputs that give all pairs of nodes a positive number, the same both ways."""
    n = instance.graph.n
    for feature in problem.features:
        if feature.name not in instance.inputs or not feature.is_number or n < 4:
            continue
        values = np.asarray(instance.inputs[feature.name], np.float64)
        if values.shape == (n, n) and np.array_equal(values, values.T):
            off = values[~np.eye(n, dtype=np.bool_)]
            if off.min() > 0 and np.isfinite(off).all():
                yield values * ~np.eye(n, dtype=np.bool_)


def _plane(distances: NDArray[np.float64]) -> Places | None:
    """Points with these distances (classical scaling), if there are any in a plane."""
    n = len(distances)
    centre = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    places = vectors[:, -1:-3:-1] * np.sqrt(np.maximum(values[-1:-3:-1], 0.0))
    gaps = places[:, None] - places[None, :]
    off = np.abs(np.hypot(gaps[..., 0], gaps[..., 1]) - distances).max()
    return places if off <= _PLANE * distances.max() else None


# Graphs without coordinates


def _drawn(graph: Graph, seed: int) -> Places:
    """Layers for a directed graph without cycles, a circle if all are joined, else springs."""
    if graph.n < 3 or graph.m * (1 if graph.directed else 2) == graph.n * (graph.n - 1):
        return _circle(graph.n)
    if graph.directed and graph.is_acyclic():
        return _layers(graph)
    return _turned(_springs(graph, seed))


def _circle(n: int) -> Places:
    angles = 2 * np.pi * np.arange(n) / max(1, n) - np.pi / 2
    return np.stack([ASPECT * np.cos(angles), np.sin(angles)], axis=1)


def _layers(graph: Graph) -> Places:
    """A node stands to the right of all that lead to it, near the middle of those."""
    layer = np.zeros(graph.n, np.int64)
    for _ in range(graph.n):
        layer = np.where(graph.adjacency, layer[:, None] + 1, 0).max(axis=0)
    places = np.zeros((graph.n, 2))
    for column in range(int(layer.max()) + 1):
        own = np.flatnonzero(layer == column)
        before = [places[graph.adjacency[:, v], 1].mean() if column else v for v in own]
        spread = (np.arange(len(own)) - (len(own) - 1) / 2) / max(len(own), 2)
        # A little off the straight line, so that edges across layers stay visible.
        places[own[np.argsort(before, kind="stable")], 1] = spread + 0.06 * (column % 2)
        places[own, 0] = column
    return _scaled(places)


def _springs(graph: Graph, seed: int) -> Places:
    import networkx as nx

    drawn = nx.from_numpy_array(graph.adjacency | graph.adjacency.T)
    start = nx.spring_layout(drawn, seed=seed, iterations=100)
    if graph.n <= _SPRINGS:
        start = nx.kamada_kawai_layout(drawn, dist=_path_lengths(drawn), pos=start)
    return np.array([start[v] for v in range(graph.n)])


def _path_lengths(drawn: Any) -> dict[int, dict[int, float]]:
    """Edges between any two nodes; those in different parts stand somewhat farther off."""
    import networkx as nx

    lengths = {u: dict(found) for u, found in nx.all_pairs_shortest_path_length(drawn)}
    far = 1.5 + max(max(found.values()) for found in lengths.values())
    return {u: {v: lengths[u].get(v, far) for v in lengths} for u in lengths}


def _turned(places: Places) -> Places:
    """The longest way across lies flat: pictures are wider than high."""
    centred = places - places.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return _scaled(centred @ vectors[:, ::-1])


def _scaled(places: Places) -> Places:
    """Stretched towards the shape of the picture, by no more than a half."""
    spread = np.maximum(np.ptp(places, axis=0), 1e-9)
    wanted = spread[1] * ASPECT / spread[0]
    return np.asarray(places * (np.clip(wanted, 0.6, 1.7), 1.0))
