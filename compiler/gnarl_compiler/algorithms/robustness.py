"""A graph and a removal strategy go in, how long it stays connected comes out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import mix64

STRATEGIES = ("random", "targeted")
EXACT_NODES = 7


def critical_fraction(graph: Graph, removal: str, *, tags: NDArray[np.uint64]) -> float:
    """The mean share of nodes removed until the graph falls apart, over 2n removal orders.

    The paper's F (App. C, RGC) estimated with the number of orders of Darvariu et al. 2021. The
    orders depend on the tags only, so graphs on the same nodes meet the same ones: adding an
    edge changes the value by what the edge does, not by another draw.
    """
    verify_strategy(removal)
    salt = mix64(np.arange(2 * graph.n, dtype=np.uint64))
    key = mix64(tags ^ salt[:, None])  # (orders, nodes)
    targeted = -undirected(graph).sum(axis=1) if removal == "targeted" else np.zeros(graph.n)
    orders = np.lexsort((key, np.broadcast_to(targeted, key.shape)), axis=1)
    return _mean_share(graph, orders)


def exact_critical_fraction(graph: Graph, removal: str) -> float:
    """The expectation that `critical_fraction` estimates, over all orders of at most 7 nodes."""
    verify_strategy(removal)
    if graph.n > EXACT_NODES:
        raise ValueError(f"all orders of {graph.n} nodes are too many; {EXACT_NODES} at most")
    orders = np.array(list(permutations(range(graph.n))))
    if removal == "targeted":
        degrees = undirected(graph).sum(axis=1)[orders]
        orders = orders[(np.diff(degrees, axis=1) <= 0).all(axis=1)]
    return _mean_share(graph, orders)


def verify_strategy(removal: str) -> None:
    """Raise a ValueError unless the strategy is known."""
    if removal not in STRATEGIES:
        raise ValueError(f"removal is one of {', '.join(STRATEGIES)}, found {removal}")


def undirected(graph: Graph) -> NDArray[np.bool_]:
    """The adjacency (n, n) without directions."""
    return graph.adjacency | graph.adjacency.T


def _mean_share(graph: Graph, orders: NDArray[np.intp]) -> float:
    """The mean share removed over the orders; the integers are summed exactly in any order."""
    return float(removals_until_apart(graph, orders).sum() / orders.size)


def removals_until_apart(graph: Graph, orders: NDArray[np.intp]) -> NDArray[np.intp]:
    """For every order (orders, nodes), how many removals disconnect the graph, n if none does.

    Nodes are put back last to first, in all orders at once: each joins the components of its
    neighbours that are there already.
    """
    runs, n = orders.shape
    row = np.arange(runs)
    adjacency = undirected(graph)
    component = np.full((runs, n), n)  # label by the node that joined last; n means removed
    components = np.zeros(runs, dtype=np.intp)
    apart_at = np.full(runs, n)
    for removed in reversed(range(n)):
        node = orders[:, removed]
        met = np.zeros((runs, n + 1), dtype=np.bool_)
        met[row[:, None], np.where(adjacency[node], component, n)] = True
        met[:, n] = False
        component = np.where(met[row[:, None], component], node[:, None], component)
        component[row, node] = node
        components += 1 - met.sum(axis=1)
        apart_at[components > 1] = removed
    return apart_at
