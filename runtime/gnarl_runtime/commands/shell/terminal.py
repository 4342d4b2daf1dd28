"""A standard stream in, one that shows any text out: the one way from a command to a terminal.

What a command prints has names in it that others chose: of nodes, attributes, features and files.
While a command runs, its standard streams are these: what could steer a terminal is replaced, and
every sign is one that the stream's encoding has. Colours of our own go through `styled`, bars that
move the cursor through `unguarded`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from gnarl_dsl.report.printable import printable_lines

_PLAIN_SIGNS = str.maketrans(
    {
        "ψ": "psi",
        "∅": "none",
        "∀": "for",
        "∈": "in",
        "²": "^2",
        "─": "-",
        "·": "*",
        "→": "->",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "±": "+-",
        "…": "...",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "\ufffd": "?",
    }
)
_STYLE = re.compile("(\x1b\\[[0-9;]*m)")


class Shown:
    """A stream of text; None, if whoever started us has closed it, takes everything in."""

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        return self._put(printable_lines(text), len(text))

    def styled(self, text: str) -> int:
        """Write text whose colours are ours."""
        parts = _STYLE.split(text)
        shown = [part if k % 2 else printable_lines(part) for k, part in enumerate(parts)]
        return self._put("".join(shown), len(text))

    def _put(self, text: str, length: int) -> int:
        if self.stream is not None:
            self.stream.write(encodable(text, self.stream.encoding))
        return length

    def flush(self) -> None:
        if self.stream is not None:
            self.stream.flush()

    def isatty(self) -> bool:
        return self.stream is not None and self.stream.isatty()


def encodable(text: str, encoding: str | None) -> str:
    """The text, with plainer signs for those that the encoding has no code for."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN_SIGNS)
        return plain.encode(encoding, "backslashreplace").decode(encoding)
    return text


@contextmanager
def shown_streams() -> Iterator[None]:
    """Everything that is printed within goes through one place."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _shown(stream)) for stream in before)
    try:
        yield
    finally:
        for stream, own in zip(before, (sys.stdout, sys.stderr), strict=True):
            if stream is not own:
                _flush(stream)
        sys.stdout, sys.stderr = before


def _shown(stream: TextIO | Shown | None) -> Shown:
    return stream if isinstance(stream, Shown) else Shown(stream)


def _flush(stream: TextIO | None) -> None:
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):  # nobody reads it any more
        pass


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for those who clean what they write."""
    shown: object = stream
    return (shown.stream or stream) if isinstance(shown, Shown) else stream
