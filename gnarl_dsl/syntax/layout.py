"""Lines of words in, one token list per top-level block out: indentation becomes tokens.

A block starts at column 0. Below the lines that open a block (`features`, `update`,
`if …`) deeper lines are nested; below any other line they continue it, so a long
expression needs no mark. Inside brackets, line ends do not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax.scan import BRACKETS, CLOSING, OPENING, Line, Word

# What starts a block, in the order in which a spec usually has them.
BLOCK_WORDS = [
    "gnarl",
    "problem",
    "param",
    "graph",
    "features",
    "let",
    "phase",
    "horizon",
    "limit",
    "terminate",
    "valid",
    "correct",
    "objective",
    "reward",
    "metric",
    "expert",
    "instances",
    "drop",
]
# These start a block as well, and are names wherever they do not.
WINDOW_WORDS = ["observe", "messages"]
EXTERN = "extern"
STOP_WORDS = ["may", "stop"]  # the two together
FIRST = "first"  # the last word but one of such a line, in front of a number
_OPENERS = frozenset(
    ["problem", "features", "phase", "update", "if", "else", "for", "expert", "instances"],
)
_OPERATORS = [
    "and",
    "or",
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
    "then",
    "where",
    "when",
]
# A line that ends like this cannot be complete, and one that starts like this is no start.
_UNFINISHED = frozenset([*_OPERATORS, "not"])
_CONTINUING = frozenset(_OPERATORS)
MAX_DEPTH = 100


class Lexeme(str):
    """A token for the parser: its text, the grammar's name for its kind, its span.

    `line` counts the logical lines of its block.
    """

    __slots__ = ("line", "span", "type")
    type: str
    span: Span
    line: int

    @classmethod
    def at(cls, kind: str, text: str, span: Span, line: int) -> Lexeme:
        lexeme = cls(text)
        lexeme.type = kind
        lexeme.span = span
        lexeme.line = line
        return lexeme


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """Words that belong together, with the indentation of the first and its nesting depth.

    `starts` are the first words of its physical lines; `sound` if its words and layout are.
    """

    indent: int
    depth: int
    words: tuple[Word, ...]
    starts: tuple[Word, ...]
    sound: bool = True


@dataclass(frozen=True, slots=True)
class TextBlock:
    """One top-level block as logical lines."""

    lines: tuple[LogicalLine, ...]

    @property
    def head(self) -> Word:
        return self.lines[0].words[0]


@dataclass
class _Builder:
    found: Collector
    levels: list[int] = field(default_factory=lambda: [0])
    current: list[Word] = field(default_factory=list)
    starts: list[Word] = field(default_factory=list)
    indent: int = 0
    lines: list[LogicalLine] = field(default_factory=list)
    brackets: list[Word] = field(default_factory=list)
    sound: bool = True
    aligned: bool = True

    def add(self, line: Line) -> None:
        if self.current and self.outgrows(line):
            self.report_open_bracket()
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
        return unfinished or first not in _OPENERS or line.words[0].text in _CONTINUING

    def outgrows(self, line: Line) -> bool:
        """In an indented block, a new line at the old depth shows that a bracket stayed open."""
        return bool(
            self.brackets
            and 0 < line.indent <= self.indent
            and line.words[0].text not in CLOSING | _CONTINUING
        )

    def begin(self, line: Line) -> None:
        self.indent = line.indent
        self.take(line.words)

    def take(self, words: tuple[Word, ...]) -> None:
        self.starts.append(words[0])
        self.current += words
        for word in words:
            self.sound = self.sound and word.kind != "bad"
            if word.kind == "sign" and word.text in OPENING:
                self.open_bracket(word)
            elif word.kind == "sign" and word.text in CLOSING and self.brackets:
                self.close_bracket(word)

    def open_bracket(self, word: Word) -> None:
        self.brackets.append(word)
        if len(self.brackets) == MAX_DEPTH + 1:
            self.sound = False
            self.found.add("GN009", word.span, limit=MAX_DEPTH)

    def close_bracket(self, word: Word) -> None:
        opening = self.brackets.pop()
        wanted = BRACKETS[opening.text]
        if word.text != wanted:
            self.sound = False
            self.found.add(
                "GN022", word.span, opening=opening.text, wanted=wanted, closing=word.text
            )

    def report_open_bracket(self) -> None:
        if self.brackets:
            opening = self.brackets[-1]
            self.brackets = []
            self.sound = False
            self.found.add(
                "GN008", opening.span, opening=opening.text, closing=BRACKETS[opening.text]
            )

    def nest(self, line: Line) -> None:
        if line.indent > self.levels[-1]:
            self.levels.append(line.indent)
            return
        while line.indent < self.levels[-1]:
            self.levels.pop()
        if line.indent != self.levels[-1]:
            self.report_misfit(line)

    def report_misfit(self, line: Line) -> None:
        """What follows in the block has no sure place, so none of it is read."""
        if self.aligned:
            used = sorted({done.indent for done in self.lines if done.indent > 0})
            self.found.add(
                "GN004",
                line.words[0].span,
                found=_spaces(line.indent),
                expected=_either(used),
            )
        self.aligned = False
        self.levels.append(line.indent)

    def finish(self) -> None:
        sound = self.sound and self.aligned
        depth = len(self.levels) - 1
        words, starts = tuple(self.current), tuple(self.starts)
        self.lines.append(LogicalLine(self.indent, depth, words, starts, sound))
        self.current, self.starts, self.sound = [], [], True

    def end(self) -> TextBlock:
        self.report_open_bracket()
        self.finish()
        return TextBlock(tuple(self.lines))


def _either(numbers: list[int]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def _spaces(count: int) -> str:
    return f"{count} space" if count == 1 else f"{count} spaces"


def split_blocks(lines: tuple[Line, ...], found: Collector) -> list[TextBlock]:
    """Group physical lines into top-level blocks of logical lines."""
    blocks: list[TextBlock] = []
    builder: _Builder | None = None
    for line in _at_margin(lines, found):
        if builder is None or (line.indent == 0 and _starts_block(line, builder)):
            if builder is not None:
                blocks.append(builder.end())
            builder = _Builder(found)
        builder.add(line)
    if builder is not None:
        blocks.append(builder.end())
    return blocks


def _at_margin(lines: tuple[Line, ...], found: Collector) -> tuple[Line, ...]:
    """The lines with the first at the margin: alone, or with the whole file moved along."""
    if not lines or lines[0].indent == 0:
        return lines
    found.add("GN015", lines[0].words[0].span)
    margin = lines[0].indent
    if all(line.indent >= margin for line in lines):
        return tuple(Line(line.indent - margin, line.words) for line in lines)
    return (Line(0, lines[0].words), *lines[1:])


def _starts_block(line: Line, builder: _Builder) -> bool:
    """Inside an open bracket only a keyword at the margin shows that the block is over."""
    return not builder.brackets or line.words[0].text in BLOCK_WORDS


def block_lexemes(lines: Iterable[LogicalLine], kinds: dict[str, str]) -> list[Lexeme]:
    """The token list of a block's lines; `kinds` maps keywords and signs to the grammar's names."""
    lexemes: list[Lexeme] = []
    depth = number = 0
    for number, line in enumerate(lines):
        start = line.words[0].span
        here = Span(start.start, start.start, start.file)
        for _ in range(line.depth - depth):
            lexemes.append(Lexeme.at("INDENT", "", here, number))
        for _ in range(depth - line.depth):
            lexemes.append(Lexeme.at("DEDENT", "", here, number))
        depth = line.depth
        own = _own_words(line.words) if number == 0 else {}
        lexemes += [
            _lexeme(word, kinds, number, own.get(place)) for place, word in enumerate(line.words)
        ]
        lexemes.append(_empty_after(lexemes[-1], "NEWLINE"))
    lexemes += [_empty_after(lexemes[-1], "DEDENT") for _ in range(depth)]
    return lexemes


def _own_words(words: tuple[Word, ...]) -> dict[int, str]:
    """Which words of a block's first line are none of the names that they are elsewhere."""
    if words[0].text == STOP_WORDS[0]:
        stops = len(words) > 1 and words[1].text == STOP_WORDS[1]
        return {0: "MAY", 1: "STOP"} if stops else {0: "MAY"}
    if words[0].text not in WINDOW_WORDS:
        return {}
    counts = len(words) > 2 and words[-1].kind == "number" and words[-2].text == FIRST
    return {0: "WINDOW", len(words) - 2: "FIRST"} if counts else {0: "WINDOW"}


def _lexeme(word: Word, kinds: dict[str, str], line: int, own: str | None) -> Lexeme:
    kind = own or (kinds.get(word.text) if word.kind in ("name", "sign") else None)
    return Lexeme.at(kind or word.kind.upper(), word.text, word.span, line)


def _empty_after(last: Lexeme, kind: str) -> Lexeme:
    end = last.span.end
    return Lexeme.at(kind, "", Span(end, end, last.span.file), last.line)
