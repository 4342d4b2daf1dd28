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
from gnarl_dsl.model.kinds import EDGE

Values = NDArray[Any]
Ends = NDArray[np.int64]


def cell_type(feature: Feature) -> np.dtype[Any]:
    """The type of a cell outside an instance, as in a Batch."""
    return np.dtype(feature.type.kept)


def to_cells(feature: Feature, dense: Values, ends: Ends) -> Values:
    """The cells of a feature in a row; `ends` (edges, 2) are those of the graph."""
    values = np.asarray(dense)
    if feature.place is EDGE:
        values = values[ends[:, 0], ends[:, 1]]
    return values.reshape(-1).astype(cell_type(feature))


def to_dense(feature: Feature, cells: Values, graph: Graph, ends: Ends) -> Values:
    """The values that an instance holds, from its cells in a row."""
    values = cells.astype(feature.type.value.array)
    shape = feature.shape(graph.n)
    if feature.place is not EDGE:
        return values.reshape(shape)
    dense = np.zeros(shape, values.dtype)
    dense[ends[:, 0], ends[:, 1]] = values
    if not graph.directed:
        dense[ends[:, 1], ends[:, 0]] = values
    return dense
