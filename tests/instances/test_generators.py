"""Random graphs and values: the right distribution, nothing to learn from a node's index."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.generators import (
    FAMILIES,
    GenerationError,
    draw_connected,
    draw_graph,
)
from gnarl_compiler.instances.sources import SOURCES, draw_values
from gnarl_dsl.language import registered
from gnarl_dsl.model.kinds import PLACES

EXAMPLES = {
    "er": {"p": 0.4},
    "gnm": {"p": 0.4},
    "ba": {"m": 2},
    "ws": {"k": 4, "p": 0.3},
    "grid": {},
    "tree": {},
    "complete": {},
    "path": {},
    "regular": {"k": 3},
    "bipartite": {"p": 0.4},
    "powerlaw": {"exponent": 2.5, "degree": 3},
    "geometric": {"radius": 0.4},
    "delaunay": {},
}
MAY_FALL_APART = {"er", "gnm", "ws", "regular", "bipartite", "powerlaw", "geometric"}


def draws(kind: str, n: int, count: int, **options) -> list[Graph]:
    args = options.pop("args", EXAMPLES[kind])
    options = {"directed": False, **options}
    return [draw_graph(kind, n, args, rng=stream(0, kind, n, k), **options) for k in range(count)]


def to_networkx(graph: Graph) -> nx.Graph:
    return nx.from_numpy_array(graph.adjacency.astype(int))


def degrees(graph: Graph) -> np.ndarray:
    return graph.adjacency.sum(axis=1)


def verify_mean(sample: list[float], wanted: float, spread: float = 0.0) -> None:
    """Fail if the mean of the sample is five standard errors from the wanted one."""
    error = np.hypot(np.std(sample) / np.sqrt(len(sample)), spread)
    assert abs(np.mean(sample) - wanted) < 5 * error


def test_tables_agree_with_the_language() -> None:
    families = {name: family.signature for name, family in FAMILIES.items()}
    assert families == registered.GENERATORS
    assert {name: source.signature for name, source in SOURCES.items()} == registered.SOURCES


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_family_works_from_one_node_up(kind: str, directed: bool) -> None:
    for n in (1, 2, 3, 4, 5, 6, 7, 17):
        for graph in draws(kind, n, 5, directed=directed):
            assert (graph.n, graph.directed) == (n, directed)
            if kind not in MAY_FALL_APART:
                assert graph.is_connected()
            if kind == "tree":
                assert graph.m == n - 1
            if kind == "complete":
                assert graph.m == n * (n - 1) // (1 if directed else 2)


def test_a_stream_gives_the_same_graph_again() -> None:
    for kind in EXAMPLES:
        one, two = (draws(kind, 9, 3, directed=True) for _ in range(2))
        for a, b in zip(one, two, strict=True):
            assert (a.adjacency == b.adjacency).all()
        if kind != "complete":
            assert len({graph.adjacency.tobytes() for graph in one}) > 1


@pytest.mark.parametrize("directed", [False, True])
def test_erdos_renyi_edges_are_independent(directed: bool) -> None:
    sample = draws("er", 12, 400, directed=directed)
    pairs = 12 * 11 if directed else 66
    verify_mean([graph.m for graph in sample], 0.4 * pairs)
    variance = pairs * 0.4 * 0.6
    assert np.var([graph.m for graph in sample]) == pytest.approx(variance, rel=0.4)
    both = [np.triu(graph.adjacency & graph.adjacency.T).sum() for graph in sample]
    verify_mean(both, 66 * (0.16 if directed else 0.4))


@pytest.mark.parametrize("directed", [False, True])
def test_gnm_has_a_share_of_the_pairs(directed: bool) -> None:
    for n, p, edges in ((12, 0.4, 27), (20, 0.2, 38), (101, 0.07, 354), (9, 0, 0), (6, 1, 15)):
        for graph in draws("gnm", n, 10, args={"p": p}, directed=directed):
            assert graph.m == edges * (2 if directed else 1)


def test_gnm_is_uniform() -> None:
    """Two of the three pairs of three nodes: three graphs."""
    counts = Counter(graph.adjacency.tobytes() for graph in draws("gnm", 3, 1200, args={"p": 0.6}))
    assert len(counts) == 3
    chi_square = sum((count - 400) ** 2 / 400 for count in counts.values())
    assert chi_square < 18.4  # 2 degrees of freedom, one in ten thousand


def test_barabasi_albert_is_networkx_like() -> None:
    for n, m in ((10, 3), (4, 3), (3, 9)):
        attached = min(m, n - 1)
        for graph in draws("ba", n, 20, args={"m": m}):
            assert graph.m == attached * (n - attached)
            assert (degrees(graph) >= attached).sum() >= n - attached  # all but the star's rim
    twins = [nx.barabasi_albert_graph(20, 2, seed=k) for k in range(600)]
    wanted = [sum(d * d for _, d in twin.degree) for twin in twins]
    spread = float(np.std(wanted) / np.sqrt(600))
    found = [float((degrees(graph) ** 2).sum()) for graph in draws("ba", 20, 600)]
    verify_mean(found, float(np.mean(wanted)), spread)


def test_watts_strogatz_is_networkx_like() -> None:
    ring = nx.watts_strogatz_graph(11, 4, 0)
    (still,) = draws("ws", 11, 1, args={"k": 5, "p": 0})  # odd k rounds down, as in networkx
    assert nx.is_isomorphic(to_networkx(still), ring)
    twins = [nx.watts_strogatz_graph(14, 4, 0.3, seed=k) for k in range(400)]
    sample = draws("ws", 14, 400)
    assert {graph.m for graph in sample} == {28}
    for measure in (nx.average_clustering, lambda g: sum(d * d for _, d in g.degree)):
        wanted = [measure(twin) for twin in twins]
        found = [measure(to_networkx(graph)) for graph in sample]
        verify_mean(found, float(np.mean(wanted)), float(np.std(wanted) / np.sqrt(400)))


@pytest.mark.parametrize(("n", "rows", "columns"), [(9, 3, 3), (12, 3, 4), (2, 1, 2)])
def test_full_grids(n: int, rows: int, columns: int) -> None:
    (graph,) = draws("grid", n, 1)
    assert nx.is_isomorphic(to_networkx(graph), nx.grid_2d_graph(rows, columns))


def test_partial_grid() -> None:
    """Seven nodes: rows of 3, 3 and 1."""
    wanted = nx.grid_2d_graph(3, 3)
    wanted.remove_nodes_from([(2, 1), (2, 2)])
    (graph,) = draws("grid", 7, 1)
    assert nx.is_isomorphic(to_networkx(graph), wanted)


def test_trees_are_uniform() -> None:
    counts = Counter(graph.adjacency.tobytes() for graph in draws("tree", 4, 3200))
    assert len(counts) == 16  # Cayley
    chi_square = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi_square < 44.3  # 15 degrees of freedom, one in ten thousand


def test_paths_are_paths() -> None:
    for n in (2, 3, 8):
        (graph,) = draws("path", n, 1)
        assert nx.is_isomorphic(to_networkx(graph), nx.path_graph(n))
        (onward,) = draws("path", n, 1, directed=True)
        assert onward.is_acyclic()
        assert (onward.adjacency.sum(axis=0) == 0).sum() == 1  # one start
        assert onward.adjacency.sum(axis=1).max() == 1


@pytest.mark.parametrize(("n", "k"), [(8, 3), (9, 3), (16, 4), (9, 7), (10, 8), (7, 6), (5, 9)])
def test_regular_graphs_are_regular(n: int, k: int) -> None:
    wanted = [min(k, n - 1)] * n
    wanted[0] -= sum(wanted) % 2
    for graph in draws("regular", n, 20, args={"k": k}):
        assert sorted(degrees(graph)) == sorted(wanted)


def test_regular_graphs_are_all_found() -> None:
    """Of 6 nodes with 3 neighbours: 10 are K(3, 3), 60 are prisms."""
    sample = draws("regular", 6, 1400, args={"k": 3})
    assert len({graph.adjacency.tobytes() for graph in sample}) == 70
    bipartite = [float(nx.is_bipartite(to_networkx(graph))) for graph in sample]
    verify_mean(bipartite, 1 / 7, 0.01)  # nearly uniform


def test_bipartite_graphs_have_two_halves() -> None:
    for n in (9, 10):
        (full,) = draws("bipartite", n, 1, args={"p": 1})
        wanted = nx.complete_bipartite_graph((n + 1) // 2, n // 2)
        assert nx.is_isomorphic(to_networkx(full), wanted)
        sample = draws("bipartite", n, 200)
        assert all(nx.is_bipartite(to_networkx(graph)) for graph in sample)
        verify_mean([graph.m for graph in sample], 0.4 * (n // 2) * ((n + 1) // 2))


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("er", {"degree": 4}),
        ("er", {"log_degree": 4 / np.log(30)}),
        ("gnm", {"degree": 4}),
        ("bipartite", {"degree": 4}),
        ("geometric", {"degree": 4}),
        ("powerlaw", {"exponent": 2.2, "degree": 4}),
    ],
)
def test_degrees_are_means(kind: str, args: dict[str, float]) -> None:
    sample = draws(kind, 30, 300, args=args)
    verify_mean([2 * graph.m / 30 for graph in sample], 4, 0.01)


def test_degrees_of_directed_graphs_count_successors() -> None:
    sample = draws("er", 20, 200, args={"degree": 3}, directed=True)
    verify_mean([graph.m / 20 for graph in sample], 3)


def test_degrees_that_cannot_be_had_give_all_edges() -> None:
    for kind in ("er", "gnm", "geometric"):
        (graph,) = draws(kind, 6, 1, args={"degree": 40})
        assert graph.m == 15


def test_powerlaw_graphs_have_hubs() -> None:
    """Hill's estimate of the exponent, of one large graph."""
    (graph,) = draws("powerlaw", 3000, 1, args={"exponent": 2.5, "degree": 8})
    largest = np.sort(degrees(graph))[::-1][:150]
    assert 1 + 1 / np.mean(np.log(largest / largest[-1])) == pytest.approx(2.5, abs=0.3)


def test_geometric_graphs_have_triangles() -> None:
    """Far more of them than random graphs with as many edges."""
    clustered = [nx.transitivity(to_networkx(graph)) for graph in draws("geometric", 30, 30)]
    assert np.mean(clustered) > 0.55


def test_delaunay_triangulations() -> None:
    for n in (4, 5, 16, 60):
        for graph in draws("delaunay", n, 5):
            known = to_networkx(graph)
            assert nx.check_planarity(known)[0]
            assert nx.is_biconnected(known)
            # Euler: 3 n - 3 - h edges, with 3 to n points on the hull.
            assert 2 * n - 3 <= graph.m <= 3 * n - 6


@pytest.mark.parametrize("kind", ["ba", "ws", "grid", "tree", "path", "powerlaw", "bipartite"])
def test_a_node_index_says_nothing(kind: str) -> None:
    sample = draws(kind, 11, 500)
    for node in (0, 5, 10):
        mean_degree = float(np.mean([2 * graph.m / 11 for graph in sample]))
        verify_mean([float(degrees(graph)[node]) for graph in sample], mean_degree)
    neighbours = [float(graph.adjacency[3, 4]) for graph in sample]
    verify_mean(neighbours, float(np.mean([2 * graph.m / 110 for graph in sample])))


@pytest.mark.parametrize("kind", EXAMPLES)
def test_acyclic_orders_are_hidden(kind: str) -> None:
    sample = draws(kind, 9, 300, directed=True, acyclic=True)
    assert all(graph.is_acyclic() for graph in sample)
    forward = [np.triu(graph.adjacency).sum() / max(graph.m, 1) for graph in sample]
    verify_mean(forward, 0.5)
    if kind == "path":  # which only has the order it is asked for
        return
    # Neither does the order follow how the graph was built: hubs are no earlier than others.
    hubs = [np.argmax(graph.adjacency.sum(axis=0) + degrees(graph)) for graph in sample]
    lead = [
        float(degrees(g)[h] - g.adjacency[:, h].sum()) for g, h in zip(sample, hubs, strict=True)
    ]
    verify_mean(lead, 0.0)


@pytest.mark.parametrize("kind", ["ba", "grid"])
def test_orientations_are_fair(kind: str) -> None:
    sample = draws(kind, 8, 300, directed=True)
    assert not any((graph.adjacency & graph.adjacency.T).any() for graph in sample)
    assert {graph.m for graph in sample} == {draws(kind, 8, 1)[0].m}
    verify_mean([float(np.triu(graph.adjacency).sum()) for graph in sample], sample[0].m / 2)
    assert kind == "grid" or not all(graph.is_acyclic() for graph in sample)


def test_undirected_acyclic_graphs_are_forests() -> None:
    sample = draws("er", 6, 50, args={"p": 0.2}, acyclic=True)
    assert all(graph.is_acyclic() for graph in sample)
    with pytest.raises(GenerationError, match=r"forest from complete\(n = 4\); likely fix: use `t"):
        draws("complete", 4, 1, acyclic=True)


def test_connected_by_redrawing() -> None:
    args = {"p": 0.3}
    plain = draws("er", 8, 50, args=args)
    assert not all(graph.is_connected() for graph in plain)
    for k in range(50):
        graph = draw_connected("er", 8, args, directed=bool(k % 2), rng=stream(0, "c", k))
        assert graph.is_connected()
    with pytest.raises(GenerationError, match=r"er\(n = 5, p = 0\); likely fix: a larger p"):
        draw_connected("er", 5, {"p": 0}, directed=False, rng=stream(0, "c"))


@pytest.mark.parametrize(
    ("kind", "n", "args", "message"),
    [
        ("erdos", 4, {}, "unknown graph family `erdos`; known: er, gnm, ba"),
        ("er", 4, {}, r"er takes p or degree or log_degree besides n, found er\(n = 4\)"),
        ("er", 4, {"p": 0.5, "degree": 2}, "er takes p or degree or log_degree besides n"),
        ("powerlaw", 4, {"exponent": 1.5, "degree": 2}, "an exponent is at least 2"),
        ("geometric", 4, {"radius": -1}, "nothing is negative"),
        ("grid", 4, {"p": 1}, r"grid takes nothing besides n, found grid\(n = 4, p = 1\)"),
        ("er", 4, {"p": 1.5}, r"er\(n = 4, p = 1.5\): .* p is within 0..1"),
        ("ba", 4, {"m": 1.5}, "whole numbers from 1"),
        ("ba", 4, {"m": 0}, "whole numbers from 1"),
        ("tree", 0, {}, "whole numbers from 1"),
    ],
)
def test_bad_arguments_are_refused(kind: str, n: int, args: dict, message: str) -> None:
    with pytest.raises(GenerationError, match=message):
        draw_graph(kind, n, args, directed=False, rng=stream(0, "bad"))


def values(source: str, args: tuple[float, ...], place: str, graph: Graph, k: int = 0):
    return draw_values(source, args, PLACES[place], graph, stream(1, source, k))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("source", ["clrs_weight", "uniform", "euclidean"])
def test_edge_values(source: str, directed: bool) -> None:
    (graph,) = draws("er", 12, 1, directed=directed)
    found = values(source, (2, 5) if source == "uniform" else (), "edge", graph)
    assert found.dtype == np.float64
    assert (found == found.astype(np.float32)).all()
    assert ((found != 0) == graph.adjacency).all()
    both = graph.adjacency & graph.adjacency.T
    assert (found == found.T)[both].all() == (not directed or source == "euclidean")


def test_clrs_weights_have_the_sampler_s_distribution() -> None:
    (graph,) = draws("complete", 40, 1)
    found = values("clrs_weight", (), "edge", graph)[np.triu_indices(40, 1)]
    rng = np.random.default_rng(0)
    wanted = np.sqrt(rng.random(100_000) * rng.random(100_000) + 1e-3)
    verify_mean(list(found), float(wanted.mean()))
    assert np.var(found) == pytest.approx(np.var(wanted), rel=0.15)
    assert found.min() >= np.float32(np.sqrt(1e-3))
    (tournament,) = draws("complete", 40, 1, directed=True)
    plain = values("clrs_weight", (), "edge", tournament)[tournament.adjacency]
    verify_mean(list(plain), 0.5)
    assert np.var(plain) == pytest.approx(1 / 12, rel=0.15)


def test_uniform_values_everywhere() -> None:
    (graph,) = draws("tree", 30, 1)
    shapes = {"node": (30,), "pair": (30, 30), "graph": ()}
    for place, shape in shapes.items():
        found = values("uniform", (-1, 3), place, graph)
        assert found.shape == shape
        assert found.dtype == np.float64
        assert (found == found.astype(np.float32)).all()
        assert (np.abs(found - 1) <= 2).all()
    pairs = values("uniform", (-1, 3), "pair", graph)
    verify_mean(list(pairs.ravel()), 1.0)
    assert len(np.unique(pairs)) > 890  # all ordered pairs are drawn, the diagonal too


def test_euclidean_values_are_distances_in_a_square() -> None:
    (graph,) = draws("tree", 20, 1)
    distance = values("euclidean", (), "pair", graph)
    assert (distance == distance.T).all()
    assert 0.8 < distance.max() < np.sqrt(2)
    centre = np.eye(20) - 1 / 20
    spectrum = np.linalg.eigvalsh(-centre @ distance**2 @ centre / 2)
    assert np.abs(spectrum[:-2]).max() < 1e-6  # points in a plane
    assert spectrum[-2] > 0.1


@pytest.mark.parametrize("directed", [False, True])
def test_coins_fall_with_their_probability(directed: bool) -> None:
    (graph,) = draws("complete", 40, 1, directed=directed)
    for place, shape in {"node": (40,), "edge": (40, 40), "pair": (40, 40), "graph": ()}.items():
        thrown = values("coin", (0.3,), place, graph)
        assert (thrown.shape, thrown.dtype) == (shape, np.bool_)
        assert not values("coin", (0,), place, graph).any()
    edges = values("coin", (0.3,), "edge", graph)
    verify_mean(list(edges[np.triu(graph.adjacency)]), 0.3)
    assert not edges[~graph.adjacency].any()
    assert directed or (edges == edges.T).all()
    assert (values("coin", (1,), "edge", graph) == graph.adjacency).all()
    verify_mean(list(values("coin", (0.3,), "pair", graph).ravel()), 0.3)


LAWS = {
    "exponential": ((2.0,), stats.expon(scale=2)),
    "normal": ((1.0, 3.0), stats.norm(1, 3)),
    "lognormal": ((0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
}


@pytest.mark.parametrize("source", LAWS)
def test_laws_are_those_of_scipy(source: str) -> None:
    (graph,) = draws("complete", 60, 1)
    args, law = LAWS[source]
    upper = np.triu_indices(60, 1)
    drawn = {
        "edge": values(source, args, "edge", graph)[upper],
        "pair": values(source, args, "pair", graph).ravel(),
        "node": np.concatenate([values(source, args, "node", graph, k) for k in range(20)]),
        "graph": np.array([values(source, args, "graph", graph, k) for k in range(500)]),
    }
    for place, found in drawn.items():
        assert stats.kstest(found, law.cdf).pvalue > 1e-4, place
        assert (found == found.astype(np.float32)).all()
    edges = values(source, args, "edge", graph)
    assert (edges == edges.T).all()


def test_integers_are_uniform() -> None:
    (graph,) = draws("complete", 50, 1)
    found = values("integers", (-2, 3), "edge", graph)[np.triu_indices(50, 1)]
    counts = Counter(found.tolist())
    assert sorted(counts) == [-2, -1, 0, 1, 2, 3]
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4
    assert not values("integers", (5, 5), "pair", graph).sum() - 5 * 2500


def test_categories_are_uniform() -> None:
    for directed in (False, True):
        (graph,) = draws("er", 50, 1, directed=directed)
        for place in ("node", "pair", "graph", "edge"):
            found = values("any_category", (4,), place, graph)
            assert found.dtype == np.int64
            assert found.min() >= 0
            assert found.max() <= 3
        assert not found[~graph.adjacency].any()
        assert directed or (found == found.T).all()
        counts = list(Counter(found[np.triu(graph.adjacency)].tolist()).values())
        assert len(counts) == 4
        assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("directed", [False, True])
def test_positions_follow_a_path(directed: bool) -> None:
    starts = set()
    for k, graph in enumerate(draws("path", 7, 30, directed=directed)):
        found = values("position", (), "node", graph, k)
        assert sorted(found) == [np.float32(i / 7) for i in range(7)]
        along = np.argsort(found)
        assert all(graph.adjacency[u, v] for u, v in pairwise(along))
        starts.add(bool(along[0] < along[-1]))
    assert directed or len(starts) == 2  # either end


def test_positions_on_other_graphs_are_in_random_order() -> None:
    for kind in ("complete", "tree", "grid"):
        (graph,) = draws(kind, 6, 1)
        orders = {tuple(np.argsort(values("position", (), "node", graph, k))) for k in range(50)}
        assert len(orders) > 30


def test_any_node_is_uniform() -> None:
    (graph,) = draws("tree", 4, 1)
    found = [values("any_node", (), "node", graph, k) for k in range(800)]
    assert {(node.shape, node.dtype) for node in found} == {((), np.dtype(np.int64))}
    counts = np.bincount(found, minlength=4)
    assert (abs(counts - 200) < 5 * np.sqrt(800 * 3 / 16)).all()


@pytest.mark.parametrize(
    ("source", "args", "place", "message"),
    [
        ("gauss", (), "node", "unknown source `gauss`; known: clrs_weight"),
        ("normal", (), "node", r"normal takes mean, deviation, found \[\]"),
        ("clrs_weight", (), "node", "clrs_weight fits edge, found node"),
        ("uniform", (1,), "node", r"uniform takes low <= high, found \[1\]"),
        ("uniform", (2, 1), "node", r"uniform takes low <= high, found \[2, 1\]"),
        ("any_node", (1,), "node", "any_node takes no arguments"),
    ],
)
def test_bad_sources_are_refused(source: str, args: tuple, place: str, message: str) -> None:
    (graph,) = draws("tree", 4, 1)
    with pytest.raises(GenerationError, match=message):
        values(source, args, place, graph)
