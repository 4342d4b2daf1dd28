"""Names in reach: what a spec declares, and what is bound where an expression stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gnarl_dsl import model
from gnarl_dsl.check.facts import Facts, Typed
from gnarl_dsl.check.types import Type
from gnarl_dsl.language.builtins import RESERVED
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast


@dataclass
class Binding:
    """A bound variable; `used` is set when an expression reads it.

    `choice` is the value of a variable that stands for an enum param, which is known now.
    """

    type: Type
    span: Span
    used: bool = False
    choice: model.Choice | None = None


@dataclass(frozen=True)
class Scope:
    """Variables bound here and the pairs of them known to be joined by an edge."""

    bound: dict[str, Binding] = field(default_factory=dict)
    joined: frozenset[tuple[str, str]] = frozenset()
    later: frozenset[str] = frozenset()

    def bind(self, name: str, binding: Binding) -> Scope:
        """This scope with one more variable; old knowledge about the name is dropped."""
        joined = frozenset(pair for pair in self.joined if name not in pair)
        return replace(self, bound={**self.bound, name: binding}, joined=joined)

    def joining(self, pairs: frozenset[tuple[str, str]]) -> Scope:
        return replace(self, joined=self.joined | pairs)


@dataclass(frozen=True)
class FeatureInfo:
    """A declared feature; its formula is checked when first needed."""

    tree: ast.Feature
    stage: model.Stage
    place: model.Place
    type: model.FeatureType
    vars: tuple[ast.Ident, ...]
    categories: int = 0
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class LetInfo:
    params: tuple[model.LetParam, ...]
    body: Typed


@dataclass
class Declarations:
    """Everything the spec declares by name, before any formula is checked."""

    found: Collector
    directed: bool = False
    graph: model.GraphKind | None = None
    params: dict[str, model.Param] = field(default_factory=dict)
    param_trees: dict[str, ast.Param] = field(default_factory=dict)
    features: dict[str, FeatureInfo] = field(default_factory=dict)
    lets: dict[str, ast.Let] = field(default_factory=dict)
    phases: dict[str, ast.Phase] = field(default_factory=dict)
    objectives: dict[str, ast.Objective] = field(default_factory=dict)
    correct: ast.Correct | None = None
    valid: ast.Valid | None = None
    lost_names: frozenset[str] = frozenset()
    lost_blocks: frozenset[str] = frozenset()
    lost_base: bool = False
    used: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    formula_facts: dict[str, Facts] = field(default_factory=dict)

    @property
    def is_mutable(self) -> bool:
        return self.graph is not None and self.graph.mutable

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
