"""Numbers that know how they depend on the inputs: arithmetic in, values with slopes out.

Forward differentiation with sparse slopes. A formula of a spec reads few input cells, so a
mapping from cells to slopes is shorter than any array over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gnarl_dsl.language.operators import Operator

Cell = tuple[str, tuple[int, ...]]  # an input and a position; an undirected edge has u < v
Slopes = Mapping[Cell, float]


class Traced(float):
    """A number and its derivative with respect to every input cell that it was made from."""

    __slots__ = ("slopes",)
    slopes: Slopes

    def __new__(cls, value: float, slopes: Slopes) -> Traced:
        number = super().__new__(cls, value)
        number.slopes = slopes
        return number

    def __neg__(self) -> Traced:
        return Traced(-float(self), _scaled(self.slopes, -1.0))

    def __abs__(self) -> Traced:
        return -self if self < 0 else self

    def __add__(self, other: float) -> Traced:
        return Traced(float(self) + float(other), _joined(self.slopes, slopes_of(other)))

    __radd__ = __add__

    def __sub__(self, other: float) -> Traced:
        slopes = _joined(self.slopes, _scaled(slopes_of(other), -1.0))
        return Traced(float(self) - float(other), slopes)

    def __rsub__(self, other: float) -> Traced:
        return -self + other

    def __mul__(self, other: float) -> Traced:
        own = _scaled(self.slopes, float(other))
        return Traced(
            float(self) * float(other), _joined(own, _scaled(slopes_of(other), float(self)))
        )

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Traced:
        return _quotient(self, other)

    def __rtruediv__(self, other: float) -> Traced:
        return _quotient(other, self)


# Operators that Python's own arithmetic, and so that of Traced, computes.
_OWN_SLOPES = frozenset(["neg", "abs", "+", "-", "*", "/", "min", "max"])
_NEAR = 1e-6  # how far from a number slopes are measured, in parts of it


def traced(operator: Operator, values: tuple[float, ...]) -> float:
    """An operator's value with its slopes: by its own rule, none where it makes steps, or else
    measured on either side of each operand."""
    value = operator.evaluate(*values)
    if operator.name in _OWN_SLOPES or operator.whole or not any(map(slopes_of, values)):
        return value
    slopes: Slopes = {}
    for position, operand in enumerate(values):
        gap = _NEAR * max(1.0, abs(float(operand)))
        plain = [float(other) for other in values]
        above = operator.evaluate(*plain[:position], plain[position] + gap, *plain[position + 1 :])
        below = operator.evaluate(*plain[:position], plain[position] - gap, *plain[position + 1 :])
        slopes = _joined(slopes, _scaled(slopes_of(operand), (above - below) / (2 * gap)))
    return Traced(float(value), slopes)


def slopes_of(value: float) -> Slopes:
    return value.slopes if isinstance(value, Traced) else {}


def _quotient(over: float, under: float) -> Traced:
    divisor = float(under)
    value = float(over) / divisor
    upper = _scaled(slopes_of(over), 1.0 / divisor)
    return Traced(value, _joined(upper, _scaled(slopes_of(under), -value / divisor)))


def _scaled(slopes: Slopes, factor: float) -> Slopes:
    return {cell: slope * factor for cell, slope in slopes.items()}


def _joined(left: Slopes, right: Slopes) -> Slopes:
    if not right:
        return left
    joined = dict(left)
    for cell, slope in right.items():
        joined[cell] = joined.get(cell, 0.0) + slope
    return joined


def usable(slopes: Slopes) -> dict[Cell, float]:
    """The cells that a number really moves with."""
    return {cell: slope for cell, slope in slopes.items() if slope and math.isfinite(slope)}
