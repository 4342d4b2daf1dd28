"""A DIMACS or PACE file (.gr, .col) goes in, a RawGraph comes out.

    p tw N M      then M lines `u v`          PACE, undirected
    p edge N M    then M lines `e u v [w]`    DIMACS colouring and cliques, undirected
    p sp N M      then M lines `a u v w`      DIMACS shortest paths, directed

Nodes are 1..N. Lines `c …` are comments, `n v w` gives a node a weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gnarl_dsl.model.kinds import EDGE, NODE, Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Line, read_lines

# What an edge line starts with, by the word after `p`.
_EDGE_MARK = {"tw": "", "cep": "", "vc": "", "ds": "", "edge": "e", "col": "e", "sp": "a"}


@dataclass
class _Reading:
    """What was read so far."""

    header: Line
    mark: str
    nodes: int
    edges: int
    spots: list[int] = field(default_factory=list)  # the line of each edge
    ends: list[tuple[int, int]] = field(default_factory=list)
    weights: list[float | None] = field(default_factory=list)
    node_weights: dict[int, float] = field(default_factory=dict)


def read_dimacs(path: Path) -> RawGraph:
    """The graph of a file; its nodes are called 1 to N."""
    lines = _content(path)
    reading = _header(path, next(lines, None))
    for line in lines:
        _read_line(reading, line)
    found = len(reading.ends)
    if found != reading.edges:
        raise reading.header.error(
            f"the header promises {reading.edges} edges, found {found}; is the file cut short?"
        )
    return _raw(path, reading)


def _content(path: Path) -> Iterator[Line]:
    return (line for line in read_lines(path) if line.words[0] != "c")


def _header(path: Path, line: Line | None) -> _Reading:
    if line is None:
        raise InstanceError(f"{path}:1: found comments only; expected `p tw N M` and edges")
    if line.words[0] != "p":
        raise line.error("expected the header first: `p tw N M`, `p edge N M` or `p sp N M`")
    if len(line.words) != 4 or line.words[1] not in _EDGE_MARK:
        known = ", ".join(_EDGE_MARK)
        raise line.error(f"expected `p KIND N M` with KIND one of {known}")
    nodes, edges = line.whole(2, "the number of nodes", 1), line.whole(3, "the number of edges")
    if nodes > MAX_NODES:
        raise line.error(f"{nodes:,} nodes, expected at most {MAX_NODES:,}")
    return _Reading(line, _EDGE_MARK[line.words[1]], nodes, edges)


def _read_line(reading: _Reading, line: Line) -> None:
    first = line.words[0]
    if first == "p":
        raise line.error(f"a second header; the first is at {reading.header.where}")
    if first == "n" and reading.mark == "e":
        if len(line.words) != 3:
            raise line.error("expected `n NODE WEIGHT`")
        reading.node_weights[_node(reading, line, 1)] = line.number(2)
        return
    start = 1 if reading.mark else 0
    if reading.mark and first != reading.mark:
        raise line.error(f"found `{first}`, expected `{reading.mark} u v`")
    if len(line.words) not in (start + 2, start + 3):
        form = f"{reading.mark} u v".strip()
        raise line.error(f"found {len(line.words)} words, expected `{form}` or `{form} weight`")
    if len(reading.ends) == reading.edges:
        raise line.error(f"more edges than the header promises ({reading.edges})")
    weight = line.number(start + 2) if len(line.words) == start + 3 else None
    reading.ends.append((_node(reading, line, start), _node(reading, line, start + 1)))
    reading.weights.append(weight)
    reading.spots.append(line.number_in_file)


def _node(reading: _Reading, line: Line, position: int) -> int:
    """The position of a node, which the file counts from 1."""
    node = line.whole(position, "the node")
    if not 1 <= node <= reading.nodes:
        count = "; nodes count from 1" if node == 0 else ""
        raise line.error(f"there is no node {node}, expected 1 to {reading.nodes}{count}")
    return node - 1


def _raw(path: Path, reading: _Reading) -> RawGraph:
    weighted = any(weight is not None for weight in reading.weights)
    node_weights: dict[str, list[float | None]] = {}
    if reading.node_weights:
        node_weights = {WEIGHT: [reading.node_weights.get(v) for v in range(reading.nodes)]}
    return RawGraph(
        str(path),
        tuple(str(v + 1) for v in range(reading.nodes)),
        np.array(reading.ends, np.int64).reshape(-1, 2),
        directed=reading.mark == "a",
        edge_values={WEIGHT: reading.weights} if weighted else {},
        node_values=node_weights,
        spot=lambda k: f"{path}:{reading.spots[k]}",
        form=lambda place, name, value: _form(reading.mark, place, value),
    )


def _form(mark: str, place: Place, value: str) -> str:
    """Weights have no names here; other values have no place."""
    if value != "0.5" or (place is NODE and mark != "e"):
        return ""
    lines = {EDGE: f"`{mark} 1 2 0.5`".replace("` ", "`"), NODE: "`n 1 0.5`"}
    return f"lines such as {lines[place]}" if place in lines else ""
