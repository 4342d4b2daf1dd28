"""Parts of an IR program in; out: how much work they are, a sum over n, m, the degree d and s, the
chains that lead through a node.

A unit is one operation on numbers. Quantifiers count as if they were never cut short, chains of
pointers as one step, since each node is followed once however many ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program, Ref

Size = tuple[str, ...]  # what a number of operations is multiplied by: n, m, d, s, sorted

# A graph to compare two ways on: what is cheaper there is chosen.
_USUAL = {"n": 64.0, "m": 256.0, "d": 8.0, "s": 5.0}
CUT_SHORT = 1 / 8  # the share of nodes that are asked where the first answer can decide
_DOMAINS = {"nodes": "n", "edges": "m", "near": "d"}
_KEY = (
    "n nodes, m edges, d neighbours, s chains that lead through a node;\n"
    "quantifiers as if none were cut short, chains that are found anew as one step"
)
_CALL: Size = ("m", "n")  # of what is registered nothing is known; most look at each edge per node


@dataclass(frozen=True)
class Cost:
    """So many operations per product of sizes."""

    terms: tuple[tuple[Size, float], ...] = ()

    def __add__(self, other: Cost) -> Cost:
        total = dict(self.terms)
        for size, count in other.terms:
            total[size] = total.get(size, 0.0) + count
        return Cost(tuple(sorted(total.items(), key=lambda term: (-len(term[0]), term[0]))))

    def times(self, count: float, size: Size = ()) -> Cost:
        terms = ((tuple(sorted((*own, *size))), had * count) for own, had in self.terms)
        return sum((Cost((term,)) for term in terms), Cost())

    @property
    def usual(self) -> float:
        """The number of operations on a graph of a usual size."""
        return sum(count * prod(_USUAL[name] for name in size) for size, count in self.terms)

    def __str__(self) -> str:
        words = (
            " ".join([f"{count:,.0f}" * (count != 1 or not size), *size]).strip()
            for size, count in self.terms
        )
        return " + ".join(words) or "0"


def operations(count: float, *size: str) -> Cost:
    return Cost(((tuple(sorted(size)), count),))


class Costs:
    """The costs of one program's values."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[Ref, Cost] = {}

    def of(self, *refs: Ref | None) -> Cost:
        """Computing some values."""
        return sum((self._of(ref) for ref in refs if ref is not None), Cost())

    def _of(self, ref: Ref) -> Cost:
        if ref not in self._known:
            self._known[ref] = self._fresh(self.program.ops[ref])
        return self._known[ref]

    def _fresh(self, op: ir.Op) -> Cost:
        match op:
            case ir.Const() | ir.Axis() | ir.Local():
                return Cost()
            case ir.Reduce():
                rounds = 2 if op.op in ("argmin", "argmax") else 1
                return self.loop(op.domains, self.of(op.where, op.body) + operations(1)).times(
                    rounds
                )
            case ir.Call():
                return operations(1, *_CALL)
            case ir.Reach():
                return self.loop(op.domains, self.of(op.where)) + operations(1, "m")
            case ir.Roots():
                return operations(1, "n")
            case _:
                return self.of(*ir.operands(op)) + operations(1)

    def loop(self, domains: Sequence[ir.Domain], inner: Cost) -> Cost:
        """The same for everything that some domains hold."""
        for domain in domains[::-1]:
            low, high = domain.bounds
            name = _DOMAINS.get(domain.kind)
            times = inner.times(1, (name,)) if name else inner.times(max(0, high - low + 1))
            inner = times + self.of(domain.node)
        return inner

    def statements(self, body: Iterable[ir.Statement]) -> Cost:
        """An update, with what its writes keep."""
        total = Cost()
        for statement in body:
            match statement:
                case ir.Store():
                    total += self.of(*statement.index, statement.value)
                    total += operations(1) + self.kept_by(statement.feature)
                case ir.StoreEdge():
                    total += self.of(statement.source, statement.target, statement.value)
                    total += operations(1, "m")
                case ir.Bind():
                    total += self.of(statement.value)
                case ir.Branch():
                    total += self.of(statement.condition)
                    total += self.statements((*statement.then, *statement.otherwise))
                case ir.Loop():
                    inner = self.of(statement.where) + self.statements(statement.body)
                    total += self.loop(statement.domains, inner)
        return total

    def kept_by(self, feature: str) -> Cost:
        """What one write to a cell of a feature keeps up to date."""
        total = self.followed(feature)
        for code in self.program.kept:
            if feature in code.follows:
                cells = cells_of_table(self.program, code, feature)
                each = self.of(code.value) + self.followed(code.number)
                total += sum((each.times(count, size) for size, count in cells.terms), Cost())
        return total

    def followed(self, cells: ir.Written) -> Cost:
        """Masks and shares that one written cell brings up to date."""
        masks = [p.mask.value for p in self.program.phases if p.mask and cells in p.mask.follows]
        shares = [s for code in self.program.tallies for s in code.shares if s.cells == cells]
        return self.of(*masks) + self.of(*(share.value for share in shares)).times(2)


def cells_of_table(program: Program, code: ir.KeptCode, feature: str) -> Cost:
    """How many cells of a table a write of a feature changes."""
    if feature not in code.follows:
        return Cost()
    if program.chain_of(code) is not None:
        return operations(1, "s")
    return operations(1) + (operations(1, "d") if feature in code.near else Cost())


def writes(program: Program, body: Iterable[ir.Statement], cells: Iterable[ir.Written]) -> Cost:
    """How many cells of some features, and of tables that follow chains, an update writes."""
    names, total = set(cells), Cost()
    tables = [program.kept[number] for number in names if isinstance(number, int)]
    for statement in body:
        match statement:
            case ir.Store():
                total += operations(statement.feature in names)
                for table in tables:
                    total += cells_of_table(program, table, statement.feature)
            case ir.Branch():
                total += writes(program, (*statement.then, *statement.otherwise), names)
            case ir.Loop():
                sizes = tuple(_DOMAINS[d.kind] for d in statement.domains if d.kind in _DOMAINS)
                total += writes(program, statement.body, names).times(1, sizes)
            case _:
                pass
    return total


def is_repaid(program: Program, anew: Cost, share: Cost, cells: Iterable[ir.Written]) -> bool:
    """Whether keeping a value is less work in a round than finding it again."""
    names = list(cells)
    written = sum((writes(program, phase.update, names) for phase in program.phases), Cost())
    return written.usual * (2 * share.usual + 1) < anew.usual


def not_cut_short(program: Program, refs: Iterable[Ref]) -> set[Ref]:
    """Of what some values are made of, all that is asked of every node that it is about.

    What stands in `exists` and `forall` is asked until it is decided, which is soon in most states.
    """
    seen: set[Ref] = set()
    waiting = list(refs)
    while waiting:
        ref = waiting.pop()
        if ref not in seen:
            seen.add(ref)
            op = program.ops[ref]
            if not (isinstance(op, ir.Reduce) and op.op in ("exists", "forall")):
                waiting += ir.operands(op)
    return seen


@dataclass(frozen=True)
class Clause:
    """One part of a round, and the work that it is."""

    name: str
    cost: Cost


def clauses(program: Program) -> Iterator[Clause]:
    """What is computed in every round, then experts' rules, which are computed when asked for."""
    costs = Costs(program)
    for phase in program.phases:
        mask = costs.of(phase.allow) + operations(1)
        kept = phase.mask is not None
        yield Clause(f"mask of {phase.name}", operations(1) if kept else mask.times(1, ("n",)))
        yield Clause(f"update of {phase.name}", costs.statements(phase.update))
    if program.terminate is not None:
        yield Clause("terminate", costs.of(program.terminate))
    if program.reward is not None:
        yield Clause(f"reward {program.reward.name}", costs.of(program.reward.value))
    for cells in program.derived:
        width = {0: (), 1: ("n",), 2: ("m",)}[len(cells.axes)]
        yield Clause(f"derived {cells.feature}", costs.of(cells.value).times(1, width))
    for expert in program.experts:
        choices = [choice for rule in expert.rules for choice in rule]
        refs = [ref for c in choices for ref in (c.where, *(key for _, key in c.keys))]
        if refs:
            each = costs.of(*refs) + operations(len(choices))
            yield Clause(f"expert {expert.name}", each.times(1, ("n",)))


def print_costs(before: Program, after: Program) -> str:
    """What each part of a round costs, if all is found anew, and with what writes keep."""
    then = {clause.name: clause.cost for clause in clauses(before)}
    now = {clause.name: clause.cost for clause in clauses(after)}
    rows = [(name, str(then[name]), str(now[name])) for name in then]
    rows.insert(0, ("operations", "found anew", "kept by writes"))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"{name:<{widths[0]}}  {old:<{widths[1]}}  {new}" for name, old, new in rows]
    return "\n".join([*lines, "", _KEY, ""])
