"""Text of a spec in, positions out: `Source` holds one file, `Span` marks a piece of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_BYTES = 500_000
MAX_LINES = 5_000
MAX_WORDS = 50_000
MAX_NAME = 100
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


class Span(NamedTuple):
    """Half-open range of characters in one of the files of a spec (0 is the file itself)."""

    start: int
    end: int
    file: int = 0

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of the other."""
        return Span(self.start, other.end, self.file)


class Position(NamedTuple):
    """0-based line and character, as the Language Server Protocol counts them (UTF-16)."""

    line: int
    character: int


@dataclass(frozen=True)
class Source:
    """One spec file: its display name and its text with line ends normalised to \\n."""

    name: str
    text: str
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, char in enumerate(self.text) if char == "\n")
        object.__setattr__(self, "_starts", starts)

    @property
    def line_count(self) -> int:
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """0-based line that holds the character at `offset`."""
        return bisect_right(self._starts, offset) - 1

    def column_of(self, offset: int) -> int:
        """0-based column, in characters, of `offset` within its line."""
        return offset - self._starts[self.line_of(offset)]

    def line_start(self, line: int) -> int:
        """Offset of the first character of a line."""
        return self._starts[line]

    def line_text(self, line: int) -> str:
        end = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[line] : end]

    def position(self, offset: int) -> Position:
        line = self.line_of(offset)
        before = self.text[self._starts[line] : offset]
        return Position(line, len(before.encode("utf-16-le", "surrogatepass")) // 2)

    def snippet(self, span: Span) -> str:
        """The text under `span`, on one line."""
        return " ".join(self.text[span.start : span.end].split())


def normalise_text(raw: str) -> str:
    """Drop a byte-order mark and turn CRLF and CR into \\n, so that spans count one way."""
    text = raw.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # Halves of surrogate pairs can't be written to any file or terminal.
    return _HALF_CHARACTER.sub("\ufffd", text)
