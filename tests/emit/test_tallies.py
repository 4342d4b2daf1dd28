"""Counts, sums and masks that writes keep up to date equal what the interpreter finds anew."""

from __future__ import annotations

import re

import numpy as np
import pytest
from duel import Duel, play, rewards_of
from hypothesis import given
from hypothesis import strategies as st
from random_specs.generator import instances_for, random_instance, seeded_spec
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.emit.imports import helpers_apart
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.passes.costs import Costs, clauses
from gnarl_compiler.support.sums import grain_of
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem

SPEC = """gnarl 1
problem kept
graph {graph}
features
  w     input  node     scalar    ~ given
  s     input  node     mask_one  ~ any_node
  A     input  edge     scalar    ~ given
  on    state  node     mask      = false
  d     state  node     scalar    = 0
  to    state  node(x)  pointer   = x
  used  state  edge     mask      = false
{phases}
horizon 3 * n rounds
terminate when count(x in nodes where on[x]) > 4 and forall (x, y) in edges: on[x] or on[y]
objective weight = sum(x in nodes where on[x]: w[x])
objective way    = sum(x in nodes: A[x, to[x]] * (if on[x] then 2 else 1))
objective load   = sum(x in nodes where not on[x]: d[x])
objective taken  = sum((x, y) in edges where used[x, y]: A[x, y]) - count(x in nodes where on[x])
objective cut    = count((x, y) in edges where on[x] != on[y] and d[x] + d[y] > 0)
objective some   = if exists (x, y) in edges: used[x, y] and d[x] ~= d[y] then n else m
expert eager = greedy weight
"""
ONE_BY_ONE = """
phase pick(v)
  allow on[v] or s[v] or on[s]
  update
    on[v] := not on[v]
    d[v]  := d[v] * 1.1 + w[v]
    to[v] := s
    if edge(s, v)
      used[s, v] := not used[s, v]
"""
ALL_AT_ONCE = """
phase from(u)
  allow not on[u] or d[u] < 100
phase into(v)
  update
    for x in {near}(v)
      d[x]  := d[x] + w[x] / 3
      to[x] := to[to[x]]
      on[x] := on[v] != on[x]
    for x in {near}(u) where on[x]
      used[u, x] := true
    to[u] := v
    on[u] := true
    on[v] := on[u] and w[v] > 0.5
"""
GRAPHS = ["undirected", "directed", "undirected complete"]


def written(graph: str, phases: str) -> Problem:
    near = "successors" if graph == "directed" else "neighbors"
    return gnarl.loads(SPEC.format(graph=graph, phases=phases.format(near=near)))


@pytest.mark.parametrize("phases", [ONE_BY_ONE, ALL_AT_ONCE], ids=["one by one", "all at once"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_what_is_kept_equals_what_is_found(graph: str, phases: str) -> None:
    problem = written(graph, phases)
    rng = np.random.default_rng(5)
    for reward in rewards_of(problem):
        play(Duel(problem, instances_for(problem, rng), reward), rng, 12)


def test_a_graph_that_changes_under_counts_of_nodes() -> None:
    edges = "    if v != s\n      edge(v, s) := not edge(v, s)\n"
    phases = ONE_BY_ONE.replace("    if edge(s, v)\n      used[s, v] := not used[s, v]\n", edges)
    text = SPEC.format(graph="undirected mutable", phases=phases)
    lines = [line for line in text.splitlines() if "A" not in line and "used" not in line]
    problem = gnarl.loads("\n".join([*lines, ""]))
    program = generate(problem).program
    assert [share.cells for code in program.tallies for share in code.shares] == ["on", "on"]
    rng = np.random.default_rng(6)
    for _ in range(3):
        play(Duel(problem, instances_for(problem, rng)), rng, 15)


def test_which_clauses_are_kept() -> None:
    program = generate(written("undirected", ONE_BY_ONE)).program
    assert program.phases[0].mask is not None
    assert program.phases[0].mask.follows == ("on",)
    assert [name for name, _ in program.phases[0].mask.turns] == ["on"]
    kept = [program.ops[code.value] for code in program.tallies]
    assert {op.op for op in kept if isinstance(op, ir.Reduce)} == {"count", "sum"}
    assert any(op.domains[0].kind == "edges" for op in kept if isinstance(op, ir.Reduce))


@pytest.mark.parametrize(
    "clause",
    [
        "forall x in nodes: on[x] or on[to[x]]",  # reads where a pointer leads
        "forall x in nodes: on[x] or x == last(pick)",  # changes without a write
    ],
)
def test_what_reads_more_than_its_cells_is_found_anew(clause: str) -> None:
    text = SPEC.format(graph="undirected", phases=ONE_BY_ONE)
    lines = [line for line in text.splitlines() if not line.startswith(("objective", "expert"))]
    lines = [f"terminate when {clause}" if "terminate" in line else line for line in lines]
    problem = gnarl.loads("\n".join([*lines, "correct true", "reward no step 0", ""]))
    assert not generate(problem).program.tallies
    rng = np.random.default_rng(7)
    play(Duel(problem, instances_for(problem, rng)), rng, 6)


def test_a_loop_over_all_nodes_would_not_be_repaid() -> None:
    loop = "\nphase pick(v)\n  update\n    for x in nodes\n      on[x] := w[x] > w[v]\n"
    program = generate(written("undirected", loop)).program
    assert not any(share.cells == "on" for code in program.tallies for share in code.shares)
    assert program.phases[0].mask is None


# Sums


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) > 1e-290))
def test_the_grain_of_a_number(value: float) -> None:
    grain = getattr(grain_of, "py_func", grain_of)(value)  # compiled, it is for kernels only
    if abs(value) < 2.0**50:
        assert (value * grain).is_integer()
        assert not (value * grain / 2).is_integer()


def test_sums_that_would_round_are_added_up_in_order() -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1."""
    problem = written("undirected", ONE_BY_ONE)
    rng = np.random.default_rng(8)
    instances = [random_instance(problem, 6, rng) for _ in range(3)]
    duel = Duel(problem, instances, "load")
    play(duel, rng, 15)
    number = next(
        code.number
        for code in generate(problem, "load").program.tallies
        if any(share.cells == "d" for share in code.shares)
    )
    loose = duel.kernels.arrays[f"top{number}"] * duel.kernels.arrays[f"grain{number}"] * 6
    assert (loose > 2.0**53).any()


def test_sums_of_drawn_numbers_add_up_exactly() -> None:
    venv = gnarl.make_vec("mvc", num_envs=8, nodes=16, seed=0, pool=8)
    rng = np.random.default_rng(9)
    venv.reset(seed=0)
    for _ in range(6):
        legal = venv.action_masks()
        venv.step(np.array([rng.choice(np.flatnonzero(row)) for row in legal]))
    arrays = venv.engine.kernels.arrays
    assert (arrays["top0"] * arrays["grain0"] * 16 <= 2.0**53).all()


# Costs


def test_what_a_round_costs() -> None:
    program = generate(shipped("mvc")).program
    found = {clause.name: str(clause.cost) for clause in clauses(program)}
    assert found["mask of add"] == "1"
    assert found["terminate"] == "2"
    assert "n" not in found["reward cover"]
    assert "d" in found["update of add"]
    assert "n" not in found["update of add"]


def test_costs_add_up() -> None:
    program = generate(shipped("bfs")).program
    costs = Costs(program)
    twice = costs.of(program.horizon, program.horizon)
    assert twice == costs.of(program.horizon).times(2)
    assert str(costs.of()) == "0"


@pytest.mark.parametrize("seed", range(20, 40))
def test_what_is_inlined_calls_nothing_that_makes_arrays(seed: int) -> None:
    problem = check_text(seeded_spec(seed)).problem
    if problem is None:
        pytest.skip("a spec with a mistake")
    functions = re.split(r"\n\n\n(?=@)", generate(problem).python)
    makers = {re.findall(r"def (\w+)", text)[0] for text in functions if text.startswith("@njit")}
    for text in functions:
        if text.startswith("@inlined"):
            called = set(re.findall(r"(\w+)\(", text.split("\n", 2)[2]))
            assert not called & (makers | helpers_apart() | {"zeros"}), text


def test_helpers_say_whether_they_may_be_inlined() -> None:
    assert helpers_apart() >= {"steps_inside", "components_of", "roots_of", "called_back"}
    assert not helpers_apart() & {"joined", "edge_number", "edge_node", "plus"}
