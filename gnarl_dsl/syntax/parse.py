"""Source text in, syntax tree out: `parse_spec`, with every syntax error of the file.

Each top-level block is parsed on its own, so that a mistake in one leaves the others
readable. Within a block the broken line is reported and left out, and the rest is
parsed again; names that it may have declared are kept, to stop false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from gnarl_dsl.report.diagnostics import Collector, EnoughErrors
from gnarl_dsl.report.source import MAX_LINES, MAX_WORDS, Source, Span
from gnarl_dsl.report.suggestions import did_you_mean, nearest
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.build import TreeBuilder
from gnarl_dsl.syntax.lalr import Parser, Tables, UnexpectedLexeme
from gnarl_dsl.syntax.layout import (
    BLOCK_WORDS,
    EXTERN,
    MAX_DEPTH,
    STOP_WORDS,
    WINDOW_WORDS,
    Lexeme,
    LogicalLine,
    TextBlock,
    block_lexemes,
    split_blocks,
)
from gnarl_dsl.syntax.scan import Scan, Word, scan
from gnarl_dsl.syntax.slips import Surroundings
from gnarl_dsl.syntax.syntax_errors import report_syntax_error
from gnarl_dsl.syntax.tables import load_tables, read_grammar


@dataclass(frozen=True)
class Parsed:
    """A tree, what its broken blocks may have declared, and the words (for the formatter)."""

    tree: ast.Spec
    lost_names: frozenset[str]
    lost_blocks: frozenset[str]
    scanned: Scan


@dataclass(frozen=True)
class Grammar:
    """The parser and its vocabulary: terminal names by text, and text by terminal name."""

    parser: Parser
    kinds: dict[str, str]
    signs: dict[str, str]

    @property
    def keywords(self) -> frozenset[str]:
        return frozenset(text for text in self.kinds if text.isidentifier())


@cache
def load_grammar() -> Grammar:
    return grammar_from(load_tables(read_grammar()))


def grammar_from(tables: Tables) -> Grammar:
    kinds = dict(tables.words)
    parser = Parser(tables, TreeBuilder())
    return Grammar(parser, kinds, {name: text for text, name in kinds.items()})


_HEADS = [*BLOCK_WORDS, *WINDOW_WORDS, EXTERN, STOP_WORDS[0]]
# Lines that mean nothing without lines below them.
_NEED_LINES = frozenset(["features", "update", "if", "else", "for", "expert", "instances"])


def parse_spec(source: Source, file: int, found: Collector) -> Parsed:
    """Parse every block that can be parsed and report the others."""
    if source.line_count > MAX_LINES:
        size, limit = f"{source.line_count:,}", f"{MAX_LINES:,} lines"
        found.add("GN010", Span(0, 0, file), size=size, limit=limit)
        return Parsed(ast.Spec(Span(0, 0, file), ()), frozenset(), frozenset(), Scan((), ()))
    reader = _BlockReader(source, load_grammar(), found)
    scanned, blocks = Scan((), ()), list[ast.Block]()
    with suppress(EnoughErrors):
        scanned = scan(source, file, found)
        for block in split_blocks(scanned.lines, found):
            blocks += reader.read(block)
    tree = ast.Spec(Span(0, len(source.text), file), tuple(blocks))
    return Parsed(tree, frozenset(reader.lost_names), frozenset(reader.lost_blocks), scanned)


@dataclass
class _BlockReader:
    """Parses blocks; remembers what the broken ones are and may have declared.

    `patience` is the number of tokens it will still parse again after an error, so
    that a large file full of mistakes takes no longer than a large file.
    """

    source: Source
    grammar: Grammar
    found: Collector
    patience: int = MAX_WORDS // 2
    lost_names: set[str] = field(default_factory=set)
    lost_blocks: set[str] = field(default_factory=set)

    def read(self, block: TextBlock) -> list[ast.Block]:
        """The block's tree, if any, without its broken lines, each of which is reported."""
        head = block.head
        if head.text not in _HEADS:
            if head.kind != "bad":
                _report_unknown_block(block, self.found)
            self.lose(block)
            return []
        lines = _sound_lines(block.lines)
        tree = None
        while tree is None and lines and self.patience > 0:
            tree, lines = self.parse(lines)
        if tree is None or len(lines) < len(block.lines):
            self.lose(block)
        return [] if tree is None else [tree]

    def parse(self, lines: list[LogicalLine]) -> tuple[ast.Block | None, list[LogicalLine]]:
        """The tree of these lines, or None and the lines without the one in the way."""
        lexemes = block_lexemes(lines, self.grammar.kinds)
        tree: ast.Block
        try:
            tree = self.grammar.parser.parse(lexemes)
        except UnexpectedLexeme as error:
            self.patience -= len(lexemes)
            return None, _without_line(lines, self.report(error, lexemes, lines))
        deep = ast.deepest_tree(tree, MAX_DEPTH)
        if deep is None:
            return tree, lines
        self.found.add("GN009", deep.span, limit=MAX_DEPTH)
        return None, []

    def report(
        self, error: UnexpectedLexeme, lexemes: list[Lexeme], lines: list[LogicalLine]
    ) -> int:
        """Report a syntax error; the number of the line to leave out."""
        at = lexemes[-1] if error.lexeme is None else error.lexeme
        if any(word.reported for word in lines[at.line].words):
            return at.line
        place = Surroundings(self.source, lexemes, lines, at, error.expected, self.grammar.signs)
        return report_syntax_error(place, self.found)

    def lose(self, block: TextBlock) -> None:
        head = block.head.text
        # Whoever writes `minimise …` has said what is good, if not in our words.
        self.lost_blocks.add(head if head in _HEADS else "objective")
        self.lost_blocks |= {nearest(head, _HEADS) or head}
        self.lost_names |= set(_declared_by(block.lines[0].words))
        for line in block.lines:
            self.lost_names |= {word.text for word in line.starts}
            self.lost_names |= {name for word in line.words for name in _swallowed(word)}


def _declared_by(words: tuple[Word, ...]) -> Iterator[str]:
    """Names on the first line of a block, up to the sign behind which its formula starts."""
    for word in words:
        if word.text in ("=", ":="):
            return
        if word.kind == "name":
            yield word.text


def _swallowed(word: Word) -> Iterator[str]:
    """First words of the lines that a text with a missing quote ran over."""
    for line in word.text.split("\n")[1:]:
        yield from line.split()[:1]


def _sound_lines(lines: tuple[LogicalLine, ...]) -> list[LogicalLine]:
    """The lines that were not reported yet."""
    kept = list(lines)
    for number in reversed(range(len(lines))):
        if number < len(kept) and not kept[number].sound:
            kept = _without_line(kept, number)
    return kept


def _without_line(lines: list[LogicalLine], number: int) -> list[LogicalLine]:
    """Leave out one line, what is nested below it, and what makes no sense without it."""
    depth = lines[number].depth
    end = number + 1
    while end < len(lines) and (lines[end].depth > depth or _is_else(lines[end], depth)):
        end += 1
    rest = lines[:number] + lines[end:]
    above = number - 1
    childless = above >= 0 and (above + 1 >= len(rest) or rest[above + 1].depth < depth)
    if childless and rest[above].depth < depth and rest[above].words[0].text in _NEED_LINES:
        return _without_line(rest, above)
    return rest if number > 0 else []


def _is_else(line: LogicalLine, depth: int) -> bool:
    return line.depth == depth and line.words[0].text == "else"


def _report_unknown_block(block: TextBlock, found: Collector) -> None:
    head = block.head
    fix = did_you_mean(head.text, _HEADS) or _stray_fix(block)
    found.add("GN011", head.span, word=head.text, blocks=", ".join(_HEADS), fix=fix)


def _stray_fix(block: TextBlock) -> str | None:
    head = block.head.text
    if head in ("allow", "update"):
        return f"`{head}` belongs into a phase, indented below `phase NAME(v)`."
    if any(word.text == ":=" for word in block.lines[0].words):
        return "Assignments belong into the `update` block of a phase, indented below it."
    if head in _CONTINUING_WORDS:
        return "Indent this line to continue the one above."
    return _HEAD_FIXES.get(head)


_CONTINUING_WORDS = frozenset(["and", "or", "not", "then", "else", "where", "otherwise"])
_HEAD_FIXES = {
    "input": "Features are declared in a `features` block, indented below it.",
    "state": "Features are declared in a `features` block, indented below it.",
    "import": "A spec imports nothing; `problem NAME extends OTHER` starts from another spec.",
    "from": "A spec imports nothing; `problem NAME extends OTHER` starts from another spec.",
    "def": "Name a formula with `let name(x) = …`.",
    "action": "What can be picked, and what it does, is a `phase NAME(v)`.",
    "goal": "What is good is an `objective NAME = …` or a `correct …` clause.",
    "maximise": "Write `objective NAME = …`; objectives are maximised.",
    "minimise": "Write `objective NAME = -(…)`; objectives are maximised.",
}
