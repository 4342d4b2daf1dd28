"""Nodes and their scores in; out: the best of them marked, as what the network reads."""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import njit
from gnarl_compiler.support.numbers import nearly
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE


@njit
def show_legal(b, n, legal, window):  # type: ignore[no-untyped-def]
    """Where the window shows no legal node, it shows all of them."""
    for v in range(n[b]):
        if window[b, v] and legal[b, v]:
            return
    for v in range(n[b]):
        if legal[b, v]:
            window[b, v] = True


@njit
def list_shown(b, n, window, shown, heard):  # type: ignore[no-untyped-def]
    """The nodes of a window, none of which hears another yet; how many there are."""
    many = 0
    for v in range(n[b]):
        if window[b, v]:
            shown[many] = v
            heard[b, v, :] = 0
            many += 1
    return many


@njit
def keep_first(wanted, count, found, score, b, tags):  # type: ignore[no-untyped-def]
    """Move the best to the front, as `first_of` of the interpreter has them; how many there are.

    Only those that could be tied with the last of them take part in looking for ties.
    """
    if count <= wanted:
        return count
    limit = np.partition(score[:count], wanted - 1)[wanted - 1]
    near = 0
    for k in range(count):
        gap = 2.0 * max(RELATIVE * max(abs(score[k]), abs(limit)), ABSOLUTE)
        if score[k] <= limit or score[k] - limit <= gap:
            found[near], score[near] = found[k], score[k]
            near += 1
    for place in range(wanted):
        best = score[place]
        for k in range(place + 1, near):
            best = min(best, score[k])
        first = -1
        for k in range(place, near):
            sooner = first < 0 or tags[b, found[k]] < tags[b, found[first]]
            if sooner and nearly(score[k], best):
                first = k
        found[place], found[first] = found[first], found[place]
        score[place], score[first] = score[first], score[place]
    return wanted


@njit
def show_first(wanted, count, found, score, b, tags, window):  # type: ignore[no-untyped-def]
    for k in range(keep_first(wanted, count, found, score, b, tags)):
        window[b, found[k]] = True


@njit
def hear(heard, b, u, v, both):  # type: ignore[no-untyped-def]
    """v hears u; along a directed edge u hears v as well."""
    heard[b, v, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
    if both:
        heard[b, u, v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@njit
def hear_first(wanted, count, found, score, b, tags, heard, v, both):  # type: ignore[no-untyped-def]
    for k in range(keep_first(wanted, count, found, score, b, tags)):
        hear(heard, b, found[k], v, both)
