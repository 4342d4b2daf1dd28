"""Distances (n, n) go in, a tour (n,) by chained Lin-Kernighan comes out.

The solver for large graphs where no stronger one is installed: Lin-Kernighan steps made of
flips, with kicks between them, as in Applegate, Cook and Rohe 2003.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.streams import stream

NEIGHBOURS = 10
BREADTH = (3, 2, 1, 1, 1)  # alternatives tried at each depth of a step
KICKS_PER_NODE = 20
KICK_REACH = 30
MARGIN = 1e-9  # of the mean distance; a smaller gain is rounding


def chained_lin_kernighan(distance: NDArray[np.float64]) -> NDArray[np.intp]:
    """A good tour of n >= 5 nodes, the same for the same distances."""
    n = len(distance)
    search = _Search(distance)
    search.repair(range(n))
    reach = min(KICK_REACH, (n - 2) // 2)
    kicks = stream(0, "chained_lin_kernighan", n).random((KICKS_PER_NODE * n, 3))
    for start, *lengths in (kicks * (n, reach, reach)).astype(int).tolist():
        first, second = (1 + length for length in lengths)
        search.flips.clear()
        gain, ends = search.swap_segments(start, first, second)
        if gain + search.repair(ends) < 0:
            search.undo(0)
            search.swap_segments(start, second, first)
    return np.array(search.tour)


class _Search:
    """A tour under local search; a gain is how much shorter a change makes it."""

    def __init__(self, distance: NDArray[np.float64]) -> None:
        n = len(distance)
        others = distance + np.diag(np.full(n, np.inf))
        self.near: list[list[int]] = np.argsort(others, axis=1)[
            :, : min(NEIGHBOURS, n - 1)
        ].tolist()
        self.distance: list[list[float]] = distance.tolist()
        self.margin = MARGIN * float(distance.mean())
        self.tour = _nearest_neighbour(others)
        self.place: list[int] = np.argsort(self.tour).tolist()
        self.flips: list[tuple[int, int]] = []

    def repair(self, nodes: range | list[int]) -> float:
        """Improve the tour around these nodes until no step helps; returns the gain."""
        queue = deque(nodes)
        gain = 0.0
        while queue:
            base = queue.popleft()
            for side in (1, -1):
                other = self.tour[(self.place[base] + side) % len(self.tour)]
                step = self.step(0, self.distance[base][other], base, other, queue)
                if step > 0:
                    gain += step
                    queue.append(base)
                    break
        return gain

    def step(self, depth: int, credit: float, base: int, end: int, queue: deque[int]) -> float:
        """Replace the edge (base, end) by a chain of flips; returns the gain, or 0 and no change.

        `credit` is what was removed less what was added so far, with (base, end) removed.
        """
        for far, node, new_end in self.candidates(credit, base, end)[: BREADTH[depth]]:
            mark = len(self.flips)
            self.flip_between(base, end, new_end)
            gain = far - self.distance[base][new_end]
            if gain <= self.margin:
                deeper = depth + 1 < len(BREADTH)
                gain = self.step(depth + 1, far, base, new_end, queue) if deeper else 0.0
            if gain > 0:
                queue.extend((end, node, new_end))
                return gain
            self.undo(mark)
        return 0.0

    def candidates(self, credit: float, base: int, end: int) -> list[tuple[float, int, int]]:
        """Ways on from `end`, best first: (credit after, node to join, neighbour to cut off it)."""
        tour, place, n = self.tour, self.place, len(self.tour)
        towards = -1 if tour[(place[base] + 1) % n] == end else 1
        found = []
        for node in self.near[end]:
            left = credit - self.distance[end][node]
            if left <= self.margin:
                break
            new_end = tour[(place[node] + towards) % n]
            if node != base and new_end != end:
                found.append((left + self.distance[node][new_end], node, new_end))
        return sorted(found, reverse=True)

    def flip_between(self, base: int, end: int, new_end: int) -> None:
        """Turn the path from `end` to `new_end` round, so that `base` is next to `new_end`."""
        i, j = self.place[end], self.place[new_end]
        forward = (self.place[base] + 1) % len(self.tour) == i
        self.flips.append((i, j) if forward else (j, i))
        self.reverse(*self.flips[-1])

    def undo(self, mark: int) -> None:
        """Take back all flips after the first `mark`."""
        while len(self.flips) > mark:
            self.reverse(*self.flips.pop())

    def reverse(self, i: int, j: int) -> None:
        """Reverse the places i..j, or the rest of the cycle if that is shorter."""
        tour, place, n = self.tour, self.place, len(self.tour)
        inside = (j - i) % n + 1
        if 2 * inside > n:
            i, j, inside = j + 1, i - 1, n - inside
        for k in range(inside // 2):
            a, b = (i + k) % n, (j - k) % n
            tour[a], tour[b] = tour[b], tour[a]
            place[tour[a]], place[tour[b]] = a, b

    def swap_segments(self, start: int, first: int, second: int) -> tuple[float, list[int]]:
        """Swap the two segments after place `start`; returns the gain and the nodes at the cuts."""
        n, d = len(self.tour), self.distance
        places = [(start + k) % n for k in range(first + second + 2)]
        a, *moved, z = [self.tour[p] for p in places]
        one, two = moved[:first], moved[first:]
        for p, node in zip(places[1:-1], two + one, strict=True):
            self.tour[p] = node
            self.place[node] = p
        cut = d[a][one[0]] + d[one[-1]][two[0]] + d[two[-1]][z]
        joined = d[a][two[0]] + d[two[-1]][one[0]] + d[one[-1]][z]
        return cut - joined, [a, one[0], one[-1], two[0], two[-1], z]


def _nearest_neighbour(distance: NDArray[np.float64]) -> list[int]:
    """A tour that always goes on to the nearest node left; the diagonal is inf."""
    left = distance.copy()
    tour = [0]
    for _ in range(len(distance) - 1):
        left[:, tour[-1]] = np.inf
        tour.append(int(np.argmin(left[tour[-1]])))
    return tour
