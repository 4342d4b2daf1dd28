"""Checked formulas and statements: names are resolved, types known, params filled in.

Every expression keeps its span, so that a later stage can point at the spec.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from gnarl_dsl.model.kinds import Value
from gnarl_dsl.report.source import Span


class Model(BaseModel):
    """Base of everything in a Problem."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", defer_build=True
    )


class Expression(Model):
    """Base of every expression."""

    span: Span


class Number(Expression):
    """`unit` is the feature whose unit a param has been given, and so its value."""

    kind: Literal["number"] = "number"
    value: float
    unit: str = ""


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
    type: Value


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
    """`not`, or an operator of `language/operators.py` on one number."""

    kind: Literal["unary"] = "unary"
    op: str
    operand: Expr


class Arithmetic(Expression):
    """An operator of `language/operators.py` on two numbers."""

    kind: Literal["arithmetic"] = "arithmetic"
    op: str
    left: Expr
    right: Expr


class Compare(Expression):
    """`of` says what is compared; a comparison with an unset optional is false."""

    kind: Literal["compare"] = "compare"
    op: Literal["==", "!=", "<", "<=", ">", ">=", "~="]
    of: Value
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
    """Following a pointer feature from a node: depth, path_cost, on_cycle or root."""

    kind: Literal["chase"] = "chase"
    op: Literal["depth", "path_cost", "on_cycle", "root"]
    pointer: str
    weight: str | None
    start: Expr
    target: Expr | None


class Reach(Expression):
    """What can be reached on the current graph, or on a part of it.

    A binder of one variable says which nodes are in the part, with the edges between them; two
    variables say along which pairs steps lead, from the first to the second. Without binders it is
    the whole graph.
    """

    kind: Literal["reach"] = "reach"
    op: Literal["distance", "component", "acyclic"]
    binders: tuple[Binder, ...]
    where: Expr | None
    nodes: tuple[Expr, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for binder in self.binders for name in binder.names)

    @property
    def both_ways(self) -> bool:
        """Whether steps along undirected edges lead to both ends."""
        return len(self.variables) < 2 or len(self.binders) == 1


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
    | Chase
    | Reach,
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
