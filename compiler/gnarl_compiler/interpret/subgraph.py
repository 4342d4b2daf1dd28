"""A part of a graph in; what can be reached, what hangs together, whether it has a cycle out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Nodes, and the steps between them; with `both` each step leads back as well."""

    nodes: frozenset[int]
    steps: frozenset[tuple[int, int]]
    both: bool

    def after(self, node: int) -> Iterator[int]:
        """Where one step leads."""
        for u, v in self.steps:
            if u == node:
                yield v
            if self.both and v == node:
                yield u


def steps_between(part: Part, start: int, end: int) -> float:
    """The fewest steps from one node to another; infinite if there is no way."""
    steps = 0
    reached, front = {start} & part.nodes, {start} & part.nodes
    while front:
        if end in front:
            return float(steps)
        front = {v for u in front for v in part.after(u)} - reached
        reached |= front
        steps += 1
    return math.inf


def together(part: Part, node: int) -> list[int]:
    """The nodes that hang together with one, whichever way the steps lead; none outside."""
    found, waiting = set[int](), [node] if node in part.nodes else []
    whole = Part(part.nodes, part.steps, both=True)
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += whole.after(at)
    return sorted(found)


def is_acyclic(part: Part) -> bool:
    """Whether no walk comes back to where it started without going a step back."""
    if part.both:
        parts = {tuple(together(part, node)) for node in part.nodes}
        return len(part.steps) == len(part.nodes) - len(parts)
    left = set(part.nodes)
    while True:
        ends = {v for v in left if not any(u == v and w in left for u, w in part.steps)}
        if not ends:
            return not left
        left -= ends
