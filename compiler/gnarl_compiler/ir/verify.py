"""What legal IR is, in executable form: a program in, nothing or an InternalError out.

Run after lowering and after every pass. The entries of the table are checked one by one in
`verify_ops`; here is what holds between them, the statements and the clauses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Program, Ref
from gnarl_compiler.ir.verify_ops import GRAPH, OpVerifier, require, scoped_operands, versions_read
from gnarl_compiler.ir.walk import reachable, roots
from gnarl_dsl.language.builtins import FUNCTIONS, PLACES
from gnarl_dsl.model import Feature, Problem

_STORED: dict[str, tuple[str, ...]] = {
    "scalar": ("number", "category"),
    "mask": ("truth",),
    "mask_one": ("node",),
    "pointer": ("node",),
    "categorical": ("category", "number"),
}


def verify_program(program: Program, problem: Problem) -> None:
    """Raise an InternalError unless a backend can rely on everything that ir.py promises."""
    verifier = _Verifier(program, problem)
    OpVerifier(program, problem).run()
    verifier.everything_is_used()
    verifier.kept_values()
    verifier.features()
    verifier.clauses()
    verifier.experts()
    for number, phase in enumerate(program.phases):
        verifier.phase(number, phase)


@dataclass
class _Seen:
    """The version that reads must name, per feature; None after a write, until one is read."""

    current: dict[str, int | None] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def read(self, name: str, version: int) -> None:
        known = self.current.get(name, 0)
        if known is None:
            require(version > self.latest.get(name, 0), f"`{name}` is read as before a write")
        else:
            require(version == known, f"`{name}` is read as of another write")
        self.current[name] = version
        self.latest[name] = max(version, self.latest.get(name, 0))

    def wrote(self, names: Iterable[str]) -> None:
        for name in names:
            self.current[name] = None
            self.written.add(name)

    def branch(self) -> _Seen:
        return _Seen(dict(self.current), dict(self.latest))

    def join(self, *branches: _Seen) -> None:
        """After a branch, what either side wrote is new, and what either side read is known."""
        for side in branches:
            for name, version in side.latest.items():
                self.latest[name] = max(version, self.latest.get(name, 0))
            learnt = ((n, v) for n, v in side.current.items() if v is not None)
            self.current |= {n: v for n, v in learnt if n not in side.written}
        for side in branches:
            self.wrote(side.written)


class _Verifier:
    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.problem = problem
        self.stored = {f.name: f for f in problem.features}
        self.bound_below = self._bound_below()

    def _bound_below(self) -> list[frozenset[str]]:
        """Per operation, the axes that it or a part of it binds."""
        result: list[frozenset[str]] = []
        for number, op in enumerate(self.program.ops):
            total = ir.own_axes(op)
            for ref, around in scoped_operands(op):
                require(0 <= ref < number, f"%{number} reads a later value")
                require(not around & result[ref], f"%{number} binds an axis twice")
                total |= result[ref]
            result.append(total)
        return result

    # Whole programs

    def everything_is_used(self) -> None:
        used = reachable(self.program, roots(self.program))
        unused = sorted(set(range(len(self.program.ops))) - used)
        require(not unused, f"nothing uses the values {unused}")

    def root(
        self,
        ref: Ref,
        kinds: tuple[str, ...],
        what: str,
        axes: Iterable[str] = (),
        label: bool = False,
        seen: _Seen | None = None,
    ) -> None:
        """A value that the program names: its kind, its axes, and what it may read."""
        require(0 <= ref < len(self.program.ops), f"{what} names a value that is not there")
        info, bound = self.program.infos[ref], frozenset(axes)
        require(info.kind in kinds, f"{what} is a {info.kind}")
        require(not info.optional, f"{what} may be unset")
        self.axes(ref, bound, what)
        parts = sorted(reachable(self.program, [ref]))
        require(label or not any(map(self.reads_label, parts)), f"{what} reads an oracle")
        self.versions(parts, what, seen or _Seen())

    def axes(self, ref: Ref, bound: frozenset[str], what: str) -> None:
        free = self.program.infos[ref].axes
        require(free <= bound, f"{what} depends on {sorted(free - bound)}")
        require(not self.bound_below[ref] & bound, f"{what} binds an axis twice")

    def versions(self, parts: list[Ref], what: str, seen: _Seen) -> None:
        for part in parts:
            for name, version in versions_read(self.program.ops[part], self.stored):
                seen.read(name, version)
                require(name in self.stored or name == GRAPH, f"{what} reads no feature")

    def reads_label(self, ref: Ref) -> bool:
        op = self.program.ops[ref]
        if isinstance(op, ir.Kept):
            code = self.program.kept[op.number]
            return any(map(self.reads_label, reachable(self.program, [code.value])))
        if isinstance(op, ir.Call):
            named = [arg for arg in op.args if isinstance(arg, str) and arg in self.stored]
            hidden = any(self.stored[name].stage == "oracle" for name in named)
            return FUNCTIONS[op.function].oracle or hidden
        return isinstance(op, ir.Read | ir.Marked) and self.stored[op.feature].stage == "oracle"

    # Parts

    def kept_values(self) -> None:
        for number, code in enumerate(self.program.kept):
            require(code.number == number, "kept values are out of order")
            axes = () if code.axis is None else (code.axis,)
            self.root(code.value, ("number", "truth"), f"kept{number}", axes, label=True)
            when = self.program.infos[code.value].when
            known = (when == "state") == bool(code.follows)
            require(known, f"kept{number} is not known at reset")
            parts = [self.program.ops[ref] for ref in reachable(self.program, [code.value])]
            nested = any(isinstance(op, ir.Kept) for op in parts)
            require(not nested, f"kept{number} is made of kept values")
            if code.follows:
                self.follows(code, parts)

    def follows(self, code: ir.KeptCode, parts: list[ir.Op]) -> None:
        """A live table reads the state at its own node only, and follows all it reads."""
        what = f"kept{code.number}"
        elsewhere = (ir.Last, ir.Pick, ir.Local, ir.Call, ir.Chase, ir.Reduce)
        require(not any(isinstance(op, elsewhere) for op in parts), f"{what} reads other nodes")
        graph = (ir.HasEdge, ir.Degree, ir.Edges)
        changes = self.program.mutable and any(isinstance(op, graph) for op in parts)
        require(not changes, f"{what} reads a graph that changes")
        own = ir.Axis(code.axis or "", "node")
        for op in parts:
            if isinstance(op, ir.Read | ir.Marked) and self.stored[op.feature].stage == "state":
                here = isinstance(op, ir.Read) and [self.program.ops[r] for r in op.index] == [own]
                require(here, f"{what} reads other nodes")
                require(op.feature in code.follows, f"{what} does not follow `{op.feature}`")

    def features(self) -> None:
        for stage, entries in (("state", self.program.initial), ("derived", self.program.derived)):
            for cells in entries:
                feature = self.feature(cells.feature, stage)
                width = 0 if feature.type == "mask_one" else PLACES[feature.place]
                require(len(cells.axes) == width, f"`{feature.name}` has other positions")
                require(len(set(cells.axes)) == width, f"`{feature.name}` repeats an axis")
                self.root(cells.value, _STORED[feature.type], f"`{feature.name}`", cells.axes)
                early = stage == "derived" or self.program.infos[cells.value].when != "state"
                mutable = self.problem.graph.mutable
                require(early or mutable, f"`{feature.name}` starts from the state")

    def feature(self, name: str, stage: str) -> Feature:
        feature = self.stored.get(name)
        require(feature is not None and feature.stage == stage, f"`{name}` is no {stage} feature")
        assert feature is not None
        return feature

    def clauses(self) -> None:
        program = self.program
        numbers = ("number", "category")
        self.root(program.horizon, numbers, "horizon")
        if program.limit is not None:
            self.root(program.limit, numbers, "limit", label=True)
        for clause in ("terminate", "correct", "valid"):
            ref = getattr(program, clause)
            if ref is not None:
                self.root(ref, ("truth",), clause, label=clause != "valid")
        for name, ref in program.objectives:
            self.root(ref, numbers, f"the objective {name}")
        for name, ref in program.metrics:
            self.root(ref, numbers, f"the metric {name}", label=True)
        if program.reward is not None:
            self.root(program.reward.value, numbers, "the reward", label=True)

    def experts(self) -> None:
        goals = [name for name, _ in self.program.objectives]
        for expert in self.program.experts:
            what = f"the expert {expert.name}"
            if expert.greedy is not None:
                require(expert.greedy in goals, f"{what} wants an objective that is not there")
                continue
            require(len(expert.rules) == len(self.program.phases), f"{what} lacks a rule")
            for number, rule in enumerate(expert.rules):
                for choice in rule:
                    self.choice(choice, number, what)

    def choice(self, choice: ir.Choice, number: int, what: str) -> None:
        if choice.where is not None:
            self.root(choice.where, ("truth",), what, (PICK,), label=True)
            self.picks([choice.where], number, what)
        for sign, key in choice.keys:
            require(sign in (1, -1), f"{what} has a key without a sign")
            self.root(key, ("number", "category"), what, (PICK,), label=True)
            self.picks([key], number, what)

    # Phases

    def phase(self, number: int, phase: ir.PhaseCode) -> None:
        if phase.allow is not None:
            self.root(phase.allow, ("truth",), f"allow of {phase.name}", (PICK,))
            self.picks([phase.allow], number, f"allow of {phase.name}")
        what = f"the update of {phase.name}"
        named = list(_named_values(phase.update))
        self.picks(named, number, what)
        self.no_live_tables(named, what)
        self.block(phase.update, what, frozenset({PICK}), _Seen(), frozenset(), None)

    def picks(self, refs: list[Ref], number: int, what: str) -> None:
        for ref in reachable(self.program, refs):
            op = self.program.ops[ref]
            later = isinstance(op, ir.Pick) and op.phase >= number
            require(not later, f"{what} reads a pick that has not happened")

    def no_live_tables(self, refs: list[Ref], what: str) -> None:
        """Tables follow whole updates; between the writes of one they are out of date."""
        ops = (self.program.ops[ref] for ref in reachable(self.program, refs))
        live = any(isinstance(op, ir.Kept) and op.live for op in ops)
        require(not live, f"{what} reads a table that it changes")

    def block(
        self,
        body: tuple[ir.Statement, ...],
        what: str,
        axes: frozenset[str],
        seen: _Seen,
        lets: frozenset[str],
        delayed: set[str] | None,
    ) -> None:
        """Statements in order; `delayed` collects the writes of a loop, which come after it."""

        def value(ref: Ref, *kinds: str, optional: bool = False) -> None:
            if not optional:
                self.root(ref, kinds, what, axes, seen=seen)
            self.axes(ref, axes, what)
            self.versions(sorted(reachable(self.program, [ref])), what, seen)
            self.locals(ref, lets, what)

        def wrote(name: str) -> None:
            if delayed is None:
                seen.wrote([name])
            else:
                delayed.add(name)

        for statement in body:
            match statement:
                case ir.Store():
                    feature = self.feature(statement.feature, "state")
                    width = 0 if feature.type == "mask_one" else PLACES[feature.place]
                    require(len(statement.index) == width, f"{what} indexes `{feature.name}` badly")
                    for ref in statement.index:
                        value(ref, "node")
                    value(statement.value, *_STORED[feature.type])
                    wrote(feature.name)
                case ir.StoreEdge():
                    require(self.program.mutable, f"{what} changes a graph that is not mutable")
                    value(statement.source, "node")
                    value(statement.target, "node")
                    value(statement.value, "truth")
                    wrote(GRAPH)
                case ir.Bind():
                    value(statement.value, optional=True)
                    require(statement.name not in lets, f"{what} binds {statement.name} twice")
                    lets |= {statement.name}
                case ir.Branch():
                    value(statement.condition, "truth")
                    self.branch(statement, what, axes, seen, lets, delayed)
                case ir.Loop():
                    require(delayed is None, f"{what} has a loop in a loop")
                    self.loop(statement, what, axes, seen, lets)

    def branch(
        self,
        statement: ir.Branch,
        what: str,
        axes: frozenset[str],
        seen: _Seen,
        lets: frozenset[str],
        delayed: set[str] | None,
    ) -> None:
        require(bool(statement.then or statement.otherwise), f"{what} has an empty branch")
        then, other = seen.branch(), seen.branch()
        self.block(statement.then, what, axes, then, lets, delayed)
        self.block(statement.otherwise, what, axes, other, lets, delayed)
        seen.join(then, other)

    def loop(
        self,
        loop: ir.Loop,
        what: str,
        axes: frozenset[str],
        seen: _Seen,
        lets: frozenset[str],
    ) -> None:
        inner = axes
        for domain in loop.domains:
            if domain.node is not None:
                self.root(domain.node, ("node",), what, inner, seen=seen)
                self.locals(domain.node, lets, what)
            if domain.kind in ("edges", "near"):
                seen.read(GRAPH, domain.version)
            require(not inner & set(domain.axes), f"{what} binds an axis twice")
            inner |= set(domain.axes)
        if loop.where is not None:
            self.root(loop.where, ("truth",), what, inner, seen=seen)
            self.locals(loop.where, lets, what)
        delayed: set[str] = set()
        self.block(loop.body, what, inner, seen, lets, delayed)
        require(bool(delayed), f"{what} has a loop that writes nothing")
        seen.wrote(delayed)

    def locals(self, ref: Ref, lets: frozenset[str], what: str) -> None:
        for part in reachable(self.program, [ref]):
            op = self.program.ops[part]
            unknown = isinstance(op, ir.Local) and op.name not in lets
            require(not unknown, f"{what} reads a let that is not bound")


def _named_values(body: tuple[ir.Statement, ...]) -> Iterable[Ref]:
    """Every value that statements name."""
    for statement in body:
        match statement:
            case ir.Store():
                yield from (*statement.index, statement.value)
            case ir.StoreEdge():
                yield from (statement.source, statement.target, statement.value)
            case ir.Bind():
                yield statement.value
            case ir.Branch():
                yield statement.condition
                yield from _named_values((*statement.then, *statement.otherwise))
            case ir.Loop():
                yield from (d.node for d in statement.domains if d.node is not None)
                yield from () if statement.where is None else (statement.where,)
                yield from _named_values(statement.body)
