"""A text file goes in, its lines come out, with errors that name file and line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.readers.values import parse_number, parse_whole

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
    for number, text in enumerate(io.StringIO(read_text(path), newline="\n"), 1):
        stripped = text.strip()
        if stripped and not stripped.startswith(comments):
            yield Line(path, number, tuple(stripped.split()))
