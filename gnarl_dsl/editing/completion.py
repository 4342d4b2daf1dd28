"""A document and a cursor in, the words that can stand there out.

The grammar says which keywords fit: the block up to the cursor is given to the parser, which
answers with the terminals it would accept next. Where one of them is a name, the words before
the cursor tell which names are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from gnarl_dsl.editing import vocabulary
from gnarl_dsl.editing.bindings import seen_at
from gnarl_dsl.editing.document import Document, Place, blocks_of, means_phase
from gnarl_dsl.editing.hover import tell
from gnarl_dsl.editing.symbols import Kind
from gnarl_dsl.language.registered import FUNCTIONS, GENERATORS, SOURCES
from gnarl_dsl.language.words import NEAR, WORK
from gnarl_dsl.report.source import Source
from gnarl_dsl.specs import shipped_specs
from gnarl_dsl.syntax.lalr import UnexpectedLexeme
from gnarl_dsl.syntax.layout import EXTERN, STOP_WORDS, LogicalLine, block_lexemes
from gnarl_dsl.syntax.parse import load_grammar

_CURSOR = "cursor_is_here_"
_WORD_BEFORE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORD_AFTER = re.compile(r"[A-Za-z0-9_]*")
_SETS = ("nodes", "edges", *NEAR)
_IN_FORMULAS = (Kind.FEATURE, Kind.LET, Kind.PARAM, Kind.OBJECTIVE)


class Sort(Enum):
    """What a suggestion is; editors show a small picture of it."""

    KEYWORD = "keyword"
    VARIABLE = "variable"
    FEATURE = "feature"
    FUNCTION = "function"
    PARAM = "param"
    PHASE = "phase"
    WORD = "word"
    FILE = "file"


@dataclass(frozen=True)
class Suggestion:
    """A word that fits, what it is in a few words, and what it means."""

    text: str
    sort: Sort
    detail: str = ""
    doc: str = ""


def complete(document: Document, offset: int) -> list[Suggestion]:
    """Words that can stand at the cursor, each once."""
    source = _with_cursor(document.source, offset)
    place = _find_cursor(source)
    if place is None:  # in a comment, in a text, or beyond what can be read
        return []
    found: dict[str, Suggestion] = {}
    for suggestion in _suggest(document, source, place):
        found.setdefault(suggestion.text, suggestion)
    return list(found.values())


def _with_cursor(source: Source, offset: int) -> Source:
    """The text with the word around the cursor replaced by a word that nobody writes."""
    text = source.text
    started = _WORD_BEFORE.search(text[:offset])
    start = started.start() if started else offset
    rest = _WORD_AFTER.match(text, offset)
    end = rest.end() if rest else offset
    return Source(source.name, f"{text[:start]}{_CURSOR}{text[end:]}")


def _find_cursor(source: Source) -> Place | None:
    for block in blocks_of(source):
        for line in block.lines:
            for index, word in enumerate(line.words):
                if word.text == _CURSOR and word.kind == "name":
                    return Place(word, block, line, index)
    return None


def _suggest(document: Document, source: Source, place: Place) -> Iterator[Suggestion]:
    before = [word.text for word in place.before]
    table = _special_words(place, before)
    if table is not None:
        yield from (Suggestion(word, Sort.WORD, doc=doc) for word, doc in table.items())
        return
    expected = _expected_at(place)
    if place.word is place.block.head:
        yield Suggestion(EXTERN, Sort.KEYWORD, "keyword", vocabulary.EXTERN)
        yield Suggestion(" ".join(STOP_WORDS), Sort.KEYWORD, "keyword", vocabulary.STOP["may"])
    elif "NAME" in expected:
        yield from _names(document, source, place)
    signs = load_grammar().signs
    words = sorted(signs[terminal] for terminal in expected if terminal in signs)
    for word in words:
        if word in vocabulary.KEYWORDS:
            yield Suggestion(word, Sort.KEYWORD, "keyword", vocabulary.KEYWORDS[word])


def _expected_at(place: Place) -> frozenset[str]:
    """Terminals that fit at the cursor; lines above that are broken are left out."""
    for lines in (_lines_before(place), _lines_around(place)):
        kinds = load_grammar().kinds
        lexemes = block_lexemes(lines, kinds)
        cut = next(n for n, lexeme in enumerate(lexemes) if lexeme.span == place.word.span)
        try:
            return load_grammar().parser.expected_after(lexemes[:cut])
        except UnexpectedLexeme:
            continue
    return frozenset(["NAME", "NOT", "EXISTS", "FORALL", "COUNT", "SUM", "IF"])


def _lines_before(place: Place) -> list[LogicalLine]:
    lines = place.block.lines
    return list(lines[: lines.index(place.line) + 1])


def _lines_around(place: Place) -> list[LogicalLine]:
    """The line and those that it is nested in."""
    kept = [place.line]
    for line in reversed(_lines_before(place)[:-1]):
        if line.depth < kept[0].depth:
            kept.insert(0, line)
    return kept


# Names


def _names(document: Document, source: Source, place: Place) -> Iterator[Suggestion]:
    """Names that fit, by what stands before the cursor."""
    before = [word.text for word in place.before]
    last = before[-1] if before else ""
    if last == "extends":
        yield from _specs(document)
    elif means_phase(place):
        yield from _declared(document, Kind.PHASE)
    elif last in ("in", "for"):
        yield from _sets() if last == "in" else ()
    elif place.block.head.text == "expert" and last == "uniform":
        yield from _variables(document, source, place)
    elif place.block.head.text == "expert" and before[2:3] == ["="]:
        yield from _parts_of_made(document, before)
    elif place.block.head.text in vocabulary.WINDOWS and _after_criterion(before):
        yield from (Suggestion(w, Sort.WORD, doc=d) for w, d in vocabulary.WINDOW_PARTS.items())
        yield from _formula_names(document, source, place)
    elif not _declares(place, before):
        yield from _formula_names(document, source, place)


def _after_criterion(before: list[str]) -> bool:
    """Whether `first N` can stand here."""
    return bool({"minimising", "maximising"} & set(before[:-1]))


def _special_words(place: Place, before: list[str]) -> Mapping[str, str] | None:
    """Words of a place where only a few fit: columns of a feature, kinds of graphs…"""
    head, depth, index = place.block.head.text, place.line.depth, place.index
    if head == "graph" and index > 0:
        return vocabulary.GRAPH_WORDS
    if head == "reward" and index == 2:
        return vocabulary.REWARD_KINDS
    if head == "instances" and depth > 0:
        return _instance_words(before)
    if head == "expert" and before[2:3] == ["="]:
        return _expert_words(before[3:])
    if head == "features" and depth > 0 and "=" not in before:
        return _feature_words(before)
    if head == STOP_WORDS[0] and index == 1:
        return {STOP_WORDS[1]: vocabulary.STOP[STOP_WORDS[1]]}
    return None


def _expert_words(before: list[str]) -> Mapping[str, str] | None:
    """A way to make an expert, and what comes with it besides names."""
    match before:
        case []:
            return vocabulary.EXPERT_WAYS
        case ["best"]:
            return {"of": vocabulary.EXPERT_PARTS["of"]}
        case ["search", _]:
            return {WORK: vocabulary.EXPERT_PARTS[WORK]}
    return None


def _parts_of_made(document: Document, before: list[str]) -> Iterator[Suggestion]:
    """Objectives or experts, by how the expert is made."""
    if before[3:5] == ["best", "of"] and before[-1] in ("of", ","):
        yield from (e for e in _declared(document, Kind.EXPERT) if e.text != before[1])
    elif len(before) == 4:
        yield from _declared(document, Kind.OBJECTIVE)


def _instance_words(before: list[str]) -> Mapping[str, str]:
    """A split, then a number, then a family with its arguments."""
    if not before:
        return vocabulary.SPLITS
    if len(before) == 2:
        return {name: known.doc for name, known in GENERATORS.items()}
    family = GENERATORS.get(before[2]) if len(before) > 3 else None
    starts = family is not None and before[-1] in ("(", ",")
    known = dict.fromkeys(name for form in family.forms for name in form) if family else {}
    return dict.fromkeys(["n", *known], "an argument") if starts else {}


def _feature_words(before: list[str]) -> Mapping[str, str]:
    """The next column of a feature, not counting what stands in parentheses."""
    if before.count("(") > before.count(")"):
        return {}
    if "~" in before:
        sources = {name: known.doc for name, known in SOURCES.items()}
        return sources if before[-1] in ("~", "|") else {}
    spent = len(re.sub(r"\([^)]*\)", "", " ".join(before)).split())
    columns: tuple[Mapping[str, str], ...] = (
        {},
        vocabulary.STAGES,
        vocabulary.PLACES,
        vocabulary.TYPES,
    )
    return columns[spent] if spent < len(columns) else {}


def _declares(place: Place, before: list[str]) -> bool:
    """Whether a new name is to be written here, which nobody can guess."""
    names_block = place.index == 1 and before[0] in vocabulary.DECLARING
    bracket = (before[:1] == ["phase"] and "when" not in before) or (
        before[:1] == ["let"] and "=" not in before
    )
    return names_block or bracket or before[-1:] in (["exists"], ["forall"])


def _specs(document: Document) -> Iterator[Suggestion]:
    beside = Path(document.source.name).parent.glob("*.gnarl")
    names = {path.stem for path in (*beside, *shipped_specs())}
    own = Path(document.source.name).stem
    yield from (Suggestion(name, Sort.FILE, "spec") for name in sorted(names - {own}))


def _sets() -> Iterator[Suggestion]:
    for name in _SETS:
        form, doc = vocabulary.FORMULA_NAMES[name]
        yield Suggestion(name, Sort.WORD, form, doc)


def _formula_names(document: Document, source: Source, place: Place) -> Iterator[Suggestion]:
    """Variables, what the spec declares, and what is built in."""
    yield from _variables(document, source, place)
    yield from _declared(document, *_IN_FORMULAS)
    for name, (form, doc) in vocabulary.FORMULA_NAMES.items():
        if name not in _SETS:
            yield Suggestion(name, Sort.FUNCTION, form, doc)
    own = {symbol.name for symbol in document.known if symbol.kind in _IN_FORMULAS}
    for name in (name for name in FUNCTIONS if name not in own):
        yield Suggestion(
            name, Sort.FUNCTION, vocabulary.function_form(name), vocabulary.function_doc(name)
        )


def _variables(document: Document, source: Source, place: Place) -> Iterator[Suggestion]:
    every = document.locals_of(source)
    for local in sorted(seen_at(every, place.word.span.start), key=lambda local: local.name):
        if local.name != _CURSOR:
            yield Suggestion(local.name, Sort.VARIABLE, local.role)


_SORTS = {
    Kind.FEATURE: Sort.FEATURE,
    Kind.LET: Sort.FUNCTION,
    Kind.PARAM: Sort.PARAM,
    Kind.PHASE: Sort.PHASE,
}


def _declared(document: Document, *kinds: Kind) -> Iterator[Suggestion]:
    for symbol in document.known:
        if symbol.kind in kinds:
            sort = _SORTS.get(symbol.kind, Sort.VARIABLE)
            yield Suggestion(symbol.name, sort, symbol.kind.value, tell(document, symbol))
