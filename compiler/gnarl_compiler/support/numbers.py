"""Arithmetic of the language in compiled code: numbers in, a number or a truth out."""

from __future__ import annotations

import math

import numpy as np

from gnarl_compiler.support.jit import inlined
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE, SNAP

INF = math.inf


@inlined
def plus(a, b):  # type: ignore[no-untyped-def]
    value = a + b
    return 0.0 if value != value else value


@inlined
def minus(a, b):  # type: ignore[no-untyped-def]
    value = a - b
    return 0.0 if value != value else value


@inlined
def times(a, b):  # type: ignore[no-untyped-def]
    value = a * b
    return 0.0 if value != value else value


@inlined
def divide(a, b):  # type: ignore[no-untyped-def]
    if b == 0.0:
        return 0.0
    value = a / b
    return 0.0 if value != value else value


@inlined
def nearly(a, b):  # type: ignore[no-untyped-def]
    """`~=`: see `nearly_equal` of the language."""
    if a == b:
        return True
    gap = abs(a - b)  # infinite if one of them is; both would be equal, or apart
    return (gap <= max(RELATIVE * max(abs(a), abs(b)), ABSOLUTE)) & (gap < INF)


@inlined
def ceiling(a):  # type: ignore[no-untyped-def]
    if math.isinf(a):
        return a
    near = float(np.rint(a))
    return near if abs(a - near) <= SNAP else float(math.ceil(a))


@inlined
def flooring(a):  # type: ignore[no-untyped-def]
    if math.isinf(a):
        return a
    near = float(np.rint(a))
    return near if abs(a - near) <= SNAP else float(math.floor(a))
