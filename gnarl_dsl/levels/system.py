"""Equations between units in, what is left free out: which numbers can be scaled together.

A dimension is a product of powers of unknown units, kept as exponents by name; none at all is a
pure number. What is added, compared or assigned has one dimension, so a spec is a list of linear
equations, and every solution of them is a way to scale its inputs that changes no decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

Dimension = Mapping[str, Fraction]
PURE: Dimension = {}
ONE = Fraction(1)


def unit(name: str) -> Dimension:
    return {name: ONE}


def plus(left: Dimension, right: Dimension, times: Fraction = ONE) -> Dimension:
    """Of a product; of a quotient with `times` -1."""
    total = dict(left)
    for name, power in right.items():
        total[name] = total.get(name, Fraction(0)) + times * power
    return {name: power for name, power in total.items() if power}


class System:
    """What each name stands for, in those that are free; solved equation by equation."""

    def __init__(self, keep: Callable[[str], tuple[int, int]]) -> None:
        """Of the names in an equation, the one that is greatest by `keep` stays free longest."""
        self._keep = keep
        self._solved: dict[str, Dimension] = {}

    def reduced(self, dimension: Dimension) -> Dimension:
        """The same in free names only."""
        total: Dimension = PURE
        for name, power in dimension.items():
            total = plus(total, self._solved.get(name, unit(name)), power)
        return total

    def require_pure(self, dimension: Dimension) -> tuple[str, ...]:
        """Add the equation that this is a pure number; the names that it made pure numbers."""
        left = self.reduced(dimension)
        if not left:
            return ()
        gone = min(left, key=self._keep)
        stands_for = plus(PURE, {k: v for k, v in left.items() if k != gone}, -1 / left[gone])
        pure = [] if stands_for else [gone]
        for name, known in self._solved.items():
            if gone in known:
                rest = {k: v for k, v in known.items() if k != gone}
                self._solved[name] = plus(rest, stands_for, known[gone])
                pure += [] if self._solved[name] else [name]
        self._solved[gone] = stands_for
        return tuple(pure)
