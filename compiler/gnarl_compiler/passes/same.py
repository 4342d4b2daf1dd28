"""Formulas of an IR program in; out: whether they are the same but for the order of operands."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program, Ref, map_operands
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE

_EITHER_WAY = ("+", "*", "==", "!=", "~=")


class Forms:
    """Numbers for formulas: equal ones for those that are the same to the bit."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        features = problem.features
        self.mirrored = {f.name for f in features if f.place is EDGE or f.type.apart}
        self.directed = problem.graph.directed
        self._numbers: dict[Hashable, int] = {}

    def alike(self, refs: Iterable[Ref | None], renamed: Mapping[str, str]) -> bool:
        """Whether values stay the same if axes change their names."""
        straight: dict[Ref, int] = {}
        other: dict[Ref, int] = {}
        known = [ref for ref in refs if ref is not None]
        return all(
            self._number(ref, {}, straight) == self._number(ref, renamed, other) for ref in known
        )

    def _number(self, ref: Ref, names: Mapping[str, str], done: dict[Ref, int]) -> int:
        if ref not in done:
            op = self.program.ops[ref]
            if isinstance(op, ir.Axis):
                op = replace(op, name=names.get(op.name, op.name))
            moved = map_operands(op, lambda part: self._number(part, names, done))
            form = self._ordered(moved)
            done[ref] = self._numbers.setdefault(form, len(self._numbers))
        return done[ref]

    def _ordered(self, op: ir.Op) -> ir.Op:
        """With operands in one order, where it does not matter."""
        match op:
            case ir.Logic():
                return replace(op, args=tuple(sorted(op.args)))
            case ir.Binary() | ir.Compare() if op.op in _EITHER_WAY:
                left, right = sorted((op.left, op.right))
                return replace(op, left=left, right=right)
            case ir.HasEdge() if not self.directed:
                source, target = sorted((op.source, op.target))
                return replace(op, source=source, target=target)
            case ir.Read() if op.feature in self.mirrored and not self.directed:
                return replace(op, index=tuple(sorted(op.index)))
            case _:
                return op
