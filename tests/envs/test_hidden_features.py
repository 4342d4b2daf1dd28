"""Marks that no node has at first, and hidden features: in the interpreter, kernels and packs."""

from __future__ import annotations

import numpy as np
import pytest
from duel import Duel, play
from episodes import make_graph, make_instance

import gnarl_dsl as gnarl
from gnarl_compiler.describe.feature_table import table_cells
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.trace import describe_changes
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import pack

WALK = """
gnarl 1
problem walk
  "Walk along edges; only judges know how far."
graph undirected connected
features
  A     input   edge     scalar    ~ uniform(0, 1)
  been  state   node     mask      = false
  here  state   node     mask_one           "where the walk stands"
  far   hidden  graph    scalar    = 0
  left  hidden  node(x)  pointer   = x
phase to(v)
  allow here == v or not been[here otherwise v] or edge(here otherwise v, v)
  update
    let before = here otherwise v
    far         := far + (if edge(before, v) then A[before, v] else 0)
    left[v]     := before
    if far > 100
      far := 0
    been[v]     := true
    here        := v
horizon n rounds
objective short = count(x in nodes where been[x]) - far
metric roots = count(x in nodes where left[x] == x)
metric stands = count(x in nodes where here[x])
instances paths
  train 4 path(n = 4)
  valid 1 path(n = 4)
  test  1 path(n = 4)
"""
EDGES = {(0, 1): 0.25, (1, 2): 0.5, (2, 3): 0.125}


@pytest.fixture(scope="module")
def walk() -> Problem:
    return gnarl.loads(WALK)


def instance(n: int = 4) -> gnarl.Instance:
    graph = make_graph(n, [edge for edge in EDGES if max(edge) < n])
    weights = np.zeros((n, n))
    for (u, v), weight in EDGES.items():
        if v < n:
            weights[u, v] = weights[v, u] = weight
    return make_instance(graph, A=weights)


def test_an_unset_mark_is_no_node_until_it_is_moved(walk: Problem) -> None:
    game = Interpreter(walk)
    state = game.reset(instance())
    assert game.metric(state, "stands") == 0.0
    assert int(state.features["here"]) == -1
    moved = game.step(state, 2)
    assert game.metric(moved.state, "stands") == 1.0
    told = [text for text in describe_changes(walk, moved.changes) if text.startswith("here")]
    assert told == ["here unset → 2 (line 21)"]


def test_hidden_values_judge(walk: Problem) -> None:
    game = Interpreter(walk)
    state = game.reset(instance())
    for node in (0, 1, 2):
        state = game.step(state, node).state
    assert game.objective(state) == 3 - 0.75
    assert game.metric(state, "roots") == 2.0


def test_kernels_agree(walk: Problem) -> None:
    duel = Duel(walk, [instance(n) for n in (1, 2, 3, 4)])
    play(duel, np.random.default_rng(0), 6)
    assert duel.checks > 8


def test_what_is_hidden_is_not_observed(walk: Problem) -> None:
    env = gnarl.make(walk, nodes=4, pool=2)
    seen, _ = env.reset(seed=1)
    assert not {"far", "left"} & {*seen, *env.observation_space.spaces}
    assert seen["here"].tolist() == [-1]
    assert env.observation_space.contains(seen)
    batch = env.engine.batch
    assert {"far", "left"} <= batch.features.keys()
    columns = [column.name for column in batch.layout.signature.node]
    assert not any("left" in name or "far" in name for name in columns)
    assert not pack(batch, np.array([0])).x[:, columns.index("here")].any()
    rows = {row[0]: row for row in table_cells(walk)}
    assert rows["far"][2] == "hidden"
    assert rows["here"][-1] == "∅"


def test_no_pick_depends_on_hidden_values(walk: Problem) -> None:
    """Other values of what is hidden change neither what is seen nor what may be picked."""
    game = Interpreter(walk)
    here = game.reset(instance())
    there = game.reset(instance())
    there.features["far"][...] = 99.9  # type: ignore[index]
    for node in (0, 1, 0):
        here, there = game.step(here, node).state, game.step(there, node).state
        assert np.array_equal(game.mask(here), game.mask(there))
        seen = game.observation(there)
        assert all(np.array_equal(v, seen[k]) for k, v in game.observation(here).items())
