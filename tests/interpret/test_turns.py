"""Phases that happen only sometimes: whose turn comes, what later phases see, when it is over."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from duel import Duel, play
from episodes import make_graph, make_instance
from random_specs.generator import random_instance

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_runtime.batch.signature import PickedColumn, signature_of
from gnarl_runtime.envs.interpreted import load_state, state_of
from gnarl_runtime.evaluation.solution_text import Names, rounds_of
from gnarl_runtime.evaluation.solving import Attempts, solve
from gnarl_runtime.search.strategy import parse_search

RELAY = """gnarl 1
problem relay
graph undirected
features
  on    state  node   mask    = false
  many  state  graph  scalar  = 0
phase put(u)
  allow not on[u]
  update
    on[u] := true
    many  := many + 1
phase take(v) when many >= 2
  allow on[v] and v != u
  update
    on[v] := false
    many  := many - 1
phase more(w) when not (u == last(take)) and many < 3
  allow not on[w] and not (w == v)
  update
    on[w] := true
    many  := many + 1
horizon 4 rounds
objective lit = count(x in nodes where on[x])
expert shy
  put:  uniform u where not (u == last(put))
  take: uniform v where v == last(more) else uniform v
  more: uniform w where w == (v otherwise w)
expert eager = greedy lit
"""
EMPTY = make_instance(make_graph(5, []))


@pytest.fixture(scope="module")
def relay() -> gnarl.Problem:
    return gnarl.loads(RELAY)


def after(problem: gnarl.Problem, *picks: int) -> State:
    game = Interpreter(problem)
    state = game.reset(EMPTY)
    for pick in picks:
        state = game.step(state, pick).state
    return state


def test_a_phase_is_skipped_where_its_condition_does_not_hold(relay: gnarl.Problem) -> None:
    state = after(relay, 0)  # one is on: `take` is skipped
    assert (state.phase, state.picks, state.rounds) == (2, (0, -1), 0)
    state = after(relay, 0, 1)
    assert (state.phase, state.picks, state.rounds) == (0, (), 1)
    state = after(relay, 0, 1, 2)  # judged after the pick before it: three are on
    assert (state.phase, state.picks, state.rounds) == (1, (2,), 1)


def test_the_pick_of_a_skipped_phase_is_unset(relay: gnarl.Problem) -> None:
    """`not (w == v)` forbids nothing in the first round, and the taken node in the second."""
    game = Interpreter(relay)
    assert game.mask(after(relay, 0)).tolist() == [False, True, True, True, True]
    assert game.mask(after(relay, 0, 1, 2, 0)).tolist() == [False, False, False, True, True]
    assert game.bindings(after(relay, 0)) == {"u": 0, "v": None}


def test_last_is_of_an_earlier_round_where_a_phase_was_skipped() -> None:
    text = RELAY.replace("when many >= 2", "when many == 3")
    problem = gnarl.loads(text)
    state = after(problem, 0, 1, 2, 0, 3, 0)
    assert (state.phase, state.picks, state.last) == (0, (), (0, 0, 3))
    assert after(problem, 0).last == (0, -1, -1)


def test_a_round_without_any_phase_ends_the_episode() -> None:
    problem = gnarl.loads(
        RELAY.replace("phase put(u)", "phase put(u) when many < 1")
        .replace("v != u", "true")
        .replace("many >= 2", "many < 1")
        .replace("many < 3", "many < 1")
    )
    state = after(problem, 0)
    assert (state.ended, state.rounds, state.phase) == ("terminated", 1, 0)
    never = RELAY.replace("phase put(u)", "phase put(u) when false").replace("v != u", "true")
    never = never.replace("more(w) when", "more(w) when false and")
    assert after(gnarl.loads(never)).ended == "terminated"


def test_greed_looks_to_the_end_of_the_round_whoever_picks_last(relay: gnarl.Problem) -> None:
    """With two on, a third pick costs one of them, unless `more` follows."""
    game, state = Interpreter(relay), after(relay, 0, 1)
    assert np.flatnonzero(game.expert(state, "eager")).tolist() == [2, 3, 4]


def test_a_silent_expert_is_done_only_where_nothing_was_picked_in_the_round() -> None:
    """The first phase of a round need not be the first of the spec."""
    problem = gnarl.loads(RELAY.replace("phase put(u)", "phase put(u) when many != 2").replace(
        "v != u", "not (v == u)").replace("many < 3", "many < 2"))  # fmt: skip
    state = after(problem, 0, 1)
    assert (state.phase, state.opening) == (1, True)
    assert not after(problem, 0, 1, 0).opening


def test_kernels_do_the_same(relay: gnarl.Problem) -> None:
    rng = np.random.default_rng(0)
    duel = Duel(relay, [random_instance(relay, n, rng) for n in (3, 4, 5, 6)])
    play(duel, rng, 12)
    assert duel.checks > 20


def test_a_state_goes_into_a_slot_and_comes_back(relay: gnarl.Problem) -> None:
    batch = Duel(relay, [EMPTY]).batch
    for picks in ((0,), (0, 1, 2), (0, 1, 2, 0)):
        state = after(relay, *picks)
        load_state(batch, 0, state)
        back = state_of(batch, 0)
        assert (back.phase, back.picks, back.last) == (state.phase, state.picks, state.last)


def test_a_network_reads_whether_an_earlier_phase_has_picked(relay: gnarl.Problem) -> None:
    """The last phase has nobody behind it, and one that is never skipped has always picked."""
    columns = [column for column in signature_of(relay).graph if isinstance(column, PickedColumn)]
    assert [column.name for column in columns] == ["picked(take)"]


def test_a_variant_inherits_when(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "relay.gnarl").write_text(RELAY)
    variant = tmp_path / "mine.gnarl"
    variant.write_text("gnarl 1\nproblem mine extends relay\nphase take(v)\n  allow on[v]\n")
    assert gnarl.load(variant).phase("take").when is not None
    variant.write_text("gnarl 1\nproblem mine extends relay\nphase take(v) when true\n")
    assert gnarl.load(variant).phase("take").when is None


@pytest.fixture(scope="module")
def environment(relay: gnarl.Problem) -> gymnasium.Env:  # type: ignore[type-arg]
    return gnarl.make(relay, instances=[EMPTY], expert="eager")


def test_observations_say_what_was_skipped(environment) -> None:  # type: ignore[no-untyped-def]
    environment.reset()
    observation, *_ = environment.step(0)
    assert observation["when"].tolist() == [1, 0, 0]
    assert observation["phase"].tolist() == [2]
    assert environment.observation_space.contains(observation)


def test_a_solution_tells_rounds_apart(relay: gnarl.Problem) -> None:
    (found,) = solve(None, relay, [EMPTY], Attempts(parse_search("work:40")))
    rounds = rounds_of(relay, found, Names(found))
    assert [len(own) for own in rounds] == [3] * 4
    assert rounds[0][1] is None
    assert found.objective == 3.0
