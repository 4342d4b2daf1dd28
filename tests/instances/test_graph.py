"""Graphs and random streams: what they refuse, and that networkx agrees with what they say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import mix64, stream


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 8) -> Graph:
    n = draw(st.integers(1, max_nodes))
    directed = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    adjacency = rng.random((n, n)) < draw(st.sampled_from([0.1, 0.2, 0.4, 0.8]))
    np.fill_diagonal(adjacency, False)
    return Graph(directed, adjacency if directed else adjacency | adjacency.T)


def to_networkx(graph: Graph) -> nx.Graph:
    kind = nx.DiGraph if graph.directed else nx.Graph
    return nx.from_numpy_array(graph.adjacency.astype(int), create_using=kind)


def path(n: int, *, directed: bool) -> Graph:
    adjacency = np.eye(n, k=1, dtype=bool)
    return Graph(directed, adjacency if directed else adjacency | adjacency.T)


@pytest.mark.parametrize(
    ("adjacency", "directed", "message"),
    [
        (np.zeros((2, 3), dtype=bool), True, r"square matrix, found shape \(2, 3\)"),
        (np.zeros(4, dtype=bool), True, r"square matrix, found shape \(4,\)"),
        (np.zeros((2, 2)), True, "boolean, found float64"),
        (np.eye(3, k=-1, dtype=bool), False, "symmetric, found 1 -> 0 without 0 -> 1"),
        (np.diag([False, True]), True, "loop at node 1"),
    ],
)
def test_bad_matrices_are_refused(adjacency: np.ndarray, directed: bool, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph(directed, adjacency)


def test_a_graph_keeps_its_own_read_only_matrix() -> None:
    adjacency = np.zeros((2, 2), dtype=bool)
    graph = Graph(directed=True, adjacency=adjacency)
    adjacency[0, 1] = True
    assert graph.m == 0
    with pytest.raises(ValueError, match="read-only"):
        graph.adjacency[0, 1] = True


@given(graphs())
def test_edges_and_counts_agree_with_networkx(graph: Graph) -> None:
    twin = to_networkx(graph)
    edges = [tuple(edge) for edge in graph.edges().tolist()]
    wanted = twin.edges if graph.directed else {tuple(sorted(edge)) for edge in twin.edges}
    assert (graph.n, graph.m) == (twin.number_of_nodes(), twin.number_of_edges())
    assert len(edges) == graph.m
    assert set(edges) == set(wanted)


@settings(max_examples=300)
@given(graphs())
def test_connected_and_acyclic_agree_with_networkx(graph: Graph) -> None:
    twin = to_networkx(graph)
    acyclic = nx.is_directed_acyclic_graph if graph.directed else nx.is_forest
    assert graph.is_connected() == nx.is_connected(twin.to_undirected())
    assert graph.is_acyclic() == acyclic(twin)


@given(graphs(), st.randoms(use_true_random=False))
def test_relabelling_renames_every_edge(graph: Graph, random) -> None:
    new = list(range(graph.n))
    random.shuffle(new)
    renamed = graph.relabel(np.array(new))
    assert renamed.directed == graph.directed
    for u in range(graph.n):
        for v in range(graph.n):
            assert renamed.adjacency[new[u], new[v]] == graph.adjacency[u, v]


@pytest.mark.parametrize("labels", [[0, 0, 1], [0, 1], [1, 2, 3]])
def test_relabelling_needs_a_permutation(labels: list[int]) -> None:
    with pytest.raises(ValueError, match=r"permutation of 0\.\.2"):
        path(3, directed=True).relabel(np.array(labels))


@pytest.mark.parametrize("directed", [False, True])
def test_long_paths(directed: bool) -> None:
    graph = path(1500, directed=directed)
    assert graph.is_connected()
    assert graph.is_acyclic()
    closed = graph.adjacency.copy()
    closed[-1, 0] = True
    closed[0, -1] = not directed
    assert not Graph(directed, closed).is_acyclic()


def test_streams_never_change() -> None:
    """Published seeds must draw the same instances in every version."""
    assert stream(7, "graph", 3).integers(0, 1000, 4).tolist() == [850, 982, 350, 373]
    assert stream(7, "graph", 3).random() == stream(7, "graph", np.int64(3)).random()


def test_streams_differ_by_every_part() -> None:
    keys = [(1, "a"), (2, "a"), (1, "b"), (1, "a", 0), (1, "a", 0, 0), (1, "a", 12), (1, "a", 1, 2)]
    keys += [(-1, "a"), (1, "a1", 2), (1, 'a", 0')]
    assert len({stream(*key).random() for key in keys}) == len(keys)
    with pytest.raises(TypeError):
        stream(1, "a", 0.5)


def test_streams_do_not_depend_on_each_other() -> None:
    first = np.array([stream(0, "values", k).random() for k in range(2000)])
    assert abs(first.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 2000)
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 5 / np.sqrt(2000)


def test_mix64_is_the_finaliser_of_splitmix64() -> None:
    gamma = 0x9E3779B97F4A7C15
    states = np.array([gamma, 2 * gamma % 2**64, 3 * gamma % 2**64], dtype=np.uint64)
    known = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]  # seed 0, first three
    assert mix64(states).tolist() == known
