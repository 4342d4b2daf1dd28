"""The language's arithmetic on two numbers: total, never NaN."""

from __future__ import annotations

import math


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
