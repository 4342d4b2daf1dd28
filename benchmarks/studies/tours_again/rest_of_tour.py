"""What is left of a tour goes in, how far down the nearest nodes a short way through it goes on.

The code of the extern `nearer` of tsp_again.gnarl: the best tour itself as long as what is left is
a piece of it, otherwise a path from here to the start by local search with kicks.
"""

import numpy as np

import gnarl_dsl as gnarl
from gnarl_compiler.algorithms.tours.kicks import good_tour
from gnarl_compiler.support.jit import njit

KICKS = 2  # per node
MOST_KICKS = 100


@njit
def next_node(A, best, in_tour, here, s):  # type: ignore[no-untyped-def]
    """The node after `here` on a short path through all that is left, to `s`; -1 if none is."""
    left = np.flatnonzero(~in_tour)
    if len(left) <= 1:
        return left[0] if len(left) else -1
    first = along(best, in_tour, here, s, len(left))
    return first if first >= 0 else found(A, left, here, s)


@njit
def along(best, in_tour, here, s, left):  # type: ignore[no-untyped-def]
    """The first node of the rest of the best tour, or -1 if what is left is no piece of it."""
    first, before, now = -1, -1, here
    for step in range(left):
        after = -1
        for x in range(len(best)):
            if best[now, x] and x != before and not in_tour[x]:
                after = x
                break
        if after < 0:
            return -1
        if step == 0:
            first = after
        before, now = now, after
    return first if best[now, s] else -1


@njit
def found(A, left, here, s):  # type: ignore[no-untyped-def]
    """A short path is a short tour with an edge from its end to its start that pays for itself."""
    k = len(left) + 2
    node = np.empty(k, np.int64)
    node[0], node[1:-1], node[-1] = here, left, s
    distance, largest = np.zeros((k, k)), 0.0
    for i in range(k):
        for j in range(k):
            distance[i, j] = A[node[i], node[j]]
            largest = max(largest, distance[i, j])
    distance[0, -1] = distance[-1, 0] = -largest * k
    tour = good_tour(distance, 1e-9 * largest, min(KICKS * k, MOST_KICKS), 0)
    at = np.flatnonzero(tour == 0)[0]
    after = tour[(at + 1) % k]
    return node[after if after != k - 1 else tour[at - 1]]


@njit
def passed_by(A, best, in_tour, here, s):  # type: ignore[no-untyped-def]
    if here == s:
        return 0.0
    after, count = next_node(A, best, in_tour, here, s), 0
    if after >= 0:
        for x in range(len(A)):
            count += not in_tour[x] and A[here, x] < A[here, after]
    return float(count)


def twin(b, A, best, in_tour, here, s):  # type: ignore[no-untyped-def]
    return passed_by(A, best, in_tour, here, s)


@gnarl.extern(twin=twin, seconds=120)  # the first call compiles
def nearer(graph, A, best, in_tour, here, s):  # type: ignore[no-untyped-def]
    """How many nodes left are nearer than the next."""
    return passed_by(A, best, in_tour, here, s)
