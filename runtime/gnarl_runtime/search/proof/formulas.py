"""An IR program in; out: who reads and writes what, by phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Program, Ref
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import CATEGORICAL, CATEGORY, EDGE, NODE, SCALAR

TERMINATE = -1  # the number of no phase: `terminate` is read after each of them


@dataclass(frozen=True)
class Write:
    """A statement that changes a feature, in which phase, and whether for many cells at once."""

    phase: int
    store: ir.Store
    looped: bool


@dataclass(frozen=True)
class Root:
    """A formula that decides how an episode goes on."""

    phase: int
    ref: Ref
    target: str | None = None  # the feature that is written with it; None: it always matters


class Formulas:
    """A lowered program, to be asked."""

    def __init__(self, problem: Problem, program: Program) -> None:
        self.problem, self.program = problem, program
        self.ops, self.infos = program.ops, program.infos
        self.features = {feature.name: feature for feature in problem.features}
        self.writes: list[Write] = []
        self.roots: list[Root] = []
        for number, phase in enumerate(program.phases):
            asked = (phase.when, phase.allow)
            self.roots += [Root(number, ref) for ref in asked if ref is not None]
            self._collect(number, phase.update, False)
        stop = None if program.stop is None else program.stop.when
        ends = (program.terminate, stop)
        self.roots += [Root(TERMINATE, ref) for ref in ends if ref is not None]

    def _collect(self, phase: int, body: tuple[ir.Statement, ...], looped: bool) -> None:
        for statement in body:
            match statement:
                case ir.Store(feature=name):
                    self.writes.append(Write(phase, statement, looped))
                    refs: tuple[Ref, ...] = (*statement.index, statement.value)
                    self.roots += [Root(phase, ref, name) for ref in refs]
                case ir.StoreEdge():
                    ends = (statement.source, statement.target, statement.value)
                    self.roots += [Root(phase, ref) for ref in ends]
                case ir.Bind():
                    self.roots.append(Root(phase, statement.value))
                case ir.Branch():
                    self.roots.append(Root(phase, statement.condition))
                    self._collect(phase, statement.then, looped)
                    self._collect(phase, statement.otherwise, looped)
                case ir.Loop():
                    near = [d.node for d in statement.domains if d.node is not None]
                    asked = near if statement.where is None else [*near, statement.where]
                    self.roots += [Root(phase, ref) for ref in asked]
                    self._collect(phase, statement.body, True)

    # Who reads what

    def behind(self, refs: Iterable[Ref]) -> Iterator[ir.Op]:
        """The operations that some values are made of."""
        return (self.ops[ref] for ref in sorted(reachable(self.program, refs)))

    def features_read(self, refs: Iterable[Ref]) -> set[str]:
        return {name for op in self.behind(refs) for name in self.named_by(op)}

    def named_by(self, op: ir.Op) -> tuple[str, ...]:
        """The features that one operation itself reads."""
        match op:
            case ir.Read() | ir.Marked():
                return (op.feature,)
            case ir.Call():
                words = (arg for arg in op.args if isinstance(arg, str))
                return tuple(word for word in words if word in self.features)
        return ()

    def is_state(self, name: str) -> bool:
        return self.features[name].stage.written

    def writes_of(self, name: str) -> list[Write]:
        return [write for write in self.writes if write.store.feature == name]

    def can_fail(self) -> set[str]:
        """The features that some update may find no room for, which ends in an error."""
        return {write.store.feature for write in self.writes if not self._fits(write.store)}

    def _fits(self, store: ir.Store) -> bool:
        """Whether a value can be stored for sure."""
        feature, op, info = self._stored(store)
        if feature.place is EDGE and not feature.single:
            return False  # there may be no edge
        if feature.type is SCALAR:
            return info.finite or self._adds(op)
        if feature.type is not CATEGORICAL:
            return True
        if isinstance(op, ir.Const):
            return 0 <= float(op.value) < feature.categories
        return bool(feature.choices) and info.kind is CATEGORY

    def _stored(self, store: ir.Store) -> tuple[Feature, ir.Op, ir.Info]:
        return self.features[store.feature], self.ops[store.value], self.infos[store.value]

    def _adds(self, op: ir.Op) -> bool:
        """Two finite numbers: it would take about 10^300 of the usual ones to run over."""
        added = isinstance(op, ir.Binary) and op.op in ("+", "-")
        return added and all(self.infos[ref].finite for ref in ir.operands(op))

    def steady(self, ref: Ref) -> bool:
        """Whether a value is known at reset and stays as it is."""
        return self.infos[ref].when != "state"

    def is_pick(self, ref: Ref) -> bool:
        """Whether a value is the node that is picked in this phase."""
        op = self.ops[ref]
        return isinstance(op, ir.Axis) and op.name == PICK

    def set_only(self, name: str) -> bool:
        """Whether a feature is a mask that updates only ever set."""
        return self.features[name].is_truth and all(
            isinstance(value := self.ops[write.store.value], ir.Const) and value.value is True
            for write in self.writes_of(name)
        )

    def set_only_node(self, name: str) -> bool:
        """The same, one truth value per node: a mask by which cells can settle."""
        feature = self.features[name]
        return feature.place is NODE and not feature.single and self.set_only(name)

    # What a condition implies

    def implied(self, ref: Ref) -> Iterator[tuple[Ref, bool]]:
        """Values that are known where a condition holds: (value, true or false)."""
        return self._implied(ref, True)

    def _implied(self, ref: Ref, holds: bool) -> Iterator[tuple[Ref, bool]]:
        yield ref, holds
        op = self.ops[ref]
        match op:
            case ir.Unary(op="not"):
                yield from self._implied(op.operand, not holds)
            case ir.Logic(op="and") if holds:
                for part in op.args:
                    yield from self._implied(part, True)
            case ir.Logic(op="or") if not holds:
                for part in op.args:
                    yield from self._implied(part, False)
            case ir.Reduce(op="exists") if holds:
                own = ir.own_axes(op)
                for inner in (op.where, op.body):
                    if inner is not None:
                        found = self._implied(inner, True)
                        yield from (one for one in found if not self.infos[one[0]].axes & own)

    def guards(self, phase: int, mask: str) -> bool:
        """Whether no node that the mask marks can be picked in a phase."""
        allow = self.program.phases[phase].allow
        if allow is None:
            return False
        for ref, holds in self.implied(allow):
            op = self.ops[ref]
            if not isinstance(op, ir.Read) or op.feature != mask or holds:
                continue
            if len(op.index) == 1 and self.is_pick(op.index[0]):
                return True
        return False
