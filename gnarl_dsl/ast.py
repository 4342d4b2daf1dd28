"""The syntax tree: one frozen class per grammar rule, each with the span of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from gnarl_dsl.source import Span


@dataclass(frozen=True, slots=True)
class Tree:
    """Base of every syntax node."""

    span: Span


@dataclass(frozen=True, slots=True)
class Ident(Tree):
    """A name as written."""

    text: str


# Expressions


@dataclass(frozen=True, slots=True)
class Number(Tree):
    text: str

    @property
    def value(self) -> float:
        return float(self.text)


@dataclass(frozen=True, slots=True)
class Boolean(Tree):
    value: bool


@dataclass(frozen=True, slots=True)
class Infinity(Tree):
    pass


@dataclass(frozen=True, slots=True)
class Name(Tree):
    """A bare name: variable, graph feature, mask_one, let without parameters, category…"""

    text: str


@dataclass(frozen=True, slots=True)
class Call(Tree):
    """`f(a, b)`: a let, a built-in or a registered function."""

    name: Ident
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Index(Tree):
    """`d[v]`, `A[u, v]`."""

    name: Ident
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Last(Tree):
    """`last(PHASE)`."""

    phase: Ident


@dataclass(frozen=True, slots=True)
class Unary(Tree):
    """`-e` or `not e`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Tree):
    """`+ - * /`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Compare(Tree):
    """`== != < <= > >= ~=`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Logic(Tree):
    """`a and b and c`, `a or b`: flat, so that long chains are not deep."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class IfElse(Tree):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Otherwise(Tree):
    """`optional otherwise value`."""

    value: Expr
    default: Expr


@dataclass(frozen=True, slots=True)
class NamedDomain(Tree):
    """`nodes`, `edges`, `neighbors(x)`…"""

    name: Ident
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class RangeDomain(Tree):
    """`1..k`, both ends included."""

    first: Expr
    last: Expr


@dataclass(frozen=True, slots=True)
class Binder(Tree):
    """`x in nodes`, `(x, y) in edges`."""

    names: tuple[Ident, ...]
    domain: NamedDomain | RangeDomain


@dataclass(frozen=True, slots=True)
class Quantifier(Tree):
    """exists, forall, count, sum, min, max, argmin, argmax over binders."""

    kind: str
    binders: tuple[Binder, ...]
    where: Expr | None
    body: Expr | None
    is_any: bool = False


Expr = (
    Number
    | Boolean
    | Infinity
    | Name
    | Call
    | Index
    | Last
    | Unary
    | Binary
    | Compare
    | Logic
    | IfElse
    | Otherwise
    | Quantifier
)

# Updates


@dataclass(frozen=True, slots=True)
class Assign(Tree):
    """`target := value`; the target is a Name, an Index or `edge(u, v)`."""

    target: Name | Index | Call
    value: Expr


@dataclass(frozen=True, slots=True)
class LocalLet(Tree):
    """`let name = value` inside an update: a value bound once."""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class When(Tree):
    """`if condition` with its blocks."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ForEach(Tree):
    """`for x in nodes where P`: parallel."""

    binders: tuple[Binder, ...]
    where: Expr | None
    body: tuple[Statement, ...]


Statement = Assign | LocalLet | When | ForEach

# Top-level blocks


@dataclass(frozen=True, slots=True)
class Version(Tree):
    number: Number


@dataclass(frozen=True, slots=True)
class ProblemHead(Tree):
    name: Ident
    extends: Ident | None
    doc: str


@dataclass(frozen=True, slots=True)
class Param(Tree):
    name: Ident
    choices: tuple[Ident, ...]
    default: Expr
    doc: str


@dataclass(frozen=True, slots=True)
class GraphDecl(Tree):
    attributes: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class Column(Tree):
    """One word of a feature line, with what stands in its parentheses."""

    name: Ident
    args: tuple[Ident | Number, ...]


@dataclass(frozen=True, slots=True)
class SourceOf(Tree):
    """`~ uniform(0, 1)`: where an input comes from."""

    name: Ident
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Feature(Tree):
    name: Ident
    columns: tuple[Column, ...]
    value: Expr | None
    source: SourceOf | None
    doc: str


@dataclass(frozen=True, slots=True)
class Features(Tree):
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class LetParam(Tree):
    name: Ident
    type: Ident | None


@dataclass(frozen=True, slots=True)
class Let(Tree):
    name: Ident
    params: tuple[LetParam, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Allow(Tree):
    condition: Expr


@dataclass(frozen=True, slots=True)
class Update(Tree):
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Phase(Tree):
    name: Ident
    variable: Ident
    clauses: tuple[Allow | Update, ...]


@dataclass(frozen=True, slots=True)
class Horizon(Tree):
    rounds: Expr


@dataclass(frozen=True, slots=True)
class Limit(Tree):
    rounds: Expr


@dataclass(frozen=True, slots=True)
class Terminate(Tree):
    condition: Expr


@dataclass(frozen=True, slots=True)
class Valid(Tree):
    condition: Expr


@dataclass(frozen=True, slots=True)
class Correct(Tree):
    condition: Expr


@dataclass(frozen=True, slots=True)
class Objective(Tree):
    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Reward(Tree):
    name: Ident
    kind: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Metric(Tree):
    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Criterion(Tree):
    """`minimising E1, E2` or `maximising E`."""

    direction: str
    keys: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Choice(Tree):
    """`uniform v where P minimising E`."""

    variable: Ident
    where: Expr | None
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True, slots=True)
class ExpertPhase(Tree):
    phase: Ident
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Expert(Tree):
    name: Ident
    phases: tuple[ExpertPhase, ...]


@dataclass(frozen=True, slots=True)
class GreedyExpert(Tree):
    name: Ident
    method: Ident
    objective: Ident


@dataclass(frozen=True, slots=True)
class OneOf(Tree):
    """`{1, 4..6}`: each in test, a uniform draw in train; a lone number is a set of one."""

    items: tuple[tuple[Number, Number], ...]


@dataclass(frozen=True, slots=True)
class Between(Tree):
    """`[a, b]`: uniform over a range."""

    low: Number
    high: Number


@dataclass(frozen=True, slots=True)
class GeneratorArg(Tree):
    name: Ident
    value: OneOf | Between


@dataclass(frozen=True, slots=True)
class Split(Tree):
    name: Ident
    count: Number
    generator: Ident
    args: tuple[GeneratorArg, ...]


@dataclass(frozen=True, slots=True)
class Instances(Tree):
    name: Ident
    splits: tuple[Split, ...]


@dataclass(frozen=True, slots=True)
class Drop(Tree):
    kind: Ident
    names: tuple[Ident, ...]


Block = (
    Version
    | ProblemHead
    | Param
    | GraphDecl
    | Features
    | Let
    | Phase
    | Horizon
    | Limit
    | Terminate
    | Valid
    | Correct
    | Objective
    | Reward
    | Metric
    | Expert
    | GreedyExpert
    | Instances
    | Drop
)


@dataclass(frozen=True, slots=True)
class Spec(Tree):
    """A whole file: its blocks in order; blocks with a syntax error are missing."""

    blocks: tuple[Block, ...]


def child_trees(tree: Tree) -> Iterator[Tree]:
    """The syntax nodes directly below `tree`."""
    for item in fields(tree):
        yield from _trees_in(getattr(tree, item.name))


def _trees_in(value: object) -> Iterator[Tree]:
    if isinstance(value, Tree):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Span):
        for item in value:
            yield from _trees_in(item)


def deepest_tree(root: Tree, limit: int) -> Tree | None:
    """The first node found more than `limit` levels below `root`, or None (no recursion)."""
    waiting = [(root, 0)]
    while waiting:
        tree, depth = waiting.pop()
        if depth > limit:
            return tree
        waiting.extend((child, depth + 1) for child in child_trees(tree))
    return None
