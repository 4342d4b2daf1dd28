"""A graph and node weights go in, a cheapest set of nodes that is next to all others comes out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import Rows, choose, verify_weights
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import NODE_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import MASK, NODE, RATIO


@register(
    FunctionSignature(
        (NODE_SCALAR,),
        NODE,
        MASK,
        "a lightest dominating set (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def min_dominating_set(
    graph: Graph, w: NDArray[np.float64], *, tags: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Nodes (n,) of least weight such that every node is in the set or has a neighbour in it."""
    from scipy.sparse import csr_array

    verify_weights("min_dominating_set", w)
    sorted_ = tag_order(tags)
    near = sorted_.graph(graph).adjacency | np.eye(graph.n, dtype=np.bool_)
    rows = [Rows(csr_array(near.astype(float)), low=1.0)]
    return sorted_.restore_nodes(choose(sorted_.nodes(w), rows, "dominating set"))
