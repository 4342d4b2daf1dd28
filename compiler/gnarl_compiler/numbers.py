"""Arithmetic of the language on single numbers: total, with the tolerances of the manual."""

from __future__ import annotations

import math

from gnarl_dsl.arithmetic import evaluate_unary

RELATIVE = 1e-6
ABSOLUTE = 1e-12


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
