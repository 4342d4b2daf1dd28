"""A function on numbers is one row of the table of operators; every backend reads that table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from duel import Duel, play
from random_specs.generator import instances_for

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Const
from gnarl_compiler.ir.verify import verify_program
from gnarl_compiler.lower.program import lower_problem
from gnarl_dsl import model
from gnarl_dsl.language.operators import OPERATORS, Operator
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NUMBER
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_runtime.training.boundary.slopes import Traced, slopes_of, traced

SPEC = """gnarl 1
problem roots
graph undirected
features
  w  input    node     scalar  ~ uniform(0, 1)
  d  state    node(x)  scalar  = abs(w[x])
  e  derived  node(x)  scalar  = abs(d[x] + w[x]) / 2
phase pick(v)
  allow abs(d[v]) < 3
  update
    d[v] := d[v] + abs(w[v] + 2)
horizon n rounds
objective total = sum(x in nodes: abs(d[x])) - max(u in nodes: abs(w[u]))
expert eager = greedy total
"""

ROOT = Operator(
    *("sqrt", 1, lambda x: math.sqrt(max(x, 0.0)), "np.sqrt(max({0}, 0.0))"),
    bound=lambda operand: max(1.0, operand.bound),
    called=True,
)


@pytest.fixture
def with_roots(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """A problem that uses a function which the language does not have otherwise."""
    monkeypatch.setitem(OPERATORS, "sqrt", ROOT)  # type: ignore[arg-type]
    problem = rooted(gnarl.loads(SPEC))
    assert isinstance(problem, Problem)
    return problem


def rooted(value: Any) -> Any:
    """The same problem with square roots instead of absolute values."""
    match value:
        case tuple() if not hasattr(value, "_fields"):
            return tuple(map(rooted, value))
        case model.Model():
            changed = {name: rooted(item) for name, item in vars(value).items()}
            if isinstance(value, model.Unary) and value.op == "abs":
                changed["op"] = "sqrt"
            return value.model_copy(update=changed)
        case _:
            return value


def test_kernels_and_interpreter_agree_on_a_new_row(with_roots: Problem) -> None:
    assert "np.sqrt(max(" in generate(with_roots).python
    rng = np.random.default_rng(0)
    duel = Duel(with_roots, instances_for(with_roots, rng))
    play(duel, rng, 4)
    assert duel.checks > 0


def test_a_new_row_is_folded(with_roots: Problem) -> None:
    build = Builder(with_roots)
    nine = build.add(Const(9.0, NUMBER))
    assert build.ops[build.add(ir.Unary("sqrt", nine))] == Const(3.0, NUMBER)


def test_a_new_row_has_slopes(with_roots: Problem) -> None:
    cell = ("w", (0,))
    found = traced(ROOT, (Traced(4.0, {cell: 1.0}),))
    assert found == 2.0
    assert slopes_of(found)[cell] == pytest.approx(0.25)
    assert slopes_of(traced(OPERATORS["ceil"], (Traced(4.2, {cell: 1.0}),))) == {}


def test_an_operator_that_is_not_in_the_table_is_refused() -> None:
    problem = rooted(gnarl.loads(SPEC))
    with pytest.raises(KeyError):
        lower_problem(problem)


@pytest.mark.parametrize(
    "strange", [ir.Binary("hypot", 0, 0), ir.Unary("max", 0), ir.Compare("<>", 0, 0)]
)
def test_the_verifier_knows_the_table(strange: ir.Op) -> None:
    problem = gnarl.loads(SPEC)
    program = lower_problem(problem)
    at = next(k for k, op in enumerate(program.ops) if isinstance(op, ir.Unary))
    number = program.ops[at].operand  # type: ignore[union-attr]
    moved = ir.map_operands(strange, lambda ref: number)
    ops = (*program.ops[:at], moved, *program.ops[at + 1 :])
    with pytest.raises(InternalError, match="is no"):
        verify_program(replace(program, ops=ops), problem)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_row_is_total(name: str) -> None:
    operator, odd = OPERATORS[name], (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf)
    for left in odd:
        for right in odd if operator.arity == 2 else (0.0,):
            value = operator.evaluate(*(left, right)[: operator.arity])
            assert not math.isnan(value)
