"""Text of an open file in, everything that editors ask about it out: a `Document`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from gnarl_dsl.editing.bindings import Local, bindings_of, local_at
from gnarl_dsl.editing.symbols import Kind, Symbol, named, symbols_of
from gnarl_dsl.loading import Checked, check_text
from gnarl_dsl.report.diagnostics import Collector, EnoughErrors
from gnarl_dsl.report.source import MAX_BYTES, MAX_LINES, Source, Span, normalise_text
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import LogicalLine, TextBlock, split_blocks
from gnarl_dsl.syntax.scan import Word, scan

# What a file can get from the one that it extends and use by name.
Inherited = ast.Param | ast.Feature | ast.Let | ast.Phase | ast.Objective
# What a bare word of a formula can mean, unless a variable has its name.
_IN_FORMULAS = (Kind.FEATURE, Kind.LET, Kind.PARAM, Kind.OBJECTIVE)


@dataclass(frozen=True)
class Place:
    """A word with what stands around it: its block, its line, and where in the line it is."""

    word: Word
    block: TextBlock
    line: LogicalLine
    index: int

    @property
    def before(self) -> tuple[Word, ...]:
        """The words to its left in the same logical line."""
        return self.line.words[: self.index]


@dataclass(frozen=True)
class Document:
    """One version of a file, checked; its parts are computed when they are first asked for."""

    source: Source
    checked: Checked
    path: Path | None = None
    # Files that are open, too, with text that may not be saved; what extends one reads it here.
    opened: Mapping[Path, str] = field(default_factory=dict)

    def again(self, text: str) -> Checked:
        """What the checker says of another text in this one's place."""
        return _checked(text, self.path, self.opened)

    def extends(self, path: Path) -> bool:
        """Whether the file starts from another, read already or only named."""
        heads = [block for block in self.checked.tree.blocks if isinstance(block, ast.ProblemHead)]
        named = any(head.extends and head.extends.text == path.stem for head in heads)
        return named or str(path) in (source.name for source in self.checked.sources[1:])

    @cached_property
    def blocks(self) -> list[TextBlock]:
        return blocks_of(self.source)

    @cached_property
    def locals(self) -> tuple[Local, ...]:
        return self.locals_of(self.source)

    def locals_of(self, source: Source) -> tuple[Local, ...]:
        """The variables of this text, or of one that differs from it in a word."""
        inherited = [tree for tree in self._inherited() if isinstance(tree, ast.Phase)]
        return bindings_of(blocks_of(source), inherited, len(source.text))

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """What the file itself declares."""
        return tuple(symbols_of(self.checked.tree))

    @cached_property
    def known(self) -> tuple[Symbol, ...]:
        """What the file and those it extends declare, its own first."""
        own = [part for symbol in self.symbols for part in (symbol, *symbol.parts)]
        return (*own, *(named(tree) for tree in self._inherited()))

    def _inherited(self) -> Iterator[Inherited]:
        if self.checked.names is None:
            return
        declared = self.checked.names.declared
        trees: tuple[Inherited, ...] = (
            *declared.param_trees.values(),
            *(info.tree for info in declared.features.values()),
            *declared.lets.values(),
            *declared.phases.values(),
            *declared.objectives.values(),
        )
        yield from (tree for tree in trees if tree.span.file != 0)

    # Looking up

    def place_at(self, offset: int) -> Place | None:
        """The word under, or just before, an offset."""
        for block in self.blocks:
            for line in block.lines:
                for index, word in enumerate(line.words):
                    if word.span.start <= offset <= word.span.end and word.kind == "name":
                        return Place(word, block, line, index)
        return None

    def local_for(self, place: Place) -> Local | None:
        return local_at(self.locals, place.word.text, place.word.span.start)

    def symbol(self, name: str, *kinds: Kind) -> Symbol | None:
        found = (s for s in self.known if s.name == name and s.kind in kinds)
        return next(found, None)

    def symbol_for(self, place: Place) -> Symbol | None:
        """The declaration that a word refers to, or is the name of."""
        for symbol in self.known:
            if symbol.at == place.word.span:
                return symbol
        name = place.word.text
        if means_phase(place):
            return self.symbol(name, Kind.PHASE)
        if _means_clause(place):
            return self.symbol(name, Kind.CLAUSE)
        if _means_expert(place):
            return self.symbol(name, Kind.EXPERT)
        return self.symbol(name, *_IN_FORMULAS)

    def definition(self, place: Place) -> Span | None:
        """Where the thing that a word names is declared."""
        if is_extended(place):
            return Span(0, 0, 1) if len(self.checked.sources) > 1 else None
        local = None if means_phase(place) else self.local_for(place)
        if local is not None:
            return local.span
        symbol = self.symbol_for(place)
        return symbol.at if symbol else None


def is_extended(place: Place) -> bool:
    return bool(place.before) and place.before[-1].text == "extends"


def means_phase(place: Place) -> bool:
    """Whether a word stands where a phase is named: `last(PHASE)`, or a rule of an expert."""
    before = [word.text for word in place.before[-2:]]
    rule = place.block.head.text == "expert" and place.line.depth > 0 and place.index == 0
    return rule or before == ["last", "("]


def _means_clause(place: Place) -> bool:
    """Whether `valid` or `correct` is used in a formula; at the margin it starts its own."""
    return place.word.text in ("valid", "correct") and place.word is not place.block.head


def _means_expert(place: Place) -> bool:
    """Whether a word stands in `best of A, B`."""
    return [word.text for word in place.before[2:5]] == ["=", "best", "of"]


def blocks_of(source: Source) -> list[TextBlock]:
    """The lines of a file as the parser sees them, mistakes or not."""
    found = Collector()
    if source.line_count > MAX_LINES:
        return []
    with suppress(EnoughErrors):
        return split_blocks(scan(source, 0, found).lines, found)
    return []


def open_document(
    text: str, path: Path | None = None, opened: Mapping[Path, str] | None = None
) -> Document:
    """Check the text of a file; `path` is where it lies, or would lie."""
    others = opened or {}
    shown = normalise_text(text) if len(text) <= MAX_BYTES else ""
    source = Source(str(path or "<text>"), shown)
    return Document(source, _checked(text, path, others), path, others)


def _checked(text: str, path: Path | None, opened: Mapping[Path, str]) -> Checked:
    folder = path.parent if path else None
    return check_text(text, str(path or "<text>"), folder=folder, opened=opened)
