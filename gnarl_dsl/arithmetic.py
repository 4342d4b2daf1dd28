"""The language's arithmetic on two numbers: total, never NaN."""

from __future__ import annotations

import math
from collections.abc import Callable

SNAP = 1e-9


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
