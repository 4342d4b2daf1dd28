"""Tours: exact ones against brute force, the others against the exact ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from algorithm_cases import random_graph, run
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnarl_compiler.algorithms.tours import tours
from gnarl_compiler.algorithms.tours.branch import branch_and_bound
from gnarl_compiler.algorithms.tours.exact import held_karp, integer_program
from gnarl_compiler.algorithms.tours.kicks import good_tour
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.sources import draw_values
from gnarl_dsl.model.kinds import EDGE


def distances(seed: int, n: int, source: str = "euclidean") -> tuple[Graph, np.ndarray]:
    graph = random_graph(seed, n, 1.0)
    args = (0, 1) if source == "uniform" else ()
    return graph, draw_values(source, args, EDGE, graph, stream(seed, "d"))


def length(tour: np.ndarray, distance: np.ndarray) -> float:
    assert sorted(tour) == list(range(len(distance)))
    return float(distance[tour, np.roll(tour, -1)].sum())


def mask_length(mask: np.ndarray, distance: np.ndarray) -> float:
    """The length of a tour given by its edges, after checking that it is one."""
    assert (mask.sum(axis=1) == 2).all()
    assert Graph(False, mask).is_connected()
    return float(distance[mask].sum() / 2)


@pytest.mark.parametrize("source", ["euclidean", "uniform"])
def test_exact_tours_against_brute_force(source: str) -> None:
    for seed in range(8):
        _, distance = distances(seed, 5 + seed % 3, source)
        others = permutations(range(1, len(distance)))
        least = min(length(np.array([0, *rest]), distance) for rest in others)
        for solve in (held_karp, integer_program):
            assert length(solve(distance), distance) == pytest.approx(least, rel=1e-12)
        ours = length(tours.kicked_tour(distance), distance)
        assert least * (1 - 1e-12) <= ours <= least * 1.05


@pytest.mark.parametrize("source", ["euclidean", "uniform"])
def test_integer_program_agrees_with_held_karp(source: str) -> None:
    for seed in range(6):
        graph, distance = distances(seed, 12, source)
        least = length(held_karp(distance), distance)
        assert length(integer_program(distance), distance) == pytest.approx(least, rel=1e-9)
        assert mask_length(run("optimal_tour", graph, distance), distance) == pytest.approx(least)


@st.composite
def any_distances(draw: st.DrawFn) -> np.ndarray:
    """Symmetric, otherwise anything: ties, zeros, no triangle inequality, negative."""
    n = draw(st.integers(4, 9))
    whole = draw(st.booleans())
    cell = st.integers(0, 3).map(float) if whole else st.floats(-100, 100, width=16)
    above = np.triu(draw(arrays(np.float64, (n, n), elements=cell)), 1)
    return above + above.T


@given(any_distances())
def test_branch_and_bound_agrees_with_held_karp(distance: np.ndarray) -> None:
    least = length(held_karp(distance), distance)
    worst = np.arange(len(distance))  # nothing that the search could owe its result to
    tour, proven = branch_and_bound(distance, 1e-9, worst, 5000)
    assert proven
    assert length(tour, distance) == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert length(good_tour(distance, 1e-9, 10, 10), distance) >= least - 1e-9


@pytest.mark.parametrize("source", ["euclidean", "uniform"])
def test_branch_and_bound_agrees_with_the_integer_program(source: str) -> None:
    for seed in range(8):
        _, distance = distances(seed, 14 + 2 * seed, source)
        start = good_tour(distance, 1e-12, 0, 0)
        tour, proven = branch_and_bound(distance, 1e-12, start, 5000)
        least = length(integer_program(distance), distance)
        assert proven
        assert length(tour, distance) == pytest.approx(least, rel=1e-9)


def test_a_search_that_is_given_up_is_followed_by_one_that_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = stream(2, "grid").integers(0, 4, (24, 2))
    distance = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))  # many shortest tours
    _, proven = branch_and_bound(distance, 1e-12, good_tour(distance, 1e-12, 0, 0), 2)
    assert not proven
    monkeypatch.setattr(tours, "BRANCHING_LIMIT", 2)
    least = length(integer_program(distance), distance)
    assert length(tours.shortest_tour(distance), distance) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("name", ["optimal_tour", "christofides_tour"])
def test_tiny_tours(name: str) -> None:
    for n in (1, 2, 3):
        graph, distance = distances(0, n)
        assert (run(name, graph, distance) == graph.adjacency).all()


@pytest.mark.parametrize(("source", "most"), [("euclidean", 1.001), ("uniform", 1.02)])
def test_large_tours_are_good_and_repeat(
    source: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tours, "BRANCHING_NODES", 40)
    for seed in range(3):
        graph, distance = distances(seed, 44, source)
        least = length(integer_program(distance), distance)
        found = run("optimal_tour", graph, distance)
        assert least * (1 - 1e-9) <= mask_length(found, distance) <= least * most
        assert (found == run("optimal_tour", graph, distance)).all()


@given(any_distances(), st.integers(0, 40), st.integers(0, 40))
def test_local_search_keeps_a_tour_a_tour(distance: np.ndarray, quick: int, deep: int) -> None:
    assert sorted(good_tour(distance, 1e-9, quick, deep)) == list(range(len(distance)))


def test_a_kick_more_never_lengthens_a_tour() -> None:
    _, distance = distances(5, 60)
    lengths = [
        length(good_tour(distance, 1e-12, quick, deep), distance)
        for quick, deep in [(0, 0), (20, 0), (60, 0), (150, 0), (150, 20), (150, 80)]
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]


def test_a_way_that_is_shut_is_gone_only_if_it_must_be() -> None:
    _, distance = distances(6, 62)
    tour = tours.kicked_tour(distance)
    shut = distance.copy()
    shut[tour, np.roll(tour, -1)] = shut[np.roll(tour, -1), tour] = np.inf
    assert np.isfinite(length(tours.kicked_tour(shut), shut))


def test_christofides_keeps_its_promise() -> None:
    for seed in range(6):
        graph, distance = distances(seed, 5 + seed)
        least = length(held_karp(distance), distance)
        found = mask_length(run("christofides_tour", graph, distance), distance)
        assert least * (1 - 1e-9) <= found <= 1.5 * least


def test_tours_need_complete_graphs() -> None:
    graph = random_graph(0, 6, 0.5)
    with pytest.raises(ValueError, match=f"undirected one with {graph.m} edges on 6 nodes"):
        run("optimal_tour", graph, np.zeros((6, 6)))
