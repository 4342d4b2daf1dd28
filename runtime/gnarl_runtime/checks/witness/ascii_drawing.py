"""A small graph in, a drawing of it in characters out."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph

LARGEST = 8
_GAP = 4  # columns between two parts of a graph
_WIDE = 2.2  # a character is about twice as high as wide
_ARROWS = {(1, 0): ">", (-1, 0): "<", (0, 1): "v", (0, -1): "^"}

Place = tuple[int, int]  # column, row
Adjacency = NDArray[np.bool_]


def draw_graph(graph: Graph, marked: Collection[int] = ()) -> list[str]:
    """Lines of text: (3) is a node, [3] a marked one; nothing for graphs that are too large."""
    if graph.n > LARGEST:
        return []
    places = place_nodes(graph.adjacency | graph.adjacency.T)
    canvas = _Canvas(places)
    for u, v in combinations(range(graph.n), 2):
        there, back = bool(graph.adjacency[u, v]), bool(graph.adjacency[v, u])
        if there or back:
            canvas.edge(u, v, graph.directed and back, graph.directed and there)
    for node in range(graph.n):
        canvas.node(node, node in marked)
    return canvas.lines()


# Where nodes stand


def place_nodes(joined: Adjacency) -> dict[int, Place]:
    """A place per node; the parts of a graph stand side by side, single nodes last."""
    places: dict[int, Place] = {}
    left = 0
    for part in sorted(_parts(joined), key=lambda nodes: (-len(nodes), nodes)):
        own = _place_part(joined, part)
        low = min(x for x, _ in own.values())
        places |= {node: (x - low + left, y) for node, (x, y) in own.items()}
        left = max(x for x, _ in places.values()) + 3 + _GAP
    top = min(y for _, y in places.values())
    return {node: (x + 1, y - top) for node, (x, y) in places.items()}


def _parts(joined: Adjacency) -> list[list[int]]:
    left, parts = set(range(len(joined))), []
    while left:
        part = {min(left)}
        while grown := {int(v) for u in part for v in np.flatnonzero(joined[u])} - part:
            part |= grown
        left -= part
        parts.append(sorted(part))
    return parts


def _place_part(joined: Adjacency, part: list[int]) -> dict[int, Place]:
    degrees = joined.sum(axis=0)
    ends = [node for node in part if degrees[node] == 1]
    if len(part) < 3 or (len(ends) == 2 and all(degrees[node] <= 2 for node in part)):
        order = _walk(joined, ends[0] if ends else part[0])
        return {node: (9 * k, 0) for k, node in enumerate(order)}
    if len(ends) == len(part) - 1:
        centre = next(node for node in part if node not in ends)
        return _around(ends) | {centre: (0, 0)}
    return _around(_least_crossing(joined, part))


def _walk(joined: Adjacency, start: int) -> list[int]:
    """The nodes of a path from one end."""
    order = [start]
    while new := [int(v) for v in np.flatnonzero(joined[order[-1]]) if int(v) not in order]:
        order.append(new[0])
    return order


def _around(order: list[int]) -> dict[int, Place]:
    """Nodes on a circle, the first at the top; four of them at the corners of a square."""
    n = len(order)
    radius = {3: 3.4, 4: 4.3}.get(n, 3.6 + 0.6 * n)
    turn = math.pi / 4 if n == 4 else 0.0
    angles = [2 * math.pi * k / n - math.pi / 2 - turn for k in range(n)]
    return {
        node: (round(_WIDE * radius * math.cos(a)), round(radius * math.sin(a)))
        for node, a in zip(order, angles, strict=True)
    }


def _least_crossing(joined: Adjacency, part: list[int]) -> list[int]:
    """The order around a circle in which the fewest edges cross."""
    pairs = [(u, v) for u, v in combinations(part, 2) if joined[u, v]]
    orders = ([part[0], *rest] for rest in permutations(part[1:]))
    return min(orders, key=lambda order: _crossings(order, pairs))


def _crossings(order: list[int], pairs: list[tuple[int, int]]) -> int:
    at = {node: k for k, node in enumerate(order)}
    chords = [tuple(sorted((at[u], at[v]))) for u, v in pairs]
    return sum(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(chords, 2))


# Characters


class _Canvas:
    """Characters by place; nodes are written over edges."""

    def __init__(self, places: dict[int, Place]) -> None:
        self.places = places
        self.ink: dict[Place, str] = {}

    def edge(self, u: int, v: int, to_u: bool, to_v: bool) -> None:
        """A line between two nodes, with an arrowhead where it can be followed."""
        line = _line(self.places[u], self.places[v])
        covered = {(x + k, y) for x, y in self.places.values() for k in (-1, 0, 1)}
        seen = [(place, char) for place, char in line if place not in covered]
        for place, char in seen:
            self.ink[place] = _joined(self.ink.get(place), char)
        if to_v and seen:
            self.ink[seen[-1][0]] = _arrow(self.places[u], self.places[v])
        if to_u and seen:
            self.ink[seen[0][0]] = _arrow(self.places[v], self.places[u])

    def node(self, node: int, marked: bool) -> None:
        x, y = self.places[node]
        for k, char in enumerate(f"[{node}]" if marked else f"({node})"):
            self.ink[x + k - 1, y] = char

    def lines(self) -> list[str]:
        high = max(y for _, y in self.ink) + 1
        wide = max(x for x, _ in self.ink) + 1
        rows = ("".join(self.ink.get((x, y), " ") for x in range(wide)) for y in range(high))
        return [row.rstrip() for row in rows]


def _line(start: Place, end: Place) -> list[tuple[Place, str]]:
    """The characters of a line, from its start to its end."""
    (x0, y0), (x1, y1) = start, end
    dx, dy = x1 - x0, y1 - y0
    if abs(dx) > 2.4 * abs(dy):
        return [_flat(x, y0 + dy * (x - x0) / dx) for x in _between(x0, x1)]
    lean = "|" if abs(dx) < 0.3 * abs(dy) else "\\" if dx * dy > 0 else "/"
    return [((round(x0 + dx * (y - y0) / dy), y), lean) for y in _between(y0, y1)]


def _flat(x: int, y: float) -> tuple[Place, str]:
    """A piece of a nearly level line: high, in the middle or low in its row."""
    row = round(y)
    return (x, row), "'" if y - row < -0.2 else "." if y - row > 0.2 else "-"


def _between(first: int, last: int) -> range:
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def _joined(old: str | None, new: str) -> str:
    if old is None or old == new:
        return new
    return "X" if {old, new} == {"/", "\\"} else "+"


def _arrow(start: Place, end: Place) -> str:
    dx, dy = end[0] - start[0], end[1] - start[1]
    level = abs(dx) > 2.4 * abs(dy)
    return _ARROWS[(int(math.copysign(1, dx)), 0) if level else (0, int(math.copysign(1, dy)))]
