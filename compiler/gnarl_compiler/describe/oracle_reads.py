"""A formula of a problem in, the oracles it reads out, through lets and clauses."""

from __future__ import annotations

from collections.abc import Iterator

from gnarl_dsl.language.builtins import FUNCTIONS
from gnarl_dsl.model import (
    Call,
    Chase,
    ClauseRef,
    Expr,
    FeatureRef,
    LetCall,
    Model,
    OneNode,
    Problem,
    Read,
)
from gnarl_dsl.model.kinds import ORACLE


def oracles_read_by(problem: Problem, formula: Expr | None) -> list[str]:
    """Names in the order of reading: oracle features, and functions that solve the problem."""
    hidden = {feature.name for feature in problem.features if feature.stage is ORACLE}
    hidden |= {name for name, signature in FUNCTIONS.items() if signature.oracle}
    names = (name for part in _parts(problem, formula, set()) for name in _names_in(part))
    return list(dict.fromkeys(name for name in names if name in hidden))


def _parts(problem: Problem, value: object, entered: set[object]) -> Iterator[Model]:
    """Everything below a formula; each let and clause is entered once."""
    if isinstance(value, tuple):
        for item in value:
            yield from _parts(problem, item, entered)
    if not isinstance(value, Model):
        return
    yield value
    yield from _parts(problem, tuple(vars(value).values()), entered)
    if isinstance(value, LetCall | ClauseRef):
        definition = _definition(problem, value)
        if id(definition) not in entered:
            entered.add(id(definition))
            yield from _parts(problem, definition, entered)


def _definition(problem: Problem, reference: LetCall | ClauseRef) -> Expr | None:
    if isinstance(reference, LetCall):
        return problem.let(reference.name).body
    if reference.clause == "objective":
        return problem.objective(reference.name).value
    return problem.correct if reference.clause == "correct" else problem.valid


def _names_in(part: Model) -> tuple[str, ...]:
    match part:
        case Read() | OneNode() | FeatureRef():
            return (part.feature,)
        case Call():
            return (part.function,)
        case Chase():
            return (part.pointer, part.weight or "")
    return ()
