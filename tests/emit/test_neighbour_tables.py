"""Terms over neighbours, kept from write to write, equal what the interpreter finds anew."""

from __future__ import annotations

import numpy as np
import pytest
from duel import Duel, play, rewards_of
from random_specs.generator import random_instance

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.passes.costs import clauses
from gnarl_dsl.model import Problem

SPEC = """gnarl 1
problem near
graph {graph}
features
  w     input  node     scalar    ~ given
  A     input  edge     scalar    ~ given
  on    state  node     mask      = false
  d     state  node     scalar    = 0
  to    state  node(x)  pointer   = x
let lit(x)   = on[x] or exists y in {near}(x): on[y]
let least(x) = min(y in {back}(x) where on[y]: d[y] + A[x, y] + w[x])
let pull(x)  = sum(y in {near}(x): A[to[y], y]) - d[x]
phase pick(v)
  allow not on[v] or d[v] < 2 or exists y in {back}(v): d[y] > d[v]
  update
    on[v] := not on[v]
    d[v]  := d[v] + w[v] / 3 - 0.3
    to[v] := {other}
horizon 4 * n rounds
terminate when (forall x in nodes: lit(x)) and count(x in nodes where least(x) < inf) == n
reward pulled potential max(x in nodes: pull(x)) + count((x, y) in edges where lit(x) and lit(y))
reward known  potential count(x in nodes where min(d[x], least(x)) > 0)
correct forall x in nodes: lit(x)
expert best
  pick: uniform v where lit(v) minimising least(v)
        else uniform v maximising pull(v)
"""
WAYS = {
    "undirected": ("neighbors", "neighbors"),
    "directed": ("successors", "predecessors"),
    "undirected complete": ("neighbors", "neighbors"),
}


def written(graph: str, other: str = "v") -> Problem:
    near, back = WAYS[graph]
    return gnarl.loads(SPEC.format(graph=graph, near=near, back=back, other=other))


@pytest.mark.parametrize(
    "other", ["v", "if on[v] then any argmin(y in nodes: w[y]) otherwise v else v"]
)
@pytest.mark.parametrize("graph", WAYS)
def test_terms_that_are_kept_equal_those_that_are_found(graph: str, other: str) -> None:
    problem = written(graph, other)
    rng = np.random.default_rng(12)
    for reward in rewards_of(problem):
        assert any(code.near for code in generate(problem, reward).program.kept)
        instances = [random_instance(problem, nodes, rng) for nodes in (1, 2, 5, 8, 6)]
        play(Duel(problem, instances, reward), rng, 24)


def test_what_masks_and_ends_cost_where_neighbours_are_kept() -> None:
    program = generate(written("undirected"), "known").program
    found = {clause.name: str(clause.cost) for clause in clauses(program)}
    assert found["mask of pick"] == "1"
    assert "n" not in found["terminate"]
    assert "n" not in found["update of pick"]
    assert "d d" in found["update of pick"]


def test_a_graph_that_changes_has_no_such_tables() -> None:
    text = SPEC.format(graph="undirected mutable", near="neighbors", back="neighbors", other="v")
    lines = [line.replace("+ A[x, y] ", "") for line in text.splitlines()]
    lines = [line.replace("A[to[y], y]", "d[to[y]]") for line in lines if " A  " not in line]
    program = generate(gnarl.loads("\n".join([*lines, ""])), "known").program
    assert not any(code.near for code in program.kept)


def test_terms_that_go_further_than_to_neighbours_are_found_anew() -> None:
    text = SPEC.format(graph="undirected", near="neighbors", back="neighbors", other="v")
    far = text.replace("exists y in neighbors(x): on[y]", "exists y in neighbors(x): on[to[y]]")
    before, after = (generate(gnarl.loads(it), "known").program for it in (text, far))
    assert sum(bool(code.near) for code in after.kept) < sum(
        bool(code.near) for code in before.kept
    )
