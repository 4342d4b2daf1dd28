"""Arithmetic of the language on single numbers: total, with the tolerances of the manual."""

from __future__ import annotations

import math
from collections.abc import Callable

RELATIVE = 1e-6
ABSOLUTE = 1e-12
SNAP = 1e-9


def nearly_equal(left: float, right: float) -> bool:
    """`~=`: equal within one part in a million; inf equals inf."""
    if left == right:
        return True
    if math.isinf(left) or math.isinf(right):
        return False
    gap = abs(left - right)
    return gap <= RELATIVE * max(abs(left), abs(right)) or gap <= ABSOLUTE


def snapped_ceil(value: float) -> float:
    return _snapped(value, math.ceil)


def snapped_floor(value: float) -> float:
    return _snapped(value, math.floor)


def _snapped(value: float, rounding: Callable[[float], int]) -> float:
    """Round, but take a value within 1e-9 of a whole number for that number."""
    if math.isinf(value):
        return value
    near = round(value)
    if abs(value - near) <= SNAP:
        return float(near)
    return float(rounding(value))


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
