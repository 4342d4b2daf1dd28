"""The intermediate representation: a table of typed operations with named axes.

Every operation is numbered; its operands are numbers of earlier ones, so equal
subexpressions are one entry (common subexpressions are found while building). A value has
free axes, one per quantified variable it depends on; the batch axis is everywhere and not
written. `when` says how early a value is known: always, at reset, or only in the state.
Nothing here is specific to one backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from gnarl_dsl.language.signatures import FunctionSignature
from gnarl_dsl.model.kinds import CATEGORY, NODE_VALUE, NUMBER, TRUTH
from gnarl_dsl.model.kinds import Value as Kind
from gnarl_dsl.report.failures import Failure
from gnarl_dsl.report.source import Span

When = Literal["constant", "reset", "state"]
Ref = int  # the number of an operation
Written = str | int  # what has cells: a feature, or a table, which spreads
KIND_NAMES = {NUMBER: "number", TRUTH: "truth", NODE_VALUE: "node", CATEGORY: "category"}


class Unsupported(Failure):
    """Something the compiled backend cannot do; the interpreter can."""


# A field with this holds an operand, or several; what is not declared so holds none.
_OPERAND = {"operand": True}


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
    """The pick of an earlier phase of this round; unset where that could be and was skipped."""

    phase: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Last:
    """The latest pick of a phase before this one, or unset."""

    phase: int


@dataclass(frozen=True, slots=True)
class Read:
    """One cell of a feature; `version` counts the writes before it in an update."""

    feature: str
    index: tuple[Ref, ...] = field(metadata=_OPERAND)
    version: int


@dataclass(frozen=True, slots=True)
class Marked:
    """The node that a mask_one marks."""

    feature: str
    version: int


@dataclass(frozen=True, slots=True)
class Unset:
    """No node."""


@dataclass(frozen=True, slots=True)
class Nodes:
    pass


@dataclass(frozen=True, slots=True)
class Edges:
    version: int


@dataclass(frozen=True, slots=True)
class HasEdge:
    source: Ref = field(metadata=_OPERAND)
    target: Ref = field(metadata=_OPERAND)
    version: int


@dataclass(frozen=True, slots=True)
class Degree:
    node: Ref = field(metadata=_OPERAND)
    direction: Literal["both", "out", "in"]
    version: int


@dataclass(frozen=True, slots=True)
class Otherwise:
    value: Ref = field(metadata=_OPERAND)
    default: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Unary:
    """`not`, or an operator of the language on one number."""

    op: str
    operand: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator of the language on two numbers."""

    op: str
    left: Ref = field(metadata=_OPERAND)
    right: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of the language."""

    op: str
    left: Ref = field(metadata=_OPERAND)
    right: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Logic:
    op: Literal["and", "or"]
    args: tuple[Ref, ...] = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Select:
    condition: Ref = field(metadata=_OPERAND)
    then: Ref = field(metadata=_OPERAND)
    otherwise: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Domain:
    """What an axis ranges over; `node` belongs to near, `bounds` to range."""

    kind: Literal["nodes", "edges", "near", "range"]
    axes: tuple[str, ...]
    node: Ref | None = field(default=None, metadata=_OPERAND)
    direction: Literal["both", "out", "in"] = "both"
    bounds: tuple[int, int] = (0, 0)
    version: int = 0


@dataclass(frozen=True, slots=True)
class Reduce:
    """exists, forall, count, sum, min, max, argmin or argmax over its domains."""

    op: Literal["exists", "forall", "count", "sum", "min", "max", "argmin", "argmax"]
    domains: tuple[Domain, ...] = field(metadata=_OPERAND)
    where: Ref | None = field(metadata=_OPERAND)
    body: Ref | None = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Chase:
    """Following a pointer: where it leads and what a step costs are over the axis `at`."""

    op: Literal["depth", "path_cost", "on_cycle"]
    following: Ref = field(metadata=_OPERAND)
    start: Ref = field(metadata=_OPERAND)
    target: Ref | None = field(metadata=_OPERAND)
    at: str
    cost: Ref | None = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Reach:
    """Answers about a part of the graph: for every node a row of them, for `acyclic` a single one.

    A single axis stands for the nodes of the part, with the edges of a `version` between them; two
    axes stand for its steps, from the first to the second, and back if they go `both` ways.
    Distances are those from the source, or to it if in `reverse`.
    """

    op: Literal["distance", "component", "acyclic"]
    domains: tuple[Domain, ...] = field(metadata=_OPERAND)
    where: Ref | None = field(metadata=_OPERAND)
    source: Ref | None = field(metadata=_OPERAND)
    reverse: bool
    both: bool
    version: int

    @property
    def of_nodes(self) -> bool:
        return sum(len(domain.axes) for domain in self.domains) == 1


@dataclass(frozen=True, slots=True)
class Roots:
    """The ends of the chains of a pointer, which is over the axis `at`: a row of nodes."""

    following: Ref = field(metadata=_OPERAND)
    at: str


@dataclass(frozen=True, slots=True)
class At:
    """One entry of a row."""

    row: Ref = field(metadata=_OPERAND)
    node: Ref = field(metadata=_OPERAND)


@dataclass(frozen=True, slots=True)
class Call:
    """A registered function, or one that is brought, on whole features or words and values.

    A word stands by its name, and so does a feature of a registered function that is no pointer.
    Other whole features are values over the axis `at`, or over `at` and `beside` where they have
    a value for two nodes. `versions` are those of the named features and of the graph.
    """

    function: str
    args: tuple[Ref | str, ...] = field(metadata=_OPERAND)
    versions: tuple[int, ...]
    signature: FunctionSignature
    at: str | None = None
    beside: str | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A value out of a table: one per graph, or one per node; a live one follows the state."""

    number: int
    kind: Kind
    bound: float
    node: Ref | None = field(metadata=_OPERAND)
    live: bool = False


@dataclass(frozen=True, slots=True)
class Tallied:
    """What a tally comes to in the current state."""

    number: int
    bound: float


Leaf = Const | Axis | Local | Pick | Last | Marked | Unset | Nodes | Edges | Tallied
Inner = Read | HasEdge | Degree | Otherwise | Unary | Binary | Compare | Logic | Select | Kept
Op = Leaf | Inner | Reduce | Chase | Reach | Roots | At | Call


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
class MaskCode:
    """`allow` over the axis `own`: what writes of the features that it `follows` change there.

    A write at one of the nodes that `turns` names after their feature can change it anywhere.
    """

    value: Ref
    follows: tuple[Written, ...]
    turns: tuple[tuple[str, Ref], ...]


@dataclass(frozen=True, slots=True)
class PhaseCode:
    """`allow` is over the axis `pick`; None allows every node. Without `when` it always comes.

    With a mask, writes keep what is legal up to date.
    """

    name: str
    allow: Ref | None
    update: tuple[Statement, ...]
    when: Ref | None = None
    mask: MaskCode | None = None


@dataclass(frozen=True, slots=True)
class StopCode:
    """The episode may be ended at the start of a round, of any without `when`."""

    when: Ref | None


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
    it `follows` there; what a chain comes to, at all nodes whose chains lead through that one, and
    what reads a feature that is `near`, at its neighbours.
    """

    number: int
    axis: str | None
    value: Ref
    follows: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """The part of a tally that one cell can change, of a feature or of a table of chains.

    Its axes are the cell's nodes.
    """

    cells: Written
    axes: tuple[str, ...]
    value: Ref


@dataclass(frozen=True, slots=True)
class TallyCode:
    """A count or a sum over all nodes or edges that every write brings up to date.

    It is found whole at reset. Around a write to a cell of a feature, the cell's share is taken
    off and added again. A sum is used where no order of adding up rounds, else found whole.
    """

    number: int
    value: Ref
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class ViewCode:
    """Nodes of a window over one axis, or messages over two: sender, then receiver.

    With a `key` only the first so many by it, in all or per receiver; `sign` makes it the least.
    """

    axes: tuple[str, ...]
    where: Ref | None
    key: Ref | None
    sign: int
    count: int


@dataclass(frozen=True, slots=True)
class Called:
    """A value that is a let of the spec, and what the let was given for it."""

    value: Ref
    let: str
    args: tuple[Ref, ...]


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
    windows: tuple[ViewCode, ...] = ()
    messages: tuple[ViewCode, ...] = ()
    tallies: tuple[TallyCode, ...] = ()
    stop: StopCode | None = None
    lets: tuple[Called, ...] = ()

    @property
    def may_skip(self) -> bool:
        """Whether a round can go by without some of the phases."""
        return any(phase.when is not None for phase in self.phases)

    def chain_of(self, code: KeptCode) -> Chase | None:
        """The chain that a table keeps from write to write, if it is such a table."""
        op = self.ops[code.value]
        return op if isinstance(op, Chase) and code.follows else None

    def spreads(self, code: KeptCode) -> bool:
        """Whether a write changes a table elsewhere, too: then others follow its own cells."""
        return bool(code.near) or self.chain_of(code) is not None


PICK = "pick"
ALONG = "along"  # the nodes of a chain that is kept
NEARBY = "nearby"  # the neighbours of the node that a write changes
OWN, OTHER = "own", "other"  # the nodes of the cell that a write changes


_OPERAND_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(item.name for item in fields(kind) if item.metadata == _OPERAND)
    for kind in (*get_args(Op), Domain)
}


def operands(op: Op) -> tuple[Ref, ...]:
    """The operations that `op` reads, in order."""
    return tuple(_refs(op))


def _refs(value: Op | Domain | tuple[Any, ...] | Ref | str | None) -> Iterator[Ref]:
    """The operands in a field, or in all fields of an operation."""
    match value:
        case None | str():  # left out; a feature or a word
            return
        case int():
            yield value
        case tuple():
            for item in value:
                yield from _refs(item)
        case _:
            for name in _OPERAND_FIELDS[type(value)]:
                yield from _refs(getattr(value, name))


def map_operands(op: Op, move: Callable[[Ref], Ref]) -> Op:
    """The same operation on moved operands."""
    moved: Op = _moved(op, move)
    return moved


def _moved(value: Any, move: Callable[[Ref], Ref]) -> Any:
    match value:
        case None | str():
            return value
        case int():
            return move(value)
        case tuple():
            return tuple(_moved(item, move) for item in value)
        case _:
            names = _OPERAND_FIELDS[type(value)]
            return replace(value, **{name: _moved(getattr(value, name), move) for name in names})


def is_row(op: Op) -> bool:
    """Whether it is an answer for every node."""
    return isinstance(op, Roots) or (isinstance(op, Reach) and op.op != "acyclic")


def own_axes(op: Op) -> frozenset[str]:
    """The axes that an operation binds for its operands."""
    if isinstance(op, Reduce | Reach):
        return frozenset(axis for domain in op.domains for axis in domain.axes)
    if isinstance(op, Chase | Roots):
        return frozenset((op.at,))
    if isinstance(op, Call):
        return frozenset(axis for axis in (op.at, op.beside) if axis is not None)
    return frozenset()
