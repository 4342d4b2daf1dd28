"""An IR program in, one out that keeps counts and sums instead of finding them in every state.

`forall (x, y) in edges: in_cover[x] or in_cover[y]` looks at all edges in every round, but a write
at a node can only change what holds on the edges of that node. So the edges without a cover are
counted once, and a write takes those of its node off the count before and adds them behind it.

What a formula reads decides: every cell of the state in it must belong to the node or the edge
that it ranges over. All else is found anew as before, and so is what the writes of a round would
not repay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import OTHER, OWN, PICK, Program, Ref, Written, map_operands
from gnarl_compiler.ir.walk import map_program, moved_lets, reachable, sweep
from gnarl_compiler.passes.costs import Costs, is_repaid
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, NODE, NODE_VALUE, NUMBER

# What is made of its operands without looking at the state.
_PURE = (ir.Unary, ir.Binary, ir.Compare, ir.Logic, ir.Select)
_WHOLE = (ir.Chase, ir.Reach, ir.Roots, ir.Call)  # what looks at all of a graph at once
_ROUNDING = ("/", "^", "sqrt", "exp", "log")  # sums of their results round in any order
_ONE, _NONE = ir.Const(1.0, NUMBER), ir.Const(0.0, NUMBER)
Axes = Mapping[str, str]  # old names to new ones


@dataclass(frozen=True)
class Follows:
    """What a formula reads at the node that an axis stands for, or along the edge of two."""

    nodes: frozenset[Written] = frozenset()
    edges: frozenset[Written] = frozenset()

    @property
    def all(self) -> tuple[Written, ...]:
        return in_order(self.nodes | self.edges)


def in_order(cells: Iterable[Written]) -> tuple[Written, ...]:
    """Features by name, then tables by number."""
    return tuple(sorted(cells, key=lambda it: (isinstance(it, int), it)))


class _Pass:
    """A program on its way into a new table, in which tallies stand for what they keep."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program, self.problem = program, problem
        self.features = {feature.name: feature for feature in problem.features}
        self.follows: dict[int, tuple[Written, ...]] = {
            code.number: ((code.number,) if program.spreads(code) else code.follows)
            for code in program.kept
        }
        self.costs = Costs(program)
        self.build = Builder(problem)
        self.plain: list[Ref] = []  # where each old operation is in the new table
        for op in program.ops:
            self.plain.append(self.build.add(map_operands(op, self.plain.__getitem__)))
        self.codes: dict[Ref, ir.TallyCode] = {}  # by the value that each keeps

    def run(self) -> Program:
        found = {ref: self.kept(op) for ref, op in self.wanted()}
        mask = self.mask()
        if not found and mask is None:
            return self.program
        late: list[Ref] = []
        for ref, op in enumerate(self.program.ops):
            answer = found.get(ref)
            late.append(
                self.build.add(map_operands(op, late.__getitem__)) if answer is None else answer
            )
        return sweep(self.assembled(late, mask))

    def assembled(self, late: list[Ref], mask: ir.MaskCode | None) -> Program:
        """Updates and what a reset finds are as before; all else asks the tallies."""
        before = map_program(self.program, self.plain.__getitem__)
        after = map_program(self.program, late.__getitem__)
        phases = zip(after.phases, before.phases, strict=True)
        return replace(
            after,
            phases=tuple(replace(new, update=old.update, mask=mask) for new, old in phases),
            initial=before.initial,
            horizon=before.horizon,
            limit=before.limit,
            kept=before.kept,
            tallies=tuple(self.codes.values()),
            ops=tuple(self.build.ops),
            infos=tuple(self.build.infos),
            lets=moved_lets(self.program, late.__getitem__),
        )

    # Which quantifiers

    def wanted(self) -> Iterator[tuple[Ref, ir.Reduce]]:
        """The outermost quantifiers of what runs every round that can be kept, and repay it."""
        waiting, seen = list(each_round(self.program)), set[Ref]()
        while waiting:
            ref = waiting.pop()
            if ref in seen:
                continue
            seen.add(ref)
            op = self.program.ops[ref]
            if isinstance(op, ir.Reduce) and self.can_be_kept(ref, op):
                yield ref, op
            else:
                waiting += ir.operands(op)

    def can_be_kept(self, ref: Ref, op: ir.Reduce) -> bool:
        info = self.program.infos[ref]
        known = op.op in ("exists", "forall", "count", "sum")
        if not known or info.axes or info.when != "state" or len(op.domains) != 1:
            return False
        (domain,) = op.domains
        over_edges = domain.kind == "edges" and not self.program.mutable
        if domain.kind != "nodes" and not over_edges:
            return False
        follows = self.followed(op)
        if follows is None or not follows.all or (op.op == "sum" and not self.adds_up(op, follows)):
            return False
        share = self.costs.of(op.where, op.body)
        if over_edges and follows.nodes:
            share = share.times(2 if self.program.directed else 1, ("d",))
        return is_repaid(self.program, self.costs.of(ref), share, follows.all)

    def followed(self, op: ir.Reduce) -> Follows | None:
        """What of the state a quantifier reads, if all of it is where it ranges; else None."""
        refs = [ref for ref in (op.where, op.body) if ref is not None]
        total = Follows()
        for ref in sorted(reachable(self.program, refs)):
            if isinstance(self.program.ops[ref], _WHOLE):
                return None
            if self.program.infos[ref].when == "state":
                own = self.own_reads(self.program.ops[ref], op.domains[0].axes)
                if own is None:
                    return None
                total = Follows(total.nodes | own.nodes, total.edges | own.edges)
        return total

    def own_reads(self, op: ir.Op, axes: tuple[str, ...]) -> Follows | None:
        """The same for one operation."""
        match op:
            case ir.Read() if self.features[op.feature].stage.written:
                return self.own_cell(op, axes)
            case ir.Read():
                return Follows()
            case ir.HasEdge() if not self.program.mutable:
                return Follows()
            case ir.Kept() if op.node is not None and self.names([op.node], axes):
                return Follows(nodes=frozenset(self.follows[op.number]))
            case _:
                return Follows() if isinstance(op, _PURE) else None

    def own_cell(self, op: ir.Read, axes: tuple[str, ...]) -> Follows | None:
        feature, name = self.features[op.feature], frozenset((op.feature,))
        if op.version or feature.single or not self.names(op.index, axes):
            return None
        if feature.place is NODE:
            return Follows(nodes=name)
        found = [self.program.ops[ref] for ref in op.index]
        straight = [o.name for o in found if isinstance(o, ir.Axis)] == list(axes)
        either = len(set(op.index)) == 2 and not self.program.directed
        return Follows(edges=name) if feature.place is EDGE and (straight or either) else None

    def names(self, refs: tuple[Ref, ...] | list[Ref], axes: tuple[str, ...]) -> bool:
        """Whether values are nothing but nodes that the axes stand for."""
        ops = [self.program.ops[ref] for ref in refs]
        return all(isinstance(op, ir.Axis) and op.name in axes for op in ops)

    def adds_up(self, op: ir.Reduce, follows: Follows) -> bool:
        """Whether a cell has one summand, which may be of a kind that adds up without rounding."""
        if op.body is None or not self.program.infos[op.body].finite:
            return False
        one = op.domains[0].kind == "nodes" or not follows.nodes
        parts = reachable(self.program, [op.body])
        return one and not any(self.rounds(self.program.ops[ref]) for ref in parts)

    def rounds(self, op: ir.Op) -> bool:
        if isinstance(op, ir.Read):
            return self.features[op.feature].type.apart
        if isinstance(op, ir.Kept):
            code = self.program.kept[op.number]
            parts = reachable(self.program, [code.value])
            return any(self.rounds(self.program.ops[ref]) for ref in parts)
        return isinstance(op, ir.Unary | ir.Binary) and op.op in _ROUNDING

    # What is kept

    def kept(self, op: ir.Reduce) -> Ref:
        """A tally in place of a quantifier."""
        value = self.counted(op)
        if value not in self.codes:
            follows = self.followed(op)
            assert follows is not None
            shares = tuple(self.shares(op, follows))
            self.codes[value] = ir.TallyCode(len(self.codes), value, shares)
        add, code = self.build.add, self.codes[value]
        tallied = add(ir.Tallied(code.number, self.build.infos[value].bound))
        if op.op in ("count", "sum"):
            return tallied
        return add(ir.Compare("==" if op.op == "forall" else ">", tallied, add(_NONE)))

    def counted(self, op: ir.Reduce) -> Ref:
        """What the tally is: a sum, or how often a quantifier is met, or not met for `forall`."""
        plain = map_operands(op, self.plain.__getitem__)
        if op.op == "sum":
            return self.build.add(plain)
        where = self.condition(op, {})
        return self.build.add(ir.Reduce("count", op.domains, where, None))

    def condition(self, op: ir.Reduce, axes: Axes) -> Ref:
        """Whether something counts."""
        add, parts = self.build.add, list[Ref]()
        if op.where is not None:
            parts.append(self.renamed(op.where, axes))
        if op.body is not None:
            body = self.renamed(op.body, axes)
            parts.append(add(ir.Unary("not", body)) if op.op == "forall" else body)
        return add(ir.Logic("and", tuple(parts)))

    def shares(self, op: ir.Reduce, follows: Follows) -> Iterator[ir.Share]:
        (domain,) = op.domains
        if domain.kind == "nodes":
            value = self.term(op, {domain.axes[0]: OWN})
            yield from (ir.Share(name, (OWN,), value) for name in in_order(follows.nodes))
            return
        if follows.nodes:
            value = self.along_edges(op, domain)
            yield from (ir.Share(name, (OWN,), value) for name in in_order(follows.nodes))
        if follows.edges:
            value = self.term(op, dict(zip(domain.axes, (OWN, OTHER), strict=True)))
            yield from (ir.Share(name, (OWN, OTHER), value) for name in in_order(follows.edges))

    def term(self, op: ir.Reduce, axes: Axes) -> Ref:
        """What one node or edge adds."""
        add = self.build.add
        if op.op != "sum":
            return add(ir.Select(self.condition(op, axes), add(_ONE), add(_NONE)))
        assert op.body is not None
        body = self.renamed(op.body, axes)
        if op.where is None:
            return body
        return add(ir.Select(self.renamed(op.where, axes), body, add(_NONE)))

    def along_edges(self, op: ir.Reduce, domain: ir.Domain) -> Ref:
        """How many edges of a node count.

        Whichever end of an undirected edge comes first: the checker accepts nothing else (GN406).
        """
        add, (x, y) = self.build.add, domain.axes
        node = add(ir.Axis(OWN, NODE_VALUE))

        def near(axis: str, way: str, axes: Axes) -> Ref:
            around = ir.Domain("near", (axis,), node, way)  # type: ignore[arg-type]
            return add(ir.Reduce("count", (around,), self.condition(op, axes), None))

        if not self.program.directed:
            return near(y, "both", {x: OWN})
        return add(ir.Binary("+", near(y, "out", {x: OWN}), near(x, "in", {y: OWN})))

    def renamed(self, ref: Ref, axes: Axes) -> Ref:
        """A value over other axes, in the new table."""
        moved: dict[Ref, Ref] = {}
        for part in sorted(reachable(self.program, [ref])):
            op = self.program.ops[part]
            if isinstance(op, ir.Axis) and op.name in axes:
                op = ir.Axis(axes[op.name], op.kind)
            moved[part] = self.build.add(map_operands(op, moved.__getitem__))
        return moved[ref]

    # The mask

    def mask(self) -> ir.MaskCode | None:
        """The mask of the only phase, if a write changes it at its own node, or turns it whole."""
        phase = self.program.phases[0]
        alone = len(self.program.phases) == 1 and not self.program.may_skip
        if not alone or self.program.stop is not None or phase.allow is None:
            return None
        follows, turns = set[Written](), set[tuple[str, Ref]]()
        for ref in sorted(reachable(self.program, [phase.allow])):
            op = self.program.ops[ref]
            if isinstance(op, _WHOLE):
                return None
            if self.program.infos[ref].when != "state":
                continue
            own = self.own_reads(op, (PICK,))
            turning = self.turning(op)
            if own is None and turning is None:
                return None
            follows |= set() if own is None else set(own.all)
            turns |= set() if turning is None else {turning}
        share = self.costs.of(phase.allow)
        if not follows or not is_repaid(self.program, share.times(1, ("n",)), share, follows):
            return None
        value = self.renamed(phase.allow, {PICK: OWN})
        moved = sorted((name, self.plain[node]) for name, node in turns)
        return ir.MaskCode(value, in_order(follows | {name for name, _ in turns}), tuple(moved))

    def turning(self, op: ir.Op) -> tuple[str, Ref] | None:
        """A read at a node that stays the same in an episode."""
        if not isinstance(op, ir.Read) or len(op.index) != 1 or op.version:
            return None
        (node,) = op.index
        steady = self.program.infos[node].when != "state" and not self.program.infos[node].axes
        feature = self.features[op.feature]
        mine = feature.stage.written and feature.place is NODE and not feature.single
        return (op.feature, node) if steady and mine else None


def tally(program: Program, problem: Problem) -> Program:
    """Keep the counts and sums of what runs every round, and the mask of the only phase."""
    return _Pass(program, problem).run()


def each_round(program: Program) -> Iterator[Ref]:
    """What is computed in every round, or for every pick that a greedy expert tries."""
    maybe = [program.terminate, *(phase.allow for phase in program.phases)]
    if program.reward is not None and program.reward.kind != "terminal":
        maybe.append(program.reward.value)
    maybe += [phase.when for phase in program.phases]
    maybe += [program.stop.when] if program.stop is not None else []
    maybe += [cells.value for cells in program.derived]
    goals = {expert.greedy for expert in program.experts}
    maybe += [ref for name, ref in program.objectives if name in goals]
    yield from (ref for ref in maybe if ref is not None)
