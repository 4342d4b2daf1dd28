"""Columns that follow pointers to their end: as by hand, for any spec, and only where asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from batch_cases import OWN, joined, loaded, relabelled, visited
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.batch.pack_kernels import ENDLESS, count_steps
from gnarl_runtime.batch.signature import signature_of

PROBLEMS = [shipped("bfs"), shipped("dfs"), *map(gnarl.loads, OWN.values())]


def chain(pointer: list[int], v: int) -> tuple[list[int], bool]:
    """The nodes on the way from v, and whether it ends."""
    seen = [v]
    while pointer[seen[-1]] not in seen:
        seen.append(pointer[seen[-1]])
    return seen, pointer[seen[-1]] == seen[-1]


def by_hand(problem: Problem, state: State) -> NDArray[np.float32]:
    """The further columns of a state, from the definition."""
    columns, nodes = [], range(state.n)
    seen = [f for f in problem.features if f.observed]
    values = Interpreter(problem).observation(state)
    marked = [int(values[f.name]) for f in seen if f.marks] + list(state.last)
    for feature in seen:
        if feature.points and not feature.marks:
            pointer = [int(u) for u in values[feature.name]]
            chains = [chain(pointer, v) for v in nodes]
            steps = [len(way) - 1 if ends else 0 for way, ends in chains]
            columns.append([s / max(1, *steps) for s in steps])
            columns.append([float(not ends) for _, ends in chains])
            for mark in marked:
                columns.append([float(mark >= 0 and v in chains[mark][0]) for v in nodes])
    return np.array(columns, np.float32).reshape(-1, state.n).T


def test_chains_against_the_definition() -> None:
    for problem in PROBLEMS:
        plain, asked = signature_of(problem), signature_of(problem, chains=True)
        for state in visited(problem, 8, seed=3, steps=14):
            batch = loaded(problem, [state], 9)
            one, two = pack(batch, [0], plain), pack(batch, [0], asked)
            np.testing.assert_array_equal(two.x[:, : len(plain.node)], one.x)
            np.testing.assert_allclose(two.x[:, len(plain.node) :], by_hand(problem, state))
            np.testing.assert_array_equal(two.edge_raw, one.edge_raw)


def test_nothing_changes_where_nobody_asks() -> None:
    for name in SHIPPED:
        problem = shipped(name)
        names = signature_of(problem).names()["node"]
        assert signature_of(problem, chains=True).names()["node"][: len(names)] == names
        batch = loaded(problem, [next(visited(problem, 5, seed=1))], 5)
        assert pack(batch, [0]).x.shape[1] == len(names)


def test_a_problem_without_pointers_has_no_chains() -> None:
    assert signature_of(shipped("mvc"), chains=True) == signature_of(shipped("mvc"))


@settings(max_examples=200)
@given(data=st.data(), n=st.integers(1, 12))
def test_steps_of_any_pointers(data: st.DataObject, n: int) -> None:
    pointer = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    steps = np.full(n, 99)
    count_steps(np.array(pointer), steps)
    chains = [chain(pointer, v) for v in range(n)]
    assert steps.tolist() == [len(way) - 1 if ends else ENDLESS for way, ends in chains]


def test_chains_are_those_of_each_graph_and_move_with_its_names() -> None:
    rng = np.random.default_rng(0)
    for problem in PROBLEMS:
        asked = signature_of(problem, chains=True)
        states = [list(visited(problem, n, seed=n))[-1] for n in (7, 4)]
        batch = loaded(problem, states, 9)
        together = pack(batch, [1, 0], asked).x
        apart = joined([pack(batch, [slot], asked) for slot in (1, 0)]).x
        np.testing.assert_array_equal(together, apart)
        permutation = rng.permutation(7).astype(np.int64)
        moved = pack(loaded(problem, [relabelled(problem, states[0], permutation)], 7), [0], asked)
        np.testing.assert_array_equal(moved.x[permutation], together[4:])


def test_chains_run_through_what_a_window_leaves_out() -> None:
    text = OWN["flip"].replace("phase one(u)", "observe x in nodes where hot[x]\nphase one(u)")
    whole, part = gnarl.loads(OWN["flip"]), gnarl.loads(text)
    smaller = 0
    for state in visited(whole, 8, seed=5, steps=12):
        wanted = pack(loaded(whole, [state], 9), [0], signature_of(whole, chains=True)).x
        seen = next(iter(visited(part, 8, seed=5)))  # its window is what differs
        batch = loaded(part, [replace(state, episode=seen.episode)], 9)
        found = pack(batch, [0], signature_of(part, chains=True))
        assert found.node is not None
        np.testing.assert_array_equal(found.x, wanted[found.node])
        smaller += len(found.x) < len(wanted)
    assert smaller
