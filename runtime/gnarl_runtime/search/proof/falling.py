"""An objective in; out: whether it can only fall while an episode goes on.

Then an episode is worth no more than it is worth now, and may be given up as soon as another one
is known that is as good. Signs of inputs are those of the instance's own values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref
from gnarl_runtime.search.proof.formulas import Formulas
from gnarl_runtime.search.proof.futures import added_to, addends

NonNegative = Callable[[str], bool]  # whether no value of an input is below 0

# How a value can move: not at all, only up, only down; None: nobody knows.
Direction = int | None
STILL, UP, DOWN = 0, 1, -1


def can_only_fall(formulas: Formulas, objective: Ref, inputs: NonNegative) -> bool:
    """Whether from round to round the objective stays or falls."""
    look = _Look(formulas, inputs)
    for part, factors, sign in addends(formulas, objective):
        signs = [look.sign(factor) for factor in factors]
        if 0 in signs:
            return False
        sign *= math.prod(signs)
        way = look.direction(part)
        if way is None and look.pays_once(part):
            way = UP
        if way is None or way * sign > 0:
            return False
    return True


class _Look:
    """Signs and directions of the values of one problem, on one instance."""

    def __init__(self, formulas: Formulas, inputs: NonNegative) -> None:
        self.formulas, self.ops, self.inputs = formulas, formulas.ops, inputs

    def sign(self, ref: Ref) -> int:
        """1: not below 0, -1: not above, 0: nobody knows."""
        op = self.ops[ref]
        if isinstance(op, ir.Unary) and op.op == "neg":
            return -self.sign(op.operand)
        return int(self.positive(ref))

    def positive(self, ref: Ref) -> bool:
        """Whether a value is certainly not below 0."""
        op = self.ops[ref]
        match op:
            case ir.Const():
                return float(op.value) >= 0
            case ir.Nodes() | ir.Edges() | ir.Degree() | ir.Unary(op="abs"):
                return True
            case ir.Read():
                return not self.formulas.is_state(op.feature) and self.inputs(op.feature)
            case ir.Unary(op="ceil" | "floor"):
                return self.positive(op.operand)
            case ir.Binary(op="+" | "*" | "/" | "min"):
                return self.positive(op.left) and self.positive(op.right)
            case ir.Binary(op="max"):
                return self.positive(op.left) or self.positive(op.right)
            case ir.Select():
                return self.positive(op.then) and self.positive(op.otherwise)
            case ir.Reduce(op="count"):
                return True
            case ir.Reduce(op="sum" | "min"):  # of nothing: 0 and inf
                return op.body is not None and self.positive(op.body)
        return False

    def direction(self, ref: Ref) -> Direction:
        """How a value moves from round to round; true is more than false."""
        if self.formulas.steady(ref):
            return STILL
        op = self.ops[ref]
        match op:
            case ir.Read():
                return self._of_cell(op)
            case ir.Unary(op="not" | "neg"):
                return _turned(self.direction(op.operand))
            case ir.Unary(op="ceil" | "floor"):
                return self.direction(op.operand)
            case ir.Logic():
                return _joined(map(self.direction, op.args))
            case ir.Binary(op="+" | "min" | "max"):
                return _joined((self.direction(op.left), self.direction(op.right)))
            case ir.Binary(op="-"):
                return _joined((self.direction(op.left), _turned(self.direction(op.right))))
            case ir.Binary(op="*" | "/") if self._scales(op.right):
                return self.direction(op.left)
            case ir.Binary(op="*") if self._scales(op.left):
                return self.direction(op.right)
            case ir.Compare(op=">" | ">="):
                return self._of_numbers(op.left, op.right)
            case ir.Compare(op="<" | "<="):
                return self._of_numbers(op.right, op.left)
            case ir.Reduce():
                return self._of_many(op)
        return None

    def _scales(self, ref: Ref) -> bool:
        return self.formulas.steady(ref) and self.positive(ref)

    def _of_numbers(self, more: Ref, less: Ref) -> Direction:
        return _joined((self.direction(more), _turned(self.direction(less))))

    def _of_cell(self, op: ir.Read) -> Direction:
        """A mask that is only ever set, at a node that stays the same; or a sum."""
        formulas = self.formulas
        if not all(formulas.steady(ref) for ref in op.index):
            return None
        if formulas.set_only(op.feature):
            return UP
        return self._of_sum(op.feature) if not op.index else None

    def _of_sum(self, name: str) -> Direction:
        ways: list[Direction] = []
        for write in self.formulas.writes_of(name):
            added = added_to(self.formulas, name, write.store.value)
            known = added is not None and not write.looped and self.positive(added[0])
            ways.append(added[1] if added is not None and known else None)
        return _joined(ways)

    def _of_many(self, op: ir.Reduce) -> Direction:
        if not self._same_domains(op):
            return None
        where = STILL if op.where is None else self.direction(op.where)
        body = STILL if op.body is None else self.direction(op.body)
        match op.op:
            case "exists" | "max" | "count":
                return _joined((where, body))
            case "forall" | "min":
                return _joined((_turned(where), body))
            case "sum":
                added = op.body is not None and (where == STILL or self.positive(op.body))
                return _joined((where, body)) if added else None
        return None

    def _same_domains(self, op: ir.Reduce) -> bool:
        """Whether it ranges over the same all the time."""
        rigid = not self.formulas.program.mutable
        return all(
            domain.kind in ("nodes", "range")
            or (rigid and (domain.node is None or self.formulas.steady(domain.node)))
            for domain in op.domains
        )

    def pays_once(self, part: Ref) -> bool:
        """Whether a sum has nothing for a node until a mask is set there, and then a fixed amount.

        Between rounds: cells are written at picked nodes only, where the mask was not set.
        """
        op = self.ops[part]
        if not isinstance(op, ir.Reduce) or op.op not in ("sum", "count") or op.where is None:
            return False
        if len(op.domains) != 1 or op.domains[0].kind != "nodes":
            return False
        if op.op == "sum" and (op.body is None or not self.positive(op.body)):
            return False
        axis = op.domains[0].axes[0]
        masks = [mask for mask in self._masks(op.where, axis) if self._fixed(op, axis, mask)]
        return bool(masks)

    def _masks(self, where: Ref, axis: str) -> Iterable[str]:
        """The masks that are set wherever a condition holds."""
        for ref, holds in self.formulas.implied(where):
            op = self.ops[ref]
            if not isinstance(op, ir.Read) or not holds or not self._at(op, axis):
                continue
            if self.formulas.set_only_node(op.feature):
                yield op.feature

    def _at(self, op: ir.Read, axis: str) -> bool:
        index = [self.ops[ref] for ref in op.index]
        return len(index) == 1 and isinstance(index[0], ir.Axis) and index[0].name == axis

    def _fixed(self, part: ir.Reduce, axis: str, mask: str) -> bool:
        inside = [ref for ref in (part.where, part.body) if ref is not None]
        return all(self._fixed_op(op, axis, mask) for op in self.formulas.behind(inside))

    def _fixed_op(self, op: ir.Op, axis: str, mask: str) -> bool:
        """Whether an operation in a term changes only while the mask is not set at its node."""
        formulas = self.formulas
        match op:
            case ir.Read() if formulas.is_state(op.feature):
                picked = all(
                    not write.looped and self._picked(write.phase, write.store.index, mask)
                    for write in formulas.writes_of(op.feature)
                )
                return self._at(op, axis) and picked
            case ir.Marked():
                return not formulas.is_state(op.feature)
            case ir.Last() | ir.Pick() | ir.Local() | ir.Kept() | ir.Chase() | ir.Roots():
                return False
            case ir.HasEdge() | ir.Degree() | ir.Edges() | ir.Call() | ir.Reduce() | ir.Reach():
                states = any(formulas.is_state(name) for name in formulas.named_by(op))
                return not formulas.program.mutable and not states
        return True

    def _picked(self, phase: int, index: tuple[Ref, ...], mask: str) -> bool:
        """Whether a cell is that of a node that was picked in this round while it was open."""
        if len(index) != 1:
            return False
        op = self.ops[index[0]]
        if isinstance(op, ir.Pick):
            return self.formulas.guards(op.phase, mask)
        return self.formulas.is_pick(index[0]) and self.formulas.guards(phase, mask)


def _turned(way: Direction) -> Direction:
    return None if way is None else -way


def _joined(ways: Iterable[Direction]) -> Direction:
    """The one way that all go; None if they do not."""
    found = set(ways) - {STILL}
    if not found:
        return STILL
    return found.pop() if len(found) == 1 else None
