"""Functions that read whole features: pointer chasing and registered algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.base import BaseChecker
from gnarl_dsl.check.environment import Scope
from gnarl_dsl.check.facts import Facts, Typed, Witness
from gnarl_dsl.check.types import MASK, NODE, SCALAR, WHOLE, Type
from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.language.signatures import (
    CHOICE,
    EDGE_SCALAR,
    NODE_POINTER,
    ONE_NODE,
    ArgKind,
    FunctionSignature,
)
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import count_of
from gnarl_dsl.syntax import ast


class FunctionChecker(BaseChecker):
    """Calls whose arguments are bare names of features."""

    def visit(self, trees: Sequence[ast.Expr], scope: Scope) -> None:
        """Check arguments that nothing will use, for the mistakes in them."""
        for tree in trees:
            is_whole = isinstance(tree, ast.Name) and (
                tree.text in self.names.features or tree.text in ("nodes", "edges")
            )
            if not is_whole:
                self.check_expr(tree, scope)

    def arity_ok(self, name: ast.Ident, span: Span, found: int, wanted: Sequence[str]) -> bool:
        if found == len(wanted):
            return True
        form = f"{name.text}({', '.join(wanted)})" if wanted else name.text
        takes, given = count_of(len(wanted), "argument"), count_of(found)
        self.found.add("GN203", span, name=name.text, expected=takes, found=given, form=form)
        return False

    # Pointers

    def check_chase(self, tree: ast.Call, scope: Scope) -> Typed:
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
            self.visit(tree.args, scope)
            return self.poison(tree.span)
        features = [self.feature_arg(tree.args[0], NODE_POINTER, tree, scope)]
        if name == "path_cost":
            features.append(self.feature_arg(tree.args[1], EDGE_SCALAR, tree, scope))
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

    def is_function(self, name: str, scope: Scope) -> bool:
        """Whether a name means a registered function: what the spec declares comes first."""
        return name in FUNCTIONS and name not in scope.bound and not self.names.declares(name)

    def check_function(self, tree: ast.Call, scope: Scope, place: str) -> Typed:
        """A registered function whose result is wanted at `place`."""
        signature = FUNCTIONS[tree.name.text]
        wanted = [kind.form for kind in signature.args]
        if not self.arity_ok(tree.name, tree.span, len(tree.args), wanted):
            self.visit(tree.args, scope)
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
            kind, other = "undirected", "directed"
            if signature.directed:
                kind, other = other, kind
            self.found.add("GN227", tree.span, name=tree.name.text, kind=kind, other=other)
            return False
        if graph and signature.complete and not graph.complete:
            self.found.add("GN234", tree.span, name=tree.name.text)
            return False
        if signature.place != place:
            self._report_wrong_place(tree, signature, place)
            return False
        return True

    def _report_wrong_place(self, tree: ast.Call, signature: FunctionSignature, place: str) -> None:
        def values(of: str) -> str:
            return "a single value" if of == "graph" else f"a value for each {of}"

        name = tree.name.text
        if place == "graph":
            column = f"best  oracle  {signature.place}  {signature.type}  = {name}(…)"
            fix = f"Declare an oracle, such as `{column}`, and read its cells."
        else:
            fix = f"Write `{signature.place}` instead of `{place}`."
        gives, wanted = values(signature.place), values(place)
        self.found.add("GN220", tree.span, name=name, gives=gives, wanted=wanted, fix=fix)

    def _function_arg(
        self,
        arg: ast.Expr,
        kind: ArgKind,
        signature: FunctionSignature,
        call: ast.Call,
        scope: Scope,
    ) -> Typed:
        if kind.places:
            ref = self.feature_arg(arg, kind, call, scope)
            if ref is None:
                return self.poison(arg.span)
            return Typed(ref, SCALAR, self.feature_facts(ref.feature, arg.span))
        what = f"an argument of `{call.name.text}`"
        if kind is CHOICE:
            wanted = Type("choice", choices=signature.choices)
            typed = self.check_as(arg, scope, wanted, what)
            return self._known_choice(typed, signature, arg, call)
        return self.check_as(arg, scope, NODE if kind is ONE_NODE else SCALAR, what)

    def _known_choice(
        self, typed: Typed, signature: FunctionSignature, arg: ast.Expr, call: ast.Call
    ) -> Typed:
        """Every value the enum parameter can take must be one the function knows."""
        if not typed.is_poison and not isinstance(typed.expr, model.Choice):
            fix = f"Write one of {' | '.join(signature.choices)}, or an enum param."
            self.found.add("GN218", arg.span, fix=fix)
            return self.poison(arg.span, typed)
        unknown = [word for word in typed.type.choices if word not in signature.choices]
        if typed.is_poison or not unknown:
            return typed
        self.found.add(
            "GN214",
            arg.span,
            name=unknown[0],
            choices=" | ".join(signature.choices),
            fix=f"`{call.name.text}` takes only these, so the param can list no others.",
        )
        return self.poison(arg.span)

    def feature_arg(
        self, arg: ast.Expr, kind: ArgKind, call: ast.Call, scope: Scope
    ) -> model.FeatureRef | None:
        """An argument that must be the bare name of a feature of some place and type."""
        places, wanted = kind.places, str(kind.type)
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
