"""A checked document in; out: types and levels to show beside its lets, and what folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gnarl_dsl.editing.document import Document
from gnarl_dsl.levels.levels import default_use, levels_of
from gnarl_dsl.model import Feature, Let, Problem
from gnarl_dsl.model.kinds import DERIVED, GRAPH, NODE, NODE_VALUE, NUMBER, PAIR, SCALAR
from gnarl_dsl.syntax import ast

# Where a number lives that depends on so many nodes.
_PLACES = (GRAPH, NODE, PAIR)


@dataclass(frozen=True)
class Aside:
    """Text behind an offset."""

    offset: int
    text: str


@dataclass(frozen=True)
class Fold:
    """Lines, from 0, of which all but the first can be hidden."""

    first: int
    last: int
    comment: bool = False


def asides(document: Document) -> Iterator[Aside]:
    """`: number, ratio (A)` behind the name of each let of the file, and its parameters."""
    names, problem = document.checked.names, document.checked.problem
    levels = let_levels(problem) if problem is not None else {}
    for block in document.checked.tree.blocks:
        if not isinstance(block, ast.Let) or names is None:
            continue
        info = names.lets.get(block.name.text)
        if info is None or block.span.file != 0:
            continue
        level = levels.get(block.name.text)
        told = f": {info.body.type}" + (f", {level}" if level else "")
        yield Aside(_before_equals(document, block), told)


def _before_equals(document: Document, block: ast.Let) -> int:
    """Behind the last word in front of `=`."""
    text = document.source.text
    depth = 0
    for offset in range(block.name.span.end, block.span.end):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if text[offset] == "=" and depth == 0:
            return len(text[:offset].rstrip())
    return block.name.span.end


def let_levels(problem: Problem) -> dict[str, str]:
    """`ratio (A)` for each let that is a number: read as if it was a derived feature."""
    shown = {let.name: own for let in problem.lets if (own := _as_feature(let)) is not None}
    taken = {feature.name: name for name, feature in shown.items()}
    more = problem.model_copy(update={"features": (*problem.features, *shown.values())})
    found = {}
    for name, measure in levels_of(more, default_use(problem)).items():
        if name in taken:
            unit = f" ({measure.unit})" if measure.unit else ""
            found[taken[name]] = f"{measure.level.name}{unit}"
    return found


def _as_feature(let: Let) -> Feature | None:
    nodes = [param for param in let.params if param.type is NODE_VALUE]
    if let.type is not NUMBER or len(nodes) != len(let.params) or len(nodes) >= len(_PLACES):
        return None
    return Feature.model_validate(
        {
            "span": let.span,
            "name": f"let {let.name}",
            "stage": DERIVED.name,
            "place": _PLACES[len(nodes)].name,
            "type": SCALAR.name,
            "vars": tuple(param.name for param in nodes),
            "categories": 0,
            "choices": (),
            "initial": let.body,
            "source": None,
            "doc": "",
        }
    )


def folds(document: Document) -> Iterator[Fold]:
    """Blocks of more than one line, and comments of several."""
    source = document.source
    for block in document.blocks:
        last = block.lines[-1].words[-1].span.end if block.lines else block.head.span.end
        first = source.line_of(block.head.span.start)
        if source.line_of(last) > first:
            yield Fold(first, source.line_of(last))
    start = None
    for line in range(source.line_count + 1):
        within = line < source.line_count and source.line_text(line).lstrip().startswith("#")
        if within and start is None:
            start = line
        elif not within and start is not None:
            if line - 1 > start:
                yield Fold(start, line - 1, comment=True)
            start = None
