"""Source text in, tokens out: words, numbers, strings and signs, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.source import Source, Span

# What a word or sign may look like. Which words are keywords is the grammar's business.
_TOKEN = re.compile(
    r"""
      (?P<space>   [ ]+ )
    | (?P<newline> \n )
    | (?P<tab>     \t )
    | (?P<comment> \#[^\n]* )
    | (?P<name>    [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number>  \d+ (?:\.\d+)? (?:[eE][+-]?\d+)? )
    | (?P<string>  "(?: \\. | [^"\\\n] | \n(?=[ \t\n]) )*" )
    | (?P<open_string> " )
    | (?P<sign>    := | == | != | <= | >= | ~= | \.\. | [-+*/<>=~:|,(){}\[\]] )
    """,
    re.VERBOSE,
)

_OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Word:
    """One token before layout; `kind` is name, number, string or sign."""

    kind: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, kept for the formatter; `own_line` if nothing stands before it."""

    text: str
    span: Span
    own_line: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One physical line with at least one word: its indentation and its words."""

    indent: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    lines: tuple[Line, ...]
    comments: tuple[Comment, ...]


class _Scanner:
    def __init__(self, source: Source, file: int, found: Collector) -> None:
        self.source, self.text, self.file, self.found = source, source.text, file, found
        self.lines: list[Line] = []
        self.comments: list[Comment] = []
        self.words: list[Word] = []
        self.tab_reported = False

    def run(self) -> Scan:
        offset = 0
        while offset < len(self.text):
            match = _TOKEN.match(self.text, offset)
            offset = self.stray_character(offset) if match is None else self.take(match)
        self.end_line()
        return Scan(tuple(self.lines), tuple(self.comments))

    def take(self, match: re.Match[str]) -> int:
        kind = str(match.lastgroup)
        span = Span(match.start(), match.end(), self.file)
        if kind == "newline":
            self.end_line()
        elif kind == "comment":
            self.comments.append(Comment(match.group().rstrip(), span, not self.words))
        elif kind == "tab":
            self.tab(span)
        elif kind == "open_string":
            return self.open_string(match.start())
        elif kind != "space":
            self.words.append(Word(kind, match.group(), span))
        return match.end()

    def end_line(self) -> None:
        if self.words:
            indent = self.source.column_of(self.words[0].span.start)
            self.lines.append(Line(indent, tuple(self.words)))
            self.words = []

    def tab(self, span: Span) -> None:
        """A tab between words is a space; in front of a line its width is anyone's guess."""
        if not self.words and not self.tab_reported and self.line_has_words(span.end):
            self.tab_reported = True
            self.found.add("GN003", span)

    def line_has_words(self, offset: int) -> bool:
        rest = self.source.line_text(self.source.line_of(offset)).lstrip()
        return bool(rest) and not rest.startswith("#")

    def open_string(self, start: int) -> int:
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        self.found.add("GN005", Span(start, end, self.file))
        self.words.append(Word("string", self.text[start:end] + '"', Span(start, end, self.file)))
        return end

    def stray_character(self, offset: int) -> int:
        """Report a run of letters or signs that no token can start with, once."""
        end = offset + 1
        while end < len(self.text) and self.text[end].isalnum() and self.text[offset].isalnum():
            end += 1
        char = self.text[offset]
        span = Span(offset, end, self.file)
        if char.isalpha():
            self.found.add("GN019", span, text=self.text[offset:end])
        else:
            shown = char if char.isprintable() else f"U+{ord(char):04X}"
            self.found.add("GN002", span, char=shown, fix=_CHARACTER_FIXES.get(char))
        self.words.append(Word("bad", self.text[offset:end], span))
        return end


_CHARACTER_FIXES = {
    "'": 'Strings use double quotes: "like this".',
    ";": "A line end is enough; no `;` is needed.",
    "&": "Write `and`.",
    "!": "Write `not`, or `!=` for `is not equal`.",
    "%": "There is no remainder operator.",
    "^": "There is no power operator; multiply instead.",
    "≤": "Write `<=`.",
    "≥": "Write `>=`.",
    "≠": "Write `!=`.",
    "∈": "Write `in`.",
    "∃": "Write `exists`.",
    "∀": "Write `forall`.",
    "−": "This is a Unicode minus sign; write `-`.",
    "“": 'These are typographic quotes; write ".',
    "”": 'These are typographic quotes; write ".',
    "\u00a0": "This is a non-breaking space; use an ordinary one.",
}


def scan(source: Source, file: int, found: Collector) -> Scan:
    """Split `source` into lines of words; what cannot be a token is reported and kept as bad."""
    return _Scanner(source, file, found).run()
