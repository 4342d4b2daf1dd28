"""Calls in expressions: lets, clauses, and built-in functions of the graph and of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnarl_dsl import model
from gnarl_dsl.check.environment import Binding, LetInfo, Scope
from gnarl_dsl.check.facts import Typed
from gnarl_dsl.check.functions import FunctionChecker
from gnarl_dsl.check.hints import FOREIGN_FUNCTIONS, FOREIGN_TYPES
from gnarl_dsl.check.types import MASK, NODE, POISON, SCALAR, WHOLE, Type
from gnarl_dsl.language import builtins
from gnarl_dsl.language.operators import OPERATORS
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

if TYPE_CHECKING:
    from gnarl_dsl.model import Expr


class CallChecker(FunctionChecker):
    """Everything written `name(…)`."""

    def check_call(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        if name in self.names.lets:
            return self.check_let_call(tree.name, tree.args, tree.span, scope)
        if name == "edge":
            return self._edge(tree, scope)
        if name in builtins.DEGREES:
            return self._degree(tree, scope)
        if name in ("min", "max"):
            return self._min_max(tree, scope)
        if name in builtins.MATH:
            return self._math(tree, scope)
        if name in builtins.CHASES:
            return self.check_chase(tree, scope)
        if name in builtins.FUNCTIONS:
            return self.check_function(tree, scope, place="graph")
        return self._unknown_function(tree, scope)

    def _unknown_function(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        self.visit(tree.args, scope)
        if not self.names.is_lost(name):
            fix = self._function_fix(name, tree, scope)
            self.found.add("GN202", tree.name.span, name=name, fix=fix)
        return self.poison(tree.span)

    def _function_fix(self, name: str, tree: ast.Call, scope: Scope) -> str | None:
        if name in self.names.features:
            wanted = builtins.PLACES[self.names.features[name].place]
            given = [arg.text for arg in tree.args if isinstance(arg, ast.Name)]
            index = given if len(given) == len(tree.args) == wanted else "xy"[:wanted]
            cell = f"{name}[{', '.join(index)}]" if wanted else name
            return f"`{name}` is a feature, which is read with brackets: `{cell}`."
        if name in builtins.NEAR or name in ("nodes", "edges"):
            call = f"{name}(x)" if name in builtins.NEAR else name
            return f"`{name}` is a set: use it as in `exists y in {call}: …`."
        if name in scope.bound or name in set(self.names.global_names()):
            return f"`{name}` takes nothing in parentheses: write `{name}`."
        if name in FOREIGN_FUNCTIONS:
            return FOREIGN_FUNCTIONS[name]
        known = [*self.names.lets, *builtins.FUNCTIONS, *builtins.MATH, *builtins.CHASES]
        folds = ("count", "sum", "exists", "forall", "last")
        return did_you_mean(name, [*known, *builtins.DEGREES, "edge", *folds])

    # Lets

    def check_let_call(
        self, name: ast.Ident, args: tuple[ast.Expr, ...], span: Span, scope: Scope
    ) -> Typed:
        let = self.names.lets[name.text]
        self.names.used.add(name.text)
        info = self.let_info(name.text, span)
        if not self.arity_ok(name, span, len(args), [p.name.text for p in let.params]):
            self.visit(args, scope)
            return self.poison(span)
        if info is None:
            self.visit(args, scope)
            return self.poison(span)
        checked = [
            self.check_as(arg, scope, Type(param.type), f"`{param.name}` of `{name.text}`")
            for arg, param in zip(args, info.params, strict=True)
        ]
        if info.body.is_poison or any(arg.is_poison for arg in checked):
            reads = Typed(info.body.expr, POISON, info.body.facts.through(name.text, span))
            return self.poison(span, reads, *checked)
        if isinstance(info.body.expr, model.Number | model.Boolean | model.Choice):
            return Typed(info.body.expr, info.body.type)
        facts = info.body.facts.through(name.text, span).plus(*(arg.facts for arg in checked))
        call = model.LetCall.model_construct(
            span=span, name=name.text, args=tuple(arg.expr for arg in checked)
        )
        return Typed(call, info.body.type, facts)

    def let_info(self, name: str, used_at: Span) -> LetInfo | None:
        """The checked let, or None if it calls itself."""
        if name in self.let_infos:
            return self.let_infos[name]
        if not self.enter(f"let {name}", used_at):
            return None
        tree = self.names.lets[name]
        params = tuple(self._let_param(param) for param in tree.params)
        sound = all(param is not None for param in params)
        self.forbid_same_names([param.name for param in tree.params], "parameter")
        scope = Scope()
        for param, declared in zip(params, tree.params, strict=True):
            self.warn_shadow(declared.name, Scope())
            kind = Type(param.type) if param else POISON
            scope = scope.bind(declared.name.text, Binding(kind, declared.name.span))
        body = self.check_expr(tree.body, scope)
        self.leave(f"let {name}")
        self.warn_unused_bindings(scope, "parameter")
        known = tuple(param for param in params if param is not None)
        self.let_infos[name] = LetInfo(known, body) if sound else None
        return self.let_infos[name]

    def _let_param(self, param: ast.LetParam) -> model.LetParam | None:
        word = param.type.text if param.type else "node"
        if word in builtins.LET_TYPES:
            kind = builtins.LET_TYPES[word]
            return model.LetParam.model_construct(name=param.name.text, type=kind)
        span = param.type.span if param.type else param.span
        fix = did_you_mean(word, builtins.LET_TYPES) or FOREIGN_TYPES.get(word)
        expected = ", ".join(builtins.LET_TYPES)
        self.found.add("GN106", span, name=word, expected=expected, fix=fix)
        return None

    # The graph

    def _edge(self, tree: ast.Call, scope: Scope) -> Typed:
        ends = [self.check_as(arg, scope, NODE, "an end of `edge`") for arg in tree.args]
        if not self.arity_ok(tree.name, tree.span, len(ends), ["u", "v"]):
            return self.poison(tree.span)
        expr = model.HasEdge.model_construct(
            span=tree.span, source=ends[0].expr, target=ends[1].expr
        )
        return Typed(expr, MASK, ends[0].facts.plus(ends[1].facts))

    def _degree(self, tree: ast.Call, scope: Scope) -> Typed:
        direction = builtins.DEGREES[tree.name.text]
        args = [self.check_as(arg, scope, NODE, f"`{tree.name.text}`") for arg in tree.args]
        if not self.arity_ok(tree.name, tree.span, len(args), ["v"]):
            return self.poison(tree.span)
        if not self.direction_ok(tree.name, direction):
            return self.poison(tree.span)
        expr = model.Degree.model_construct(span=tree.span, node=args[0].expr, direction=direction)
        return Typed(expr, WHOLE, args[0].facts)

    def direction_ok(self, word: ast.Ident, direction: str) -> bool:
        """`neighbors` and `degree` belong to undirected graphs, the others to directed ones."""
        graph = self.names.graph
        if graph is None or graph.directed == (direction != "both"):
            return True
        options = {True: ["out", "in"], False: ["both"]}[graph.directed]
        table = {**builtins.NEAR} if word.text in builtins.NEAR else {**builtins.DEGREES}
        instead = " or ".join(f"`{name}`" for name, way in table.items() if way in options)
        kind = "directed" if graph.directed else "undirected"
        self.found.add("GN216", word.span, word=word.text, kind=kind, instead=instead)
        return False

    # Numbers

    def _min_max(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        if len(tree.args) < 2:
            self._report_too_few(tree)
            self.visit(tree.args, scope)
            return self.poison(tree.span)
        what = f"an argument of `{name}`"
        args = [self.check_as(arg, scope, SCALAR, what) for arg in tree.args]
        total = args[0]
        for arg in args[1:]:
            total = self.arithmetic(name, total, arg, tree.span)
        return total

    def _report_too_few(self, tree: ast.Call) -> None:
        """`min` and `max` of a single thing: probably of all values of a feature."""
        name, only = tree.name.text, tree.args[0]
        cell = f"{only.text}[x]" if isinstance(only, ast.Name) else "…"
        self.found.add(
            "GN203",
            tree.span,
            name=name,
            expected="two or more arguments, or a set to range over",
            found="one",
            form=f"{name}(x in nodes: {cell})",
        )

    def _math(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        what = f"an argument of `{name}`"
        args = [self.check_as(arg, scope, SCALAR, what) for arg in tree.args]
        if not self.arity_ok(tree.name, tree.span, len(args), ["a"]):
            return self.poison(tree.span)
        kind = args[0].type if name == "abs" or args[0].is_poison else WHOLE
        return Typed(self.folded_unary(name, args[0].expr, tree.span), kind, args[0].facts)

    def arithmetic(self, op: str, left: Typed, right: Typed, span: Span) -> Typed:
        if left.is_poison or right.is_poison:
            return self.poison(span, left, right)
        whole = op != "/" and left.type.whole and right.type.whole
        expr = self.folded_arithmetic(op, left.expr, right.expr, span)
        return Typed(expr, WHOLE if whole else SCALAR, left.facts.plus(right.facts))

    def folded_arithmetic(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        """Numbers that are known now are computed now."""
        if isinstance(left, model.Number) and isinstance(right, model.Number):
            value = OPERATORS[op].evaluate(left.value, right.value)
            return model.Number.model_construct(span=span, value=value)
        return model.Arithmetic.model_construct(span=span, op=op, left=left, right=right)

    def folded_unary(self, op: str, operand: Expr, span: Span) -> Expr:
        if isinstance(operand, model.Number):
            value = OPERATORS[op].evaluate(operand.value)
            return model.Number.model_construct(span=span, value=value)
        return model.Unary.model_construct(span=span, op=op, operand=operand)

    # Clauses

    def check_clause_ref(self, name: str, span: Span) -> Typed:
        """`correct`, `valid` or an objective, used by name."""
        clause = name if name in ("correct", "valid") else "objective"
        if clause != "objective" and getattr(self.names, clause) is None:
            if clause not in self.names.lost_blocks:
                self.found.add("GN228", span, name=name)
            return self.poison(span)
        typed = self.clause_info(clause, name, span)
        if typed is None or typed.is_poison:
            return self.poison(span)
        label = "" if clause != "objective" else name
        ref = model.ClauseRef.model_construct(span=span, clause=clause, name=label)
        return Typed(ref, typed.type, typed.facts.through(name, span))

    def clause_info(self, clause: str, name: str, span: Span) -> Typed | None:
        key = f"{clause} {name}"
        if key in self.clause_infos:
            return self.clause_infos[key]
        if not self.enter(key, span):
            return None
        if clause == "objective":
            tree = self.names.objectives[name]
            typed = self.check_as(tree.value, Scope(), SCALAR, "an objective")
        else:
            condition = getattr(self.names, clause).condition
            typed = self.check_as(condition, Scope(), MASK, f"`{clause}`")
        self.leave(key)
        self.clause_infos[key] = typed
        return typed
