"""A checked document in, what each of its names is out: colours that a grammar cannot know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gnarl_dsl.editing import vocabulary
from gnarl_dsl.editing.document import Document, Place, means_phase
from gnarl_dsl.editing.hover import about_special
from gnarl_dsl.editing.symbols import Kind, Symbol
from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.report.source import Span

# Names that the Language Server Protocol has, in the order of their numbers.
TYPES = (
    *("namespace", "parameter", "variable", "property", "enumMember", "event", "function"),
    *("method",),
)
MODIFIERS = ("declaration", "readonly", "defaultLibrary", "modification")
_TYPES = {
    Kind.PROBLEM: "namespace",
    Kind.PARAM: "enumMember",
    Kind.FEATURE: "property",
    Kind.LET: "function",
    Kind.PHASE: "event",
    Kind.OBJECTIVE: "variable",
    Kind.REWARD: "variable",
    Kind.METRIC: "variable",
    Kind.EXPERT: "method",
    Kind.INSTANCES: "namespace",
    Kind.EXTERN: "function",
}


@dataclass(frozen=True)
class Token:
    """A name and what it is; words of the language are left to the grammar that colours them."""

    span: Span
    type: str
    modifiers: tuple[str, ...] = ()


def tokens(document: Document) -> list[Token]:
    """In the order of the text."""
    return [token for place in _names(document) if (token := _token(document, place))]


def _names(document: Document) -> Iterator[Place]:
    for block in document.blocks:
        for line in block.lines:
            for index, word in enumerate(line.words):
                if word.kind == "name":
                    yield Place(word, block, line, index)


def _token(document: Document, place: Place) -> Token | None:
    word = place.word
    if about_special(place) is not None:
        return None
    local = None if means_phase(place) else document.local_for(place)
    if local is not None:
        declared = ("declaration",) if local.span == word.span else ()
        return Token(word.span, "parameter", declared)
    symbol = document.symbol_for(place)
    if symbol is not None and symbol.kind in _TYPES and word.text not in vocabulary.KEYWORDS:
        return Token(word.span, _TYPES[symbol.kind], _modifiers(document, symbol, place))
    if word.text in FUNCTIONS:
        return Token(word.span, "function", ("defaultLibrary",))
    return None


def _modifiers(document: Document, symbol: Symbol, place: Place) -> tuple[str, ...]:
    found = []
    if symbol.at == place.word.span:
        found.append("declaration")
    names = document.checked.names
    info = names.declared.features.get(symbol.name) if names else None
    written = info is not None and info.stage.written
    if symbol.kind is Kind.PARAM or (info is not None and not written):
        found.append("readonly")
    if written and _is_written(place):
        found.append("modification")
    return tuple(found)


def _is_written(place: Place) -> bool:
    """Whether it stands in front of `:=`."""
    return place.index == 0 and any(word.text == ":=" for word in place.line.words)
