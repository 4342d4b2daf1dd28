"""A graph and a removal strategy go in, how long it stays connected comes out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.registration import Twin, register
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import mix64
from gnarl_compiler.support.jit import njit
from gnarl_dsl.language.signatures import CHOICE, FunctionSignature
from gnarl_dsl.model.kinds import GRAPH, SCALAR

STRATEGIES = ("random", "targeted")
TARGETED = STRATEGIES.index("targeted")
EXACT_NODES = 7


@njit
def critical_fraction_twin(b, removal, n, rowptr, src, tags):  # type: ignore[no-untyped-def]
    """`critical_fraction` of the graph in slot b: nodes return last to first."""
    nodes = n[b]
    key = np.empty(nodes, np.uint64)
    order = np.empty(nodes, np.int64)
    parent = np.empty(nodes, np.int64)
    present = np.empty(nodes, np.bool_)
    total = 0
    for k in range(2 * nodes):
        salt = mixed(np.uint64(k))
        for x in range(nodes):
            key[x] = mixed(tags[b, x] ^ salt)
        fill_order(b, removal == TARGETED, nodes, key, order, rowptr)
        for x in range(nodes):
            parent[x] = x
            present[x] = False
        components = 0
        apart_at = nodes
        for removed in range(nodes - 1, -1, -1):
            x = order[removed]
            present[x] = True
            components += 1
            for arc in range(rowptr[b, x], rowptr[b, x + 1]):
                y = src[b, arc]
                if present[y]:
                    one, other = find_root(parent, x), find_root(parent, y)
                    if one != other:
                        parent[one] = other
                        components -= 1
                        if components == 1:
                            break  # nothing is left to join
            if components > 1:
                apart_at = removed
        total += apart_at
    return total / (2 * nodes * nodes) if nodes > 0 else 0.0


@njit
def mixed(x):  # type: ignore[no-untyped-def]
    z = np.uint64(x)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def find_root(parent, x):  # type: ignore[no-untyped-def]
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit
def fill_order(b, targeted, nodes, key, order, rowptr):  # type: ignore[no-untyped-def]
    """Nodes by falling degree (if targeted) and then by key."""
    if nodes <= 48:  # insertion is faster on short lists
        for i in range(nodes):
            j = i
            while j > 0 and key[i] < key[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    else:
        order[:] = np.argsort(key, kind="mergesort")
    if targeted:
        by_degree(b, nodes, order, rowptr)


@njit
def by_degree(b, nodes, order, rowptr):  # type: ignore[no-untyped-def]
    """Sort by falling degree; nodes of one degree keep their order."""
    start = np.zeros(nodes + 1, np.int64)
    for x in range(nodes):
        start[nodes - (rowptr[b, x + 1] - rowptr[b, x])] += 1
    total = 0
    for k in range(nodes + 1):
        start[k], total = total, total + start[k]
    before = order.copy()
    for x in before:
        k = nodes - (rowptr[b, x + 1] - rowptr[b, x])
        order[start[k]] = x
        start[k] += 1


@register(
    FunctionSignature(
        (CHOICE,),
        GRAPH,
        SCALAR,
        "mean share of nodes removed before the graph falls apart, over 2n orders",
        random=True,
        cost=((2, 0), (1, 1)),
        choices=STRATEGIES,
        directed=False,
        oracle=False,
    ),
    Twin(critical_fraction_twin, ("n", "rowptr", "src", "tags")),
)
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
