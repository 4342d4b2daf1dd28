"""Syntax of an expression in, typed model expression with its facts out.

The checker never stops at the first mistake: a part that was reported gets the poison
type, which fits everywhere, so that one slip gives one message.
"""

from __future__ import annotations

import math
from typing import assert_never

from gnarl_dsl import ast, builtins, model
from gnarl_dsl.declare import MAX_NUMBER
from gnarl_dsl.environment import Scope
from gnarl_dsl.facts import NO_FACTS, Facts, Typed, Witness
from gnarl_dsl.joins import joined_pairs
from gnarl_dsl.layout import MAX_DEPTH
from gnarl_dsl.quantifiers import QuantifierChecker
from gnarl_dsl.scope import did_you_mean
from gnarl_dsl.source import Span
from gnarl_dsl.types import MASK, MAYBE_NODE, NODE, POISON, SCALAR, WHOLE, Type

# The parser allows MAX_DEPTH; beyond it only a circle of definitions can lead.
_MAX_DEPTH = MAX_DEPTH + 20
_COMPARE_KINDS = {"scalar": "numbers", "node": "nodes", "mask": "truth values"}


class ExpressionChecker(QuantifierChecker):
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
                return self._number(tree)
            case ast.Boolean():
                return Typed(model.Boolean.model_construct(span=tree.span, value=tree.value), MASK)
            case ast.Infinity():
                infinite = model.Number.model_construct(span=tree.span, value=math.inf)
                return Typed(infinite, WHOLE)
            case ast.Name():
                return self._name(tree, scope, expected)
            case ast.Call():
                return self.check_call(tree, scope)
            case ast.Index():
                return self._index(tree, scope)
            case ast.Last():
                return self._last(tree)
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
            code, span, what=what, expected=wanted, found=typed.type, fix=_type_fix(typed, wanted)
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
        if tree.name.text in builtins.FUNCTIONS:
            typed = self.check_function(tree, scope, info.place)
        else:
            typed = self.check_expr(tree, scope)
        return self.require(typed, self.value_type(feature), tree.span, what)

    def _numbered(self, typed: Typed, wanted: Type, span: Span) -> Typed:
        """A number for a categorical(k) must be one of 0..k-1 where that is known."""
        value = typed.expr.value if isinstance(typed.expr, model.Number) else 0.0
        if not typed.type.whole or not 0 <= value < wanted.categories:
            self.found.add("GN222", span, last=wanted.categories - 1)
            return self.poison(span)
        return typed

    def poison(self, span: Span) -> Typed:
        return Typed(model.Boolean.model_construct(span=span, value=False), POISON)

    # Leaves

    def _number(self, tree: ast.Number) -> Typed:
        value = tree.value
        if not abs(value) <= MAX_NUMBER:
            self.found.add("GN020", tree.span, limit=f"{MAX_NUMBER:g}")
            return self.poison(tree.span)
        number = model.Number.model_construct(span=tree.span, value=value)
        return Typed(number, WHOLE if value.is_integer() else SCALAR)

    def _name(self, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
        name, span = tree.text, tree.span
        if expected is not None and name in expected.choices:
            return self._choice(name, span, expected)
        if name in scope.bound:
            binding = scope.bound[name]
            binding.used = True
            return Typed(self._variable(name, span, binding.type), binding.type)
        if name in self.names.features:
            return self._bare_feature(tree)
        if name in self.names.params:
            return self._param(name, span)
        if name in self.names.lets:
            return self.check_let_call(ast.Ident(span, name), (), span, scope)
        if name in ("n", "m"):
            of = "nodes" if name == "n" else "edges"
            return Typed(model.Size.model_construct(span=span, of=of), WHOLE)
        if name in ("correct", "valid") or name in self.names.objectives:
            return self.check_clause_ref(name, span)
        return self._unknown_name(tree, scope, expected)

    def _variable(self, name: str, span: Span, bound: Type) -> model.Expr:
        kind = "scalar" if bound.kind in ("poison", "choice") else bound.kind
        return model.Variable.model_construct(span=span, name=name, type=kind)

    def _choice(self, name: str, span: Span, expected: Type) -> Typed:
        if expected.kind == "choice":
            return Typed(model.Choice.model_construct(span=span, value=name), expected)
        position = expected.choices.index(name)
        return Typed(model.Category.model_construct(span=span, value=position), expected)

    def _param(self, name: str, span: Span) -> Typed:
        param = self.names.params[name]
        self.names.used.add(name)
        if isinstance(param.value, str):
            chosen = model.Choice.model_construct(span=span, value=param.value)
            return Typed(chosen, Type("choice", choices=param.choices))
        number = model.Number.model_construct(span=span, value=param.value)
        return Typed(number, WHOLE if float(param.value).is_integer() else SCALAR)

    def _bare_feature(self, tree: ast.Name) -> Typed:
        info = self.names.features[tree.text]
        facts = self.feature_facts(tree.text, tree.span)
        if info.type == "mask_one":
            one = model.OneNode.model_construct(span=tree.span, feature=tree.text)
            return Typed(one, NODE, facts)
        if info.place == "graph":
            read = model.Read.model_construct(span=tree.span, feature=tree.text, index=())
            return Typed(read, self.value_type(tree.text), facts)
        self.report_missing_index(tree.span, tree.text)
        return self.poison(tree.span)

    def report_missing_index(self, span: Span, name: str) -> None:
        place = self.names.features[name].place
        form = f"{name}[{', '.join('xy'[: builtins.PLACES[place]])}]"
        self.found.add("GN211", span, name=name, place=place, form=form)

    def _unknown_name(self, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
        name = tree.text
        if name in scope.later:
            self.found.add("GN408", tree.span, name=name)
        elif self.names.is_lost(name):
            pass
        elif name in builtins.RESERVED:
            self.found.add("GN224", tree.span, name=name, fix=_bare_builtin_fix(name))
        elif expected is not None and expected.choices:
            fix = did_you_mean(name, [*expected.choices, *scope.bound])
            choices = " | ".join(expected.choices)
            self.found.add("GN214", tree.span, name=name, choices=choices, fix=fix)
        else:
            self.found.add("GN201", tree.span, name=name, fix=self._name_fix(name, scope))
        return self.poison(tree.span)

    def _name_fix(self, name: str, scope: Scope) -> str | None:
        """A pick used outside its phases, a word from another language, or a slip of the pen."""
        phase = next((p for p in self.names.phases.values() if p.variable.text == name), None)
        if phase is not None:
            return (
                f"`{name}` is the pick of phase `{phase.name.text}` and known only in phases and "
                f"their experts. Give a let a parameter; elsewhere use `last({phase.name.text})`."
            )
        if name in _FOREIGN_NAMES:
            return _FOREIGN_NAMES[name]
        return did_you_mean(name, [*scope.bound, *self.names.global_names(), "true", "false"])

    def _index(self, tree: ast.Index, scope: Scope) -> Typed:
        name = tree.name.text
        info = self.names.features.get(name)
        indices = [self.check_as(i, scope, NODE, "an index") for i in tree.indices]
        if info is None:
            return self._not_a_feature(tree, scope)
        if info.place == "graph":
            self.found.add("GN210", tree.span, name=name)
            return self.poison(tree.span)
        if not self.index_ok(tree.span, name, len(indices)):
            return self.poison(tree.span)
        if info.place == "edge":
            self.warn_if_unguarded(tree, scope)
        facts = self.feature_facts(name, tree.span).plus(*(i.facts for i in indices))
        read = model.Read.model_construct(
            span=tree.span, feature=name, index=tuple(i.expr for i in indices)
        )
        kind = POISON if any(i.is_poison for i in indices) else self.value_type(name)
        return Typed(read, kind, facts)

    def index_ok(self, span: Span, name: str, found: int) -> bool:
        """Whether a feature that is not on the graph gets as many nodes as its place has."""
        place = self.names.features[name].place
        wanted = builtins.PLACES[place]
        if found == wanted:
            return True
        form = f"{name}[{', '.join('xy'[:wanted])}]"
        nodes = {0: "no index", 1: "one node", 2: "two nodes"}
        self.found.add(
            "GN204",
            span,
            name=name,
            place="the graph" if place == "graph" else f"{place}s",
            expected=nodes[wanted],
            found=nodes.get(found, str(found)).removesuffix(" node").removesuffix(" nodes"),
            form=form if wanted else name,
        )
        return False

    def _not_a_feature(self, tree: ast.Index, scope: Scope) -> Typed:
        name = tree.name.text
        if self.is_known(name, scope):
            self.found.add("GN225", tree.name.span, name=name, fix=self._brackets_fix(name))
        elif not self.names.is_lost(name):
            fix = did_you_mean(name, self.names.features)
            self.found.add("GN201", tree.name.span, name=name, fix=fix)
        return self.poison(tree.span)

    def _brackets_fix(self, name: str) -> str | None:
        if name in self.names.lets:
            params = ", ".join(param.name.text for param in self.names.lets[name].params)
            return f"It is a let: write `{name}({params})`." if params else f"Write `{name}`."
        forms = {"edge": "edge(u, v)", **{word: f"{word}(v)" for word in builtins.DEGREES}}
        return f"Write `{forms[name]}`." if name in forms else None

    def warn_if_unguarded(self, tree: ast.Index, scope: Scope) -> None:
        """Off the edges a feature reads 0 or false, which is rarely meant."""
        graph = self.names.graph
        ends = tuple(i.text for i in tree.indices if isinstance(i, ast.Name))
        if graph is None or graph.complete or len(ends) != 2:
            return
        if not all(end in scope.bound for end in ends):
            return
        u, v = ends
        known = (u, v) in scope.joined or (not graph.directed and (v, u) in scope.joined)
        if not known:
            self.found.add("GN904", tree.span, name=tree.name.text, u=u, v=v)

    def _last(self, tree: ast.Last) -> Typed:
        phase = tree.phase.text
        if phase not in self.names.phases:
            if "phase" not in self.names.lost_blocks:
                known = ", ".join(f"`{name}`" for name in self.names.phases) or "none"
                fix = self._phase_fix(phase)
                self.found.add("GN304", tree.phase.span, name=phase, known=known, fix=fix)
            return self.poison(tree.span)
        facts = Facts(state=(Witness(f"last({phase})", tree.span),))
        last = model.Last.model_construct(span=tree.span, phase=phase)
        return Typed(last, MAYBE_NODE, facts)

    def _phase_fix(self, name: str) -> str | None:
        for phase in self.names.phases.values():
            if phase.variable.text == name:
                return f"`{name}` is the pick; the phase is `{phase.name.text}`."
        return did_you_mean(name, self.names.phases)

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
        if typed.type.kind in ("mask", "node", "choice"):
            code = "GN207" if typed.type.kind == "mask" else "GN209"
            self.found.add(code, tree.span, found=typed.type, sign=sign, fix=_operand_fix(typed))
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
            return self.poison(tree.span)
        kind = self._common_kind(tree, left.type, right.type)
        if kind is None:
            return self.poison(tree.span)
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

    def is_known(self, name: str, scope: Scope) -> bool:
        return name in scope.bound or self.names.is_global(name)

    def _common_kind(self, tree: ast.Compare, left: Type, right: Type) -> str | None:
        kinds = {left.kind, right.kind}
        if any(_is_numbered_category(t) for t in (left, right)) and kinds <= {"category", "scalar"}:
            kinds = {"scalar"}
        if len(kinds) > 1 or (left.kind == "category" and left.choices != right.choices):
            code = "GN223" if kinds == {"node", "scalar"} else "GN208"
            self.found.add(code, tree.span, op=tree.op, left=left, right=right)
            return None
        kind = kinds.pop()
        ordered = tree.op not in ("==", "!=")
        if ordered and kind != "scalar":
            fix = "Use `~=` on numbers only; here `==` is exact." if tree.op == "~=" else None
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
            self.found.add("GN903", tree.span, op=tree.op)

    def _logic(self, tree: ast.Logic, scope: Scope) -> Typed:
        parts: list[Typed] = []
        inner = scope
        for arg in tree.args:
            parts.append(self.check_as(arg, inner, MASK, f"`{tree.op}`"))
            holds = tree.op == "and"
            inner = inner.joining(joined_pairs(arg, holds))
        if any(part.is_poison for part in parts):
            return self.poison(tree.span)
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
            return self.poison(tree.span)
        if not _same_kind(then.type, other.type):
            self.found.add("GN212", tree.span, then=then.type, other=other.type)
            return self.poison(tree.span)
        if isinstance(condition.expr, model.Boolean):
            return then if condition.expr.value else other
        expr = model.IfElse.model_construct(
            span=tree.span, condition=condition.expr, then=then.expr, otherwise=other.expr
        )
        facts = condition.facts.plus(then.facts, other.facts)
        return Typed(expr, merge_types(then.type, other.type), facts)

    def _otherwise(self, tree: ast.Otherwise, scope: Scope) -> Typed:
        value = self.check_expr(tree.value, scope)
        default = self.check_expr(tree.default, scope)
        if value.is_poison or default.is_poison:
            return self.poison(tree.span)
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


def _operand_fix(typed: Typed) -> str | None:
    if typed.type.kind == "mask":
        return "Count them: `count(x in nodes where …)`, or choose: `if … then 1 else 0`."
    return None


def _type_fix(typed: Typed, wanted: Type) -> str | None:
    if wanted == MASK and typed.type.kind == "scalar":
        return "Compare it with something, as in `… > 0`."
    if wanted == SCALAR and typed.type.kind == "mask":
        return "Write `if … then 1 else 0`, or count: `count(x in nodes where …)`."
    return None


def _bare_builtin_fix(name: str) -> str:
    if name == "edges":
        return "`edges` is a set: use it as in `forall (x, y) in edges: …`; their number is `m`."
    if name == "nodes":
        return "`nodes` is a set: use it as in `forall x in nodes: …`; their number is `n`."
    return f"Call it: `{name}(…)`."


_FOREIGN_NAMES = {
    "True": "Write `true`.",
    "False": "Write `false`.",
    "None": "Nothing is ever null; a value that may be unset is given a default by `otherwise`.",
    "null": "Nothing is ever null; a value that may be unset is given a default by `otherwise`.",
    "infinity": "Write `inf`.",
    "N": "The number of nodes is `n`.",
    "V": "The set of nodes is `nodes`, their number `n`.",
    "E": "The set of edges is `edges`, their number `m`.",
}
