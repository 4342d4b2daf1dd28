"""What a check works on: the declarations of a spec, and what is known of its formulas so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gnarl_dsl import model
from gnarl_dsl.check.cost import Spent, Terms
from gnarl_dsl.check.scopes import Binding, Promises, Scope
from gnarl_dsl.check.types import MAYBE_NODE, Facts, Type, Typed
from gnarl_dsl.language import registered
from gnarl_dsl.language.signatures import (
    FunctionSignature,
    GeneratorSignature,
    SourceSignature,
    function_of,
    generator_of,
    source_of,
)
from gnarl_dsl.language.words import RESERVED
from gnarl_dsl.model.kinds import CATEGORY, EDGE, FeatureType, Place, Stage, Value
from gnarl_dsl.report.diagnostics import Collector, Note
from gnarl_dsl.report.source import Source, Span
from gnarl_dsl.syntax import ast

_MAX_CIRCLE = 50
_MAX_QUOTED = 40
T = TypeVar("T")


@dataclass(frozen=True)
class FeatureInfo:
    """A declared feature; its formula is checked when first needed."""

    tree: ast.Feature
    stage: Stage
    place: Place
    type: FeatureType
    vars: tuple[ast.Ident, ...]
    categories: int = 0
    choices: tuple[str, ...] = ()

    @property
    def cell(self) -> Type:
        """Of what a formula reads at an index."""
        return self._typed(self.type.cell)

    @property
    def stored(self) -> Type:
        """Of what it starts from and what updates write."""
        return self._typed(self.type.value)

    @property
    def unset(self) -> bool:
        """Whether it is a mark that no node has at first."""
        return self.stage.written and self.type.single and self.tree.value is None

    @property
    def marked(self) -> Type:
        """Of the one node that it marks."""
        return MAYBE_NODE if self.unset else self.stored

    def _typed(self, value: Value) -> Type:
        return Type(value, value is CATEGORY, False, self.choices, self.categories)


@dataclass(frozen=True)
class LetInfo:
    params: tuple[model.LetParam, ...]
    body: Typed


@dataclass
class Declarations:
    """Everything the spec declares by name, before any formula is checked.

    `first` is where each name of a kind was first declared. What was reported is lost, so that
    its uses are not reported as well.
    """

    found: Collector
    graph: model.GraphKind | None = None
    params: dict[str, model.Param] = field(default_factory=dict)
    param_trees: dict[str, ast.Param] = field(default_factory=dict)
    features: dict[str, FeatureInfo] = field(default_factory=dict)
    lets: dict[str, ast.Let] = field(default_factory=dict)
    externs: dict[str, model.Extern] = field(default_factory=dict)
    extern_trees: dict[str, ast.Extern] = field(default_factory=dict)
    phases: dict[str, ast.Phase] = field(default_factory=dict)
    objectives: dict[str, ast.Objective] = field(default_factory=dict)
    correct: ast.Correct | None = None
    valid: ast.Valid | None = None
    first: dict[tuple[str, str], Span] = field(default_factory=dict)
    lost_names: frozenset[str] = frozenset()
    lost_blocks: frozenset[str] = frozenset()
    lost_base: bool = False
    used: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    precomputed: set[str] = field(default_factory=set)
    promises: Promises = field(init=False)

    def __post_init__(self) -> None:
        self.promises = Promises(self.lets)

    @property
    def is_mutable(self) -> bool:
        return self.graph is not None and self.graph.mutable

    @property
    def is_undirected(self) -> bool:
        return self.graph is not None and not self.graph.directed

    def global_names(self) -> Iterator[str]:
        """Everything that can be meant by a bare word in a formula."""
        yield from self.params
        yield from self.features
        yield from self.lets
        yield from self.objectives
        yield from ("correct", "valid", "n", "m")

    def lose(self, name: str) -> None:
        """Remember that a declaration was reported, so that its uses are not."""
        self.lost_names |= {name}

    def is_lost(self, name: str) -> bool:
        """Whether something that could not be read may have declared this name."""
        return self.lost_base or name in self.lost_names

    def declares(self, name: str) -> bool:
        """Whether the spec has a meaning of its own for a name, even one that was reported."""
        return name in self.lost_names or name in set(self.global_names())

    def is_global(self, name: str) -> bool:
        return name in RESERVED or name in set(self.global_names())

    # What is registered, and what the spec declares in its place

    def function(self, name: str) -> FunctionSignature | None:
        """The function that a call of this name means: what the spec declares comes first."""
        if extern := self._extern(name, "extern"):
            return function_of(extern)
        return None if self.declares(name) else registered.FUNCTIONS.get(name)

    def law(self, name: str) -> SourceSignature | None:
        """The source of inputs that has this name."""
        extern = self._extern(name, "source")
        return source_of(extern) if extern else registered.SOURCES.get(name)

    def family(self, name: str) -> GeneratorSignature | None:
        """The family of graphs that has this name."""
        extern = self._extern(name, "generator")
        return generator_of(extern) if extern else registered.GENERATORS.get(name)

    def _extern(self, name: str, kind: str) -> model.Extern | None:
        extern = self.externs.get(name)
        if extern is None or extern.kind != kind:
            return None
        self.used.add(name)
        return extern

    def externs_of(self, kind: str) -> list[str]:
        """The names that the spec declares for what is brought."""
        return [name for name, extern in self.externs.items() if extern.kind == kind]

    def is_edge_feature(self, name: str) -> bool:
        return self.features[name].place is EDGE


@dataclass
class Context:
    """One check of one spec. What formulas can name is checked once, on first use.

    `formulas` are those of derived features and oracles; `spent` and `experts` is what clauses
    and experts cost per step; `open` is what is being checked now, each because the one before
    uses it; `depth` is how deep in a formula the check stands.
    """

    names: Declarations
    sources: Sequence[Source]
    formulas: dict[str, Typed] = field(default_factory=dict)
    lets: dict[str, LetInfo | None] = field(default_factory=dict)
    symmetric_lets: dict[str, bool] = field(default_factory=dict)
    clauses: dict[str, Typed] = field(default_factory=dict)
    experts: dict[str, Terms] = field(default_factory=dict)
    spent: list[Spent] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    depth: int = 0

    @property
    def found(self) -> Collector:
        return self.names.found

    def is_known(self, name: str, scope: Scope) -> bool:
        return name in scope.bound or self.names.is_global(name)

    def text_of(self, span: Span) -> str:
        """The spec's own words for a part of a message, if they are few."""
        text = self.sources[span.file].text[span.start : span.end]
        return text if len(text) <= _MAX_QUOTED and text.isprintable() else "…"

    def once(
        self, memory: dict[str, T], name: str, used_at: Span, check: Callable[[], T]
    ) -> T | None:
        """What `check` gave for a definition; None (and a report) if it needs itself.

        Definitions are checked after those they use, so only a circle can be long here.
        """
        if name not in memory:
            if name in self.open or len(self.open) > _MAX_CIRCLE:
                self._report_circle(name, used_at)
                return None
            self.open.append(name)
            memory[name] = check()
            self.open.pop()
        return memory[name]

    def _report_circle(self, name: str, used_at: Span) -> None:
        start = self.open.index(name) if name in self.open else 0
        circle = [*self.open[start:], name]
        if len(circle) > 8:
            circle[4:-4] = ["…"]
        self.found.add("GN215", used_at, path=" → ".join(f"`{item}`" for item in circle))


# Reports that several parts make


def forbid_oracle(context: Context, facts: Facts, where: str, fix: str | None = None) -> None:
    """A place that must not see a label."""
    for witness in facts.oracle:
        info = context.names.features.get(witness.name)
        notes = [Note(info.tree.span, "the oracle is declared here")] if info else []
        path = witness.path() if info else f"{witness.path()}, which computes one"
        context.found.add("GN401", witness.span, where=where, path=path, notes=notes, fix=fix)


def forbid_hidden(context: Context, facts: Facts, where: str) -> None:
    """A place that a policy sees, or that it could read hidden values off."""
    for witness in facts.hidden:
        info = context.names.features[witness.name]
        notes = [Note(info.tree.span, "it is declared here")]
        context.found.add("GN417", witness.span, where=where, path=witness.path(), notes=notes)


def forbid_state(context: Context, facts: Facts, where: str) -> None:
    """A place that is evaluated before the episode starts."""
    for witness in facts.state:
        context.found.add("GN403", witness.span, where=where, path=witness.path())


def forbid_same_names(context: Context, names: Sequence[ast.Ident], kind: str) -> None:
    """Names that are bound side by side must differ."""
    first: dict[str, ast.Ident] = {}
    for name in names:
        if name.text in first:
            notes = [Note(first[name.text].span, "the first one is here")]
            context.found.add("GN101", name.span, kind=kind, name=name.text, notes=notes)
        first.setdefault(name.text, name)


def warn_shadow(context: Context, name: ast.Ident, scope: Scope) -> None:
    if context.is_known(name.text, scope):
        context.found.add("GN902", name.span, name=name.text)


def warn_unused(context: Context, bound: Mapping[str, Binding], what: str) -> None:
    for name, binding in bound.items():
        if not binding.used and not name.startswith("_"):
            context.found.add("GN907", binding.span, name=name, what=what)
