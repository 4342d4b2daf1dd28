"""A table of points (a header with `x` and `y`, a line per node) goes in, a RawGraph comes out."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from gnarl_dsl.model.kinds import GRAPH, NODE, Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import RawGraph
from gnarl_runtime.readers.text import Column, Line, read_table

_NAMES = ("id", "name", "node")  # of a column with what the nodes are called


def is_table(path: Path) -> bool:
    """Whether the first line is a header with the columns `x` and `y`."""
    first = next(iter(islice(read_table(path), 1)), None)
    return first is not None and {"x", "y"} <= {word.lower() for word in first.words}


def read_points(path: Path) -> RawGraph:
    """Nodes without edges; every column but their names is an attribute of them."""
    header, *lines = read_table(path)
    names = tuple(word.lower() if word in "XY" else word for word in header.words)
    for name in names:
        if names.count(name) > 1:
            raise header.error(f"two columns are called `{name}`")
    if len(lines) > MAX_NODES:
        raise InstanceError(f"{path}: {len(lines):,} nodes, expected at most {MAX_NODES:,}")
    called = next((names.index(name) for name in _NAMES if name in names), None)
    columns = {name: Column(k) for k, name in enumerate(names) if k != called}
    for line in lines:
        _verify_count(line, names)
        for column in columns.values():
            column.add(line)
    labels: tuple[int | str, ...] = tuple(range(len(lines)))
    if called is not None:
        labels = tuple(line.words[called] for line in lines)
    if len(set(labels)) < len(labels):
        raise InstanceError(f"{path}: two nodes have the same name; expected different ones")
    return RawGraph(
        str(path),
        labels,
        np.zeros((0, 2), np.int64),
        node_values={name: column.values() for name, column in columns.items()},
        form=_form,
    )


def _verify_count(line: Line, names: tuple[str, ...]) -> None:
    found = len(line.words)
    if found != len(names):
        raise line.error(f"found {found} words, expected {len(names)}: {', '.join(names)}")


def _form(place: Place, name: str, value: str) -> str:
    if place is NODE:
        return f"a column `{name}` with values such as {value}"
    if place is GRAPH:
        return f"a column `{name}` with 1 at the node that is meant and 0 at all others"
    return ""
