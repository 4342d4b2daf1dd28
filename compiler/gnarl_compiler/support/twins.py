"""Registered algorithms in compiled code: a slot in, the answer of the reference out."""

from __future__ import annotations

import numpy as np

from gnarl_compiler.support.edges import joined
from gnarl_compiler.support.jit import njit


@njit
def mix64(x):  # type: ignore[no-untyped-def]
    z = np.uint64(x)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def find_root(parent, x):  # type: ignore[no-untyped-def]
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit
def critical_fraction(b, targeted, n, rowptr, src, tags):  # type: ignore[no-untyped-def]
    """Twin of algorithms.robustness.critical_fraction: nodes return last to first."""
    nodes = n[b]
    key = np.empty(nodes, np.uint64)
    order = np.empty(nodes, np.int64)
    parent = np.empty(nodes, np.int64)
    present = np.empty(nodes, np.bool_)
    total = 0
    for k in range(2 * nodes):
        salt = mix64(np.uint64(k))
        for x in range(nodes):
            key[x] = mix64(tags[b, x] ^ salt)
        fill_order(b, targeted, nodes, key, order, rowptr)
        for x in range(nodes):
            parent[x] = x
            present[x] = False
        components = 0
        apart_at = nodes
        for removed in range(nodes - 1, -1, -1):
            x = order[removed]
            present[x] = True
            components += 1
            for arc in range(rowptr[b, x], rowptr[b, x + 1]):
                y = src[b, arc]
                if present[y]:
                    one, other = find_root(parent, x), find_root(parent, y)
                    if one != other:
                        parent[one] = other
                        components -= 1
                        if components == 1:
                            break  # nothing is left to join
            if components > 1:
                apart_at = removed
        total += apart_at
    return total / (2 * nodes * nodes) if nodes > 0 else 0.0


@njit
def fill_order(b, targeted, nodes, key, order, rowptr):  # type: ignore[no-untyped-def]
    """Nodes by falling degree (if targeted) and then by key."""
    if nodes <= 48:  # insertion is faster on short lists
        for i in range(nodes):
            j = i
            while j > 0 and key[i] < key[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    else:
        order[:] = np.argsort(key, kind="mergesort")
    if targeted:
        by_degree(b, nodes, order, rowptr)


@njit
def by_degree(b, nodes, order, rowptr):  # type: ignore[no-untyped-def]
    """Sort by falling degree; nodes of one degree keep their order."""
    start = np.zeros(nodes + 1, np.int64)
    for x in range(nodes):
        start[nodes - (rowptr[b, x + 1] - rowptr[b, x])] += 1
    total = 0
    for k in range(nodes + 1):
        start[k], total = total, total + start[k]
    before = order.copy()
    for x in before:
        k = nodes - (rowptr[b, x + 1] - rowptr[b, x])
        order[start[k]] = x
        start[k] += 1


@njit
def is_dfs_forest(b, pred, adjacency):  # type: ignore[no-untyped-def]
    """Twin of algorithms.forests.is_dfs_forest; `pred` has a pointer per node."""
    nodes = len(pred)
    depth = np.zeros(nodes, np.int64)
    for x in range(nodes):
        parent = pred[x]
        if parent != x and not joined(adjacency, b, parent, x):
            return False
        y, steps = x, 0
        while pred[y] != y:
            y = pred[y]
            steps += 1
            if steps > nodes:
                return False
        depth[x] = steps
    siblings = np.zeros((nodes, nodes), np.bool_)
    for u in range(nodes):
        for v in range(nodes):
            if joined(adjacency, b, u, v):
                mark_siblings(pred, depth, u, v, siblings)
    return is_acyclic(siblings)


@njit
def mark_siblings(pred, depth, u, v, siblings):  # type: ignore[no-untyped-def]
    """An edge between unrelated nodes orders the sibling subtrees that they hang from."""
    x, y = u, v
    while depth[x] > depth[y]:
        x = pred[x]
    while depth[y] > depth[x]:
        y = pred[y]
    if x == y:
        return
    while pred[x] != pred[y] and depth[x] > 0:
        x, y = pred[x], pred[y]
    siblings[x, y] = True


@njit
def is_acyclic(arcs):  # type: ignore[no-untyped-def]
    """Peel nodes without incoming arcs; a cycle is what cannot be peeled."""
    nodes = len(arcs)
    incoming = np.zeros(nodes, np.int64)
    for u in range(nodes):
        for v in range(nodes):
            if arcs[u, v]:
                incoming[v] += 1
    waiting = np.empty(nodes, np.int64)
    count = 0
    for v in range(nodes):
        if incoming[v] == 0:
            waiting[count] = v
            count += 1
    done = 0
    while done < count:
        u = waiting[done]
        done += 1
        for v in range(nodes):
            if arcs[u, v]:
                incoming[v] -= 1
                if incoming[v] == 0:
                    waiting[count] = v
                    count += 1
    return count == nodes
