"""What legal IR is, in executable form: a program in, nothing or an InternalError out.

Run after lowering and after every pass. The entries of the table are checked one by one; then
what holds between them, the statements and the clauses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import PICK, Info, Op, Program, Ref
from gnarl_compiler.ir.walk import reachable, roots
from gnarl_dsl.language.operators import COMPARISONS, OPERATORS
from gnarl_dsl.language.signatures import CHOICE, NODE_POINTER, ONE_NODE, ONE_TRUTH, ArgKind
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import (
    CATEGORY,
    DERIVED,
    EDGE,
    GRAPH,
    MASK,
    MASK_ONE,
    NODE_VALUE,
    NUMBER,
    ORACLE,
    POINTER,
    TRUTH,
    Value,
)
from gnarl_dsl.report.diagnostics import InternalError

_GRAPH = ""  # where versions name features, this is the graph
# What may read the state of any node.
_ELSEWHERE = (ir.Last, ir.Pick, ir.Local, ir.Call, ir.Chase, ir.Reduce, ir.Reach, ir.Roots)
_NUMBERS = (NUMBER, CATEGORY)  # the categories of categorical(k) are numbers
_STORED: dict[Value, tuple[Value, ...]] = {  # what may be stored for a value of a feature
    NUMBER: _NUMBERS,
    CATEGORY: _NUMBERS,
    TRUTH: (TRUTH,),
    NODE_VALUE: (NODE_VALUE,),
}


def verify_program(program: Program, problem: Problem) -> None:
    """Raise an InternalError unless a backend can rely on everything that ir.py promises."""
    verifier = _Verifier(program, problem)
    _OpVerifier(program, problem).run()
    verifier.everything_is_used()
    verifier.kept_values()
    verifier.tallies()
    verifier.features()
    verifier.clauses()
    verifier.experts()
    verifier.views()
    for number, phase in enumerate(program.phases):
        verifier.phase(number, phase)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InternalError(f"the compiler made an illegal program: {what}")


def _versions_read(op: Op, features: Mapping[str, Feature]) -> Iterator[tuple[str, int]]:
    """What an operation reads itself, and as of which write."""
    match op:
        case ir.Read() | ir.Marked():
            yield op.feature, op.version
        case ir.Edges() | ir.HasEdge() | ir.Degree():
            yield _GRAPH, op.version
        case ir.Reduce() | ir.Reach():
            for domain in op.domains:
                if domain.kind in ("edges", "near"):
                    yield _GRAPH, domain.version
            if isinstance(op, ir.Reach) and op.of_nodes:
                yield _GRAPH, op.version
        case ir.Call():
            names = [arg for arg in op.args if isinstance(arg, str) and arg in features]
            yield from zip([*names, _GRAPH], op.versions, strict=True)
        case _:
            pass


def _kinds_given(kind: ArgKind) -> tuple[Value, ...]:
    """What an argument of a function may hold, at each node if it is a whole feature."""
    if kind in (ONE_NODE, NODE_POINTER) or kind.type is POINTER:
        return (NODE_VALUE,)
    if kind is ONE_TRUTH or kind.type is MASK:
        return (TRUTH,)
    return _NUMBERS


def _scoped_operands(op: Op) -> Iterator[tuple[Ref, frozenset[str]]]:
    """The operands, each with the axes that the operation binds around it."""
    match op:
        case ir.Reduce() | ir.Reach():
            around: frozenset[str] = frozenset()
            for domain in op.domains:
                if domain.node is not None:
                    yield domain.node, around
                around |= set(domain.axes)
            inside = (op.where,) if isinstance(op, ir.Reach) else (op.where, op.body)
            yield from ((ref, around) for ref in inside if ref is not None)
            if isinstance(op, ir.Reach) and op.source is not None:
                yield op.source, frozenset()
        case ir.Chase():
            own = ir.own_axes(op)
            yield from ((ref, own) for ref in (op.following, op.cost) if ref is not None)
            yield from ((ref, frozenset()) for ref in (op.start, op.target) if ref is not None)
        case _:
            yield from ((ref, ir.own_axes(op)) for ref in ir.operands(op))


class _OpVerifier:
    """Checks that every entry fits its operands, and that what is recorded of it is true."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.directed = problem.graph.directed
        self.build = Builder(problem)
        self.axes: dict[str, Value] = {}

    def run(self) -> None:
        program = self.program
        _require(len(program.ops) == len(program.infos), "the tables differ in length")
        _require(len(set(program.ops)) == len(program.ops), "an operation stands twice")
        for number, (op, info) in enumerate(zip(program.ops, program.infos, strict=True)):
            self.number = number
            for ref in ir.operands(op):
                _require(0 <= ref < number, f"%{number} reads a later value")
            self.op(op)
            self.rows(op)
            known = self.build.info_of(op)
            _require(known == info, f"%{number} is {known}, not {info}")
            self.build.ops.append(op)
            self.build.infos.append(info)

    def info(self, ref: Ref) -> Info:
        return self.build.infos[ref]

    def that(self, holds: bool, what: str) -> None:
        _require(holds, f"%{self.number} {what}")

    def operand(self, ref: Ref | None, *kinds: Value, optional: bool = False) -> None:
        if ref is not None:
            info = self.info(ref)
            wanted = " or ".join(ir.KIND_NAMES[kind] for kind in kinds)
            found = ir.KIND_NAMES[info.kind]
            self.that(info.kind in kinds, f"has a {found} where {wanted} belongs")
            self.that(optional or not info.optional, "uses a node that may be unset")

    def op(self, op: Op) -> None:
        match op:
            case ir.Const():
                self.that((op.kind is TRUTH) == isinstance(op.value, bool), "is a mixed constant")
                self.that(not math.isnan(op.value), "is not a number")
            case ir.Axis():
                self.axis(op.name, op.kind)
            case ir.Local() | ir.Unset() | ir.Nodes() | ir.Edges():
                pass
            case ir.Pick():
                self.that(0 <= op.phase < len(self.program.phases), "names no phase")
                skipped = self.program.phases[op.phase].when is not None
                self.that(op.optional == skipped, "is set or unset where its phase is not")
            case ir.Last():
                self.that(0 <= op.phase < len(self.program.phases), "names no phase")
            case ir.Read():
                self.read(op)
            case ir.Marked():
                feature = self.build.features.get(op.feature)
                self.that(feature is not None and feature.type is MASK_ONE, "reads no mark")
                self.that(feature is None or feature.stage is not DERIVED, "reads a derived mark")
            case ir.HasEdge():
                self.operand(op.source, NODE_VALUE)
                self.operand(op.target, NODE_VALUE)
            case ir.Degree():
                self.operand(op.node, NODE_VALUE)
                self.way(op.direction)
            case ir.Otherwise():
                self.operand(op.value, NODE_VALUE, optional=True)
                self.operand(op.default, NODE_VALUE, optional=True)
                self.that(self.info(op.value).optional, "replaces a node that is never unset")
            case ir.Unary():
                self.unary(op)
            case ir.Binary():
                self.operator(op.op, op.left, op.right)
            case ir.Compare():
                self.compare(op)
            case ir.Logic():
                self.that(len(op.args) > 1, "joins nothing")
                for arg in op.args:
                    self.operand(arg, TRUTH)
            case ir.Select():
                self.operand(op.condition, TRUTH)
                self.alike(op.then, op.otherwise)
            case ir.Reduce():
                self.reduce(op)
            case ir.Chase():
                self.chase(op)
            case ir.Reach():
                self.reach(op)
            case ir.Roots():
                self.operand(op.following, NODE_VALUE)
                self.axis(op.at, NODE_VALUE)
            case ir.At():
                self.operand(op.node, NODE_VALUE)
            case ir.Call():
                self.call(op)
            case ir.Tallied():
                known = 0 <= op.number < len(self.program.tallies)
                self.that(known, "reads no tally")
                value = self.program.tallies[op.number].value
                self.that(op.bound == self.program.infos[value].bound, "forgot what it counted")
            case ir.Kept():
                self.kept(op)
            case _:
                assert_never(op)

    def rows(self, op: Op) -> None:
        """Only one entry of a row can be used, and nothing else has entries."""
        for ref in ir.operands(op):
            entry = isinstance(op, ir.At) and ref == op.row
            self.that(ir.is_row(self.build.ops[ref]) == entry, "takes a row for a value")

    def axis(self, name: str, kind: Value) -> None:
        self.that(self.axes.setdefault(name, kind) is kind, f"gives {name} another kind")

    def way(self, direction: str) -> None:
        self.that((direction != "both") == self.directed, "goes a way that the graph has not")

    def alike(self, left: Ref, right: Ref) -> None:
        one, other = self.info(left).kind, self.info(right).kind
        fits = one is other or (one in _NUMBERS and other in _NUMBERS)
        self.that(fits, f"mixes a {ir.KIND_NAMES[one]} and a {ir.KIND_NAMES[other]}")

    def read(self, op: ir.Read) -> None:
        feature = self.build.features.get(op.feature)
        self.that(feature is not None, "reads no feature")
        assert feature is not None
        self.that(feature.stage is not DERIVED, "reads a derived feature, which has no cells")
        self.that(feature.type is not MASK_ONE, "reads a mark as a table")
        wanted = 2 if feature.type.apart else feature.width
        self.that(len(op.index) == wanted, "has too many indices or too few")
        for ref in op.index:
            self.operand(ref, NODE_VALUE)

    def unary(self, op: ir.Unary) -> None:
        if op.op == "not":
            self.operand(op.operand, TRUTH)
        else:
            self.operator(op.op, op.operand)

    def operator(self, name: str, *refs: Ref) -> None:
        fits = name in OPERATORS and OPERATORS[name].arity == len(refs)
        self.that(fits, f"is no operator on so many numbers: {name}")
        for ref in refs:
            self.operand(ref, *_NUMBERS)

    def compare(self, op: ir.Compare) -> None:
        self.that(op.op in COMPARISONS, f"is no comparison: {op.op}")
        self.alike(op.left, op.right)
        if COMPARISONS[op.op].ordered:
            self.operand(op.left, *_NUMBERS)
            self.operand(op.right, *_NUMBERS)

    def reduce(self, op: ir.Reduce) -> None:
        own = self.domains(op)
        self.operand(op.where, TRUTH)
        self.that((op.body is None) == (op.op == "count"), "has a body too many or too few")
        self.operand(op.body, *((TRUTH,) if op.op in ("exists", "forall") else _NUMBERS))
        if op.op in ("argmin", "argmax"):
            single = len(own) == 1 and op.domains[0].kind != "range"
            self.that(single, "chooses among more than nodes")

    def reach(self, op: ir.Reach) -> None:
        own = self.domains(op)
        self.operand(op.where, TRUTH)
        ranges = any(domain.kind == "range" for domain in op.domains)
        self.that(len(own) <= 2 and not ranges, "is no part of a graph")
        self.that((op.source is not None) == (op.op == "distance"), "starts nowhere")
        self.operand(op.source, NODE_VALUE)
        self.that(not op.reverse or op.source is not None, "turns round for nothing")
        ends = frozenset() if op.source is None else self.info(op.source).axes
        self.that(ends.isdisjoint(own), "starts on its own axis")

    def domains(self, op: ir.Reduce | ir.Reach) -> list[str]:
        """The axes that it binds, each once."""
        self.that(bool(op.domains), "ranges over nothing")
        later = ir.own_axes(op)
        for domain in op.domains:
            width = 2 if domain.kind == "edges" else 1
            self.that(len(set(domain.axes)) == width, "has a domain with other axes")
            self.that((domain.node is not None) == (domain.kind == "near"), "lacks a node")
            self.operand(domain.node, NODE_VALUE)
            if domain.node is not None:
                self.way(domain.direction)
                early = not self.info(domain.node).axes & later
                self.that(early, "has a domain that depends on what it binds")
            later -= set(domain.axes)
            for axis in domain.axes:
                self.axis(axis, NUMBER if domain.kind == "range" else NODE_VALUE)
        own = [axis for domain in op.domains for axis in domain.axes]
        self.that(len(set(own)) == len(own), "binds an axis twice")
        return own

    def chase(self, op: ir.Chase) -> None:
        for ref in (op.following, op.start, op.target):
            self.operand(ref, NODE_VALUE)
        self.operand(op.cost, *_NUMBERS)
        self.that((op.cost is not None) == (op.op == "path_cost"), "has a cost it does not add")
        self.that(op.target is None or op.op != "on_cycle", "has a target it does not look for")
        self.axis(op.at, NODE_VALUE)
        ends = [self.info(ref).axes for ref in (op.start, op.target) if ref is not None]
        self.that(not any(op.at in axes for axes in ends), "starts on its own axis")

    def call(self, op: ir.Call) -> None:
        signature = op.signature
        self.that(signature.place is GRAPH, "is one value of many")
        self.that(len(op.args) == len(signature.args), "has too many arguments or too few")
        for arg, kind in zip(op.args, signature.args, strict=True):
            if isinstance(arg, str):
                named = arg in signature.choices if kind is CHOICE else arg in self.build.features
                self.that(named, f"is given {arg}")
            else:
                self.operand(arg, *_kinds_given(kind))
        whole = [
            kind.places[0].width
            for arg, kind in zip(op.args, signature.args, strict=True)
            if kind.type is not None and not isinstance(arg, str)
        ]
        axes = [axis for axis in (op.at, op.beside) if axis is not None]
        self.that(len(axes) == max(whole, default=0), "lacks an axis")

    def kept(self, op: ir.Kept) -> None:
        self.that(0 <= op.number < len(self.program.kept), "keeps nothing")
        code = self.program.kept[op.number]
        known = self.program.infos[code.value]
        self.that((op.kind, op.bound) == (known.kind, known.bound), "forgot what it kept")
        self.that((op.node is None) == (code.axis is None), "is indexed unlike its table")
        self.that(op.live == bool(code.follows), "is not as live as its table")
        self.operand(op.node, NODE_VALUE)


# Whole programs


@dataclass
class _Seen:
    """The version that reads must name, per feature; None after a write, until one is read."""

    current: dict[str, int | None] = field(default_factory=dict)
    latest: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    def read(self, name: str, version: int) -> None:
        known = self.current.get(name, 0)
        if known is None:
            _require(version > self.latest.get(name, 0), f"`{name}` is read as before a write")
        else:
            _require(version == known, f"`{name}` is read as of another write")
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
            for ref, around in _scoped_operands(op):
                _require(0 <= ref < number, f"%{number} reads a later value")
                _require(not around & result[ref], f"%{number} binds an axis twice")
                total |= result[ref]
            result.append(total)
        return result

    # Whole programs

    def everything_is_used(self) -> None:
        used = reachable(self.program, roots(self.program))
        unused = sorted(set(range(len(self.program.ops))) - used)
        _require(not unused, f"nothing uses the values {unused}")

    def root(
        self,
        ref: Ref,
        kinds: tuple[Value, ...],
        what: str,
        axes: Iterable[str] = (),
        label: bool = False,
        seen: _Seen | None = None,
        optional: bool = False,
    ) -> None:
        """A value that the program names: its kind, its axes, and what it may read."""
        _require(0 <= ref < len(self.program.ops), f"{what} names a value that is not there")
        info, bound = self.program.infos[ref], frozenset(axes)
        _require(not ir.is_row(self.program.ops[ref]), f"{what} is a row")
        _require(info.kind in kinds, f"{what} is a {ir.KIND_NAMES[info.kind]}")
        _require(optional or not info.optional, f"{what} may be unset")
        self.axes(ref, bound, what)
        parts = sorted(reachable(self.program, [ref]))
        _require(label or not any(map(self.reads_label, parts)), f"{what} reads an oracle")
        self.versions(parts, what, seen or _Seen())

    def axes(self, ref: Ref, bound: frozenset[str], what: str) -> None:
        free = self.program.infos[ref].axes
        _require(free <= bound, f"{what} depends on {sorted(free - bound)}")
        _require(not self.bound_below[ref] & bound, f"{what} binds an axis twice")

    def versions(self, parts: list[Ref], what: str, seen: _Seen) -> None:
        for part in parts:
            for name, version in _versions_read(self.program.ops[part], self.stored):
                seen.read(name, version)
                _require(name in self.stored or name == _GRAPH, f"{what} reads no feature")

    def reads_label(self, ref: Ref) -> bool:
        op = self.program.ops[ref]
        if isinstance(op, ir.Kept):
            code = self.program.kept[op.number]
            return any(map(self.reads_label, reachable(self.program, [code.value])))
        if isinstance(op, ir.Tallied):
            tally = self.program.tallies[op.number]
            return any(map(self.reads_label, reachable(self.program, [tally.value])))
        if isinstance(op, ir.Call):
            named = [arg for arg in op.args if isinstance(arg, str) and arg in self.stored]
            hidden = any(self.stored[name].stage is ORACLE for name in named)
            return op.signature.oracle or hidden
        return isinstance(op, ir.Read | ir.Marked) and self.stored[op.feature].stage is ORACLE

    # Parts

    def views(self) -> None:
        """Windows are over a node, messages over two; neither may read an oracle."""
        for width, what, views in (
            (1, "the window", self.program.windows),
            (2, "a message", self.program.messages),
        ):
            for view in views:
                _require(len(set(view.axes)) == width, f"{what} has other axes")
                _require(abs(view.sign) == 1 and view.count >= 0, f"{what} counts wrongly")
                _require((view.key is None) == (view.count == 0), f"{what} has no such first")
                if view.where is not None:
                    self.root(view.where, (TRUTH,), what, view.axes)
                if view.key is not None:
                    self.root(view.key, _NUMBERS, what, view.axes)

    def kept_values(self) -> None:
        for number, code in enumerate(self.program.kept):
            _require(code.number == number, "kept values are out of order")
            axes = () if code.axis is None else (code.axis,)
            self.root(code.value, (NUMBER, TRUTH), f"kept{number}", axes, label=True)
            when = self.program.infos[code.value].when
            known = (when == "state") == bool(code.follows)
            _require(known, f"kept{number} is not known at reset")
            parts = [self.program.ops[ref] for ref in reachable(self.program, [code.value])]
            chain = self.program.chain_of(code)
            inner = [op.number for op in parts if isinstance(op, ir.Kept)]
            early = all(it < number and not self.spreads(it) for it in inner)
            alone = chain is None and not code.near
            _require(not inner if alone else early, f"kept{number} is made of kept values")
            if chain is not None:
                self.chain(code, chain)
            elif code.near:
                self.near(code, parts)
            elif code.follows:
                self.follows(code, parts)

    def spreads(self, number: int) -> bool:
        return self.program.spreads(self.program.kept[number])

    def near(self, code: ir.KeptCode, parts: list[ir.Op]) -> None:
        """It reads the state at its node, and what it follows nearby at neighbours of its node."""
        what, own = f"kept{code.number}", ir.Axis(code.axis or "", NODE_VALUE)
        _require(set(code.near) <= set(code.follows), f"{what} is near what it does not follow")
        _require(not self.program.mutable, f"{what} reads a graph that changes")
        elsewhere = tuple(kind for kind in _ELSEWHERE if kind is not ir.Reduce)
        _require(not any(isinstance(op, elsewhere) for op in parts), f"{what} reads other nodes")
        for op in parts:
            if isinstance(op, ir.Reduce):
                nodes = [None if d.node is None else self.program.ops[d.node] for d in op.domains]
                _require(nodes == [own], f"{what} goes further than to neighbours")
            if isinstance(op, ir.Kept):
                node, names = op.node, self.program.kept[op.number].follows
            elif isinstance(op, ir.Read) and self.stored[op.feature].stage.written:
                _require(len(op.index) == 1, f"{what} reads other nodes")
                node, names = op.index[0], (op.feature,)
            else:
                continue
            if node is not None:
                at = self.program.ops[node]
                followed = code.follows if at == own else code.near
                _require(isinstance(at, ir.Axis), f"{what} reads other nodes")
                _require(set(names) <= set(followed), f"{what} does not follow {names}")

    def chain(self, code: ir.KeptCode, op: ir.Chase) -> None:
        """It starts at the node of the table; its steps read the state at their nodes only."""
        what = f"kept{code.number}"
        here, at = ir.Axis(code.axis or "", NODE_VALUE), ir.Axis(op.at, NODE_VALUE)
        _require(self.program.ops[op.start] == here, f"{what} starts elsewhere")
        steady = op.target is None or self.program.infos[op.target].when != "state"
        _require(steady and op.op != "on_cycle", f"{what} ends at a node that moves")
        pointer = self.program.ops[op.following]
        moved = isinstance(pointer, ir.Read) and self.stored[pointer.feature].stage.written
        _require(moved, f"{what} goes along no pointer of the state")
        refs = [ref for ref in (op.following, op.cost) if ref is not None]
        for ref in reachable(self.program, refs):
            part = self.program.ops[ref]
            if isinstance(part, ir.Read) and self.stored[part.feature].stage.written:
                nodes = [self.program.ops[node] for node in part.index]
                _require(nodes == [at], f"{what} reads other nodes")
                _require(part.feature in code.follows, f"{what} does not follow `{part.feature}`")
            elif isinstance(part, ir.Kept):
                known = part.node is None or self.program.ops[part.node] == at
                _require(known, f"{what} reads other nodes")
                follows = set(self.program.kept[part.number].follows)
                _require(follows <= set(code.follows), f"{what} does not follow {sorted(follows)}")
            else:
                _require(not isinstance(part, _ELSEWHERE), f"{what} reads other nodes")

    def follows(self, code: ir.KeptCode, parts: list[ir.Op]) -> None:
        """A live table reads the state at its own node only, and follows all it reads."""
        what = f"kept{code.number}"
        _require(not any(isinstance(op, _ELSEWHERE) for op in parts), f"{what} reads other nodes")
        graph = (ir.HasEdge, ir.Degree, ir.Edges)
        changes = self.program.mutable and any(isinstance(op, graph) for op in parts)
        _require(not changes, f"{what} reads a graph that changes")
        own = ir.Axis(code.axis or "", NODE_VALUE)
        for op in parts:
            if isinstance(op, ir.Read | ir.Marked) and self.stored[op.feature].stage.written:
                here = isinstance(op, ir.Read) and [self.program.ops[r] for r in op.index] == [own]
                _require(here, f"{what} reads other nodes")
                _require(op.feature in code.follows, f"{what} does not follow `{op.feature}`")

    def tallies(self) -> None:
        """Counts and sums over nodes or edges with a share for every cell that they read."""
        for number, code in enumerate(self.program.tallies):
            what = f"tally{number}"
            _require(code.number == number, "tallies are out of order")
            self.root(code.value, (NUMBER,), what, label=True)
            op = self.program.ops[code.value]
            _require(isinstance(op, ir.Reduce) and op.op in ("count", "sum"), f"{what} is no tally")
            assert isinstance(op, ir.Reduce)
            places = [domain.kind for domain in op.domains]
            _require(places in (["nodes"], ["edges"]), f"{what} is over more than nodes or edges")
            read = self.cells_of(op, what)
            followed = [share.cells for share in code.shares]
            _require(len(set(followed)) == len(followed), f"{what} follows something twice")
            _require(read == set(followed), f"{what} follows {followed} instead of {read}")
            for share in code.shares:
                name = share.cells
                edges = isinstance(name, str) and self.stored[name].place is EDGE
                width = 2 if edges else 1
                axes = (ir.OWN, ir.OTHER)[:width]
                _require(share.axes == axes, f"{what} has a share of other nodes")
                self.root(share.value, (NUMBER,), what, share.axes, label=True)

    def changing(self, number: int) -> set[ir.Written]:
        """The writes that change a table where they fall: of a table of chains its own."""
        return {number} if self.spreads(number) else set(self.program.kept[number].follows)

    def cells_of(self, op: ir.Reduce, what: str) -> set[ir.Written]:
        """What of the state a tally reads, at the nodes that it ranges over."""
        axes = [axis for domain in op.domains for axis in domain.axes]
        refs = [ref for ref in (op.where, op.body) if ref is not None]
        found: set[ir.Written] = set()
        for ref in reachable(self.program, refs):
            part = self.program.ops[ref]
            if self.program.infos[ref].when != "state":
                continue
            whole = isinstance(part, (*_ELSEWHERE, ir.Tallied))
            _require(not whole, f"{what} reads more than its cells")
            if isinstance(part, ir.Kept):
                _require(part.node is not None, f"{what} reads more than its cells")
                found |= self.changing(part.number)
            if isinstance(part, ir.Read | ir.Marked) and self.stored[part.feature].stage.written:
                index = part.index if isinstance(part, ir.Read) else ()
                nodes = [self.program.ops[node] for node in index]
                here = all(isinstance(node, ir.Axis) and node.name in axes for node in nodes)
                _require(bool(nodes) and here, f"{what} reads other cells")
                found.add(part.feature)
        graph = (ir.HasEdge, ir.Degree, ir.Edges)
        looks = op.domains[0].kind == "edges" or any(
            isinstance(self.program.ops[ref], graph) for ref in reachable(self.program, refs)
        )
        _require(not (looks and self.program.mutable), f"{what} reads a graph that changes")
        return found

    def mask(self, phase: ir.PhaseCode) -> None:
        """A mask that writes keep is the only phase's, and reads its own node or fixed ones."""
        mask, what = phase.mask, f"the mask of {phase.name}"
        if mask is None:
            return
        alone = len(self.program.phases) == 1 and not self.program.may_skip
        _require(alone, f"{what} is kept beside another")
        self.root(mask.value, (TRUTH,), what, (ir.OWN,))
        own = ir.Axis(ir.OWN, NODE_VALUE)
        for ref in reachable(self.program, [mask.value]):
            op = self.program.ops[ref]
            if isinstance(op, ir.Kept) and op.live:
                follows = self.changing(op.number)
                _require(follows <= set(mask.follows), f"{what} does not follow {follows}")
            if isinstance(op, ir.Read) and self.stored[op.feature].stage.written:
                nodes = [self.program.ops[node] for node in op.index]
                turned = (op.feature, op.index[0]) in mask.turns
                _require(nodes == [own] or turned, f"{what} reads other nodes")
                _require(op.feature in mask.follows, f"{what} does not follow `{op.feature}`")
        for _, node in mask.turns:
            self.root(node, (NODE_VALUE,), what)
            _require(self.program.infos[node].when != "state", f"{what} turns at nodes that move")

    def features(self) -> None:
        for computed, entries in ((False, self.program.initial), (True, self.program.derived)):
            for cells in entries:
                feature = self.feature(cells.feature, computed)
                width = feature.width
                _require(len(cells.axes) == width, f"`{feature.name}` has other positions")
                _require(len(set(cells.axes)) == width, f"`{feature.name}` repeats an axis")
                kinds, what = _STORED[feature.type.value], f"`{feature.name}`"
                self.root(cells.value, kinds, what, cells.axes, optional=feature.unset)
                early = computed or self.program.infos[cells.value].when != "state"
                mutable = self.problem.graph.mutable
                _require(early or mutable, f"`{feature.name}` starts from the state")

    def feature(self, name: str, computed: bool = False) -> Feature:
        """One that updates write, or that a formula computes."""
        feature = self.stored.get(name)
        fits = feature is not None and (
            feature.stage.computed if computed else feature.stage.written
        )
        _require(fits, f"`{name}` is no {'derived' if computed else 'state'} feature")
        assert feature is not None
        return feature

    def clauses(self) -> None:
        program = self.program
        numbers = _NUMBERS
        self.root(program.horizon, numbers, "horizon")
        if program.limit is not None:
            self.root(program.limit, numbers, "limit", label=True)
        for clause in ("terminate", "correct", "valid"):
            ref = getattr(program, clause)
            if ref is not None:
                self.root(ref, (TRUTH,), clause, label=clause != "valid")
        if program.stop is not None and program.stop.when is not None:
            self.root(program.stop.when, (TRUTH,), "may stop")
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
                _require(expert.greedy in goals, f"{what} wants an objective that is not there")
                continue
            _require(len(expert.rules) == len(self.program.phases), f"{what} lacks a rule")
            for number, rule in enumerate(expert.rules):
                for choice in rule:
                    self.choice(choice, number, what)

    def choice(self, choice: ir.Choice, number: int, what: str) -> None:
        if choice.where is not None:
            self.root(choice.where, (TRUTH,), what, (PICK,), label=True)
            self.picks([choice.where], number, what)
        for sign, key in choice.keys:
            _require(sign in (1, -1), f"{what} has a key without a sign")
            self.root(key, _NUMBERS, what, (PICK,), label=True)
            self.picks([key], number, what)

    # Phases

    def phase(self, number: int, phase: ir.PhaseCode) -> None:
        if phase.when is not None:
            self.root(phase.when, (TRUTH,), f"when of {phase.name}")
            self.picks([phase.when], number, f"when of {phase.name}")
        if phase.allow is not None:
            self.root(phase.allow, (TRUTH,), f"allow of {phase.name}", (PICK,))
            self.picks([phase.allow], number, f"allow of {phase.name}")
        self.mask(phase)
        what = f"the update of {phase.name}"
        named = list(_named_values(phase.update))
        self.picks(named, number, what)
        self.no_live_tables(named, what)
        self.block(phase.update, what, frozenset({PICK}), _Seen(), frozenset(), None)

    def picks(self, refs: list[Ref], number: int, what: str) -> None:
        for ref in reachable(self.program, refs):
            op = self.program.ops[ref]
            later = isinstance(op, ir.Pick) and op.phase >= number
            _require(not later, f"{what} reads a pick that has not happened")

    def no_live_tables(self, refs: list[Ref], what: str) -> None:
        """Tables follow whole updates; between the writes of one they are out of date."""
        ops = (self.program.ops[ref] for ref in reachable(self.program, refs))
        live = any(
            isinstance(op, ir.Tallied) or (isinstance(op, ir.Kept) and op.live) for op in ops
        )
        _require(not live, f"{what} reads a table that it changes")

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

        def value(ref: Ref, *kinds: Value, optional: bool = False) -> None:
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
                    feature = self.feature(statement.feature)
                    width = feature.width
                    _require(
                        len(statement.index) == width, f"{what} indexes `{feature.name}` badly"
                    )
                    for ref in statement.index:
                        value(ref, NODE_VALUE)
                    value(statement.value, *_STORED[feature.type.value])
                    wrote(feature.name)
                case ir.StoreEdge():
                    _require(self.program.mutable, f"{what} changes a graph that is not mutable")
                    value(statement.source, NODE_VALUE)
                    value(statement.target, NODE_VALUE)
                    value(statement.value, TRUTH)
                    wrote(_GRAPH)
                case ir.Bind():
                    value(statement.value, optional=True)
                    _require(statement.name not in lets, f"{what} binds {statement.name} twice")
                    lets |= {statement.name}
                case ir.Branch():
                    value(statement.condition, TRUTH)
                    self.branch(statement, what, axes, seen, lets, delayed)
                case ir.Loop():
                    _require(delayed is None, f"{what} has a loop in a loop")
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
        _require(bool(statement.then or statement.otherwise), f"{what} has an empty branch")
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
                self.root(domain.node, (NODE_VALUE,), what, inner, seen=seen)
                self.locals(domain.node, lets, what)
            if domain.kind in ("edges", "near"):
                seen.read(_GRAPH, domain.version)
            _require(not inner & set(domain.axes), f"{what} binds an axis twice")
            inner |= set(domain.axes)
        if loop.where is not None:
            self.root(loop.where, (TRUTH,), what, inner, seen=seen)
            self.locals(loop.where, lets, what)
        delayed: set[str] = set()
        self.block(loop.body, what, inner, seen, lets, delayed)
        _require(bool(delayed), f"{what} has a loop that writes nothing")
        seen.wrote(delayed)

    def locals(self, ref: Ref, lets: frozenset[str], what: str) -> None:
        for part in reachable(self.program, [ref]):
            op = self.program.ops[part]
            unknown = isinstance(op, ir.Local) and op.name not in lets
            _require(not unknown, f"{what} reads a let that is not bound")


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
