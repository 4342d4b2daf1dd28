"""An `extern` block in, what it promises out: arguments, result, and words about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnarl_dsl import model
from gnarl_dsl.check.context import Declarations
from gnarl_dsl.check.hints import FOREIGN_PLACES, FOREIGN_TYPES
from gnarl_dsl.language.signatures import WHOLE
from gnarl_dsl.language.words import LET_TYPES
from gnarl_dsl.model.kinds import (
    EDGE,
    GRAPH,
    LEVELS,
    MASK,
    PLACES,
    POINTER,
    SCALAR,
    TYPES,
    FeatureType,
    Place,
    Value,
)
from gnarl_dsl.report.diagnostics import Note
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

FUNCTION, GENERATOR, SOURCE = "extern", "generator", "source"  # as in `Trade`
FLAGS = ("oracle", "random", "whole")
CALLED = ("cost", "preserves")
_RESULTS = (SCALAR, MASK, POINTER)
_FORM = "extern largest_part(removed : node mask) : graph scalar"
_SINGLE: Mapping[Value, FeatureType] = {kind.cell: kind for kind in (SCALAR, MASK, POINTER)}
_DEFAULT_COST: tuple[tuple[int, int], ...] = ((1, 0), (0, 1))
MAX_POWER = 9
Powers = frozenset[tuple[int, int]]


def check_extern(names: Declarations, tree: ast.Extern) -> model.Extern | None:
    """The declared signature, or None if its mistakes leave nothing to go by."""
    _verify_fresh_names(names, tree)
    words = list(tree.words)
    kind = FUNCTION
    if words[0].name.text in (GENERATOR, SOURCE) and not words[0].args:
        kind = words.pop(0).name.text
    place, result = GRAPH, SCALAR
    if kind != GENERATOR:
        found = _place_and_type(names, tree, words)
        if found is None:
            return None
        (place, result), words = found, words[2:]
    params = [_param(names, param, kind) for param in tree.params]
    about = _about(names, words, kind)
    if any(param is None for param in params):
        return None
    fits = result in _RESULTS and not (result is POINTER and place is EDGE)
    if kind == FUNCTION and not fits:
        _unfit(names, tree.words[1].span, f"can't give a {result} on {place.plural}", _results())
        return None
    return model.Extern.model_construct(
        span=tree.span,
        name=tree.name.text,
        kind=kind,
        params=tuple(param for param in params if param is not None),
        place=place,
        type=result,
        doc=tree.doc,
        **about,
    )


def _results() -> str:
    given = ", a ".join(map(str, _RESULTS[:-1]))
    given = ", a ".join(map(str, _RESULTS[:-1]))
    return f"Give a {given} or a {_RESULTS[-1]}, which edges have none of."


def _verify_fresh_names(names: Declarations, tree: ast.Extern) -> None:
    first: dict[str, Span] = {}
    for param in tree.params:
        name = param.name.text
        if name in first:
            notes = [Note(first[name], "the first one is here")]
            names.found.add("GN101", param.name.span, kind="parameter", name=name, notes=notes)
        first.setdefault(name, param.name.span)


def _unfit(names: Declarations, span: Span, what: str, fix: str | None = None) -> None:
    names.found.add("GN146", span, what=what, fix=fix or f"Write it like `{_FORM}`.")


# What is given and what comes back


def _place_and_type(
    names: Declarations, tree: ast.Extern, words: Sequence[ast.ExternWord]
) -> tuple[Place, FeatureType] | None:
    """The two words of the result."""
    if len(words) < 2 or words[0].args or words[1].args:
        span = words[0].span.to(words[-1].span) if words else tree.words[0].span
        _unfit(names, span, "gives a location and a type, in two words")
        return None
    return _located(names, words[0], words[1])


def _located(
    names: Declarations, place: ast.ExternWord, kind: ast.ExternWord
) -> tuple[Place, FeatureType] | None:
    own_place, own_type = PLACES.get(place.name.text), TYPES.get(kind.name.text)
    if own_place is None:
        _unknown(names, "GN105", place, PLACES, FOREIGN_PLACES)
    if own_type is None:
        _unknown(names, "GN106", kind, TYPES, FOREIGN_TYPES)
    return None if own_place is None or own_type is None else (own_place, own_type)


def _unknown(
    names: Declarations,
    code: str,
    word: ast.ExternWord,
    known: Mapping[str, Any],
    foreign: Mapping[str, str],
) -> None:
    name = word.name.text
    fix = did_you_mean(name, known) or foreign.get(name)
    names.found.add(code, word.name.span, name=name, expected=", ".join(known), fix=fix)


def _param(names: Declarations, tree: ast.ExternParam, kind: str) -> model.ExternParam | None:
    """`removed : node mask` is a whole feature, `k : scalar` one value."""
    name, words = tree.name.text, tree.words
    if kind != FUNCTION:
        return _number_param(names, tree, kind)
    if not words or len(words) > 2 or any(word.args for word in words):
        what = f"must know what `{name}` is: a location and a type, or the type of one value"
        _unfit(names, tree.span, what, f"Write `{name} : node mask`, or `{name} : scalar`.")
        return None
    if len(words) == 1:
        value = LET_TYPES.get(words[0].name.text)
        if value is None:
            place = PLACES.get(words[0].name.text)
            fix = f"Write `{name} : {place} scalar` for a whole feature." if place else None
            expected = f"{', '.join(LET_TYPES)}, or a location and a type"
            word = words[0].name
            names.found.add("GN106", word.span, name=word.text, expected=expected, fix=fix)
            return None
        return _param_of(name, None, _SINGLE[value])
    located = _located(names, *words)
    if located is None:
        return None
    place, own = located
    if place is GRAPH and own in _SINGLE.values():
        return _param_of(name, None, own)
    if (place, own) not in WHOLE:
        fix = f"Write `{name} : node`: the marked node is given." if own.single else None
        what = f"can't be given a {own} on {place.plural}"
        _unfit(names, tree.span, what, fix)
        return None
    return _param_of(name, place, own)


def _number_param(
    names: Declarations, tree: ast.ExternParam, kind: str
) -> model.ExternParam | None:
    """What generators and sources are given are numbers."""
    own = [word.name.text for word in tree.words]
    if own in ([], ["scalar"]) and not any(word.args for word in tree.words):
        if kind == GENERATOR and tree.name.text == "n":
            _unfit(names, tree.span, "is always given `n`, the number of nodes", "Leave it out.")
        return _param_of(tree.name.text, None, SCALAR)
    what = f"is a {kind}, which is given numbers only"
    _unfit(names, tree.span, what, f"Write `{tree.name.text}` alone.")
    return None


def _param_of(name: str, place: Place | None, kind: FeatureType) -> model.ExternParam:
    return model.ExternParam.model_construct(name=name, place=place, type=kind)


# What else is said about it


def _about(names: Declarations, words: Sequence[ast.ExternWord], kind: str) -> dict[str, Any]:
    """The optional words behind the result, in any order."""
    known = (*FLAGS, *CALLED) if kind == FUNCTION else ()
    cost, level = _DEFAULT_COST, ""
    seen: dict[str, ast.ExternWord] = {}
    for word in words:
        name = word.name.text
        if name not in known or (name in FLAGS and word.args) or (name in CALLED and not word.args):
            fix = f"Write `{name}(…)`." if name in CALLED and name in known else None
            fix = fix or did_you_mean(name, known)
            expected = (
                ", ".join([*FLAGS, "cost(n * m)", "preserves(LEVEL)"]) if known else "nothing"
            )
            names.found.add("GN147", word.span, name=name, expected=expected, fix=fix)
        elif name in seen:
            notes = [Note(seen[name].span, "the first one is here")]
            names.found.add("GN124", word.span, word=name, notes=notes)
        seen.setdefault(name, word)
    if "cost" in seen and seen["cost"].args and "cost" in known:
        cost = _cost(names, seen["cost"])
    if "preserves" in seen and seen["preserves"].args and "preserves" in known:
        level = _level(names, seen["preserves"])
    flags = {flag: flag in seen and flag in known for flag in FLAGS}
    return {"cost": cost, "level": level, **flags}


def _level(names: Declarations, word: ast.ExternWord) -> str:
    given = word.args[0]
    if len(word.args) == 1 and isinstance(given, ast.Name) and given.text in LEVELS:
        return given.text
    name = given.text if isinstance(given, ast.Name) else "preserves"
    expected, fix = " or ".join(LEVELS), did_you_mean(name, LEVELS)
    names.found.add("GN147", given.span, name=name, expected=expected, fix=fix)
    return ""


def _cost(names: Declarations, word: ast.ExternWord) -> tuple[tuple[int, int], ...]:
    """`cost(n * m + n)`: the exponents of n and m in each term."""
    powers = _powers(word.args[0]) if len(word.args) == 1 else None
    if powers is None or any(sum(term) > MAX_POWER for term in powers):
        names.found.add("GN148", word.span)
        return _DEFAULT_COST
    return tuple(sorted(powers, reverse=True))


def _powers(tree: ast.Expr) -> Powers | None:
    match tree:
        case ast.Number():
            return frozenset({(0, 0)})
        case ast.Name(text="n"):
            return frozenset({(1, 0)})
        case ast.Name(text="m"):
            return frozenset({(0, 1)})
        case ast.Binary(op="+" | "*"):
            left, right = _powers(tree.left), _powers(tree.right)
            if left is None or right is None:
                return None
            if tree.op == "+":
                return left | right
            return frozenset((a[0] + b[0], a[1] + b[1]) for a in left for b in right)
    return None
