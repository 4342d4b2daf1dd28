"""Steps between the nodes of a part of a graph in; out: distances, components, cycles, roots.

A part is `inside` (nodes,), which nodes it has, and `count` rows of `steps` (room, 2). Where steps
go both ways each is listed once.
"""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.jit import njit


@njit
def with_room(steps, count):  # type: ignore[no-untyped-def]
    """The steps, in an array with room for one more."""
    if count < len(steps):
        return steps
    larger = np.empty((2 * count, 2), np.int64)
    larger[:count] = steps
    return larger


@njit
def steps_inside(inside, b, rowptr, src, both):  # type: ignore[no-untyped-def]
    """The edges of a slot's graph between nodes of the part, and how many they are."""
    steps, count = np.empty((rowptr[b, len(inside)], 2), np.int64), 0
    for v in range(len(inside)):
        if inside[v]:
            for arc in range(rowptr[b, v], rowptr[b, v + 1]):
                u = src[b, arc]
                if inside[u] and (u < v or not both):
                    steps[count, 0] = u
                    steps[count, 1] = v
                    count += 1
    return steps, count


@njit
def _arcs(steps, count, nodes, both, reverse):  # type: ignore[no-untyped-def]
    """Where steps lead, by the node that they start from: starts (nodes + 1,), ends (arcs,)."""
    starts = np.zeros(nodes + 1, np.int64)
    first = 1 if reverse else 0
    for k in range(count):
        starts[steps[k, first] + 1] += 1
        if both:
            starts[steps[k, 1 - first] + 1] += 1
    for v in range(nodes):
        starts[v + 1] += starts[v]
    ends, free = np.empty(starts[nodes], np.int64), starts.copy()
    for k in range(count):
        u, v = steps[k, first], steps[k, 1 - first]
        ends[free[u]] = v
        free[u] += 1
        if both:
            ends[free[v]] = u
            free[v] += 1
    return starts, ends


@njit
def steps_from(source, inside, steps, count, both, reverse):  # type: ignore[no-untyped-def]
    """The fewest steps from a node to each, or to it in reverse; infinite without a way."""
    nodes = len(inside)
    found = np.full(nodes, np.inf)
    if not inside[source]:
        return found
    starts, ends = _arcs(steps, count, nodes, both, reverse)
    queue, head, tail = np.empty(nodes, np.int64), 0, 1
    queue[0] = source
    found[source] = 0.0
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(starts[u], starts[u + 1]):
            v = ends[arc]
            if found[v] == np.inf:
                found[v] = found[u] + 1.0
                queue[tail] = v
                tail += 1
    return found


@njit
def _top(above, v):  # type: ignore[no-untyped-def]
    """The node that a group is known by; the way there becomes shorter."""
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


@njit
def components_of(inside, steps, count, b, tags):  # type: ignore[no-untyped-def]
    """For each node that of the lowest rank among all that hang together with it, -1 outside."""
    nodes = len(inside)
    above = np.arange(nodes)
    for k in range(count):
        above[_top(above, steps[k, 0])] = _top(above, steps[k, 1])
    least = np.full(nodes, -1)
    for v in range(nodes):
        top = _top(above, v)
        if least[top] < 0 or tags[b, v] < tags[b, least[top]]:
            least[top] = v
    found = np.full(nodes, -1)
    for v in range(nodes):
        if inside[v]:
            found[v] = least[_top(above, v)]
    return found


@njit
def has_no_cycle(inside, steps, count, both):  # type: ignore[no-untyped-def]
    """Whether no walk comes back to where it started without going a step back."""
    nodes = len(inside)
    if both:
        above = np.arange(nodes)
        for k in range(count):
            u, v = _top(above, steps[k, 0]), _top(above, steps[k, 1])
            if u == v:
                return False
            above[u] = v
        return True
    starts, ends = _arcs(steps, count, nodes, False, False)
    waiting = np.zeros(nodes, np.int64)  # steps to each from nodes that are not done
    for k in range(count):
        waiting[steps[k, 1]] += 1
    queue, head, tail = np.empty(nodes, np.int64), 0, 0
    for v in range(nodes):
        if waiting[v] == 0:
            queue[tail] = v
            tail += 1
    while head < tail:
        u = queue[head]
        head += 1
        for arc in range(starts[u], starts[u + 1]):
            v = ends[arc]
            waiting[v] -= 1
            if waiting[v] == 0:
                queue[tail] = v
                tail += 1
    return tail == nodes


@njit
def roots_of(pointers):  # type: ignore[no-untyped-def]
    """Where the chain from each node ends, -1 if it circles."""
    nodes = len(pointers)
    found, path = np.full(nodes, -2), np.empty(nodes, np.int64)
    for start in range(nodes):
        v, count = start, 0
        while found[v] == -2:
            found[v] = -1  # a chain that meets itself circles, unless it ends here
            path[count] = v
            count += 1
            if pointers[v] == v:
                found[v] = v
            v = pointers[v]
        for k in range(count):
            found[path[k]] = found[v]
    return found
