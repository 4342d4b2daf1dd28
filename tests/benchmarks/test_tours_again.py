"""What is left of a tour: the way on is the start of a shortest path through it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from episodes import play_expert

import gnarl_dsl as gnarl
from benchmarks.machine import ROOT
from benchmarks.studies.tours_again.rest_of_tour import nearer, next_node
from gnarl_compiler.algorithms.tours.tours import shortest_tour
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter

FOLDER = Path(ROOT, "benchmarks", "studies", "tours_again")


@pytest.mark.parametrize("seed", range(12))
def test_the_next_node_starts_a_shortest_path(seed: int) -> None:
    draw = np.random.default_rng(seed)
    points = draw.random((8, 2))
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    best = np.zeros((8, 8), np.bool_)
    tour = shortest_tour(distance)
    best[tour, np.roll(tour, -1)] = best[np.roll(tour, -1), tour] = True
    order = tour if seed % 3 == 0 else draw.permutation(8)  # on the best tour, and off it
    for done in range(2, 8):
        in_tour = np.isin(np.arange(8), order[:done])
        here, s, left = order[done - 1], order[0], np.flatnonzero(~in_tour)
        lengths = {
            way: distance[[here, *way], [*way, s]].sum() for way in permutations(left.tolist())
        }
        after = next_node(distance, best, in_tour, here, s)
        starting = min(length for way, length in lengths.items() if way[0] == after)
        assert starting == pytest.approx(min(lengths.values()))


@pytest.mark.long
def test_an_episode_of_the_expert_is_a_shortest_tour() -> None:
    problem = gnarl.load(FOLDER / "tsp_again.gnarl", extern=[nearer])
    game = Interpreter(problem)
    family = families(choose_split(problem, "train"))[0]
    for number in range(3):
        instance, lengths = draw_instance(problem, family, 5, number, 7), []
        for expert in ("again", "optimal"):
            state, _ = play_expert(game, instance, np.random.default_rng(0), expert)
            lengths.append(game.objective(state, "tour"))
        assert lengths[0] == pytest.approx(lengths[1])
