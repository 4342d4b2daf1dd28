"""IR programs in, better IR programs out. Each pass is a function from Program to Program.

Constants are folded and common subexpressions shared while the table is built (builder.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gnarl_compiler import ir
from gnarl_compiler.builder import Builder
from gnarl_compiler.ir import Program, Ref
from gnarl_dsl.model import Problem

_HEAVY = (ir.Reduce, ir.Chase)
Mover = Callable[[Ref], Ref]


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
    )
    return sweep(slim)


# Values that depend on inputs only


def hoist_inputs(program: Program, problem: Problem) -> Program:
    """Move loops over inputs to reset: one number per graph, or one per node."""
    rebuild = _Rebuild(program, problem)
    rebuild.find_kept()
    return sweep(rebuild.program())


class _Rebuild:
    """Copies a program into a new table, replacing what is kept from reset."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.old = program
        self.build = Builder(problem)
        self.kept: dict[Ref, ir.KeptCode] = {}
        self._moved: dict[tuple[Ref, bool], Ref] = {}
        self._heavy: dict[Ref, bool] = {}
        self.inside_kept = False

    def find_kept(self) -> None:
        """The outermost heavy values known at reset, wherever the episode uses them."""
        at_reset = {self.old.horizon, self.old.limit}
        at_reset |= {cells.value for cells in self.old.initial}
        seen: set[Ref] = set()
        waiting = [ref for ref in roots(self.old) if ref not in at_reset]
        while waiting:
            ref = waiting.pop()
            if ref in seen:
                continue
            seen.add(ref)
            if self.is_keepable(ref):
                axes = sorted(self.old.infos[ref].axes)
                self.kept[ref] = ir.KeptCode(0, axes[0] if axes else None, ref)
            else:
                waiting += ir.operands(self.old.ops[ref])
        numbered = sorted(self.kept)
        self.kept = {
            ref: replace(self.kept[ref], number=number) for number, ref in enumerate(numbered)
        }

    def is_keepable(self, ref: Ref) -> bool:
        info = self.old.infos[ref]
        small = info.kind in ("number", "truth") and len(info.axes) <= 1
        return small and info.when == "reset" and self.is_heavy(ref) and self.node_axis(ref)

    def is_heavy(self, ref: Ref) -> bool:
        if ref not in self._heavy:
            op = self.old.ops[ref]
            parts = ir.operands(op)
            self._heavy[ref] = isinstance(op, _HEAVY) or any(map(self.is_heavy, parts))
        return self._heavy[ref]

    def node_axis(self, ref: Ref) -> bool:
        """A kept table is indexed by nodes, so its free axis must range over nodes."""
        axes = self.old.infos[ref].axes
        ops = [op for op in self.old.ops if isinstance(op, ir.Axis) and op.name in axes]
        return all(op.kind == "node" for op in ops)

    def move(self, ref: Ref) -> Ref:
        """The entry of an old operation in the new table."""
        if ref in self.kept and not self.inside_kept:
            return self.kept_value(ref)
        key = (ref, self.inside_kept)
        if key not in self._moved:
            op = self.old.ops[ref]
            self._moved[key] = self.build.add(map_operands(op, self.move))
        return self._moved[key]

    def kept_value(self, ref: Ref) -> Ref:
        info, code = self.old.infos[ref], self.kept[ref]
        node = None if code.axis is None else self.build.add(ir.Axis(code.axis, "node"))
        return self.build.add(ir.Kept(code.number, info.kind, info.finite, node))

    def program(self) -> Program:
        self.inside_kept = True
        kept = tuple(replace(code, value=self.move(code.value)) for code in self.kept.values())
        initial = tuple(replace(c, value=self.move(c.value)) for c in self.old.initial)
        horizon = self.move(self.old.horizon)
        limit = None if self.old.limit is None else self.move(self.old.limit)
        self.inside_kept = False
        moved = map_program(self.old, self.move)
        ops, infos = tuple(self.build.ops), tuple(self.build.infos)
        moved = replace(moved, initial=initial, horizon=horizon, limit=limit)
        return replace(moved, ops=ops, infos=infos, kept=kept)


# Walking and copying


def roots(program: Program) -> Iterator[Ref]:
    """Every operation that a program names."""
    seen: list[Ref] = []

    def note(ref: Ref) -> Ref:
        seen.append(ref)
        return ref

    map_program(program, note)
    yield from seen


def map_program(program: Program, move: Mover) -> Program:
    """The same program with every named operation replaced."""

    def maybe(ref: Ref | None) -> Ref | None:
        return None if ref is None else move(ref)

    return replace(
        program,
        phases=tuple(
            replace(p, allow=maybe(p.allow), update=_statements(p.update, move))
            for p in program.phases
        ),
        initial=tuple(replace(c, value=move(c.value)) for c in program.initial),
        derived=tuple(replace(c, value=move(c.value)) for c in program.derived),
        horizon=move(program.horizon),
        limit=maybe(program.limit),
        terminate=maybe(program.terminate),
        correct=maybe(program.correct),
        valid=maybe(program.valid),
        objectives=tuple((name, move(ref)) for name, ref in program.objectives),
        metrics=tuple((name, move(ref)) for name, ref in program.metrics),
        reward=program.reward and replace(program.reward, value=move(program.reward.value)),
        experts=tuple(_expert(e, move) for e in program.experts),
        kept=tuple(replace(k, value=move(k.value)) for k in program.kept),
    )


def _expert(expert: ir.ExpertCode, move: Mover) -> ir.ExpertCode:
    rules = tuple(
        tuple(
            ir.Choice(
                None if choice.where is None else move(choice.where),
                tuple((sign, move(key)) for sign, key in choice.keys),
            )
            for choice in rule
        )
        for rule in expert.rules
    )
    return replace(expert, rules=rules)


def _statements(body: tuple[ir.Statement, ...], move: Mover) -> tuple[ir.Statement, ...]:
    return tuple(_statement(statement, move) for statement in body)


def _statement(statement: ir.Statement, move: Mover) -> ir.Statement:
    match statement:
        case ir.Store():
            index = tuple(move(ref) for ref in statement.index)
            return replace(statement, index=index, value=move(statement.value))
        case ir.StoreEdge():
            source, target = move(statement.source), move(statement.target)
            return ir.StoreEdge(source, target, move(statement.value), statement.span)
        case ir.Bind():
            return replace(statement, value=move(statement.value))
        case ir.Branch():
            return ir.Branch(
                move(statement.condition),
                _statements(statement.then, move),
                _statements(statement.otherwise, move),
            )
        case ir.Loop():
            where = None if statement.where is None else move(statement.where)
            domains = tuple(map_domain(domain, move) for domain in statement.domains)
            return ir.Loop(domains, where, _statements(statement.body, move))


def map_domain(domain: ir.Domain, move: Mover) -> ir.Domain:
    return domain if domain.node is None else replace(domain, node=move(domain.node))


def map_operands(op: ir.Op, move: Mover) -> ir.Op:
    """The same operation on moved operands."""
    match op:
        case ir.Read():
            return replace(op, index=tuple(move(ref) for ref in op.index))
        case ir.Logic():
            return replace(op, args=tuple(move(ref) for ref in op.args))
        case ir.Call():
            args = tuple(move(arg) if isinstance(arg, int) else arg for arg in op.args)
            return replace(op, args=args)
        case ir.Reduce():
            return ir.Reduce(
                op.op,
                tuple(map_domain(domain, move) for domain in op.domains),
                None if op.where is None else move(op.where),
                None if op.body is None else move(op.body),
            )
        case ir.Const() | ir.Axis() | ir.Local() | ir.Pick() | ir.Last() | ir.Marked():
            return op
        case ir.Nodes() | ir.Edges():
            return op
        case _:
            named = {name: getattr(op, name) for name in ir.ref_fields(op)}
            moved = {name: move(ref) for name, ref in named.items() if ref is not None}
            return replace(op, **moved)  # type: ignore[arg-type]


def sweep(program: Program) -> Program:
    """Renumber the operations that are still used, in order."""
    used: set[Ref] = set()
    waiting = list(roots(program))
    while waiting:
        ref = waiting.pop()
        if ref not in used:
            used.add(ref)
            waiting += ir.operands(program.ops[ref])
    numbers = {ref: number for number, ref in enumerate(sorted(used))}
    move = numbers.__getitem__
    ops = tuple(map_operands(program.ops[ref], move) for ref in sorted(used))
    infos = tuple(program.infos[ref] for ref in sorted(used))
    return replace(map_program(program, move), ops=ops, infos=infos)
