"""A problem and an expert in, out: which inputs can be moved, and where their values flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gnarl_dsl import model
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE, INPUT, NUMBER
from gnarl_dsl.model.parts import features_named, parts_behind
from gnarl_dsl.report.source import Span

# Sources whose values can be moved (moves.py): cell by cell, or a point at a time.
CELLS = frozenset({"uniform", "clrs_weight", "exponential", "integers", "normal", "lognormal"})
POINTS = frozenset({"euclidean"})


class BoundaryError(ValueError):
    """No instance near a decision boundary can be made: why, and what to do."""


@dataclass(frozen=True)
class Flow:
    """Names of the inputs that can be moved, and of all numbers that depend on them."""

    problem: Problem
    movable: frozenset[str]
    carrying: frozenset[str]
    on_edges: frozenset[str]  # features that have a value on edges only


def flow_of(problem: Problem) -> Flow:
    """Follow the movable inputs through initial values, derived features and updates."""
    movable = frozenset(f.name for f in problem.features if is_movable(f))
    carrying: frozenset[str] = frozenset()
    found = movable
    while found != carrying:
        carrying = found
        found = carrying | frozenset(_reached(problem, carrying))
    on_edges = frozenset(f.name for f in problem.features if f.place is EDGE)
    return Flow(problem, movable, carrying, on_edges)


def is_movable(feature: Feature) -> bool:
    source = feature.source
    numbers = feature.stage is INPUT and feature.is_number
    if not numbers or source is None:
        return False
    laws = {law.name for law in source.laws}
    return laws <= CELLS or laws <= POINTS


def choose_expert(problem: Problem, name: str | None) -> model.OwnExpert:
    """The named expert, or the first; a BoundaryError if there is none with rules or greed."""
    for expert in problem.experts:
        if name not in (None, expert.name):
            continue
        if isinstance(expert, model.PlannedExpert):
            raise BoundaryError(
                f"the expert `{expert.name}` of {problem.name} is made for each instance, so it "
                "has no decision to move instances to; train without boundary instances, or "
                "name an expert with rules"
            )
        return expert
    has = ", ".join(expert.name for expert in problem.experts) or "none"
    wanted = f"expert `{name}`" if name else "expert"
    raise BoundaryError(f"{problem.name} has no {wanted}; its experts: {has}")


def close_lines(flow: Flow, expert: model.RuleExpert | model.GreedyExpert) -> tuple[Span, ...]:
    """Where the expert compares numbers that a movable input may change, in order of the text.

    A BoundaryError if there is no such place.
    """
    found = {span for span, part in _compared(flow.problem, expert) if _may_move(flow, part)}
    if found:
        return tuple(sorted(found))
    names = ", ".join(f"`{name}`" for name in sorted(flow.movable))
    why = f"its rule compares nothing that depends on {names}" if names else _no_input()
    raise BoundaryError(
        f"nothing to move: no decision of the expert `{expert.name}` of {flow.problem.name} "
        f"depends on numbers of the instance ({why}); train without boundary instances, or "
        "name another expert"
    )


def _compared(
    problem: Problem, expert: model.RuleExpert | model.GreedyExpert
) -> Iterator[tuple[Span, object]]:
    """Every comparison of numbers that a rule may make, and what it is made of."""
    if isinstance(expert, model.GreedyExpert):
        yield expert.span, problem.objective(expert.objective).value
        return
    for part in parts_behind(problem, expert.phases):
        match part:
            case model.Compare(of=kind) if kind == NUMBER:
                yield part.span, (part.left, part.right)
            case model.SortKey():
                yield part.value.span, part.value
            case model.Quantifier(op="argmin" | "argmax", body=body) if body is not None:
                yield body.span, body


def _may_move(flow: Flow, part: object) -> bool:
    """Whether a formula reads what depends on a movable input, or is told a number by another."""
    inside = list(parts_behind(flow.problem, part))
    told = any(isinstance(item, model.Variable) and item.type == NUMBER for item in inside)
    return told or any(name in flow.carrying for item in inside for name in features_named(item))


def _no_input() -> str:
    known = ", ".join(sorted(CELLS | POINTS))
    return f"it has no scalar input that is drawn from one of: {known}"


# Reading


def read_by(problem: Problem, part: object) -> set[str]:
    """The features that a part of a problem reads, through lets, clauses and derived features."""
    return {name for item in parts_behind(problem, part) for name in features_named(item)}


# Flowing


def _reached(problem: Problem, carrying: frozenset[str]) -> Iterator[str]:
    """Features that take a number from a carrying one: at reset, by a formula, by an update."""
    for feature in problem.features:
        computed = feature.is_number and not feature.stage.steady
        if computed and not carrying.isdisjoint(read_by(problem, feature.initial)):
            yield feature.name
    for phase in problem.phases:
        yield from _assigned(problem, phase.update, carrying)


def _assigned(
    problem: Problem, body: tuple[model.Statement, ...], carrying: frozenset[str]
) -> Iterator[str]:
    """What a block may write; a `let` inside it counts as read by all of the block."""
    lets = tuple(part for part in body if isinstance(part, model.Bind))
    shared = read_by(problem, lets)
    for statement in body:
        match statement:
            case model.Assign():
                read = shared | read_by(problem, statement.value)
                if problem.feature(statement.feature).is_number and not carrying.isdisjoint(read):
                    yield statement.feature
            case model.When():
                yield from _assigned(problem, (*lets, *statement.then), carrying)
                yield from _assigned(problem, (*lets, *statement.otherwise), carrying)
            case model.ForEach():
                yield from _assigned(problem, (*lets, *statement.body), carrying)
            case model.Bind() | model.SetEdge():
                pass
