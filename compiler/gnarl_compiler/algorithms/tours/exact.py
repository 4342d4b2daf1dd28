"""Distances (n, n) go in, a provably shortest tour (n,) comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.scaling import to_solver_units


def held_karp(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """A shortest tour by dynamic programming over the 2**(n-1) sets of visited nodes."""
    last = len(distance) - 1  # the tour starts here; sets are bits of the other nodes
    step = distance[:last, :last]
    sets = np.arange(2**last)
    member = (sets[:, None] >> np.arange(last)) & 1  # (sets, nodes)
    sizes = member.sum(axis=1)
    length = np.full(member.shape, np.inf)  # shortest path over the set that ends in the node
    length[2 ** np.arange(last), np.arange(last)] = distance[last, :last]
    for size in range(2, last + 1):
        for node in range(last):
            grown = sets[(sizes == size) & (member[:, node] == 1)]
            length[grown, node] = (length[grown ^ (1 << node)] + step[:, node]).min(axis=1)
    return _trace_back(length, distance)


def _trace_back(length: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """The tour behind Held and Karp's table, from its last node to its first."""
    node = last = len(distance) - 1
    tour = [last]
    left = 2**last - 1
    while left:
        node = int(np.argmin(length[left] + distance[:last, node]))
        tour.append(node)
        left ^= 1 << node
    return np.array(tour)


def integer_program(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """A shortest tour by Dantzig, Fulkerson and Johnson: two edges per node, no subtours.

    Subtours are forbidden as they turn up, first in the relaxation, which is cheap, then in the
    integer solution (HiGHS).
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    n = len(distance)
    u, v = np.triu_indices(n, 1)
    cost = to_solver_units(distance[u, v])
    rows = [csr_array((np.arange(n)[:, None] == u) | (np.arange(n)[:, None] == v), dtype=float)]
    upper = [np.full(n, 2.0)]
    for integral in (0, 1):
        while True:
            result: Any = milp(
                cost,
                integrality=np.full(len(cost), integral),
                bounds=Bounds(0, 1),
                constraints=LinearConstraint(vstack(rows), 2.0, np.concatenate(upper)),
                options={"mip_rel_gap": 0},
            )
            if result.x is None:
                raise RuntimeError(f"HiGHS found no tour, please report: {result.message}")
            used = result.x > (0.5 if integral else 1e-6)
            parts = _components(n, u[used], v[used])
            if len(parts) == 1:
                break
            rows.append(csr_array(parts[:, u] != parts[:, v], dtype=float))
            upper.append(np.full(len(parts), np.inf))
    return _walk(n, u[used], v[used])


def _components(n: int, u: NDArray[np.intp], v: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The connected components of the edges (u, v), one mask of nodes per row."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(coo_array((np.ones(len(u)), (u, v)), shape=(n, n)))
    return np.asarray(np.arange(count)[:, None] == label)


def _walk(n: int, u: NDArray[np.intp], v: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nodes along the single cycle that the edges (u, v) form."""
    ends: list[list[int]] = [[] for _ in range(n)]
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        ends[a].append(b)
        ends[b].append(a)
    tour = [0, ends[0][0]]
    while len(tour) < n:
        a, b = ends[tour[-1]]
        tour.append(b if a == tour[-2] else a)
    return np.array(tour)
