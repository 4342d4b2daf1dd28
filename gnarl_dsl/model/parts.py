"""A part of a problem in, everything that it is made of out, or all that it depends on."""

from __future__ import annotations

from collections.abc import Iterator

from gnarl_dsl.model.expr import (
    Chase,
    ClauseRef,
    Expr,
    FeatureRef,
    LetCall,
    Model,
    OneNode,
    Read,
)
from gnarl_dsl.model.problem import Problem


def parts_inside(part: object) -> Iterator[Model]:
    """A part and all that it is made of, in the order of the text."""
    if isinstance(part, tuple):
        for item in part:
            yield from parts_inside(item)
    elif isinstance(part, Model):
        yield part
        for value in vars(part).values():
            yield from parts_inside(value)


def parts_behind(problem: Problem, part: object) -> Iterator[Model]:
    """The same, and what the names in it stand for; each definition is entered once."""
    return _behind(problem, part, set())


def _behind(problem: Problem, part: object, entered: set[str]) -> Iterator[Model]:
    if isinstance(part, tuple):
        for item in part:
            yield from _behind(problem, item, entered)
    elif isinstance(part, Model):
        yield part
        yield from _behind(problem, tuple(vars(part).values()), entered)
        for name, body in _definitions(problem, part):
            if name not in entered:
                entered.add(name)
                yield from _behind(problem, body, entered)


def _definitions(problem: Problem, part: Model) -> Iterator[tuple[str, Expr | None]]:
    """The formulas of the lets, clauses and derived features that a part names."""
    match part:
        case LetCall():
            yield f"let {part.name}", problem.let(part.name).body
        case ClauseRef(clause="objective"):
            yield f"objective {part.name}", problem.objective(part.name).value
        case ClauseRef():
            yield part.clause, problem.correct if part.clause == "correct" else problem.valid
    for feature in map(problem.feature, features_named(part)):
        if feature.stage.computed:
            yield f"feature {feature.name}", feature.initial


def features_named(part: Model) -> tuple[str, ...]:
    """The features that an expression itself reads."""
    match part:
        case Read() | OneNode() | FeatureRef():
            return (part.feature,)
        case Chase():
            return (part.pointer, part.weight) if part.weight else (part.pointer,)
    return ()
