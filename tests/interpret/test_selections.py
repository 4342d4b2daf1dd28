"""Reference algorithms that choose nodes, edges or colours, against brute force."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from algorithm_cases import SEEDS, dyadic, few, random_graph, run, to_networkx
from hypothesis import given
from hypothesis import strategies as st

from gnarl_compiler.graphs.graph import Graph

DENSITIES = st.sampled_from([0.1, 0.3, 0.5, 0.8])


def all_sets(n: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=n)))


def node_weights(seed: int, n: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 12, size=n) / 16


def inside(graph: Graph, chosen: np.ndarray) -> np.ndarray:
    """Whether each edge has both ends in the set, for sets (k, n)."""
    u, v = graph.edges().T
    return np.asarray(chosen[..., u] & chosen[..., v])


@few
@given(seed=SEEDS, p=DENSITIES)
def test_independent_sets_and_cliques(seed: int, p: float) -> None:
    graph, w, sets = random_graph(seed, 8, p), node_weights(seed, 8), all_sets(8)
    other = Graph(False, ~graph.adjacency & ~np.eye(8, dtype=bool))
    for name, clash in (("max_independent_set", graph), ("max_clique", other)):
        found = run(name, graph, w)
        assert not inside(clash, found).any()
        assert w[found].sum() == (sets[~inside(clash, sets).any(axis=1)] @ w).max()
        fits = ~(clash.adjacency & found).any(axis=1) & ~found
        assert not fits.any(), "a node could be added"


@few
@given(seed=SEEDS, p=DENSITIES)
def test_dominating_sets(seed: int, p: float) -> None:
    graph, w, sets = random_graph(seed, 8, p), node_weights(seed, 8), all_sets(8)
    near = graph.adjacency | np.eye(8, dtype=bool)
    covers = (sets[:, None, :] & near).any(axis=2).all(axis=1)
    found = run("min_dominating_set", graph, w)
    assert (near & found).any(axis=1).all()
    assert w[found].sum() == (sets[covers] @ w).min()


def cut_weight(matrix: np.ndarray, side: np.ndarray) -> float:
    return float(matrix[np.ix_(side, ~side)].sum())


@few
@given(seed=SEEDS, p=DENSITIES, n=st.integers(1, 9))
def test_cuts(seed: int, p: float, n: int) -> None:
    graph = random_graph(seed, n, p)
    weight = dyadic(np.random.default_rng(seed), graph)
    side = run("max_cut", graph, weight)
    best = max(cut_weight(weight, other) for other in all_sets(n))
    assert cut_weight(weight, side) == best
    assert 2 * side.sum() <= n
    for node in np.flatnonzero(side):
        assert cut_weight(weight, side & (np.arange(n) != node)) < best


def test_large_cuts_reach_what_is_known() -> None:
    """A bipartite graph is cut completely; a complete graph of 30 unit edges in two halves."""
    sides = np.arange(30) % 2 == 0
    bipartite = Graph(False, sides[:, None] != sides)
    assert (
        cut_weight(bipartite.adjacency * 1.0, run("max_cut", bipartite, bipartite.adjacency)) == 225
    )
    complete = Graph(False, ~np.eye(30, dtype=bool))
    assert run("max_cut", complete, complete.adjacency * 1.0).sum() == 15


def colourable(graph: Graph, count: int) -> bool:
    u, v = graph.edges().T
    colours = np.array(list(product(range(count), repeat=graph.n)))
    return bool((colours[:, u] != colours[:, v]).all(axis=1).any())


@few
@given(seed=SEEDS, p=DENSITIES)
def test_colourings(seed: int, p: float) -> None:
    graph = random_graph(seed, 7, p)
    colours = run("optimal_colouring", graph)
    u, v = graph.edges().T
    assert (colours[u] != colours[v]).all()
    count = int(colours.max())
    assert sorted(set(colours)) == list(range(1, count + 1))
    assert count == 1 or not colourable(graph, count - 1)


def test_a_colouring_that_is_neither_clique_nor_greedy() -> None:
    """The Grötzsch graph has no triangle and needs four colours."""
    twin = nx.mycielski_graph(4)
    graph = Graph(False, nx.to_numpy_array(twin) > 0)
    assert run("optimal_colouring", graph).max() == 4


def best_packing(graph: Graph, weight: np.ndarray) -> float:
    triangles = [
        t for t in combinations(range(graph.n), 3) if graph.adjacency[np.ix_(t, t)].sum() == 6
    ]
    best = 0.0
    for count in range(1, graph.n // 3 + 1):
        for some in combinations(triangles, count):
            if len(set().union(*some)) == 3 * count:
                best = max(best, sum(weight[np.ix_(t, t)].sum() / 2 for t in some))
    return best


@few
@given(seed=SEEDS, p=st.sampled_from([0.3, 0.5, 0.7]))
def test_triangle_packings(seed: int, p: float) -> None:
    graph = random_graph(seed, 8, p)
    weight = dyadic(np.random.default_rng(seed), graph)
    found = run("triangle_packing", graph, weight)
    assert (found == found.T).all()
    assert not (found & ~graph.adjacency).any()
    assert set(found.sum(axis=1)) <= {0, 2}
    assert sum(nx.triangles(to_networkx(Graph(False, found))).values()) == found.sum() / 2
    assert weight[found].sum() / 2 == best_packing(graph, weight)


def tree_weight(graph: Graph, weight: np.ndarray, chosen: np.ndarray) -> float:
    """Of a minimum spanning tree of the chosen nodes; inf if they hang together in no way."""
    twin = to_networkx(graph, weight).subgraph(np.flatnonzero(chosen).tolist())
    if not nx.is_connected(twin):
        return np.inf
    return float(nx.minimum_spanning_tree(twin).size("weight"))


@few
@given(seed=SEEDS, p=st.sampled_from([0.3, 0.5, 0.8]))
def test_steiner_trees(seed: int, p: float) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, 7, p)
    weight, terminal, root = dyadic(rng, graph), rng.random(7) < 0.4, int(rng.integers(7))
    found = run("steiner_tree", graph, weight, terminal, root)
    within = nx.node_connected_component(to_networkx(graph), root)
    needed = terminal & np.isin(np.arange(7), list(within))
    needed[root] = True
    assert found[needed].all()
    fitting = [some for some in all_sets(7) if some[needed].all()]
    assert tree_weight(graph, weight, found) == min(
        tree_weight(graph, weight, some) for some in fitting
    )


@pytest.mark.parametrize("name", ["max_independent_set", "max_clique", "min_dominating_set"])
def test_negative_node_weights_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} needs weights from 0 up, found -1"):
        run(name, random_graph(0, 2, 1.0), np.array([-1.0, 1.0]))
    with pytest.raises(ValueError, match="max_cut needs weights from 0 up, found -1"):
        run("max_cut", random_graph(0, 2, 1.0), -np.ones((2, 2)))
