"""IR statements in, lines of Python that write one slot out: updates, initial values, choices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import assert_never

from gnarl_compiler import ir
from gnarl_compiler.emit_values import FunctionWriter, array_name
from gnarl_compiler.ir import PICK, Ref
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.source import Span

_BUFFER = {"number": "np.float64", "truth": "np.bool_"}


class UpdateWriter(FunctionWriter):
    """Adds writing to the writer of values; `faults` lists what can go wrong, for messages."""

    def __init__(
        self,
        program: ir.Program,
        problem: Problem,
        axes: dict[str, str],
        faults: list[tuple[int, str]],
    ) -> None:
        super().__init__(program, problem, axes)
        self.problem = problem
        self.faults = faults
        self._buffers: list[_Buffered] | None = None

    # Statements

    def statements(self, body: tuple[ir.Statement, ...]) -> None:
        for statement in body:
            match statement:
                case ir.Store():
                    self.store(statement)
                case ir.StoreEdge():
                    self.store_edge(statement)
                case ir.Bind():
                    self.line(f"{statement.name} = {self.value(statement.value)}")
                case ir.Branch():
                    self.branch(statement)
                case ir.Loop():
                    self.parallel(statement)
                case _:
                    assert_never(statement)

    def branch(self, statement: ir.Branch) -> None:
        condition = self.value(statement.condition)
        if not statement.then:
            condition = f"not {condition}"
        with self.block(f"if {condition}:"):
            self.statements(statement.then or statement.otherwise)
        if statement.then and statement.otherwise:
            with self.block("else:"):
                self.statements(statement.otherwise)
        if self._buffers is None:
            self.forget_state()

    def store(self, statement: ir.Store) -> None:
        feature = self.features[statement.feature]
        index = [self.value(ref) for ref in statement.index]
        value = self.value(statement.value)
        if self._buffers is not None:
            self._buffers.append(self.buffered(statement, feature, index, value))
            return
        self.write(feature, index, value, statement.value, statement.span)
        self.forget_state()

    def store_edge(self, statement: ir.StoreEdge) -> None:
        ends = [self.value(statement.source), self.value(statement.target)]
        value = self.value(statement.value)
        if self._buffers is not None:
            self._buffers.append(self.buffered(statement, None, ends, value))
            return
        self.write_edge(ends, value, statement.span)
        self.forget_state()

    def write_edge(self, ends: list[str], value: str, span: Span) -> None:
        u, v = ends
        with self.block(f"if {u} == {v}:"):
            self.fault(span, "a node cannot be joined to itself")
        arrays = ", ".join(self.use(a) for a in ("n", "m", "rowptr", "src", "adjacency"))
        directed = self.program.directed
        self.line(f"set_edge(b, {u}, {v}, bool({value}), {directed}, {arrays})")

    def fault(self, span: Span, what: str) -> None:
        """Report a run-time mistake of the spec and leave the function."""
        entry = (self.problem.line_of(span), what)
        if entry not in self.faults:
            self.faults.append(entry)
        self.line(f"fault[b] = {self.faults.index(entry) + 1}")
        self.line("return")

    def write(
        self, feature: Feature, index: list[str], value: str, ref: Ref | None, span: Span
    ) -> None:
        """One cell, after the checks that no earlier stage could make."""
        array, name = self.feature(feature.name), feature.name
        finite = ref is not None and self.program.infos[ref].finite
        if feature.type == "scalar" and not finite:
            value = self.named(value)
            with self.block(f"if abs({value}) == INF:"):
                self.fault(span, f"`{name}` would become infinite, which a policy cannot read")
        if feature.type == "categorical":
            value = self.named(value)
            with self.block(f"if {value} < 0 or {value} >= {feature.categories}:"):
                self.fault(span, f"`{name}` would leave 0..{feature.categories - 1}")
            value = f"int({value})"
        if feature.place == "edge":
            edge = self.fresh("edge")
            self.line(f"{edge} = {self.use('edge_id')}[b, {', '.join(index)}]")
            with self.block(f"if {edge} < 0:"):
                self.fault(span, f"`{name}` has no cell between nodes that are not joined")
            index = [edge]
        self.line(f"{array}[{', '.join(['b', *index])}] = {value}")

    def named(self, text: str) -> str:
        if text.isidentifier():
            return text
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    # Parallel loops: everything is read into buffers before anything is written

    def parallel(self, loop: ir.Loop) -> None:
        size = self.fresh("size")
        self.line(f"{size} = 0")
        self.loops(loop.domains, None, lambda: self.line(f"{size} += 1"))
        self._buffers = []
        mark = len(self.lines)
        self.hoist([loop.where])

        def inner() -> None:
            self.unless(loop.where)
            self.statements(loop.body)

        self.loops(loop.domains, None, inner)
        buffers, self._buffers = self._buffers, None
        heads = [line for buffer in buffers for line in buffer.head(size)]
        self.lines[mark:mark] = ["    " * self._level + line for line in heads]
        for buffer in buffers:
            self.flush(buffer)
        self.forget_state()

    def buffered(
        self,
        statement: ir.Store | ir.StoreEdge,
        feature: Feature | None,
        index: list[str],
        value: str,
    ) -> _Buffered:
        kind = self.program.infos[statement.value].kind
        buffer = _Buffered(self.fresh("buffer"), statement, feature, len(index), kind)
        for position, node in enumerate(index):
            self.line(f"{buffer.name}_at[{buffer.name}_count, {position}] = {node}")
        self.line(f"{buffer.name}_value[{buffer.name}_count] = {value}")
        self.line(f"{buffer.name}_count += 1")
        return buffer

    def flush(self, buffer: _Buffered) -> None:
        name, row = buffer.name, self.fresh("row")
        with self.block(f"for {row} in range({name}_count):"):
            index = [f"{name}_at[{row}, {k}]" for k in range(buffer.width)]
            value = f"{name}_value[{row}]"
            statement = buffer.statement
            if buffer.feature is None:
                self.write_edge(index, value, statement.span)
            else:
                self.write(buffer.feature, index, value, statement.value, statement.span)

    # Whole features and values kept from reset

    def cells(self, cells: ir.Cells) -> None:
        """Fill a feature from its formula, padding included."""
        feature = self.features[cells.feature]
        array = self.use(array_name(feature))
        if not cells.axes:
            self.cell(feature, f"{array}[b]", cells.value)
            return
        self.line(f"{array}[b, :] = 0")
        self.hoist([cells.value])
        kind = "edges" if feature.place == "edge" else "nodes"
        domains = (
            (ir.Domain("edges", cells.axes),)
            if kind == "edges"
            else tuple(ir.Domain("nodes", (axis,)) for axis in cells.axes)
        )
        at = ", ".join(cells.axes)
        if kind == "edges":
            at = f"{self.use('edge_id')}[b, {at}]"
        self.loops(domains, None, lambda: self.cell(feature, f"{array}[b, {at}]", cells.value))

    def cell(self, feature: Feature, target: str, ref: Ref) -> None:
        value = self.value(ref)
        if feature.type == "scalar" and not self.program.infos[ref].finite:
            value = self.named(value)
            self.cell_fault(feature, f"abs({value}) == INF", "is infinite")
        if feature.type == "categorical":
            value = self.named(value)
            last = feature.categories - 1
            self.cell_fault(feature, f"{value} < 0 or {value} > {last}", f"is outside 0..{last}")
            value = f"int({value})"
        self.line(f"{target} = {value}")

    def cell_fault(self, feature: Feature, test: str, what: str) -> None:
        """Report a formula whose value a policy could not read, and leave the cell as it was."""
        entry = (self.problem.line_of(feature.span), f"`{feature.name}` {what}")
        if entry not in self.faults:
            self.faults.append(entry)
        with self.block(f"if {test}:"):
            self.line(f"fault[b] = {self.faults.index(entry) + 1}")
            self.line("continue")

    def kept(self, code: ir.KeptCode) -> None:
        table = self.use(f"kept{code.number}")
        self.hoist([code.value])
        if code.axis is None:
            self.line(f"{table}[b] = {self.value(code.value)}")
            return
        domain = ir.Domain("nodes", (code.axis,))
        self.loops(
            (domain,),
            None,
            lambda: self.line(f"{table}[b, {code.axis}] = {self.value(code.value)}"),
        )

    # Experts

    @contextmanager
    def each_node(self, test: str) -> Iterator[None]:
        """A loop over the nodes that pass a test."""
        with self.block(f"for pick in range({self.use('n')}[b]):"), self.block(test):
            yield

    def choice(self, choice: ir.Choice, first: bool) -> None:
        """Mark the nodes of one alternative, unless an earlier one found some."""
        with nullcontext() if first else self.block("if count == 0:"):
            self.hoist([choice.where, *(key for _, key in choice.keys)])
            with self.block(f"for pick in range({self.use('n')}[b]):", {PICK: PICK}):
                with self.block(f"if not {self.use('legal')}[b, pick]:"):
                    self.line("continue")
                self.unless(choice.where)
                self.line("chosen[pick] = True")
                self.line("count += 1")
            for sign, key in choice.keys:
                self.keep_best(sign, key)

    def keep_best(self, sign: int, key: Ref) -> None:
        """Drop the chosen nodes whose key is not the best, within tolerance."""
        minus = "" if sign > 0 else "-"
        self.line("best = INF")
        with self.block(f"for pick in range({self.use('n')}[b]):", {PICK: PICK}):
            with self.block("if not chosen[pick]:"):
                self.line("continue")
            self.line(f"score[pick] = {minus}{self.value(key)}")
            self.line("best = min(best, score[pick])")
        with self.each_node("if chosen[pick] and not nearly(score[pick], best):"):
            self.line("chosen[pick] = False")
            self.line("count -= 1")


class _Buffered:
    """The delayed writes of one statement of a parallel loop."""

    def __init__(
        self,
        name: str,
        statement: ir.Store | ir.StoreEdge,
        feature: Feature | None,
        width: int,
        kind: str,
    ) -> None:
        self.name, self.statement, self.feature = name, statement, feature
        self.width, self.kind = width, kind

    def head(self, size: str) -> list[str]:
        dtype = _BUFFER.get(self.kind, "np.int64")
        return [
            f"{self.name}_count = 0",
            f"{self.name}_at = np.empty(({size}, {self.width}), np.int64)",
            f"{self.name}_value = np.empty({size}, {dtype})",
        ]
