"""Quantifiers and their binders: `exists x in nodes where P: Q`, `sum(…)`, `any argmin(…)`."""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.calls import CallChecker
from gnarl_dsl.check.cost import Terms
from gnarl_dsl.check.environment import Binding, Scope
from gnarl_dsl.check.facts import NO_FACTS, Facts, Typed
from gnarl_dsl.check.joins import joined_pairs
from gnarl_dsl.check.symmetry import Canonical
from gnarl_dsl.check.types import MASK, MAYBE_NODE, NODE, SCALAR, WHOLE, Type
from gnarl_dsl.language import builtins
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast

MAX_RANGE = 1000
MAX_BINDERS = 16
PAIR_FIX = "Make it symmetric, or use a `pair` feature, which keeps both directions."


class Bound:
    """Checked binders: model, inner scope, number of combinations, facts, new variables."""

    def __init__(self, scope: Scope) -> None:
        self.binders: list[model.Binder] = []
        self.scope = scope
        self.size: Terms = cost.CONSTANT
        self.repeats = 1
        self.facts: Facts = NO_FACTS
        self.fresh: dict[str, Binding] = {}
        self.sound = True


class QuantifierChecker(CallChecker):
    """Everything that binds variables inside an expression."""

    def check_quantifier(self, tree: ast.Quantifier, scope: Scope) -> Typed:
        bound = self.check_binders(tree.binders, scope)
        where = self.check_where(tree.where, bound)
        body = self._body(tree, bound)
        if tree.kind != "count":  # how many there are need not depend on which they are
            self.warn_unused_bindings(Scope(bound.fresh), "variable")
        parts = [part for part in (where, body) if part is not None]
        if not bound.sound or any(part.is_poison for part in parts):
            return self.poison(tree.span, *parts)
        facts = NO_FACTS.plus(*(part.facts for part in parts))
        facts = self.repeated(facts, bound, tree.span)
        expr: model.Quantifier = model.Quantifier.model_construct(
            span=tree.span,
            op=tree.kind,
            binders=tuple(bound.binders),
            where=where.expr if where else None,
            body=body.expr if body else None,
        )
        self.require_symmetry(tree, expr)
        return Typed(expr, self._result(tree, body), facts.plus(bound.facts))

    def repeated(self, facts: Facts, bound: Bound, span: Span) -> Facts:
        """The facts of something that is done once per combination of the bound variables."""
        total = facts.times(bound.size, bound.repeats)
        if total.repeats > MAX_RANGE >= facts.repeats:
            self.found.add("GN233", span, count=f"{total.repeats:,}", limit=f"{MAX_RANGE:,}")
        return total

    def check_where(self, tree: ast.Expr | None, bound: Bound) -> Typed | None:
        if tree is None:
            return None
        where = self.check_as(tree, bound.scope, MASK, "`where`")
        bound.scope = bound.scope.joining(joined_pairs(tree, True))
        return where

    def _body(self, tree: ast.Quantifier, bound: Bound) -> Typed | None:
        kind = tree.kind
        if kind == "count":
            if tree.body is not None:
                self.found.add("GN230", tree.body.span)
                self.check_expr(tree.body, bound.scope)
                return self.poison(tree.span)
            return None
        if tree.body is None:
            self.found.add("GN231", tree.span, name=kind)
            return self.poison(tree.span)
        if kind in ("argmin", "argmax") and not self._argument_ok(tree):
            self.check_expr(tree.body, bound.scope)
            return self.poison(tree.span)
        if kind in ("exists", "forall"):
            return self.check_as(tree.body, bound.scope, MASK, f"the body of `{kind}`")
        return self._number_body(tree.body, bound, kind)

    def _number_body(self, tree: ast.Expr, bound: Bound, kind: str) -> Typed:
        body = self.check_expr(tree, bound.scope)
        if body.type == MASK:
            fix = f"Write `count(… where …)` instead of `{kind}(…: …)`."
            self.found.add("GN207", tree.span, found=body.type, sign=f"`{kind}`", fix=fix)
            return self.poison(tree.span)
        return self.require_scalar(body, tree.span, f"the body of `{kind}`")

    def require_scalar(self, typed: Typed, span: Span, what: str) -> Typed:
        if typed.type.kind in ("scalar", "poison") or (
            typed.type.kind == "category" and not typed.type.choices
        ):
            return typed
        self.found.add("GN205", span, what=what, expected=SCALAR, found=typed.type, fix=None)
        return self.poison(span)

    def _argument_ok(self, tree: ast.Quantifier) -> bool:
        if not tree.is_any:
            self.found.add("GN303", tree.span, name=tree.kind)
            return False
        names = [name for binder in tree.binders for name in binder.names]
        if len(names) != 1 or isinstance(tree.binders[0].domain, ast.RangeDomain):
            self.found.add("GN232", tree.span, name=tree.kind)
            return False
        return True

    def _result(self, tree: ast.Quantifier, body: Typed | None) -> Type:
        match tree.kind:
            case "exists" | "forall":
                return MASK
            case "count":
                return WHOLE
            case "argmin" | "argmax":
                return MAYBE_NODE
            case _:
                return WHOLE if body is not None and body.type.whole else SCALAR

    # Binders

    def check_binders(self, trees: tuple[ast.Binder, ...], scope: Scope) -> Bound:
        bound = Bound(scope)
        if len(trees) > MAX_BINDERS:
            span = trees[MAX_BINDERS].span
            self.found.add("GN138", span, what="A binder list", limit=MAX_BINDERS, things="sets")
            bound.sound, trees = False, trees[:MAX_BINDERS]
        self.forbid_same_names([name for tree in trees for name in tree.names], "variable")
        for tree in trees:
            domain, size, facts, kind = self._domain(tree, bound)
            bound.facts = bound.facts.plus(facts.times(bound.size, bound.repeats))
            bound.size = cost.multiply(bound.size, size)
            if isinstance(domain, model.RangeDomain):
                bound.repeats *= max(1, domain.last - domain.first + 1)
            if not self._names_fit(tree, domain):
                bound.sound = False
            for name in tree.names:
                self.warn_shadow(name, scope)
                fresh = Binding(kind, name.span)
                bound.fresh[name.text] = fresh
                bound.scope = bound.scope.bind(name.text, fresh)
            bound.scope = bound.scope.joining(_joined_by(tree))
            if domain is None:
                bound.sound = False
            else:
                names = tuple(name.text for name in tree.names)
                bound.binders.append(model.Binder.model_construct(names=names, domain=domain))
        return bound

    def _names_fit(self, tree: ast.Binder, domain: model.Domain | None) -> bool:
        pairs = isinstance(domain, model.EdgesDomain)
        if domain is None or len(tree.names) == (2 if pairs else 1):
            return True
        word = tree.domain.name.text if isinstance(tree.domain, ast.NamedDomain) else "…"
        form = "(x, y) in edges" if pairs else f"{tree.names[0].text} in {word}"
        self.found.add("GN229", tree.span, form=form)
        return False

    def _domain(
        self, tree: ast.Binder, bound: Bound
    ) -> tuple[model.Domain | None, Terms, Facts, Type]:
        domain = tree.domain
        if isinstance(domain, ast.RangeDomain):
            return self._range(domain, bound.scope), cost.CONSTANT, NO_FACTS, WHOLE
        word = domain.name.text
        if word in ("nodes", "edges") and not domain.args:
            if word == "nodes":
                return model.NodesDomain.model_construct(), cost.NODES, NO_FACTS, NODE
            return model.EdgesDomain.model_construct(), cost.EDGES, NO_FACTS, NODE
        if word in builtins.NEAR:
            return self._near(domain, bound.scope)
        fix = did_you_mean(word, ["nodes", "edges", *builtins.NEAR])
        if word in self.names.features:
            fix = f"Range over nodes: `{tree.names[0].text} in nodes where …`."
        if not self.names.is_lost(word):
            self.found.add("GN217", domain.span, name=word, fix=fix)
        return None, cost.CONSTANT, NO_FACTS, Type("poison")

    def _near(
        self, domain: ast.NamedDomain, scope: Scope
    ) -> tuple[model.Domain | None, Terms, Facts, Type]:
        word = domain.name.text
        args = [self.check_as(arg, scope, NODE, f"`{word}`") for arg in domain.args]
        sound = self.arity_ok(domain.name, domain.span, len(args), ["x"])
        sound = self.direction_ok(domain.name, builtins.NEAR[word]) and sound
        if not sound or args[0].is_poison:
            return None, cost.CONSTANT, NO_FACTS, NODE
        near = model.NearDomain.model_construct(node=args[0].expr, direction=builtins.NEAR[word])
        return near, cost.DEGREE, args[0].facts, NODE

    def _range(self, domain: ast.RangeDomain, scope: Scope) -> model.Domain | None:
        ends = [self._constant(end, scope) for end in (domain.first, domain.last)]
        if ends[0] is None or ends[1] is None:
            return None
        count = ends[1] - ends[0] + 1
        if count > MAX_RANGE:
            self.found.add("GN233", domain.span, count=f"{count:,}", limit=f"{MAX_RANGE:,}")
            return None
        return model.RangeDomain.model_construct(first=ends[0], last=ends[1])

    def _constant(self, tree: ast.Expr, scope: Scope) -> int | None:
        typed = self.check_as(tree, scope, SCALAR, "an end of a range")
        if typed.is_poison:
            return None
        if isinstance(typed.expr, model.Number) and typed.expr.value.is_integer():
            return int(typed.expr.value)
        fix = "Use numbers and numeric params; to range over all nodes, write `x in nodes`."
        self.found.add("GN218", tree.span, fix=fix)
        return None

    # Symmetry

    def require_symmetry(
        self, tree: ast.Quantifier | ast.ForEach, part: model.Quantifier | model.ForEach
    ) -> None:
        """Over undirected edges a body must not tell one end from the other."""
        if self.names.graph is None or self.names.graph.directed:
            return
        for position, binder in enumerate(tree.binders):
            if len({name.text for name in binder.names}) != 2:
                continue
            x, y = (name.text for name in binder.names)
            if not self.canonical().is_symmetric_over(part, position):
                fix = PAIR_FIX if isinstance(tree, ast.ForEach) else None
                self.found.add("GN406", tree.span, x=x, y=y, fix=fix)

    def canonical(self) -> Canonical:
        """Compares formulas up to the order of commutative parts."""

        def is_edge_feature(name: str) -> bool:
            return self.names.features[name].place == "edge"

        def let_of(name: str) -> tuple[tuple[str, ...], model.Expr] | None:
            info = self.let_infos.get(name)
            return (tuple(p.name for p in info.params), info.body.expr) if info else None

        return Canonical(is_edge_feature, let_of)


def _joined_by(tree: ast.Binder) -> frozenset[tuple[str, str]]:
    """`(x, y) in edges` and `y in neighbors(x)` name two ends of an edge."""
    names = [name.text for name in tree.names]
    if len(names) == 2:
        return frozenset({(names[0], names[1])})
    domain = tree.domain
    if not isinstance(domain, ast.NamedDomain) or len(domain.args) != 1:
        return frozenset()
    other = domain.args[0]
    if not isinstance(other, ast.Name):
        return frozenset()
    if domain.name.text == "predecessors":
        return frozenset({(names[0], other.text)})
    return frozenset({(other.text, names[0])})
