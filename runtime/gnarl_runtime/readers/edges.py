"""An edge list (`u v` or `u v weight` per line) goes in, a RawGraph comes out."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np

from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Line, read_lines


def read_edge_list(path: Path) -> RawGraph:
    """Nodes are numbered in the order in which their names appear.

    A file may be long: what is kept of a line is three numbers.
    """
    names: dict[str, int] = {}
    ends, weights, spots = array("q"), array("d"), array("q")
    first: Line | None = None
    for line in map(_split, read_lines(path, ("#", "%"))):
        first = line if first is None else first
        _verify_columns(line, first)
        for word in line.words[:2]:
            ends.append(names.setdefault(word, len(names)))
        if len(names) > MAX_NODES:
            raise line.error(f"more than {MAX_NODES:,} nodes; expected a smaller graph")
        spots.append(line.number_in_file)
        if len(line.words) == 3:
            weights.append(line.number(2))
    if first is None:
        raise InstanceError(f"{path}:1: found comments only; expected lines `u v` or `u v weight`")
    return RawGraph(
        str(path),
        tuple(names),
        np.array(ends, np.int64).reshape(-1, 2),
        edge_values={WEIGHT: np.array(weights)} if weights else {},
        spot=lambda k: f"{path}:{spots[k]}",
    )


def _split(line: Line) -> Line:
    """The same line with commas as spaces, as in CSV files."""
    words = tuple(" ".join(line.words).replace(",", " ").split())
    return Line(line.path, line.number_in_file, words)


def _verify_columns(line: Line, first: Line) -> None:
    found, columns = len(line.words), len(first.words)
    if found not in (2, 3):
        raise line.error(f"found {found} words, expected `u v` or `u v weight`")
    if found != columns:
        other = "has a weight" if columns == 3 else "has no weight"
        raise line.error(f"found {found} words, but the first edge ({first.where}) {other}")
