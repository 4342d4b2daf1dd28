"""Renaming the nodes of an instance renames its behaviour and changes nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from episodes import dyadic, random_instance, random_pick
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import SHIPPED, shipped

from gnarl_compiler.graphs.instance import Instance, relabel_values
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem

Permutation = np.ndarray


def assert_same_state(
    problem: Problem, state: State, renamed: State, permutation: Permutation, exact: bool
) -> None:
    tolerance = 0.0 if exact else 1e-9
    assert np.array_equal(renamed.adjacency[np.ix_(permutation, permutation)], state.adjacency)
    assert (state.phase, state.rounds, state.ended) == (
        renamed.phase,
        renamed.rounds,
        renamed.ended,
    )
    assert [permutation[v] if v >= 0 else v for v in state.last] == list(renamed.last)
    for name, values in state.features.items():
        moved = relabel_values(problem.feature(name), values, permutation, state.adjacency)
        assert np.allclose(moved, renamed.features[name], rtol=tolerance, atol=tolerance), name


def assert_same_views(
    game: Interpreter, state: State, renamed: State, permutation: Permutation, exact: bool
) -> None:
    tolerance = 0.0 if exact else 1e-9
    problem = game.problem
    assert np.array_equal(game.mask(renamed)[permutation], game.mask(state))
    assert game.correct(renamed) == game.correct(state)
    assert game.valid(renamed) == game.valid(state)
    for objective in problem.objectives:
        here, there = game.objective(state, objective.name), game.objective(renamed, objective.name)
        assert here == pytest.approx(there, rel=tolerance, abs=tolerance)
    for expert in problem.experts:
        mine, theirs = game.expert(state, expert.name), game.expert(renamed, expert.name)
        assert np.array_equal(theirs[permutation], mine), expert.name
    seen, shown = game.observation(state), game.observation(renamed)
    for name, values in seen.items():
        moved = relabel_values(problem.feature(name), values, permutation, state.adjacency)
        assert np.allclose(moved, shown[name], rtol=tolerance, atol=tolerance), name


def play_both(problem: Problem, instance: Instance, seed: int, exact: bool, steps: int) -> None:
    rng = np.random.default_rng(seed)
    permutation = rng.permutation(instance.graph.n)
    game = Interpreter(problem)
    state = game.reset(instance)
    renamed = game.reset(instance.relabel(problem, permutation))
    assert_same_state(problem, state, renamed, permutation, exact)
    for _ in range(steps):
        assert_same_views(game, state, renamed, permutation, exact)
        if state.ended is not None or game.is_dead_end(state):
            return
        pick = random_pick(game, state, rng)
        here, there = game.step(state, pick), game.step(renamed, int(permutation[pick]))
        assert there.reward == pytest.approx(here.reward, rel=1e-9, abs=0.0 if exact else 1e-9)
        state, renamed = here.state, there.state
        assert_same_state(problem, state, renamed, permutation, exact)


@pytest.mark.parametrize("name", SHIPPED)
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 7))
def test_relabelling_is_exact_where_sums_are(name: str, seed: int, nodes: int) -> None:
    """Weights on a binary grid add without rounding, and tie often."""
    problem = shipped(name)
    nodes = min(nodes, 5) if name == "rgc" else nodes
    instance = dyadic(problem, random_instance(problem, 5, seed, nodes), seed)
    play_both(problem, instance, seed, exact=True, steps=10)


@pytest.mark.parametrize("name", SHIPPED)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 7))
def test_relabelling_holds_within_tolerance(name: str, seed: int, nodes: int) -> None:
    problem = shipped(name)
    nodes = min(nodes, 5) if name == "rgc" else nodes
    play_both(problem, random_instance(problem, 6, seed, nodes), seed, exact=False, steps=10)


@pytest.mark.parametrize("removal", ["random", "targeted"])
def test_the_removal_strategies_of_rgc_are_order_free(removal: str) -> None:
    problem = shipped("rgc", removal=removal)
    for number in range(5):
        play_both(problem, random_instance(problem, 7, number, 5), number, exact=False, steps=4)
