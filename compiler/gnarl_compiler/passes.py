"""IR programs in, better IR programs out. Each pass is a function from Program to Program.

Constants are folded and common subexpressions shared while the table is built (builder.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnarl_compiler import ir
from gnarl_compiler.builder import Builder
from gnarl_compiler.ir import Program, Ref
from gnarl_compiler.walk import map_operands, map_program, roots, sweep
from gnarl_dsl.model import Problem

_HEAVY = (ir.Reduce, ir.Chase, ir.Call)


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
        return self.build.add(ir.Kept(code.number, info.kind, info.bound, node))

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
