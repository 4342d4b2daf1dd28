"""An IR program in, one out that keeps per-node terms over neighbours instead of finding them anew.

Whether a node has a neighbour of some kind, or which of them is the least, changes only where one
of the cells changes that it reads: its own or those of its neighbours. So there is a table of such
a term, and a write finds it anew at its node, and at the neighbours of that node if they read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import NEARBY, OWN, Program, Ref, map_operands
from gnarl_compiler.ir.walk import map_program, moved_lets, reachable, sweep
from gnarl_compiler.passes.costs import CUT_SHORT, Costs, is_repaid, not_cut_short, operations
from gnarl_compiler.passes.tabulate import read_each_round
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE, NODE_VALUE, NUMBER, TRUTH

_PURE = (ir.Const, ir.Axis, ir.Nodes, ir.Unary, ir.Binary, ir.Compare, ir.Logic, ir.Select)
_STEADY = (ir.Marked, ir.HasEdge, ir.Degree, ir.Edges)  # of graphs that do not change, and inputs


def keep_near(program: Program, problem: Problem) -> Program:
    """Keep the outermost such terms of whatever runs every round, or labels a state."""
    return program if problem.graph.mutable else _Pass(program, problem).run()


class _Pass:
    """A program on its way into a new table of operations, in which tables stand for terms."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.features = {feature.name: feature for feature in problem.features}
        self.costs = Costs(program)
        self.build = Builder(problem)
        self.plain: list[Ref] = []  # where each old operation is in the new table
        for op in program.ops:
            self.plain.append(self.build.add(map_operands(op, self.plain.__getitem__)))
        self.codes: dict[Ref, ir.KeptCode] = {}  # by the term that each keeps
        self.whole: set[Ref] = set()  # what is asked of all nodes

    def run(self) -> Program:
        if not [self.code(ref) for ref in self.wanted()]:
            return self.program
        able = [ref for ref in range(len(self.program.ops)) if self.can_be_kept(ref)]
        found = {ref: self.codes.get(self.term(ref)) for ref in able}
        late: list[Ref] = []
        for ref, op in enumerate(self.program.ops):
            moved, code = map_operands(op, late.__getitem__), found.get(ref)
            if code is not None:
                info, node = self.program.infos[ref], self.build.add(self.axis(ref))
                moved = ir.Kept(code.number, info.kind, info.bound, node, live=True)
            late.append(self.build.add(moved))
        return sweep(self.assembled(late))

    def assembled(self, late: list[Ref]) -> Program:
        """Updates and what a reset finds are as before; all else reads the tables."""
        before = map_program(self.program, self.plain.__getitem__)
        after = map_program(self.program, late.__getitem__)
        phases = zip(after.phases, before.phases, strict=True)
        return replace(
            after,
            phases=tuple(replace(new, update=old.update) for new, old in phases),
            initial=before.initial,
            horizon=before.horizon,
            limit=before.limit,
            kept=(*before.kept, *self.codes.values()),
            ops=tuple(self.build.ops),
            infos=tuple(self.build.infos),
            lets=moved_lets(self.program, late.__getitem__),
        )

    def wanted(self) -> Iterator[Ref]:
        """The outermost terms that can be kept, and repay it."""
        waiting, seen = read_each_round(self.program), set[Ref]()
        self.whole = not_cut_short(self.program, waiting)
        while waiting:
            ref = waiting.pop()
            if ref in seen:
                continue
            seen.add(ref)
            if self.can_be_kept(ref) and self.is_repaid(ref):
                yield ref
            else:
                waiting += ir.operands(self.program.ops[ref])

    def is_repaid(self, ref: Ref) -> bool:
        each, (own, near) = self.costs.of(ref) + operations(1), self.follows(ref)
        anew = each.times(1 if ref in self.whole else CUT_SHORT, ("n",))
        share = each.times(1, ("d",)) + each if near else each
        return is_repaid(self.program, anew, share, own | near)

    def axis(self, ref: Ref) -> ir.Axis:
        (name,) = self.program.infos[ref].axes
        return ir.Axis(name, NODE_VALUE)

    def can_be_kept(self, ref: Ref) -> bool:
        """Whether it is a number or truth over one node, of its cells and those around it."""
        info = self.program.infos[ref]
        if info.when != "state" or len(info.axes) != 1 or info.kind not in (NUMBER, TRUTH):
            return False
        parts = [self.program.ops[part] for part in reachable(self.program, [ref])]
        inner = self.inner(ref)
        return bool(inner) and all(self.is_near(part, self.axis(ref), inner) for part in parts)

    def inner(self, ref: Ref) -> set[str]:
        """The axes that a term binds."""
        parts = (self.program.ops[part] for part in reachable(self.program, [ref]))
        return {axis for part in parts for axis in ir.own_axes(part)}

    def is_near(self, op: ir.Op, own: ir.Axis, inner: set[str]) -> bool:
        """Whether an operation reads no state but that of a node and of its neighbours."""
        match op:
            case ir.Reduce():
                return all(self.is_around(domain, own) for domain in op.domains)
            case ir.Axis():
                return op.kind is NODE_VALUE and (op == own or op.name in inner)
            case ir.Read() if self.features[op.feature].stage.written:
                cell = self.features[op.feature].place is NODE and op.version == 0
                return cell and len(op.index) == 1 and self.stands(op.index[0])
            case ir.Kept():
                spreads = self.program.spreads(self.program.kept[op.number])
                return not spreads and (op.node is None or self.stands(op.node))
            case ir.Read():
                return True
            case ir.Marked():
                return not self.features[op.feature].stage.written
            case _:
                return isinstance(op, (*_PURE, *_STEADY))

    def is_around(self, domain: ir.Domain, own: ir.Axis) -> bool:
        near = domain.kind == "near" and domain.node is not None
        return near and self.program.ops[domain.node or 0] == own

    def stands(self, node: Ref) -> bool:
        return isinstance(self.program.ops[node], ir.Axis)

    # What is kept

    def follows(self, ref: Ref) -> tuple[set[str], set[str]]:
        """The features that a term reads at its node, and those it reads at neighbours."""
        own, near = set[str](), set[str]()
        for part in reachable(self.program, [ref]):
            op = self.program.ops[part]
            node, names = None, set[str]()
            if isinstance(op, ir.Kept):
                node = op.node
                names = {str(name) for name in self.program.kept[op.number].follows}
            elif isinstance(op, ir.Read) and self.features[op.feature].stage.written:
                node, names = op.index[0], {op.feature}
            if node is not None:
                (own if self.program.ops[node] == self.axis(ref) else near).update(names)
        return own, near

    def term(self, ref: Ref) -> Ref:
        """A term over the node of a write, in the new table of operations, axes by other names."""
        names = {self.axis(ref).name: OWN}
        moved: dict[Ref, Ref] = {}

        def name(axis: str) -> str:
            return names.setdefault(axis, f"{NEARBY}_{len(names)}")

        for part in sorted(reachable(self.program, [ref])):
            op = self.program.ops[part]
            if isinstance(op, ir.Axis):
                op = ir.Axis(name(op.name), op.kind)
            if isinstance(op, ir.Reduce):
                domains = (replace(d, axes=tuple(map(name, d.axes))) for d in op.domains)
                op = replace(op, domains=tuple(domains))
            moved[part] = self.build.add(map_operands(op, moved.__getitem__))
        return moved[ref]

    def code(self, ref: Ref) -> ir.KeptCode:
        """The table of a term; terms that differ in their axis share one."""
        value = self.term(ref)
        if value not in self.codes:
            own, near = self.follows(ref)
            number = len(self.program.kept) + len(self.codes)
            follows = tuple(sorted(own | near))
            self.codes[value] = ir.KeptCode(number, OWN, value, follows, tuple(sorted(near)))
        return self.codes[value]
