"""A graph, edge weights, terminals and a root go in, the nodes of a cheapest tree come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.algorithms.programs import Rows, minimise, verify_weights
from gnarl_compiler.algorithms.registration import register
from gnarl_compiler.algorithms.tag_order import tag_order
from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.language.signatures import NODE_MASK, ONE_NODE, SYMMETRIC_SCALAR, FunctionSignature
from gnarl_dsl.model.kinds import MASK, NODE, RATIO

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@register(
    FunctionSignature(
        (SYMMETRIC_SCALAR, NODE_MASK, ONE_NODE),
        NODE,
        MASK,
        "nodes of a lightest tree that joins a node and all nodes of a mask (HiGHS)",
        directed=False,
        keeps=RATIO,
    )
)
def steiner_tree(
    graph: Graph,
    weight: NDArray[np.float64],
    terminal: NDArray[np.bool_],
    root: int,
    *,
    tags: NDArray[np.uint64],
) -> NDArray[np.bool_]:
    """The nodes (n,) of a cheapest tree that joins the root and all terminals it can reach.

    A flow of one unit from the root to each terminal, along arcs that are paid for once (HiGHS).
    """
    verify_weights("steiner_tree", weight)
    sorted_ = tag_order(tags)
    graph, weight, start = sorted_.graph(graph), sorted_.pairs(weight), int(sorted_.rank[root])
    wanted = sorted_.nodes(terminal) & _reachable(graph.adjacency, start)
    wanted[start] = False
    paid = _paid_arcs(graph, weight, np.flatnonzero(wanted), start)
    wanted[start] = True
    return sorted_.restore_nodes(_pruned(paid, weight, wanted, start))


def _reachable(adjacency: NDArray[np.bool_], start: int) -> NDArray[np.bool_]:
    seen: NDArray[np.bool_] = np.arange(len(adjacency)) == start
    while (more := adjacency[seen].any(axis=0) & ~seen).any():
        seen |= more
    return seen


def _paid_arcs(
    graph: Graph, weight: NDArray[np.float64], wanted: NDArray[np.intp], root: int
) -> NDArray[np.bool_]:
    """The arcs (n, n) that the flows use; every arc has one price and a flow per terminal."""
    from scipy.sparse import block_array, csr_array, eye_array, kron

    paid = np.zeros((graph.n, graph.n), dtype=np.bool_)
    if not wanted.size:
        return paid
    arcs = np.argwhere(graph.adjacency)
    count, flows = len(arcs), len(arcs) * len(wanted)
    price = weight[arcs[:, 0], arcs[:, 1]]
    balance = csr_array(kron(eye_array(len(wanted)), _balance(arcs, graph.n)))
    need = np.zeros((len(wanted), graph.n))
    need[np.arange(len(wanted)), wanted] = 1.0
    need[:, root] = -1.0
    every = np.ones((len(wanted), 1))
    capacity = csr_array(block_array([[-kron(every, eye_array(count)), eye_array(flows)]]))
    kept = csr_array(block_array([[csr_array((balance.shape[0], count)), balance]]))
    found = minimise(
        np.concatenate([price, np.zeros(flows)]),
        [Rows(capacity, high=0.0), Rows(kept, need.ravel(), need.ravel())],
        real=np.arange(count + flows) >= count,
    )
    if found is None:
        raise RuntimeError("HiGHS found no Steiner tree, please report")
    u, v = arcs[found[:count] > 0.5].T
    paid[u, v] = paid[v, u] = True
    return paid


def _balance(arcs: NDArray[np.intp], n: int) -> csr_array:
    """What flows in less what flows out of each node (nodes, arcs)."""
    from scipy.sparse import csr_array

    index = np.tile(np.arange(len(arcs)), 2)
    signs = np.repeat([-1.0, 1.0], len(arcs))
    return csr_array((signs, (arcs.T.ravel(), index)), shape=(n, len(arcs)))


def _pruned(
    paid: NDArray[np.bool_], weight: NDArray[np.float64], wanted: NDArray[np.bool_], root: int
) -> NDArray[np.bool_]:
    """The nodes of a tree within the arcs; free arcs that lead nowhere are left out."""
    import networkx as nx

    inside = _reachable(paid, root)
    twin: nx.Graph[int] = nx.Graph()
    twin.add_nodes_from(np.flatnonzero(inside).tolist())
    for u, v in np.argwhere(np.triu(paid)).tolist():
        if inside[u]:
            twin.add_edge(u, v, weight=float(weight[u, v]))
    tree = nx.minimum_spanning_tree(twin)
    while idle := [v for v, d in tree.degree() if d <= 1 and not wanted[v]]:
        tree.remove_nodes_from(idle)
    return np.isin(np.arange(len(paid)), list(tree))
