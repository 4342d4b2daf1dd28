"""What all parts of the checker share: declarations, memory of checked formulas, cycles."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gnarl_dsl import ast, cost
from gnarl_dsl.builtins import PLACES
from gnarl_dsl.diagnostics import Collector, Note
from gnarl_dsl.environment import Binding, Declarations, LetInfo, Scope
from gnarl_dsl.facts import NO_FACTS, Facts, Typed, Witness
from gnarl_dsl.source import Span
from gnarl_dsl.types import MASK, NODE, POISON, SCALAR, Type

_PLACE_SIZE = {
    "node": cost.NODES,
    "edge": cost.EDGES,
    "pair": cost.multiply(cost.NODES, cost.NODES),
    "graph": cost.CONSTANT,
}


class BaseChecker(ABC):
    """State of one check; formulas are checked once, on first use."""

    def __init__(self, names: Declarations) -> None:
        self.names = names
        self.found: Collector = names.found
        self.let_infos: dict[str, LetInfo | None] = {}
        self.clause_infos: dict[str, Typed] = {}
        self.formulas: dict[str, Typed] = {}
        self._open: list[str] = []

    @abstractmethod
    def check_expr(self, tree: ast.Expr, scope: Scope, expected: Type | None = None) -> Typed: ...

    @abstractmethod
    def check_as(self, tree: ast.Expr, scope: Scope, wanted: Type, what: str) -> Typed: ...

    @abstractmethod
    def poison(self, span: Span) -> Typed: ...

    # Cycles

    def enter(self, what: str, used_at: Span) -> bool:
        """Start checking a definition; False (and a report) if it is being checked already."""
        if what in self._open:
            circle = [*self._open[self._open.index(what) :], what]
            self.found.add("GN215", used_at, path=" → ".join(f"`{item}`" for item in circle))
            return False
        self._open.append(what)
        return True

    def leave(self, what: str) -> None:
        self._open.remove(what)

    # Features

    def value_type(self, name: str) -> Type:
        """The type of one cell of a feature."""
        info = self.names.features[name]
        match info.type:
            case "scalar":
                return SCALAR
            case "mask" | "mask_one":
                return MASK
            case "pointer":
                return NODE
            case "categorical":
                return Type("category", True, False, info.choices, info.categories)
        return POISON

    def feature_facts(self, name: str, span: Span) -> Facts:
        """What reading the feature means: an oracle read, a state read, or a formula's reads."""
        info = self.names.features[name]
        self.names.used.add(name)
        if info.stage == "oracle":
            return Facts(oracle=Witness(name, span))
        if info.stage == "state":
            return Facts(state=Witness(name, span))
        if info.stage == "derived":
            typed = self.formula(name, span)
            terms = typed.facts.terms if typed else cost.CONSTANT
            return Facts(state=Witness(name, span), terms=terms)
        return NO_FACTS

    def formula(self, name: str, used_at: Span) -> Typed | None:
        """The checked formula of a derived feature, or None if it depends on itself."""
        if name not in self.formulas:
            if not self.enter(f"feature {name}", used_at):
                return None
            self.formulas[name] = self.check_initial(name)
            self.leave(f"feature {name}")
        return self.formulas[name]

    def check_initial(self, name: str) -> Typed:
        """The right-hand side of a feature line, typed for its place."""
        info = self.names.features[name]
        scope = Scope()
        for var in info.vars:
            self.warn_shadow(var, scope)
            scope = scope.bind(var.text, Binding(NODE, var.span, used=True))
        if info.place == "edge" and len(info.vars) == 2:
            scope = scope.joining(frozenset({(info.vars[0].text, info.vars[1].text)}))
        tree = info.tree.value
        if tree is None:
            return self.poison(info.tree.span)
        return self.check_stored(tree, scope, name)

    @abstractmethod
    def check_stored(self, tree: ast.Expr, scope: Scope, feature: str) -> Typed: ...

    # Reports shared by several parts

    def forbid_oracle(self, typed: Typed, span: Span, where: str) -> None:
        """A place that must not see a label."""
        witness = typed.facts.oracle
        if witness is None:
            return
        info = self.names.features.get(witness.name)
        notes = [Note(info.tree.span, "the oracle is declared here")] if info else []
        self.found.add("GN401", witness.span, where=where, path=witness.path(), notes=notes)

    def forbid_state(self, typed: Typed, where: str) -> None:
        """A place that is evaluated before the episode starts."""
        witness = typed.facts.state
        if witness is not None:
            self.found.add("GN403", witness.span, where=where, path=witness.path())

    def warn_shadow(self, name: ast.Ident, scope: Scope) -> None:
        if name.text in scope.bound or self.names.is_global(name.text):
            self.found.add("GN902", name.span, name=name.text)

    def warn_unused_bindings(self, scope: Scope, file: int, what: str) -> None:
        for name, binding in scope.bound.items():
            if not binding.used and file == 0 and not name.startswith("_"):
                self.found.add("GN907", binding.span, name=name, what=what)


def place_size(place: str) -> cost.Terms:
    """How many cells a feature has, as cost terms."""
    assert place in PLACES, place
    return _PLACE_SIZE[place]
