"""Random graphs and weights for the hand-written environments: a generator in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def erdos_renyi(n: int, p: float, rng: Generator) -> NDArray[np.bool_]:
    """A symmetric adjacency matrix (n, n) with every edge present with probability p."""
    upper = np.triu(rng.random((n, n)) < p, 1)
    return upper | upper.T


def connected_erdos_renyi(n: int, rng: Generator) -> NDArray[np.bool_]:
    """The training graphs of the paper: p uniform in 0.1..0.9, redrawn until connected."""
    while True:
        adjacency = erdos_renyi(n, rng.uniform(0.1, 0.9), rng)
        if adjacency.any(axis=0).all() and is_connected(adjacency):
            return adjacency


def is_connected(adjacency: NDArray[np.bool_]) -> bool:
    """Whether every node is reached from node 0."""
    reached = adjacency[0].copy()
    reached[0] = True
    size, before = int(np.count_nonzero(reached)), 1
    while before < size < len(adjacency):
        before = size
        reached |= adjacency[reached].any(axis=0)
        size = int(np.count_nonzero(reached))
    return size == len(adjacency)


def barabasi_albert(n: int, m: int, rng: Generator) -> NDArray[np.bool_]:
    """Preferential attachment from a star on m + 1 nodes, as in networkx, nodes shuffled."""
    m = min(m, n - 1)
    label = rng.permutation(n).tolist()
    sources, targets = [label[0]] * m, label[1 : m + 1]
    ends = sources + targets  # every node as often as it has edges
    draws = uniforms(rng)
    for node in label[m + 1 :]:
        chosen: set[int] = set()
        while len(chosen) < m:
            chosen.add(ends[int(next(draws) * len(ends))])
        sources.extend([node] * m)
        targets.extend(chosen)
        ends.extend(chosen)
        ends.extend([node] * m)
    adjacency = np.zeros((n, n), np.bool_)
    adjacency[sources, targets] = adjacency[targets, sources] = True
    return adjacency


def uniforms(rng: Generator) -> Iterator[float]:
    """Numbers in [0, 1), drawn a block at a time: one call each would cost ten times as much."""
    while True:
        yield from rng.random(256).tolist()


def clrs_weights(adjacency: NDArray[np.bool_], rng: Generator) -> NDArray[np.float64]:
    """Symmetric weights (n, n) as the CLRS-30 sampler draws them, zero off the edges."""
    weight = rng.random(adjacency.shape)
    return single(np.sqrt(weight * weight.T + 1e-3) * adjacency)


def single(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """float32 numbers kept as float64: sums along a path then rarely round."""
    return values.astype(np.float32).astype(np.float64)
