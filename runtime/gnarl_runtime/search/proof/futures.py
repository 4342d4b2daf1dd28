"""A problem in; out: what of a state decides how its episodes can go on, and what only counts.

Two states with the same live part allow the same picks for ever, and what these add to the
objective is the same in both; so the better one is enough. What is left out of the live part:

- features that nothing reads, or nothing but `valid` and `correct` where these are looked at last,
  if writing them cannot fail;
- sums: `cost := cost + …`, which nothing but the objective reads, and that linearly;
- cells that are settled: a mask that is only ever set keeps their nodes from being picked, and
  nothing is read or written but at picked nodes. The objective must be a sum over such cells.

Whatever is not proven to be so by its formula counts as live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref
from gnarl_compiler.lower.program import lower_problem
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, GRAPH
from gnarl_runtime.search.proof.formulas import TERMINATE, Formulas, Root


@dataclass(frozen=True)
class LastPick:
    """The latest pick of a phase, or the node that an input marks as long as there is none."""

    phase: int
    default: str | None


@dataclass(frozen=True)
class RoundPick:
    """The pick of an earlier phase of this round."""

    phase: int


@dataclass(frozen=True)
class MarkedNode:
    """The node that a feature names: an input, or a state that follows the picks."""

    feature: str


Address = LastPick | RoundPick | MarkedNode


@dataclass(frozen=True)
class Settling:
    """Cells are settled where the mask is set and no address points to."""

    mask: str
    addresses: frozenset[Address]


@dataclass(frozen=True)
class Live:
    """What of a state decides its future."""

    whole: tuple[str, ...]  # features
    settling: dict[str, Settling] = field(default_factory=dict)  # by feature: its other cells
    sums: tuple[str, ...] = ()  # left out: the objective so far stands for them
    last: tuple[int, ...] = ()  # phases whose latest pick is read
    picks: tuple[int, ...] = ()  # phases whose pick is read by later ones of the round
    judged: bool = True  # equal states end alike in the eyes of `valid` and `correct`

    @property
    def dominates(self) -> bool:
        """Whether of states with equal live parts the better one is kept."""
        return bool(self.settling or self.sums)


def formulas_of(problem: Problem) -> Formulas:
    return Formulas(problem, lower_problem(problem))


def whole_state(formulas: Formulas, objective: Ref | None) -> Live:
    """Everything that any clause may still read."""
    program = formulas.program
    ends = [ref for ref in (objective, program.valid, program.correct) if ref is not None]
    return _live(formulas, ends, {}, (), judged=True)


def live_part(formulas: Formulas, objective: Ref) -> Live:
    """The least that decides which picks are legal and what they add to the objective."""
    sums = {name for name in _state_names(formulas) if _is_sum(formulas, name)}
    settling = {
        name: found
        for name in _state_names(formulas)
        if (found := _settling_of(formulas, name)) is not None
    }
    while True:
        spoilt = _spoilt(formulas, objective, settling, sums)
        if not spoilt:
            break
        sums -= spoilt
        settling = {name: found for name, found in settling.items() if name not in spoilt}
    return _live(formulas, [objective], settling, tuple(sorted(sums)), judged=False)


def _state_names(formulas: Formulas) -> list[str]:
    return [name for name in formulas.features if formulas.is_state(name)]


def _live(
    formulas: Formulas,
    ends: Iterable[Ref],
    settling: dict[str, Settling],
    sums: tuple[str, ...],
    judged: bool,
) -> Live:
    ends = [*ends]
    read = _read_for(formulas, ends)
    roots = [root.ref for root in formulas.roots if root.target is None or root.target in read]
    behind = list(formulas.behind([*roots, *ends]))
    whole = [n for n in _state_names(formulas) if n in read and n not in settling and n not in sums]
    return Live(
        whole=tuple(whole),
        settling={name: found for name, found in settling.items() if name in read},
        sums=tuple(name for name in sums if name in formulas.features_read(ends)),
        last=tuple(sorted({op.phase for op in behind if isinstance(op, ir.Last)})),
        picks=tuple(sorted({op.phase for op in behind if isinstance(op, ir.Pick)})),
        judged=judged,
    )


def _read_for(formulas: Formulas, ends: list[Ref]) -> set[str]:
    """The features that clauses and ends read, and those that decide what these become.

    An update that can fail is a clause: it says which picks lead nowhere.
    """
    read: set[str] = formulas.features_read(ends) | formulas.can_fail()
    while True:
        roots = [r.ref for r in formulas.roots if r.target is None or r.target in read]
        more = formulas.features_read(roots) | read
        if more == read:
            return read
        read = more


# Sums


def _is_sum(formulas: Formulas, name: str) -> bool:
    """Whether updates only add to a number of the graph, and read it for nothing else."""
    feature = formulas.features[name]
    writes = formulas.writes_of(name)
    if feature.place is not GRAPH or not feature.is_number or not writes:
        return False
    # Setting it anew would forget a part of what was better.
    if any(w.looped or added_to(formulas, name, w.store.value) is None for w in writes):
        return False
    return not any(
        name in formulas.features_read([root.ref]) for root in _roots_around(formulas, name)
    )


def _roots_around(formulas: Formulas, name: str) -> Iterator[Root]:
    """The formulas of an episode; of those that add to a number, what they add."""
    values = [write.store.value for write in formulas.writes_of(name)]
    own = {value: added_to(formulas, name, value) for value in values}
    for root in formulas.roots:
        added = own.get(root.ref) if root.target == name else None
        yield root if added is None else Root(root.phase, added[0], name)


def added_to(formulas: Formulas, name: str, value: Ref) -> tuple[Ref, int] | None:
    """What `name + it` or `name - it` adds, and its sign."""
    op = formulas.ops[value]
    if not isinstance(op, ir.Binary) or op.op not in ("+", "-"):
        return None
    if _reads_itself(formulas, name, op.left):
        return op.right, 1 if op.op == "+" else -1
    if op.op == "+" and _reads_itself(formulas, name, op.right):
        return op.left, 1
    return None


def _reads_itself(formulas: Formulas, name: str, ref: Ref) -> bool:
    op = formulas.ops[ref]
    return isinstance(op, ir.Read) and op.feature == name


# Settled cells


def _settling_of(formulas: Formulas, name: str) -> Settling | None:
    """The first mask by which all cells of a feature settle."""
    feature = formulas.features[name]
    if feature.single or not formulas.writes_of(name) or formulas.set_only_node(name):
        return None
    if formulas.program.mutable and feature.place is EDGE:
        return None
    for mask in _state_names(formulas):
        if formulas.set_only_node(mask) and mask != name:
            addresses = _addresses(formulas, name, mask)
            if addresses is not None:
                return Settling(mask, frozenset(addresses))
    return None


def _addresses(formulas: Formulas, name: str, mask: str) -> set[Address] | None:
    """Where else than at open nodes a feature is read or written; None: anywhere."""
    found: set[Address] = set()
    for phase, index in _accesses(formulas, name):
        if index is None:
            return None
        for coordinate in index:
            address = _address(formulas, phase, coordinate, mask)
            if address is None:
                return None
            found |= address
    return found


def _accesses(formulas: Formulas, name: str) -> Iterator[tuple[int, tuple[Ref, ...] | None]]:
    """Every cell that is read or written while an episode goes on; None: some other way."""
    for write in formulas.writes_of(name):
        yield write.phase, None if write.looped else write.store.index
    for root in formulas.roots:
        for op in formulas.behind([root.ref]):
            if name in formulas.named_by(op):
                yield root.phase, op.index if isinstance(op, ir.Read) else None


def _address(formulas: Formulas, phase: int, ref: Ref, mask: str) -> set[Address] | None:
    """The addresses that make sure that a coordinate is no settled node; None: nothing does."""
    op = formulas.ops[ref]
    match op:
        case ir.Axis() if formulas.is_pick(ref) and phase != TERMINATE:
            return set() if formulas.guards(phase, mask) else None
        case ir.Pick():
            return {RoundPick(op.phase)} if formulas.guards(op.phase, mask) else None
        case ir.Otherwise():
            value, default = formulas.ops[op.value], formulas.ops[op.default]
            if not isinstance(value, ir.Last) or not formulas.guards(value.phase, mask):
                return None
            if isinstance(default, ir.Marked) and not formulas.is_state(default.feature):
                return {LastPick(value.phase, default.feature)}
            rest = _address(formulas, phase, op.default, mask)
            return None if rest is None else {LastPick(value.phase, None), *rest}
        case ir.Marked() | ir.Read(index=()):
            return _named_node(formulas, op.feature, mask)
    return None


def _named_node(formulas: Formulas, name: str, mask: str) -> set[Address] | None:
    """A node that an input names, or a state that is only ever moved to an open node."""
    found: set[Address] = {MarkedNode(name)}
    for write in formulas.writes_of(name):
        value = formulas.ops[write.store.value]
        if formulas.is_pick(write.store.value) or isinstance(value, ir.Pick):
            more = _address(formulas, write.phase, write.store.value, mask)
        elif isinstance(value, ir.Marked) and not formulas.is_state(value.feature):
            more = {MarkedNode(value.feature)}
        else:
            more = None
        if more is None:
            return None
        found |= more
    return found


# The objective


def addends(formulas: Formulas, ref: Ref) -> Iterator[tuple[Ref, tuple[Ref, ...], int]]:
    """The parts that a value is the sum of, each with steady factors and a sign.

    A factor is multiplied with, or divided by: either way its sign is what counts.
    """
    op = formulas.ops[ref]
    match op:
        case ir.Unary(op="neg"):
            for part, factors, sign in addends(formulas, op.operand):
                yield part, factors, -sign
        case ir.Binary(op="+" | "-"):
            yield from addends(formulas, op.left)
            turned = -1 if op.op == "-" else 1
            for part, factors, sign in addends(formulas, op.right):
                yield part, factors, turned * sign
        case ir.Binary(op="*" | "/") if formulas.steady(op.right):
            for part, factors, sign in addends(formulas, op.left):
                yield part, (*factors, op.right), sign
        case ir.Binary(op="*") if formulas.steady(op.left):
            for part, factors, sign in addends(formulas, op.right):
                yield part, (*factors, op.left), sign
        case _:
            yield ref, (), 1


def _spoilt(
    formulas: Formulas, objective: Ref, settling: dict[str, Settling], sums: set[str]
) -> set[str]:
    """Features that would be left out, but in which the objective is no sum over cells."""
    left_out = {*settling, *sums}
    spoilt: set[str] = set()
    for part, _, _ in addends(formulas, objective):
        named = formulas.features_read([part]) & left_out
        if named and not _is_cell_sum(formulas, part, named, settling):
            spoilt |= named - {_plain_sum(formulas, part, sums)}
    return spoilt


def _plain_sum(formulas: Formulas, part: Ref, sums: set[str]) -> str:
    op = formulas.ops[part]
    return op.feature if isinstance(op, ir.Read) and op.feature in sums else ""


def _is_cell_sum(
    formulas: Formulas, part: Ref, named: set[str], settling: dict[str, Settling]
) -> bool:
    """Whether a part adds up cells, each of which stays as it is once it is settled."""
    op = formulas.ops[part]
    if not isinstance(op, ir.Reduce) or op.op not in ("sum", "count"):
        return False
    if any(domain.kind not in ("nodes", "edges") for domain in op.domains) or not (
        named <= settling.keys()
    ):
        return False
    if formulas.program.mutable and any(domain.kind == "edges" for domain in op.domains):
        return False
    # A term settles as a whole: where one of its cells still moves, the others count.
    if len({settling[name] for name in named}) != 1:
        return False
    masks = {settling[name].mask for name in named}
    axes = [axis for domain in op.domains for axis in domain.axes]
    inside = [ref for ref in (op.where, op.body) if ref is not None]
    return all(_settles(formulas, one, set(axes), named, masks) for one in formulas.behind(inside))


def _settles(
    formulas: Formulas, op: ir.Op, axes: set[str], named: set[str], masks: set[str]
) -> bool:
    """Whether an operation in a term changes with nothing but the term's own cell."""
    match op:
        case ir.Read() if formulas.is_state(op.feature):
            own = [_axis(formulas, ref) for ref in op.index]
            alone = set(own) == axes and len(own) == len(axes)
            return alone and (op.feature in named or (op.feature in masks and len(axes) == 1))
        case ir.Marked():
            return not formulas.is_state(op.feature)
        case ir.Last() | ir.Pick() | ir.Local() | ir.Kept():
            return False
        case ir.HasEdge() | ir.Degree() | ir.Edges():
            return not formulas.program.mutable
        case ir.Reduce():
            return not formulas.program.mutable or all(
                domain.kind in ("nodes", "range") for domain in op.domains
            )
        case ir.Reach():
            return not formulas.program.mutable
        case ir.Call():
            states = any(formulas.is_state(name) for name in formulas.named_by(op))
            return not states and not formulas.program.mutable
        case ir.Chase() | ir.Roots():
            return True  # what it follows is read by operands, at its own axis
    return True


def _axis(formulas: Formulas, ref: Ref) -> str:
    op = formulas.ops[ref]
    return op.name if isinstance(op, ir.Axis) else ""
