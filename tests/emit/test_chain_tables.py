"""What chains of pointers come to, kept from write to write, equals what the interpreter finds."""

from __future__ import annotations

import numpy as np
import pytest
from duel import Duel, play, rewards_of
from random_specs.generator import random_instance
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program
from gnarl_compiler.passes.costs import clauses
from gnarl_dsl.model import Problem

SPEC = """gnarl 1
problem chains
graph {graph}
features
  s     input  node     mask_one  ~ any_node
  w     input  node     scalar    ~ given
  A     input  edge     scalar    ~ given
  to    state  node(x)  pointer   = {first}
  on    state  node     mask      = false
let below(x) = depth(to, x)
let far(x)   = path_cost(to, A, x, s)
phase from(u)
  allow on[u] or below(u) < 3
phase into(v)
  update
    to[u] := v
    on[v] := not on[v]
{more}
horizon 6 * n rounds
terminate when (forall x in nodes: far(x) < inf) and count(x in nodes where below(x) < inf) > 3
let most     = max(x in nodes where on[x]: far(x))
reward near  potential count(x in nodes where depth(to, x, s) <= 2) - most
let some     = if exists x in nodes: far(x) > 2 then 1 else 0
reward trees potential count(x in nodes where below(x) == 0) + some
correct forall x in nodes: far(x) < 5
expert low
  from: uniform u where below(u) > 0 minimising far(u)
        else uniform u maximising below(u)
  into: uniform v where far(v) < inf
"""
MORE = """    to[v] := to[to[u]]
    if on[u]
      to[s] := u
    else
      to[u] := u
"""
GRAPHS = ["undirected", "directed", "undirected complete"]


def written(graph: str, first: str = "x", more: str = "") -> Problem:
    return gnarl.loads(SPEC.format(graph=graph, first=first, more=more))


def chains(program: Program) -> list[ir.Chase]:
    found = (program.chain_of(code) for code in program.kept)
    return [chain for chain in found if chain is not None]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("more", ["", MORE], ids=["one write", "several"])
@pytest.mark.parametrize("first", ["x", "s", "any argmax(y in nodes: w[y]) otherwise x"])
def test_chains_that_are_kept_equal_those_that_are_followed(
    graph: str, more: str, first: str
) -> None:
    problem = written(graph, first, more)
    rng = np.random.default_rng(11)
    for reward in rewards_of(problem):
        instances = [random_instance(problem, nodes, rng) for nodes in (1, 2, 5, 8, 6)]
        play(Duel(problem, instances, reward), rng, 36)


def test_which_chains_are_kept() -> None:
    program = generate(written("undirected"), "near").program
    assert sorted((it.op, it.target is None) for it in chains(program)) == [
        ("depth", False),
        ("depth", True),
        ("path_cost", False),
    ]
    followed = {share.cells for code in program.tallies for share in code.shares}
    assert {number for number in followed if isinstance(number, int)}


def test_chains_that_all_writes_move_are_followed_anew() -> None:
    more = "    for x in nodes\n      to[x] := if w[x] > w[v] then v else u\n"
    assert not chains(generate(written("undirected", more=more)).program)


def test_a_chain_whose_end_moves_is_followed_anew() -> None:
    text = SPEC.format(graph="undirected", first="x", more="").replace("A, x, s)", "A, x, to[s])")
    program = generate(gnarl.loads(text), "trees").program
    assert [it.op for it in chains(program)] == ["depth"]


def test_steps_of_bfs_do_not_grow_with_the_graph() -> None:
    program = generate(shipped("bfs")).program
    found = {clause.name: str(clause.cost) for clause in clauses(program)}
    assert found["reward matches"] == "3"
    assert "s" in found["update of to"]
    assert "n" not in found["update of to"]
