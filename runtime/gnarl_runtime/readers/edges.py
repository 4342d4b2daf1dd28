"""An edge list (`u v` or `u v weight` per line) goes in, a RawGraph comes out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Line, read_lines


def read_edge_list(path: Path) -> RawGraph:
    """Nodes are numbered in the order in which their names appear."""
    lines = [_split(line) for line in read_lines(path, ("#", "%"))]
    if not lines:
        raise InstanceError(f"{path}:1: found comments only; expected lines `u v` or `u v weight`")
    columns = len(lines[0].words)
    names: dict[str, int] = {}
    for line in lines:
        _verify_columns(line, lines[0], columns)
        for word in line.words[:2]:
            names.setdefault(word, len(names))
        if len(names) > MAX_NODES:
            raise line.error(f"more than {MAX_NODES:,} nodes; expected a smaller graph")
    ends = np.array([[names[line.words[0]], names[line.words[1]]] for line in lines], np.int64)
    weights = {WEIGHT: np.array([line.number(2) for line in lines])} if columns == 3 else {}
    return RawGraph(
        str(path), tuple(names), ends, edge_values=weights, spot=lambda k: lines[k].where
    )


def _split(line: Line) -> Line:
    """The same line with commas as spaces, as in CSV files."""
    return Line(line.where, tuple(" ".join(line.words).replace(",", " ").split()))


def _verify_columns(line: Line, first: Line, columns: int) -> None:
    found = len(line.words)
    if found not in (2, 3):
        raise line.error(f"found {found} words, expected `u v` or `u v weight`")
    if found != columns:
        other = "has a weight" if columns == 3 else "has no weight"
        raise line.error(f"found {found} words, but the first edge ({first.where}) {other}")
