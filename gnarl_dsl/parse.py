"""Source text in, syntax tree out: `parse_spec`, with every syntax error of the file.

Each top-level block is parsed on its own, so that a mistake in one leaves the others
readable; names that a broken block may have declared are kept, to stop false alarms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gnarl_dsl import ast
from gnarl_dsl.build import TreeBuilder
from gnarl_dsl.diagnostics import Collector
from gnarl_dsl.lalr import Parser, Tables, UnexpectedLexeme
from gnarl_dsl.layout import MAX_DEPTH, TextBlock, block_lexemes, split_blocks
from gnarl_dsl.scan import Scan, scan
from gnarl_dsl.scope import did_you_mean
from gnarl_dsl.source import MAX_LINES, Source, Span
from gnarl_dsl.syntax_errors import report_syntax_error
from gnarl_dsl.tables import load_tables, read_grammar


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


def parse_spec(source: Source, file: int, found: Collector) -> Parsed:
    """Parse every block that can be parsed and report the others."""
    if source.line_count > MAX_LINES:
        found.add("GN010", Span(0, 0, file), lines=source.line_count, limit=MAX_LINES)
        return Parsed(ast.Spec(Span(0, 0, file), ()), frozenset(), frozenset(), Scan((), ()))
    scanned = scan(source, file, found)
    grammar = load_grammar()
    blocks: list[ast.Block] = []
    lost: list[TextBlock] = []
    for text_block in split_blocks(scanned.lines, frozenset(BLOCK_WORDS), found):
        blocks += _parse_block(text_block, grammar, found, lost)
    tree = ast.Spec(Span(0, len(source.text), file), tuple(blocks))
    names = frozenset(name for block in lost for name in _possible_names(block))
    return Parsed(tree, names, frozenset(block.head.text for block in lost), scanned)


def _parse_block(
    block: TextBlock, grammar: Grammar, found: Collector, lost: list[TextBlock]
) -> list[ast.Block]:
    head = block.head
    if head.text not in BLOCK_WORDS:
        if head.kind != "bad":
            _report_unknown_block(block, found)
        lost.append(block)
        return []
    tree = _parse_lexemes(block, grammar, found)
    if tree is not None:
        return [tree]
    rescued = _parse_line_by_line(block, grammar) if head.text == "features" else []
    lost.append(block)
    return rescued


def _parse_lexemes(block: TextBlock, grammar: Grammar, found: Collector) -> ast.Block | None:
    lexemes = block_lexemes(block, grammar.kinds)
    tree: ast.Block
    try:
        tree = grammar.parser.parse(lexemes)
    except UnexpectedLexeme as error:
        if block.sound:
            at = lexemes[-1] if error.lexeme is None else error.lexeme
            report_syntax_error(lexemes, at, error.expected, grammar.signs, found)
        return None
    return _checked_depth(tree, found) if block.sound else None


def _checked_depth(tree: ast.Block, found: Collector) -> ast.Block | None:
    deep = ast.deepest_tree(tree, MAX_DEPTH)
    if deep is None:
        return tree
    found.add("GN009", deep.span, limit=MAX_DEPTH)
    return None


def _parse_line_by_line(block: TextBlock, grammar: Grammar) -> list[ast.Block]:
    """Keep the sound lines of a broken `features` block."""
    rescued: list[ast.Block] = []
    for line in block.lines[1:]:
        part = TextBlock((block.lines[0], line), sound=True)
        tree = _parse_lexemes(part, grammar, Collector())
        if tree is not None:
            rescued.append(tree)
    return rescued


def _possible_names(block: TextBlock) -> Iterator[str]:
    """Names that a broken block may have been meant to declare."""
    for word in block.lines[0].words[:2]:
        yield word.text
    for line in block.lines[1:]:
        yield line.words[0].text


def _report_unknown_block(block: TextBlock, found: Collector) -> None:
    head = block.head
    fix = did_you_mean(head.text, BLOCK_WORDS) or _stray_fix(block)
    found.add("GN011", head.span, word=head.text, blocks=", ".join(BLOCK_WORDS), fix=fix)


def _stray_fix(block: TextBlock) -> str | None:
    if any(word.text == ":=" for line in block.lines for word in line.words):
        return "Assignments belong into the `update` block of a phase, indented below it."
    if head_is_clause(block.head.text):
        return f"`{block.head.text}` belongs into a phase, indented below `phase NAME(v)`."
    return None


def head_is_clause(word: str) -> bool:
    return word in ("allow", "update")
