"""What a network reads: the same, to the bit, whatever changes a level allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from batch_cases import loaded
from episodes import random_instance
from numpy.typing import NDArray

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.levels.levels import Use, levels_of
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.read_tables import DrawnRanks
from gnarl_runtime.batch.reading import Reading, reading_of
from gnarl_runtime.checks.properties.changed_numbers import Change, change_for
from gnarl_runtime.network.policy import Policy, PolicyConfig, argmax

CASES = [
    ("mst_prim", "prim"),
    ("mst_prim_thorough", "thorough"),
    ("bellman_ford", "sticky"),
    ("mvc", "approximation"),
    ("steiner_tree", "cheapest_first"),
    ("max_independent_set", "densest"),
    ("orienteering", "nearest"),
    ("tsp_local", "nearest"),
    ("tsp_points_local", "nearest"),
]
NODES, STEPS = 7, 14


def same_episode(
    problem: Problem, use: Use, change: Change, compares: bool = False
) -> Iterator[tuple[Packed, Packed]]:
    """What a fresh policy sees of an instance and of the changed one, pick by pick of its own."""
    torch.manual_seed(0)
    config = PolicyConfig(width=32, levels=True, compares=compares)
    policy = Policy(problem, config, reading=reading_of(problem, use))
    other = change.problem(problem)
    games = Interpreter(problem), Interpreter(other)
    drawn = random_instance(problem, 3, 1, NODES)
    here, there = games[0].reset(drawn), games[1].reset(change.instance(problem, drawn))
    for _ in range(STEPS):
        if here.ended is not None or there.ended is not None:
            return
        packs = tuple(
            pack(loaded(p, [state], NODES), [0], policy.signature)
            for p, state in ((problem, here), (other, there))
        )
        yield packs[0], packs[1]
        with torch.inference_mode():
            picks = [int(argmax(policy(packed), packed)[0]) for packed in packs]
        assert picks[0] == picks[1]
        here, there = games[0].step(here, picks[0]).state, games[1].step(there, picks[1]).state


@pytest.mark.parametrize(("name", "expert"), CASES)
@pytest.mark.parametrize("factor", [4.0, 2.0**-10])
def test_powers_of_two_and_monotone_maps_change_no_bit(
    name: str, expert: str, factor: float
) -> None:
    problem, use = gnarl.load(name), Use((expert,))
    seen = 0
    for one, two in same_episode(problem, use, change_for(levels_of(problem, use), factor)):
        seen += 1
        for part in ("x", "edge_raw", "graph_raw", "legal", "rowptr", "src"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    assert seen > 1


@pytest.mark.parametrize(("name", "expert"), CASES[:3])
@pytest.mark.parametrize("factor", [4.0, 2.0**-10, 37.0])
def test_comparisons_are_the_same_to_the_bit(name: str, expert: str, factor: float) -> None:
    problem, use = gnarl.load(name), Use((expert,))
    change = change_for(levels_of(problem, use), factor)
    seen = 0
    for one, two in same_episode(problem, use, change, compares=True):
        seen += 1
        for part in ("edge_raw", "legal", "rowptr", "src"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    assert seen > 1


@pytest.mark.parametrize(("name", "expert"), [case for case in CASES if case[0] != "mst_prim"])
@pytest.mark.parametrize("factor", [1e-3, 37.0, 1e3])
def test_other_factors_change_next_to_nothing(name: str, expert: str, factor: float) -> None:
    problem, use = gnarl.load(name), Use((expert,))
    for one, two in same_episode(problem, use, change_for(levels_of(problem, use), factor)):
        np.testing.assert_allclose(one.x, two.x, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(one.edge_raw, two.edge_raw, rtol=1e-4, atol=1e-6)


def states(problem: Problem, seed: int = 5) -> list[State]:
    drawn = [random_instance(problem, seed, number, 6) for number in range(3)]
    return [Interpreter(problem).reset(instance) for instance in drawn]


def reading(problem: Problem) -> Reading:
    return reading_of(problem, Use((problem.experts[0].name,)))


def packed(batch: Batch, problem: Problem, drawn: DrawnRanks | None = None) -> Packed:
    policy = Policy(problem, PolicyConfig(width=8), reading=reading(problem))
    return pack(batch, range(len(batch.n)), policy.signature, drawn)


def weights(pack_: Packed, problem: Problem) -> NDArray[np.float32]:
    names = [column.name for column in Policy(problem).signature.edge]
    return pack_.edge_raw[:, names.index("A[src, dst]")]


@pytest.mark.parametrize("name", ["mst_prim", "bellman_ford"])
def test_a_slot_that_got_another_instance_is_read_anew(name: str) -> None:
    problem = gnarl.load(name)
    first, second = states(problem), states(problem, 6)
    batch = loaded(problem, first, 6)
    packed(batch, problem)
    fresh = loaded(problem, second, 6)
    for array, other in (
        (getattr(batch, s.name), getattr(fresh, s.name)) for s in batch.layout.core()
    ):
        array[:] = other
    for feature, values in batch.features.items():
        values[:] = fresh.features[feature]
    np.testing.assert_array_equal(packed(batch, problem).edge_raw, packed(fresh, problem).edge_raw)


def test_ranks_are_equally_far_apart_and_ties_share_one() -> None:
    problem = gnarl.load("mst_prim")
    [state, *_] = states(problem)
    instance = state.episode.instance
    tied = np.where(instance.graph.adjacency, np.ceil(4 * instance.inputs["A"]), 0.0)
    state = Interpreter(problem).reset(replace(instance, inputs={**instance.inputs, "A": tied}))
    seen = np.unique(weights(packed(loaded(problem, [state], 6), problem), problem))
    np.testing.assert_allclose(seen, np.linspace(0, 1, len(seen)), atol=1e-6)
    assert len(seen) == len(np.unique(tied))


def test_scales_are_those_of_the_instance() -> None:
    problem = gnarl.load("bellman_ford")
    [state, *_] = states(problem)
    seen = weights(packed(loaded(problem, [state], 6), problem), problem)
    assert abs(seen[seen != 0].mean() - 1) < 1e-5


def test_drawn_ranks_keep_the_order_and_hang_on_instance_and_seed_alone() -> None:
    problem = gnarl.load("mst_prim")
    batch = loaded(problem, states(problem), 6)
    even = weights(packed(batch, problem), problem)
    one, two, other = (
        weights(packed(batch, problem, DrawnRanks(seed, 1.0)), problem) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()
    own = packed(batch, problem)
    for g in range(3):
        mine = (own.graph[own.dst] == g) & (even > 0)
        assert (np.argsort(even[mine], kind="stable") == np.argsort(one[mine], kind="stable")).all()
    assert one.max() == 1.0


NEAR = """gnarl 1
problem near
  "Walk to a node nearby."

graph undirected complete

features
  A     input  edge  scalar  ~ euclidean  "distance"
  cost  input  node  scalar  ~ uniform(1, 2)  "price"
  seen  state  node  mask    = false

phase visit(v)
  allow not seen[v]
  update
    seen[v] := true

horizon n rounds
terminate when forall x in nodes: seen[x]
objective walked = -sum(x in nodes: cost[x])

expert near
  visit: uniform v minimising cost[v] + min(y in nodes where y != v: A[y, v])

observe x in nodes where not seen[x] minimising cost[x] first 4

instances square
  train 10  complete(n = 9)
  valid 10  complete(n = 9)
  test  10  complete(n = 9)
"""


def near_states(problem: Problem) -> tuple[State, State, list[int]]:
    """An instance, the same with all that its window does not show ten times as large, and that."""
    game, drawn = Interpreter(problem), random_instance(problem, 3, 1, 9)
    first = game.reset(drawn)
    shown = np.flatnonzero(game.window(first))
    inside = np.isin(np.arange(9), shown)
    far = {
        "cost": np.where(inside, 1.0, 10.0) * drawn.inputs["cost"],
        "A": np.where(inside[:, None] & inside, 1.0, 10.0) * drawn.inputs["A"],
    }
    return first, game.reset(replace(drawn, inputs={**drawn.inputs, **far})), shown.tolist()


def test_a_window_with_a_number_has_a_scale_of_its_own() -> None:
    problem = gnarl.loads(NEAR)
    here, there, shown = near_states(problem)
    one, two = (packed(loaded(problem, [state], 9), problem) for state in (here, there))
    assert one.nodes.tolist() == two.nodes.tolist() == shown
    for part in ("x", "edge_raw", "graph_raw"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    # Of all sizes of the unit, the middle one is the scale, and reads as 1 / (1 + 1 / 8).
    names = [column.name for column in Policy(problem).signature.node]
    read = np.concatenate([one.x[:, names.index("cost")], weights(one, problem)])
    read = np.sort(read[read > 0])
    assert read[len(read) // 2] == np.float32(8 / 9)
    assert read[-1] < 8.0


def test_graphs_side_by_side_have_scales_of_their_own() -> None:
    problem = gnarl.loads(NEAR)
    game = Interpreter(problem)
    drawn = [random_instance(problem, 3, number, 9) for number in range(2)]
    drawn[1] = replace(drawn[1], inputs={k: 1e3 * v for k, v in drawn[1].inputs.items()})
    both = [game.reset(instance) for instance in drawn]
    together = packed(loaded(problem, both, 9), problem)
    alone = [packed(loaded(problem, [state], 9), problem) for state in both]
    np.testing.assert_array_equal(together.x, np.concatenate([part.x for part in alone]))
    edges = np.concatenate([part.edge_raw for part in alone])
    np.testing.assert_array_equal(together.edge_raw, edges)


def test_where_there_is_nothing_to_measure_zeros_are_read() -> None:
    problem = gnarl.loads(NEAR)
    drawn = random_instance(problem, 3, 1, 9)
    zeros = {name: 0.0 * values for name, values in drawn.inputs.items()}
    state = Interpreter(problem).reset(replace(drawn, inputs={**drawn.inputs, **zeros}))
    seen = packed(loaded(problem, [state], 9), problem)
    assert not weights(seen, problem).any()
    assert np.isfinite(seen.x).all()
