"""A METIS file (.graph, .metis) goes in, a RawGraph comes out.

    N M [FORMAT [WEIGHTS]]      the header: nodes, edges, and which numbers follow
    …                           line k: the neighbours of node k, which count from 1

FORMAT has three digits: sizes of nodes, weights of nodes, weights of edges. Lines that start with
`%` are comments; an empty line is a node without neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gnarl_dsl.model.kinds import EDGE, NODE, Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Line, read_text

_FORMATS = ("000", "001", "010", "011", "100", "101", "110", "111")


@dataclass
class _Reading:
    """What the header says, and what was read so far."""

    header: Line
    nodes: int
    edges: int
    sizes: bool
    weights: int  # of each node
    weighted: bool  # edges
    node_numbers: list[list[float]] = field(default_factory=list)
    found: dict[tuple[int, int], tuple[float, Line]] = field(default_factory=dict)


def read_metis(path: Path) -> RawGraph:
    """The graph of a file; its nodes are called 1 to N."""
    lines = _lines(path)
    reading = _header(path, next((line for line in lines if line.words), None))
    rows = list(lines)
    while len(rows) > reading.nodes and not rows[-1].words:
        rows.pop()
    if len(rows) != reading.nodes:
        raise reading.header.error(
            f"the header promises {reading.nodes} nodes, found {len(rows)} lines; "
            "is the file cut short? (an empty line is a node without neighbours)"
        )
    for node, line in enumerate(rows):
        _read_node(reading, node, line)
    return _raw(path, reading)


def _lines(path: Path) -> Iterator[Line]:
    """All lines but comments, empty ones too."""
    for number, text in enumerate(read_text(path).splitlines(), 1):
        if not text.lstrip().startswith("%"):
            yield Line(path, number, tuple(text.split()))


def _header(path: Path, line: Line | None) -> _Reading:
    if line is None:
        raise InstanceError(f"{path}:1: found comments only; expected `N M` and a line per node")
    if len(line.words) not in (2, 3, 4):
        raise line.error(f"found {len(line.words)} words, expected `N M`, `N M FORMAT` or more")
    nodes, edges = line.whole(0, "the number of nodes", 1), line.whole(1, "the number of edges")
    if nodes > MAX_NODES:
        raise line.error(f"{nodes:,} nodes, expected at most {MAX_NODES:,}")
    form = (line.words[2] if len(line.words) > 2 else "").zfill(3)
    if form not in _FORMATS:
        raise line.error(f"the format is `{form[:40]}`, expected one of {', '.join(_FORMATS)}")
    sizes, weighed, weighted = (digit == "1" for digit in form)
    weights = line.whole(3, "the number of weights", 1) if len(line.words) > 3 else int(weighed)
    return _Reading(line, nodes, edges, sizes, weights if weighed else 0, weighted)


def _read_node(reading: _Reading, node: int, line: Line) -> None:
    """A node's own numbers, and its edges, of which each stands at both of its ends."""
    own, step = int(reading.sizes) + reading.weights, 1 + int(reading.weighted)
    if len(line.words) < own or (len(line.words) - own) % step:
        each = "a neighbour and a weight for each edge" if reading.weighted else "its neighbours"
        raise line.error(f"found {len(line.words)} words, expected {own} numbers and {each}")
    reading.node_numbers.append([line.number(k) for k in range(own)])
    for k in range(own, len(line.words), step):
        other = line.whole(k, "the neighbour")
        if not 1 <= other <= reading.nodes:
            count = "; nodes count from 1" if other == 0 else ""
            raise line.error(f"there is no node {other}, expected 1 to {reading.nodes}{count}")
        weight = line.number(k + 1) if reading.weighted else 1.0
        if (node, other - 1) in reading.found:
            raise line.error(f"{node + 1} - {other} was given before")
        reading.found[node, other - 1] = weight, line


def _raw(path: Path, reading: _Reading) -> RawGraph:
    ends, weights, lines = [], [], []
    for (u, v), (weight, line) in reading.found.items():
        back = reading.found.get((v, u))
        if back is None:
            raise line.error(f"{v + 1} is a neighbour of {u + 1}, but the other way it is not")
        if back[0] != weight:
            raise line.error(f"{u + 1} - {v + 1} weighs {weight:g}, but the other way {back[0]:g}")
        if u <= v:
            ends.append((u, v))
            weights.append(weight)
            lines.append(line)
    if len(ends) != reading.edges:
        raise reading.header.error(f"the header promises {reading.edges} edges, found {len(ends)}")
    return RawGraph(
        str(path),
        tuple(str(v + 1) for v in range(reading.nodes)),
        np.array(ends, np.int64).reshape(-1, 2),
        directed=False,
        edge_values={WEIGHT: weights} if reading.weighted else {},
        node_values=_columns(reading),
        spot=lambda k: lines[k].where,
        form=_form,
    )


def _columns(reading: _Reading) -> dict[str, list[float]]:
    """The numbers of nodes by name: `size`, `weight`, and of more weights `weight2` and so on."""
    weights = [WEIGHT, *(f"{WEIGHT}{k}" for k in range(2, reading.weights + 1))]
    names = [*(["size"] if reading.sizes else []), *weights[: reading.weights]]
    return {name: [row[k] for row in reading.node_numbers] for k, name in enumerate(names)}


def _form(place: Place, name: str, value: str) -> str:
    """Weights have no names here; other values have no place."""
    if value != "0.5" or place not in (NODE, EDGE):
        return ""
    told = {
        NODE: ("010", "a weight first on each line"),
        EDGE: ("001", "one behind each neighbour"),
    }
    return f"the format {told[place][0]} in the header, and {told[place][1]}"
