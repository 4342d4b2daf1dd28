"""Operations in, numbered entries of the IR table out: equal ones once, constants computed."""

from __future__ import annotations

import math
import sys
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Const, Info, Op, Ref
from gnarl_dsl.language.operators import COMPARISONS, OPERATORS, Operand
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import CATEGORY, NODE_VALUE, NUMBER, ORACLE, TRUTH, Value

# A definition that is used with many different arguments is written out for each of them.
MAX_OPERATIONS = 100_000
_NODES, _EDGES, _CATEGORIES = 2.0**31, 2.0**62, 1000.0
_LARGEST = sys.float_info.max  # what a feature holds is finite, but nothing else is known
_EARLIER = {"constant": 0, "reset": 1, "state": 2}
_BOUNDS: dict[Value, float] = {
    NUMBER: _LARGEST,
    TRUTH: 1.0,
    NODE_VALUE: _NODES,
    CATEGORY: _CATEGORIES,
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
            if len(self.ops) == MAX_OPERATIONS:
                raise ir.Unsupported(f"more than {MAX_OPERATIONS:,} operations")
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
                return self._folded_unary(op)
            case ir.Binary():
                left, right = self.const(op.left), self.const(op.right)
                if left is None or right is None:
                    return op
                value = OPERATORS[op.op].evaluate(float(left.value), float(right.value))
                return Const(value, NUMBER)
            case ir.Compare():
                left, right = self.const(op.left), self.const(op.right)
                if left is None or right is None:
                    return op
                return Const(COMPARISONS[op.op].holds(left.value, right.value), TRUTH)
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

    def _folded_unary(self, op: ir.Unary) -> Op:
        inner = self.ops[op.operand]
        if isinstance(inner, Const):
            return _folded_unary(op.op, inner)
        twice = isinstance(inner, ir.Unary) and inner.op == op.op and op.op in ("neg", "not")
        return self.ops[inner.operand] if isinstance(inner, ir.Unary) and twice else op

    def _folded_logic(self, op: ir.Logic) -> Op:
        decisive = op.op == "or"
        kept: list[Ref] = []
        for arg in op.args:
            known = self.const(arg)
            if known is None:
                if arg not in kept:
                    kept.append(arg)
            elif bool(known.value) == decisive:
                return Const(decisive, TRUTH)
        if not kept:
            return Const(not decisive, TRUTH)
        return self.ops[kept[0]] if len(kept) == 1 else ir.Logic(op.op, tuple(kept))

    # Knowledge

    def info_of(self, op: Op) -> Info:
        parts = [self.infos[ref] for ref in ir.operands(op)]
        axes = frozenset().union(*(part.axes for part in parts)) - ir.own_axes(op)
        if isinstance(op, ir.Axis):
            axes = frozenset({op.name})
        when = max([self._own_when(op), *(p.when for p in parts)], key=_EARLIER.__getitem__)
        kind, bound, optional = self._kind(op, parts)
        return Info(kind, axes, when, bound, optional)

    def _own_when(self, op: Op) -> ir.When:
        match op:
            case ir.Const() | ir.Axis() | ir.Unset():
                return "constant"
            case ir.Read() | ir.Marked():
                return "reset" if self.features[op.feature].stage.steady else "state"
            case ir.Local() | ir.Pick() | ir.Last():
                return "state"
            case ir.Tallied():
                return "state"
            case ir.Kept() if op.live:
                return "state"
            case ir.HasEdge() | ir.Degree() | ir.Edges() | ir.Call():
                return "state" if self.mutable or not self._reads_inputs(op) else "reset"
            case ir.Reduce() if any(d.kind in ("near", "edges") for d in op.domains):
                return "state" if self.mutable else "reset"
            case ir.Reach():
                return "state" if self.mutable else "reset"
            case ir.Nodes() | ir.Reduce() | ir.Chase() | ir.Roots() | ir.Kept():
                return "reset"
            case ir.At():
                return "constant"
            case ir.Unary() | ir.Binary() | ir.Compare() | ir.Logic():
                return "constant"
            case ir.Select() | ir.Otherwise():
                return "constant"
            case _:
                assert_never(op)

    def _reads_inputs(self, op: Op) -> bool:
        """Whether a call reads no whole feature of the state."""
        if not isinstance(op, ir.Call):
            return True
        names = [arg for arg in op.args if isinstance(arg, str) and arg in self.features]
        return all(self.features[name].stage.steady for name in names)

    def _kind(self, op: Op, parts: list[Info]) -> tuple[Value, float, bool]:
        """Kind, how far from 0 it can be, whether it may be unset."""
        match op:
            case ir.Const():
                return op.kind, abs(float(op.value)), False
            case ir.Axis():
                return op.kind, _BOUNDS[op.kind], False
            case ir.Local():
                return op.kind, op.bound, op.optional
            case ir.Kept():
                return op.kind, op.bound, False
            case ir.Tallied():
                return NUMBER, op.bound, False
            case ir.Pick():
                return NODE_VALUE, _NODES, op.optional
            case ir.Marked():
                return NODE_VALUE, _NODES, self.features[op.feature].unset
            case ir.Last() | ir.Unset():
                return NODE_VALUE, _NODES, True
            case ir.Read():
                feature = self.features[op.feature]
                kind = feature.type.cell
                label = feature.stage is ORACLE and kind is NUMBER
                return kind, math.inf if label else _BOUNDS[kind], False
            case ir.Nodes() | ir.Degree():
                return NUMBER, _NODES, False
            case ir.Edges():
                return NUMBER, _EDGES, False
            case ir.HasEdge() | ir.Compare() | ir.Logic():
                return TRUTH, 1.0, False
            case ir.Otherwise():
                return NODE_VALUE, _NODES, parts[1].optional
            case ir.Unary() if op.op == "not":
                return TRUTH, 1.0, False
            case ir.Unary():
                return NUMBER, OPERATORS[op.op].bound(self.operand(op.operand)), False
            case ir.Binary():
                known = self.operand(op.left), self.operand(op.right)
                return NUMBER, OPERATORS[op.op].bound(*known), False
            case ir.Select():
                then, other = parts[1], parts[2]
                kind = then.kind if then.kind is other.kind else NUMBER
                return kind, max(then.bound, other.bound), then.optional or other.optional
            case ir.Reduce():
                return self._reduce_kind(op)
            case ir.Chase():
                return (TRUTH, 1.0, False) if op.op == "on_cycle" else (NUMBER, math.inf, False)
            case ir.Reach():
                return self._reach_kind(op)
            case ir.Roots():
                return NODE_VALUE, _NODES, True
            case ir.At():
                return parts[0].kind, parts[0].bound, parts[0].optional
            case ir.Call():
                kind = op.signature.type.cell
                return kind, 1.0 if kind is TRUTH else math.inf, False
            case _:
                assert_never(op)

    def _reach_kind(self, op: ir.Reach) -> tuple[Value, float, bool]:
        match op.op:
            case "distance":
                return NUMBER, math.inf, False
            case "component":
                return NODE_VALUE, _NODES, op.of_nodes
            case "acyclic":
                return TRUTH, 1.0, False

    def operand(self, ref: Ref) -> Operand:
        """What an operator can know of a number."""
        known = self.const(ref)
        return Operand(self.infos[ref].bound, None if known is None else float(known.value))

    def _reduce_kind(self, op: ir.Reduce) -> tuple[Value, float, bool]:
        match op.op:
            case "exists" | "forall":
                return TRUTH, 1.0, False
            case "argmin" | "argmax":
                return NODE_VALUE, _NODES, True
            case "count":
                return NUMBER, _size(op.domains), False
            case "sum":
                body = math.inf if op.body is None else self.infos[op.body].bound
                return NUMBER, math.inf if math.isinf(body) else _size(op.domains) * body, False
            case "min" | "max":
                return NUMBER, math.inf, False


def _size(domains: tuple[ir.Domain, ...]) -> float:
    """How many combinations the axes can have at most."""
    sizes = {"nodes": _NODES, "near": _NODES, "edges": _EDGES}
    spans = (sizes.get(d.kind, max(0.0, d.bounds[1] - d.bounds[0] + 1.0)) for d in domains)
    return math.prod(spans)


def _folded_unary(op: str, known: Const) -> Const:
    if op == "not":
        return Const(not known.value, TRUTH)
    return Const(OPERATORS[op].evaluate(float(known.value)), NUMBER)
