"""Columns that compare numbers along messages: as by hand, exact, and only where asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from batch_cases import loaded, visited
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.language.operators import RELATIVE
from gnarl_dsl.levels.levels import Use
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.comparable import ComparedColumn, EndTerm, Term
from gnarl_runtime.batch.compare_kernels import compare
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.batch.packed import Packed
from gnarl_runtime.batch.reading import PLAIN, reading_of
from gnarl_runtime.batch.signature import Signature, is_measured, signature_of
from gnarl_runtime.network.policy import Policy, PolicyConfig

# Directed, with a number per pair and two per node, all of one unit.
MIXED = """
gnarl 1
problem mixed
  "Numbers of one unit everywhere."
graph directed
features
  w     input  edge  scalar  ~ uniform(0, 1)
  gap   input  pair  scalar  ~ uniform(0, 1)
  near  state  node  scalar  = 0
  far   state  node  scalar  = 0
phase tail(u)
phase head(v)
  allow v != u
  update
    near[v] := if edge(u, v) then near[u] + w[u, v] else near[u] + gap[u, v]
    far[v]  := max(far[v], near[v])
horizon n rounds
objective least = -sum(x in nodes: far[x])
expert first
  tail: uniform u minimising near[u]
  head: uniform v where near[u] + gap[u, v] < far[v]
instances er
  train 10 er(n = 6, p = 0.4)
  valid 10 er(n = 6, p = 0.4)
  test  10 er(n = 6, p = 0.4)
"""
CASES = [("bellman_ford", "sticky"), ("mst_prim", "prim"), ("dijkstra", None), ("mixed", "first")]


def problem_of(name: str) -> Problem:
    return gnarl.loads(MIXED) if name == "mixed" else gnarl.load(name)


def both(problem: Problem, expert: str | None) -> tuple[Signature, Signature]:
    reading = reading_of(problem, Use((expert or problem.experts[0].name,)))
    return signature_of(problem, False, reading), signature_of(problem, False, reading, True)


def by_hand(problem: Problem, state: State, packed: Packed, column: ComparedColumn) -> list[float]:
    """A column of a state, from the definition."""
    values = Interpreter(problem).observation(state)

    def of(term: Term, u: int, v: int) -> float | None:
        if isinstance(term, EndTerm):
            return float(values[term.feature][u if term.source else v])
        u, v = (v, u) if term.against else (u, v)
        known = problem.feature(term.feature).place.name != "edge" or bool(state.adjacency[u, v])
        return float(values[term.feature][u, v]) if known else None

    found = []
    for u, v in zip(packed.src, packed.dst, strict=True):
        terms = [of(term, u, v) for term in (*column.left, column.right)]
        if any(term is None for term in terms):
            found.append(0.0)
            continue
        *left, right = (term for term in terms if term is not None)
        gap, most = sum(left) - right, max(abs(sum(left)), abs(right))
        found.append(0.0 if abs(gap) <= column.close * most else float(np.sign(gap)))
    return found


def parts(signature: Signature) -> tuple[list[str], list[ComparedColumn]]:
    """The names of columns that are read as they are, and the comparisons after them."""
    compared = [column for column in signature.edge if isinstance(column, ComparedColumn)]
    return [c.name for c in signature.edge[: len(signature.edge) - len(compared)]], compared


@pytest.mark.parametrize(("name", "expert"), CASES)
def test_comparisons_against_the_definition(name: str, expert: str | None) -> None:
    problem = problem_of(name)
    plain, asked = both(problem, expert)
    names, compared = parts(asked)
    kept = [place for place, column in enumerate(plain.edge) if column.name in names]
    assert compared
    assert len(kept) == len(names)
    seen = set()
    for state in visited(problem, 7, seed=3, steps=14):
        batch = loaded(problem, [state], 8)
        one, two = pack(batch, [0], plain), pack(batch, [0], asked)
        np.testing.assert_array_equal(two.edge_raw[:, : len(kept)], one.edge_raw[:, kept])
        np.testing.assert_array_equal(two.x, one.x)
        for position, column in enumerate(compared, len(kept)):
            wanted = by_hand(problem, state, two, column)
            np.testing.assert_array_equal(two.edge_raw[:, position], wanted, column.name)
            seen |= {*wanted}
    assert seen == {-1.0, 0.0, 1.0}


def test_which_numbers_meet() -> None:
    _, compared = parts(both(shipped("bellman_ford"), "sticky")[1])
    assert [column.name for column in compared] == [
        "d[src] ? d[dst]",
        "A[src, dst] ? d[src]",
        "A[src, dst] ? d[dst]",
        "d[src] + A[src, dst] ? d[dst]",
        "d[dst] + A[dst, src] ? d[src]",
    ]
    _, compared = parts(both(shipped("mst_prim"), "prim")[1])
    assert [column.name for column in compared] == [
        "key[src] ? key[dst]",
        "A[src, dst] ? key[src]",
        "A[src, dst] ? key[dst]",
    ]


@pytest.mark.parametrize("name", [*SHIPPED, "tsp_local"])
def test_what_meets_nothing_is_measured_as_before(name: str) -> None:
    """Without numbers of nodes there is nothing to compare along a message."""
    problem = shipped(name)
    plain, asked = both(problem, None)
    if not parts(asked)[1]:
        assert asked == plain
    assert signature_of(problem) == replace(plain, reading=PLAIN)


@pytest.mark.parametrize(("name", "expert"), CASES)
def test_how_large_compared_numbers_are_is_not_seen(name: str, expert: str | None) -> None:
    problem = problem_of(name)
    _, asked = both(problem, expert)
    torch.manual_seed(1)
    config = PolicyConfig(width=32, levels=True, compares=True)
    policy = Policy(problem, config, reading=asked.reading).eval()
    assert policy.signature == asked
    state = list(visited(problem, 7, seed=3, steps=14))[-1]
    packed = pack(loaded(problem, [state], 8), [0], asked)
    with torch.inference_mode():
        before = policy(packed).logits.clone()
        for place, column in enumerate(asked.node):
            if not is_measured(column):
                packed.x[:, place] *= 1000
        assert torch.equal(policy(packed).logits, before)


@pytest.mark.parametrize(
    ("left", "right", "close", "wanted"),
    [
        (1.0, 1.0 + 1e-15, 0.0, -1),
        (1.0, 1.0 + 1e-15, RELATIVE, 0),
        (1e-9, 3e-9, RELATIVE, -1),
        (np.inf, np.inf, RELATIVE, 0),
        (np.inf, 1.0, RELATIVE, 1),
        (np.nan, 1.0, RELATIVE, 0),
    ],
)
def test_what_is_equal(left: float, right: float, close: float, wanted: int) -> None:
    out = np.full(1, 9, np.float32)
    compare(np.array([left]), np.array([right]), close, out)
    assert out[0] == wanted


def test_comparisons_need_units() -> None:
    with pytest.raises(ValueError, match="compares: expected false without levels = true"):
        PolicyConfig(compares=True)
