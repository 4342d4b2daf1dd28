"""IR operations in, lines of Python that compute them for one slot out.

A function under construction keeps, per open block, the names of values that are computed
already. The parts of `and`, `or` and `if` are computed only where they are needed. Names that
contain a name of the spec start with a letter and `_`, all others do not: none can collide.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref, Unsupported
from gnarl_dsl.model import Feature, Problem

__all__ = ["FunctionWriter", "Unsupported", "array_name", "axis_name", "formula_sizes"]

_PREFIX = {"input": "i", "state": "s", "derived": "d", "oracle": "o"}
_CHECKED = {"+": "plus", "-": "minus", "*": "times"}
_LONG_TEXT = 100
_LARGE_FORMULA = 300  # operations, with what is shared counted each time
_MOST_LEVELS = 80  # Python takes 100


def array_name(feature: Feature) -> str:
    """The name of a feature's array: its stage's letter and its own name."""
    return f"{_PREFIX[feature.stage]}_{feature.name}"


def axis_name(axis: str) -> str:
    """The variable of an axis; the pick is a parameter."""
    return axis if axis == PICK else f"v_{axis}"


@dataclass
class Part:
    """Lines that were written aside, with the value they lead to."""

    text: str
    lines: list[str] = field(default_factory=list)
    known: dict[Ref, str] = field(default_factory=dict)


class FunctionWriter(ABC):
    """Lines of one generated function, and the arrays it needs."""

    def __init__(
        self, program: ir.Program, problem: Problem, sizes: Sequence[int], axes: Sequence[str]
    ) -> None:
        self.program = program
        self.sizes = sizes
        self.features = {feature.name: feature for feature in problem.features}
        self.is_complete = problem.graph.complete and not problem.graph.directed
        self.lines: list[str] = []
        self.arrays: set[str] = set()
        self.level = 1
        self._axes = [frozenset(axes)]
        self._known: list[dict[Ref, str]] = [{}]
        self._memos: list[dict[Ref, str]] = [{}]
        self._count = 0

    # Lines and blocks

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    @contextmanager
    def block(
        self, head: str, axes: Sequence[str] = (), known: dict[Ref, str] | None = None
    ) -> Iterator[None]:
        """An indented block; what is computed inside is forgotten behind it."""
        self.line(head)
        with self.inside(axes, known):
            yield

    @contextmanager
    def inside(
        self, axes: Sequence[str] = (), known: dict[Ref, str] | None = None
    ) -> Iterator[None]:
        if self.level == _MOST_LEVELS:
            raise Unsupported("formulas nested too deeply")
        self.level += 1
        with self.scope(axes, known):
            yield
        self.level -= 1

    @contextmanager
    def scope(
        self, axes: Sequence[str] = (), known: dict[Ref, str] | None = None
    ) -> Iterator[None]:
        """Values that are known, and axes that are bound, until it ends."""
        self._known.append({} if known is None else known)
        self._memos.append({})
        self._axes.append(self._axes[-1].union(axes))
        yield
        self._axes.pop()
        self._memos.pop()
        self._known.pop()

    def aside(self, ref: Ref) -> Part:
        """A value one level further in, without writing its lines yet."""
        written, self.lines = self.lines, []
        part = Part("")
        with self.inside(known=part.known):
            part.text = self.value(ref)
        part.lines, self.lines = self.lines, written
        return part

    def fresh(self, stem: str = "tmp") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def use(self, array: str) -> str:
        self.arrays.add(array)
        return array

    def feature(self, name: str) -> str:
        return self.use(array_name(self.features[name]))

    def bound_axes(self) -> frozenset[str]:
        return self._axes[-1]

    def forget_state(self) -> None:
        """After a write, only what was known at reset still holds."""
        for known in (*self._known, *self._memos):
            for ref in [r for r in known if self.program.infos[r].when == "state"]:
                del known[ref]

    # Values

    def value(self, ref: Ref) -> str:
        """A Python expression for an operation; loops go to lines above it."""
        known = self.known(ref)
        if known is not None:
            return known
        text = self._text(ref)
        return self.keep(ref, text) if len(text) > _LONG_TEXT else text

    def known(self, ref: Ref) -> str | None:
        return next((known[ref] for known in reversed(self._known) if ref in known), None)

    def keep(self, ref: Ref, text: str) -> str:
        """Give a value a name in the current block."""
        name = self.named(text)
        self._known[-1][ref] = name
        return name

    def named(self, text: str) -> str:
        if text.isidentifier():
            return text
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def number(self, ref: Ref) -> str:
        """The value as a float: the numbers of categories are stored as integers."""
        text = self.value(ref)
        return f"float({text})" if self.program.infos[ref].kind == "category" else text

    def _text(self, ref: Ref) -> str:
        op = self.program.ops[ref]
        match op:
            case ir.Const():
                return _constant(op)
            case ir.Axis():
                name = axis_name(op.name)
                return name if op.kind == "node" else f"float({name})"
            case ir.Local():
                return f"l_{op.name}"
            case ir.Pick() | ir.Last():
                return f"{self.use('last')}[b, {op.phase}]"
            case ir.Read():
                return self._read(op)
            case ir.Marked():
                return f"{self.feature(op.feature)}[b]"
            case ir.Nodes() | ir.Edges():
                return f"float({self.use('n' if isinstance(op, ir.Nodes) else 'm')}[b])"
            case ir.HasEdge():
                u, v = self.value(op.source), self.value(op.target)
                return f"joined({self.use('adjacency')}, b, {u}, {v})"
            case ir.Degree():
                return self._degree(op)
            case ir.Otherwise():
                value = self.keep(op.value, self.value(op.value))
                return f"({value} if {value} >= 0 else {self.value(op.default)})"
            case ir.Unary():
                return self._unary(op)
            case ir.Binary():
                return self._binary(op)
            case ir.Compare():
                return self._compare(op)
            case ir.Logic():
                return self._logic(op)
            case ir.Select():
                return self._select(ref, op)
            case ir.Reduce():
                return self.keep(ref, self.reduce(op))
            case ir.Chase():
                return self.keep(ref, self.chase(ref, op))
            case ir.Call():
                return self.keep(ref, self.call(op))
            case ir.Kept():
                table = self.use(f"kept{op.number}")
                return f"{table}[b]" if op.node is None else f"{table}[b, {self.value(op.node)}]"
            case _:
                assert_never(op)

    @abstractmethod
    def reduce(self, op: ir.Reduce) -> str: ...

    @abstractmethod
    def chase(self, ref: Ref, op: ir.Chase) -> str: ...

    @abstractmethod
    def call(self, op: ir.Call) -> str: ...

    def _read(self, op: ir.Read) -> str:
        feature, array = self.features[op.feature], self.feature(op.feature)
        index = [self.value(ref) for ref in op.index]
        if feature.place == "edge":
            reader = {"mask": "edge_truth", "categorical": "edge_category"}
            function = reader.get(feature.type, "edge_number")
            if function == "edge_number" and self.is_complete:
                return f"complete_number({array}, {self.use('n')}, b, {', '.join(index)})"
            return f"{function}({array}, {self.use('edge_id')}, b, {', '.join(index)})"
        cell = f"{array}[{', '.join(['b', *index])}]"
        # Inputs are stored as float32, which they are; arithmetic is float64. (Compiled, `float`
        # of a float32 is still a float32.)
        return (
            f"np.float64({cell})" if feature.type == "scalar" and feature.stage == "input" else cell
        )

    def _degree(self, op: ir.Degree) -> str:
        node = self.value(op.node)
        if op.direction == "out":
            return f"float(out_degree({self.use('adjacency')}, b, {node}))"
        rows = self.use("rowptr")
        return f"float({rows}[b, {node} + 1] - {rows}[b, {node}])"

    def _unary(self, op: ir.Unary) -> str:
        operand = self.value(op.operand) if op.op == "not" else self.number(op.operand)
        match op.op:
            case "not":
                return f"(not {operand})"
            case "neg":
                return f"(-{operand})"
            case "abs":
                return f"abs({operand})"
            case "ceil":
                return f"ceiling({operand})"
            case "floor":
                return f"flooring({operand})"

    def _binary(self, op: ir.Binary) -> str:
        """Checked for having no value, unless that cannot happen."""
        left, right = self.number(op.left), self.number(op.right)
        infos, divisor = self.program.infos, self.program.ops[op.right]
        finite = infos[op.left].finite, infos[op.right].finite
        match op.op:
            case "min" | "max":
                return f"{op.op}({left}, {right})"
            case "/":
                plain = isinstance(divisor, ir.Const) and finite[1] and divisor.value != 0
                return f"({left} / {right})" if plain else f"divide({left}, {right})"
            case "+" | "-" | "*":
                plain = all(finite) if op.op == "*" else any(finite)
                text = f"({left} {op.op} {right})"
                return text if plain else f"{_CHECKED[op.op]}({left}, {right})"

    def _compare(self, op: ir.Compare) -> str:
        left, right = self.value(op.left), self.value(op.right)
        if op.op == "~=":
            return f"nearly({self.number(op.left)}, {self.number(op.right)})"
        infos = self.program.infos
        guards = [
            f"{text} >= 0"
            for ref, text in ((op.left, left), (op.right, right))
            if infos[ref].optional
        ]
        return f"({' and '.join([*guards, f'{left} {op.op} {right}'])})"

    # Conditions: a part that needs lines of its own gets them where it matters

    def _logic(self, op: ir.Logic) -> str:
        self.share(op.args)
        return self._joined([self.value(op.args[0])], op.op, op.args[1:])

    def _joined(self, texts: list[str], word: str, rest: tuple[Ref, ...]) -> str:
        """`a and b and …`; the first part that needs lines starts a block for the rest."""
        for position, ref in enumerate(rest):
            part = self.aside(ref)
            if not part.lines:
                texts.append(part.text)
                continue
            result = self.fresh()
            self.line(f"{result} = {f' {word} '.join(texts)}")
            head = f"if {result}:" if word == "and" else f"if not {result}:"
            with self.block(head, known=part.known):
                self.lines += part.lines
                remaining = self._joined([part.text], word, rest[position + 1 :])
                self.line(f"{result} = {remaining}")
            return result
        return texts[0] if len(texts) == 1 else f"({f' {word} '.join(texts)})"

    def _select(self, ref: Ref, op: ir.Select) -> str:
        self.share((op.then, op.otherwise))
        condition = self.value(op.condition)
        then, other = self.aside(op.then), self.aside(op.otherwise)
        texts = [self.typed(ref, part, of) for part, of in ((then, op.then), (other, op.otherwise))]
        if not then.lines and not other.lines:
            return f"({texts[0]} if {condition} else {texts[1]})"
        result = self.fresh()
        for head, part, text in ((f"if {condition}:", then, texts[0]), ("else:", other, texts[1])):
            with self.block(head):
                self.lines += part.lines
                self.line(f"{result} = {text}")
        return result

    def typed(self, ref: Ref, part: Part, of: Ref) -> str:
        """A value in the one Python type of its kind, so that branches agree."""
        infos = self.program.infos
        mixed = infos[ref].kind == "number" and infos[of].kind == "category"
        return f"float({part.text})" if mixed else part.text

    def share(self, refs: Sequence[Ref]) -> None:
        """Compute ahead what several parts need, if writing it out in each would be long."""
        if sum(self.sizes[ref] for ref in refs) < _LARGE_FORMULA:
            return
        seen: set[Ref] = set()
        shared: set[Ref] = set()
        for ref in refs:
            own = set(self.below(ref))
            shared |= own & seen
            seen |= own
        for ref in sorted(shared):
            if self.sizes[ref] >= _LARGE_FORMULA // 10 and self.known(ref) is None:
                self.keep(ref, self.value(ref))

    def below(self, ref: Ref) -> Iterator[Ref]:
        """The operations of a formula that can be computed here."""
        waiting, seen = [ref], set[Ref]()
        while waiting:
            current = waiting.pop()
            if current in seen:
                continue
            seen.add(current)
            if self.program.infos[current].axes <= self.bound_axes():
                yield current
            waiting += ir.operands(self.program.ops[current])


def formula_sizes(program: ir.Program) -> list[int]:
    """How many operations each formula has if what is shared counts each time, up to a limit."""
    sizes: list[int] = []
    for op in program.ops:
        sizes.append(min(1 + sum(sizes[ref] for ref in ir.operands(op)), 10**9))
    return sizes


def _constant(op: ir.Const) -> str:
    if op.kind == "truth":
        return "True" if op.value else "False"
    if op.kind == "category":
        return str(int(op.value))
    if math.isinf(float(op.value)):
        return "INF" if op.value > 0 else "(-INF)"
    text = repr(float(op.value))
    return f"({text})" if op.value < 0 else text
