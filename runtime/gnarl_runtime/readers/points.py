"""A table of points (a header with `x` and `y`, a line per node) goes in, a RawGraph comes out."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import RawGraph
from gnarl_runtime.readers.text import Line, read_lines

_NAMES = ("id", "name", "node")  # of a column with what the nodes are called
_COMMENTS = ("#", "%")


def is_table(path: Path) -> bool:
    """Whether the first line is a header with the columns `x` and `y`."""
    first = next(iter(islice(read_lines(path, _COMMENTS), 1)), None)
    return first is not None and {"x", "y"} <= set(_columns(first))


def read_points(path: Path) -> RawGraph:
    """Nodes without edges; every column but their names is an attribute of them."""
    header, *lines = read_lines(path, _COMMENTS)
    names = _columns(header)
    for name in names:
        if names.count(name) > 1:
            raise header.error(f"two columns are called `{name}`")
    if len(lines) > MAX_NODES:
        raise InstanceError(f"{path}: {len(lines):,} nodes, expected at most {MAX_NODES:,}")
    rows = [_row(line, names) for line in lines]
    called = next((names.index(name) for name in _NAMES if name in names), None)
    labels = tuple(range(len(rows))) if called is None else tuple(row[called] for row in rows)
    if len(set(labels)) < len(labels):
        raise InstanceError(f"{path}: two nodes have the same name; expected different ones")
    numbers = {
        name: [line_row.number(k) for line_row in map(_split, lines)]
        for k, name in enumerate(names)
        if k != called
    }
    return RawGraph(str(path), labels, np.zeros((0, 2), np.int64), node_values=numbers)


def _row(line: Line, names: tuple[str, ...]) -> tuple[str, ...]:
    found = _columns(line)
    if len(found) != len(names):
        raise line.error(f"found {len(found)} words, expected {len(names)}: {', '.join(names)}")
    return found


def _split(line: Line) -> Line:
    return Line(line.path, line.number_in_file, _columns(line))


def _columns(line: Line) -> tuple[str, ...]:
    return tuple(" ".join(line.words).replace(",", " ").split())
