"""A condition in, the pairs of variables it promises to be joined by an edge out."""

from __future__ import annotations

from gnarl_dsl.syntax import ast


def joined_pairs(tree: ast.Expr, holds: bool) -> frozenset[tuple[str, str]]:
    """Pairs of variables that must be joined by an edge if `tree` is true (or false)."""
    match tree:
        case ast.Call(name=ast.Ident(text="edge"), args=(ast.Name(text=u), ast.Name(text=v))):
            return frozenset({(u, v)}) if holds else frozenset()
        case ast.Unary(op="not"):
            return joined_pairs(tree.operand, not holds)
        case ast.Logic(op=op) if (op == "and") == holds:
            return frozenset().union(*(joined_pairs(arg, holds) for arg in tree.args))
        case _:
            return frozenset()
