"""The intermediate representation: a table of typed operations with named axes.

Every operation is numbered; its operands are numbers of earlier ones, so equal
subexpressions are one entry (common subexpressions are found while building). A value has
free axes, one per quantified variable it depends on; the batch axis is everywhere and not
written. `when` says how early a value is known: always, at reset, or only in the state.
Nothing here is specific to one backend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from gnarl_dsl.report.failures import Failure
from gnarl_dsl.report.source import Span

Kind = Literal["number", "truth", "node", "category"]
When = Literal["constant", "reset", "state"]
Ref = int  # the number of an operation


class Unsupported(Failure):
    """Something the compiled backend cannot do; the interpreter can."""


# Operations


@dataclass(frozen=True, slots=True)
class Const:
    value: float | bool
    kind: Kind


@dataclass(frozen=True, slots=True)
class Axis:
    """The value of a quantified variable."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Local:
    """A value bound by `let` inside an update."""

    name: str
    kind: Kind
    optional: bool
    bound: float


@dataclass(frozen=True, slots=True)
class Pick:
    """The pick of an earlier phase of this round."""

    phase: int


@dataclass(frozen=True, slots=True)
class Last:
    """The latest pick of a phase before this one, or unset."""

    phase: int


@dataclass(frozen=True, slots=True)
class Read:
    """One cell of a feature; `version` counts the writes before it in an update."""

    feature: str
    index: tuple[Ref, ...]
    version: int


@dataclass(frozen=True, slots=True)
class Marked:
    """The node that a mask_one marks."""

    feature: str
    version: int


@dataclass(frozen=True, slots=True)
class Nodes:
    pass


@dataclass(frozen=True, slots=True)
class Edges:
    version: int


@dataclass(frozen=True, slots=True)
class HasEdge:
    source: Ref
    target: Ref
    version: int


@dataclass(frozen=True, slots=True)
class Degree:
    node: Ref
    direction: Literal["both", "out", "in"]
    version: int


@dataclass(frozen=True, slots=True)
class Otherwise:
    value: Ref
    default: Ref


@dataclass(frozen=True, slots=True)
class Unary:
    op: Literal["neg", "not", "abs", "ceil", "floor"]
    operand: Ref


@dataclass(frozen=True, slots=True)
class Binary:
    op: Literal["+", "-", "*", "/", "min", "max"]
    left: Ref
    right: Ref


@dataclass(frozen=True, slots=True)
class Compare:
    op: Literal["==", "!=", "<", "<=", ">", ">=", "~="]
    left: Ref
    right: Ref


@dataclass(frozen=True, slots=True)
class Logic:
    op: Literal["and", "or"]
    args: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Select:
    condition: Ref
    then: Ref
    otherwise: Ref


@dataclass(frozen=True, slots=True)
class Domain:
    """What an axis ranges over; `node` belongs to near, `bounds` to range."""

    kind: Literal["nodes", "edges", "near", "range"]
    axes: tuple[str, ...]
    node: Ref | None = None
    direction: Literal["both", "out", "in"] = "both"
    bounds: tuple[int, int] = (0, 0)
    version: int = 0


@dataclass(frozen=True, slots=True)
class Reduce:
    """exists, forall, count, sum, min, max, argmin or argmax over its domains."""

    op: Literal["exists", "forall", "count", "sum", "min", "max", "argmin", "argmax"]
    domains: tuple[Domain, ...]
    where: Ref | None
    body: Ref | None


@dataclass(frozen=True, slots=True)
class Chase:
    """Following a pointer: where it leads and what a step costs are over the axis `at`."""

    op: Literal["depth", "path_cost", "on_cycle"]
    following: Ref
    start: Ref
    target: Ref | None
    at: str
    cost: Ref | None


@dataclass(frozen=True, slots=True)
class Call:
    """A registered function on whole features or words (by name) and values.

    A pointer feature is a value over the axis `at`. `versions` are those of the features and
    of the graph.
    """

    function: str
    args: tuple[Ref | str, ...]
    versions: tuple[int, ...]
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A value out of a table: one per graph, or one per node; a live one follows the state."""

    number: int
    kind: Kind
    bound: float
    node: Ref | None
    live: bool = False


Leaf = Const | Axis | Local | Pick | Last | Marked | Nodes | Edges
Inner = Read | HasEdge | Degree | Otherwise | Unary | Binary | Compare | Logic | Select | Kept
Op = Leaf | Inner | Reduce | Chase | Call


@dataclass(frozen=True, slots=True)
class Info:
    """What is known of a value; no number is further from 0 than `bound`, which may be inf."""

    kind: Kind
    axes: frozenset[str]
    when: When
    bound: float
    optional: bool = False

    @property
    def finite(self) -> bool:
        return self.bound < math.inf


# Statements


@dataclass(frozen=True, slots=True)
class Store:
    feature: str
    index: tuple[Ref, ...]
    value: Ref
    span: Span


@dataclass(frozen=True, slots=True)
class StoreEdge:
    source: Ref
    target: Ref
    value: Ref
    span: Span


@dataclass(frozen=True, slots=True)
class Bind:
    name: str
    value: Ref


@dataclass(frozen=True, slots=True)
class Branch:
    condition: Ref
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Parallel: every read happens before any write."""

    domains: tuple[Domain, ...]
    where: Ref | None
    body: tuple[Statement, ...]


Statement = Store | StoreEdge | Bind | Branch | Loop


# Programs


@dataclass(frozen=True, slots=True)
class Cells:
    """A formula for every cell of a feature, over the named axes."""

    feature: str
    axes: tuple[str, ...]
    value: Ref


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """`allow` is over the axis `pick`; None allows every node."""

    name: str
    allow: Ref | None
    update: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One alternative of an expert: a condition and sort keys (sign, value) over `pick`."""

    where: Ref | None
    keys: tuple[tuple[int, Ref], ...]


@dataclass(frozen=True, slots=True)
class ExpertCode:
    """Per phase the alternatives in order, or the objective that a greedy expert tries."""

    name: str
    rules: tuple[tuple[Choice, ...], ...]
    greedy: str | None


@dataclass(frozen=True, slots=True)
class RewardCode:
    """`potential`, `terminal` or `step`; an objective is a potential."""

    name: str
    kind: Literal["potential", "terminal", "step"]
    value: Ref


@dataclass(frozen=True, slots=True)
class KeptCode:
    """A value that a pass moved to a table; `axis` None means one per graph.

    It is computed at reset, and at a node again when an update writes one of the features that
    it `follows` there.
    """

    number: int
    axis: str | None
    value: Ref
    follows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A whole problem, ready for a backend; what a mode does not need is None or empty."""

    name: str
    directed: bool
    mutable: bool
    ops: tuple[Op, ...]
    infos: tuple[Info, ...]
    phases: tuple[PhaseCode, ...]
    initial: tuple[Cells, ...]
    derived: tuple[Cells, ...]
    horizon: Ref
    limit: Ref | None
    terminate: Ref | None
    correct: Ref | None
    valid: Ref | None
    objectives: tuple[tuple[str, Ref], ...]
    metrics: tuple[tuple[str, Ref], ...]
    reward: RewardCode | None
    experts: tuple[ExpertCode, ...]
    kept: tuple[KeptCode, ...]


PICK = "pick"


def operands(op: Op) -> tuple[Ref, ...]:
    """The operations that `op` reads, in order."""
    match op:
        case Read():
            return op.index
        case Logic():
            return op.args
        case Reduce():
            inner = [d.node for d in op.domains if d.node is not None]
            return (*inner, *(ref for ref in (op.where, op.body) if ref is not None))
        case Call():
            return tuple(arg for arg in op.args if isinstance(arg, int))
        case Const() | Axis() | Local() | Pick() | Last() | Marked() | Nodes() | Edges():
            return ()
        case _:
            values = (getattr(op, name) for name in ref_fields(op))
            return tuple(value for value in values if value is not None)


def ref_fields(op: Op) -> tuple[str, ...]:
    """The names of the fields that hold one operand."""
    return tuple(item.name for item in fields(op) if item.name in _REF_FIELDS)


_REF_FIELDS = frozenset(
    ["source", "target", "node", "value", "default", "operand", "left", "right", "condition"]
) | frozenset(["then", "otherwise", "following", "start", "cost"])


def own_axes(op: Op) -> frozenset[str]:
    """The axes that an operation binds for its operands."""
    if isinstance(op, Reduce):
        return frozenset(axis for domain in op.domains for axis in domain.axes)
    if isinstance(op, Chase):
        return frozenset((op.at,))
    if isinstance(op, Call) and op.at is not None:
        return frozenset((op.at,))
    return frozenset()
