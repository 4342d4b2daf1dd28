"""The IR and what is made of it: folding, sharing, hoisting, pruning, and what the verifier sees.

`python tests/ir/test_ir.py --update` rewrites the files in tests/golden.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

import numpy as np
import pytest
from duel import Duel, play
from house import TESTS
from random_specs.generator import instances_for
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.build.artifact import helper_files
from gnarl_compiler.build.generate import generate
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.emit.abi import Role, read_abi
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Program, Unsupported
from gnarl_compiler.lower.program import lower_problem
from gnarl_compiler.passes.pruning import Mode
from gnarl_compiler.support import edges
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER, TRUTH

GOLDEN = TESTS / "golden"
GOLDEN_SPECS = ("bfs", "mvc_rich", "rgc")


def spec(body: str, features: str = "", graph: str = "undirected") -> Problem:
    """A problem around the part that a test is about."""
    lines = "".join(f"  {line.strip()}\n" for line in features.strip().splitlines())
    tail = "" if "phase" in body else "phase pick(v)\n  update\n    d[v] := 1\n"
    return gnarl.loads(
        f"gnarl 1\nproblem t\ngraph {graph}\nfeatures\n  w  input  node  scalar  ~ uniform(0, 1)\n"
        f"  d  state  node  scalar  = 0\n{lines}{body}{tail}horizon n rounds\n"
        + ("" if "objective" in body else "objective it = sum(x in nodes: d[x])\n")
    )


def function(text: str, name: str) -> str:
    """The text of one generated function."""
    found = re.search(rf"^def {name}\(.*?(?=\n\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"there is no function {name}"
    return found.group()


def count(program: Program, kind: type) -> int:
    return sum(isinstance(op, kind) for op in program.ops)


def agrees(problem: Problem) -> None:
    """The generated code does what the interpreter does."""
    rng = np.random.default_rng(0)
    play(Duel(problem, instances_for(problem, rng)), rng, 4)


# Golden files


def golden(name: str) -> dict[Path, str]:
    made = generate(shipped(name))
    return {GOLDEN / f"{name}.ir.txt": made.ir, GOLDEN / f"{name}.kernels.txt": made.python}


@pytest.mark.parametrize("name", GOLDEN_SPECS)
def test_golden_files(name: str) -> None:
    for path, text in golden(name).items():
        hint = f"{path.name} is out of date: python tests/ir/test_ir.py --update"
        assert path.read_text("utf-8") == text, hint


# Imports


@pytest.mark.parametrize("name", SHIPPED)
def test_a_module_imports_what_it_uses(name: str) -> None:
    text = generate(shipped(name)).python
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in found for alias in node.names]
    code = text[text.index("ABI = ") :]
    assert len(set(names)) == len(names)
    assert all(re.search(rf"\b{name}\b", code) for name in names)


def test_words_in_texts_are_not_imported() -> None:
    body = "phase joined(v)\n  update\n    d[v] := d[v] * 2\nexpert times\n  joined: uniform v\n"
    text = generate(spec(body)).python
    assert "joined" in text
    assert not re.search(r"import .*\b(joined|times|plus)\b", text)


def test_twins_are_part_of_the_toolchain() -> None:
    files = {str(path) for path in helper_files()}
    twins = [algorithm for algorithm in ALGORITHMS.values() if algorithm.twin is not None]
    assert {sys.modules[algorithm.module].__file__ for algorithm in twins} <= files
    assert edges.__file__ in files


# Folding and sharing


def test_constants_are_computed() -> None:
    build = Builder(shipped("bfs"))
    two, inf = (build.add(ir.Const(value, NUMBER)) for value in (2.0, float("inf")))
    assert build.ops[build.add(ir.Binary("*", two, two))] == ir.Const(4.0, NUMBER)
    assert build.ops[build.add(ir.Binary("-", inf, inf))] == ir.Const(0.0, NUMBER)
    assert build.ops[build.add(ir.Compare("~=", inf, inf))] == ir.Const(True, TRUTH)
    assert build.ops[build.add(ir.Unary("floor", two))] == ir.Const(2.0, NUMBER)


def test_logic_is_folded() -> None:
    build = Builder(shipped("bfs"))
    true, false = (build.add(ir.Const(value, TRUTH)) for value in (True, False))
    node = build.add(ir.Axis("x_0", NODE_VALUE))
    open_ = build.add(ir.Read("reach", (node,), 0))
    assert build.add(ir.Logic("and", (true, open_, open_))) == open_
    assert build.ops[build.add(ir.Logic("or", (open_, true)))] == ir.Const(True, TRUTH)
    assert build.add(ir.Select(false, true, open_)) == open_
    assert build.add(ir.Unary("not", build.add(ir.Unary("not", open_)))) == open_


def test_a_let_used_twice_is_one_operation() -> None:
    problem = spec("let s = sum(x in nodes: d[x])\nobjective it = s + s * s\nmetric m1 = s\n")
    assert count(lower_problem(problem), ir.Reduce) == 1
    text = function(generate(problem).python, "objective_it")
    assert text.count("total0(") == 1


def test_versions_keep_reads_apart() -> None:
    body = (
        "phase pick(v)\n  update\n    let before = sum(x in nodes: d[x])\n    d[v] := before + 1\n"
        "    d[v] := sum(x in nodes: d[x]) - before\n"
    )
    problem = spec(body)
    program = lower_problem(problem)
    assert {op.version for op in program.ops if isinstance(op, ir.Read)} == {0, 1}
    agrees(problem)


def test_an_edge_that_a_binder_went_along_is_known() -> None:
    body = "let near(x, y) = edge(x, y) and d[y] > w[x]\n"
    along = spec(body + "objective it = count(x in nodes, y in neighbors(x) where near(x, y))\n")
    across = spec(body + "objective it = count(x in nodes, y in nodes where near(x, y))\n")
    assert count(lower_problem(along), ir.HasEdge) == 0
    assert count(lower_problem(across), ir.HasEdge) == 1
    agrees(along)
    agrees(across)


def test_arithmetic_is_checked_only_where_it_may_have_no_value() -> None:
    body = (
        "objective it = sum(x in nodes: (d[x] + n) / 4)\n"
        "objective two = min(x in nodes: d[x]) - max(x in nodes: d[x])\nobjective three = 2 / n\n"
    )
    text = generate(spec(body)).python
    assert "/ 4.0" in function(text, "objective_it")
    assert "minus(" in function(text, "objective_two")
    assert "divide(2.0" in function(text, "objective_three")


# Hoisting


def test_input_only_values_are_computed_at_reset() -> None:
    body = "phase pick(v)\n  allow d[v] <= 2 * sum(x in nodes: w[x])\n  update\n    d[v] := w[v]\n"
    problem = spec(body)
    made = generate(problem)
    assert [code.axis for code in made.program.kept] == [None]
    assert "v_x_0" in function(made.python, "reset")
    assert "kept0[b]" in function(made.python, "fill_legal")
    assert "v_x_0" not in function(made.python, "fill_legal")
    agrees(problem)


def test_values_per_node_are_kept_in_a_table() -> None:
    body = "objective it = sum(x in nodes where d[x] > 0: max(y in neighbors(x): w[y]))\n"
    problem = spec(body)
    made = generate(problem)
    assert [code.axis for code in made.program.kept] == ["x_0"]
    assert "kept0[b, v_x_0]" in function(made.python, "objective_it")
    agrees(problem)


def test_values_on_a_mutable_graph_are_not_kept() -> None:
    body = (
        "phase one(u)\nphase two(v)\n  update\n    if u != v\n      edge(u, v) := true\n"
        "    d[v] := w[v]\nobjective it = sum(x in nodes, y in neighbors(x): w[y])\n"
    )
    problem = spec(body, graph="undirected mutable")
    assert not generate(problem).program.kept
    agrees(problem)


WEB = """
features
  A     input  edge     scalar   ~ given
  next  state  node(x)  pointer  = x
  seen  state  node     mask     = false
let length = sum(x in nodes: A[x, next[x]] * (if seen[x] then 2 else 1))
phase here(u)
phase there(v)
  update
{update}
horizon 4 * n rounds
terminate when length > 40
objective it = -length
expert best = greedy it
expert far
  here: uniform u maximising A[u, next[u]]
  there: uniform v maximising path_cost(next, A, v)
"""
ONE_BY_ONE = """
    seen[v] := not seen[v]
    next[u] := next[v]
    next[v] := u
"""
ALL_AT_ONCE = """
    for x in nodes where x != u
      next[x] := next[next[x]]
    for x in neighbors(v)
      seen[x] := next[x] == u
      next[x] := v
"""


@pytest.mark.parametrize("update", [ONE_BY_ONE, ALL_AT_ONCE], ids=["one by one", "all at once"])
@pytest.mark.parametrize("graph", ["undirected", "directed", "undirected complete"])
def test_terms_of_one_node_follow_the_writes(update: str, graph: str) -> None:
    body = WEB.format(update=update.strip("\n"))
    near = "successors" if graph == "directed" else "neighbors"
    text = f"gnarl 1\nproblem web\ngraph {graph}\n{body}".replace("neighbors", near)
    problem = gnarl.loads(text)
    program = generate(problem).program
    live = {code.follows for code in program.kept}
    assert ("next", "seen") in live  # the summand
    rng = np.random.default_rng(3)
    duel = Duel(problem, instances_for(problem, rng))
    assert any(f"kept{code.number}" in duel.kernels.arrays for code in program.kept)
    play(duel, rng, 12)


def test_terms_that_read_other_nodes_are_not_tabulated() -> None:
    body = "objective it = sum(x in nodes: A[x, next[next[x]]])\n"
    features = "A  input  edge  scalar  ~ given\nnext  state  node(x)  pointer  = x"
    phase = "phase one(u)\nphase two(v)\n  update\n    next[v] := u\n"
    problem = spec(body + phase, features)
    assert not generate(problem).program.kept
    agrees(problem)


def test_chains_are_followed_once_for_all_nodes() -> None:
    body = (
        "phase one(u)\nphase two(v)\n  update\n"
        "    for x in nodes\n      next[x] := if x == v then u else next[x]\n"
        "objective it = sum(x in nodes where depth(next, x) < n: path_cost(next, A, x))\n"
        "objective loops = count(x in nodes where on_cycle(next, x) and depth(next, x) > n)\n"
        "objective pairs = count(x in nodes, y in nodes where depth(next, x, y) == 2)\n"
    )
    features = "A  input  edge  scalar  ~ given\nnext  state  node(x)  pointer  = x"
    problem = spec(body, features)
    text = generate(problem).python
    loop = function(text, "objective_it").splitlines()
    memo, first = (
        next(i for i, line in enumerate(loop) if what in line) for what in ("] = 0", "for v_x")
    )
    assert memo < first  # emptied before the loop over nodes, not in it
    rng = np.random.default_rng(5)
    play(Duel(problem, instances_for(problem, rng)), rng, 20)


def test_what_rules_out_an_outer_node_is_asked_in_the_outer_loop() -> None:
    body = "valid forall (x, y) in edges: d[x] > 0 or d[y] > 0\n"
    lines = function(generate(spec(body)).python, "judge_valid").splitlines()
    tests = [line for line in lines if "s_d[b, v_x_0]" in line]
    inner = next(line for line in lines if "for arc" in line)
    assert len(tests) == 1
    assert lines.index(tests[0]) < lines.index(inner)


def test_what_a_loop_does_not_change_is_computed_before_it() -> None:
    problem = spec("objective it = count(x in nodes where d[x] >= max(y in nodes: d[y]))\n")
    lines = function(generate(problem).python, "objective_it").splitlines()
    starts = [line for line in lines if "for v_" in line]
    assert len({len(line) - len(line.lstrip()) for line in starts}) == 1  # side by side


# Loops that write


def test_a_loop_that_reads_what_it_writes_is_buffered() -> None:
    shift = (
        "phase pick(v)\n  update\n    for x in nodes\n      d[x] := sum(y in neighbors(x): {})\n"
    )
    assert "np.empty" in generate(spec(shift.format("d[y] + 1"))).python
    assert "np.empty" not in generate(spec(shift.format("w[y] + 1"))).python
    agrees(spec(shift.format("d[y] + 1")))
    agrees(spec(shift.format("w[y] + 1")))


def test_branches_that_a_param_empties_disappear() -> None:
    body = (
        "param style : plain | fancy = plain\nphase pick(v)\n  update\n    if w[v] > 0\n"
        "      if style == fancy\n        d[v] := 2\n    for x in nodes\n"
        "      if style == fancy\n        d[x] := 3\n"
    )
    problem = spec(body)
    assert lower_problem(problem).phases[0].update == ()
    agrees(problem)


# Pruning


def test_experts_and_their_oracles_are_left_out() -> None:
    problem = shipped("mvc")
    text = generate(problem, mode=Mode(experts=(), metrics=False)).python
    assert "expert_" not in text
    assert "o_best" not in text
    assert "o_approx" not in text
    one = generate(problem, mode=Mode(experts=("optimal",), metrics=False)).python
    assert "expert_optimal" in one
    assert "o_best" in one
    assert "expert_approximation" not in one
    assert "o_approx" not in one


def test_without_reward_nothing_is_paid() -> None:
    text = generate(shipped("mvc"), mode=Mode(reward=False)).python
    assert "def pay(" not in text
    assert "pay(" not in function(text, "step")


def test_without_observation_nothing_is_derived() -> None:
    text = generate(shipped("mvc_rich"), mode=Mode(observation=False)).python
    assert "d_covered" not in text


def test_every_mode_gives_a_module_that_loads() -> None:
    for mode in (Mode(experts=(), reward=False, metrics=False, observation=False), Mode(())):
        for name in SHIPPED:
            module = load_plain(generate(shipped(name), mode=mode).python)
            abi = read_abi(module.ABI)
            assert {Role.RESET, Role.STEP, Role.OBSERVE} <= {k.role for k in abi.kernels}


# Limits


def growing(step: str, count: int) -> Problem:
    lets = [f"let f{k + 1}(x) = {step.format(k=k, f=f'f{k}(x)')}\n" for k in range(count)]
    first = "let f0(x) = d[x] + w[x]\n"
    return spec(f"{first}{''.join(lets)}objective it = sum(x in nodes: f{count}(x))\n")


def test_shared_parts_are_written_once() -> None:
    """Otherwise the text would double with every let."""
    problem = growing("if w[x] > {k} then {f} + 1 else {f} * 0.5", 40)
    assert len(generate(problem).python) < 100_000
    agrees(problem)


def test_a_deep_chain_is_unsupported_not_a_crash() -> None:
    with pytest.raises(Unsupported):
        generate(growing("{f} + 1", 700))


def test_solvers_on_the_current_graph_are_unsupported() -> None:
    problem = spec("metric load = mst_weight(A)\n", "A  input  edge  scalar  ~ uniform(0, 1)")
    with pytest.raises(Unsupported, match="mst_weight"):
        generate(problem)


def test_programs_print_every_part() -> None:
    text = generate(shipped("rgc")).ir
    for part in ("values", "phase from(pick)", "edge(", "horizon", "greedy robustness"):
        assert part in text


if __name__ == "__main__":
    if "--update" not in sys.argv:
        sys.exit("to rewrite tests/golden: python tests/ir/test_ir.py --update")
    GOLDEN.mkdir(exist_ok=True)
    for name in GOLDEN_SPECS:
        for path, text in golden(name).items():
            path.write_text(text, "utf-8")
            print(f"wrote {path}")
