"""Distances (n, n) go in, a short tour (n,) comes out and whether it is proven to be shortest.

Branch and bound over 1-trees (Held and Karp 1971, Volgenant and Jonker 1982). A 1-tree is a
spanning tree of all nodes but node 0, and two edges of node 0; a tour is a 1-tree in which every
node has two edges. A price on a node is paid by each of its edges, and so twice by every tour:
prices change no order among tours, but raise the shortest 1-tree, which is a bound.

Compiled, since a pool of instances needs tens of thousands of tours.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.algorithms.tours.kicks import tour_length
from gnarl_compiler.support.jit import njit
from gnarl_compiler.support.numbers import INF

FREE, FORCED, BANNED = 0, 1, -1

FIRST_STEPS = (15, 15, 30)  # of pricing, before anything is tried; edges are dropped after each
STEPS = 25  # at every subproblem


@njit
def branch_and_bound(distance, margin, start, limit):  # type: ignore[no-untyped-def]
    """The best tour found within `limit` subproblems, and whether no tour is shorter.

    The shorter the tour that the search starts with, the sooner it ends. Sums of distances that
    are within `margin` of each other count as the same.
    """
    n = len(distance)
    best, shortest = start, tour_length(start, distance)
    state, price = np.zeros((n, n), np.int8), np.zeros(n)
    degree, joined = np.zeros(n, np.int64), np.zeros(n, np.int64)
    edges = listed(state)
    for steps in FIRST_STEPS:
        bound = raise_prices(
            distance, state, edges, price, shortest - margin, steps, degree, joined
        )
        if bound >= shortest - margin:
            return best, True
        ban_useless(distance, state, price, joined, shortest - margin - bound)
        edges = listed(state)
    room = 8 * n  # a search that needs more is given up
    states, prices = np.empty((room, n, n), np.int8), np.empty((room, n))
    copy_subproblem(state, price, states[0], prices[0])
    waiting = 1
    for _ in range(limit):
        waiting -= 1
        copy_subproblem(states[waiting], prices[waiting], state, price)
        bound = raise_prices(
            distance, state, edges, price, shortest - margin, STEPS, degree, joined
        )
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


@njit
def ban_useless(distance, state, price, joined, slack):  # type: ignore[no-untyped-def]
    """Ban each edge with which the 1-tree would cost more by `slack`: no better tour has it.

    An edge of the tree's nodes replaces the dearest one between them, an edge of node 0 the dearer
    of its two.
    """
    n = len(distance)
    dearest = np.zeros((n, n))
    order = from_root(joined)
    for place in range(1, n - 1):
        v, above = order[place], joined[order[place]]
        cost = distance[v, above] + price[v] + price[above]
        for earlier in range(place):
            w = order[earlier]
            dearest[v, w] = dearest[w, v] = max(cost, dearest[above, w]) if w != above else cost
    second = 0.0
    for place in range(2):
        cost = distance[0, joined[place]] + price[0] + price[joined[place]]
        second = cost if place == 0 else max(second, cost)
    for v in range(1, n):
        dearest[0, v] = dearest[v, 0] = second
    for a in range(n):
        for b in range(a):
            if distance[a, b] + price[a] + price[b] - dearest[a, b] >= slack:
                set_edge(state, a, b, BANNED)


@njit
def from_root(joined):  # type: ignore[no-untyped-def]
    """Node 1 and then every other node of a 1-tree's tree after the one it is joined to."""
    n = len(joined)
    order, known = np.empty(n - 1, np.int64), np.zeros(n, np.bool_)
    order[0], known[1] = 1, True
    count = 1
    while count < n - 1:
        for v in range(2, n):
            if not known[v] and known[joined[v]]:
                order[count], known[v] = v, True
                count += 1
    return order


@njit
def listed(state):  # type: ignore[no-untyped-def]
    """Per node how many edges are not banned, and where they go: (n, 1 + n)."""
    n = len(state)
    edges = np.zeros((n, 1 + n), np.int64)
    for a in range(n):
        for b in range(n):
            if a != b and state[a, b] != BANNED:
                edges[a, 0] += 1
                edges[a, edges[a, 0]] = b
    return edges


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
def raise_prices(distance, state, edges, price, enough, steps, degree, joined):  # type: ignore[no-untyped-def]
    """Change prices so that the bound rises, until it is enough; returns it.

    Leaves the best prices in `price`, and degrees and edges of their 1-tree. Steps are Polyak's.
    """
    if hopeless(state):
        return INF
    n = len(distance)
    trial, trial_degree, trial_joined = price.copy(), degree.copy(), joined.copy()
    best, scale, since = -INF, 1.0, 0
    for _ in range(steps):
        bound = one_tree(distance, state, edges, trial, trial_degree, trial_joined)
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
def one_tree(distance, state, edges, price, degree, joined):  # type: ignore[no-untyped-def]
    """The priced length of a shortest 1-tree, less what every tour pays; inf if there is none.

    `edges` lists what is worth looking at. `joined[v]` is the other end of v's edge towards node 1,
    where the tree was begun; node 0's two edges go to joined[0] and joined[1].
    """
    n = len(distance)
    degree[:] = 0
    total = -2 * price.sum()
    cost = np.full(n, INF)  # of joining the tree, forced edges before all others
    paid = np.full(n, INF)
    paid[0] = paid[1] = -INF  # what is inside, or not of the tree
    left = np.arange(2, n)  # nodes outside the tree
    node = 1
    for size in range(n - 2, 0, -1):
        for k in range(1, edges[node, 0] + 1):
            v = edges[node, k]
            kind = state[node, v]
            if kind == BANNED or paid[v] == -INF:
                continue
            priced = distance[node, v] + price[node] + price[v]
            key = -INF if kind == FORCED else priced
            if key < cost[v]:
                cost[v], paid[v], joined[v] = key, priced, node
        chosen = 0
        least = cost[left[0]]
        for k in range(1, size):
            if cost[left[k]] < least:
                chosen, least = k, cost[left[k]]
        if least == INF:
            return INF
        node = left[chosen]
        left[chosen] = left[size - 1]
        total += paid[node]
        paid[node] = -INF
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
