"""A number of nodes goes in, one code per graph up to isomorphism comes out.

A code has a bit per possible edge. Two graphs are isomorphic if a permutation of the nodes turns
one code into the other; the smallest code of each class stands for it.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

# Beyond these, going through all codes takes minutes.
MOST_NODES = {False: 6, True: 5}


def node_pairs(n: int, directed: bool) -> list[tuple[int, int]]:
    """Every possible edge; undirected ones once, with u < v."""
    return list(permutations(range(n), 2) if directed else combinations(range(n), 2))


@cache
def canonical_codes(n: int, directed: bool) -> tuple[int, ...]:
    """The smallest code of every class of isomorphic graphs on n nodes, in ascending order."""
    pairs = node_pairs(n, directed)
    place = {pair: i for i, pair in enumerate(pairs)}
    codes = np.arange(1 << len(pairs), dtype=np.int64)
    smallest = codes.copy()
    for order in permutations(range(n)):
        moved = [(order[u], order[v]) for u, v in pairs]
        image = [place[p] if p in place else place[p[::-1]] for p in moved]
        np.minimum(smallest, _moved(codes, image), out=smallest)
    return tuple(int(code) for code in codes[smallest == codes])


def _moved(codes: Codes, image: list[int]) -> Codes:
    """Every code with bit i moved to image[i], half of the bits at a time."""
    half = (len(image) + 1) // 2
    low, high = _table(image[:half]), _table(image[half:])
    return np.asarray(low[codes & (len(low) - 1)] | high[codes >> half])


def _table(image: list[int]) -> Codes:
    values = np.arange(1 << len(image), dtype=np.int64)
    table = np.zeros_like(values)
    for bit, target in enumerate(image):
        table |= ((values >> bit) & 1) << target
    return table


def adjacency_of(code: int, n: int, directed: bool) -> NDArray[np.bool_]:
    """The matrix (n, n) that a code stands for."""
    adjacency = np.zeros((n, n), np.bool_)
    for bit, (u, v) in enumerate(node_pairs(n, directed)):
        if code >> bit & 1:
            adjacency[u, v] = True
            adjacency[v, u] |= not directed
    return adjacency


def automorphisms(adjacency: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Every renaming of the nodes that leaves a graph as it is: (renamings, n)."""
    orders = np.array(list(permutations(range(len(adjacency)))), np.int64)
    moved = adjacency[orders[:, :, None], orders[:, None, :]]
    return np.asarray(orders[(moved == adjacency).all(axis=(1, 2))])
