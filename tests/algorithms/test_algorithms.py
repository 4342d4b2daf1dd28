"""Reference algorithms against networkx or brute force, and that none reads a node's index."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from algorithm_cases import SEEDS, dyadic, few, random_dfs, random_graph, run, tags_for, to_networkx
from hypothesis import given, settings
from hypothesis import strategies as st

from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.algorithms.registration import Twin, register
from gnarl_compiler.algorithms.registry import find_algorithms
from gnarl_compiler.algorithms.robustness import exact_critical_fraction, removals_until_apart
from gnarl_compiler.describe.registered_table import TABLE_FILE, table_text
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.generators import draw_connected, draw_graph
from gnarl_compiler.instances.sources import draw_values
from gnarl_dsl import loads
from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.language.signatures import EDGE_SCALAR, ArgKind, FunctionSignature
from gnarl_dsl.model.kinds import EDGE, GRAPH, NODE, SCALAR
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of


def test_the_shipped_table_is_what_the_files_register() -> None:
    assert TABLE_FILE.read_text("utf-8") == table_text(), "run `make tables`"
    assert dict(ALGORITHMS) == find_algorithms()
    assert all(algorithm.name == name for name, algorithm in ALGORITHMS.items())


def test_importing_the_registry_loads_no_solver() -> None:
    code = (
        "import sys; from gnarl_compiler.algorithms import ALGORITHMS\n"
        "for name in ('bfs_depth', 'min_vertex_cover', 'mst_weight', 'optimal_tour'):\n"
        "    ALGORITHMS[name]\n"
        "print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    solvers = {"networkx", "scipy.optimize", "scipy.sparse", "numba"}
    assert "gnarl_compiler.algorithms.tours.tours" in modules.split()
    assert not solvers & set(modules.split())


def test_a_twin_takes_what_kernels_have() -> None:
    per_node = FunctionSignature((), NODE, SCALAR, "")
    weighted = FunctionSignature((EDGE_SCALAR,), GRAPH, SCALAR, "")
    for signature, found in ((per_node, "a value for each node"), (weighted, "edge_scalar")):
        with pytest.raises(TypeError, match=f"the twin of max: .*; found {found}"):
            register(signature, Twin(min, ()))(max)


# Order-free: relabelling the graph, the arguments and the tags relabels the answer.


def make_argument(
    kind: ArgKind, graph: Graph, rng: np.random.Generator, choices: tuple[str, ...]
) -> Any:
    match kind.name:
        case "edge_scalar" | "symmetric_scalar":
            return dyadic(rng, graph)
        case "node_scalar":
            return rng.integers(0, 12, size=graph.n) / 16
        case "node_mask":
            return rng.random(graph.n) < 0.4
        case "node":
            return int(rng.integers(graph.n))
        case "pointer":
            return random_dfs(graph, rng)
        case "scalar":
            return 0.1
        case "choice":
            return str(rng.choice(choices))
    raise AssertionError(kind)


def relabel(value: Any, kind: str, new: np.ndarray) -> Any:
    old = np.argsort(new)
    if kind == "node":
        return int(new[value])
    if kind == "pointer":
        return new[value[old]]
    if np.ndim(value) == 2:
        return value[np.ix_(old, old)]
    return value[old] if np.ndim(value) == 1 else value


@pytest.mark.parametrize("name", list(ALGORITHMS))
@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_order_free(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    directed = bool(rng.integers(2)) if FUNCTIONS[name].directed is None else False
    n = int(rng.integers(1, 15))
    graph = random_graph(
        seed, n, 1.0 if FUNCTIONS[name].complete else rng.uniform(0.1, 0.9), directed=directed
    )
    kinds = FUNCTIONS[name].args
    args = [make_argument(kind, graph, rng, FUNCTIONS[name].choices) for kind in kinds]
    tags = tags_for(n, seed)
    new = rng.permutation(n)
    renamed = [relabel(arg, kind.name, new) for arg, kind in zip(args, kinds, strict=True)]
    function = ALGORITHMS[name].function
    before = function(graph, *args, tags=tags)
    after = function(graph.relabel(new), *renamed, tags=relabel(tags, "tags", new))
    assert np.array_equal(relabel(before, "result", new), after)


# Twins: compiled code answers as the reference does.

TWINS = [name for name, algorithm in ALGORITHMS.items() if algorithm.twin is not None]
BARE = """gnarl 1
problem bare
graph {}
features
  A  input  edge  scalar  ~ given
phase pick(v)
horizon 1 rounds
correct true
"""


def slot_arrays(graph: Graph, tags: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a batch with the graph in its second slot, and room to spare."""
    problem = loads(BARE.format("directed" if graph.directed else "undirected"))
    batch = Batch.allocate(layout_of(problem, slots=2, nodes=graph.n + 3))
    batch.load_graph(1, graph.adjacency)
    batch.tags[1, : graph.n] = tags
    return vars(batch)


@pytest.mark.parametrize("name", TWINS)
@few
@given(seed=SEEDS)
def test_twins_agree_with_their_references(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    algorithm = ALGORITHMS[name]
    signature, twin = algorithm.signature, algorithm.twin
    assert twin is not None
    directed = bool(rng.integers(2)) if signature.directed is None else signature.directed
    n = int(rng.integers(1, 15)) if rng.random() < 0.9 else 60
    graph = random_graph(seed, n, rng.uniform(0.05, 0.9), directed=directed)
    args = [make_argument(kind, graph, rng, signature.choices) for kind in signature.args]
    given_ = [signature.choices.index(arg) if isinstance(arg, str) else arg for arg in args]
    arrays = slot_arrays(graph, tags_for(n, seed))
    found = twin.function(1, *given_, *(arrays[array] for array in twin.arrays))
    assert found == run(name, graph, *args, seed=seed)


def test_equal_tags_are_refused() -> None:
    graph = random_graph(0, 4, 1.0)
    with pytest.raises(ValueError, match="different tag for every node"):
        ALGORITHMS["min_vertex_cover"].function(graph, np.ones(4), tags=np.zeros(4, np.uint64))


# Paths


@few
@given(seed=SEEDS, directed=st.booleans(), p=st.sampled_from([0.1, 0.3, 0.8]))
def test_distances_agree_with_networkx(seed: int, directed: bool, p: float) -> None:
    graph = random_graph(seed, 20, p, directed=directed)
    weight = draw_values("clrs_weight", (), EDGE, graph, stream(seed, "w"))
    weight[dyadic(np.random.default_rng(seed), graph) * 16 < 3] = 0.0  # zero-weight edges
    if not directed:
        weight = np.minimum(weight, weight.T)
    source = seed % 20
    known = nx.single_source_dijkstra_path_length(to_networkx(graph, weight), source)
    wanted = [known.get(v, np.inf) for v in range(20)]
    np.testing.assert_allclose(
        run("shortest_path_length", graph, weight, source), wanted, rtol=1e-9
    )
    hops = nx.single_source_shortest_path_length(to_networkx(graph), source)
    assert run("bfs_depth", graph, source).tolist() == [hops.get(v, np.inf) for v in range(20)]


def test_negative_weights() -> None:
    dag = draw_graph("er", 15, {"p": 0.5}, directed=True, acyclic=True, rng=stream(0, "dag"))
    weight = draw_values("uniform", (-1, 1), EDGE, dag, stream(0, "w"))
    known = nx.single_source_bellman_ford_path_length(to_networkx(dag, weight), 3)
    wanted = [known.get(v, np.inf) for v in range(15)]
    np.testing.assert_allclose(run("shortest_path_length", dag, weight, 3), wanted, rtol=1e-9)
    pair = random_graph(0, 2, 1.0)
    with pytest.raises(ValueError, match="without negative cycles, found one with weights from -1"):
        run("shortest_path_length", pair, -pair.adjacency.astype(float), 0)


def clrs_updates(graph: Graph, weight: np.ndarray, source: int, order: np.ndarray) -> int:
    """The loop of CLRS-30's sampler, scanning nodes in the given order."""
    d, mask, updates = np.zeros(graph.n), np.arange(graph.n) == source, 0
    while True:
        d_prev, mask_prev = d.copy(), mask.copy()
        for u in order:
            for v in np.flatnonzero(graph.adjacency[u]) if mask_prev[u] else ():
                if not mask[v] or d_prev[u] + weight[u, v] < d[v]:
                    d[v], mask[v] = d_prev[u] + weight[u, v], True
                    updates += 1
        if (d == d_prev).all() and (mask == mask_prev).all():
            return updates


@few
@given(seed=SEEDS, directed=st.booleans())
def test_relaxation_count_is_the_clrs_loop(seed: int, directed: bool) -> None:
    graph = random_graph(seed, 12, 0.4, directed=directed)
    weight = draw_values("clrs_weight", (), EDGE, graph, stream(seed, "w"))
    wanted = clrs_updates(graph, weight, 5, np.argsort(tags_for(12, seed)))
    assert run("relaxation_count", graph, weight, 5, seed=seed) == wanted


def test_relaxation_count_matches_the_paper() -> None:
    """App. B: 446.6 picks on average, two per update, for connected graphs of 64 nodes."""
    counts = []
    for k in range(150):
        rng = stream(k, "paper")
        graph = draw_connected("er", 64, {"p": 0.5}, directed=False, rng=rng)
        weight = draw_values("clrs_weight", (), EDGE, graph, rng)
        counts.append(2 * run("relaxation_count", graph, weight, 0, seed=k))
    assert np.mean(counts) == pytest.approx(446.6, rel=0.04)


# Covers


def least_cover(graph: Graph, w: np.ndarray) -> float:
    masks = np.array(list(product([False, True], repeat=graph.n)))
    u, v = graph.edges().T
    return float((masks[(masks[:, u] | masks[:, v]).all(axis=1)] @ w).min())


@few
@given(seed=SEEDS, p=st.sampled_from([0.1, 0.3, 0.7]), unit=st.sampled_from([1.0, 2.0**-30]))
def test_covers_against_brute_force(seed: int, p: float, unit: float) -> None:
    graph = random_graph(seed, 9, p)
    w = draw_values("uniform", (0, unit), NODE, graph, stream(seed, "w"))
    w[seed % 9] = 0.0
    u, v = graph.edges().T
    least = least_cover(graph, w)
    best = run("min_vertex_cover", graph, w)
    assert (best[u] | best[v]).all()
    assert w[best].sum() == pytest.approx(least, rel=1e-9)
    for eps in (0.0, 0.1, 0.5):
        near = run("vertex_cover_primal_dual", graph, w, eps)
        assert (near[u] | near[v]).all()
        assert w[near].sum() <= 2 / (1 - eps) * least * (1 + 1e-9)
        isolated = ~graph.adjacency.any(axis=1)
        assert not (best | near)[isolated].any()


def test_primal_dual_by_hand() -> None:
    """A star of unit weights: every edge is raised by 1/3, which leaves each leaf 2/3."""
    star = Graph(False, np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]) > 0)
    for eps, wanted in ((0.1, [True, False, False, False]), (0.7, [True] * 4)):
        assert run("vertex_cover_primal_dual", star, np.ones(4), eps).tolist() == wanted
    # A weight too small to be shared among three edges is paid all the same, and ends the search.
    tiny = np.array([5e-324, 1, 1, 1])
    assert run("vertex_cover_primal_dual", star, tiny, 0.0).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("min_vertex_cover", ([-1.0, 1.0],), "weights from 0 up, found -1"),
        ("vertex_cover_primal_dual", ([-1.0, 1.0], 0.1), "weights from 0 up, found -1"),
        ("vertex_cover_primal_dual", ([1.0, 1.0], 1.0), "0 <= eps < 1, found 1"),
    ],
)
def test_covers_refuse(name: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(name, random_graph(0, 2, 1.0), np.array(args[0]), *args[1:])


# Robustness


def removals_one_by_one(graph: Graph, order: np.ndarray) -> int:
    left = to_networkx(graph)
    for removed, node in enumerate(order):
        if not nx.is_connected(left):
            return removed
        left.remove_node(int(node))
    return graph.n


@few
@given(seed=SEEDS, p=st.sampled_from([0.2, 0.4, 0.7]))
def test_removals_agree_with_networkx(seed: int, p: float) -> None:
    graph = random_graph(seed, 9, p)
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(9), (6, 1)), axis=1)
    wanted = [removals_one_by_one(graph, order) for order in orders]
    assert removals_until_apart(graph, orders).tolist() == wanted


@pytest.mark.parametrize(
    ("edges", "n", "removal", "wanted"),
    [
        ([], 1, "random", 1),
        ([], 2, "random", 0),
        ([(0, 1), (1, 2)], 3, "random", 7 / 9),  # a third of the orders start in the middle
        ([(0, 1), (1, 2)], 3, "targeted", 1 / 3),
        ([(0, 1), (0, 2), (0, 3)], 4, "targeted", 1 / 4),
        (list(combinations(range(5), 2)), 5, "targeted", 1),
    ],
)
def test_critical_fractions_by_hand(
    edges: list[tuple[int, int]], n: int, removal: str, wanted: float
) -> None:
    adjacency = np.zeros((n, n), dtype=bool)
    for u, v in edges:
        adjacency[u, v] = adjacency[v, u] = True
    graph = Graph(False, adjacency)
    assert exact_critical_fraction(graph, removal) == pytest.approx(wanted)
    estimates = [run("critical_fraction", graph, removal, seed=k) for k in range(200)]
    assert np.mean(estimates) == pytest.approx(
        wanted, abs=5 * np.std(estimates) / np.sqrt(200) + 1e-12
    )


@pytest.mark.parametrize("removal", ["random", "targeted"])
def test_estimates_are_unbiased(removal: str) -> None:
    for seed in range(6):
        graph = draw_connected("er", 6, {"p": 0.4}, directed=False, rng=stream(seed, "g"))
        exact = exact_critical_fraction(graph, removal)
        estimates = [run("critical_fraction", graph, removal, seed=k) for k in range(300)]
        error = np.std(estimates) / np.sqrt(300)
        assert np.mean(estimates) == pytest.approx(exact, abs=5 * error + 1e-12)


def test_the_orders_of_an_estimate_are_independent() -> None:
    """On a path of three an order scores 1/3 or 1; six of them divide its variance by six."""
    path = Graph(False, np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]) > 0)
    estimates = [run("critical_fraction", path, "random", seed=k) for k in range(1000)]
    assert np.var(estimates) == pytest.approx((1 / 3) * (2 / 3) * (2 / 3) ** 2 / 6, rel=0.25)


@few
@given(seed=SEEDS)
def test_an_edge_more_never_hurts_under_random_removal(seed: int) -> None:
    """The orders are the same for both graphs, so this holds exactly, not on average."""
    graph = random_graph(seed, 10, 0.35)
    u, v = np.random.default_rng(seed).choice(10, size=2, replace=False)
    more = graph.adjacency.copy()
    more[u, v] = more[v, u] = True
    before = run("critical_fraction", graph, "random")
    assert run("critical_fraction", Graph(False, more), "random") >= before


def test_critical_fraction_refuses() -> None:
    with pytest.raises(ValueError, match="random, targeted, found greedy"):
        run("critical_fraction", random_graph(0, 3, 1.0), "greedy")
    with pytest.raises(ValueError, match="all orders of 8 nodes are too many; 7 at most"):
        exact_critical_fraction(random_graph(0, 8, 1.0), "random")
