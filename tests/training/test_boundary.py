"""Boundary instances: the expert's decision is as close as asked, checked without the tracer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import draw_split
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.envs.interpreted import state_of
from gnarl_runtime.training.boundary.boundary import (
    Boundary,
    BoundaryError,
    BoundaryInstance,
    boundary_states,
    play_picks,
)
from gnarl_runtime.training.boundary.flow import choose_expert, flow_of
from gnarl_runtime.training.boundary.margins import margins_after
from gnarl_runtime.training.boundary.moves import CellMove, cell_move, slides
from gnarl_runtime.training.imitation.imitation import ImitationTrainer

MARGIN = (1e-3, 5e-2)
COUNT = 40

KNAPSACK = """
gnarl 1
problem knapsack
  "Node and graph inputs, a state that adds them up, a derived feature, a quotient as the key."

graph directed

features
  gain  input    node     scalar  ~ uniform(1, 3)
  cost  input    node     scalar  ~ uniform(0.5, 1)
  room  input    graph    scalar  ~ uniform(1, 4)
  load  state    graph    scalar  = cost[first] * 0
  packed  state  node     mask    = false
  rate  derived  node(x)  scalar  = gain[x] / cost[x]
  first input    node     mask_one  ~ any_node

let fits(x) = load + cost[x] <= room

phase add(v)
  allow not packed[v]
  update
    packed[v] := true
    load      := load + cost[v]

horizon n rounds
objective worth = sum(x in nodes where packed[x]: gain[x])

expert densest
  add: uniform v where fits(v) maximising rate[v]

instances er
  train 100  er(n = {5, 8}, p = 0.3)
  valid  10  er(n = 8, p = 0.3)
  test   10  er(n = 8, p = 0.3)
"""


@cache
def problem_of(name: str) -> Problem:
    return gnarl.loads(KNAPSACK.lstrip()) if name == "knapsack" else shipped(name)


EXPERTS = {"bellman_ford": None, "mst_prim": None, "knapsack": None, "tsp": "nearest"}


@cache
def made(name: str, seed: int = 1) -> Boundary:
    problem, oracles = problem_of(name), ("dist",) if name == "bellman_ford" else ()
    nodes = (4, 12) if name != "knapsack" else None
    return boundary_states(
        problem, expert=EXPERTS[name], count=COUNT, margin=MARGIN, seed=seed, nodes=nodes,
        oracles=oracles,
    )  # fmt: skip


# What the experts compare, written down again by hand


def relaxations(state: State) -> list[float]:
    mask, d = state.features["mask"], state.features["d"]
    weight = state.episode.instance.inputs["A"]
    return [
        float(d[x] + weight[x, y] - d[y])
        for x, y in np.argwhere(state.adjacency)
        if mask[x] and mask[y] and (not state.picks or x == state.picks[0])
    ]


def prim_margins(state: State) -> list[float]:
    queue, mark, key = (state.features[name] for name in ("in_queue", "mark", "key"))
    weight = state.episode.instance.inputs["A"]
    cheaper = [
        float(weight[x, y] - key[y])
        for x, y in np.argwhere(state.adjacency)
        if queue[y] and not mark[y] and (not state.picks or x == state.picks[0])
    ]
    keys = [] if state.picks else [float(k) for k in key[queue.astype(bool)]]
    return cheaper + [a - b for a in keys for b in keys if a != b]


def knapsack_margins(state: State) -> list[float]:
    inputs, free = state.episode.instance.inputs, ~state.features["packed"].astype(bool)
    spare = [float(state.features["load"] + c - inputs["room"]) for c in inputs["cost"][free]]
    rates = [float(g / c) for g, c in zip(inputs["gain"][free], inputs["cost"][free], strict=True)]
    return spare + [a - b for a in rates for b in rates if a != b]


def nearest_margins(state: State) -> list[float]:
    here = state.last[0] if state.last[0] >= 0 else int(state.episode.instance.inputs["s"])
    row = state.episode.instance.inputs["A"][here][~state.features["in_tour"].astype(bool)]
    return [float(a - b) for a in row for b in row if a != b]


BY_HAND: dict[str, Callable[[State], list[float]]] = {
    "bellman_ford": relaxations,
    "mst_prim": prim_margins,
    "knapsack": knapsack_margins,
    "tsp": nearest_margins,
}


def led(game: Interpreter, instance: Instance, picks: np.ndarray) -> State:
    state = game.reset(instance)
    for node in picks:
        state = game.step(state, int(node)).state
    return state


@pytest.mark.parametrize("name", BY_HAND)
def test_the_expert_has_a_close_decision_after_the_picks(name: str) -> None:
    boundary, game = made(name), Interpreter(problem_of(name))
    assert len(boundary) == boundary.report.accepted == COUNT
    for number in range(COUNT):
        one = boundary[number]
        state = led(game, one.instance, one.picks)
        assert state.ended is None
        assert game.expert(state, EXPERTS[name]).any()
        assert MARGIN[0] * 0.9 <= abs(one.margin) <= MARGIN[1] * 1.1
        nearest = min(abs(abs(margin) - abs(one.margin)) for margin in BY_HAND[name](state))
        assert nearest < 1e-12


@pytest.mark.parametrize("name", BY_HAND)
def test_signs_distances_and_lines_vary(name: str) -> None:
    boundary = made(name)
    assert {-1.0, 1.0} == set(np.sign(boundary.margins))
    assert abs(boundary.margins).min() < 3e-3 < 1e-2 < abs(boundary.margins).max()
    lines = {"bellman_ford": 1, "mst_prim": 2, "knapsack": 2, "tsp": 1}
    assert len(boundary.report.by_comparison) == lines[name]
    assert sum(boundary.report.by_comparison.values()) == COUNT <= boundary.report.tried


@pytest.mark.parametrize("name", BY_HAND)
def test_every_second_boundary_is_late(name: str) -> None:
    boundary = made(name)
    steps = (boundary.picks >= 0).sum(axis=1)
    assert np.all(steps < boundary.lengths)
    assert np.all(steps[1::2] >= 2 * boundary.lengths[1::2] // 3)
    assert np.any(steps[::2] < 2 * boundary.lengths[::2] // 3)


# Instances


@pytest.mark.parametrize("name", ["bellman_ford", "mst_prim"])
def test_weights_stay_in_range_and_symmetric(name: str) -> None:
    for instance in made(name).pool.instances():
        weight, joined = instance.inputs["A"], instance.graph.adjacency
        assert np.array_equal(weight, weight.T)
        assert np.all(weight[~joined] == 0)
        assert math.sqrt(1e-3) <= weight[joined].min() <= weight[joined].max() < math.sqrt(1.002)


def test_uniform_inputs_stay_in_range() -> None:
    for instance in made("knapsack").pool.instances():
        for name, (low, high) in {"gain": (1, 3), "cost": (0.5, 1), "room": (1, 4)}.items():
            assert low <= instance.inputs[name].min() <= instance.inputs[name].max() <= high


def test_distances_stay_those_of_points_in_a_square() -> None:
    for instance in made("tsp").pool.instances():
        distance = np.asarray(instance.inputs["A"], np.float64)
        assert distance.max() <= math.sqrt(2) + 1e-6
        # Classical scaling: points in a plane have a Gram matrix of rank two.
        centre = np.eye(len(distance)) - 1 / len(distance)
        values = np.linalg.eigvalsh(-0.5 * centre @ distance**2 @ centre)
        assert values[:-2] == pytest.approx(0, abs=1e-5)
        assert values[-2] > 1e-3


def test_oracles_belong_to_the_moved_instance() -> None:
    for instance in made("bellman_ford").pool.instances():
        graph = nx.from_numpy_array(np.asarray(instance.inputs["A"], np.float64))
        found = nx.single_source_dijkstra_path_length(graph, int(instance.inputs["s"]))
        expected = [found[node] for node in range(instance.graph.n)]
        assert instance.oracles["dist"] == pytest.approx(expected)


def test_the_same_seed_gives_the_same_pool() -> None:
    def content(boundary: Boundary) -> bytes:
        return boundary.pool.batch.features["gain"].tobytes() + boundary.picks.tobytes()

    again = made.__wrapped__("knapsack", 1)
    assert content(again) == content(made("knapsack"))
    assert content(again) != content(made("knapsack", 2))


# Decisions


def test_a_decisive_boundary_is_where_the_answer_changes() -> None:
    """Some weight, moved by a little more than the margin and back, makes another answer right."""
    close = [one for one in map(made("bellman_ford").__getitem__, range(COUNT)) if is_close(one)]
    assert len(close) >= 8
    assert all(answer_changes(one) for one in close[:8])


def test_other_close_comparisons_need_not_matter() -> None:
    loose = boundary_states(
        problem_of("bellman_ford"), count=16, margin=MARGIN, seed=1, nodes=10, decisive=False
    )
    close = [one for one in map(loose.__getitem__, range(len(loose))) if is_close(one)]
    assert not all(answer_changes(one) for one in close)


def is_close(one: BoundaryInstance) -> bool:
    return abs(one.margin) < 5e-3


def answer_changes(one: BoundaryInstance) -> bool:
    game = Interpreter(problem_of("bellman_ford"))
    answer = game.expert(led(game, one.instance, one.picks))
    for u, v in one.instance.graph.edges():
        for step in (-2.2 * abs(one.margin), 2.2 * abs(one.margin)):
            weight = np.array(one.instance.inputs["A"], np.float64)
            weight[u, v] = weight[v, u] = weight[u, v] + step
            inputs = {**one.instance.inputs, "A": weight}
            state = led(game, Instance(one.instance.graph, inputs, one.instance.tags), one.picks)
            if not np.array_equal(answer > 0, game.expert(state) > 0):
                return True
    return False


def test_episodes_can_start_at_the_boundary_while_others_stay() -> None:
    problem, boundary = problem_of("knapsack"), made("knapsack")
    engine = Engine(compile_for(problem), boundary.pool, 6)
    engine.load(np.arange(6), np.arange(6))
    slots = np.array([1, 4, 5])
    assert play_picks(engine, slots, boundary.picks[slots]).all()
    for slot in range(6):
        picks = boundary[slot].picks if slot in slots else np.array([], np.int64)
        expected = led(Interpreter(problem), boundary.pool.instance(slot), picks)
        found = state_of(engine.batch, slot)
        assert (found.last, found.rounds) == (expected.last, expected.rounds)
        for name, values in expected.features.items():
            assert np.array_equal(found.features[name], values)


# Slopes


@settings(max_examples=40)
@given(
    name=st.sampled_from(["bellman_ford", "mst_prim", "knapsack"]),
    number=st.integers(0, 30),
    data=st.data(),
)
def test_margins_follow_their_slopes(name: str, number: int, data: st.DataObject) -> None:
    problem = problem_of(name)
    flow, expert = flow_of(problem), choose_expert(problem, None)
    instance = small(name)[number]
    picks = expert_picks(name, number)
    picks = picks[: data.draw(st.integers(0, len(picks) - 1))]
    margins = margins_after(flow, instance, picks, expert)
    if not margins:
        return
    key = data.draw(st.sampled_from(list(margins)))
    for slide in slides(problem, instance, margins[key].slopes)[:2]:
        assert isinstance(slide.move, CellMove)
        moved = slide.move.apply(instance, slide.start + data.draw(st.sampled_from([-1e-4, 1e-4])))
        cell = slide.move.feature.name, slide.move.index
        step = float(moved.inputs[cell[0]][cell[1]]) - slide.start
        after = margins_after(flow, moved, picks, expert).get(key)
        if after is not None:  # else another node has become the best
            change = float(after) - float(margins[key])
            assert change == pytest.approx(slide.slope * step, rel=1e-2, abs=1e-9)


@cache
def small(name: str) -> list[Instance]:
    return list(draw_split(problem_of(name), "train", 31, seed=4))


@cache
def expert_picks(name: str, number: int) -> list[int]:
    game, picks = Interpreter(problem_of(name)), list[int]()
    state = game.reset(small(name)[number])
    while (answer := game.expert(state)).any():
        picks.append(int(answer.argmax()))
        state = game.apply(state, picks[-1]).state
    return picks


def test_a_cell_is_moved_alone_and_the_labels_of_the_old_instance_go() -> None:
    problem = problem_of("bellman_ford")
    instance = made("bellman_ford").pool.instance(0)
    u, v = instance.graph.edges()[0].tolist()
    moved = cell_move(problem, problem.feature("A"), (u, v)).apply(instance, 0.4321)
    changed = np.argwhere(moved.inputs["A"] != instance.inputs["A"]).tolist()
    assert sorted(changed) == sorted([[u, v], [v, u]])
    assert instance.oracles
    assert not moved.oracles


# What cannot be done


@pytest.mark.parametrize("name", ["mvc", "mvc_rich", "bfs", "rgc"])
def test_an_expert_that_compares_no_numbers_has_nothing_to_move(name: str) -> None:
    with pytest.raises(BoundaryError, match="nothing to move: no decision of the expert"):
        boundary_states(problem_of(name), count=4, margin=MARGIN, seed=0)


def test_an_expert_that_never_comes_to_its_comparison_is_told() -> None:
    with pytest.raises(BoundaryError, match="never compared numbers"):
        boundary_states(
            problem_of("tsp"), expert="optimal", count=2, margin=MARGIN, seed=0, nodes=5
        )


@pytest.mark.parametrize("margin", [(0.0, 0.1), (0.2, 0.1), (1e-7, 1e-3), (0.1, math.inf)])
def test_margins_must_be_a_range_above_ties(margin: tuple[float, float]) -> None:
    with pytest.raises(BoundaryError, match="low <= high"):
        boundary_states(problem_of("knapsack"), count=2, margin=margin, seed=0)


def test_an_unknown_expert_is_named() -> None:
    with pytest.raises(BoundaryError, match="no expert `best`; its experts: densest"):
        boundary_states(problem_of("knapsack"), expert="best", count=2, margin=MARGIN, seed=0)


# Graphs that only ever play near a boundary


def near_only() -> ImitationTrainer:
    recipe = Recipe.model_validate(
        {
            "data": {
                "pool": 8,
                "nodes": 5,
                "boundary_pool": 6,
                "boundary_starts": 0.5,
                "boundary_steps": 3,
            },
            "policy": {"width": 8},
            "bc": {"updates": 20, "graphs": 8},
        }
    )
    return ImitationTrainer(problem_of("bellman_ford"), recipe, 1)


def test_a_share_of_the_graphs_starts_at_a_boundary_every_few_picks() -> None:
    trainer = near_only()
    starts = trainer.material.starts
    assert starts is not None
    boundaries = {row.tobytes() for row in starts.batch.features["d"]}
    seen = np.zeros(8, np.int64)
    for _ in range(12):
        trainer.update()
        for slot in np.flatnonzero(trainer.ages[:4] == 0):
            assert trainer.engine.batch.features["d"][slot].tobytes() in boundaries
            seen[slot] += 1
        assert (trainer.ages[:4] % 3 == trainer.ages[:4]).all() or trainer.done < 4
    assert (seen[:4] >= 3).all()
    assert (trainer.ages[4:] > 3).any()  # the others play their episodes to the end


def test_graphs_near_a_boundary_continue_exactly() -> None:
    whole, first, second = near_only(), near_only(), near_only()
    for _ in range(9):
        whole.update()
    for _ in range(4):
        first.update()
    second.restore(first.arrays(), first.done)
    for _ in range(5):
        second.update()
    ours, theirs = second.arrays(), whole.arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in theirs)
