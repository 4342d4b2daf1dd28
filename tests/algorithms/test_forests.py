"""Depth-first forests against every search there is, minimum spanning ones against networkx."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from algorithm_cases import SEEDS, dyadic, few, random_graph, run, to_networkx
from hypothesis import given
from hypothesis import strategies as st

from gnarl_compiler.graphs.graph import Graph


def every_dfs(graph: Graph) -> set[tuple[int, ...]]:
    """The predecessors of all depth-first searches, following every choice."""
    found, seen, todo = set(), set(), [((), (-1,) * graph.n)]
    while todo:
        stack, pred = todo.pop()
        if (stack, pred) in seen:
            continue
        seen.add((stack, pred))
        here = stack[-1] if stack else None
        new = [v for v in range(graph.n) if pred[v] < 0]
        if not new:
            found.add(pred)
        ways = new if here is None else [v for v in new if graph.adjacency[here, v]]
        for v in ways:
            parent = v if here is None else here
            todo.append(((*stack, v), (*pred[:v], parent, *pred[v + 1 :])))
        if new and not ways:
            todo.append((stack[:-1], pred))
    return found


def small_graphs() -> list[Graph]:
    """All graphs of up to three nodes, and some of four and five."""
    graphs = []
    for n in (1, 2, 3):
        spots = [(u, v) for u in range(n) for v in range(n) if u != v]
        for bits in product([False, True], repeat=len(spots)):
            adjacency = np.zeros((n, n), dtype=bool)
            adjacency[tuple(np.array(spots, dtype=int).reshape(-1, 2).T)] = bits
            graphs.append(Graph(True, adjacency))
    for k in range(40):
        graphs.append(random_graph(k, 4 + k % 2, 0.2 + 0.1 * (k % 5), directed=k % 4 != 0))
    return graphs


def test_dfs_forests_are_exactly_what_searches_leave() -> None:
    verdicts = {True: 0, False: 0}
    for graph in small_graphs():
        valid = every_dfs(graph)
        choices = [[v, *np.flatnonzero(graph.adjacency[:, v])] for v in range(graph.n)]
        for pred in product(*choices):
            verdict = run("is_dfs_forest", graph, np.array(pred))
            assert verdict == (pred in valid), (graph.adjacency, pred)
            verdicts[verdict] += 1
    assert min(verdicts.values()) > 500


def test_dfs_forest_needs_its_edges_and_no_cycle() -> None:
    cycle = Graph(True, np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=bool))
    assert run("is_dfs_forest", cycle, np.array([0, 1, 1]))
    assert not run("is_dfs_forest", cycle, np.array([0, 2, 1]))  # the paper's App. F accepts this
    assert not run("is_dfs_forest", cycle, np.array([0, 0, 1]))  # 0 -> 1 is no edge


@pytest.mark.parametrize("p", [0.002, 0.05])
def test_large_dfs_forests(p: float) -> None:
    graph = random_graph(0, 1000, p, directed=True)
    twin = to_networkx(graph)
    pred = np.arange(1000)
    for u, v in nx.dfs_edges(twin):
        pred[v] = u
    assert run("is_dfs_forest", graph, pred)
    breadth = np.arange(1000)
    for u, v in nx.bfs_edges(twin, 0):
        breadth[v] = u
    assert not run("is_dfs_forest", graph, breadth)


@few
@given(seed=SEEDS, p=st.sampled_from([0.1, 0.3, 0.8]))
def test_mst_weight_agrees_with_networkx(seed: int, p: float) -> None:
    graph = random_graph(seed, 15, p)
    weight = dyadic(np.random.default_rng(seed), graph)
    known = nx.minimum_spanning_tree(to_networkx(graph, weight)).size(weight="weight")
    assert run("mst_weight", graph, weight) == known
    with pytest.raises(ValueError, match="undirected graph, found a directed one"):
        run("mst_weight", random_graph(seed, 3, p, directed=True), weight)
