"""A formula of a problem in, the oracles it reads out, through lets and clauses."""

from __future__ import annotations

from gnarl_dsl.language.builtins import FUNCTIONS
from gnarl_dsl.model import Call, Expr, Model, Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_dsl.model.parts import features_named, parts_behind


def oracles_read_by(problem: Problem, formula: Expr | None) -> list[str]:
    """Names in the order of reading: oracle features, and functions that solve the problem."""
    hidden = {feature.name for feature in problem.features if feature.stage is ORACLE}
    hidden |= {name for name, signature in FUNCTIONS.items() if signature.oracle}
    names = (name for part in parts_behind(problem, formula) for name in _names_in(part))
    return list(dict.fromkeys(name for name in names if name in hidden))


def _names_in(part: Model) -> tuple[str, ...]:
    return (part.function,) if isinstance(part, Call) else features_named(part)
