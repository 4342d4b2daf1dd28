"""What the language means: small specs and hand-worked outcomes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from episodes import make_graph, make_instance, random_instance, random_pick, weights_of
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.chase import chain_cost, returns_to
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import IllegalPick, SpecRunError, State
from gnarl_dsl.language.operators import OPERATORS, nearly_equal

PATH = make_graph(4, [(0, 1), (1, 2), (2, 3)])


def spec(body: str, graph: str = "undirected", features: str = "") -> str:
    """A complete spec around the part that a test is about."""
    extra = "".join(f"  {line.strip()}\n" for line in features.strip().splitlines())
    tail = "" if "horizon" in body else "horizon n rounds\n"
    goal = (
        ""
        if "objective" in body or "correct" in body
        else "objective zero = 0 * count(x in nodes where hit[x])\n"
    )
    return (
        f"gnarl 1\nproblem t\ngraph {graph}\nfeatures\n"
        f"  hit  state  node  mask  = false\n{extra}{body}{tail}{goal}"
    )


def play(text: str, picks: list[int], graph=PATH, **inputs: object) -> State:
    game = Interpreter(gnarl.loads(text))
    state = game.reset(make_instance(graph, **inputs))
    for pick in picks:
        state = game.step(state, pick).state
    return state


def value_of(
    expression: str,
    picks: list[int] | None = None,
    graph=PATH,
    features: str = "",
    **inputs: object,
) -> float:
    body = f"phase pick(v)\n  update\n    hit[v] := true\nobjective it = {expression}\n"
    text = spec(body, "directed" if graph.directed else "undirected", features)
    game = Interpreter(gnarl.loads(text))
    state = game.reset(make_instance(graph, **inputs))
    for pick in picks or []:
        state = game.step(state, pick).state
    return game.objective(state)


# Updates


def test_assignments_are_sequential() -> None:
    features = "a state graph scalar = 1\nb state graph scalar = 2"
    body = "phase pick(v)\n  update\n    hit[v] := true\n    a := b\n    b := a + 1\n"
    state = play(spec(body, features=features), [0])
    assert (float(state.features["a"]), float(state.features["b"])) == (2.0, 3.0)


def test_a_for_loop_reads_before_it_writes() -> None:
    """Every node takes its neighbours' old label: a parallel shift along the path."""
    features = (
        "d state node(x) scalar = if hot[x] then 1 else 0\nhot input node mask_one ~ any_node"
    )
    body = (
        "phase pick(v)\n  update\n    hit[v] := true\n    for x in nodes\n"
        "      d[x] := sum(y in neighbors(x): d[y])\n"
    )
    state = play(spec(body, features=features), [0], hot=0)
    assert state.features["d"].tolist() == [0.0, 1.0, 0.0, 0.0]
    state = play(spec(body, features=features), [0, 0], hot=0)
    assert state.features["d"].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_a_local_let_is_a_value_not_a_macro() -> None:
    features = "a state graph scalar = 1\nb state graph scalar = 0"
    body = (
        "phase pick(v)\n  update\n    hit[v] := true\n    let old = a\n    a := 5\n    b := old\n"
    )
    assert float(play(spec(body, features=features), [0]).features["b"]) == 1.0


def test_if_else_and_nesting() -> None:
    features = "a state node scalar = 0"
    body = (
        "phase pick(v)\n  update\n    hit[v] := true\n    if degree(v) == 1\n      a[v] := 1\n"
        "    else if degree(v) == 2\n      if v == v\n        a[v] := 2\n    else\n"
        "      a[v] := 3\n"
    )
    state = play(spec(body, features=features), [0, 1])
    assert state.features["a"].tolist() == [1.0, 2.0, 0.0, 0.0]


def test_a_mask_one_moves_as_a_whole() -> None:
    features = "s input node mask_one ~ any_node\nhere state node mask_one = s"
    body = "phase pick(v)\n  allow not here[v]\n  update\n    hit[v] := true\n    here := v\n"
    state = play(spec(body, features=features), [2], s=0)
    assert int(state.features["here"]) == 2
    assert Interpreter(state.episode.problem).mask(state).tolist() == [True, True, False, True]


def test_categories_by_name_and_by_number() -> None:
    features = (
        "colour state node categorical(white | grey | black) = white\n"
        "level state node categorical(3) = 0"
    )
    body = (
        "phase pick(v)\n  allow colour[v] == white and level[v] < 2\n  update\n    hit[v] := true\n"
        "    colour[v] := if degree(v) == 1 then black else grey\n    level[v] := level[v] + 1\n"
    )
    state = play(spec(body, features=features), [0, 1])
    assert state.features["colour"].tolist() == [2, 1, 0, 0]
    assert state.features["level"].tolist() == [1, 1, 0, 0]


def test_a_category_out_of_range_names_the_line() -> None:
    features = "level state graph categorical(2) = 0"
    body = "phase pick(v)\n  update\n    hit[v] := true\n    level := level + 1\n"
    with pytest.raises(SpecRunError, match=r":10: `level` would become 2"):
        play(spec(body, features=features), [0, 0])


def test_infinity_is_not_stored() -> None:
    features = "d state graph scalar = 0"
    body = (
        "phase pick(v)\n  update\n    hit[v] := true\n"
        "    d := min(x in nodes where not hit[x]: degree(x))\n"
    )
    assert float(play(spec(body, features=features), [0]).features["d"]) == 1.0
    with pytest.raises(SpecRunError, match="infinite"):
        play(spec(body, features=features), [0, 1, 2, 3])


def test_undirected_edge_features_are_one_cell() -> None:
    features = "f state edge scalar = 0"
    body = (
        "phase pick(u)\nphase to(v)\n  allow edge(u, v)\n  update\n    hit[v] := true\n"
        "    f[u, v] := 7\n"
    )
    state = play(spec(body, features=features), [2, 1])
    assert (state.features["f"][1, 2], state.features["f"][2, 1]) == (7.0, 7.0)


def test_a_write_off_the_edges_is_an_error_with_its_line() -> None:
    features = "f state edge scalar = 0"
    body = "phase pick(u)\nphase to(v)\n  update\n    hit[v] := true\n    f[u, v] := 7\n"
    with pytest.raises(SpecRunError, match="no cell between 0 and 2"):
        play(spec(body, features=features), [0, 2])


def test_mutable_graphs_change_what_edge_and_degree_see() -> None:
    body = (
        "phase pick(u)\nphase to(v)\n  allow v != u and not edge(u, v)\n  update\n"
        "    hit[v] := true\n    edge(u, v) := true\nobjective it = 10 * m + degree(v0)\n"
    )
    features = "v0 input node mask_one ~ any_node"
    text = spec(body, "undirected mutable", features)
    game = Interpreter(gnarl.loads(text))
    state = game.reset(make_instance(PATH, v0=0))
    assert game.objective(state) == 31.0
    state = game.step(game.step(state, 0).state, 3).state
    assert game.objective(state) == 42.0
    assert state.episode.instance.graph.m == 3


# Expressions


def test_empty_sets() -> None:
    none = "x in nodes where hit[x]"
    assert value_of(f"sum({none}: 3)") == 0.0
    assert value_of(f"count({none})") == 0.0
    assert value_of(f"min({none}: 3)") == math.inf
    assert value_of(f"max({none}: 3)") == -math.inf
    assert value_of("if exists x in nodes: hit[x] then 1 else 0") == 0.0
    assert value_of("if forall x in nodes where hit[x]: false then 1 else 0") == 1.0


def test_arithmetic_is_total() -> None:
    assert value_of("n / (m - 3)") == 0.0
    assert value_of("inf - inf * n") == 0.0
    assert value_of("0 * min(x in nodes where hit[x]: 1)") == 0.0


def test_quantifiers_bind_left_to_right() -> None:
    assert value_of("count(x in nodes, y in neighbors(x))") == 6.0
    assert value_of("count((x, y) in edges)") == 3.0
    assert value_of("sum(c in 1..3: c * c)") == 14.0
    assert value_of("sum(x in nodes, y in neighbors(x) where hit[x]: degree(y))", [1]) == 3.0


def test_directed_graphs_have_both_sides() -> None:
    graph = make_graph(3, [(0, 1), (0, 2), (1, 2)], directed=True)
    assert value_of("sum(x in nodes: out_degree(x) * out_degree(x))", graph=graph) == 5.0
    assert value_of("max(x in nodes: in_degree(x))", graph=graph) == 2.0
    assert (
        value_of("count(x in nodes where exists y in predecessors(x): true or hit[y])", graph=graph)
        == 2.0
    )


def test_a_quantifier_body_reaches_to_the_right() -> None:
    """`exists x: a or b` is `exists x: (a or b)`."""
    assert value_of("if exists x in nodes where hit[x]: false or true then 1 else 0") == 0.0


def test_last_is_unset_before_the_first_pick() -> None:
    text = "count(x in nodes where x == last(pick))"
    assert value_of(text) == 0.0
    assert value_of("count(x in nodes where not (x == last(pick)))") == 4.0
    assert value_of(text, [2]) == 1.0


def test_any_argmin_breaks_ties_by_the_hidden_rank() -> None:
    """Nodes 0 and 3 tie; the one with the lower tag wins, whatever its number."""
    features = "best state node mask_one = s\ns input node mask_one ~ any_node"
    body = (
        "phase pick(v)\n  update\n    hit[v] := true\n"
        "    best := any argmin(x in nodes: degree(x)) otherwise v\n"
    )
    game = Interpreter(gnarl.loads(spec(body, features=features)))
    for seed in range(8):
        instance = make_instance(PATH, seed, s=1)
        state = game.step(game.reset(instance), 1).state
        assert int(state.features["best"]) == min((0, 3), key=lambda v: int(instance.tags[v]))


def test_near_equality() -> None:
    assert nearly_equal(1.0, 1.0 + 5e-7)
    assert not nearly_equal(1.0, 1.0 + 5e-6)
    assert nearly_equal(math.inf, math.inf)
    assert not nearly_equal(math.inf, 1e300)
    assert not nearly_equal(1e-7, 2e-7)
    assert nearly_equal(0.1 + 0.2 - 0.3, 0.0)


def test_ceil_and_floor_snap() -> None:
    ceil, floor = OPERATORS["ceil"].evaluate, OPERATORS["floor"].evaluate
    assert ceil(0.05 * 20 * 19 / 2 * 2 - 9 + 1e-12) == 10.0
    assert floor(3 - 1e-12) == 3.0
    assert ceil(3.2) == 4.0
    assert floor(-3.2) == -4.0
    assert ceil(math.inf) == math.inf


# Pointers


def test_chains_without_target_end_where_a_node_points_to_itself() -> None:
    one = lambda u, v: 1.0  # noqa: E731
    assert chain_cost([0, 0, 1], 2, None, one) == 2.0
    assert chain_cost([0, 0, 1], 0, None, one) == 0.0
    assert chain_cost([1, 0, 0], 2, None, one) == math.inf


def test_chains_with_target() -> None:
    one = lambda u, v: 1.0  # noqa: E731
    assert chain_cost([0, 0, 1], 2, 0, one) == 2.0
    assert chain_cost([0, 0, 1], 2, 1, one) == 1.0
    assert chain_cost([0, 0, 1], 0, 2, one) == math.inf
    assert chain_cost([1, 2, 0], 0, 2, one) == 2.0


def test_path_cost_reads_the_edge_from_predecessor_to_node() -> None:
    graph = make_graph(3, [(0, 1), (1, 2)], directed=True)
    weights = weights_of(graph, {(0, 1): 0.5, (1, 2): 0.25})
    features = "A input edge scalar ~ uniform(0, 1)\np state node(x) pointer = x"
    body = (
        "phase pick(u)\nphase to(v)\n  allow edge(u, v)\n  update\n    hit[v] := true\n"
        "    p[v] := u\nobjective it = sum(x in nodes: min(path_cost(p, A, x), 9))\n"
    )
    state = play(spec(body, "directed", features), [0, 1, 1, 2], graph, A=weights)
    assert Interpreter(state.episode.problem).objective(state) == 0.5 + 0.75


@settings(max_examples=60)
@given(st.lists(st.integers(0, 5), min_size=6, max_size=6), st.integers(0, 5))
def test_on_cycle_agrees_with_walking(pointers: list[int], start: int) -> None:
    seen, node = [], start
    for _ in range(12):
        node = pointers[node]
        seen.append(node)
    assert returns_to(pointers, start) == (start in seen)


# Episodes


def test_horizon_terminates_and_limit_truncates() -> None:
    body = "phase pick(v)\n  update\n    hit[v] := true\nhorizon 2 rounds\n"
    assert play(spec(body), [0, 0]).ended == "terminated"
    assert play(spec(body + "limit 1 rounds\n"), [0]).ended == "truncated"
    assert play(spec(body + "limit 2 rounds\n"), [0, 0]).ended == "terminated"


def test_no_legal_node_at_the_start_of_a_round_ends_the_episode() -> None:
    body = "phase pick(v)\n  allow not hit[v]\n  update\n    hit[v] := true\nhorizon 99 rounds\n"
    state = play(spec(body), [3, 1, 0, 2])
    assert state.ended == "terminated"
    assert state.rounds == 4


def test_no_legal_node_inside_a_round_is_a_dead_end() -> None:
    body = (
        "phase pick(u)\nphase to(v)\n  allow edge(u, v) and hit[v]\n  update\n    hit[v] := true\n"
    )
    state = play(spec(body), [0])
    game = Interpreter(state.episode.problem)
    assert state.ended is None
    assert game.is_dead_end(state)


def test_terminate_is_checked_at_reset() -> None:
    body = "phase pick(v)\n  update\n    hit[v] := true\nterminate when n == 4\n"
    assert play(spec(body), []).ended == "terminated"


def test_illegal_picks_say_why() -> None:
    body = "phase pick(v)\n  allow not hit[v]\n  update\n    hit[v] := true\n"
    game = Interpreter(gnarl.loads(spec(body)))
    state = game.step(game.reset(make_instance(PATH)), 2).state
    with pytest.raises(IllegalPick, match="node 2 is not allowed in phase pick"):
        game.step(state, 2)
    with pytest.raises(IllegalPick, match="no node 4"):
        game.step(state, 4)


def test_phases_cycle_and_bind_their_picks() -> None:
    body = (
        "phase a(u)\nphase b(v)\n  allow edge(u, v)\nphase c(w)\n  allow edge(v, w) and w != u\n"
        "  update\n    hit[w] := true\nobjective it = count(x in nodes where x == last(b))\n"
    )
    game = Interpreter(gnarl.loads(spec(body)))
    state = game.reset(make_instance(PATH))
    phases = []
    for pick in (0, 1, 2):
        phases.append((state.phase, state.picks))
        state = game.step(state, pick).state
    assert phases == [(0, ()), (1, (0,)), (2, (0, 1))]
    assert (state.phase, state.picks, state.last, state.rounds) == (0, (), (0, 1, 2), 1)


def test_step_leaves_the_old_state_alone() -> None:
    problem = shipped("bellman_ford")
    game = Interpreter(problem)
    state = game.reset(random_instance(problem, 0, 0, 6))
    before = {name: values.copy() for name, values in state.features.items()}
    rng = np.random.default_rng(0)
    later = state
    for _ in range(6):
        later = game.step(later, random_pick(game, later, rng)).state
    assert all(np.array_equal(state.features[name], values) for name, values in before.items())


# Rewards


REWARDS = (
    "phase pick(v)\n  allow not hit[v]\n  update\n    hit[v] := true\n"
    "reward gain potential count(x in nodes where hit[x]) / n\n"
    "reward end terminal if correct then 1 else 0\nreward toll step -1\n"
    "correct forall x in nodes: hit[x]\n"
)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("gain", [0.25] * 4), ("end", [0, 0, 0, 1]), ("toll", [-1] * 4), (None, [0.25] * 4)],
)
def test_kinds_of_reward(name: str | None, wanted: list[float]) -> None:
    game = Interpreter(gnarl.loads(spec(REWARDS)), name)
    state = game.reset(make_instance(PATH))
    paid = []
    for pick in (0, 1, 2, 3):
        moved = game.step(state, pick)
        state = moved.state
        paid.append(moved.reward)
    assert paid == wanted


def test_an_unknown_reward_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="gain, end, toll"):
        Interpreter(gnarl.loads(spec(REWARDS)), "profit")


@pytest.mark.parametrize("name", ["tsp", "tsp_insertion", "mvc", "rgc"])
def test_rewards_telescope_to_the_objective(name: str) -> None:
    problem = shipped(name)
    game = Interpreter(problem)
    for number in range(5):
        rng = np.random.default_rng(number)
        state = start = game.reset(random_instance(problem, 4, number, 6))
        total = 0.0
        while state.ended is None:
            moved = game.step(state, random_pick(game, state, rng))
            state, total = moved.state, total + moved.reward
        assert total == pytest.approx(game.objective(state) - game.objective(start))
        assert game.valid(state)


# Experts and observations


def test_alternatives_ties_and_second_criteria() -> None:
    body = (
        "phase pick(v)\n  allow not hit[v]\n  update\n    hit[v] := true\n"
        "expert one\n  pick: uniform v where degree(v) > 5\n"
        "        else uniform v minimising degree(v)\n"
        "expert two\n"
        "  pick: uniform v maximising degree(v), count(y in neighbors(v) where hit[y])\n"
        "expert none\n  pick: uniform v where degree(v) > 5\n"
    )
    game = Interpreter(gnarl.loads(spec(body)))
    state = game.reset(make_instance(PATH))
    assert game.expert(state).tolist() == [0.5, 0, 0, 0.5]
    assert game.expert(state, "two").tolist() == [0, 0.5, 0.5, 0]
    assert game.expert(state, "none").tolist() == [0, 0, 0, 0]
    state = game.step(state, 0).state
    assert game.expert(state, "two").tolist() == [0, 1, 0, 0]


def test_derived_features_are_always_current_and_oracles_hidden() -> None:
    problem = shipped("mvc_rich")
    game = Interpreter(problem)
    state = game.reset(make_instance(PATH, w=np.array([0.5, 0.25, 0.25, 1.0])))
    seen = game.observation(state)
    assert set(seen) == {"w", "in_cover", "covered", "share", "spent"}
    assert seen["share"].tolist() == [0, 0, 0, 0]
    seen = game.observation(game.step(state, 1).state)
    assert seen["covered"][0, 1]
    assert seen["covered"][1, 0]
    assert not seen["covered"][2, 3]
    assert seen["share"].tolist() == [1, 1, 0.5, 0]
    assert float(seen["spent"]) == 0.125


def test_oracles_are_solved_once_and_lazily() -> None:
    problem = shipped("mvc")
    game = Interpreter(problem)
    state = game.reset(make_instance(PATH, w=np.ones(4)))
    assert state.episode.oracles == {}
    game.expert(state)
    solved = state.episode.oracles["best"]
    state = game.step(state, 1).state
    game.expert(state)
    assert state.episode.oracles["best"] is solved
