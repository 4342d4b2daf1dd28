"""A graph goes in, a colour for each node comes out: neighbours differ, colours are few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import Rows, minimise
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import FunctionSignature
from gnarl_dsl.model.kinds import NODE, SCALAR


@register(
    FunctionSignature(
        (), NODE, SCALAR, "colours 1, 2, … as few as possible", whole=True, directed=False
    )
)
def optimal_colouring(graph: Graph, *, tags: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Colours 1, 2, … (n,), as few as possible.

    A largest clique needs as many colours as it has nodes; DSATUR says how many are enough.
    HiGHS is asked about the numbers between the two.
    """
    import networkx as nx

    sorted_ = tag_order(tags)
    twin = nx.from_numpy_array(sorted_.graph(graph).adjacency)
    clique, _ = nx.max_weight_clique(twin, weight=None)
    greedy = nx.greedy_color(twin, strategy="DSATUR")
    colours = np.array([greedy[node] for node in range(graph.n)])
    for count in range(len(clique), int(colours.max()) + 1):
        fewer = _colour(sorted_.graph(graph), count, clique)
        if fewer is not None:
            colours = fewer
            break
    return sorted_.restore_nodes(_numbered(colours))


def _colour(graph: Graph, count: int, clique: list[int]) -> NDArray[np.intp] | None:
    """Colours below `count` (n,), or None; x_vc is 1 if node v has colour c."""
    from scipy.sparse import coo_array, csr_array, eye_array, kron

    edges = graph.edges()
    rows = np.repeat(np.arange(len(edges)), 2)
    ends = coo_array((np.ones(edges.size), (rows, edges.ravel())), shape=(len(edges), graph.n))
    differ = csr_array(kron(ends, eye_array(count)))
    one_each = csr_array(kron(eye_array(graph.n), np.ones((1, count))))
    most = np.ones((graph.n, count))
    most[clique] = np.eye(len(clique), count)
    rules = [Rows(one_each, 1.0, 1.0), Rows(differ, high=1.0)]
    found = minimise(np.zeros(graph.n * count), rules, most=most.ravel())
    return None if found is None else found.reshape(graph.n, count).argmax(axis=1)


def _numbered(colours: NDArray[np.integer]) -> NDArray[np.float64]:
    """Colours 1, 2, … in the order in which they first appear."""
    _, first, which = np.unique(colours, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which] + 1, dtype=np.float64)
