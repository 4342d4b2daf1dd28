"""A word of a document in, Markdown about it out: type, stage, what is said about it."""

from __future__ import annotations

from gnarl_dsl.check.context import FeatureInfo
from gnarl_dsl.editing import vocabulary
from gnarl_dsl.editing.bindings import Local
from gnarl_dsl.editing.document import Document, Place, is_extended, means_phase
from gnarl_dsl.editing.symbols import Kind, Symbol
from gnarl_dsl.language.registered import FUNCTIONS, GENERATORS, SOURCES
from gnarl_dsl.language.words import EXPERT_WAYS, WORK, Way
from gnarl_dsl.syntax import ast


def describe(document: Document, place: Place) -> str | None:
    """What a person who points at a word wants to know."""
    if is_extended(place):
        return f"The spec that this one starts from: `{_base_name(document)}`."
    own = about_special(place)
    if own is not None:
        return own
    local = None if means_phase(place) else document.local_for(place)
    if local is not None:
        return _about_local(local)
    symbol = document.symbol_for(place)
    if symbol is not None and (
        place.word.text not in vocabulary.KEYWORDS or symbol.kind is Kind.CLAUSE
    ):
        return _about_symbol(document, symbol)
    return _about_word(place.word.text)


def _base_name(document: Document) -> str:
    names = [source.name for source in document.checked.sources[1:]]
    return names[0] if names else "not found"


def _about_local(local: Local) -> str:
    return f"{_code(local.name)}\n{local.role[:1].upper()}{local.role[1:]}."


def _about_symbol(document: Document, symbol: Symbol) -> str:
    """The declaration as it stands in its file, and what follows from it."""
    source = document.checked.sources[symbol.tree.span.file]
    shown = _code(_first_lines(source.text[symbol.tree.span.start : symbol.tree.span.end]))
    told = tell(document, symbol)
    beside = symbol.tree.span.file != 0
    return "\n\n".join(filter(None, [shown, told, f"From {source.name}." if beside else ""]))


def _first_lines(text: str, most: int = 8) -> str:
    lines = text.splitlines()
    return "\n".join(lines[:most] + (["…"] if len(lines) > most else []))


def _code(text: str) -> str:
    return f"```gnarl\n{text}\n```"


def tell(document: Document, symbol: Symbol) -> str:
    """One or two sentences about a declaration."""
    match symbol.tree:
        case ast.Feature():
            return _feature(document, symbol.tree)
        case ast.Let():
            return _let(document, symbol.tree)
        case ast.Param():
            choice = f"a choice of {len(symbol.tree.choices)} words" if symbol.tree.choices else ""
            return _joined(f"A param: {choice or 'a number'}.", symbol.tree.doc)
        case ast.ProblemHead():
            return symbol.tree.doc
        case ast.Phase():
            return f"A phase: picks the node `{symbol.tree.variable.text}`."
        case ast.Extern():
            return _joined(vocabulary.EXTERN, symbol.tree.doc)
        case ast.MadeExpert():
            return _made_expert(symbol.tree)
        case _:  # what its block means is all there is to say
            keywords = vocabulary.KEYWORDS
            return keywords.get(symbol.kind.value) or keywords[symbol.name]


def _made_expert(tree: ast.MadeExpert) -> str:
    match EXPERT_WAYS.get(tree.method.text):
        case Way.GREEDY:
            return "An expert that looks one round ahead."
        case Way.SEARCH:
            return "An expert that follows, on each instance, the best episode that search finds."
        case Way.BEST:
            return "For each instance the one of these experts whose play ends best."
    return "An expert whose line has a mistake."


def _joined(*sentences: str) -> str:
    return "\n\n".join(filter(None, sentences))


def _feature(document: Document, tree: ast.Feature) -> str:
    names = document.checked.names
    info = names.declared.features.get(tree.name.text) if names else None
    if info is None:
        return _joined("A feature whose line has a mistake.", tree.doc)
    return _joined(f"{_values(info)} {info.stage.doc}", tree.doc)


def _values(info: FeatureInfo) -> str:
    noun = info.type.noun
    what = noun if info.type.single else f"{noun} {info.place.per}"
    return f"Feature, `{info.stage.name}`: {what}."


def _let(document: Document, tree: ast.Let) -> str:
    names = document.checked.names
    info = names.lets.get(tree.name.text) if names else None
    if info is None:
        return "A let."
    typed = ", ".join(f"{param.name}: {param.type}" for param in info.params)
    form = f"{tree.name.text}({typed})" if typed else tree.name.text
    return f"`{form}` is {info.body.type}."


# Words of the language

_MAKING = (("of", 4), (WORK, 5))


def about_special(place: Place) -> str | None:
    """Words that mean something only where they stand: in a feature line, after `graph`."""
    word, head, depth = place.word.text, place.block.head.text, place.line.depth
    words = [item.text for item in place.before]
    column = place.index > 0 and words.count("(") == words.count(")")
    if head == "features" and depth > 0 and column and not {"=", "~"} & set(words):
        return _named(word, {**vocabulary.STAGES, **vocabulary.PLACES, **vocabulary.TYPES})
    if head == "features" and "~" in words and word in SOURCES:
        known = SOURCES[word]
        return f"{_code(known.called(word))}\nA source: {known.doc}."
    if head == "graph" and place.index > 0:
        return _named(word, vocabulary.GRAPH_WORDS)
    if head == "reward" and place.index == 2:
        return _named(word, vocabulary.REWARD_KINDS)
    if head == "instances" and depth > 0:
        return _about_instances(place)
    if head == "expert" and words[2:3] == ["="]:
        return _about_making(word, place.index)
    if head in vocabulary.STOP and place.index < 2:
        return _named(word, vocabulary.STOP)
    if head in vocabulary.WINDOWS:
        table = vocabulary.WINDOW_PARTS if place.index > 0 and _ends_line(place) else {}
        return _named(word, table if place.index else vocabulary.WINDOWS)
    return None


def _ends_line(place: Place) -> bool:
    """Whether only a number follows."""
    return [word.kind for word in place.line.words[place.index + 1 :]] == ["number"]


def _about_making(word: str, index: int) -> str | None:
    """`search tour work 2000`, `best of a, b`: the words at their places, which names may have."""
    if index == 3:
        return _named(word, vocabulary.EXPERT_WAYS)
    return _named(word, vocabulary.EXPERT_PARTS) if (word, index) in _MAKING else None


def _about_instances(place: Place) -> str | None:
    word = place.word.text
    if place.index == 0:
        return _named(word, vocabulary.SPLITS)
    if word in GENERATORS and place.index == 2:
        known = GENERATORS[word]
        forms = (f"{word}({', '.join(['n', *form])})" for form in known.forms)
        return f"{_code(' | '.join(forms))}\n{known.doc}."
    return None


def _named(word: str, table: dict[str, str]) -> str | None:
    return f"{_code(word)}\n{table[word]}" if word in table else None


def _about_word(word: str) -> str | None:
    """A keyword, a name that formulas know, or a registered function."""
    if word in FUNCTIONS:
        return f"{_code(vocabulary.function_form(word))}\n{vocabulary.function_doc(word)}"
    if word in vocabulary.FORMULA_NAMES:
        form, doc = vocabulary.FORMULA_NAMES[word]
        return f"{_code(form)}\n{doc}"
    if word in vocabulary.KEYWORDS:
        return f"{_code(word)}\n{vocabulary.KEYWORDS[word]}"
    return None
