"""A pack holds what a window shows, and nothing else: as the interpreter says, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from batch_cases import FLIP, ZOO, ByHand, loaded, visited
from episodes import random_instance

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.envs.interpreted import state_of
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.network.policy import Output, Policy, argmax, log_chances, sample
from gnarl_runtime.training.imitation.labels import count_outside, label_rows

NEARBY = "\n".join(line for line in ZOO.split("\n") if " pair" not in line)
SPECS = {
    "all pairs": ZOO + "observe x in nodes where hue[x] == white or x == last(head)\n",
    "messages alone": NEARBY + "messages (x, y) in edges minimising w[x, y] first 2\n",
    "directed": NEARBY + "observe x in nodes maximising out_degree(x) first 4\n",
    "both": NEARBY
    + "observe x in nodes where hue[x] != black\n"
    + "messages (x, y) in edges where hue[x] == grey minimising w[x, y] first 1\n",
    "mutable": FLIP
    + "observe x in nodes where not hot[x]\nmessages (x, y) in edges where hot[x]\n",
}


@pytest.fixture(params=SPECS)
def problem(request: pytest.FixtureRequest) -> Problem:
    return gnarl.loads(SPECS[request.param])


def test_a_pack_is_what_the_window_shows(problem: Problem) -> None:
    states = [state for seed in (1, 2, 3) for state in visited(problem, 7, seed)]
    game, packed = Interpreter(problem), pack(loaded(problem, states, 9), range(len(states)))
    for g, state in enumerate(states):
        hand, rows = ByHand(problem, state), range(packed.offsets[g], packed.offsets[g + 1])
        nodes = packed.nodes[rows.start : rows.stop].tolist()
        assert nodes == np.flatnonzero(game.window(state)).tolist()
        told = game.messages(state)
        for row, v in zip(rows, nodes, strict=True):
            np.testing.assert_allclose(packed.x[row], hand.node(v), rtol=1e-6)
            heard = range(packed.rowptr[row], packed.rowptr[row + 1])
            senders = [nodes[packed.src[e] - rows.start] for e in heard]
            assert senders == np.flatnonzero(told[:, v]).tolist()
            for e, u in zip(heard, senders, strict=True):
                assert packed.dst[e] == row
                np.testing.assert_allclose(packed.edge_raw[e], hand.message(u, v), rtol=1e-6)
            assert packed.legal[row] == game.mask(state)[v]


def test_engines_keep_the_window_up_to_date(problem: Problem) -> None:
    instances = [random_instance(problem, 5, k, 6) for k in range(3)]
    engine = Engine(compile_for(problem), pool_of(problem, instances), 3)
    engine.load(engine.environments, np.arange(3))
    game = Interpreter(problem)
    for _ in range(5):
        running = np.flatnonzero(engine.batch.ended == 0)
        packed = pack(engine.batch, running)
        for g, slot in enumerate(running):
            state = state_of(engine.batch, int(slot))
            shown = packed.nodes[packed.offsets[g] : packed.offsets[g + 1]]
            assert shown.tolist() == np.flatnonzero(game.window(state)).tolist()
        engine.step(engine.batch.legal.argmax(axis=1))


def test_a_window_without_a_legal_node_shows_all_of_them() -> None:
    problem = gnarl.loads(NEARBY + "observe x in nodes where hue[x] == black\n")
    (state, *_) = visited(problem, 6, seed=1)
    game = Interpreter(problem)
    assert (game.window(state) == game.mask(state)).all()
    assert game.mask(state).any()


def test_rows_and_nodes_of_a_window_belong_together() -> None:
    problem = gnarl.loads(SPECS["directed"])
    states = [next(visited(problem, 7, seed)) for seed in (1, 2)]
    packed = pack(loaded(problem, states, 7), [0, 1])
    for row, (g, v) in enumerate(zip(packed.graph, packed.nodes, strict=True)):
        wanted = np.full(2, -1)
        wanted[g] = v
        assert packed.rows(wanted)[g] == row
        assert packed.rows(wanted)[1 - g] == -1
    hidden = [sorted({*range(7)} - {*packed.nodes[packed.graph == g].tolist()}) for g in (0, 1)]
    assert (packed.rows(np.array([own[0] for own in hidden])) == -1).all()
    table = np.zeros((2, 7))
    packed.spread(packed.of_choices(np.arange(14.0).reshape(2, 7)), table)
    shown = np.zeros((2, 7), np.bool_)
    shown[packed.graph, packed.nodes] = True
    np.testing.assert_array_equal(table, np.where(shown, np.arange(14.0).reshape(2, 7), 0))


def test_picks_are_nodes_of_the_instance() -> None:
    problem = gnarl.loads(SPECS["both"])
    states = list(visited(problem, 7, seed=4))[:-1]
    packed = pack(loaded(problem, states, 7), range(len(states)))
    output: Output = Policy(problem)(packed)
    best = argmax(output, packed)
    drawn = sample(output, packed, torch.full((len(states),), 0.3))
    chances = np.zeros((len(states), 7))
    packed.spread(log_chances(output, packed).detach().exp().numpy(), chances)
    for g, state in enumerate(states):
        legal = Interpreter(problem).mask(state)
        assert legal[best[g]]
        assert legal[drawn[g]]
        assert best[g] == chances[g].argmax()
        assert chances[g][~legal].sum() == 0
        np.testing.assert_allclose(chances[g].sum(), 1, rtol=1e-5)


def test_an_expert_outside_the_window_is_no_label() -> None:
    problem = gnarl.loads(NEARBY + "observe x in nodes maximising out_degree(x) first 2\n")
    (state, *_) = visited(problem, 6, seed=2)
    packed = pack(loaded(problem, [state, state], 6), [0, 1])
    shown = Interpreter(problem).window(state)
    labels = np.array([np.where(shown, 0.5, 0.0), np.where(shown, 0.0, 0.25)])
    assert count_outside(labels, packed) == 1
    rows = label_rows(labels, packed)
    assert rows[packed.graph == 0].sum() == 1
    assert rows[packed.graph == 1].sum() == 0
    labels[1, np.flatnonzero(shown)[0]] = 0.25  # of several picks one is shown
    assert label_rows(labels, packed)[packed.graph == 1].tolist() == [1, 0]
    assert count_outside(labels, packed) == 0
