"""The checked problem: frozen pydantic models that the interpreter and compiler read.

Names are resolved, types are known, parameters are filled in, enum branches are chosen.
Every expression keeps its span, so that a later stage can point at the spec.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gnarl_dsl.source import Span

Stage = Literal["input", "state", "derived", "oracle"]
Place = Literal["node", "edge", "pair", "graph"]
ValueType = Literal["scalar", "mask", "node", "category"]
FeatureType = Literal["scalar", "mask", "mask_one", "categorical", "pointer"]


class Model(BaseModel):
    """Base of everything in a Problem."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", defer_build=True
    )


class Expression(Model):
    """Base of every expression."""

    span: Span


class Number(Expression):
    kind: Literal["number"] = "number"
    value: float


class Boolean(Expression):
    kind: Literal["boolean"] = "boolean"
    value: bool


class Category(Expression):
    """A value of a categorical feature, by its position."""

    kind: Literal["category"] = "category"
    value: int


class Choice(Expression):
    """The chosen value of an enum parameter, as an argument of a registered function."""

    kind: Literal["choice"] = "choice"
    value: str


class Variable(Expression):
    """A bound variable: phase pick, quantified node or number, let parameter, local let."""

    kind: Literal["variable"] = "variable"
    name: str
    type: ValueType


class Read(Expression):
    """A feature's value at nodes; no index for graph features."""

    kind: Literal["read"] = "read"
    feature: str
    index: tuple[Expr, ...]


class OneNode(Expression):
    """The node that a mask_one feature marks."""

    kind: Literal["one_node"] = "one_node"
    feature: str


class Size(Expression):
    """`n` or `m`."""

    kind: Literal["size"] = "size"
    of: Literal["nodes", "edges"]


class HasEdge(Expression):
    kind: Literal["has_edge"] = "has_edge"
    source: Expr
    target: Expr


class Degree(Expression):
    """Number of neighbours; in directed graphs of successors or predecessors."""

    kind: Literal["degree"] = "degree"
    node: Expr
    direction: Literal["both", "out", "in"]


class Last(Expression):
    """The most recent pick of a phase, or nothing."""

    kind: Literal["last"] = "last"
    phase: str


class Otherwise(Expression):
    kind: Literal["otherwise"] = "otherwise"
    value: Expr
    default: Expr


class Unary(Expression):
    kind: Literal["unary"] = "unary"
    op: Literal["neg", "not", "abs", "ceil", "floor"]
    operand: Expr


class Arithmetic(Expression):
    kind: Literal["arithmetic"] = "arithmetic"
    op: Literal["+", "-", "*", "/", "min", "max"]
    left: Expr
    right: Expr


class Compare(Expression):
    """`of` says what is compared; a comparison with an unset optional is false."""

    kind: Literal["compare"] = "compare"
    op: Literal["==", "!=", "<", "<=", ">", ">=", "~="]
    of: ValueType
    left: Expr
    right: Expr


class Logic(Expression):
    kind: Literal["logic"] = "logic"
    op: Literal["and", "or"]
    args: tuple[Expr, ...]


class IfElse(Expression):
    kind: Literal["if_else"] = "if_else"
    condition: Expr
    then: Expr
    otherwise: Expr


class NodesDomain(Model):
    kind: Literal["nodes"] = "nodes"


class EdgesDomain(Model):
    """All edges; undirected ones once, in either direction (bodies are symmetric)."""

    kind: Literal["edges"] = "edges"


class NearDomain(Model):
    """Nodes next to a node: neighbours, successors or predecessors."""

    kind: Literal["near"] = "near"
    node: Expr
    direction: Literal["both", "out", "in"]


class RangeDomain(Model):
    kind: Literal["range"] = "range"
    first: int
    last: int


Domain = Annotated[
    NodesDomain | EdgesDomain | NearDomain | RangeDomain, Field(discriminator="kind")
]


class Binder(Model):
    names: tuple[str, ...]
    domain: Domain


class Quantifier(Expression):
    """`body` is a condition (exists, forall), a value (sum, min, max) or a key (arg…)."""

    kind: Literal["quantifier"] = "quantifier"
    op: Literal["exists", "forall", "count", "sum", "min", "max", "argmin", "argmax"]
    binders: tuple[Binder, ...]
    where: Expr | None
    body: Expr | None


class LetCall(Expression):
    kind: Literal["let_call"] = "let_call"
    name: str
    args: tuple[Expr, ...]


class ClauseRef(Expression):
    """The value of `correct`, `valid` or a named objective."""

    kind: Literal["clause_ref"] = "clause_ref"
    clause: Literal["correct", "valid", "objective"]
    name: str = ""


class FeatureRef(Expression):
    """A whole feature, as an argument of a registered function."""

    kind: Literal["feature_ref"] = "feature_ref"
    feature: str


class Call(Expression):
    """A registered function; it gets the graph implicitly."""

    kind: Literal["call"] = "call"
    function: str
    args: tuple[Expr, ...]


class Chase(Expression):
    """Following a pointer feature from a node: depth, path_cost or on_cycle."""

    kind: Literal["chase"] = "chase"
    op: Literal["depth", "path_cost", "on_cycle"]
    pointer: str
    weight: str | None
    start: Expr
    target: Expr | None


Expr = Annotated[
    Number
    | Boolean
    | Category
    | Choice
    | Variable
    | Read
    | OneNode
    | Size
    | HasEdge
    | Degree
    | Last
    | Otherwise
    | Unary
    | Arithmetic
    | Compare
    | Logic
    | IfElse
    | Quantifier
    | LetCall
    | ClauseRef
    | FeatureRef
    | Call
    | Chase,
    Field(discriminator="kind"),
]


class Assign(Model):
    """`feature[index] := value`; a mask_one or graph feature has no index."""

    kind: Literal["assign"] = "assign"
    span: Span
    feature: str
    index: tuple[Expr, ...]
    value: Expr


class SetEdge(Model):
    kind: Literal["set_edge"] = "set_edge"
    span: Span
    source: Expr
    target: Expr
    value: Expr


class Bind(Model):
    """`let name = value` inside an update."""

    kind: Literal["bind"] = "bind"
    span: Span
    name: str
    value: Expr


class When(Model):
    kind: Literal["when"] = "when"
    span: Span
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class ForEach(Model):
    """Parallel: all reads before all writes."""

    kind: Literal["for_each"] = "for_each"
    span: Span
    binders: tuple[Binder, ...]
    where: Expr | None
    body: tuple[Statement, ...]


Statement = Annotated[Assign | SetEdge | Bind | When | ForEach, Field(discriminator="kind")]


class Param(Model):
    """A constant of the spec and the value chosen for it."""

    name: str
    choices: tuple[str, ...]
    default: float | str
    value: float | str
    doc: str


class GraphKind(Model):
    directed: bool
    connected: bool
    complete: bool
    acyclic: bool
    mutable: bool


class InputSource(Model):
    """Where an input comes from when instances are generated."""

    name: str
    args: tuple[float, ...]


class Feature(Model):
    """`vars` name the position in `initial`; `choices` are the names of a categorical."""

    span: Span
    name: str
    stage: Stage
    place: Place
    type: FeatureType
    vars: tuple[str, ...]
    categories: int
    choices: tuple[str, ...]
    initial: Expr | None
    source: InputSource | None
    doc: str

    @property
    def observed(self) -> bool:
        return self.stage != "oracle"


class LetParam(Model):
    name: str
    type: ValueType


class Let(Model):
    span: Span
    name: str
    params: tuple[LetParam, ...]
    type: ValueType
    optional: bool
    body: Expr


class Phase(Model):
    """`allow` None means that every node may be picked."""

    span: Span
    name: str
    variable: str
    allow: Expr | None
    update: tuple[Statement, ...]


class Objective(Model):
    span: Span
    name: str
    value: Expr


class Reward(Model):
    span: Span
    name: str
    kind: Literal["potential", "terminal", "step"]
    value: Expr


class Metric(Model):
    span: Span
    name: str
    value: Expr


class SortKey(Model):
    """One criterion of a choice; ties within tolerance go on to the next."""

    direction: Literal["minimising", "maximising"]
    value: Expr


class Alternative(Model):
    """`uniform v where P minimising E`."""

    span: Span
    where: Expr | None
    keys: tuple[SortKey, ...]


class ExpertPhase(Model):
    phase: str
    alternatives: tuple[Alternative, ...]


class RuleExpert(Model):
    kind: Literal["rules"] = "rules"
    span: Span
    name: str
    phases: tuple[ExpertPhase, ...]
    reads_oracle: bool


class GreedyExpert(Model):
    kind: Literal["greedy"] = "greedy"
    span: Span
    name: str
    objective: str


Expert = Annotated[RuleExpert | GreedyExpert, Field(discriminator="kind")]


class Draw(Model):
    """An argument of a generator: `{…}` (each in test) or `[low, high]`."""

    name: str
    kind: Literal["one_of", "between"]
    values: tuple[float, ...]


class Split(Model):
    name: Literal["train", "valid", "test"]
    count: int
    generator: str
    args: tuple[Draw, ...]


class InstanceSet(Model):
    span: Span
    name: str
    splits: tuple[Split, ...]


class CostTerm(Model):
    """n**nodes * m**edges * degree**degree."""

    nodes: int = 0
    edges: int = 0
    degree: int = 0


class Costs(Model):
    """Worst case per step of what the environment does, and of the experts."""

    step: tuple[CostTerm, ...]
    mask: tuple[CostTerm, ...]
    update: tuple[CostTerm, ...]
    ending: tuple[CostTerm, ...]
    observation: tuple[CostTerm, ...]
    reward: tuple[CostTerm, ...]
    experts: tuple[tuple[str, tuple[CostTerm, ...]], ...]


class SourceText(Model):
    """One file the problem was read from; spans point into these by position."""

    name: str
    text: str


class Problem(Model):
    """A checked spec: everything later stages need, and nothing they could misread."""

    language: int
    name: str
    doc: str
    params: tuple[Param, ...]
    graph: GraphKind
    features: tuple[Feature, ...]
    lets: tuple[Let, ...]
    phases: tuple[Phase, ...]
    horizon: Expr
    limit: Expr | None
    terminate: Expr | None
    valid: Expr | None
    correct: Expr | None
    objectives: tuple[Objective, ...]
    rewards: tuple[Reward, ...]
    metrics: tuple[Metric, ...]
    experts: tuple[Expert, ...]
    instances: tuple[InstanceSet, ...]
    costs: Costs
    deployable: bool
    sources: tuple[SourceText, ...]

    def feature(self, name: str) -> Feature:
        return next(feature for feature in self.features if feature.name == name)

    def let(self, name: str) -> Let:
        return next(let for let in self.lets if let.name == name)

    def phase(self, name: str) -> Phase:
        return next(phase for phase in self.phases if phase.name == name)

    def expert(self, name: str | None = None) -> RuleExpert | GreedyExpert:
        """The named expert, or the first."""
        return next(expert for expert in self.experts if name in (None, expert.name))

    def objective(self, name: str | None = None) -> Objective:
        return next(entry for entry in self.objectives if name in (None, entry.name))

    def line_of(self, span: Span) -> int:
        """1-based line of a span in its file."""
        return self.sources[span.file].text.count("\n", 0, span.start) + 1

    def text_of(self, span: Span) -> str:
        """The spec's own words at a span, on one line."""
        text = self.sources[span.file].text[span.start : span.end]
        return " ".join(_COMMENT.sub(r"\1", text).split())

    @property
    def hash(self) -> str:
        """Identity of the behaviour: unchanged by formatting, comments and documentation."""
        return hashlib.blake2b("".join(_meaning(self)).encode(), digest_size=8).hexdigest()


# Where things stand, what is said about them, and what follows from the rest.
_NOT_MEANING = frozenset({"span", "doc", "sources", "costs"})


def _meaning(value: object) -> Iterator[str]:
    """One unambiguous text per meaning, without pydantic's serializers (50 ms to build)."""
    match value:
        case Model():
            for name, item in sorted(vars(value).items()):
                if name not in _NOT_MEANING:
                    yield f"{name}="
                    yield from _meaning(item)
            yield ";"
        case tuple():
            yield f"{len(value)}["
            for item in value:
                yield from _meaning(item)
        case str():
            yield f"{len(value)}:{value}"
        case float() if value.is_integer():
            yield f"{int(value)},"
        case _:
            yield f"{value!r},"


# A comment, or a text that may hold its sign.
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|#[^\n]*')
