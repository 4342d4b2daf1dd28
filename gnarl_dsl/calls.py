"""Calls in expressions: lets, built-in functions, registered functions, pointer chasing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnarl_dsl import ast, builtins, cost, model
from gnarl_dsl.arithmetic import evaluate_arithmetic
from gnarl_dsl.base import BaseChecker
from gnarl_dsl.builtins import ArgKind, FunctionSignature
from gnarl_dsl.declare import FOREIGN_TYPES
from gnarl_dsl.environment import Binding, LetInfo, Scope
from gnarl_dsl.facts import Facts, Typed, Witness
from gnarl_dsl.scope import did_you_mean
from gnarl_dsl.source import Span
from gnarl_dsl.types import MASK, NODE, POISON, SCALAR, WHOLE, Type

if TYPE_CHECKING:
    from gnarl_dsl.model import Expr

_FEATURE_ARGS = {
    "edge_scalar": (("edge", "pair"), "scalar"),
    "node_scalar": (("node",), "scalar"),
    "node_mask": (("node",), "mask"),
    "pointer": (("node",), "pointer"),
}


_ARG_NAMES: dict[str, str] = {
    "edge_scalar": "weight",
    "node_scalar": "node_weight",
    "node_mask": "mask",
    "scalar": "number",
}
_FOREIGN_FUNCTIONS = {
    "len": "Sizes are `n` (nodes), `m` (edges), `degree(v)`, or `count(x in nodes where …)`.",
    "all": "Write `forall x in nodes: …`.",
    "round": "There are `floor` and `ceil`.",
    "int": "There are `floor` and `ceil`.",
    "sqrt": "There are no roots; compare squares instead.",
    "range": "Write a range as `1..3`.",
}


class CallChecker(BaseChecker):
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
            return self._chase(tree, scope)
        if name in builtins.FUNCTIONS:
            return self.check_function(tree, scope, place="graph")
        return self._unknown_function(tree, scope)

    def _unknown_function(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        self._visit(tree.args, scope)
        if not self.names.is_lost(name):
            fix = self._function_fix(name, tree, scope)
            self.found.add("GN202", tree.name.span, name=name, fix=fix)
        return self.poison(tree.span)

    def _function_fix(self, name: str, tree: ast.Call, scope: Scope) -> str | None:
        if name in self.names.features:
            wanted = "xy"[: builtins.PLACES[self.names.features[name].place]]
            cell = f"{name}[{', '.join(wanted)}]" if wanted else name
            return f"`{name}` is a feature, which is read with brackets: `{cell}`."
        if name in builtins.NEAR or name in ("nodes", "edges"):
            call = f"{name}(x)" if name in builtins.NEAR else name
            return f"`{name}` is a set: use it as in `exists y in {call}: …`."
        if name in scope.bound or name in set(self.names.global_names()):
            return f"`{name}` takes nothing in parentheses: write `{name}`."
        if name in _FOREIGN_FUNCTIONS:
            return _FOREIGN_FUNCTIONS[name]
        known = [*self.names.lets, *builtins.FUNCTIONS, *builtins.MATH, *builtins.CHASES]
        folds = ("count", "sum", "exists", "forall", "last")
        return did_you_mean(name, [*known, *builtins.DEGREES, "edge", *folds])

    def _visit(self, trees: Sequence[ast.Expr], scope: Scope) -> None:
        """Check arguments that nothing will use, for the mistakes in them."""
        for tree in trees:
            is_feature = isinstance(tree, ast.Name) and tree.text in self.names.features
            if not is_feature:
                self.check_expr(tree, scope)

    def arity_ok(self, name: ast.Ident, span: Span, found: int, wanted: Sequence[str]) -> bool:
        if found == len(wanted):
            return True
        form = f"{name.text}({', '.join(wanted)})" if wanted else name.text
        self.found.add("GN203", span, name=name.text, expected=len(wanted), found=found, form=form)
        return False

    # Lets

    def check_let_call(
        self, name: ast.Ident, args: tuple[ast.Expr, ...], span: Span, scope: Scope
    ) -> Typed:
        let = self.names.lets[name.text]
        self.names.used.add(name.text)
        info = self.let_info(name.text, span)
        if not self.arity_ok(name, span, len(args), [p.name.text for p in let.params]):
            self._visit(args, scope)
            return self.poison(span)
        if info is None:
            self._visit(args, scope)
            return self.poison(span)
        checked = [
            self.check_as(arg, scope, Type(param.type), f"`{param.name}` of `{name.text}`")
            for arg, param in zip(args, info.params, strict=True)
        ]
        if info.body.is_poison or any(arg.is_poison for arg in checked):
            return self.poison(span)
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
        args = [self.check_as(arg, scope, SCALAR, f"`{name}`") for arg in tree.args]
        if len(args) < 2:
            form = f"{name}(x in nodes: …)"
            self.found.add("GN203", tree.span, name=name, expected=2, found=len(args), form=form)
            return self.poison(tree.span)
        total = args[0]
        for arg in args[1:]:
            total = self.arithmetic(name, total, arg, tree.span)
        return total

    def _math(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        args = [self.check_as(arg, scope, SCALAR, f"`{name}`") for arg in tree.args]
        if not self.arity_ok(tree.name, tree.span, len(args), ["a"]):
            return self.poison(tree.span)
        kind = args[0].type if name == "abs" or args[0].is_poison else WHOLE
        return Typed(self.folded_unary(name, args[0].expr, tree.span), kind, args[0].facts)

    def arithmetic(self, op: str, left: Typed, right: Typed, span: Span) -> Typed:
        if left.is_poison or right.is_poison:
            return self.poison(span)
        whole = op != "/" and left.type.whole and right.type.whole
        expr = self.folded_arithmetic(op, left.expr, right.expr, span)
        return Typed(expr, WHOLE if whole else SCALAR, left.facts.plus(right.facts))

    def folded_arithmetic(self, op: str, left: Expr, right: Expr, span: Span) -> Expr:
        """Numbers that are known now are computed now."""
        if isinstance(left, model.Number) and isinstance(right, model.Number):
            value = evaluate_arithmetic(op, left.value, right.value)
            return model.Number.model_construct(span=span, value=value)
        return model.Arithmetic.model_construct(span=span, op=op, left=left, right=right)

    def folded_unary(self, op: str, operand: Expr, span: Span) -> Expr:
        if op == "neg" and isinstance(operand, model.Number):
            return model.Number.model_construct(span=span, value=-operand.value)
        return model.Unary.model_construct(span=span, op=op, operand=operand)

    # Pointers

    def _chase(self, tree: ast.Call, scope: Scope) -> Typed:
        name = tree.name.text
        forms = {
            "depth": ["pointer", "x", "target"],
            "path_cost": ["pointer", "weight", "x", "target"],
            "on_cycle": ["pointer", "x"],
        }
        wanted = forms[name]
        count = len(tree.args)
        optional_target = name != "on_cycle" and count == len(wanted) - 1
        if not optional_target and not self.arity_ok(tree.name, tree.span, count, wanted):
            self._visit(tree.args, scope)
            return self.poison(tree.span)
        features = [self.feature_arg(tree.args[0], "pointer", tree, scope)]
        if name == "path_cost":
            features.append(self.feature_arg(tree.args[1], "edge_scalar", tree, scope))
        nodes = [
            self.check_as(arg, scope, NODE, f"a node of `{name}`")
            for arg in tree.args[len(features) :]
        ]
        if None in features or any(node.is_poison for node in nodes):
            return self.poison(tree.span)
        return self._chase_result(tree, [f for f in features if f], nodes)

    def _chase_result(
        self, tree: ast.Call, features: list[model.FeatureRef], nodes: list[Typed]
    ) -> Typed:
        name = tree.name.text
        expr = model.Chase.model_construct(
            span=tree.span,
            op=name,
            pointer=features[0].feature,
            weight=features[1].feature if len(features) > 1 else None,
            start=nodes[0].expr,
            target=nodes[1].expr if len(nodes) > 1 else None,
        )
        reads = [self.feature_facts(f.feature, f.span) for f in features]
        facts = Facts(terms=cost.NODES).plus(*reads, *(node.facts for node in nodes))
        kinds = {"depth": WHOLE, "path_cost": SCALAR, "on_cycle": MASK}
        return Typed(expr, kinds[name], facts)

    # Registered functions

    def check_function(self, tree: ast.Call, scope: Scope, place: str) -> Typed:
        """A registered function whose result is wanted at `place`."""
        signature = builtins.FUNCTIONS[tree.name.text]
        wanted = [_ARG_NAMES.get(kind, kind) for kind in signature.args]
        if not self.arity_ok(tree.name, tree.span, len(tree.args), wanted):
            self._visit(tree.args, scope)
            return self.poison(tree.span)
        args = [
            self._function_arg(arg, kind, signature, tree, scope)
            for arg, kind in zip(tree.args, signature.args, strict=True)
        ]
        if not self._fits(tree, signature, place) or any(arg.is_poison for arg in args):
            return self.poison(tree.span)
        call = model.Call.model_construct(
            span=tree.span, function=tree.name.text, args=tuple(arg.expr for arg in args)
        )
        terms = frozenset((n, m, 0) for n, m in signature.cost)
        labels = (Witness(tree.name.text, tree.span),) if signature.oracle else ()
        own = Facts(oracle=labels, terms=terms)
        kind = MASK if signature.type == "mask" else WHOLE if signature.whole else SCALAR
        return Typed(call, kind, own.plus(*(arg.facts for arg in args)))

    def _fits(self, tree: ast.Call, signature: FunctionSignature, place: str) -> bool:
        graph = self.names.graph
        if graph and signature.directed is not None and signature.directed != graph.directed:
            kind = "directed" if signature.directed else "undirected"
            self.found.add("GN227", tree.span, name=tree.name.text, kind=kind)
            return False
        if signature.place != place:
            self.found.add(
                "GN220", tree.span, name=tree.name.text, place=signature.place, wanted=place
            )
            return False
        return True

    def _function_arg(
        self,
        arg: ast.Expr,
        kind: ArgKind,
        signature: FunctionSignature,
        call: ast.Call,
        scope: Scope,
    ) -> Typed:
        if kind in _FEATURE_ARGS:
            ref = self.feature_arg(arg, kind, call, scope)
            if ref is None:
                return self.poison(arg.span)
            return Typed(ref, SCALAR, self.feature_facts(ref.feature, arg.span))
        what = f"an argument of `{call.name.text}`"
        if kind == "choice":
            wanted = Type("choice", choices=signature.choices)
            typed = self.check_as(arg, scope, wanted, what)
            return self._known_choice(typed, signature, arg, call)
        return self.check_as(arg, scope, NODE if kind == "node" else SCALAR, what)

    def _known_choice(
        self, typed: Typed, signature: FunctionSignature, arg: ast.Expr, call: ast.Call
    ) -> Typed:
        """Every value the enum parameter can take must be one the function knows."""
        unknown = [word for word in typed.type.choices if word not in signature.choices]
        if typed.is_poison or not unknown:
            return typed
        self.found.add(
            "GN214",
            arg.span,
            name=unknown[0],
            choices=" | ".join(signature.choices),
            fix=f"`{call.name.text}` knows only these.",
        )
        return self.poison(arg.span)

    def feature_arg(
        self, arg: ast.Expr, kind: ArgKind, call: ast.Call, scope: Scope
    ) -> model.FeatureRef | None:
        """An argument that must be the bare name of a feature of some place and type."""
        places, wanted = _FEATURE_ARGS[kind]
        info = self.names.features.get(arg.text) if isinstance(arg, ast.Name) else None
        if info is not None and info.place in places and info.type == wanted:
            self.names.used.add(info.tree.name.text)
            return model.FeatureRef.model_construct(span=arg.span, feature=info.tree.name.text)
        if info is None and isinstance(arg, ast.Name) and not self.is_known(arg.text, scope):
            self.check_expr(arg, scope)
            return None
        expected = f"a {wanted} feature on {' or '.join(f'{place}s' for place in places)}"
        self.found.add(
            "GN221",
            arg.span,
            name=call.name.text,
            expected=expected,
            found=self._describe_argument(arg),
            fix=self._feature_arg_fix(arg, places, wanted),
        )
        return None

    def _describe_argument(self, arg: ast.Expr) -> str:
        if isinstance(arg, ast.Name) and arg.text in self.names.features:
            info = self.names.features[arg.text]
            return f"a {info.type} on {'the graph' if info.place == 'graph' else f'{info.place}s'}"
        return "a feature's cell" if isinstance(arg, ast.Index) else "something else"

    def _feature_arg_fix(self, arg: ast.Expr, places: Sequence[str], wanted: str) -> str | None:
        if isinstance(arg, ast.Index) and arg.name.text in self.names.features:
            return f"Write `{arg.name.text}` without its index: the whole feature is read."
        fitting = [
            f"`{name}`"
            for name, info in self.names.features.items()
            if info.place in places and info.type == wanted
        ]
        return f"Such features here: {', '.join(fitting)}." if fitting else None

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
