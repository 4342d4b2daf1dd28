"""Lines of a `features` block in, declared features out: stage, location, type, shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from gnarl_dsl.check.context import Declarations, FeatureInfo
from gnarl_dsl.check.hints import FOREIGN_PLACES, FOREIGN_STAGES, FOREIGN_TYPES
from gnarl_dsl.language import registered
from gnarl_dsl.model.kinds import (
    CATEGORICAL,
    DERIVED,
    EDGE,
    GRAPH,
    INPUT,
    NODE,
    ORACLE,
    PAIR,
    PLACES,
    STAGES,
    TYPES,
    FeatureType,
    Place,
    Stage,
)
from gnarl_dsl.report.suggestions import count_of, did_you_mean
from gnarl_dsl.syntax import ast

W = TypeVar("W", covariant=True)


@dataclass(frozen=True)
class _Column(Generic[W]):
    """One column of a line: its words, what other languages say for them, and a usual one."""

    known: Mapping[str, W]
    foreign: Mapping[str, str]
    code: str
    usual: str


_STAGE: _Column[Stage] = _Column(STAGES, FOREIGN_STAGES, "GN104", "state")
_PLACE: _Column[Place] = _Column(PLACES, FOREIGN_PLACES, "GN105", "node")
_TYPE: _Column[FeatureType] = _Column(TYPES, FOREIGN_TYPES, "GN106", "scalar")
_COLUMNS: tuple[_Column[object], ...] = (_STAGE, _PLACE, _TYPE)
_POSITIONS = {
    NODE: ("node(x)", "a node has one position, which gets one name"),
    EDGE: ("edge(x, y)", "an edge has two ends with a name each"),
    PAIR: ("pair(x, y)", "a pair has two positions with a name each"),
    GRAPH: ("graph", "there is only one graph, so it has no position"),
}


def declare_feature(names: Declarations, tree: ast.Feature) -> None:
    """Declare a feature whose name is free; report columns that do not fit."""
    if len(tree.columns) != len(_COLUMNS) or _in_wrong_order(tree):
        found = " ".join(column.name.text for column in tree.columns) or "nothing"
        fix = _columns_fix(tree)
        names.found.add("GN103", tree.span, name=tree.name.text, found=found, fix=fix)
        names.lose(tree.name.text)
        return
    stage = _word(names, tree.columns[0], _STAGE)
    place = _word(names, tree.columns[1], _PLACE)
    kind = _word(names, tree.columns[2], _TYPE)
    if stage is None or place is None or kind is None:
        names.lose(tree.name.text)
        return
    if kind.fixed and stage is not INPUT:
        name, what = tree.name.text, stage.article
        names.found.add("GN145", tree.span, name=name, type=kind.name, stage=what)
        names.lose(name)
        return
    position = _position(names, tree.columns[1], place)
    categories = _categories(names, tree.columns[2], kind)
    info = FeatureInfo(tree, stage, place, kind, position, *categories)
    names.features[tree.name.text] = info
    _verify_shape(names, info)
    _verify_right_hand_side(names, info)


# Columns


def _in_wrong_order(tree: ast.Feature) -> bool:
    """Whether the three columns are all there, but not in their places."""
    words = [column.name.text for column in tree.columns]
    each_once = all(sum(word in column.known for word in words) == 1 for column in _COLUMNS)
    return each_once and not all(
        word in column.known for word, column in zip(words, _COLUMNS, strict=True)
    )


def _columns_fix(tree: ast.Feature) -> str:
    """The line with its gaps filled, so that it can be copied."""
    words = [column.name.text for column in tree.columns]
    columns = [
        next((word for word in words if word in column.known), column.usual) for column in _COLUMNS
    ]
    return f"Write `{tree.name.text}  {'  '.join(columns)}  …`."


def _word(names: Declarations, tree: ast.Column, column: _Column[W]) -> W | None:
    word = tree.name.text
    if word in column.known:
        return column.known[word]
    elsewhere = any(word in other.known for other in _COLUMNS)
    order = "The order is: name, stage, location, type." if elsewhere else None
    fix = did_you_mean(word, column.known) or order or column.foreign.get(word)
    expected = ", ".join(column.known)
    names.found.add(column.code, tree.name.span, name=word, expected=expected, fix=fix)
    return None


def _position(names: Declarations, column: ast.Column, place: Place) -> tuple[ast.Ident, ...]:
    idents = {arg.text: arg for arg in column.args if isinstance(arg, ast.Ident)}
    if column.args and len(idents) != place.width:
        form, why = _POSITIONS[place]
        names.found.add("GN107", column.span, form=form, why=why)
    return tuple(idents.values())


def _categories(
    names: Declarations, column: ast.Column, kind: FeatureType
) -> tuple[int, tuple[str, ...]]:
    words = tuple(arg.text for arg in column.args if isinstance(arg, ast.Ident))
    if kind is not CATEGORICAL:
        if column.args:
            names.found.add("GN128", column.span, name=kind.name)
        return 0, ()
    if len(words) >= 2 and len(words) == len(column.args) and len(set(words)) == len(words):
        return len(words), words
    if len(words) > 1:
        words = tuple(dict.fromkeys(words))
    count = column.args[0] if len(column.args) == 1 else None
    if isinstance(count, ast.Number) and count.value.is_integer() and 2 <= count.value <= 1000:
        return int(count.value), ()
    names.found.add("GN123", column.span)
    return max(2, len(words)), words


# What goes together


def _verify_shape(names: Declarations, info: FeatureInfo) -> None:
    """Places, types and stages that do not go together."""
    tree = info.tree
    if info.place not in info.type.places:
        _report_misplaced(names, info)
    elif info.type.single and info.vars:
        # One node is marked, so the formula is for all of them, not for each.
        why = "one node of all is marked, so what stands after `=` is that node"
        names.found.add("GN107", tree.columns[1].span, form="node", why=why)
    if names.is_mutable and info.place is EDGE and info.stage is not DERIVED:
        names.found.add("GN125", tree.span, name=tree.name.text)


def _report_misplaced(names: Declarations, info: FeatureInfo) -> None:
    span = info.tree.columns[1].span.to(info.tree.columns[2].span)
    names.found.add(
        "GN108",
        span,
        type=info.type.name,
        place=info.place.plural,
        where=" or ".join(place.plural for place in info.type.places),
        fix="It marks one of all nodes: write `node`." if info.type.single else None,
    )


def _verify_right_hand_side(names: Declarations, info: FeatureInfo) -> None:
    tree = info.tree
    if info.stage is INPUT:
        if tree.source is not None:
            verify_source(names, info, tree.source)
        elif tree.value is None:
            _report_no_value(names, info, f"~ {info.type.law}")
    elif tree.source is not None:
        span, stage = tree.source.span, info.stage.name
        names.found.add("GN129", span, name=tree.name.text, stage=stage)
    elif tree.value is None and info.stage is not ORACLE and not info.unset:
        blank = info.choices[0] if info.choices else info.type.blank
        _report_no_value(names, info, f"= {blank}")


def _report_no_value(names: Declarations, info: FeatureInfo, ending: str) -> None:
    tree = info.tree
    columns = "  ".join(column.name.text for column in tree.columns)
    form = f"{tree.name.text}  {columns}  {ending}"
    names.found.add("GN109", tree.span, name=tree.name.text, stage=info.stage.name, form=form)


def verify_source(names: Declarations, info: FeatureInfo, source: ast.SourceOf) -> None:
    """Every law must fit the feature, and one that is not drawn stands alone."""
    for law in (source, *source.others):
        _verify_law(names, info, law)
        if source.others and law.name.text == "given":
            names.found.add("GN144", law.name.span)


def _verify_law(names: Declarations, info: FeatureInfo, source: ast.SourceOf) -> None:
    signature = names.law(source.name.text)
    name, found = source.name.text, names.found
    if signature is None and names.is_lost(name):
        return
    if signature is None:
        known = [*names.externs_of("source"), *registered.SOURCES]
        fix, expected = did_you_mean(name, known), ", ".join(known)
        found.add("GN110", source.span, name=name, expected=expected, fix=fix)
        return
    wanted, given = len(signature.args), len(source.args)
    if info.place not in signature.places or info.type not in signature.types:
        found.add(
            "GN130",
            source.span,
            name=name,
            place=info.place.plural,
            type=info.type.name,
            fits=f"a {' or '.join(kind.name for kind in signature.types)}",
            on=" or ".join(place.plural for place in signature.places),
        )
    elif given != wanted and (given or not signature.defaults):
        expected, told = count_of(wanted, "argument"), count_of(given)
        form = signature.called(name)
        found.add("GN203", source.span, name=name, expected=expected, found=told, form=form)
