"""Operators and functions on numbers: one row each, which checker and backends all read.

A new function on numbers is one more row: its name, how many numbers it takes, what it gives, and
the text of generated code. Every one is total: what has no value (inf - inf, 0 * inf) is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

SNAP = 1e-9  # a number so near to a whole one is that one, for ceil and floor
RELATIVE = 1e-6  # `~=`
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class Operand:
    """What is known of an operand before it is computed."""

    bound: float  # it is no further from 0
    constant: float | None = None

    @property
    def finite(self) -> bool:
        return math.isfinite(self.bound)


@dataclass(frozen=True)
class Operator:
    """`kernel` is generated code with a place for each operand.

    `guarded` stands instead of it where a result might have no value, unless `has_value` knows
    better. `bound` is how far from 0 the result can be. The result is a whole number if `whole`
    says so, or, for None, if all operands are.
    """

    name: str
    arity: int
    compute: Callable[..., float]
    kernel: str
    bound: Callable[..., float]
    guarded: str = ""
    has_value: Callable[..., bool] = lambda *operands: True
    whole: bool | None = None
    called: bool = False  # written name(x) or name(x, y), not as a sign
    associative: bool = False  # and commutative; if called, it takes two numbers or more
    even: bool = False  # the same for x and -x

    def evaluate(self, *values: float) -> float:
        """Its value; 0 where it has none."""
        value = self.compute(*values)
        return 0.0 if math.isnan(value) else value

    def emitted(self, texts: tuple[str, ...], operands: tuple[Operand, ...]) -> str:
        """Generated code for operands of which so much is known."""
        safe = not self.guarded or self.has_value(*operands)
        return (self.kernel if safe else self.guarded).format(*texts)


def _snapped(value: float, rounding: Callable[[float], int]) -> float:
    if math.isinf(value):
        return value
    near = round(value)
    return float(near) if abs(value - near) <= SNAP else float(rounding(value))


def _same(operand: Operand) -> float:
    return operand.bound


def _sum(left: Operand, right: Operand) -> float:
    return left.bound + right.bound


def _product(left: Operand, right: Operand) -> float:
    return left.bound * right.bound if left.finite and right.finite else math.inf


def _quotient(left: Operand, right: Operand) -> float:
    known = right.finite and right.constant
    return left.bound / abs(known) if known and left.finite else math.inf


def _larger(left: Operand, right: Operand) -> float:
    return max(left.bound, right.bound)


def _one_finite(left: Operand, right: Operand) -> bool:
    return left.finite or right.finite


def _both_finite(left: Operand, right: Operand) -> bool:
    return left.finite and right.finite


def _divisible(left: Operand, right: Operand) -> bool:
    return bool(right.finite and right.constant)


OPERATORS: Mapping[str, Operator] = {
    row.name: row
    for row in (
        Operator("neg", 1, lambda x: -x, "(-{0})", _same),
        Operator("abs", 1, abs, "abs({0})", _same, called=True, even=True),
        Operator(
            *("ceil", 1, lambda x: _snapped(x, math.ceil), "ceiling({0})", _same),
            whole=True,
            called=True,
        ),
        Operator(
            *("floor", 1, lambda x: _snapped(x, math.floor), "flooring({0})", _same),
            whole=True,
            called=True,
        ),
        Operator("+", 2, lambda x, y: x + y, "({0} + {1})", _sum, "plus({0}, {1})", _one_finite),
        Operator("-", 2, lambda x, y: x - y, "({0} - {1})", _sum, "minus({0}, {1})", _one_finite),
        Operator(
            *("*", 2, lambda x, y: x * y, "({0} * {1})", _product, "times({0}, {1})", _both_finite),
            associative=True,
        ),
        Operator(
            *("/", 2, lambda x, y: x / y if y != 0 else 0.0, "({0} / {1})", _quotient),
            guarded="divide({0}, {1})",
            has_value=_divisible,
            whole=False,
        ),
        Operator("min", 2, min, "min({0}, {1})", _larger, called=True, associative=True),
        Operator("max", 2, max, "max({0}, {1})", _larger, called=True, associative=True),
    )
}


def nearly_equal(left: float, right: float) -> bool:
    """`~=`: equal within one part in a million; inf equals inf."""
    if left == right:
        return True
    if math.isinf(left) or math.isinf(right):
        return False
    gap = abs(left - right)
    return gap <= RELATIVE * max(abs(left), abs(right)) or gap <= ABSOLUTE


@dataclass(frozen=True)
class Comparison:
    """`kernel` is generated code with a place for each side."""

    name: str
    holds: Callable[[float, float], bool]
    kernel: str
    ordered: bool = False  # needs numbers; the others compare any two values of one type
    called: bool = False  # `kernel` is a call, of numbers as floats


COMPARISONS: Mapping[str, Comparison] = {
    row.name: row
    for row in (
        Comparison("==", lambda x, y: x == y, "{0} == {1}"),
        Comparison("!=", lambda x, y: x != y, "{0} != {1}"),
        Comparison("<", lambda x, y: x < y, "{0} < {1}", ordered=True),
        Comparison("<=", lambda x, y: x <= y, "{0} <= {1}", ordered=True),
        Comparison(">", lambda x, y: x > y, "{0} > {1}", ordered=True),
        Comparison(">=", lambda x, y: x >= y, "{0} >= {1}", ordered=True),
        Comparison("~=", nearly_equal, "nearly({0}, {1})", ordered=True, called=True),
    )
}
