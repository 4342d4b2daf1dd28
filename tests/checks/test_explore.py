"""Exploration finds what a plain walk of the interpreter finds, and judges it the same way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.artifact import Artifact, generate_code
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore import explore as exploring
from gnarl_runtime.checks.explore.board import Board, find_last
from gnarl_runtime.checks.explore.explore import distinct, explore
from gnarl_runtime.checks.explore.small_graphs import plan_instances
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.findings.findings import Report
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.properties.found import Found
from gnarl_runtime.checks.properties.renaming import check_renaming
from gnarl_runtime.checks.properties.reward_properties import check_telescope
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.checks.witness.replay import holds

ENDED = {None: 0, "terminated": 1, "truncated": 2}
Node = tuple[State, tuple[int, ...]]


def some_instances(problem: Problem, n: int, most: int) -> tuple[Instance, ...]:
    return plan_instances(problem, n).instances[:most]


# The interpreter as the oracle


def key_of(problem: Problem, state: State) -> tuple[object, ...]:
    """Everything that what follows can depend on."""
    read = set(find_last(problem))
    last = [
        node if phase.name in read or k < state.phase else -1
        for k, (phase, node) in enumerate(zip(problem.phases, state.last, strict=True))
    ]
    values = [state.features[name].tobytes() for name in sorted(state.features)]
    graph = state.adjacency.tobytes()
    return (*values, graph, state.phase, state.rounds, state.ended, state.potential, *last)


def walk(game: Interpreter, instance: Instance) -> list[dict[tuple[object, ...], Node]]:
    """Layers of states, each with the picks that lead there."""
    start = game.reset(instance)
    layers = [{key_of(game.problem, start): (start, ())}]
    while layers[-1]:
        following: dict[tuple[object, ...], Node] = {}
        for state, picks in layers[-1].values():
            for node in np.flatnonzero(game.mask(state)):
                after = game.step(state, int(node)).state
                following.setdefault(key_of(game.problem, after), (after, (*picks, int(node))))
        layers.append(following)
    return layers[:-1]


SMALL = [
    ("bfs", 3, 2),
    ("dfs", 2, 3),
    ("mst_prim", 2, 2),
    ("bellman_ford", 2, 2),
    ("mvc", 3, 12),
    ("mvc_rich", 3, 4),
    ("rgc", 3, 4),
    ("tsp", 3, 6),
    ("tsp_insertion", 3, 6),
]


@cache
def explored(name: str, n: int, most: int) -> Space:
    problem = shipped(name)
    return explore(problem, some_instances(problem, n, most))


@pytest.mark.parametrize(("name", "n", "most"), SMALL)
def test_every_state_is_found_once(name: str, n: int, most: int) -> None:
    space = explored(name, n, most)
    game = Interpreter(space.problem)
    for k, instance in enumerate(space.board.instances):
        layers = walk(game, instance)
        own = np.bincount(space.depth[space.instance == k])
        assert own.tolist() == [len(layer) for layer in layers]
        moves = sum(int(game.mask(s).sum()) for layer in layers for s, _ in layer.values())
        assert int((space.instance[space.source] == k).sum()) == moves
    assert space.complete.all()


@pytest.mark.parametrize(("name", "n", "most"), SMALL)
def test_states_are_those_of_the_interpreter(name: str, n: int, most: int) -> None:
    """The picks of a state lead the interpreter to the same values, mask, end and judgements."""
    space = explored(name, n, most)
    view, game = View(space), Interpreter(space.problem)
    for number in range(len(space)):
        state = replayed(game, space, number)
        assert space.legal[number].tolist() == game.mask(state).tolist()
        assert space.ended[number] == ENDED[state.ended]
        assert space.field("potential")[number] == state.potential
        assert (view.correct[number], view.valid[number]) == (
            game.correct(state),
            game.valid(state),
        )
        for name_of, values in state.features.items():
            assert np.array_equal(feature(space, name_of)[number], values), name_of
        for expert in space.problem.experts:
            wanted = game.expert(state, expert.name)
            assert np.array_equal(view.expert(expert.name).distribution[number], wanted)


def feature(space: Space, name: str) -> Any:
    return space.field(f"s_{name}")


def replayed(game: Interpreter, space: Space, number: int) -> State:
    state = game.reset(space.board.instances[int(space.instance[number])])
    for node in space.picks_to(number):
        state = game.step(state, node).state
    return state


@pytest.mark.parametrize(("name", "n", "most"), [entry for entry in SMALL if entry[0] != "bfs"])
def test_rewards_are_those_of_the_interpreter(name: str, n: int, most: int) -> None:
    space = explored(name, n, most)
    game = Interpreter(space.problem)
    for move in range(0, len(space.source), 3):
        state = replayed(game, space, int(space.source[move]))
        assert space.rewards[move] == game.step(state, int(space.picks[move])).reward


def test_compiled_kernels_find_the_same() -> None:
    problem = shipped("mvc")
    instances = some_instances(problem, 3, 20)
    plain, fast = (explore(problem, instances, jit=jit) for jit in (False, True))
    assert plain.board.jit is False
    assert fast.board.jit is True
    assert np.array_equal(plain.rows, fast.rows)
    assert np.array_equal(plain.target, fast.target)
    assert np.array_equal(plain.rewards, fast.rewards)


# Winning


def best_end(game: Interpreter, state: State) -> bool:
    if state.ended is not None:
        return game.correct(state) and game.valid(state)
    return any(
        best_end(game, game.step(state, int(v)).state) for v in np.flatnonzero(game.mask(state))
    )


def expert_ends_well(game: Interpreter, state: State, name: str) -> bool:
    if state.ended is not None:
        return game.correct(state) and game.valid(state)
    picks = np.flatnonzero(game.expert(state, name))
    if not len(picks):
        return state.phase == 0 and game.correct(state) and game.valid(state)
    return all(expert_ends_well(game, game.step(state, int(v)).state, name) for v in picks)


@pytest.mark.parametrize(("name", "n"), [("bfs", 3), ("dfs", 2), ("mst_prim", 2)])
def test_what_can_be_won_is_decided_as_by_recursion(name: str, n: int) -> None:
    space = explored(name, n, 3)
    view, game = View(space), Interpreter(space.problem)
    expert = space.problem.experts[0].name
    outcome = view.expert(expert).outcome
    for number in range(len(space)):
        state = replayed(game, space, number)
        if state.ended is None:
            assert view.win.yes[number] == best_end(game, state)
            assert outcome.yes[number] == expert_ends_well(game, state, expert)
    assert not view.win.undecided.any()


# Bounds


@pytest.mark.parametrize("states", [1, 7, 60, 500])
def test_no_instance_exceeds_its_states(states: int) -> None:
    problem = shipped("bellman_ford")
    space = explore(problem, some_instances(problem, 3, 6), states=states)
    assert np.bincount(space.instance).max() <= states
    bounded = ~space.complete
    assert bounded.any()
    assert (space.bound[bounded] >= 0).all()


def test_a_bounded_space_is_the_beginning_of_the_whole_one() -> None:
    problem = shipped("bellman_ford")
    instances = [i for i in some_instances(problem, 3, 33) if i.graph.m == 3][:1]
    whole, part = (explore(problem, instances, states=most) for most in (200_000, 60))
    depth = int(part.bound[0])
    own = int(whole.starts[depth + 1])
    assert len(part) == own
    assert np.array_equal(part.rows, whole.rows[:own])
    verdict, known = View(part).win, View(whole).win.yes[:own]
    assert (known[verdict.yes]).all()
    assert (verdict.maybe[known]).all()
    assert verdict.undecided.any()


def test_transitions_bound_all_instances_together() -> None:
    problem = shipped("mst_prim")
    space = explore(problem, some_instances(problem, 3, 20), transitions=300)
    assert len(space.source) <= 300
    assert not space.complete.all()


def test_equal_hashes_do_not_merge_different_states(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (200, 5)).astype(np.uint8)
    owner = rng.integers(0, 2, 200)
    usual = distinct(rows, owner)
    monkeypatch.setattr(exploring, "hash_rows", lambda given: np.zeros(len(given), np.uint64))
    for mine, theirs in zip(usual, distinct(rows, owner), strict=True):
        assert np.array_equal(mine, theirs)
    different = {(int(o), row.tobytes()) for o, row in zip(owner, rows, strict=True)}
    assert len(usual[0]) == len(different)


# Properties that no spec can break, shown on kernels that were tampered with


def tampered(problem: Problem, old: str, new: str) -> Artifact:
    text = generate_code(problem)
    assert old in text
    text = text.replace(old, new)
    return Artifact(text, Path("plain"), load_plain(text))


def failing(found: Sequence[Found]) -> set[str]:
    return {entry.property for entry in found if len(entry.states)}


def test_kernels_that_look_at_numbers_of_nodes_are_caught() -> None:
    problem = shipped("dfs")
    all_of_them = "legal[b, :n[b]] = True"
    artifact = tampered(problem, all_of_them, f"{all_of_them}; legal[b, 0] = n[b] < 3")
    space = explore(problem, some_instances(problem, 3, 16), artifact=artifact)
    assert failing(list(check_renaming(View(space), 0))) == {"relabelling"}


def test_updates_that_look_at_numbers_of_nodes_are_caught() -> None:
    problem = shipped("dfs")
    artifact = tampered(problem, "write_reach(b, pick, True", "write_reach(b, pick, pick > 0")
    space = explore(problem, some_instances(problem, 3, 16), artifact=artifact)
    assert failing(list(check_renaming(View(space), 0))) == {"relabelling"}


def test_rewards_that_do_not_add_up_are_caught() -> None:
    problem = shipped("tsp")
    artifact = tampered(problem, "minus(value, potential[b])", "(value + potential[b])")
    space = explore(problem, some_instances(problem, 3, 3), artifact=artifact)
    assert failing(list(check_telescope(View(space)))) == {"reward-telescope"}


@pytest.mark.parametrize(("name", "n", "most"), SMALL)
def test_untampered_kernels_pass(name: str, n: int, most: int) -> None:
    view = View(explored(name, n, most))
    assert not failing(list(check_renaming(view, 0)))
    assert not failing(list(check_telescope(view)))


# All of it


def quick(problem: Problem, **options: Any) -> Report:
    return check_problem(
        problem, Options(max_nodes=3, jit=False, examples=0, lints=False, **options)
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_specs_pass(name: str) -> None:
    report = quick(shipped(name))
    assert report.passed, [(f.property, f.expert, f.message) for f in report.failures]
    assert [size.nodes for size in report.sizes] == [1, 2, 3]
    assert all(size.depth is None for size in report.sizes)
    assert {expert.name for expert in report.experts} == {
        expert.name for expert in shipped(name).experts
    }


@pytest.mark.parametrize("params", [{"stop": "settled"}])
def test_a_deployable_variant_passes(params: dict[str, str]) -> None:
    assert quick(shipped("bellman_ford", **params)).passed


ALL_OVER = """
gnarl 1
problem nothing_to_do
  "No node can ever be picked."
graph undirected
features
  done  state  node  mask  = true
phase pick(v)
  allow not done[v]
  update
    done[v] := true
horizon n rounds
objective total = count(x in nodes where done[x])
"""


def test_a_spec_without_a_first_pick_is_a_dead_end() -> None:
    report = quick(gnarl.loads(ALL_OVER))
    assert [failure.property for failure in report.failures] == ["dead-end"]
    assert report.failures[0].picks == ()


LATER_DEAD_END = """
gnarl 1
problem pairs
  "Picks two neighbours at a time; an isolated node has none."
graph undirected
features
  done  state  node  mask  = false
phase first(u)
  allow not done[u]
phase second(v)
  allow edge(u, v)
  update
    done[u] := true
horizon n rounds
objective total = count(x in nodes where done[x])
"""


def test_the_smallest_dead_end_is_reported_and_the_rest_counted() -> None:
    report = quick(gnarl.loads(LATER_DEAD_END))
    dead = next(failure for failure in report.failures if failure.property == "dead-end")
    assert dead.instance.graph.n == 1
    assert dead.picks == (0,)
    assert dead.count > 1


def test_an_expert_silent_where_winning_is_possible_fails_unless_lenient() -> None:
    """In Prim, `grow` may pick a node from which nothing useful can be reached."""
    text = shipped("mst_prim").sources[0].text
    own_path_only = gnarl.loads(
        text.replace("else uniform v where not active(u)  # none changes anything", "")
    )
    found = quick(own_path_only)
    assert {(f.property, f.expert) for f in found.failures} == {("expert-silent", "prim")}
    assert quick(own_path_only, lenient=True).passed


@pytest.mark.parametrize("name", ["bfs", "dfs", "mst_prim", "bellman_ford"])
def test_the_experts_of_the_classical_algorithms_answer_wherever_winning_is_possible(
    name: str,
) -> None:
    """Also off their own path, where a policy's mistakes lead."""
    assert not quick(shipped(name), only="expert-silent").failures


LUCKY = """
gnarl 1
problem lucky
  "Each round earns the worth of some node that is not the picked one."
graph undirected complete
features
  w     input  node   scalar  ~ uniform(0, 1)
  paid  state  graph  scalar  = 0
  done  state  node   mask    = false
phase pick(v)
  allow not done[v]
  update
    let other = any argmin(x in nodes where x != v: KEY) otherwise v
    done[v] := true
    paid    := paid + w[other]
horizon n rounds
objective total = paid
"""


@pytest.mark.parametrize(("key", "uneven"), [("w[x]", False), ("degree(x)", True)])
def test_what_a_pick_earns_must_not_hang_on_hidden_ranks(key: str, uneven: bool) -> None:
    """Nodes that tie in weight pay alike; nodes that tie in degree do not, from three nodes on."""
    report = quick(gnarl.loads(LUCKY.replace("KEY", key)))
    assert [f.property for f in report.failures] == ["reward-uneven"] * uneven
    for failure in report.failures:
        assert (failure.instance.graph.n, len(failure.picks)) == (3, 1)
        assert holds(report.problem, failure)


WINDOWED = """gnarl 1
problem windowed
graph undirected
features
  w      input  node   scalar  ~ uniform(0, 1)
  done   state  node   mask    = false
  order  state  node   scalar  = 0
  paid   state  graph  scalar  = 0
phase pick(v)
  allow not done[v]
  update
    order[v] := count(x in nodes where done[x])
    done[v]  := true
    paid     := paid + w[v] + PAY
horizon n rounds
objective total = paid
observe x in nodes where WINDOW
"""
SEEN, HIDDEN = "1", "max(0, max(x in neighbors(v): order[x]))"


@pytest.mark.parametrize(
    ("pay", "window", "loses"),
    [(SEEN, "not done[x]", False), (HIDDEN, "not done[x]", True), (HIDDEN, "n > 0", False)],
)
def test_a_window_must_not_lose_what_matters(pay: str, window: str, loses: bool) -> None:
    """In which order neighbours were done is not seen where these are left out."""
    problem = gnarl.loads(WINDOWED.replace("PAY", pay).replace("WINDOW", window))
    report = quick(problem, only="window-loses")
    assert [f.property for f in report.failures] == ["window-loses"] * loses
    for failure in report.failures:
        assert (failure.instance.graph.n, len(failure.picks)) == (3, 3)
        assert "after the picks" in failure.message
        assert holds(report.problem, failure)


def test_a_window_with_a_number_is_told_of() -> None:
    text = WINDOWED.replace("PAY", HIDDEN).replace("WINDOW", "not done[x]").rstrip()
    problem = gnarl.loads(f"{text} minimising w[x] first 1\n")
    report = check_problem(problem, Options(max_nodes=3, jit=False, only="window-loses"))
    assert report.passed
    assert "window-first" in {lint.name for lint in report.lints}


def test_stopping_at_the_first_failure_looks_no_further() -> None:
    report = quick(gnarl.loads(LATER_DEAD_END), stop_at_first=True)
    assert len(report.sizes) == 1


def test_an_oracle_that_only_files_bring_cannot_be_checked() -> None:
    from gnarl_runtime.checks.explore.board import Uncheckable

    text = (
        LATER_DEAD_END.replace("= false", "= false\n  hint  oracle  node  mask")
        + "metric hits = count(x in nodes where hint[x])\n"
    )
    with pytest.raises(Uncheckable, match="`hint`"):
        quick(gnarl.loads(text))


def test_a_board_keeps_what_belongs_to_an_instance_apart() -> None:
    """States of different instances never share inputs, labels or bounds."""
    problem = shipped("tsp")
    instances = some_instances(problem, 3, 18)
    together = explore(problem, instances)
    for k, instance in enumerate(instances):
        alone = explore(problem, [instance])
        own = together.instance == k
        assert np.array_equal(alone.rows, together.rows[own])
    assert isinstance(together.board, Board)


LAX_SETS = """
gnarl 1
problem lax_sets
  "Nothing keeps two neighbours apart, and the expert falls silent before the end."

graph undirected

features
  w       input   node  scalar  ~ uniform(0, 1)
  chosen  state   node  mask    = false
  best    oracle  node  mask    = max_independent_set(w)

phase add(v)
  allow not chosen[v]
  update
    chosen[v] := true

horizon n rounds
valid forall (x, y) in edges: not (chosen[x] and chosen[y])
objective weight = sum(x in nodes where chosen[x]: w[x])

expert optimal
  add: uniform v where best[v]

instances er
  train 10  er(n = 8, p = 0.3)
  valid 10  er(n = 8, p = 0.3)
  test  10  er(n = 8, p = 0.3)
"""


def test_an_expert_recovers_from_no_more_states_than_can_be_won() -> None:
    options = Options(max_nodes=3, examples=0, jit=False, lints=False, minimise=False)
    (expert,) = check_problem(gnarl.loads(LAX_SETS), options).experts
    assert 0 < expert.recoverable <= expert.winnable < expert.states
