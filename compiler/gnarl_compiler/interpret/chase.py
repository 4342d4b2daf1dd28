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
    Steps are added up from the far end, so that a node's cost is its pointer's plus one step.
    """
    node, costs = start, list[float]()
    for _ in range(len(pointers)):
        if node == target:
            return added_up(costs)
        following = pointers[node]
        if following == node:
            return added_up(costs) if target is None else math.inf
        costs.append(step_cost(following, node))
        node = following
    return math.inf


def added_up(costs: Sequence[float]) -> float:
    """The sum from the last to the first; inf and -inf together have no value, which is 0."""
    total = 0.0
    for cost in reversed(costs):
        total += cost
    return 0.0 if math.isnan(total) else total


def root_of(pointers: Sequence[int], start: int) -> int | None:
    """The node that points to itself at the end of a chain, if it has one."""
    node = start
    for _ in range(len(pointers)):
        if pointers[node] == node:
            return node
        node = pointers[node]
    return None


def returns_to(pointers: Sequence[int], start: int) -> bool:
    """Whether following the pointers leads back to `start`; a self-pointer does."""
    node = start
    for _ in range(len(pointers)):
        node = pointers[node]
        if node == start:
            return True
    return False
