"""A TSPLIB file (.tsp, .atsp) goes in, a complete RawGraph with distances comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model.kinds import Place
from gnarl_runtime.instances.instance_checks import MAX_NODES, InstanceError
from gnarl_runtime.readers.coordinates import POINTS
from gnarl_runtime.readers.raw import WEIGHT, RawGraph
from gnarl_runtime.readers.text import Line, read_lines
from gnarl_runtime.readers.values import parse_number, parse_whole

Matrix = NDArray[np.float64]

_SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION", "TOUR_SECTION")


def _euclidean(x: Matrix, y: Matrix) -> Matrix:
    return np.sqrt(x * x + y * y)


_NORMS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "EUC_2D": _euclidean,
    "CEIL_2D": lambda x, y: np.ceil(_euclidean(x, y)),
    "MAN_2D": lambda x, y: abs(x) + abs(y),
    "MAX_2D": lambda x, y: np.maximum(abs(x), abs(y)),
}


_STRAIGHT = ("EUC_2D", "CEIL_2D")


# Where the numbers of an explicit matrix go: rows of the upper or lower half, or all of it.
class _Shape(NamedTuple):
    count: Callable[[int], int]
    cells: Callable[[int], tuple[NDArray[np.intp], ...]]


_SHAPES: dict[str, _Shape] = {
    "FULL_MATRIX": _Shape(lambda n: n * n, lambda n: np.nonzero(np.ones((n, n)))),
    "UPPER_ROW": _Shape(lambda n: n * (n - 1) // 2, lambda n: np.triu_indices(n, 1)),
    "LOWER_ROW": _Shape(lambda n: n * (n - 1) // 2, lambda n: np.tril_indices(n, -1)),
    "UPPER_DIAG_ROW": _Shape(lambda n: n * (n + 1) // 2, np.triu_indices),
    "LOWER_DIAG_ROW": _Shape(lambda n: n * (n + 1) // 2, np.tril_indices),
}


def read_tsplib(path: Path, rounded: bool = False) -> RawGraph:
    """Distances between all nodes; `rounded`: to whole numbers, as TSPLIB's optima have them."""
    return graph_of(TsplibFile(path), rounded)


def graph_of(file: TsplibFile, rounded: bool) -> RawGraph:
    kind = file.field("EDGE_WEIGHT_TYPE", (*_NORMS, "EXPLICIT"))
    matrix = file.explicit() if kind == "EXPLICIT" else file.distances(_NORMS[kind])
    # Points stand for their distances where these are straight, if not rounded.
    points = {POINTS: file.places()} if kind in _STRAIGHT else {}
    if rounded and kind != "EXPLICIT":
        matrix = np.floor(matrix + 0.5)
    directed = "TYPE" in file.fields and file.fields["TYPE"][1] == "ATSP"
    n = len(matrix)
    u, v = np.nonzero(~np.eye(n, dtype=np.bool_)) if directed else np.triu_indices(n, 1)
    if not directed and not np.array_equal(matrix, matrix.T):
        a, b = np.argwhere(matrix != matrix.T)[0]
        raise InstanceError(
            f"{file.path}: the distance from {a + 1} to {b + 1} is {matrix[a, b]:g}, but back it "
            f"is {matrix[b, a]:g}; expected a symmetric matrix (TYPE: ATSP allows others)"
        )
    labels = tuple(str(k + 1) for k in range(n))
    ends, weights = np.stack([u, v], 1), {WEIGHT: matrix[u, v]}
    return RawGraph(str(file.path), labels, ends, directed, weights, points, form=_form)


def _form(place: Place, name: str, value: str) -> str:
    """Distances are all that a TSPLIB file says, and it says all of them."""
    return ""


class TsplibFile:
    """Header fields by name, and the lines of every section."""

    def __init__(self, path: Path, more: Sequence[str] = ()) -> None:
        self.path = path
        self.fields: dict[str, tuple[Line, str]] = {}
        self.sections: dict[str, list[Line]] = {}
        known = (*_SECTIONS, *more)
        section: list[Line] | None = None
        for line in read_lines(path):
            word = line.words[0].rstrip(":")
            if word == "EOF":
                break
            if word in known:
                section = self.sections.setdefault(word, [])
            elif ":" in " ".join(line.words) and not word[:1].isdigit():
                section = None
                name, value = " ".join(line.words).split(":", 1)
                self.fields[name.strip()] = (line, value.strip())
            elif section is not None:
                section.append(line)
            else:
                raise line.error("expected `NAME: VALUE` or a section such as NODE_COORD_SECTION")
        self.n = self.dimension()

    def dimension(self) -> int:
        if "DIMENSION" not in self.fields:
            raise InstanceError(f"{self.path}:1: the header has no `DIMENSION: N`")
        line, value = self.fields["DIMENSION"]
        n = parse_whole(value, line.where, "DIMENSION", 1)
        if n > MAX_NODES:
            raise line.error(f"{n:,} nodes, expected at most {MAX_NODES:,}")
        return n

    def field(self, name: str, known: tuple[str, ...]) -> str:
        """A header field that must have one of some values."""
        value = self.fields[name][1] if name in self.fields else ""
        if value not in known:
            found = f"`{value}`" if value else "nothing"
            where = self.fields[name][0].where if name in self.fields else f"{self.path}:1"
            raise InstanceError(f"{where}: {name} is {found}, expected one of {', '.join(known)}")
        return value

    def section(self, name: str) -> list[Line]:
        if name not in self.sections:
            raise InstanceError(f"{self.path}:1: there is no {name}")
        return self.sections[name]

    def distances(self, norm: Callable[[Matrix, Matrix], Matrix]) -> Matrix:
        """Distances between the coordinates."""
        x, y = self.places().T
        return norm(x[:, None] - x, y[:, None] - y)

    def places(self) -> Matrix:
        """The coordinates (n, 2), which stand in any order."""
        lines = self.section("NODE_COORD_SECTION")
        places = np.full((self.n, 2), np.nan)
        for line in lines:
            if len(line.words) != 3:
                raise line.error(f"found {len(line.words)} words, expected `NODE X Y`")
            node = line.whole(0, "the node")
            if not 1 <= node <= self.n:
                raise line.error(f"there is no node {node}, expected 1 to {self.n}")
            if not np.isnan(places[node - 1, 0]):
                raise line.error(f"node {node} was given before")
            places[node - 1] = line.number(1), line.number(2)
        if len(lines) != self.n:
            raise InstanceError(
                f"{self.path}: found coordinates of {len(lines)} nodes, DIMENSION says {self.n}; "
                "is the file cut short?"
            )
        return places

    def explicit(self) -> Matrix:
        """The matrix in the file: its numbers run on over the lines."""
        shape = _SHAPES[self.field("EDGE_WEIGHT_FORMAT", tuple(_SHAPES))]
        lines = self.section("EDGE_WEIGHT_SECTION")
        # Counted before anything of that size is made: the header may promise what is not there.
        found, expected = sum(len(line.words) for line in lines), shape.count(self.n)
        if found != expected:
            where = lines[-1].where if lines else f"{self.path}:1"
            raise InstanceError(
                f"{where}: found {found} numbers, expected {expected} for {self.n} nodes; "
                "is the file cut short?"
            )
        numbers = [parse_number(word, line.where) for line in lines for word in line.words]
        rows, columns = shape.cells(self.n)
        matrix = np.zeros((self.n, self.n))
        matrix[rows, columns] = numbers
        if self.fields["EDGE_WEIGHT_FORMAT"][1] != "FULL_MATRIX":
            matrix[columns, rows] = numbers
        return matrix
