"""Arithmetic of the language: total, never NaN, with the tolerances of the manual."""

from __future__ import annotations

import math
from collections.abc import Callable

SNAP = 1e-9  # to whole numbers
RELATIVE = 1e-6
ABSOLUTE = 1e-12


def evaluate_arithmetic(op: str, left: float, right: float) -> float:
    """x / 0 is 0, and what has no value (inf - inf, 0 * inf, inf / inf) is 0."""
    match op:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "/":
            value = left / right if right != 0 else 0.0
        case "min":
            value = min(left, right)
        case _:
            value = max(left, right)
    return 0.0 if math.isnan(value) else value


def evaluate_unary(op: str, value: float) -> float:
    """neg, abs, ceil or floor; the last two take a near whole number for that number."""
    match op:
        case "neg":
            return -value
        case "abs":
            return abs(value)
        case "ceil":
            return _snapped(value, math.ceil)
        case _:
            return _snapped(value, math.floor)


def _snapped(value: float, rounding: Callable[[float], int]) -> float:
    """Round, but take a value within 1e-9 of a whole number for that number."""
    if math.isinf(value):
        return value
    near = round(value)
    return float(near) if abs(value - near) <= SNAP else float(rounding(value))


def nearly_equal(left: float, right: float) -> bool:
    """`~=`: equal within one part in a million; inf equals inf."""
    if left == right:
        return True
    if math.isinf(left) or math.isinf(right):
        return False
    gap = abs(left - right)
    return gap <= RELATIVE * max(abs(left), abs(right)) or gap <= ABSOLUTE


def snapped_ceil(value: float) -> float:
    return evaluate_unary("ceil", value)


def snapped_floor(value: float) -> float:
    return evaluate_unary("floor", value)


def compare_values(op: str, left: float, right: float) -> bool:
    """A comparison of the language on two values of one type."""
    match op:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            return nearly_equal(float(left), float(right))
