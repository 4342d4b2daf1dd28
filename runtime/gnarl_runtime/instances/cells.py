"""A feature's dense values go in, its cells in a row come out, and the other way round.

An instance has matrices; files, caches and batches hold what is in use only, one after the
other: a cell per node, per edge (in the order of the edge ids: by u, then v, an undirected edge
once with u < v), per pair, or one for the graph or for the one node that is marked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.model import Feature

Values = NDArray[Any]
Ends = NDArray[np.int64]


def cell_type(feature: Feature) -> np.dtype[Any]:
    """The type of a cell outside an instance, as in a Batch."""
    return np.dtype({"scalar": "<f8", "mask": "|b1"}.get(feature.type, "<i4"))


def cell_count(feature: Feature, n: int, m: int) -> int:
    """How many cells a feature has in a graph of n nodes and m edges."""
    if feature.type == "mask_one" or feature.place == "graph":
        return 1
    return {"node": n, "edge": m, "pair": n * n}[feature.place]


def to_cells(feature: Feature, dense: Values, ends: Ends) -> Values:
    """The cells of a feature in a row; `ends` (edges, 2) are those of the graph."""
    values = np.asarray(dense)
    if feature.place == "edge":
        values = values[ends[:, 0], ends[:, 1]]
    return values.reshape(-1).astype(cell_type(feature))


def to_dense(feature: Feature, cells: Values, graph: Graph, ends: Ends) -> Values:
    """The values that an instance holds, from its cells in a row."""
    values = cells if cells.dtype.kind in "fb" else cells.astype(np.int64)
    if feature.type == "mask_one" or feature.place == "graph":
        return values.reshape(()).copy()
    if feature.place != "edge":
        return values.reshape((graph.n,) if feature.place == "node" else (graph.n, graph.n)).copy()
    dense = np.zeros((graph.n, graph.n), values.dtype)
    dense[ends[:, 0], ends[:, 1]] = values
    if not graph.directed:
        dense[ends[:, 1], ends[:, 0]] = values
    return dense
