"""Programs that the verifier of the IR must refuse, each broken by hand in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program
from gnarl_compiler.ir.verify import verify_program
from gnarl_compiler.ir.walk import sweep
from gnarl_compiler.lower.program import lower_problem
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER
from gnarl_dsl.report.diagnostics import InternalError


def find(program: Program, kind: type) -> int:
    return next(ref for ref, op in enumerate(program.ops) if isinstance(op, kind))


def with_op(program: Program, ref: int, op: ir.Op) -> Program:
    ops = list(program.ops)
    ops[ref] = op
    return replace(program, ops=tuple(ops))


def later_operand(program: Program) -> Program:
    ref = find(program, ir.Unary)
    return with_op(program, ref, ir.Unary("not", ref + 1))


def wrong_kind(program: Program) -> Program:
    ref, node = find(program, ir.Unary), find(program, ir.Axis)
    return with_op(program, ref, ir.Unary("not", node))


def wrong_info(program: Program) -> Program:
    infos = list(program.infos)
    infos[-1] = replace(infos[-1], when="constant", bound=0.25)
    return replace(program, infos=tuple(infos))


def unused(program: Program) -> Program:
    op = ir.Const(123.0, NUMBER)
    info = ir.Info(NUMBER, frozenset(), "constant", 123.0)
    return replace(program, ops=(*program.ops, op), infos=(*program.infos, info))


def twice(program: Program) -> Program:
    return replace(
        program,
        ops=(*program.ops, program.ops[0]),
        infos=(*program.infos, program.infos[0]),
        horizon=len(program.ops),
    )


def free_axis(program: Program) -> Program:
    phase = program.phases[0]
    assert phase.allow is not None
    return replace(program, terminate=phase.allow)


def label_in_the_mask(program: Program) -> Program:
    where = program.experts[0].rules[0][0].where
    phase = replace(program.phases[0], allow=where)
    return sweep(replace(program, phases=(phase,)))


def write_of_an_input(program: Program) -> Program:
    return with_statement(program, lambda store: replace(store, feature="w"))


def missing_index(program: Program) -> Program:
    return with_statement(program, lambda store: replace(store, index=()))


def with_statement(program: Program, change: Callable[[ir.Store], ir.Store]) -> Program:
    phase = program.phases[0]
    store = phase.update[0]
    assert isinstance(store, ir.Store)
    return replace(program, phases=(replace(phase, update=(change(store),)),))


def lost_table(program: Program) -> Program:
    return replace(program, kept=program.kept[:-1])


def stale_read(program: Program) -> Program:
    """The mask reads a write that has not happened."""
    ref = next(ref for ref, op in enumerate(program.ops) if isinstance(op, ir.Read))
    op = program.ops[ref]
    assert isinstance(op, ir.Read)
    return with_op(program, ref, replace(op, version=1))


BROKEN = [
    (later_operand, "reads a later value"),
    (wrong_kind, "has a node where truth belongs"),
    (wrong_info, "not Info"),
    (unused, "nothing uses"),
    (twice, "stands twice"),
    (free_axis, "depends on"),
    (label_in_the_mask, "reads an oracle"),
    (write_of_an_input, "no state feature"),
    (missing_index, "indexes"),
    (lost_table, "keeps nothing"),
    (stale_read, "another write"),
]


@pytest.mark.parametrize(("broken", "what"), BROKEN, ids=[entry[0].__name__ for entry in BROKEN])
def test_the_verifier_rejects(broken: Callable[[Program], Program], what: str) -> None:
    problem = shipped("mvc")
    program = generate(problem).program
    verify_program(program, problem)
    with pytest.raises(InternalError, match=what):
        verify_program(broken(program), problem)


def no_longer_followed(program: Program) -> Program:
    kept = [replace(code, follows=("in_tour",)) for code in program.kept if code.follows]
    return replace(program, kept=(*(c for c in program.kept if not c.follows), *kept))


def table_in_an_update(program: Program) -> Program:
    """The update reads a table that it brings up to date itself."""
    live = next(r for r, op in enumerate(program.ops) if isinstance(op, ir.Kept) and op.live)
    pick = ir.Axis(ir.PICK, NODE_VALUE)
    at, old = program.ops.index(pick), program.ops[live]
    assert isinstance(old, ir.Kept)
    ops = (*program.ops, replace(old, node=at))
    infos = (*program.infos, replace(program.infos[live], axes=frozenset({ir.PICK})))
    bind = ir.Bind("x", len(program.ops))
    phase = replace(program.phases[0], update=(*program.phases[0].update, bind))
    return replace(program, ops=ops, infos=infos, phases=(phase,))


def far_table(program: Program) -> Program:
    """A table of a cell that a pointer leads to: writes elsewhere would leave it out of date."""
    number = next(code.number for code in program.kept if code.follows)
    code = program.kept[number]
    read = next(
        ref
        for ref, op in enumerate(program.ops)
        if isinstance(op, ir.Read) and op.feature == "next" and code.axis in program.infos[ref].axes
    )
    op = program.ops[read]
    assert isinstance(op, ir.Read)
    ops = (*program.ops, replace(op, index=(read,)))
    infos = (*program.infos, program.infos[read])
    far = ir.Read("A", (read, len(program.ops)), 0)
    info = program.infos[code.value]
    kept = list(program.kept)
    kept[number] = replace(code, value=len(program.ops) + 1)
    moved = replace(program, ops=(*ops, far), infos=(*infos, info), kept=tuple(kept))
    return sweep(moved)


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (no_longer_followed, "does not follow `next`"),
        (table_in_an_update, "table that it changes"),
        (far_table, "reads other nodes"),
    ],
)
def test_the_verifier_rejects_tables(broken: Callable[[Program], Program], what: str) -> None:
    problem = shipped("tsp")
    program = generate(problem).program
    verify_program(program, problem)
    with pytest.raises(InternalError, match=what):
        verify_program(broken(program), problem)


BRANCHES = """gnarl 1
problem branches
graph undirected
features
  d  state  node  scalar  = 0
phase pick(v)
  update
    if n > 2
      d[v] := d[v] + 1
    else
      let old = d[v]
      d[v] := old * 2
    d[v] := d[v] - 1
horizon n rounds
objective it = sum(x in nodes: d[x])
"""


def test_the_verifier_follows_versions_through_branches() -> None:
    problem = gnarl.loads(BRANCHES)
    program = lower_problem(problem)
    verify_program(program, problem)
    reads = [ref for ref, op in enumerate(program.ops) if isinstance(op, ir.Read) and op.version]
    assert reads
    op = program.ops[reads[-1]]
    assert isinstance(op, ir.Read)
    with pytest.raises(InternalError, match=r"as before a write|stands twice"):
        verify_program(with_op(program, reads[-1], replace(op, version=0)), problem)
