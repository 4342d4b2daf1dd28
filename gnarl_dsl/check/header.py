"""Blocks of a spec in, reports about its header and its missing parts out."""

from __future__ import annotations

from typing import TypeVar

from gnarl_dsl.check.context import Declarations
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.syntax_errors import EXAMPLES

LANGUAGE_VERSION = 1
B = TypeVar("B", bound=ast.Tree)
_REQUIRED: tuple[tuple[type[ast.Tree], str], ...] = (
    (ast.GraphDecl, "graph"),
    (ast.Features, "features"),
    (ast.Phase, "phase"),
    (ast.Horizon, "horizon"),
)


def all_of(blocks: tuple[ast.Block, ...], kind: type[B]) -> list[B]:
    return [block for block in blocks if isinstance(block, kind)]


def first_of(blocks: tuple[ast.Block, ...], kind: type[B]) -> B | None:
    return next((block for block in blocks if isinstance(block, kind)), None)


def verify_header(blocks: tuple[ast.Block, ...], lost: frozenset[str], found: Collector) -> None:
    """`gnarl 1` first, then one `problem` line; `lost` are blocks that could not be read."""
    _verify_version(blocks, lost, found)
    if first_of(blocks, ast.ProblemHead) is None:
        _report_missing("problem", blocks, lost, found)
    for kind, word in ((ast.Version, "gnarl"), (ast.ProblemHead, "problem")):
        for extra in all_of(blocks, kind)[1:]:
            found.add("GN124", extra.span, word=word)


def _verify_version(blocks: tuple[ast.Block, ...], lost: frozenset[str], found: Collector) -> None:
    version = first_of(blocks, ast.Version)
    if version is None:
        if "gnarl" not in lost:
            start = blocks[0].span
            found.add("GN012", Span(start.start, start.start + 1, start.file))
        return
    if blocks[0] is not version:
        found.add("GN014", version.span)
    number = version.number
    if number.value != LANGUAGE_VERSION:
        code = "GN013" if number.value > LANGUAGE_VERSION else "GN021"
        found.add(code, number.span, found=number.text, known=LANGUAGE_VERSION)


def verify_parts(blocks: tuple[ast.Block, ...], names: Declarations, found: Collector) -> None:
    """Every problem has a graph, features, phases, a horizon, and something to aim at."""
    for kind, word in _REQUIRED:
        if not all_of(blocks, kind):
            _report_missing(word, blocks, names.lost_blocks, found)
    has_goal = names.objectives or names.correct is not None
    if not has_goal and not {"objective", "correct"} & names.lost_blocks:
        found.add("GN505", _whole(blocks))


def _report_missing(
    word: str, blocks: tuple[ast.Block, ...], lost: frozenset[str], found: Collector
) -> None:
    if word not in lost:
        found.add("GN102", _whole(blocks), word=word, example=EXAMPLES[word])


def _whole(blocks: tuple[ast.Block, ...]) -> Span:
    """Where to point for the problem as a whole: at its name."""
    head = first_of(blocks, ast.ProblemHead)
    return head.name.span if head else Span(0, 0)
