"""An edge list goes in, a RawGraph comes out.

Lines `u v` or `u v weight`; or a header that calls two columns `source` and `target` (or as in
`_ENDS`), and every other column is an attribute of edges.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnarl_dsl.model.kinds import EDGE, Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Column, Line, read_table
from gnarl_runtime.readers.values import is_number

_ENDS = (
    *(("source", "target"), ("from", "to"), ("u", "v"), ("src", "dst"), ("start", "end")),
    *(("node1", "node2"), ("head", "tail")),
)
_HEADER = (
    "if the first line is a header, two of its columns must be called source and target "
    "(or x and y in a table of points)"
)


class _Columns(NamedTuple):
    """Where the ends of an edge are, and what else a line says, by name."""

    ends: tuple[int, int]
    others: dict[str, Column]
    words: int
    named: bool


def read_edge_list(path: Path) -> RawGraph:
    """Nodes are numbered in the order in which their names appear.

    A file may be long: what is kept of a line is a few numbers.
    """
    lines = read_table(path)
    first = next(lines, None)
    if first is None:
        raise InstanceError(f"{path}:1: found comments only; expected lines `u v` or `u v weight`")
    columns = _header(first)
    if columns is not None:
        names, ends, spots = _read(lines, columns, first)
        if len(first.words) == 2 and not names.keys().isdisjoint(first.words):
            columns, lines = None, islice(read_table(path), 1, None)  # nodes are called u and v
    if columns is None:
        columns = _nameless(first)
        names, ends, spots = _read(chain([first], lines), columns, first)
        _verify_no_header(first, names)
    return RawGraph(
        str(path),
        tuple(names),
        np.array(ends, np.int64).reshape(-1, 2),
        edge_values={name: column.values() for name, column in columns.others.items()},
        spot=lambda k: f"{path}:{spots[k]}",
        form=_form,
    )


def _read(
    lines: Iterator[Line], columns: _Columns, first: Line
) -> tuple[dict[str, int], array[int], array[int]]:
    """The nodes by name, two of them per edge, and the line of each edge."""
    names: dict[str, int] = {}
    ends, spots = array("q"), array("q")
    for line in lines:
        _verify_columns(line, first, columns)
        for position in columns.ends:
            word = line.words[position]
            if not word:
                raise line.error("an edge without a name at one of its ends")
            ends.append(names.setdefault(word, len(names)))
        if len(names) > MAX_NODES:
            raise line.error(f"more than {MAX_NODES:,} nodes; expected a smaller graph")
        spots.append(line.number_in_file)
        for column in columns.others.values():
            column.add(line)
    return names, ends, spots


# Columns


def _header(line: Line) -> _Columns | None:
    """What the first line calls the columns, if it names the two ends of an edge."""
    names = [word.lower() for word in line.words]
    ends = next((pair for pair in _ENDS if set(pair) <= set(names)), None)
    if ends is None or any(map(is_number, names)):
        return None
    for name in line.words:
        if line.words.count(name) > 1:
            raise line.error(f"two columns are called `{name}`")
    called = {
        WEIGHT if names[k] == WEIGHT else name: Column(k)
        for k, name in enumerate(line.words)
        if names[k] not in ends and name
    }
    source, target = (names.index(end) for end in ends)
    return _Columns((source, target), called, len(names), named=True)


def _nameless(first: Line) -> _Columns:
    """Two ends and perhaps a weight."""
    count = len(first.words)
    if count == 3 and first.words[2] and not is_number(first.words[2]):
        word = first.words[2]
        raise first.error(f"`{word[:40]}` is not a number; expected `u v weight`; {_HEADER}")
    return _Columns((0, 1), {WEIGHT: Column(2)} if count == 3 else {}, count, named=False)


def _verify_no_header(first: Line, names: dict[str, int]) -> None:
    """Two words in a file of numbers are what somebody calls the columns."""
    named = [name for name in names if not is_number(name)]
    if len(names) > 2 and named == list(first.words[:2]):
        ends = ",".join(named)
        raise first.error(f"`{ends}` names no nodes of the others' kind; {_HEADER}")


def _verify_columns(line: Line, first: Line, columns: _Columns) -> None:
    found = len(line.words)
    if columns.named and found != columns.words:
        names = ", ".join(first.words)
        raise line.error(f"found {found} words, expected {columns.words}: {names}")
    if found not in (2, 3) and not columns.named:
        raise line.error(f"found {found} words, expected `u v` or `u v weight`")
    if found != columns.words:
        other = "has a weight" if columns.words == 3 else "has no weight"
        raise line.error(f"found {found} words, but the first edge ({first.where}) {other}")


def _form(place: Place, name: str, value: str) -> str:
    if place is not EDGE:
        return ""
    return f"a header and a column of that name, as in `source,target,{name}` and `a,b,{value}`"
