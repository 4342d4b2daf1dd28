"""Definitions in, an order out in which each comes after those that it mentions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gnarl_dsl.syntax import ast


def in_order(trees: Mapping[str, ast.Tree]) -> list[str]:
    """Names, the used before their users (no recursion); a circle comes in some order.

    A mention is a name in the text, whatever it means there, so that a variable may
    count as one: the order is then stricter than need be, which does no harm.
    """
    done: dict[str, None] = {}
    for name in trees:
        waiting = [(name, iter(mentions(trees[name])))]
        opened = {name}
        while waiting:
            current, used = waiting[-1]
            deeper = next((u for u in used if u in trees and u not in done and u not in opened), "")
            if deeper:
                opened.add(deeper)
                waiting.append((deeper, iter(mentions(trees[deeper]))))
            else:
                done.setdefault(current)
                waiting.pop()
    return list(done)


def mentions(tree: ast.Tree) -> Iterator[str]:
    """Every name that a formula below `tree` may refer to."""
    waiting = [tree]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Name):
            yield current.text
        elif isinstance(current, ast.Call | ast.Index):
            yield current.name.text
        waiting.extend(ast.child_trees(current))
