"""Offsets of a text in, positions of the Language Server Protocol out, and back."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from gnarl_dsl.report.source import Source, Span

# How many units of the client's encoding a piece of text has.
Measure = Callable[[str], int]


class Positions:
    """Translates for one text; the client counts UTF-16 units unless it asked for others."""

    def __init__(self, source: Source, measure: Measure) -> None:
        self.source = source
        self.measure = measure

    def position(self, offset: int) -> types.Position:
        offset = min(offset, len(self.source.text))
        line, column = self.source.line_of(offset), self.source.column_of(offset)
        return types.Position(line, self.measure(self.source.line_text(line)[:column]))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """Positions beyond a line or the text count as its end."""
        if position.line >= self.source.line_count:
            return len(self.source.text)
        text = self.source.line_text(position.line)
        column, used = 0, 0
        while column < len(text) and used < position.character:
            used += self.measure(text[column])
            column += 1
        return self.source.line_start(position.line) + column

    def everything(self) -> types.Range:
        return types.Range(types.Position(0, 0), self.position(len(self.source.text)))
