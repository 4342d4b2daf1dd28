"""The syntax tree: one frozen class per grammar rule, each with the span of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax.node import Node


class Tree(Node):
    """Base of every syntax node."""

    span: Span


class Ident(Tree):
    """A name as written."""

    text: str


# Expressions


class Number(Tree):
    text: str

    @property
    def value(self) -> float:
        return float(self.text)


class Boolean(Tree):
    value: bool


class Infinity(Tree):
    pass


class Name(Tree):
    """A bare name: variable, graph feature, mask_one, let without parameters, category…"""

    text: str


class Call(Tree):
    """`f(a, b)`: a let, a built-in or a registered function."""

    name: Ident
    args: tuple[Expr, ...]


class Index(Tree):
    """`d[v]`, `A[u, v]`."""

    name: Ident
    indices: tuple[Expr, ...]


class Last(Tree):
    """`last(PHASE)`."""

    phase: Ident


class Unary(Tree):
    """`-e` or `not e`."""

    op: str
    operand: Expr


class Binary(Tree):
    """`+ - * /`."""

    op: str
    left: Expr
    right: Expr


class Compare(Tree):
    """`== != < <= > >= ~=`."""

    op: str
    left: Expr
    right: Expr


class Logic(Tree):
    """`a and b and c`, `a or b`: flat, so that long chains are not deep."""

    op: str
    args: tuple[Expr, ...]


class IfElse(Tree):
    condition: Expr
    then: Expr
    otherwise: Expr


class Otherwise(Tree):
    """`optional otherwise value`."""

    value: Expr
    default: Expr


class NamedDomain(Tree):
    """`nodes`, `edges`, `neighbors(x)`…"""

    name: Ident
    args: tuple[Expr, ...]


class RangeDomain(Tree):
    """`1..k`, both ends included."""

    first: Expr
    last: Expr


class Binder(Tree):
    """`x in nodes`, `(x, y) in edges`."""

    names: tuple[Ident, ...]
    domain: NamedDomain | RangeDomain


class Quantifier(Tree):
    """exists, forall, count, sum, min, max, argmin, argmax or any over binders."""

    kind: str
    binders: tuple[Binder, ...]
    where: Expr | None
    body: Expr | None
    is_any: bool = False


class Partial(Tree):
    """`f(x in nodes where P: a, b)`: a built-in that is asked about a part of the graph."""

    name: Ident
    binders: tuple[Binder, ...]
    where: Expr | None
    args: tuple[Expr, ...]


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
    | Partial
)

# Updates


class Assign(Tree):
    """`target := value`; the target is a Name, an Index or `edge(u, v)`."""

    target: Name | Index | Call
    value: Expr


class LocalLet(Tree):
    """`let name = value` inside an update: a value bound once."""

    name: Ident
    value: Expr


class When(Tree):
    """`if condition` with its blocks."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class ForEach(Tree):
    """`for x in nodes where P`: parallel."""

    binders: tuple[Binder, ...]
    where: Expr | None
    body: tuple[Statement, ...]


Statement = Assign | LocalLet | When | ForEach

# Top-level blocks


class Version(Tree):
    number: Number


class ProblemHead(Tree):
    name: Ident
    extends: Ident | None
    doc: str


class Param(Tree):
    name: Ident
    unit: Ident | None
    choices: tuple[Ident, ...]
    default: Expr
    doc: str


class GraphDecl(Tree):
    attributes: tuple[Ident, ...]


class Column(Tree):
    """One word of a feature line, with what stands in its parentheses."""

    name: Ident
    args: tuple[Ident | Number, ...]


class SourceOf(Tree):
    """`~ uniform(0, 1) | exponential`: where an input comes from."""

    name: Ident
    args: tuple[Expr, ...]
    others: tuple[SourceOf, ...] = ()


class Feature(Tree):
    name: Ident
    columns: tuple[Column, ...]
    value: Expr | None
    source: SourceOf | None
    doc: str


class Features(Tree):
    features: tuple[Feature, ...]


class LetParam(Tree):
    name: Ident
    type: Ident | None


class Let(Tree):
    name: Ident
    params: tuple[LetParam, ...]
    body: Expr


class Allow(Tree):
    condition: Expr


class Update(Tree):
    body: tuple[Statement, ...]


class Phase(Tree):
    """`phase NAME(v) when P` with its clauses: where P does not hold it is skipped."""

    name: Ident
    variable: Ident
    when: Expr | None
    clauses: tuple[Allow | Update, ...]


class Horizon(Tree):
    rounds: Expr


class Limit(Tree):
    rounds: Expr


class Terminate(Tree):
    condition: Expr


class Stop(Tree):
    """`may stop when P`."""

    when: Expr | None


class Valid(Tree):
    condition: Expr


class Correct(Tree):
    condition: Expr


class Objective(Tree):
    name: Ident
    value: Expr


class Reward(Tree):
    name: Ident
    kind: Ident
    value: Expr


class Metric(Tree):
    name: Ident
    value: Expr


class Criterion(Tree):
    """`minimising E1, E2` or `maximising E`."""

    direction: str
    keys: tuple[Expr, ...]


class Choice(Tree):
    """`uniform v where P minimising E`."""

    variable: Ident
    where: Expr | None
    criteria: tuple[Criterion, ...]


class ExpertPhase(Tree):
    phase: Ident
    choices: tuple[Choice, ...]


class Expert(Tree):
    name: Ident
    phases: tuple[ExpertPhase, ...]


class Budget(Tree):
    """`work 2000`: how much may be spent, in what unit."""

    unit: Ident
    amount: Number


class MadeExpert(Tree):
    """`greedy tour`, `search tour work 2000`, `best of a, b`: a way to make one, of what."""

    name: Ident
    method: Ident
    subject: Ident
    budget: Budget | None
    members: tuple[Ident, ...]


class OneOf(Tree):
    """`{1, 4..6}`: each in test, a uniform draw in train; a lone number is a set of one."""

    items: tuple[tuple[Number, Number], ...]


class Between(Tree):
    """`[a, b]`: uniform over a range."""

    low: Number
    high: Number


class GeneratorArg(Tree):
    name: Ident
    value: OneOf | Between


class Split(Tree):
    name: Ident
    count: Number
    generator: Ident
    args: tuple[GeneratorArg, ...]


class InputLaw(Tree):
    """`A ~ exponential` in a set of instances."""

    name: Ident
    source: SourceOf


class Instances(Tree):
    name: Ident
    splits: tuple[Split, ...]
    laws: tuple[InputLaw, ...] = ()


class Nearest(Tree):
    """`minimising E first 24`: the best so many of those that a window or a node could have."""

    direction: str
    key: Expr
    count: Number


class Observe(Tree):
    """`observe x in nodes where P`: nodes that the network reads."""

    binder: Binder
    where: Expr | None
    nearest: Nearest | None


class Messages(Tree):
    """`messages (x, y) in edges where P`: pairs along which messages run."""

    binder: Binder
    where: Expr | None
    nearest: Nearest | None


class ExternWord(Tree):
    """`node`, `mask`, `cost(n * m)`: a word of a declaration, with what stands in its brackets."""

    name: Ident
    args: tuple[Expr, ...]


class ExternParam(Tree):
    name: Ident
    words: tuple[ExternWord, ...]


class Extern(Tree):
    """`extern NAME(PARAM : WORDS, …) : WORDS`: what the person who plays a spec brings."""

    name: Ident
    params: tuple[ExternParam, ...]
    words: tuple[ExternWord, ...]
    doc: str


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
    | Stop
    | Valid
    | Correct
    | Objective
    | Reward
    | Metric
    | Expert
    | MadeExpert
    | Instances
    | Extern
    | Observe
    | Messages
    | Drop
)


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
