"""Names and numbers in expressions: features, params, variables, picks, categories."""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.check.declare import MAX_NUMBER
from gnarl_dsl.check.environment import Scope
from gnarl_dsl.check.facts import Facts, Typed, Witness
from gnarl_dsl.check.hints import FOREIGN_NAMES, bare_builtin_fix
from gnarl_dsl.check.quantifiers import QuantifierChecker
from gnarl_dsl.check.types import MAYBE_NODE, NODE, POISON, SCALAR, WHOLE, Type
from gnarl_dsl.language import builtins
from gnarl_dsl.report.source import Span
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.syntax import ast


class NameChecker(QuantifierChecker):
    """The leaves of a formula."""

    def is_known(self, name: str, scope: Scope) -> bool:
        return name in scope.bound or self.names.is_global(name)

    def check_number(self, tree: ast.Number) -> Typed:
        value = tree.value
        if not abs(value) <= MAX_NUMBER:
            self.found.add("GN020", tree.span, limit=f"{MAX_NUMBER:g}")
            return self.poison(tree.span)
        number = model.Number.model_construct(span=tree.span, value=value)
        return Typed(number, WHOLE if value.is_integer() else SCALAR)

    def check_name(self, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
        name, span = tree.text, tree.span
        if expected is not None and name in expected.choices:
            return self._choice(name, span, expected)
        if name in scope.bound:
            binding = scope.bound[name]
            binding.used = True
            if binding.choice is not None:
                return self._choice(binding.choice.value, span, binding.type)
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
        pairs = {"edge": "forall (x, y) in edges: …", "node": "forall x in nodes: …"}
        quantifier = pairs.get(place, "forall x in nodes, y in nodes: …")
        self.found.add("GN211", span, name=name, place=place, form=form, quantifier=quantifier)

    def _unknown_name(self, tree: ast.Name, scope: Scope, expected: Type | None) -> Typed:
        name = tree.text
        if name in scope.later:
            self.found.add("GN408", tree.span, name=name)
        elif self.names.is_lost(name):
            pass
        elif name in builtins.RESERVED or self.is_function(name, scope):
            self.found.add("GN224", tree.span, name=name, fix=bare_builtin_fix(name))
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
                f"`{name}` is the pick of phase `{phase.name.text}`, which only phases and experts "
                f"see. A let can take it as a parameter; elsewhere use `last({phase.name.text})`."
            )
        if name in FOREIGN_NAMES:
            return FOREIGN_NAMES[name]
        return did_you_mean(name, [*scope.bound, *self.names.global_names(), "true", "false"])

    def check_index(self, tree: ast.Index, scope: Scope) -> Typed:
        name = tree.name.text
        info = self.names.features.get(name)
        if info is None:
            for part in tree.indices:
                self.check_expr(part, scope)
            return self._not_a_feature(tree, scope)
        indices = [self.check_as(i, scope, NODE, "an index") for i in tree.indices]
        if info.place == "graph":
            self.found.add("GN210", tree.span, name=name)
            return self.poison(tree.span)
        if not self.index_ok(tree.span, name, len(indices)):
            return self.poison(tree.span)
        if info.place == "edge":
            self.warn_if_unguarded(tree, scope, "reads as 0 or false")
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
        if self.is_known(name, scope) or self.is_function(name, scope):
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

    def warn_if_unguarded(self, tree: ast.Index, scope: Scope, holds: str) -> None:
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
            self.found.add("GN904", tree.span, name=tree.name.text, u=u, v=v, holds=holds)

    def check_last(self, tree: ast.Last) -> Typed:
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
