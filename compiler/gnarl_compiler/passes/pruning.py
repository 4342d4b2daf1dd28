"""IR programs in, better IR programs out. Each pass is a function from Program to Program.

Constants are folded and common subexpressions shared while the table is built (builder.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Program, Ref, map_operands
from gnarl_compiler.ir.walk import map_program, moved_lets, roots, sweep
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER, TRUTH

_HEAVY = (ir.Reduce, ir.Chase, ir.Reach, ir.Roots, ir.Call)


@dataclass(frozen=True)
class Mode:
    """What a caller is going to ask for; the rest is left out."""

    experts: tuple[str, ...] | None = None  # None keeps all
    reward: bool = True
    metrics: bool = True
    observation: bool = True


EVERYTHING = Mode()


def prune(program: Program, mode: Mode) -> Program:
    """Drop the code that the mode does not need, and the operations only it used."""
    experts = program.experts
    if mode.experts is not None:
        experts = tuple(e for e in experts if e.name in mode.experts)
    needed = {expert.greedy for expert in experts}
    objectives = tuple(o for o in program.objectives if mode.metrics or o[0] in needed)
    slim = replace(
        program,
        experts=experts,
        reward=program.reward if mode.reward else None,
        objectives=objectives,
        metrics=program.metrics if mode.metrics else (),
        derived=program.derived if mode.observation else (),
        windows=program.windows if mode.observation else (),
        messages=program.messages if mode.observation else (),
    )
    return sweep(slim)


# Values that depend on inputs only


def hoist_inputs(program: Program, problem: Problem) -> Program:
    """Move loops over inputs to reset: one number per graph, or one per node."""
    kept = find_kept(program)
    build = Builder(problem)
    early: list[Ref] = []  # where each old operation is in the new table, as written at reset
    late: list[Ref] = []  # the same as the episode reads it
    for op in program.ops:
        early.append(build.add(map_operands(op, early.__getitem__)))
    for ref, op in enumerate(program.ops):
        code = kept.get(ref)
        new = map_operands(op, late.__getitem__) if code is None else _read(program, code, build)
        late.append(build.add(new))
    moved = replace(
        map_program(program, late.__getitem__),
        initial=tuple(replace(c, value=early[c.value]) for c in program.initial),
        horizon=early[program.horizon],
        limit=None if program.limit is None else early[program.limit],
        ops=tuple(build.ops),
        infos=tuple(build.infos),
        kept=tuple(replace(code, value=early[code.value]) for code in kept.values()),
        lets=moved_lets(program, late.__getitem__),
    )
    return sweep(moved)


def find_kept(program: Program) -> dict[Ref, ir.KeptCode]:
    """The outermost heavy values known at reset, wherever the episode uses them."""
    at_reset = {program.horizon, program.limit, *(cells.value for cells in program.initial)}
    worth = _worth_keeping(program)
    found: set[Ref] = set()
    seen: set[Ref] = set()
    waiting = [ref for ref in roots(program) if ref not in at_reset]
    while waiting:
        ref = waiting.pop()
        if ref in seen:
            continue
        seen.add(ref)
        if ref in worth:
            found.add(ref)
        else:
            waiting += ir.operands(program.ops[ref])
    codes = {}
    for number, ref in enumerate(sorted(found)):
        axes = sorted(program.infos[ref].axes)
        codes[ref] = ir.KeptCode(number, axes[0] if axes else None, ref)
    return codes


def _worth_keeping(program: Program) -> set[Ref]:
    """Values with a loop in them that are known at reset and fit a table over nodes."""
    heavy: set[Ref] = set()
    numbers = {
        op.name for op in program.ops if isinstance(op, ir.Axis) and op.kind is not NODE_VALUE
    }
    result: set[Ref] = set()
    for ref, op in enumerate(program.ops):
        if isinstance(op, _HEAVY) or any(part in heavy for part in ir.operands(op)):
            heavy.add(ref)
        info = program.infos[ref]
        fits = len(info.axes) <= 1 and not info.axes & numbers and info.kind in (NUMBER, TRUTH)
        if ref in heavy and fits and not ir.is_row(op) and info.when == "reset":
            result.add(ref)
    return result


def _read(program: Program, code: ir.KeptCode, build: Builder) -> ir.Kept:
    info = program.infos[code.value]
    node = None if code.axis is None else build.add(ir.Axis(code.axis, NODE_VALUE))
    return ir.Kept(code.number, info.kind, info.bound, node)
