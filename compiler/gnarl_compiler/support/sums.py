"""Summands in, what they have in common out: whether they add up exactly, in whatever order.

Numbers that are whole multiples of one power of two add up without rounding as long as no sum of
them has more than 53 bits. Then the order does not matter, and one of them can be taken off again.
"""

from __future__ import annotations

import math

import numpy as np

from gnarl_compiler.support.jit import inlined

LOSSLESS = 2.0**53  # up to here floats have all whole numbers


@inlined
def note_summand(b, value, grain, top):  # type: ignore[no-untyped-def]
    """Widen what is known of the summands so that it covers another one."""
    top[b] = max(top[b], abs(value))
    scaled = value * grain[b]
    if scaled != np.rint(scaled):
        grain[b] = grain_of(value)


@inlined
def grain_of(value):  # type: ignore[no-untyped-def]
    """The least power of two that makes a number whole."""
    fraction, exponent = math.frexp(value)
    if exponent < -1000:
        return math.inf
    bits = int(abs(fraction) * LOSSLESS)
    return LOSSLESS / float(bits & -bits) * math.ldexp(1.0, -exponent)


@inlined
def is_lossless(b, count, grain, top):  # type: ignore[no-untyped-def]
    """Whether so many summands add up without rounding."""
    return top[b] * grain[b] * count <= LOSSLESS
