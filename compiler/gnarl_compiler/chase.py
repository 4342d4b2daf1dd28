"""Following pointers: where a chain of nodes leads, how long it is and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal


def chase(
    op: Literal["depth", "path_cost", "on_cycle"],
    pointers: Sequence[int],
    start: int,
    target: int | None,
    step_cost: Callable[[int, int], float],
) -> float | bool:
    """depth and path_cost count or add up steps; on_cycle tells whether the chain returns."""
    if op == "on_cycle":
        return returns_to(pointers, start)
    return chain_cost(pointers, start, target, step_cost)


def chain_cost(
    pointers: Sequence[int],
    start: int,
    target: int | None,
    step_cost: Callable[[int, int], float],
) -> float:
    """Cost of the chain from `start` to `target`, or to the node that points to itself.

    Infinite if the chain ends or circles elsewhere. A step from x to its pointer p costs
    what the edge from p to x costs: in a predecessor tree that is the way it was reached.
    """
    node, total = start, 0.0
    for _ in range(len(pointers)):
        if node == target:
            return total
        following = pointers[node]
        if following == node:
            return total if target is None else math.inf
        total += step_cost(following, node)
        node = following
    return math.inf


def returns_to(pointers: Sequence[int], start: int) -> bool:
    """Whether following the pointers leads back to `start`; a self-pointer does."""
    node = start
    for _ in range(len(pointers)):
        node = pointers[node]
        if node == start:
            return True
    return False
