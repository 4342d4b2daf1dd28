"""Distances (n, n) go in, a short tour (n,) comes out: local search with kicks, compiled.

Edges are exchanged (2-opt, Lin-Kernighan) and short segments moved (Or-opt) around nodes that wait,
only towards their nearest nodes; a kick swaps two neighbouring segments and lets the nodes at its
cuts wait, as in Applegate, Cook and Rohe 2003. The same distances give the same tour.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import njit
from gnarl_compiler.support.numbers import INF

NEAREST = 8  # nodes that an edge is tried to
REACH = 30  # nodes of the longest segment that a kick swaps
BREADTH = (3, 2, 1, 1, 1)  # edges that are tried at each link of a chain
MOVED = 3  # nodes of the longest segment that is moved


@njit
def good_tour(distance, margin, quick, deep):  # type: ignore[no-untyped-def]
    """Local search from nearest neighbours, and again from the best tour after each kick.

    After `quick` kicks only pairs of edges are exchanged and segments moved, after `deep` more
    chains of edges, too: ten times as dear, and needed where distances are not those of a plane.
    Only what shortens a tour by more than `margin` counts. Needs four nodes or more.
    """
    n = len(distance)
    near = nearest_nodes(distance, min(NEAREST, n - 1))
    tour = nearest_neighbours(distance)
    place = np.empty(n, np.int64)
    waiting, waits = np.zeros(n + 1, np.int64), np.zeros(n, np.bool_)
    for at in range(n):
        place[tour[at]] = at
        let_wait(waiting, waits, tour[at])
    settle(tour, place, distance, near, waiting, waits, False, margin)
    best, longest = tour.copy(), min(REACH, (n - 2) // 2)
    draw = 1
    for kick in range(quick + deep):
        draw = (draw * 1103515245 + 12345) % 2147483648
        start = (draw >> 8) % n
        draw = (draw * 1103515245 + 12345) % 2147483648
        first = 1 + (draw >> 8) % longest
        draw = (draw * 1103515245 + 12345) % 2147483648
        second = 1 + (draw >> 8) % longest
        change = swap_segments(best, tour, place, distance, start, first, second, waiting, waits)
        change += settle(tour, place, distance, near, waiting, waits, kick >= quick, margin)
        if change < -margin:
            best[:] = tour
        else:
            for at in range(n):
                tour[at] = best[at]
                place[best[at]] = at
    return best


@njit
def nearest_nodes(distance, count):  # type: ignore[no-untyped-def]
    """The nodes nearest to each, nearest first: (n, count)."""
    n = len(distance)
    near = np.empty((n, count), np.int64)
    for node in range(n):
        known = 0
        for other in range(n):
            if other == node:
                continue
            at = known
            while at > 0 and distance[node, other] < distance[node, near[node, at - 1]]:
                at -= 1
            if at == count:
                continue
            known = min(known + 1, count)
            for later in range(known - 1, at, -1):
                near[node, later] = near[node, later - 1]
            near[node, at] = other
    return near


@njit
def nearest_neighbours(distance):  # type: ignore[no-untyped-def]
    """A tour that always goes on to the nearest node left."""
    n = len(distance)
    tour = np.arange(n)
    for place in range(1, n):
        nearest = place
        for later in range(place + 1, n):
            if distance[tour[place - 1], tour[later]] < distance[tour[place - 1], tour[nearest]]:
                nearest = later
        tour[place], tour[nearest] = tour[nearest], tour[place]
    return tour


@njit
def tour_length(tour, distance):  # type: ignore[no-untyped-def]
    total = 0.0
    for place in range(len(tour)):
        total += distance[tour[place - 1], tour[place]]
    return total


# A step of the search


@njit
def let_wait(waiting, waits, node):  # type: ignore[no-untyped-def]
    """Put a node on the stack of those to look at; its first cell counts them."""
    if not waits[node]:
        waits[node] = True
        waiting[0] += 1
        waiting[waiting[0]] = node


@njit
def settle(tour, place, distance, near, waiting, waits, deep, margin):  # type: ignore[no-untyped-def]
    """Shorten the tour around the nodes that wait until nothing does; returns the change."""
    total = 0.0
    while waiting[0] > 0:
        node = waiting[waiting[0]]
        waiting[0] -= 1
        waits[node] = False
        gain = margin
        while gain > 0.0:
            gain = turned(tour, place, distance, near, node, waiting, waits, margin)
            if gain == 0.0:
                gain = moved(tour, place, distance, near, node, waiting, waits, margin)
            if gain == 0.0 and deep:
                gain = relinked(tour, place, distance, near, node, waiting, waits, margin)
            total -= gain
    return total


@njit
def turned(tour, place, distance, near, a, waiting, waits, margin):  # type: ignore[no-untyped-def]
    """2-opt: replace an edge of `a` by a shorter one, if that gains; returns what."""
    for way in (1, -1):
        b = beside(tour, place, a, way)
        for k in range(near.shape[1]):
            c = near[a, k]
            if distance[a, c] >= distance[a, b] - margin:
                break
            d = beside(tour, place, c, way)
            gain = distance[a, b] + distance[c, d] - distance[a, c] - distance[b, d]
            if gain > margin:
                turn(tour, place, a, b, c)
                for node in (a, b, c, d):
                    let_wait(waiting, waits, node)
                return gain
    return 0.0


@njit
def relinked(tour, place, distance, near, base, waiting, waits, margin):  # type: ignore[no-untyped-def]
    """Lin-Kernighan: replace an edge of `base` by a chain of others; returns the gain or 0."""
    for way in (1, -1):
        gain = chain(tour, place, distance, near, base, way, waiting, waits, margin)
        if gain > 0.0:
            return gain
    return 0.0


@njit
def chain(tour, place, distance, near, base, way, waiting, waits, margin):  # type: ignore[no-untyped-def]
    """The gain of a chain of turns without the edge of `base` that way, or 0 and nothing changed.

    Each turn puts in an edge of the open end and takes out one beside it, so that the tour could
    be closed; the best few are followed. No recursion: Numba cannot keep one in its cache.
    """
    deepest = len(BREADTH)
    ends, joined = np.empty(deepest + 1, np.int64), np.empty(deepest, np.int64)
    credit, bound = (
        np.empty(deepest + 1),
        np.full(deepest, INF),
    )  # taken out less put in; last tried
    tried = np.zeros(deepest, np.int64)
    ends[0] = beside(tour, place, base, way)
    credit[0] = distance[base, ends[0]]
    depth = 0
    while depth >= 0:
        end, best = ends[depth], -INF
        if tried[depth] < BREADTH[depth]:
            tried[depth] += 1
            best = best_link(tour, place, distance, near, base, depth, ends, joined, credit, bound)
        if best == -INF:  # one link back
            depth -= 1
            if depth >= 0:
                turn(tour, place, base, end, ends[depth])
            continue
        turn(tour, place, base, end, ends[depth + 1])
        gain = best - distance[base, ends[depth + 1]]
        if gain > margin:
            let_wait(waiting, waits, base)
            for k in range(depth + 1):
                let_wait(waiting, waits, ends[k])
                let_wait(waiting, waits, joined[k])
            let_wait(waiting, waits, ends[depth + 1])
            return gain
        if depth + 1 == deepest:
            turn(tour, place, base, ends[depth + 1], end)
        else:
            depth += 1
            credit[depth], bound[depth], tried[depth] = best, INF, 0
    return 0.0


@njit
def best_link(tour, place, distance, near, base, depth, ends, joined, credit, bound):  # type: ignore[no-untyped-def]
    """The next best link of a chain's open end: its credit or -inf, the nodes noted."""
    end, best = ends[depth], -INF
    back = -1 if beside(tour, place, base, 1) == end else 1
    for k in range(near.shape[1]):
        other = near[end, k]
        left = credit[depth] - distance[end, other]
        if left <= 0.0:
            break
        cut = beside(tour, place, other, back)
        value = left + distance[other, cut]
        if other != base and cut != end and best < value < bound[depth]:
            best, joined[depth], ends[depth + 1] = value, other, cut
    bound[depth] = best
    return best


@njit
def moved(tour, place, distance, near, a, waiting, waits, margin):  # type: ignore[no-untyped-def]
    """Or-opt: move a segment that ends in `a` next to one of its nearest; returns the gain."""
    n = len(tour)
    for way in (1, -1):
        before, last = beside(tour, place, a, -way), a
        for size in range(1, min(MOVED, n - 3) + 1):
            after = beside(tour, place, last, way)
            out = distance[before, a] + distance[last, after] - distance[before, after]
            for k in range(near.shape[1]):
                c = near[a, k]
                if distance[a, c] >= out - margin:
                    break
                ahead = way * (place[c] - place[a])
                if (ahead if ahead >= 0 else ahead + n) < size:
                    continue
                for side in (1, -1):  # in the order of travel, c is first or second at the gap
                    d = beside(tour, place, c, side * way)
                    if d in (a, last):
                        continue
                    gain = out - distance[a, c] - distance[last, d] + distance[c, d]
                    if gain > margin:
                        x = c if side == 1 else d
                        turn(tour, place, before, a, x)
                        turn(tour, place, before, x, after)
                        if side == 1:
                            turn(tour, place, x, last, a)
                        for node in (before, a, last, after, c, d):
                            let_wait(waiting, waits, node)
                        return gain
            last = after
    return 0.0


@njit
def swap_segments(best, tour, place, distance, start, first, second, waiting, waits):  # type: ignore[no-untyped-def]
    """Swap the two segments behind place `start`, let the nodes at the cuts wait; the change."""
    n = len(tour)
    a, b = tour[start], tour[(start + 1) % n]
    c, d = tour[(start + first) % n], tour[(start + first + 1) % n]
    e, f = tour[(start + first + second) % n], tour[(start + first + second + 1) % n]
    for k in range(first + second):  # from the best tour, which is as this one was
        at, by = start + 1 + k, first if k < second else -second
        node = best[(at + by) % n]
        tour[at % n] = node
        place[node] = at % n
    for node in (a, b, c, d, e, f):
        let_wait(waiting, waits, node)
    cut = distance[a, b] + distance[c, d] + distance[e, f]
    return distance[a, d] + distance[e, b] + distance[c, f] - cut


@njit
def beside(tour, place, node, way):  # type: ignore[no-untyped-def]
    """The next node along the tour, or against it."""
    at = place[node] + way
    if at == len(tour):
        return tour[0]
    return tour[at if at >= 0 else len(tour) - 1]


@njit
def turn(tour, place, outside, first, last):  # type: ignore[no-untyped-def]
    """Turn round the path from `first`, which is next to `outside`, to `last`.

    As a tour has no direction, the rest is turned round instead where that is shorter.
    """
    n = len(tour)
    forward = beside(tour, place, first, -1) == outside
    i, j = (place[first], place[last]) if forward else (place[last], place[first])
    inside = j - i + 1 if j >= i else j - i + 1 + n
    if 2 * inside > n:
        i, j, inside = (j + 1) % n, (i - 1) % n, n - inside
    for _ in range(inside // 2):
        one, other = tour[i], tour[j]
        tour[i], tour[j] = other, one
        place[other], place[one] = i, j
        i, j = (i + 1 if i + 1 < n else 0), (j - 1 if j > 0 else n - 1)
