"""An IR program in, one out that keeps per-node terms in tables instead of reading far cells.

`sum(x in nodes: A[x, next[x]])` reads one far cell per node in every round, but an update
moves only a pointer or two. A term that reads the state at its own node only changes where a
write falls, so a table of it is brought up to date by the writes themselves.
"""

from __future__ import annotations

from dataclasses import replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Program, Ref, map_operands
from gnarl_compiler.ir.walk import map_program, moved_lets, reachable, sweep
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER, TRUTH

_OWN = (ir.Const, ir.Axis, ir.Nodes, ir.Unary, ir.Binary, ir.Compare, ir.Logic, ir.Select)


def tabulate(program: Program, problem: Problem) -> Program:
    """Keep the outermost such terms of whatever runs every round, or labels a state."""
    terms = find_terms(program, problem)
    if not terms:
        return program
    build = Builder(problem)
    plain: list[Ref] = []  # where each old operation is in the new table
    late: list[Ref] = []  # the same as read outside updates
    for op in program.ops:
        plain.append(build.add(map_operands(op, plain.__getitem__)))
    tables = _tables(program, terms, build)
    for ref, op in enumerate(program.ops):
        code = tables.get(ref)
        new = (
            map_operands(op, late.__getitem__) if code is None else _read(program, ref, code, build)
        )
        late.append(build.add(new))
    as_before = map_program(program, plain.__getitem__)
    moved = map_program(program, late.__getitem__)
    phases = zip(moved.phases, as_before.phases, strict=True)
    return sweep(
        replace(
            moved,
            phases=tuple(replace(new, update=old.update) for new, old in phases),
            initial=as_before.initial,
            horizon=as_before.horizon,
            limit=as_before.limit,
            kept=(*as_before.kept, *dict.fromkeys(tables.values())),
            ops=tuple(build.ops),
            infos=tuple(build.infos),
            lets=moved_lets(program, late.__getitem__),
        )
    )


def find_terms(program: Program, problem: Problem) -> list[Ref]:
    """Terms over one node that look something up where the state at that node points."""
    own = _own_terms(program, problem)
    found: set[Ref] = set()
    seen: set[Ref] = set()
    waiting = list(read_each_round(program))
    while waiting:
        ref = waiting.pop()
        if ref in seen:
            continue
        seen.add(ref)
        if ref in own and _looks_far(program, problem, ref):
            found.add(ref)
        else:
            waiting += ir.operands(program.ops[ref])
    return sorted(found)


def read_each_round(program: Program) -> list[Ref]:
    """What is computed in every round, or for every label."""
    maybe = [program.terminate, *(phase.allow for phase in program.phases)]
    maybe += [phase.when for phase in program.phases]
    maybe += [] if program.stop is None else [program.stop.when]
    if program.reward is not None:
        maybe.append(program.reward.value)
    maybe += [cells.value for cells in program.derived]
    for view in (*program.windows, *program.messages):
        maybe += [view.where, view.key]
    for choice in (c for expert in program.experts for rule in expert.rules for c in rule):
        maybe += [choice.where, *(key for _, key in choice.keys)]
    goals = {expert.greedy for expert in program.experts}
    maybe += [ref for name, ref in program.objectives if name in goals]
    return [ref for ref in maybe if ref is not None]


def _own_terms(program: Program, problem: Problem) -> set[Ref]:
    """Values that read the state at the one node they are over, and nowhere else."""
    stages = {feature.name: feature.stage for feature in problem.features}
    own: set[Ref] = set()
    for ref, op in enumerate(program.ops):
        if not all(part in own for part in ir.operands(op)) or len(program.infos[ref].axes) > 1:
            continue
        match op:
            case ir.Read() if stages[op.feature].written:
                here = [program.ops[part] for part in op.index]
                allowed = len(here) == 1 and isinstance(here[0], ir.Axis) and op.version == 0
            case ir.Read() | ir.Marked():
                allowed = not stages[op.feature].written
            case ir.HasEdge():
                allowed = not program.mutable
            case _:
                allowed = isinstance(op, _OWN)
        if allowed:
            own.add(ref)
    return own


def _looks_far(program: Program, problem: Problem, ref: Ref) -> bool:
    """Whether it is worth a table: a number or truth of this state, found by two nodes."""
    info = program.infos[ref]
    if info.when != "state" or len(info.axes) != 1 or info.kind not in (NUMBER, TRUTH):
        return False
    pairs = {f.name for f in problem.features if f.place.width == 2 or f.type.apart}
    parts = reachable(program, [ref])
    axes = [op for op in (program.ops[part] for part in parts) if isinstance(op, ir.Axis)]
    far = any(_is_far(program, part, pairs) for part in parts)
    return far and all(axis.kind is NODE_VALUE for axis in axes)


def _is_far(program: Program, ref: Ref, pairs: set[str]) -> bool:
    """A look at two nodes, one of them known from the state only."""
    op = program.ops[ref]
    by_two = isinstance(op, ir.HasEdge) or (isinstance(op, ir.Read) and op.feature in pairs)
    return by_two and any(program.infos[part].when == "state" for part in ir.operands(op))


def _tables(program: Program, terms: list[Ref], build: Builder) -> dict[Ref, ir.KeptCode]:
    """The code that fills the table of each term; terms that differ in their axis share one."""
    codes: dict[Ref, ir.KeptCode] = {}
    found: dict[Ref, ir.KeptCode] = {}
    for ref in terms:
        value, follows = _at_a_write(program, ref, build)
        if value not in codes:
            number = len(program.kept) + len(codes)
            codes[value] = ir.KeptCode(number, ir.OWN, value, follows)
        found[ref] = codes[value]
    return found


def _at_a_write(program: Program, ref: Ref, build: Builder) -> tuple[Ref, tuple[str, ...]]:
    """A term at the node that a write changes, and which features' writes change it there."""
    moved: dict[Ref, Ref] = {}
    follows: set[str] = set()
    for part in sorted(reachable(program, [ref])):
        op = program.ops[part]
        if isinstance(op, ir.Axis):
            op = ir.Axis(ir.OWN, NODE_VALUE)
        elif isinstance(op, ir.Read) and program.infos[part].when == "state":
            follows |= {op.feature} if len(op.index) == 1 else set()
        moved[part] = build.add(map_operands(op, moved.__getitem__))
    return moved[ref], tuple(sorted(follows))


def _read(program: Program, ref: Ref, code: ir.KeptCode, build: Builder) -> ir.Kept:
    info = program.infos[ref]
    (axis,) = info.axes
    node = build.add(ir.Axis(axis, NODE_VALUE))
    return ir.Kept(code.number, info.kind, info.bound, node, live=True)
