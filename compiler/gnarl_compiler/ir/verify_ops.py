"""The table of an IR program in, nothing or an InternalError out: one entry at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.builder import Builder
from gnarl_compiler.ir.ops import Info, Op, Program, Ref
from gnarl_dsl.language.builtins import FUNCTIONS, PLACES
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.report.diagnostics import InternalError

GRAPH = ""  # where versions name features, this is the graph
NUMBERS = ("number", "category")  # the categories of categorical(k) are numbers


def require(holds: bool, what: str) -> None:
    if not holds:
        raise InternalError(f"the compiler made an illegal program: {what}")


def versions_read(op: Op, features: Mapping[str, Feature]) -> Iterator[tuple[str, int]]:
    """What an operation reads itself, and as of which write."""
    match op:
        case ir.Read() | ir.Marked():
            yield op.feature, op.version
        case ir.Edges() | ir.HasEdge() | ir.Degree():
            yield GRAPH, op.version
        case ir.Reduce():
            for domain in op.domains:
                if domain.kind in ("edges", "near"):
                    yield GRAPH, domain.version
        case ir.Call():
            names = [arg for arg in op.args if isinstance(arg, str) and arg in features]
            yield from zip([*names, GRAPH], op.versions, strict=True)
        case _:
            pass


def scoped_operands(op: Op) -> Iterator[tuple[Ref, frozenset[str]]]:
    """The operands, each with the axes that the operation binds around it."""
    match op:
        case ir.Reduce():
            around: frozenset[str] = frozenset()
            for domain in op.domains:
                if domain.node is not None:
                    yield domain.node, around
                around |= set(domain.axes)
            yield from ((ref, around) for ref in (op.where, op.body) if ref is not None)
        case ir.Chase():
            own = ir.own_axes(op)
            yield from ((ref, own) for ref in (op.following, op.cost) if ref is not None)
            yield from ((ref, frozenset()) for ref in (op.start, op.target) if ref is not None)
        case _:
            yield from ((ref, ir.own_axes(op)) for ref in ir.operands(op))


class OpVerifier:
    """Checks that every entry fits its operands, and that what is recorded of it is true."""

    def __init__(self, program: Program, problem: Problem) -> None:
        self.program = program
        self.directed = problem.graph.directed
        self.build = Builder(problem)
        self.axes: dict[str, str] = {}

    def run(self) -> None:
        program = self.program
        require(len(program.ops) == len(program.infos), "the tables differ in length")
        require(len(set(program.ops)) == len(program.ops), "an operation stands twice")
        for number, (op, info) in enumerate(zip(program.ops, program.infos, strict=True)):
            self.number = number
            for ref in ir.operands(op):
                require(0 <= ref < number, f"%{number} reads a later value")
            self.op(op)
            known = self.build.info_of(op)
            require(known == info, f"%{number} is {known}, not {info}")
            self.build.ops.append(op)
            self.build.infos.append(info)

    def info(self, ref: Ref) -> Info:
        return self.build.infos[ref]

    def that(self, holds: bool, what: str) -> None:
        require(holds, f"%{self.number} {what}")

    def operand(self, ref: Ref | None, *kinds: str, optional: bool = False) -> None:
        if ref is not None:
            info = self.info(ref)
            self.that(info.kind in kinds, f"has a {info.kind} where {' or '.join(kinds)} belongs")
            self.that(optional or not info.optional, "uses a node that may be unset")

    def op(self, op: Op) -> None:
        match op:
            case ir.Const():
                self.that((op.kind == "truth") == isinstance(op.value, bool), "is a mixed constant")
                self.that(not math.isnan(op.value), "is not a number")
            case ir.Axis():
                self.axis(op.name, op.kind)
            case ir.Local() | ir.Nodes() | ir.Edges():
                pass
            case ir.Pick() | ir.Last():
                self.that(0 <= op.phase < len(self.program.phases), "names no phase")
            case ir.Read():
                self.read(op)
            case ir.Marked():
                feature = self.build.features.get(op.feature)
                self.that(feature is not None and feature.type == "mask_one", "reads no mark")
                self.that(feature is None or feature.stage != "derived", "reads a derived mark")
            case ir.HasEdge():
                self.operand(op.source, "node")
                self.operand(op.target, "node")
            case ir.Degree():
                self.operand(op.node, "node")
                self.way(op.direction)
            case ir.Otherwise():
                self.operand(op.value, "node", optional=True)
                self.operand(op.default, "node", optional=True)
                self.that(self.info(op.value).optional, "replaces a node that is never unset")
            case ir.Unary():
                self.operand(op.operand, *(("truth",) if op.op == "not" else NUMBERS))
            case ir.Binary():
                self.operand(op.left, *NUMBERS)
                self.operand(op.right, *NUMBERS)
            case ir.Compare():
                self.compare(op)
            case ir.Logic():
                self.that(len(op.args) > 1, "joins nothing")
                for arg in op.args:
                    self.operand(arg, "truth")
            case ir.Select():
                self.operand(op.condition, "truth")
                self.alike(op.then, op.otherwise)
            case ir.Reduce():
                self.reduce(op)
            case ir.Chase():
                self.chase(op)
            case ir.Call():
                self.call(op)
            case ir.Kept():
                self.kept(op)
            case _:
                assert_never(op)

    def axis(self, name: str, kind: str) -> None:
        self.that(self.axes.setdefault(name, kind) == kind, f"gives {name} another kind")

    def way(self, direction: str) -> None:
        self.that((direction != "both") == self.directed, "goes a way that the graph has not")

    def alike(self, left: Ref, right: Ref) -> None:
        one, other = self.info(left).kind, self.info(right).kind
        fits = one == other or (one in NUMBERS and other in NUMBERS)
        self.that(fits, f"mixes a {one} and a {other}")

    def read(self, op: ir.Read) -> None:
        feature = self.build.features.get(op.feature)
        self.that(feature is not None, "reads no feature")
        assert feature is not None
        self.that(feature.stage != "derived", "reads a derived feature, which has no cells")
        self.that(feature.type != "mask_one", "reads a mark as a table")
        self.that(len(op.index) == PLACES[feature.place], "has too many indices or too few")
        for ref in op.index:
            self.operand(ref, "node")

    def compare(self, op: ir.Compare) -> None:
        self.alike(op.left, op.right)
        if op.op not in ("==", "!="):
            self.operand(op.left, *NUMBERS)
            self.operand(op.right, *NUMBERS)

    def reduce(self, op: ir.Reduce) -> None:
        self.that(bool(op.domains), "ranges over nothing")
        later = ir.own_axes(op)
        for domain in op.domains:
            width = 2 if domain.kind == "edges" else 1
            self.that(len(set(domain.axes)) == width, "has a domain with other axes")
            self.that((domain.node is not None) == (domain.kind == "near"), "lacks a node")
            self.operand(domain.node, "node")
            if domain.node is not None:
                self.way(domain.direction)
                early = not self.info(domain.node).axes & later
                self.that(early, "has a domain that depends on what it binds")
            later -= set(domain.axes)
            for axis in domain.axes:
                self.axis(axis, "number" if domain.kind == "range" else "node")
        own = [axis for domain in op.domains for axis in domain.axes]
        self.that(len(set(own)) == len(own), "binds an axis twice")
        self.operand(op.where, "truth")
        self.that((op.body is None) == (op.op == "count"), "has a body too many or too few")
        self.operand(op.body, *(("truth",) if op.op in ("exists", "forall") else NUMBERS))
        if op.op in ("argmin", "argmax"):
            single = len(own) == 1 and op.domains[0].kind != "range"
            self.that(single, "chooses among more than nodes")

    def chase(self, op: ir.Chase) -> None:
        for ref in (op.following, op.start, op.target):
            self.operand(ref, "node")
        self.operand(op.cost, *NUMBERS)
        self.that((op.cost is not None) == (op.op == "path_cost"), "has a cost it does not add")
        self.that(op.target is None or op.op != "on_cycle", "has a target it does not look for")
        self.axis(op.at, "node")
        ends = [self.info(ref).axes for ref in (op.start, op.target) if ref is not None]
        self.that(not any(op.at in axes for axes in ends), "starts on its own axis")

    def call(self, op: ir.Call) -> None:
        signature = FUNCTIONS.get(op.function)
        self.that(signature is not None, "calls no function")
        assert signature is not None
        self.that(signature.place == "graph", "is one value of many")
        self.that(len(op.args) == len(signature.args), "has too many arguments or too few")
        for arg, kind in zip(op.args, signature.args, strict=True):
            if isinstance(arg, str):
                named = arg in signature.choices if kind == "choice" else arg in self.build.features
                self.that(named, f"is given {arg}")
            else:
                self.operand(arg, *(("node",) if kind in ("node", "pointer") else NUMBERS))
        self.that((op.at is not None) == ("pointer" in signature.args), "lacks an axis")

    def kept(self, op: ir.Kept) -> None:
        self.that(0 <= op.number < len(self.program.kept), "keeps nothing")
        code = self.program.kept[op.number]
        known = self.program.infos[code.value]
        self.that((op.kind, op.bound) == (known.kind, known.bound), "forgot what it kept")
        self.that((op.node is None) == (code.axis is None), "is indexed unlike its table")
        self.that(op.live == bool(code.follows), "is not as live as its table")
        self.operand(op.node, "node")
