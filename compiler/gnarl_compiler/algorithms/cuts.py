"""A graph and edge weights go in, one side of a heaviest cut comes out as a node mask (n,)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import verify_weights
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import SYMMETRIC_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import MASK, NODE, RATIO

EXACT_NODES = 22
STARTS = 256


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR,),
        NODE,
        MASK,
        "one side of a heaviest cut",
        directed=False,
        keeps=RATIO,
    )
)
def max_cut(
    graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """The smaller side of a heaviest cut: all cuts are compared up to 22 nodes.

    On larger graphs it is the best of a local search from 256 starts. No node can leave the side
    without a loss.
    """
    verify_weights("max_cut", weight)
    sorted_ = tag_order(tags)
    matrix = np.where(sorted_.graph(graph).adjacency, sorted_.pairs(weight), 0.0)
    side = _all_cuts(matrix) if graph.n <= EXACT_NODES else _local_search(matrix)
    if 2 * side.sum() > graph.n:
        side = ~side
    return sorted_.restore_nodes(_without_idle(matrix, side))


def _all_cuts(matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The best of all sides without the last node: two halves of the nodes, joined by a product."""
    n = len(matrix)
    half = n // 2
    left, right = _subsets(half), _subsets(n - half - 1)
    degree = matrix.sum(axis=1)
    first, second = matrix[:half, :half], matrix[half : n - 1, half : n - 1]
    alone = left @ degree[:half] - np.einsum("ki,ij,kj->k", left, first, left)
    other = right @ degree[half : n - 1] - np.einsum("ki,ij,kj->k", right, second, right)
    both = alone[:, None] + other - 2 * left @ matrix[:half, half : n - 1] @ right.T
    i, j = divmod(int(np.argmax(both)), len(right))
    return np.concatenate([left[i], right[j], [0.0]]) > 0.5


def _subsets(count: int) -> NDArray[np.float64]:
    """All 0-1 rows (2**count, count)."""
    return np.asarray(np.arange(2**count)[:, None] >> np.arange(count) & 1, dtype=np.float64)


def _local_search(matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The best side found by moving, from each random start, the node that gains most."""
    n = len(matrix)
    side = np.random.default_rng(n).choice([-1.0, 1.0], size=(STARTS, n))
    for _ in range(n * n):
        gain = side * (side @ matrix)  # (starts, nodes)
        moves = gain.max(axis=1) > 1e-9
        if not moves.any():
            break
        side[moves, gain[moves].argmax(axis=1)] *= -1
    lost = np.einsum("ki,ij,kj->k", side, matrix, side)
    return np.asarray(side[int(np.argmin(lost))] > 0)


def _without_idle(matrix: NDArray[np.float64], side: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The side without nodes that add nothing, up to rounding, to the cut."""
    kept = side.copy()
    for node in np.flatnonzero(side):
        gain = matrix[node, ~kept].sum() - matrix[node, kept].sum()
        kept[node] = gain > 1e-9
    return kept
