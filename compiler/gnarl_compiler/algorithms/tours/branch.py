"""Distances (n, n) go in, a short tour (n,) comes out and whether it is proven to be shortest.

Branch and bound over 1-trees (Held and Karp 1971, Volgenant and Jonker 1982). A 1-tree is a
spanning tree of all nodes but node 0, and two edges of node 0; a tour is a 1-tree in which every
node has two edges. A price on a node is paid by each of its edges, and so twice by every tour:
prices change no order among tours, but raise the shortest 1-tree, which is a bound.

Compiled, since a pool of instances needs tens of thousands of tours.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import COMPILED, njit
from gnarl_compiler.support.numbers import INF

__all__ = ["COMPILED", "branch_and_bound", "good_tour"]

FREE, FORCED, BANNED = 0, 1, -1

FIRST_STEPS = 150  # of pricing, at the first subproblem
STEPS = 25  # at every other one


@njit
def branch_and_bound(distance, margin, start, limit):  # type: ignore[no-untyped-def]
    """The best tour found within `limit` subproblems, and whether no tour is shorter.

    The shorter the tour that the search starts with, the sooner it ends. Sums of distances that
    are within `margin` of each other count as the same.
    """
    n = len(distance)
    best, shortest = start, tour_length(start, distance)
    room = 8 * n  # a search that needs more is given up
    states, prices = np.zeros((room, n, n), np.int8), np.zeros((room, n))
    state, price = np.zeros((n, n), np.int8), np.zeros(n)
    degree, joined = np.zeros(n, np.int64), np.zeros(n, np.int64)
    waiting = 1
    for count in range(limit):
        waiting -= 1
        copy_subproblem(states[waiting], prices[waiting], state, price)
        steps = FIRST_STEPS if count == 0 else STEPS
        bound = raise_prices(distance, state, price, shortest - margin, steps, degree, joined)
        if bound < shortest - margin:
            node = np.argmax(degree)
            if degree[node] == 2:
                best = walk(joined)
                shortest = tour_length(best, distance)
            elif waiting + 3 > room:
                return best, False
            else:
                waiting += branch(distance, state, price, joined, node, states, prices, waiting)
        if waiting == 0:
            return best, True
    return best, False


# Subproblems


@njit
def branch(distance, state, price, joined, node, states, prices, at):  # type: ignore[no-untyped-def]
    """Split a subproblem at a node with too many edges, from place `at` on; returns into how many.

    With e and f two free edges of its 1-tree: without e; with e, without f; with both. The last
    one is looked at first.
    """
    e, f = cheapest_free(distance, state, price, joined, node)
    parts = 3 if count_of(state, node, FORCED) == 0 else 2
    for part in range(parts):
        own = states[at + part]
        copy_subproblem(state, price, own, prices[at + part])
        if part == 0:
            set_edge(own, node, e, BANNED)
        else:
            force(own, node, e)
        if part == 1:
            set_edge(own, node, f, BANNED)
        elif part == 2:
            force(own, node, f)
    return parts


@njit
def copy_subproblem(state, price, to_state, to_price):  # type: ignore[no-untyped-def]
    for a in range(len(state)):
        to_price[a] = price[a]
        for b in range(len(state)):
            to_state[a, b] = state[a, b]


@njit
def cheapest_free(distance, state, price, joined, node):  # type: ignore[no-untyped-def]
    """The two ends of the cheapest free edges that a 1-tree has at a node."""
    first = second = -1
    least = less = INF
    for v in range(len(joined)):
        a, b = edge_of(joined, v)
        other = a + b - node
        if (a != node and b != node) or state[node, other] != FREE:
            continue
        cost = distance[node, other] + price[other]
        if cost < least:
            first, second, least, less = other, first, cost, least
        elif cost < less:
            second, less = other, cost
    return first, second


@njit
def force(state, a, b):  # type: ignore[no-untyped-def]
    """Demand an edge; a node that has two of them gets no other."""
    set_edge(state, a, b, FORCED)
    for end in (a, b):
        if count_of(state, end, FORCED) >= 2:
            for other in range(len(state)):
                if state[end, other] == FREE and other != end:
                    set_edge(state, end, other, BANNED)


@njit
def count_of(state, node, value):  # type: ignore[no-untyped-def]
    """How many edges of a node are in a state."""
    count = 0
    for other in range(len(state)):
        count += state[node, other] == value and other != node
    return count


@njit
def set_edge(state, a, b, value):  # type: ignore[no-untyped-def]
    state[a, b] = value
    state[b, a] = value


@njit
def hopeless(state):  # type: ignore[no-untyped-def]
    """Whether some node is left with too few edges, or must have too many."""
    n = len(state)
    for node in range(n):
        if count_of(state, node, FORCED) > 2 or count_of(state, node, BANNED) > n - 3:
            return True
    return False


# Bounds


@njit
def raise_prices(distance, state, price, enough, steps, degree, joined):  # type: ignore[no-untyped-def]
    """Change prices so that the bound rises, until it is enough; returns it.

    Leaves the best prices in `price`, and degrees and edges of their 1-tree. Steps are Polyak's.
    """
    if hopeless(state):
        return INF
    n = len(distance)
    trial, trial_degree, trial_joined = price.copy(), degree.copy(), joined.copy()
    best, scale, since = -INF, 1.0, 0
    for _ in range(steps):
        bound = one_tree(distance, state, trial, trial_degree, trial_joined)
        since += 1
        if bound > best:
            best, since = bound, 0
            for v in range(n):
                price[v], degree[v], joined[v] = trial[v], trial_degree[v], trial_joined[v]
        uneven = 0
        for v in range(n):
            uneven += (trial_degree[v] - 2) ** 2
        if best >= enough or uneven == 0:
            break
        if since == 5:
            scale, since = scale / 2, 0
        step = scale * (enough - bound) / uneven
        for v in range(n):
            trial[v] += step * (trial_degree[v] - 2)
    return best


@njit
def one_tree(distance, state, price, degree, joined):  # type: ignore[no-untyped-def]
    """The priced length of a shortest 1-tree, less what every tour pays; inf if there is none.

    `joined[v]` is the other end of v's edge towards node 1, where the tree was begun; node 0's
    two edges go to joined[0] and joined[1].
    """
    n = len(distance)
    degree[:] = 0
    total = -2 * price.sum()
    cost = np.full(n, INF)  # of joining the tree, forced edges before all others
    paid = np.full(n, INF)
    inside = np.zeros(n, np.bool_)
    node = 1
    for _ in range(n - 2):
        inside[node] = True
        following, least = -1, INF
        for v in range(2, n):
            if inside[v]:
                continue
            kind = state[node, v]
            if kind != BANNED:
                priced = distance[node, v] + price[node] + price[v]
                key = -INF if kind == FORCED else priced
                if key < cost[v]:
                    cost[v], paid[v], joined[v] = key, priced, node
            if following < 0 or cost[v] < least:
                following, least = v, cost[v]
        if least == INF:
            return INF
        node = following
        total += paid[node]
        degree[node] += 1
        degree[joined[node]] += 1
    return total + join_first(distance, state, price, degree, joined)


@njit
def join_first(distance, state, price, degree, joined):  # type: ignore[no-untyped-def]
    """Give node 0 its two cheapest edges; returns what they cost."""
    total = 0.0
    for place in range(2):
        nearest, least = -1, INF
        for v in range(1, len(distance)):
            if state[0, v] == BANNED or (place == 1 and joined[0] == v):
                continue
            key = -INF if state[0, v] == FORCED else distance[0, v] + price[v]
            if nearest < 0 or key < least:
                nearest, least = v, key
        joined[place] = nearest
        degree[nearest] += 1
        total += distance[0, nearest] + price[0] + price[nearest]
    degree[0] = 2
    return total


@njit
def edge_of(joined, v):  # type: ignore[no-untyped-def]
    """The ends of a 1-tree's edge number v."""
    return (0 if v == 1 else v), joined[v]


@njit
def walk(joined):  # type: ignore[no-untyped-def]
    """The nodes along a 1-tree that is a tour."""
    n = len(joined)
    ends = np.full((n, 2), -1)
    for v in range(n):
        a, b = edge_of(joined, v)
        ends[a, 0 if ends[a, 0] < 0 else 1] = b
        ends[b, 0 if ends[b, 0] < 0 else 1] = a
    tour = np.zeros(n, np.int64)
    before = 0
    for place in range(1, n):
        here = tour[place - 1]
        onward = ends[here, 1] if place > 1 and ends[here, 0] == before else ends[here, 0]
        before = here
        tour[place] = onward
    return tour


# A tour to begin with


@njit
def tour_length(tour, distance):  # type: ignore[no-untyped-def]
    total = 0.0
    for place in range(len(tour)):
        total += distance[tour[place - 1], tour[place]]
    return total


@njit
def good_tour(distance, margin, kicks):  # type: ignore[no-untyped-def]
    """Local search from nearest neighbours, and again from the best tour with segments swapped."""
    n = len(distance)
    best = nearest_neighbours(distance)
    improve(best, distance, margin)
    shortest = tour_length(best, distance)
    tour = best.copy()
    draw = 1
    for _ in range(kicks):
        draw = (draw * 1103515245 + 12345) % 2147483648
        first = 1 + (draw >> 8) % (n - 1)
        draw = (draw * 1103515245 + 12345) % 2147483648
        second = 1 + (draw >> 8) % (n - 1)
        low, high = min(first, second), max(first, second)
        for place in range(n):  # 0..low, then high..n, then what was between
            if place < low:
                tour[place] = best[place]
            elif place < low + n - high:
                tour[place] = best[place - low + high]
            else:
                tour[place] = best[place - n + high]
        improve(tour, distance, margin)
        length = tour_length(tour, distance)
        if length < shortest - margin:
            best, shortest = tour.copy(), length
    return best


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
def improve(tour, distance, margin):  # type: ignore[no-untyped-def]
    """Reverse and move segments as long as that shortens the tour."""
    while reverse_segments(tour, distance, margin) or move_segment(tour, distance, margin):
        pass


@njit
def reverse_segments(tour, distance, margin):  # type: ignore[no-untyped-def]
    """2-opt, once around; whether anything was gained."""
    n = len(tour)
    gained = False
    for i in range(n - 2):
        for j in range(i + 2, n if i else n - 1):
            a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]
            if distance[a, c] + distance[b, d] < distance[a, b] + distance[c, d] - margin:
                left, right = i + 1, j
                while left < right:
                    tour[left], tour[right] = tour[right], tour[left]
                    left, right = left + 1, right - 1
                gained = True
    return gained


@njit
def move_segment(tour, distance, margin):  # type: ignore[no-untyped-def]
    """Or-opt: move the first segment of up to three nodes that is better off elsewhere."""
    n = len(tour)
    turned = tour.copy()
    for size in range(1, min(3, n - 3) + 1):
        for start in range(n):
            for place in range(n):  # the segment comes first
                turned[place] = tour[(start + place) % n]
            a, b, after, before = turned[0], turned[size - 1], turned[size], turned[n - 1]
            out = distance[before, a] + distance[b, after] - distance[before, after]
            for place in range(size, n - 1):
                c, d = turned[place], turned[place + 1]
                ahead = distance[c, a] + distance[b, d] - distance[c, d]
                back = distance[c, b] + distance[a, d] - distance[c, d]
                if min(ahead, back) < out - margin:
                    put_segment(turned, size, place, back < ahead, tour)
                    return True
    return False


@njit
def put_segment(turned, size, place, reverse, tour):  # type: ignore[no-untyped-def]
    """Write a tour with its first nodes behind those up to `place`."""
    for k in range(len(tour)):
        tour[k] = turned[k]
    for k in range(size, place + 1):
        tour[k - size] = turned[k]
    for k in range(size):
        tour[place - k if reverse else place - size + 1 + k] = turned[k]
