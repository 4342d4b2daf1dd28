"""Expert play in the interpreter against independent reference solutions."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from episodes import play_expert, random_instance
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import SHIPPED, shipped

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State

EXAMPLES = 25


def weighted(instance: Instance) -> nx.Graph:
    graph = nx.from_numpy_array(instance.graph.adjacency.astype(int))
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = float(instance.inputs["A"][u, v])
    return graph


def judge_bfs(instance: Instance, state: State) -> None:
    graph = nx.from_numpy_array(instance.graph.adjacency.astype(int))
    source = int(instance.inputs["s"])
    tree = nx.Graph((int(p), v) for v, p in enumerate(state.features["pred"]) if p != v)
    tree.add_node(source)
    wanted = nx.single_source_shortest_path_length(graph, source)
    assert nx.single_source_shortest_path_length(tree, source) == wanted


def judge_dfs(instance: Instance, state: State) -> None:
    """A forest is a depth-first forest iff some order of visits gives it: try them greedily."""
    pred = [int(p) for p in state.features["pred"]]
    n = len(pred)
    children = {v: [w for w in range(n) if pred[w] == v and w != v] for v in range(n)}
    adjacency = instance.graph.adjacency
    reach = nx.DiGraph(np.argwhere(adjacency).tolist())
    reach.add_nodes_from(range(n))
    order = _visit_order(children, [v for v in range(n) if pred[v] == v], reach)
    assert order is not None
    assert _depth_first(adjacency, order) == pred


def _visit_order(
    children: dict[int, list[int]], roots: list[int], graph: nx.DiGraph
) -> list[int] | None:
    """Preorder in which a subtree comes before every sibling subtree that has edges to it."""
    order: list[int] = []
    for root in _siblings(children, roots, graph):
        order += [root, *(_visit_order(children, children[root], graph) or [])]
    return order


def _siblings(children: dict[int, list[int]], roots: list[int], graph: nx.DiGraph) -> list[int]:
    subtree = {root: _subtree(children, root) for root in roots}
    before = nx.DiGraph()
    before.add_nodes_from(roots)
    for a in roots:
        for b in roots:
            if a != b and any(graph.has_edge(x, y) for x in subtree[a] for y in subtree[b]):
                before.add_edge(b, a)
    return list(nx.topological_sort(before))


def _subtree(children: dict[int, list[int]], root: int) -> list[int]:
    return [root] + [v for child in children[root] for v in _subtree(children, child)]


def _depth_first(adjacency: np.ndarray, order: list[int]) -> list[int]:
    rank = {v: i for i, v in enumerate(order)}
    pred = list(range(len(order)))
    seen: set[int] = set()

    def visit(v: int) -> None:
        seen.add(v)
        for w in sorted((int(w) for w in np.flatnonzero(adjacency[v])), key=rank.__getitem__):
            if w not in seen:
                pred[w] = v
                visit(w)

    for v in order:
        if v not in seen:
            visit(v)
    return pred


def judge_bellman_ford(instance: Instance, state: State) -> None:
    """Distances along the predecessor tree; `d` itself may lag behind when the tree is right."""
    source, graph = int(instance.inputs["s"]), weighted(instance)
    tree = nx.Graph()
    tree.add_node(source)
    for node, pred in enumerate(state.features["pred"]):
        if int(pred) != node:
            tree.add_edge(int(pred), node, weight=graph.edges[int(pred), node]["weight"])
    wanted = nx.single_source_dijkstra_path_length(graph, source)
    assert nx.single_source_dijkstra_path_length(tree, source) == pytest.approx(wanted)


def judge_mst_prim(instance: Instance, state: State) -> None:
    graph = weighted(instance)
    tree = [(int(p), v) for v, p in enumerate(state.features["pred"]) if p != v]
    assert nx.is_tree(nx.Graph(tree))
    assert len(tree) == instance.graph.n - 1
    weight = sum(graph.edges[edge]["weight"] for edge in tree)
    wanted = nx.minimum_spanning_tree(graph).size("weight")
    assert weight == pytest.approx(wanted)


def tour_of(state: State) -> list[int]:
    tour = [int(state.episode.instance.inputs["s"])]
    while len(tour) < state.n:
        tour.append(int(state.features["next"][tour[-1]]))
    return tour


def judge_tsp(instance: Instance, state: State) -> None:
    weights = instance.inputs["A"]
    tour = tour_of(state)
    assert sorted(tour) == list(range(instance.graph.n))
    length = sum(weights[a, b] for a, b in zip(tour, tour[1:] + tour[:1], strict=True))
    assert length == pytest.approx(_shortest_tour(weights))


def _shortest_tour(weights: np.ndarray) -> float:
    """Held and Karp's recurrence, written plainly."""
    n = len(weights)
    best = {(1 << v, v): float(weights[0, v]) for v in range(1, n)}
    for _ in range(n - 2):
        longer: dict[tuple[int, int], float] = {}
        for (seen, last), length in best.items():
            for v in range(1, n):
                if not seen >> v & 1:
                    key = (seen | 1 << v, v)
                    longer[key] = min(longer.get(key, np.inf), length + float(weights[last, v]))
        best = longer
    return min(
        (length + float(weights[last, 0]) for (_, last), length in best.items()), default=0.0
    )


def judge_mvc(instance: Instance, state: State) -> None:
    edges = instance.graph.edges()
    weights = np.asarray(instance.inputs["w"], float)
    cover = np.asarray(state.features["in_cover"])
    assert all(cover[u] or cover[v] for u, v in edges)
    assert weights[cover].sum() == pytest.approx(_lightest_cover(edges, weights))


def _lightest_cover(edges: np.ndarray, weights: np.ndarray) -> float:
    """Branch on an uncovered edge: one of its ends must be in."""
    if len(edges) == 0:
        return 0.0
    u, v = (int(end) for end in edges[0])
    taken_u = weights[u] + _lightest_cover(edges[(edges != u).all(axis=1)], weights)
    taken_v = weights[v] + _lightest_cover(edges[(edges != v).all(axis=1)], weights)
    return float(min(taken_u, taken_v))


JUDGES = {
    "bfs": judge_bfs,
    "dfs": judge_dfs,
    "bellman_ford": judge_bellman_ford,
    "mst_prim": judge_mst_prim,
    "tsp": judge_tsp,
    "mvc": judge_mvc,
    "mvc_rich": judge_mvc,
}


def follow(name: str, number: int, nodes: int, seed: int = 0) -> None:
    """One episode of the default expert: legal, within the horizon, correct, and optimal."""
    problem = shipped(name)
    game = Interpreter(problem)
    instance = random_instance(problem, seed, number, nodes)
    start = game.reset(instance)
    state, total = play_expert(game, instance, np.random.default_rng(number))
    assert state.ended == "terminated"
    assert state.rounds <= state.episode.horizon
    assert game.valid(state)
    assert game.correct(state)
    if problem.objectives:
        assert total == pytest.approx(game.objective(state) - game.objective(start))
    if name in JUDGES:
        JUDGES[name](instance, state)


@pytest.mark.parametrize("name", SHIPPED)
@settings(max_examples=EXAMPLES)
@given(number=st.integers(0, 10**6), nodes=st.integers(2, 9))
def test_expert_solves_random_instances(name: str, number: int, nodes: int) -> None:
    follow(name, number, min(nodes, 6) if name == "rgc" else nodes)


def test_every_problem_with_an_oracle_has_an_independent_judge() -> None:
    judged = {name for name in SHIPPED if name in JUDGES}
    assert judged >= set(SHIPPED) - {"rgc", "tsp_insertion"}


@pytest.mark.parametrize("number", range(8))
def test_the_printed_bellman_ford_expert_is_right_when_it_is_given_time(number: int) -> None:
    """The paper's expert can exceed the paper's own limit; without it, it ends correct."""
    problem = shipped("bellman_ford", stop="settled")
    game = Interpreter(problem)
    instance = random_instance(problem, 1, number, 7)
    state, _ = play_expert(game, instance, np.random.default_rng(number), "printed")
    assert game.correct(state)
    judge_bellman_ford(instance, state)


@settings(max_examples=EXAMPLES)
@given(number=st.integers(0, 10**6), nodes=st.integers(2, 9))
def test_the_thorough_prim_leaves_no_node_before_it_has_tried_the_closest_call(
    number: int, nodes: int
) -> None:
    problem = shipped("mst_prim_thorough")
    game, rng = Interpreter(problem), np.random.default_rng(number)
    instance = random_instance(problem, 4, number, nodes)
    state, here, tried = game.reset(instance), -1, -1
    while state.ended is None:
        pick = int(rng.choice(np.flatnonzero(game.expert(state, "thorough"))))
        if state.phase == 0:
            if here not in (-1, pick):
                assert tried in closest_calls(instance, state, here)
            here = pick
        else:
            tried = pick
        state = game.step(state, pick).state
    judge_mst_prim(instance, state)


def closest_calls(instance: Instance, state: State, here: int) -> set[int]:
    """Where an edge from `here` misses a key of the queue by least; anywhere if there is none."""
    excess = {
        y: instance.inputs["A"][here, y] - state.features["key"][y]
        for y in range(instance.graph.n)
        if instance.graph.adjacency[here, y]
        and state.features["in_queue"][y]
        and state.features["pred"][y] != here
    }
    least = min(excess.values(), default=0.0)
    return {y for y, gap in excess.items() if gap < least + 0.005} or set(range(instance.graph.n))


@pytest.mark.parametrize("number", range(6))
def test_nearest_neighbour_is_never_better_than_optimal(number: int) -> None:
    problem = shipped("tsp")
    game = Interpreter(problem)
    instance = random_instance(problem, 2, number, 8)
    rng = np.random.default_rng(number)
    nearest, _ = play_expert(game, instance, rng, "nearest")
    assert game.metric(nearest, "excess") >= -1e-9
    weights, tour = instance.inputs["A"], tour_of(nearest)
    for here, chosen in pairwise(tour):
        left = [v for v in range(8) if v not in tour[: tour.index(here) + 1]]
        assert weights[here, chosen] == min(weights[here, v] for v in left)


@pytest.mark.parametrize("number", range(4))
def test_greedy_takes_the_edge_that_gains_most(number: int) -> None:
    problem = shipped("rgc")
    game = Interpreter(problem)
    instance = random_instance(problem, 3, number, 6)
    state = game.reset(instance)
    gains = {}
    for u in np.flatnonzero(game.mask(state)):
        middle = game.step(state, int(u)).state
        for v in np.flatnonzero(game.mask(middle)):
            gains[int(u), int(v)] = game.step(middle, int(v)).reward
    best = {u for (u, _), gain in gains.items() if gain >= max(gains.values()) - 1e-9}
    assert set(np.flatnonzero(game.expert(state))) == best


@pytest.mark.parametrize("name", ["rgc", "tsp", "bfs"])
def test_no_two_splits_share_an_instance(name: str) -> None:
    problem = shipped(name)
    seen: set[bytes] = set()
    for split in ("train", "valid", "test"):
        family = families(choose_split(problem, split))[0]
        drawn = [draw_instance(problem, family, 0, number, nodes=9) for number in range(5)]
        tags = {instance.tags.tobytes() for instance in drawn}
        assert len(tags) == 5
        assert not tags & seen
        seen |= tags
