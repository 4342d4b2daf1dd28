"""Attributes of nodes go in; out: where the nodes are, and how far apart.

Coordinates fill the input of a problem that is of type `point`, and the one that is drawn as the
distances of points (`~ euclidean`), where the source says neither by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT
from gnarl_runtime.instances.cells import Values

POINTS = "points"  # what readers call the places of nodes
_WHOLE = (POINTS, "pos", "coordinates")
_AXES = (("x", "y"), ("X", "Y"))
_BETWEEN = re.compile(r"[\s,;()\[\]]+")


class Places(NamedTuple):
    """Two numbers per node, or nothing where a node has none; and what said so."""

    names: tuple[str, ...]
    values: Sequence[Any] | Values

    @property
    def label(self) -> str:
        return ", ".join(self.names)


def places_of(
    node_values: Mapping[str, Sequence[Any] | Values], own: str, usual: bool
) -> Places | None:
    """Places under a name of their own or, if nothing else can be meant, under a usual one."""
    for name in (own, *_WHOLE) if usual else (own,):
        if name in node_values:
            return Places((name,), _read(node_values[name]))
    for axes in _AXES if usual else ():
        if all(name in node_values for name in axes):
            columns = (_read(node_values[name]) for name in axes)
            pairs = [None if None in pair else pair for pair in zip(*columns, strict=True)]
            return Places(axes, pairs)
    return None


def takes_distances(problem: Problem, feature: Feature) -> bool:
    """Whether this input, and no other, is the distances between places."""
    apart = [each.name for each in problem.features if each.stage is INPUT and _is_apart(each)]
    return apart == [feature.name]


def _is_apart(feature: Feature) -> bool:
    laws = feature.source.laws if feature.source else ()
    return any(law.name == "euclidean" for law in laws)


def distances(feature: Feature, graph: Graph, points: Values) -> Values:
    """How far nodes are apart, of every two of them or along edges; `points` are complex."""
    apart = np.abs(points[:, None] - points)
    return np.where(graph.adjacency, apart, 0.0) if feature.place is EDGE else apart


def _read(column: Sequence[Any] | Values) -> Sequence[Any] | Values:
    """Texts such as `(0.5, 2)` as numbers: several formats keep everything as text."""
    if isinstance(column, np.ndarray):
        return column
    return [_numbers(value) if isinstance(value, str) else value for value in column]


def _numbers(text: str) -> object:
    """One number or several; the text itself, for a message, if it holds something else."""
    try:
        found = tuple(float(word) for word in _BETWEEN.split(text) if word)
    except ValueError:
        return text
    return found[0] if len(found) == 1 else found
