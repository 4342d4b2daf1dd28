"""Text of a spec in, the same spec in house style out: `format_text`.

The author decides where lines break and where comments and blank lines stand; spaces,
indentation and columns are set here. The result is parsed again: a formatter that
changes what a spec says is a bug, never an outcome.
"""

from __future__ import annotations

from bisect import bisect
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, pairwise

from gnarl_dsl.format.columns import LIMIT, align, place, shared_column
from gnarl_dsl.format.spacing import STEP, Entry, Kind, Row, gaps_of, kind_of
from gnarl_dsl.report.diagnostics import Collector, InternalError, SpecError
from gnarl_dsl.report.source import Source, normalise_text
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import LogicalLine, split_blocks
from gnarl_dsl.syntax.parse import Parsed, load_grammar, parse_spec
from gnarl_dsl.syntax.scan import Comment, Line, Scan, Word

_MAY_BE_EMPTY = ("phase", "problem")
# Kinds whose columns are shared over the whole block, blank lines or not.
_TABLES = (Kind.FEATURE, Kind.RULE, Kind.SPLIT)


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on a line of its own, between logical lines."""

    depth: int
    text: str
    blank: bool


Item = Entry | Remark


def format_text(text: str) -> str:
    """The text in house style; SpecError if it has syntax errors."""
    return format_source(Source("<text>", normalise_text(text)))


def format_source(source: Source) -> str:
    """The text of `source` in house style; SpecError if it has syntax errors."""
    found = Collector()
    before = parse_spec(source, 0, found)
    if found.has_errors():
        raise SpecError(tuple(found), (source,))
    text = _print(_Reader(source, before).run())
    _verify_same(before, text, source.name)
    return text


# Safety


def _verify_same(before: Parsed, text: str, name: str) -> None:
    found = Collector()
    after = parse_spec(Source(name, text), 0, found)
    if found.has_errors() or not equal_trees(before.tree, after.tree):
        raise InternalError(f"formatting would change the meaning of {name}")
    if _comment_places(before.scanned) != _comment_places(after.scanned):
        raise InternalError(f"formatting would lose or move a comment of {name}")


def equal_trees(left: ast.Tree, right: ast.Tree) -> bool:
    """Whether two trees are the same but for the places of their nodes."""
    return _bare(left) == _bare(right)


def _bare(value: object) -> object:
    """A tree as nested tuples, without its spans."""
    if isinstance(value, ast.Tree):
        parts = (getattr(value, item.name) for item in fields(value) if item.name != "span")
        return (type(value).__name__, *map(_bare, parts))
    return tuple(map(_bare, value)) if isinstance(value, tuple) else value


def _comment_places(scanned: Scan) -> list[tuple[str, bool, int]]:
    """Each comment, whether it has a line of its own, and how many words stand before it."""
    starts = [word.span.start for line in scanned.lines for word in line.words]
    return [
        (comment.text, comment.own_line, bisect(starts, comment.span.start))
        for comment in scanned.comments
    ]


# Words and comments in, items out


class _Reader:
    """Puts rows and comments back to the logical lines they belong to."""

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self.source, self.keywords = source, load_grammar().keywords
        self.lines = parsed.scanned.lines
        self.physical = iter(self.lines)
        self.comments = deque(parsed.scanned.comments)
        self.items: list[Item] = []
        self.levels: list[int] = []  # columns of the blocks around the previous line
        self.last_row = 0

    def run(self) -> list[Item]:
        blocks = split_blocks(self.lines, Collector())
        for block in blocks:
            for line in block.lines:
                self.read(block.head.text, line)
        self.add_remarks(len(self.source.text), 0)
        return list(_without_blanks_below_openers(self.items))

    def read(self, block: str, line: LogicalLine) -> None:
        self.add_remarks(line.words[0].span.start, line.depth)
        blank = self.is_after_blank(line.words[0].span.start)
        rows = tuple(self.rows(len(line.words)))
        words = tuple(replace(word, text=_tidy(word)) for word in line.words)
        self.items.append(
            Entry(
                kind_of(block, line.depth, words),
                line.depth,
                words,
                tuple(self.source.column_of(word.span.start) for word in words),
                gaps_of(words, self.keywords),
                rows,
                blank,
            )
        )
        empty = [line.indent + 1] if words[0].text in _MAY_BE_EMPTY else []
        self.levels = [*self.levels[: line.depth], line.indent, *empty]

    def rows(self, word_count: int) -> Iterator[Row]:
        """The next physical lines, up to the number of words of a logical line."""
        first = 0
        while first < word_count:
            physical: Line = next(self.physical)
            above = tuple(comment.text for comment in self.comments_before(physical.words[0]))
            self.last_row = self.source.line_of(physical.words[-1].span.end - 1)
            yield Row(first, above, self.comment_behind())
            first += len(physical.words)

    def comment_behind(self) -> str:
        """The comment at the end of the last row, if it has one."""
        if not self.comments or self.source.line_of(self.comments[0].span.start) > self.last_row:
            return ""
        return self.comments.popleft().text

    def comments_before(self, word: Word) -> Iterator[Comment]:
        while self.comments and self.comments[0].span.start < word.span.start:
            yield self.comments.popleft()

    def add_remarks(self, end: int, next_depth: int) -> None:
        """Comments up to `end`, where a line at `next_depth` starts."""
        while self.comments and self.comments[0].span.start < end:
            comment = self.comments.popleft()
            blank = self.is_after_blank(comment.span.start)
            depth = self.depth_of(self.source.column_of(comment.span.start), next_depth)
            self.items.append(Remark(depth, comment.text, blank))
            self.last_row = self.source.line_of(comment.span.start)

    def depth_of(self, column: int, next_depth: int) -> int:
        """That of the next line, or of an inner block that ends here if indented like it."""
        depth = next_depth
        for level in range(next_depth + 1, len(self.levels)):
            if column >= self.levels[level]:
                depth = level
        return depth

    def is_after_blank(self, offset: int) -> bool:
        return bool(self.items) and self.source.line_of(offset) > self.last_row + 1


def _tidy(word: Word) -> str:
    """The text of a word; the lines of a long text without the spaces around them."""
    first, *others = word.text.split("\n")
    if not others:
        return word.text
    lines = [first.rstrip(" \t"), *(line.strip(" \t") for line in others)]
    # A backslash must not come to stand before the line end: it would escape it.
    return "\n".join(line + " " if _ends_in_escape(line) else line for line in lines)


def _ends_in_escape(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _without_blanks_below_openers(items: Sequence[Item]) -> Iterator[Item]:
    yield from items[:1]
    for above, item in pairwise(items):
        opens = isinstance(above, Entry) and item.depth > above.depth
        yield replace(item, blank=False) if opens else item


# Items in, text out


@dataclass(slots=True)
class _Printed:
    """One line of the result, before its trailing comment is put in place."""

    text: str
    behind: str = ""


def _print(items: Sequence[Item]) -> str:
    columns = _columns(items)
    lines: list[_Printed] = []
    for item in items:
        if item.blank:
            lines.append(_Printed(""))
        if isinstance(item, Remark):
            lines.append(_Printed(" " * (STEP * item.depth) + item.text))
        else:
            lines += _print_entry(item, next(columns))
    return "".join(line + "\n" for line in _with_comments(lines))


def _columns(items: Sequence[Item]) -> Iterator[list[int]]:
    """The columns of all words, entry by entry."""
    for run in _runs(items):
        for entry, aligned in zip(run, align(run), strict=True):
            yield place(entry, aligned)


def _runs(items: Sequence[Item]) -> Iterator[list[Entry]]:
    """Neighbouring entries that share their columns."""
    run: list[Entry] = []
    parted = False
    for item in items:
        parted = parted or item.blank
        if isinstance(item, Remark):
            continue
        if run and not _shares_columns(run[-1], item, parted):
            yield run
            run = []
        run.append(item)
        parted = False
    if run:
        yield run


def _shares_columns(above: Entry, entry: Entry, parted: bool) -> bool:
    if (above.kind, above.depth) != (entry.kind, entry.depth) or entry.kind is Kind.PLAIN:
        return False
    return not parted or entry.kind in _TABLES


def _print_entry(entry: Entry, columns: Sequence[int]) -> Iterator[_Printed]:
    ends = [*(row.first for row in entry.rows[1:]), len(entry.words)]
    for row, end in zip(entry.rows, ends, strict=True):
        for comment in row.above:
            yield _Printed(" " * columns[row.first] + comment)
        *texts, last = _print_row(entry.words[row.first : end], columns[row.first : end])
        yield from map(_Printed, texts)
        yield _Printed(last, row.behind)


def _print_row(words: Sequence[Word], columns: Sequence[int]) -> list[str]:
    """One line, or more if it ends in a long text."""
    lines: list[str] = []
    line, width = [], 0
    for word, column in zip(words, columns, strict=True):
        first, *others = word.text.split("\n")
        line.append(" " * (column - width) + first)
        width = column + len(first)
        for other in others:
            lines.append("".join(line))
            line = [" " * min(column + 1, LIMIT) + other if other else ""]
    return [*lines, "".join(line)]


def _with_comments(lines: Sequence[_Printed]) -> Iterator[str]:
    """Trailing comments put behind their lines, in one column between two blank lines."""
    for is_text, group in groupby(lines, key=lambda line: bool(line.text)):
        paragraph = list(group)
        noted = [line for line in paragraph if line.behind]
        starts = [len(line.text) + STEP for line in noted]
        column = shared_column(starts, [len(line.behind) for line in noted]) if is_text else 0
        for line in paragraph:
            start = max(len(line.text) + STEP, column)
            yield line.text.ljust(start) + line.behind if line.behind else line.text
