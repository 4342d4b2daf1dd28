"""Lines of words in, one token list per top-level block out: indentation becomes tokens.

A block starts at column 0. Below the lines that open a block (`features`, `update`,
`if …`) deeper lines are nested; below any other line they continue it, so a long
expression needs no mark. Inside brackets, line ends do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.scan import Line, Word
from gnarl_dsl.source import Span

_OPENERS = frozenset(
    ["problem", "features", "phase", "update", "if", "else", "for", "expert", "instances"],
)
# A line that ends like this cannot be complete, so the next one continues it.
_UNFINISHED = frozenset(
    [
        "and",
        "or",
        "not",
        "then",
        "where",
        "+",
        "-",
        "*",
        "/",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "~=",
        ":=",
        "=",
        ",",
        ":",
        "|",
        "~",
        "in",
        "otherwise",
    ]
)
MAX_DEPTH = 100
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


class Lexeme(str):
    """A token for the parser: its text, the grammar's name for its kind, its span."""

    __slots__ = ("span", "type")
    type: str
    span: Span

    @classmethod
    def at(cls, kind: str, text: str, span: Span) -> Lexeme:
        lexeme = cls(text)
        lexeme.type = kind
        lexeme.span = span
        return lexeme


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """Words that belong together, with the indentation of the first and its nesting depth."""

    indent: int
    depth: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One top-level block as logical lines; `sound` if its layout and words are."""

    lines: tuple[LogicalLine, ...]
    sound: bool

    @property
    def head(self) -> Word:
        return self.lines[0].words[0]


@dataclass
class _Builder:
    found: Collector
    keywords: frozenset[str]
    levels: list[int] = field(default_factory=lambda: [0])
    current: list[Word] = field(default_factory=list)
    indent: int = 0
    lines: list[LogicalLine] = field(default_factory=list)
    brackets: list[Word] = field(default_factory=list)
    sound: bool = True

    def add(self, line: Line) -> None:
        if not self.current:
            self.begin(line)
        elif self.continues(line):
            self.take(line.words)
        else:
            self.finish()
            self.nest(line)
            self.begin(line)

    def continues(self, line: Line) -> bool:
        if self.brackets:
            return True
        if line.indent <= self.indent:
            return False
        first, last = self.current[0].text, self.current[-1].text
        unfinished = last in _UNFINISHED or (last == "else" and len(self.current) > 1)
        return unfinished or first not in _OPENERS

    def begin(self, line: Line) -> None:
        self.indent = line.indent
        self.take(line.words)

    def take(self, words: Iterable[Word]) -> None:
        for word in words:
            self.current.append(word)
            self.sound = self.sound and word.kind != "bad"
            if word.text in _CLOSERS and word.kind == "sign":
                self.open_bracket(word)
            elif self.brackets and word.text == _CLOSERS[self.brackets[-1].text]:
                self.brackets.pop()

    def open_bracket(self, word: Word) -> None:
        self.brackets.append(word)
        if len(self.brackets) == MAX_DEPTH + 1:
            self.sound = False
            self.found.add("GN009", word.span, limit=MAX_DEPTH)

    def nest(self, line: Line) -> None:
        if line.indent > self.levels[-1]:
            self.levels.append(line.indent)
            return
        while line.indent < self.levels[-1]:
            self.levels.pop()
        if line.indent != self.levels[-1]:
            self.sound = False
            self.found.add(
                "GN004",
                line.words[0].span,
                found=line.indent,
                expected=" or ".join(map(str, self.levels[1:])) or "0",
            )
            self.levels.append(line.indent)

    def finish(self) -> None:
        self.lines.append(LogicalLine(self.indent, len(self.levels) - 1, tuple(self.current)))
        self.current = []

    def end(self) -> TextBlock:
        if self.brackets:
            opening = self.brackets[-1]
            self.sound = False
            self.found.add(
                "GN008", opening.span, opening=opening.text, closing=_CLOSERS[opening.text]
            )
        self.finish()
        return TextBlock(tuple(self.lines), self.sound)


def split_blocks(
    lines: tuple[Line, ...], keywords: frozenset[str], found: Collector
) -> list[TextBlock]:
    """Group physical lines into top-level blocks of logical lines."""
    blocks: list[TextBlock] = []
    builder: _Builder | None = None
    for line in lines:
        if builder is None or (line.indent == 0 and _starts_block(line, builder)):
            if builder is not None:
                blocks.append(builder.end())
            builder = _Builder(found, keywords)
            if line.indent > 0:
                found.add("GN015", line.words[0].span)
                builder.sound = False
        builder.add(line)
    if builder is not None:
        blocks.append(builder.end())
    return blocks


def _starts_block(line: Line, builder: _Builder) -> bool:
    """Inside an open bracket only a keyword at the margin shows that the block is over."""
    return not builder.brackets or line.words[0].text in builder.keywords


def block_lexemes(block: TextBlock, kinds: dict[str, str]) -> list[Lexeme]:
    """The token list of one block; `kinds` maps keywords and signs to the grammar's names."""
    lexemes: list[Lexeme] = []
    depth = 0
    for line in block.lines:
        start = line.words[0].span
        here = Span(start.start, start.start, start.file)
        while depth < line.depth:
            lexemes.append(Lexeme.at("INDENT", "", here))
            depth += 1
        while depth > line.depth:
            lexemes.append(Lexeme.at("DEDENT", "", here))
            depth -= 1
        lexemes.extend(_lexeme(word, kinds) for word in line.words if word.kind != "bad")
        lexemes.append(_empty_after(line, "NEWLINE"))
    lexemes.extend(_empty_after(block.lines[-1], "DEDENT") for _ in range(depth))
    return lexemes


def _lexeme(word: Word, kinds: dict[str, str]) -> Lexeme:
    kind = kinds.get(word.text) if word.kind in ("name", "sign") else None
    return Lexeme.at(kind or word.kind.upper(), word.text, word.span)


def _empty_after(line: LogicalLine, kind: str) -> Lexeme:
    last = line.words[-1].span
    return Lexeme.at(kind, "", Span(last.end, last.end, last.file))
