"""A text file goes in, its lines and columns come out, with errors that name file and line."""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.readers.values import is_number, parse_number, parse_whole

MAX_BYTES = 64 << 20  # what is read of it takes some ten times as much


@dataclass(frozen=True)
class Line:
    """One line that says something: where it is, and its words."""

    path: Path
    number_in_file: int
    words: tuple[str, ...]

    @property
    def where(self) -> str:
        return f"{self.path}:{self.number_in_file}"

    def error(self, what: str) -> InstanceError:
        return InstanceError(f"{self.where}: {what}")

    def number(self, position: int) -> float:
        return parse_number(self.words[position], self.where)

    def whole(self, position: int, what: str, least: int = 0) -> int:
        return parse_whole(self.words[position], self.where, what, least)


def read_bytes(path: Path) -> bytes:
    """The content of a file that is not empty and not huge."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InstanceError(f"{path}: {size:,} bytes, expected at most {MAX_BYTES:,}")
    content = path.read_bytes()
    if not content.strip():
        raise InstanceError(f"{path}:1: the file is empty; expected a graph")
    return content


def read_text(path: Path) -> str:
    """The content of a file as text."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InstanceError(f"{path}:{line}: this is not UTF-8 text; convert the file") from error


def read_lines(path: Path, comments: tuple[str, ...] = ()) -> Iterator[Line]:
    """The lines that are neither empty nor a comment."""
    for number, text in _said(path, comments):
        yield Line(path, number, tuple(text.split()))


def _said(path: Path, comments: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for number, text in enumerate(io.StringIO(read_text(path), newline="\n"), 1):
        stripped = text.strip()
        if stripped and not stripped.startswith(comments):
            yield number, text.rstrip("\r\n")


# Tables

COMMENTS = ("#", "%")
_TABLES = (".csv", ".tsv")  # where names may hold blanks


def read_table(path: Path) -> Iterator[Line]:
    """Lines of cells. What parts them is what the first line of a table has: `;`, tabs or commas;
    elsewhere, blanks and all of these."""
    separator: str | None = None
    for k, (number, text) in enumerate(_said(path, COMMENTS)):
        if k == 0 and path.suffix.lower() in _TABLES:
            separator = next((sign for sign in ";\t," if sign in text), None)
        yield Line(path, number, _cells(text, separator, f"{path}:{number}"))


def _cells(text: str, separator: str | None, where: str) -> tuple[str, ...]:
    if separator is None:
        return tuple(text.replace(",", " ").replace(";", " ").split())
    if '"' not in text:
        return tuple(cell.strip() for cell in text.split(separator))
    try:
        rows = list(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InstanceError(f"{where}: {error}; expected quotes to close on their line") from error
    return tuple(cell.strip() for cell in rows[0])


@dataclass
class Column:
    """The cells of one column: numbers if the first is one, else texts; nothing where empty."""

    position: int
    numbers: array[float] = field(default_factory=lambda: array("d"))  # a long file stays small
    texts: dict[int, str] = field(default_factory=dict)
    textual: bool | None = None  # nobody knows before the first cell that is not empty
    gaps: bool = False

    def add(self, line: Line) -> None:
        word = line.words[self.position]
        if word and self.textual is None:
            self.textual = not is_number(word)
        if word and self.textual:
            self.texts[len(self.numbers)] = word
        self.gaps |= not word
        number = line.number(self.position) if word and not self.textual else math.nan
        self.numbers.append(number)

    def values(self) -> Sequence[Any] | NDArray[np.float64]:
        """As a reader hands them on."""
        rows = range(len(self.numbers))
        if self.textual:
            known = {row: _TRUTHS.get(text.lower()) for row, text in self.texts.items()}
            texts = self.texts if None in known.values() else known
            return [texts.get(row) for row in rows]
        if self.gaps:
            return [None if math.isnan(x) else x for x in self.numbers]
        return np.array(self.numbers)


_TRUTHS = {"true": True, "false": False}
