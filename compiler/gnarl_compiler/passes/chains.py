"""An IR program in, one out that keeps what chains of pointers come to instead of following them.

How deep a node hangs, or what its path costs, is asked for every node in every round, but a pick
moves a pointer or two, and that changes only the nodes whose chains lead through the moved ones.
So there is a table, and each write of such a pointer brings those nodes up to date, one behind the
other: what a chain comes to from a node is what it comes to from the next, and one step.
"""

from __future__ import annotations

from dataclasses import replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import ALONG, OWN, Program, Ref, map_operands
from gnarl_compiler.ir.walk import map_program, moved_lets, reachable, sweep
from gnarl_compiler.passes.costs import CUT_SHORT, Costs, is_repaid, not_cut_short, operations
from gnarl_compiler.passes.tabulate import read_each_round
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE, NODE_VALUE, NUMBER, POINTER

_PURE = (ir.Const, ir.Axis, ir.Nodes, ir.Unary, ir.Binary, ir.Compare, ir.Logic, ir.Select)


def keep_chains(program: Program, problem: Problem) -> Program:
    """Keep the chains that are followed from many nodes in every round, or to label a state."""
    return _Pass(program, problem).run()


class _Pass:
    """A program on its way into a new table of operations, in which tables stand for chains."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.features = {feature.name: feature for feature in problem.features}
        self.costs = Costs(program)
        self.build = Builder(problem)
        self.plain: list[Ref] = []  # where each old operation is in the new table
        for op in program.ops:
            self.plain.append(self.build.add(map_operands(op, self.plain.__getitem__)))
        self.codes: dict[Ref, ir.KeptCode] = {}  # by the chain that each keeps

    def run(self) -> Program:
        wanted = {self.chain(op) for op in self.wanted()}
        if not wanted:
            return self.program
        late: list[Ref] = []
        for op in self.program.ops:
            moved = map_operands(op, late.__getitem__)
            if isinstance(op, ir.Chase) and self.can_be_kept(op) and self.chain(op) in wanted:
                assert isinstance(moved, ir.Chase)
                number = self.code(op).number
                moved = ir.Kept(number, NUMBER, float("inf"), moved.start, live=True)
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

    def wanted(self) -> list[ir.Chase]:
        """Those of what runs every round that start from many nodes, if keeping them repays it."""
        found, whole = [], not_cut_short(self.program, read_each_round(self.program))
        for ref in sorted(reachable(self.program, read_each_round(self.program))):
            op = self.program.ops[ref]
            if isinstance(op, ir.Chase) and self.can_be_kept(op):
                step = self.costs.of(op.following, op.cost) + operations(1)
                anew = step.times(1 if ref in whole else CUT_SHORT, ("n",))
                many = bool(self.program.infos[op.start].axes)
                share = step.times(1, ("s",))
                if many and is_repaid(self.program, anew, share, self.follows(op)):
                    found.append(op)
        return found

    def can_be_kept(self, op: ir.Chase) -> bool:
        """Whether writes of single cells are all that can change what a chain comes to."""
        pointer = self.program.ops[op.following]
        if op.op == "on_cycle" or not isinstance(pointer, ir.Read) or not self.is_own(pointer, op):
            return False
        feature = self.features[pointer.feature]
        if feature.type is not POINTER or not feature.stage.written:
            return False
        return self.is_steady(op.target) and (op.cost is None or self.is_step(op))

    def is_steady(self, target: Ref | None) -> bool:
        """Whether a chain ends at the same node all through an episode."""
        if target is None:
            return True
        info = self.program.infos[target]
        return info.when != "state" and not info.axes and not info.optional

    def is_step(self, op: ir.Chase) -> bool:
        """Whether the cost of a step reads the state at its node only, and is never infinite."""
        assert op.cost is not None
        parts = [self.program.ops[ref] for ref in reachable(self.program, [op.cost])]
        return self.program.infos[op.cost].finite and all(self.is_own(part, op) for part in parts)

    def is_own(self, part: ir.Op, op: ir.Chase) -> bool:
        """Whether an operation reads no state but that of the node `at`."""
        at = ir.Axis(op.at, NODE_VALUE)
        match part:
            case ir.Axis():
                return part == at
            case ir.Read() if self.features[part.feature].stage.written:
                here = [self.program.ops[ref] for ref in part.index] == [at]
                return here and part.version == 0 and self.features[part.feature].place is NODE
            case ir.Kept():
                here = part.node is None or self.program.ops[part.node] == at
                return here and not self.program.spreads(self.program.kept[part.number])
            case ir.Read():
                return True
            case _:
                return isinstance(part, _PURE)

    def follows(self, op: ir.Chase) -> tuple[str, ...]:
        """The features whose writes change a step."""
        refs = [ref for ref in (op.following, op.cost) if ref is not None]
        found: set[str] = set()
        for ref in reachable(self.program, refs):
            part = self.program.ops[ref]
            if isinstance(part, ir.Kept):
                found |= {str(name) for name in self.program.kept[part.number].follows}
            if isinstance(part, ir.Read) and self.features[part.feature].stage.written:
                found.add(part.feature)
        return tuple(sorted(found))

    def chain(self, op: ir.Chase) -> Ref:
        """A chain from the node that a table is over, in the new table of operations."""
        own = self.build.add(ir.Axis(OWN, NODE_VALUE))
        along = self.build.add(ir.Axis(ALONG, NODE_VALUE))
        moved: dict[Ref, Ref] = {}
        refs = [ref for ref in (op.following, op.cost) if ref is not None]
        for ref in sorted(reachable(self.program, refs)):
            part = self.program.ops[ref]
            if part == ir.Axis(op.at, NODE_VALUE):
                moved[ref] = along
            else:
                moved[ref] = self.build.add(map_operands(part, moved.__getitem__))
        target = None if op.target is None else self.plain[op.target]
        cost = None if op.cost is None else moved[op.cost]
        return self.build.add(ir.Chase(op.op, moved[op.following], own, target, ALONG, cost))

    def code(self, op: ir.Chase) -> ir.KeptCode:
        chain = self.chain(op)
        if chain not in self.codes:
            number = len(self.program.kept) + len(self.codes)
            self.codes[chain] = ir.KeptCode(number, OWN, chain, self.follows(op))
        return self.codes[chain]
