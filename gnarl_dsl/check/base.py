"""What all parts of the checker share: declarations, memory of checked formulas, cycles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from gnarl_dsl.check import cost
from gnarl_dsl.check.environment import Binding, Declarations, LetInfo, Scope
from gnarl_dsl.check.facts import NO_FACTS, Facts, Typed, Witness
from gnarl_dsl.check.types import MASK, NODE, POISON, SCALAR, Type
from gnarl_dsl.language.builtins import PLACES
from gnarl_dsl.report.diagnostics import Collector, Note
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast

_MAX_CIRCLE = 50
# Where else a label may be read, by the place that must not.
_LABEL_FIXES = {
    "`horizon`": "Bound the rounds by n and m; `limit` may read an oracle.",
    "`valid`": "Say what the answer is in `correct`, which may read an oracle.",
    "objective": "An objective is known while solving; `reward` and `metric` may read an oracle.",
}
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
        self._depth = 0

    @abstractmethod
    def check_expr(self, tree: ast.Expr, scope: Scope, expected: Type | None = None) -> Typed: ...

    @abstractmethod
    def check_as(self, tree: ast.Expr, scope: Scope, wanted: Type, what: str) -> Typed: ...

    @abstractmethod
    def is_known(self, name: str, scope: Scope) -> bool: ...

    @abstractmethod
    def poison(self, span: Span, *parts: Typed) -> Typed: ...

    # Cycles

    def enter(self, what: str, used_at: Span) -> bool:
        """Start checking a definition; False (and a report) if it is being checked already.

        Definitions are checked after those they use, so only a circle can be long here.
        """
        if what in self._open or len(self._open) > _MAX_CIRCLE:
            start = self._open.index(what) if what in self._open else 0
            circle = [item.split()[-1] for item in (*self._open[start:], what)]
            if len(circle) > 8:
                circle[4:-4] = ["…"]
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
            self.formula(name, span)
            return Facts(oracle=(Witness(name, span),))
        if info.stage == "state":
            return Facts(state=(Witness(name, span),))
        if info.stage == "derived":
            typed = self.formula(name, span)
            formula = typed.facts if typed else NO_FACTS
            return Facts((), (Witness(name, span),), formula.terms, formula.repeats)
        return NO_FACTS

    def formula(self, name: str, used_at: Span) -> Typed | None:
        """The checked formula of a derived feature or oracle, or None if it needs itself."""
        if name not in self.formulas:
            if not self.enter(f"feature {name}", used_at):
                return None
            typed = self.check_initial(name)
            self.leave(f"feature {name}")
            self.formulas[name] = typed
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

    def forbid_oracle(self, facts: Facts, where: str) -> None:
        """A place that must not see a label."""
        for witness in facts.oracle:
            info = self.names.features.get(witness.name)
            notes = [Note(info.tree.span, "the oracle is declared here")] if info else []
            path = witness.path() if info else f"{witness.path()}, which computes one"
            fix = next((fix for word, fix in _LABEL_FIXES.items() if word in where), None)
            self.found.add("GN401", witness.span, where=where, path=path, notes=notes, fix=fix)

    def forbid_state(self, facts: Facts, where: str) -> None:
        """A place that is evaluated before the episode starts."""
        for witness in facts.state:
            self.found.add("GN403", witness.span, where=where, path=witness.path())

    def forbid_same_names(self, names: Sequence[ast.Ident], kind: str) -> None:
        """Names that are bound side by side must differ."""
        first: dict[str, ast.Ident] = {}
        for name in names:
            if name.text in first:
                notes = [Note(first[name.text].span, "the first one is here")]
                self.found.add("GN101", name.span, kind=kind, name=name.text, notes=notes)
            first.setdefault(name.text, name)

    def warn_shadow(self, name: ast.Ident, scope: Scope) -> None:
        if name.text in scope.bound or self.names.is_global(name.text):
            self.found.add("GN902", name.span, name=name.text)

    def warn_unused_bindings(self, scope: Scope, what: str) -> None:
        for name, binding in scope.bound.items():
            if not binding.used and not name.startswith("_"):
                self.found.add("GN907", binding.span, name=name, what=what)


def place_size(place: str) -> cost.Terms:
    """How many cells a feature has, as cost terms."""
    assert place in PLACES, place
    return _PLACE_SIZE[place]
