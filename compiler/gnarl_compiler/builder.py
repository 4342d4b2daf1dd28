"""Operations in, numbered entries of the IR table out: equal ones once, constants computed."""

from __future__ import annotations

from typing import assert_never

from gnarl_compiler import ir
from gnarl_compiler.ir import Const, Info, Op, Ref
from gnarl_compiler.numbers import compare_values, snapped_ceil, snapped_floor
from gnarl_dsl.arithmetic import evaluate_arithmetic
from gnarl_dsl.builtins import FUNCTIONS
from gnarl_dsl.model import Feature, Problem

_EARLIER = {"constant": 0, "reset": 1, "state": 2}
_KINDS: dict[str, ir.Kind] = {
    "scalar": "number",
    "mask": "truth",
    "mask_one": "truth",
    "categorical": "category",
    "pointer": "node",
}


class Builder:
    """Grows the table of one program."""

    def __init__(self, problem: Problem) -> None:
        self.features: dict[str, Feature] = {f.name: f for f in problem.features}
        self.mutable = problem.graph.mutable
        self.ops: list[Op] = []
        self.infos: list[Info] = []
        self._known: dict[Op, Ref] = {}

    def add(self, op: Op) -> Ref:
        """The number of an operation; a new entry only if it is new."""
        op = self.folded(op)
        if op not in self._known:
            info = self.info_of(op)
            self._known[op] = len(self.ops)
            self.ops.append(op)
            self.infos.append(info)
        return self._known[op]

    def const(self, ref: Ref | None) -> Const | None:
        op = None if ref is None else self.ops[ref]
        return op if isinstance(op, Const) else None

    # Folding

    def folded(self, op: Op) -> Op:
        """The operation itself, or the constant or operand that it comes to."""
        match op:
            case ir.Unary():
                known = self.const(op.operand)
                return op if known is None else _folded_unary(op.op, known)
            case ir.Binary():
                left, right = self.const(op.left), self.const(op.right)
                if left is None or right is None:
                    return op
                value = evaluate_arithmetic(op.op, float(left.value), float(right.value))
                return Const(value, "number")
            case ir.Compare():
                left, right = self.const(op.left), self.const(op.right)
                if left is None or right is None:
                    return op
                return Const(compare_values(op.op, left.value, right.value), "truth")
            case ir.Logic():
                return self._folded_logic(op)
            case ir.Select():
                known = self.const(op.condition)
                if known is None:
                    return op
                return self.ops[op.then if known.value else op.otherwise]
            case ir.Otherwise() if not self.infos[op.value].optional:
                return self.ops[op.value]
            case _:
                return op

    def _folded_logic(self, op: ir.Logic) -> Op:
        decisive = op.op == "or"
        kept: list[Ref] = []
        for arg in op.args:
            known = self.const(arg)
            if known is None:
                if arg not in kept:
                    kept.append(arg)
            elif bool(known.value) == decisive:
                return Const(decisive, "truth")
        if not kept:
            return Const(not decisive, "truth")
        return self.ops[kept[0]] if len(kept) == 1 else ir.Logic(op.op, tuple(kept))

    # Knowledge

    def info_of(self, op: Op) -> Info:
        parts = [self.infos[ref] for ref in ir.operands(op)]
        axes = frozenset().union(*(part.axes for part in parts)) - ir.own_axes(op)
        if isinstance(op, ir.Axis):
            axes = frozenset({op.name})
        when = max([self._own_when(op), *(p.when for p in parts)], key=_EARLIER.__getitem__)
        kind, finite, optional = self._kind(op, parts)
        return Info(kind, axes, when, finite, optional)

    def _own_when(self, op: Op) -> ir.When:
        match op:
            case ir.Const() | ir.Axis():
                return "constant"
            case ir.Read() | ir.Marked():
                stage = self.features[op.feature].stage
                return "reset" if stage in ("input", "oracle") else "state"
            case ir.Local() | ir.Pick() | ir.Last():
                return "state"
            case ir.HasEdge() | ir.Degree() | ir.Edges() | ir.Call():
                return "state" if self.mutable or not self._reads_inputs(op) else "reset"
            case ir.Reduce() if any(d.kind in ("near", "edges") for d in op.domains):
                return "state" if self.mutable else "reset"
            case ir.Nodes() | ir.Reduce() | ir.Chase() | ir.Kept():
                return "reset"
            case _:
                return "constant"

    def _reads_inputs(self, op: Op) -> bool:
        """Whether a call reads no whole feature of the state."""
        if not isinstance(op, ir.Call):
            return True
        names = [arg for arg in op.args if isinstance(arg, str) and arg in self.features]
        return all(self.features[name].stage in ("input", "oracle") for name in names)

    def _kind(self, op: Op, parts: list[Info]) -> tuple[ir.Kind, bool, bool]:
        """Kind, whether it is always finite, whether it may be unset."""
        match op:
            case ir.Const():
                return op.kind, abs(float(op.value)) != float("inf"), False
            case ir.Axis():
                return op.kind, True, False
            case ir.Local():
                return op.kind, op.finite, op.optional
            case ir.Kept():
                return op.kind, op.finite, False
            case ir.Pick() | ir.Marked():
                return "node", True, False
            case ir.Last():
                return "node", True, True
            case ir.Read():
                feature = self.features[op.feature]
                return _KINDS[feature.type], feature.stage != "oracle", False
            case ir.Nodes() | ir.Edges() | ir.Degree():
                return "number", True, False
            case ir.HasEdge() | ir.Compare() | ir.Logic():
                return "truth", True, False
            case ir.Otherwise():
                return "node", True, parts[1].optional
            case ir.Unary():
                return ("truth" if op.op == "not" else "number"), parts[0].finite, False
            case ir.Binary():
                return "number", all(part.finite for part in parts), False
            case ir.Select():
                then, other = parts[1], parts[2]
                kind: ir.Kind = then.kind if then.kind == other.kind else "number"
                return kind, then.finite and other.finite, then.optional or other.optional
            case ir.Reduce():
                return self._reduce_kind(op)
            case ir.Chase():
                return ("truth" if op.op == "on_cycle" else "number"), op.op == "on_cycle", False
            case ir.Call():
                truth = FUNCTIONS[op.function].type == "mask"
                return ("truth" if truth else "number"), truth, False
            case _:
                assert_never(op)

    def _reduce_kind(self, op: ir.Reduce) -> tuple[ir.Kind, bool, bool]:
        if op.op in ("exists", "forall"):
            return "truth", True, False
        if op.op in ("argmin", "argmax"):
            return "node", True, True
        if op.op == "count":
            return "number", True, False
        body = self.infos[op.body] if op.body is not None else None
        return "number", op.op == "sum" and body is not None and body.finite, False


def _folded_unary(op: str, known: Const) -> Const:
    if op == "not":
        return Const(not known.value, "truth")
    value = float(known.value)
    results = {
        "neg": lambda: -value,
        "abs": lambda: abs(value),
        "ceil": lambda: snapped_ceil(value),
        "floor": lambda: snapped_floor(value),
    }
    return Const(results[op](), "number")
