"""Checked formulas in, entries of the IR table out: lets inlined, clauses resolved, axes named."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Ref
from gnarl_dsl import model
from gnarl_dsl.language.called import signature_called
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.model.kinds import (
    CATEGORY,
    EDGE,
    MASK_ONE,
    NODE_VALUE,
    NUMBER,
    POINTER,
    TRUTH,
    Value,
)
from gnarl_dsl.report.diagnostics import InternalError

Names = Mapping[str, Ref]


@dataclass
class Versions:
    """Which write every feature, and the graph (""), was last changed by; 0 before any."""

    counts: dict[str, int] = field(default_factory=dict)
    latest: int = 0

    def of(self, name: str) -> int:
        return self.counts.get(name, 0)

    def bump(self, *names: str) -> None:
        """A write that nothing before it can have seen."""
        self.latest += 1
        self.counts = {**self.counts, **dict.fromkeys(names, self.latest)}

    def changed(self, *others: Mapping[str, int]) -> set[str]:
        """What was written since the points that the others describe."""
        return {
            name
            for other in others
            for name in {*self.counts, *other}
            if other.get(name, 0) != self.of(name)
        }


class FormulaLowering:
    """The formulas of one problem on their way into the table."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.build = Builder(problem)
        self.versions = Versions()
        self.lets = {let.name: let for let in problem.lets}
        self.phase_numbers = {phase.name: i for i, phase in enumerate(problem.phases)}
        # How many axes are bound around what is being lowered: part of every axis name, so
        # that no formula inlined under a binder can capture its variable.
        self.depth = 0
        # Ends of edges, as (source, target, version of the graph): what the binders promise.
        self.joined: frozenset[tuple[Ref, Ref, int]] = frozenset()
        self.called: dict[Ref, ir.Called] = {}  # the lets that values are
        self._inlined: dict[Hashable, Ref] = {}
        self._deepest: list[int] = []

    # Expressions

    def expr(self, expr: Expr, names: Names) -> Ref:
        add = self.build.add
        match expr:
            case model.Number():
                return add(ir.Const(float(expr.value), NUMBER))
            case model.Boolean():
                return add(ir.Const(expr.value, TRUTH))
            case model.Category():
                return add(ir.Const(float(expr.value), CATEGORY))
            case model.Variable():
                return names[expr.name]
            case model.Read():
                return self.cell(expr.feature, tuple(self.expr(i, names) for i in expr.index))
            case model.OneNode():
                return self.marked(expr.feature)
            case model.Size():
                return add(ir.Nodes() if expr.of == "nodes" else ir.Edges(self.versions.of("")))
            case model.HasEdge():
                return self.has_edge(self.expr(expr.source, names), self.expr(expr.target, names))
            case model.Degree():
                node = self.expr(expr.node, names)
                return add(ir.Degree(node, expr.direction, self.versions.of("")))
            case model.Last():
                return add(ir.Last(self.phase_numbers[expr.phase]))
            case model.Otherwise():
                return add(
                    ir.Otherwise(self.expr(expr.value, names), self.expr(expr.default, names))
                )
            case model.Unary():
                operand = self.expr(expr.operand, names)
                return add(ir.Unary(expr.op, operand))
            case model.Arithmetic():
                left, right = self.expr(expr.left, names), self.expr(expr.right, names)
                return add(ir.Binary(expr.op, left, right))
            case model.Compare():
                left, right = self.expr(expr.left, names), self.expr(expr.right, names)
                return add(ir.Compare(expr.op, left, right))
            case model.Logic():
                return add(ir.Logic(expr.op, tuple(self.expr(arg, names) for arg in expr.args)))
            case model.IfElse():
                parts = (expr.condition, expr.then, expr.otherwise)
                return add(ir.Select(*(self.expr(part, names) for part in parts)))
            case model.Quantifier():
                return self.quantifier(expr, names)
            case model.LetCall():
                let = self.lets[expr.name]
                args = tuple(self.expr(arg, names) for arg in expr.args)
                value = self.inlined(let.body, [param.name for param in let.params], args)
                self.called.setdefault(value, ir.Called(value, expr.name, args))
                return value
            case model.ClauseRef():
                return self.inlined(self.clause(expr), [], ())
            case model.Call():
                return self.call(expr, names)
            case model.Chase():
                return self.chase(expr, names)
            case model.Reach():
                return self.reach(expr, names)
            case model.Choice() | model.FeatureRef():
                raise InternalError("an argument of a function was used as a value")
            case _:
                assert_never(expr)

    def inlined(self, body: Expr, names: Sequence[str], args: tuple[Ref, ...]) -> Ref:
        """A definition with its arguments, lowered once per arguments and state of writes."""
        outside = self.depth
        self.depth = max([outside, *(self.deepest(arg) for arg in args)])
        writes = tuple(sorted(self.versions.counts.items()))
        key = (id(body), args, self.depth, writes, self.joined)
        if key not in self._inlined:
            self._inlined[key] = self.expr(body, dict(zip(names, args, strict=False)))
        self.depth = outside
        return self._inlined[key]

    def deepest(self, ref: Ref) -> int:
        """A depth whose axes are bound nowhere in a value."""
        for number in range(len(self._deepest), len(self.build.ops)):
            op = self.build.ops[number]
            own = [int(axis.rpartition("_")[2]) + 1 for axis in ir.own_axes(op)]
            self._deepest.append(max([0, *own, *(self._deepest[r] for r in ir.operands(op))]))
        return self._deepest[ref]

    def clause(self, expr: model.ClauseRef) -> Expr:
        if expr.clause == "objective":
            return self.problem.objective(expr.name).value
        clause = self.problem.correct if expr.clause == "correct" else self.problem.valid
        if clause is None:
            raise InternalError(f"the clause `{expr.clause}` is missing")
        return clause

    def cell(self, name: str, index: tuple[Ref, ...]) -> Ref:
        """A stored cell, or the formula of a derived one; off the edges derived ones read 0."""
        feature = self.build.features[name]
        if feature.type is MASK_ONE:
            return self.build.add(ir.Compare("==", self.marked(name), index[0]))
        if not feature.stage.computed:
            return self.build.add(ir.Read(name, index, self.versions.of(name)))
        if feature.initial is None:
            raise InternalError(f"the derived feature `{name}` has no formula")
        value = self.inlined(feature.initial, feature.vars, index)
        if feature.place is not EDGE:
            return value
        joined = self.has_edge(index[0], index[1])
        kind = self.build.infos[value].kind
        if kind is NODE_VALUE:
            return self.build.add(ir.Select(joined, value, index[0]))
        nothing = self.build.add(ir.Const(False if kind is TRUTH else 0.0, kind))
        return self.build.add(ir.Select(joined, value, nothing))

    def has_edge(self, source: Ref, target: Ref) -> Ref:
        """Whether two nodes are joined: known, if a binder went along that edge."""
        version = self.versions.of("")
        ends = {(source, target, version)}
        if not self.problem.graph.directed:
            ends.add((target, source, version))
        if ends & self.joined:
            return self.build.add(ir.Const(True, TRUTH))
        return self.build.add(ir.HasEdge(source, target, version))

    def marked(self, name: str) -> Ref:
        """The node of a mask_one, or the formula that says which."""
        feature = self.build.features[name]
        if not feature.stage.computed or feature.initial is None:
            return self.build.add(ir.Marked(name, self.versions.of(name)))
        return self.inlined(feature.initial, (), ())

    # Binders

    @contextmanager
    def bound(
        self, binders: Sequence[model.Binder], names: Names
    ) -> Iterator[tuple[tuple[ir.Domain, ...], Names]]:
        """Named axes for the binders, and the names in reach inside them."""
        outside = self.depth, self.joined
        result: list[ir.Domain] = []
        inner = dict(names)
        for binder in binders:
            domain, kind = self.domain(binder, inner)
            axes = [self.build.add(ir.Axis(axis, kind)) for axis in domain.axes]
            inner |= zip(binder.names, axes, strict=True)
            self.depth += len(binder.names)
            self.joined |= _joined_by(domain, axes)
            result.append(domain)
        yield tuple(result), inner
        self.depth, self.joined = outside

    def domain(self, binder: model.Binder, names: Names) -> tuple[ir.Domain, Value]:
        axes = tuple(f"{name}_{self.depth + i}" for i, name in enumerate(binder.names))
        version = self.versions.of("")
        match binder.domain:
            case model.NodesDomain():
                return ir.Domain("nodes", axes), NODE_VALUE
            case model.EdgesDomain():
                return ir.Domain("edges", axes, version=version), NODE_VALUE
            case model.NearDomain():
                node = self.expr(binder.domain.node, names)
                way = binder.domain.direction
                return ir.Domain("near", axes, node, way, version=version), NODE_VALUE
            case model.RangeDomain():
                bounds = (binder.domain.first, binder.domain.last)
                return ir.Domain("range", axes, bounds=bounds), NUMBER
            case _:
                assert_never(binder.domain)

    def quantifier(self, expr: model.Quantifier, names: Names) -> Ref:
        with self.bound(expr.binders, names) as (domains, inner):
            where = None if expr.where is None else self.expr(expr.where, inner)
            body = None if expr.body is None else self.expr(expr.body, inner)
        return self.build.add(ir.Reduce(expr.op, domains, where, body))

    def chase(self, expr: model.Chase, names: Names) -> Ref:
        at = f"at_{self.depth}"
        start = self.expr(expr.start, names)
        target = None if expr.target is None else self.expr(expr.target, names)
        here = self.build.add(ir.Axis(at, NODE_VALUE))
        self.depth += 1
        if expr.op == "root":
            roots = self.build.add(ir.Roots(self.cell(expr.pointer, (here,)), at))
            self.depth -= 1
            return self.build.add(ir.At(roots, start))
        following = self.cell(expr.pointer, (here,))
        cost = None if expr.weight is None else self.cell(expr.weight, (following, here))
        self.depth -= 1
        return self.build.add(ir.Chase(expr.op, following, start, target, at, cost))

    def reach(self, expr: model.Reach, names: Names) -> Ref:
        """Rows start where fewer variables matter, so that one serves for many nodes."""
        nodes = [self.expr(node, names) for node in expr.nodes]
        every = model.Binder(names=("u", "v"), domain=model.EdgesDomain())
        with self.bound(expr.binders or (every,), names) as (domains, inner):
            where = None if expr.where is None else self.expr(expr.where, inner)
        source, reverse = None, False
        if expr.op == "distance":
            one, other = (len(self.build.infos[node].axes) for node in nodes)
            reverse = other < one
            source = nodes.pop(1 if reverse else 0)
        both = expr.both_ways and not self.problem.graph.directed
        version = self.versions.of("") if len(expr.variables) == 1 else 0
        row = self.build.add(ir.Reach(expr.op, domains, where, source, reverse, both, version))
        return row if expr.op == "acyclic" else self.build.add(ir.At(row, nodes[0]))

    def call(self, expr: model.Call, names: Names) -> Ref:
        """Of the features of a registered function, only pointers can be derived ones."""
        declared = self.problem.extern(expr.function)
        signature = signature_called(self.problem, expr.function)
        args: list[Ref | str] = []
        versions: list[int] = []
        axes: list[str] = []  # as many as the widest whole feature needs
        for arg, kind in zip(expr.args, signature.args, strict=True):
            if not isinstance(arg, model.FeatureRef):
                args.append(arg.value if isinstance(arg, model.Choice) else self.expr(arg, names))
                continue
            feature = self.build.features[arg.feature]
            points = kind.type is not None and kind.type.apart  # given as they are
            if (feature.type is POINTER or declared is not None) and not points:
                own = [f"at_{self.depth + k}" for k in range(feature.place.width)]
                args.append(self.everywhere(arg.feature, own))
                axes = max(axes, own, key=len)
            else:
                args.append(arg.feature)
                versions.append(self.versions.of(arg.feature))
        versions.append(self.versions.of(""))
        known = (expr.function, tuple(args), tuple(versions), signature)
        return self.build.add(ir.Call(*known, *axes))

    def everywhere(self, feature: str, axes: Sequence[str]) -> Ref:
        """A feature at every node, or at every two of them."""
        nodes = tuple(self.build.add(ir.Axis(axis, NODE_VALUE)) for axis in axes)
        self.depth += len(axes)
        value = self.cell(feature, nodes)
        self.depth -= len(axes)
        return value


def _joined_by(domain: ir.Domain, axes: list[Ref]) -> frozenset[tuple[Ref, Ref, int]]:
    """The ends of the edge that an axis goes along."""
    match domain.kind:
        case "edges":
            return frozenset({(axes[0], axes[1], domain.version)})
        case "near" if domain.node is not None:
            ends = (domain.node, axes[0])
            source, target = ends[::-1] if domain.direction == "in" else ends
            return frozenset({(source, target, domain.version)})
        case _:
            return frozenset()
