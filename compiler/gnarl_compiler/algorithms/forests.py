"""A graph and weights go in, the weight of a lightest spanning forest comes out."""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import SYMMETRIC_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import GRAPH, RATIO, SCALAR


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR,),
        GRAPH,
        SCALAR,
        "weight of a minimum spanning tree",
        directed=False,
        keeps=RATIO,
        like=0,
    )
)
def mst_weight(graph: Graph, weight: NDArray[np.float64], *, tags: NDArray[np.uint64]) -> float:
    """The weight of a minimum spanning forest of an undirected graph (Prim, dense)."""
    if graph.directed:
        raise ValueError("mst_weight needs an undirected graph, found a directed one")
    cost = np.where(graph.adjacency, weight, np.inf)  # a zero weight is an edge
    key = np.full(graph.n, np.inf)
    outside = np.ones(graph.n, dtype=np.bool_)
    taken: list[float] = []
    for _ in range(graph.n):
        node = int(np.flatnonzero(outside)[np.argmin(key[outside])])
        taken.append(float(key[node]))
        outside[node] = False
        key = np.minimum(key, cost[node])
    # Every minimum forest has the same weights, and fsum the same sum of them in any order.
    return fsum(w for w in taken if w < np.inf)
