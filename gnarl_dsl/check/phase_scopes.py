"""The phases of a spec go in, what each one's formulas can refer to comes out."""

from __future__ import annotations

from gnarl_dsl.check.environment import Binding, Scope
from gnarl_dsl.check.joins import joined_pairs
from gnarl_dsl.check.types import NODE
from gnarl_dsl.syntax import ast


def phase_scopes(phases: list[ast.Phase], mutable: bool) -> list[Scope]:
    """For each phase the scope of its formulas: its own pick and those before it.

    Picks that an earlier phase allows only along an edge are still joined, unless edges change.
    """
    variables = [phase.variable for phase in phases]
    scopes = []
    for position in range(len(phases)):
        scope = Scope(later=frozenset(v.text for v in variables[position + 1 :]))
        for variable in variables[: position + 1]:
            scope = scope.bind(variable.text, Binding(NODE, variable.span, used=True))
        for earlier in () if mutable else phases[:position]:
            scope = scope.joining(allowed_pairs(earlier))
        scopes.append(scope)
    return scopes


def allowed_pairs(phase: ast.Phase) -> frozenset[tuple[str, str]]:
    """The pairs of picks that are joined whenever the phase allows its pick."""
    allows = [clause for clause in phase.clauses if isinstance(clause, ast.Allow)]
    return joined_pairs(allows[0].condition, True) if allows else frozenset()
