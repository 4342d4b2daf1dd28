"""A formula of a problem in, the oracles it reads out, through lets and clauses."""

from __future__ import annotations

from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.model import Call, Expr, Model, Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_dsl.model.parts import features_named, parts_behind


def oracles_read_by(problem: Problem, formula: Expr | None) -> list[str]:
    """Names in the order of reading: oracle features, and functions that solve the problem."""
    hidden = {feature.name for feature in problem.features if feature.stage is ORACLE}
    parts = parts_behind(problem, formula)
    names = (name for part in parts for name in _hidden_in(problem, part, hidden))
    return list(dict.fromkeys(names))


def _hidden_in(problem: Problem, part: Model, hidden: set[str]) -> list[str]:
    """A feature may have the name of a function, so each is looked up among its own kind."""
    if isinstance(part, Call):
        known = problem.extern(part.function) or FUNCTIONS[part.function]
        return [part.function] if known.oracle else []
    return [name for name in features_named(part) if name in hidden]
