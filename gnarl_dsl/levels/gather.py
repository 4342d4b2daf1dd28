"""Formulas in, what they ask of the units of their numbers out: one recursion over the language.

Every formula that decides is entered once, with the lets, derived features and oracles behind it.
A let with numbers for parameters has one dimension for each, whoever calls it: less is claimed
than could be, never more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from gnarl_dsl import model
from gnarl_dsl.language.called import signature_called
from gnarl_dsl.levels.system import ONE, PURE, Dimension, plus, unit
from gnarl_dsl.model import Expr, Problem, Statement
from gnarl_dsl.model.kinds import CATEGORY, NUMBER, ORACLE, ORDINAL, RATIO
from gnarl_dsl.model.parts import features_named, parts_behind
from gnarl_dsl.report.source import Span

Names = Mapping[str, Dimension | None]  # what is bound; None is not a number


@dataclass(frozen=True)
class Equation:
    """A place where two numbers meet and so have one dimension: the difference is pure.

    `other` is the dimension that meets a number of things, such as n, if one side is that.
    """

    span: Span
    dimension: Dimension
    other: Dimension | None = None
    sign: str = ""


@dataclass(frozen=True)
class Arithmetic:
    """A place where more is done to a number than to compare it."""

    span: Span
    dimension: Dimension


@dataclass
class Gathered:
    """What the formulas entered so far ask for."""

    problem: Problem
    equations: list[Equation] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)
    _entered: dict[str, Dimension | None] = field(default_factory=dict)
    _free: int = 0

    # Entering

    def formula(self, expr: Expr) -> Dimension | None:
        """The dimension of a formula without variables, if it is a number."""
        return self._of(expr, {})

    def figure(self, expr: Expr) -> None:
        """A formula of which differences count: an objective, a reward."""
        self._calculate(expr.span, self.formula(expr))

    def statements(
        self, body: Iterable[Statement], names: Names, judging: frozenset[str] = frozenset()
    ) -> None:
        """What updates do, but for writes of features that only judges read."""
        names = dict(names)
        for statement in body:
            match statement:
                case model.Assign(feature=name) if name in judging:
                    pass
                case model.Assign():
                    self._visit(statement.index, names)
                    value = self._of(statement.value, names)
                    self._stored(statement.span, statement.feature, statement.value, value)
                case model.SetEdge():
                    self._visit((statement.source, statement.target, statement.value), names)
                case model.Bind():
                    names[statement.name] = self._of(statement.value, names)
                case model.When():
                    self._of(statement.condition, names)
                    self.statements(statement.then, names, judging)
                    self.statements(statement.otherwise, names, judging)
                case model.ForEach():
                    inner = self._bound(statement.binders, names)
                    self._visit((statement.where,), inner)
                    self.statements(statement.body, inner, judging)
                case _:
                    assert_never(statement)

    def choice(self, alternative: model.Alternative) -> None:
        """A rule of an expert: values of a criterion are compared among nodes."""
        self._visit((alternative.where, *(key.value for key in alternative.keys)), {})

    def feature(self, feature: model.Feature) -> Dimension | None:
        """The dimension of a feature, after the formula that it starts from or stands for."""
        if feature.name not in self._entered:
            own = unit(feature.name) if feature.is_measured else None
            if feature.type.apart:  # no bending of the plane bends all distances alike
                self._calculate(feature.span, own)
            self._entered[feature.name] = PURE if feature.type.value is CATEGORY else own
            if feature.type.apart:
                self._calculate(feature.span, own)  # a network reads distances, whoever else does
            if feature.stage is ORACLE and feature.initial is None:
                self._pure(feature.span, own)  # given, whatever becomes of the inputs
            if feature.initial is not None:
                value = self._of(feature.initial, {})
                self._stored(feature.initial.span, feature.name, feature.initial, value)
        return self._entered[feature.name]

    # Requirements

    def _stored(self, span: Span, name: str, expr: Expr, value: Dimension | None) -> None:
        """What a feature is assigned has the dimension of the feature."""
        feature = self.problem.feature(name)
        if value is not None and feature.is_number:
            self._meet(span, ":=", unit(name), value, None, expr)
        elif value is not None:
            self._pure(span, value)

    def _meet(
        self,
        span: Span,
        sign: str,
        left: Dimension,
        right: Dimension,
        one: Expr | None,
        two: Expr | None,
    ) -> None:
        counts = [expr is not None and self._is_count(expr) for expr in (one, two)]
        other = (right if counts[0] else left) if counts[0] != counts[1] else None
        self.equations.append(Equation(span, plus(left, right, -ONE), other, sign))

    def _same(self, span: Span, sign: str, one: Expr, two: Expr, names: Names) -> Dimension | None:
        left, right = self._of(one, names), self._of(two, names)
        if left is None or right is None:
            return left
        self._meet(span, sign, left, right, one, two)
        return left

    def _pure(self, span: Span, dimension: Dimension | None) -> None:
        if dimension:
            self.equations.append(Equation(span, dimension))

    def _calculate(self, span: Span, dimension: Dimension | None) -> Dimension | None:
        if dimension:
            self.arithmetic.append(Arithmetic(span, dimension))
        return dimension

    # The recursion

    def _visit(self, parts: Iterable[Expr | None], names: Names) -> None:
        for part in parts:
            if part is not None:
                self._of(part, names)

    def _of(self, expr: Expr, names: Names) -> Dimension | None:
        match expr:
            case model.Number():
                return self._number(expr)
            case model.Variable():
                return names.get(expr.name)
            case model.Read():
                self._visit(expr.index, names)
                return self.feature(self.problem.feature(expr.feature))
            case model.OneNode() | model.FeatureRef():
                return self.feature(self.problem.feature(expr.feature))
            case model.Size():
                return PURE
            case model.Degree():
                self._of(expr.node, names)
                return PURE
            case model.HasEdge():
                self._visit((expr.source, expr.target), names)
                return None
            case model.Otherwise():
                return self._same(expr.span, "otherwise", expr.value, expr.default, names)
            case model.Unary():
                return self._unary(expr, names)
            case model.Arithmetic():
                return self._arithmetic(expr, names)
            case model.Compare():
                self._compare(expr, names)
                return None
            case model.Logic():
                self._visit(expr.args, names)
                return None
            case model.IfElse():
                self._of(expr.condition, names)
                return self._same(expr.span, "if", expr.then, expr.otherwise, names)
            case model.Quantifier():
                return self._quantifier(expr, names)
            case model.LetCall():
                return self._let(expr, names)
            case model.ClauseRef():
                return self._clause(expr)
            case model.Call():
                return self._call(expr, names)
            case model.Chase():
                return self._chase(expr, names)
            case model.Reach():
                self._visit((expr.where,), self._bound(expr.binders, names))
                self._visit(expr.nodes, names)
                return PURE if expr.op == "distance" else None
            case model.Boolean() | model.Category() | model.Choice() | model.Last():
                return None
            case _:
                assert_never(expr)

    def _number(self, number: model.Number) -> Dimension:
        """0 and infinity have every unit; other literals have that of their param, or none."""
        if number.value == 0 or math.isinf(number.value):
            self._free += 1
            return unit(f"#{self._free}")
        if not number.unit:
            return PURE
        # A constant stays where it is when inputs are replaced by their ranks.
        owner = self.feature(self.problem.feature(number.unit))
        return self._calculate(number.span, owner) or PURE

    def _unary(self, expr: model.Unary, names: Names) -> Dimension | None:
        operand = self._of(expr.operand, names)
        if expr.op in ("neg", "abs"):
            return self._calculate(expr.span, operand)
        self._pure(expr.span, operand)  # ceil, floor, and what may come
        return None if operand is None else PURE

    def _arithmetic(self, expr: model.Arithmetic, names: Names) -> Dimension | None:
        if expr.op in ("min", "max"):
            return self._same(expr.span, expr.op, expr.left, expr.right, names)
        if expr.op in ("+", "-"):
            total = self._same(expr.span, expr.op, expr.left, expr.right, names)
            return self._calculate(expr.span, total)
        left = self._calculate(expr.span, self._of(expr.left, names)) or PURE
        right = self._calculate(expr.span, self._of(expr.right, names)) or PURE
        if expr.op in ("*", "/"):
            return plus(left, right, ONE if expr.op == "*" else -ONE)
        self._pure(expr.span, left)
        self._pure(expr.span, right)
        return PURE

    def _compare(self, expr: model.Compare, names: Names) -> None:
        if expr.of is not NUMBER:
            self._visit((expr.left, expr.right), names)
            return
        shared = self._same(expr.span, expr.op, expr.left, expr.right, names)
        bounds = (expr.left, expr.right)
        if expr.op == "~=" and not any(_is_infinite(side) for side in bounds):
            self._calculate(expr.span, shared)

    def _quantifier(self, expr: model.Quantifier, names: Names) -> Dimension | None:
        inner = self._bound(expr.binders, names)
        self._visit((expr.where,), inner)
        body = None if expr.body is None else self._of(expr.body, inner)
        match expr.op:
            case "count":
                return PURE
            case "sum":
                return self._calculate(expr.span, body)
            case "min" | "max":
                return body
            case "exists" | "forall" | "argmin" | "argmax":
                return None

    def _bound(self, binders: tuple[model.Binder, ...], names: Names) -> Names:
        """With the variables of a quantifier or loop: numbers of a range are pure."""
        inner = dict(names)
        for binder in binders:
            match binder.domain:
                case model.NearDomain():
                    self._of(binder.domain.node, inner)
                    inner |= dict.fromkeys(binder.names)
                case model.RangeDomain():
                    inner |= dict.fromkeys(binder.names, PURE)
                case model.NodesDomain() | model.EdgesDomain():
                    inner |= dict.fromkeys(binder.names)
                case _:
                    assert_never(binder.domain)
        return inner

    def _let(self, call: model.LetCall, names: Names) -> Dimension | None:
        let = self.problem.let(call.name)
        given = {
            param.name: unit(f"{let.name}.{param.name}") if param.type is NUMBER else None
            for param in let.params
        }
        for param, arg in zip(let.params, call.args, strict=True):
            value, wanted = self._of(arg, names), given[param.name]
            if value is not None and wanted is not None:
                self._meet(arg.span, "(", wanted, value, None, None)
        key = f"let {let.name}"
        if key not in self._entered:
            self._entered[key] = self._of(let.body, given)
        return self._entered[key]

    def _clause(self, expr: model.ClauseRef) -> Dimension | None:
        key = f"{expr.clause} {expr.name}"
        if key not in self._entered:
            clause = {"correct": self.problem.correct, "valid": self.problem.valid}
            known = clause.get(expr.clause)
            body = self.problem.objective(expr.name).value if known is None else known
            self._entered[key] = self._of(body, {})
        return self._entered[key]

    def _call(self, call: model.Call, names: Names) -> Dimension | None:
        """A registered function keeps what its signature promises, of whole features only."""
        signature = signature_called(self.problem, call.function)
        dimensions = [self._of(arg, names) for arg in call.args]
        for arg, dimension in zip(call.args, dimensions, strict=True):
            kept = signature.keeps if isinstance(arg, model.FeatureRef) else None
            if kept is RATIO:
                self._calculate(call.span, dimension)
            elif kept is not ORDINAL:
                self._pure(call.span, dimension)
        if signature.type.value is not NUMBER:
            return None
        return PURE if signature.like is None else dimensions[signature.like]

    def _chase(self, expr: model.Chase, names: Names) -> Dimension | None:
        self._visit((expr.start, expr.target), names)
        self.feature(self.problem.feature(expr.pointer))
        match expr.op:
            case "depth":
                return PURE
            case "path_cost":
                assert expr.weight is not None
                weight = self.problem.feature(expr.weight)
                return self._calculate(expr.span, self.feature(weight))
            case "on_cycle" | "root":
                return None

    # Numbers of things

    def _is_count(self, expr: Expr) -> bool:
        """Whether a formula says how many there are of something: n, a degree, count(…)."""
        match expr:
            case model.Size() | model.Degree() | model.Chase(op="depth") | model.Reach():
                return True
            case model.Quantifier(op="count"):
                return True
            case model.Quantifier(op="sum" | "min" | "max", body=body):
                return body is not None and self._is_count(body)
            case model.LetCall():
                return self._is_count(self.problem.let(expr.name).body)
            case model.IfElse():
                return self._is_count(expr.then) and self._is_count(expr.otherwise)
            case model.Arithmetic(op="/"):
                return False
            case model.Arithmetic():
                sides = (expr.left, expr.right)
                whole = [isinstance(s, model.Number) and s.value.is_integer() for s in sides]
                return any(map(self._is_count, sides)) and all(
                    whole[at] or self._is_count(side) for at, side in enumerate(sides)
                )
        return False


def _is_infinite(expr: Expr) -> bool:
    return isinstance(expr, model.Number) and math.isinf(expr.value)


def reads_oracle(problem: Problem, expr: Expr) -> bool:
    """Whether a formula, or one behind it, reads a label."""
    for part in parts_behind(problem, expr):
        if isinstance(part, model.Call) and signature_called(problem, part.function).oracle:
            return True
        if any(problem.feature(name).stage is ORACLE for name in features_named(part)):
            return True
    return False
