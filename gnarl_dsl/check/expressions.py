"""Syntax of an expression in, typed model expression with its facts out.

The checker never stops at the first mistake: a part that was reported gets the poison
type, which fits everywhere, so that one slip gives one message.
"""

from __future__ import annotations

import math
from typing import assert_never

from gnarl_dsl import model
from gnarl_dsl.check.environment import Scope
from gnarl_dsl.check.facts import NO_FACTS, Typed
from gnarl_dsl.check.hints import compare_fix, operand_fix, type_fix
from gnarl_dsl.check.joins import joined_pairs
from gnarl_dsl.check.names import NameChecker
from gnarl_dsl.check.types import MASK, NODE, POISON, SCALAR, WHOLE, Type
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast
from gnarl_dsl.syntax.layout import MAX_DEPTH

# The parser allows MAX_DEPTH; beyond it only a circle of definitions can lead.
_MAX_DEPTH = MAX_DEPTH + 20
_COMPARE_KINDS = {"scalar": "numbers", "node": "nodes", "mask": "truth values"}


class ExpressionChecker(NameChecker):
    """Checks expressions against the declarations of one spec."""

    def check_expr(self, tree: ast.Expr, scope: Scope, expected: Type | None = None) -> Typed:
        """Type one expression; `expected` lets a bare word mean a category."""
        self._depth += 1
        typed = self._typed(tree, scope, expected) if self._depth <= _MAX_DEPTH else None
        self._depth -= 1
        if typed is None:
            self.found.add("GN009", tree.span, limit=MAX_DEPTH)
            return self.poison(tree.span)
        return typed

    def _typed(self, tree: ast.Expr, scope: Scope, expected: Type | None) -> Typed:
        match tree:
            case ast.Number():
                return self.check_number(tree)
            case ast.Boolean():
                return Typed(model.Boolean.model_construct(span=tree.span, value=tree.value), MASK)
            case ast.Infinity():
                infinite = model.Number.model_construct(span=tree.span, value=math.inf)
                return Typed(infinite, WHOLE)
            case ast.Name():
                return self.check_name(tree, scope, expected)
            case ast.Call():
                return self.check_call(tree, scope)
            case ast.Index():
                return self.check_index(tree, scope)
            case ast.Last():
                return self.check_last(tree)
            case ast.Unary():
                return self._unary(tree, scope)
            case ast.Binary():
                return self._binary(tree, scope)
            case ast.Compare():
                return self._compare(tree, scope)
            case ast.Logic():
                return self._logic(tree, scope)
            case ast.IfElse():
                return self._if_else(tree, scope, expected)
            case ast.Otherwise():
                return self._otherwise(tree, scope)
            case ast.Quantifier():
                return self.check_quantifier(tree, scope)
            case _:
                assert_never(tree)

    def check_as(self, tree: ast.Expr, scope: Scope, wanted: Type, what: str) -> Typed:
        """Type an expression that must be of one type; `what` names the place for messages."""
        typed = self.check_expr(tree, scope, wanted)
        return self.require(typed, wanted, tree.span, what)

    def require(self, typed: Typed, wanted: Type, span: Span, what: str) -> Typed:
        if typed.is_poison or wanted.kind == "poison":
            return typed
        if typed.type.optional and not wanted.optional and typed.type.kind == wanted.kind:
            self.found.add("GN301", span, what=what)
            return self.poison(span)
        if typed.type.kind == wanted.kind:
            return typed
        if _is_numbered_category(typed.type) and wanted.kind == "scalar":
            return typed
        code = "GN206" if wanted == MASK else "GN205"
        self.found.add(
            code, span, what=what, expected=wanted, found=typed.type, fix=type_fix(typed, wanted)
        )
        return self.poison(span)

    def check_stored(self, tree: ast.Expr, scope: Scope, feature: str) -> Typed:
        """A value that a feature is to hold, at its start or by an update."""
        info = self.names.features[feature]
        what = f"the value of `{feature}`"
        if info.stage == "oracle" and isinstance(tree, ast.Call):
            return self._oracle_value(tree, scope, feature, what)
        wanted = NODE if info.type == "mask_one" else self.value_type(feature)
        typed = self.check_expr(tree, scope, wanted)
        if _is_numbered_category(wanted) and typed.type.kind == "scalar":
            return self._numbered(typed, wanted, tree.span)
        typed = self.require(typed, wanted, tree.span, what)
        if info.stage != "oracle" and _is_infinite(typed.expr):
            self.found.add("GN407", tree.span, name=feature)
        return typed

    def _oracle_value(self, tree: ast.Call, scope: Scope, feature: str, what: str) -> Typed:
        info = self.names.features[feature]
        if self.is_function(tree.name.text, scope):
            # One call fills the whole feature, so its arguments know no position.
            typed = self.check_function(tree, Scope(), info.place)
        else:
            typed = self.check_expr(tree, scope)
        wanted = NODE if info.type == "mask_one" else self.value_type(feature)
        return self.require(typed, wanted, tree.span, what)

    def _numbered(self, typed: Typed, wanted: Type, span: Span) -> Typed:
        """A number for a categorical(k) must be one of 0..k-1 where that is known."""
        value = typed.expr.value if isinstance(typed.expr, model.Number) else 0.0
        if not typed.type.whole or not 0 <= value < wanted.categories:
            self.found.add("GN222", span, last=wanted.categories - 1)
            return self.poison(span)
        return typed

    def poison(self, span: Span, *parts: Typed) -> Typed:
        """What stands for a reported expression; what its parts read is still known."""
        facts = NO_FACTS.plus(*(part.facts for part in parts)) if parts else NO_FACTS
        return Typed(model.Boolean.model_construct(span=span, value=False), POISON, facts)

    # Operators

    def _unary(self, tree: ast.Unary, scope: Scope) -> Typed:
        if tree.op == "not":
            operand = self.check_as(tree.operand, scope, MASK, "`not`")
            if isinstance(operand.expr, model.Boolean) and not operand.is_poison:
                flipped = not operand.expr.value
                return Typed(model.Boolean.model_construct(span=tree.span, value=flipped), MASK)
            negated = model.Unary.model_construct(span=tree.span, op="not", operand=operand.expr)
            return Typed(negated, operand.type, operand.facts)
        operand = self._number_operand(tree.operand, scope, "`-`")
        expr = self.folded_unary("neg", operand.expr, tree.span)
        return Typed(expr, operand.type, operand.facts)

    def _number_operand(self, tree: ast.Expr, scope: Scope, sign: str) -> Typed:
        typed = self.check_expr(tree, scope)
        if typed.type.kind in ("mask", "node", "choice") or typed.type.choices:
            code = "GN207" if typed.type.kind == "mask" else "GN209"
            self.found.add(code, tree.span, found=typed.type, sign=sign, fix=operand_fix(typed))
            return self.poison(tree.span)
        return self.require(typed, SCALAR, tree.span, sign)

    def _binary(self, tree: ast.Binary, scope: Scope) -> Typed:
        left = self._number_operand(tree.left, scope, f"`{tree.op}`")
        right = self._number_operand(tree.right, scope, f"`{tree.op}`")
        if tree.op == "/" and isinstance(right.expr, model.Number) and right.expr.value == 0:
            self.found.add("GN905", tree.span)
        return self.arithmetic(tree.op, left, right, tree.span)

    def _compare(self, tree: ast.Compare, scope: Scope) -> Typed:
        left, right = self._compared(tree, scope)
        if left.is_poison or right.is_poison:
            return self.poison(tree.span, left, right)
        kind = self._common_kind(tree, left.type, right.type)
        if kind is None:
            return self.poison(tree.span, left, right)
        if kind == "choice":
            return self._fold_choice(tree, left.expr, right.expr)
        if tree.op in ("==", "!=") and kind == "scalar":
            self._warn_exact(tree, left, right)
        expr = model.Compare.model_construct(
            span=tree.span, op=tree.op, of=kind, left=left.expr, right=right.expr
        )
        return Typed(expr, MASK, left.facts.plus(right.facts))

    def _compared(self, tree: ast.Compare, scope: Scope) -> tuple[Typed, Typed]:
        """Check the side with a known type first: it tells what a bare word may mean."""
        if isinstance(tree.left, ast.Name) and not self.is_known(tree.left.text, scope):
            right = self.check_expr(tree.right, scope)
            return self.check_expr(tree.left, scope, right.type), right
        left = self.check_expr(tree.left, scope)
        return left, self.check_expr(tree.right, scope, left.type)

    def _common_kind(self, tree: ast.Compare, left: Type, right: Type) -> str | None:
        kinds = {left.kind, right.kind}
        if any(_is_numbered_category(t) for t in (left, right)) and kinds <= {"category", "scalar"}:
            kinds = {"scalar"}
        if len(kinds) > 1 or (left.kind == "category" and left.choices != right.choices):
            code = "GN223" if kinds == {"node", "scalar"} else "GN208"
            fix = compare_fix(left, right) if code == "GN208" else None
            self.found.add(code, tree.span, op=tree.op, left=left, right=right, fix=fix)
            return None
        kind = kinds.pop()
        ordered = tree.op not in ("==", "!=")
        if ordered and kind != "scalar":
            fix = "Write `==`, which is exact for these." if tree.op == "~=" else None
            self.found.add("GN226", tree.span, op=tree.op, what=_plural(kind), fix=fix)
            return None
        return kind

    def _fold_choice(self, tree: ast.Compare, left: model.Expr, right: model.Expr) -> Typed:
        """Enum parameters are known now, so the comparison is too."""
        same = getattr(left, "value", None) == getattr(right, "value", None)
        value = same if tree.op == "==" else not same
        return Typed(model.Boolean.model_construct(span=tree.span, value=value), MASK)

    def _warn_exact(self, tree: ast.Compare, left: Typed, right: Typed) -> None:
        if not (left.type.whole or left.type.kind == "category") or not (
            right.type.whole or right.type.kind == "category"
        ):
            fix = "Use `not (… ~= …)`, or compare counts." if tree.op == "!=" else None
            self.found.add("GN903", tree.span, op=tree.op, fix=fix)

    def _logic(self, tree: ast.Logic, scope: Scope) -> Typed:
        parts: list[Typed] = []
        inner = scope
        for arg in tree.args:
            parts.append(self.check_as(arg, inner, MASK, f"`{tree.op}`"))
            holds = tree.op == "and"
            inner = inner.joining(joined_pairs(arg, holds))
        if any(part.is_poison for part in parts):
            return self.poison(tree.span, *parts)
        return self._folded_logic(tree, parts)

    def _folded_logic(self, tree: ast.Logic, parts: list[Typed]) -> Typed:
        decisive = tree.op == "or"
        kept: list[Typed] = []
        for part in parts:
            if not isinstance(part.expr, model.Boolean):
                kept.append(part)
            elif part.expr.value == decisive:
                return Typed(model.Boolean.model_construct(span=tree.span, value=decisive), MASK)
        if not kept:
            return Typed(model.Boolean.model_construct(span=tree.span, value=not decisive), MASK)
        if len(kept) == 1:
            return kept[0]
        expr = model.Logic.model_construct(
            span=tree.span, op=tree.op, args=tuple(part.expr for part in kept)
        )
        return Typed(expr, MASK, NO_FACTS.plus(*(part.facts for part in kept)))

    def _if_else(self, tree: ast.IfElse, scope: Scope, expected: Type | None) -> Typed:
        condition = self.check_as(tree.condition, scope, MASK, "the condition of `if`")
        then_scope = scope.joining(joined_pairs(tree.condition, True))
        then = self.check_expr(tree.then, then_scope, expected)
        else_scope = scope.joining(joined_pairs(tree.condition, False))
        other = self.check_expr(tree.otherwise, else_scope, expected or then.type)
        if then.is_poison or other.is_poison or condition.is_poison:
            return self._poisoned_choice(tree, condition, then, other)
        if not _same_kind(then.type, other.type):
            self.found.add("GN212", tree.span, then=then.type, other=other.type)
            return self._poisoned_choice(tree, condition, then, other)
        if isinstance(condition.expr, model.Boolean):
            return then if condition.expr.value else other
        expr = model.IfElse.model_construct(
            span=tree.span, condition=condition.expr, then=then.expr, otherwise=other.expr
        )
        facts = condition.facts.plus(then.facts, other.facts)
        return Typed(expr, merge_types(then.type, other.type), facts)

    def _poisoned_choice(
        self, tree: ast.IfElse, condition: Typed, then: Typed, other: Typed
    ) -> Typed:
        """A branch that enum params rule out reads nothing, even in a mistaken choice."""
        if isinstance(condition.expr, model.Boolean) and not condition.is_poison:
            return self.poison(tree.span, then if condition.expr.value else other)
        return self.poison(tree.span, condition, then, other)

    def _otherwise(self, tree: ast.Otherwise, scope: Scope) -> Typed:
        value = self.check_expr(tree.value, scope)
        default = self.check_expr(tree.default, scope)
        if value.is_poison or default.is_poison:
            return self.poison(tree.span, value, default)
        if not value.type.optional:
            self.found.add("GN908", tree.span, found=value.type)
            return value
        self.require(
            default, Type("node", optional=True), tree.default.span, "the value after `otherwise`"
        )
        expr = model.Otherwise.model_construct(
            span=tree.span, value=value.expr, default=default.expr
        )
        return Typed(expr, default.type, value.facts.plus(default.facts))


def merge_types(left: Type, right: Type) -> Type:
    """The type of a value that is one of two."""
    if left.kind != right.kind:
        return SCALAR
    whole, optional = left.whole and right.whole, left.optional or right.optional
    return Type(left.kind, whole, optional, left.choices, left.categories)


def _same_kind(left: Type, right: Type) -> bool:
    numeric = {"scalar"} | ({"category"} if not left.choices and not right.choices else set())
    if left.kind in numeric and right.kind in numeric:
        return True
    return left.kind == right.kind and left.choices == right.choices


def _is_numbered_category(kind: Type) -> bool:
    return kind.kind == "category" and not kind.choices


def _is_infinite(expr: model.Expr) -> bool:
    return isinstance(expr, model.Number) and math.isinf(expr.value)


def _plural(kind: str) -> str:
    return _COMPARE_KINDS.get(kind, "categories")
