"""IR statements in, lines of Python that write one slot out: updates and initial values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from gnarl_compiler.emit.loops import LoopWriter
from gnarl_compiler.emit.values import array_name, axis_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.report.source import Span

_BUFFER = {"number": "np.float64", "truth": "np.bool_"}
Write = ir.Store | ir.StoreEdge


class UpdateWriter(LoopWriter):
    """Adds writing to the writer of values; `faults` lists what can go wrong, for messages."""

    def __init__(
        self,
        program: ir.Program,
        problem: Problem,
        sizes: Sequence[int],
        axes: Sequence[str],
        faults: list[tuple[Span, str]],
    ) -> None:
        super().__init__(program, problem, sizes, axes)
        self.problem = problem
        self.faults = faults
        self._loop: _Parallel | None = None

    # Statements

    def statements(self, body: tuple[ir.Statement, ...]) -> None:
        for statement in body:
            match statement:
                case ir.Store() | ir.StoreEdge():
                    self.store(statement)
                case ir.Bind():
                    self.line(f"l_{statement.name} = {self.value(statement.value)}")
                case ir.Branch():
                    self.branch(statement)
                case ir.Loop():
                    self.parallel(statement)
                case _:
                    assert_never(statement)

    def branch(self, statement: ir.Branch) -> None:
        test = self.value if statement.then else self.negation
        with self.block(f"if {test(statement.condition)}:"):
            self.statements(statement.then or statement.otherwise)
        if statement.then and statement.otherwise:
            with self.block("else:"):
                self.statements(statement.otherwise)

    def store(self, statement: Write) -> None:
        index, value = [self.value(ref) for ref in _index(statement)], self.value(statement.value)
        if self._loop is not None and self._loop.buffered:
            self.delay(self._loop, statement, index, value)
            return
        self.write(statement, index, value)
        if self._loop is None:
            self.forget_state()

    def write(self, statement: Write, index: list[str], value: str) -> None:
        """One cell or edge, after the checks that no earlier stage could make."""
        if isinstance(statement, ir.StoreEdge):
            self.write_edge(statement, index, value)
            return
        feature = self.features[statement.feature]
        array, span, name = self.feature(feature.name), statement.span, feature.name
        if feature.type == "scalar" and not self.program.infos[statement.value].finite:
            value = self.named(value)
            with self.block(f"if abs({value}) == INF:"):
                self.fault(span, f"`{name}` would become infinite, which a policy cannot read")
        if feature.type == "categorical" and not self.fits(feature, statement.value):
            value = self.named(value)
            with self.block(f"if {value} < 0 or {value} >= {feature.categories}:"):
                self.fault(span, f"`{name}` would leave 0..{feature.categories - 1}")
        if feature.type == "categorical" and self.program.infos[statement.value].kind == "number":
            value = f"int({value})"
        if feature.place == "edge":
            edge = self.fresh("edge")
            self.line(f"{edge} = {self.use('edge_id')}[b, {', '.join(index)}]")
            with self.block(f"if {edge} < 0:"):
                self.fault(span, f"`{name}` has no cell between nodes that are not joined")
            index = [edge]
        self.line(f"{array}[{', '.join(['b', *index])}] = {value}")
        if feature.place == "node" and feature.type != "mask_one":
            self.refresh(name, index[0])

    def refresh(self, feature: str, node: str) -> None:
        """Bring the tables that follow a feature up to date at a node."""
        for code in self.program.kept:
            if feature in code.follows and code.axis is not None:
                at = axis_name(code.axis)
                self.line(f"{at} = {node}")
                with self.scope([code.axis]):
                    value = self.value(code.value)
                    self.line(f"{self.use(f'kept{code.number}')}[b, {at}] = {value}")

    def fits(self, feature: Feature, ref: Ref) -> bool:
        """Whether a value is a category of the feature for sure."""
        op = self.program.ops[ref]
        if isinstance(op, ir.Const):
            return 0 <= float(op.value) < feature.categories
        return bool(feature.choices) and self.program.infos[ref].kind == "category"

    def write_edge(self, statement: ir.StoreEdge, ends: list[str], value: str) -> None:
        u, v = (self.named(end) for end in ends)
        with self.block(f"if {u} == {v}:"):
            self.fault(statement.span, "a node cannot be joined to itself")
        names = ["n", "m", "rowptr", "src", "adjacency"]
        function = "set_edge"
        if any(feature.place == "edge" for feature in self.features.values()):
            function = "set_numbered_edge"
            names.append("edge_id")
        arrays = ", ".join(map(self.use, names))
        self.line(f"{function}(b, {u}, {v}, {value}, {self.program.directed}, {arrays})")

    def fault(self, span: Span, what: str) -> None:
        """Report a run-time mistake of the spec and leave the function."""
        self.line(f"fault[b] = {self.fault_code(span, what)}")
        self.line("return")

    def fault_code(self, span: Span, what: str) -> int:
        entry = (span, what)
        if entry not in self.faults:
            self.faults.append(entry)
        return self.faults.index(entry) + 1

    # Parallel loops: everything is read before anything is written

    def parallel(self, loop: ir.Loop) -> None:
        writes = list(_writes(loop.body))
        self._loop = _Parallel(self, loop, writes)
        lets = frozenset(statement.name for statement in _binds(loop.body))
        self.hoist([loop.where, *(domain.node for domain in loop.domains)])
        self.hoist(_refs(loop.body), lets)
        if self._loop.buffered:
            self._loop.allocate()

        def inner() -> None:
            self.skip(loop.where, False)
            self.statements(loop.body)
            if self._loop is not None and self._loop.buffered:
                self.line(f"{self._loop.turn} += 1")

        self.loops(loop.domains, None, inner)
        if self._loop.buffered:
            self.flush(self._loop)
        self._loop = None
        self.forget_state()

    def delay(self, loop: _Parallel, statement: Write, index: list[str], value: str) -> None:
        """Note a write of this turn, to be made when all turns have read."""
        name = loop.buffers[statement]
        for position, node in enumerate(index):
            self.line(f"{name}_at[{loop.turn}, {position}] = {node}")
        self.line(f"{name}_value[{loop.turn}] = {value}")
        if statement in loop.optional:
            self.line(f"{name}_made[{loop.turn}] = True")

    def flush(self, loop: _Parallel) -> None:
        """The writes in order: turn by turn, and within a turn from top to bottom."""
        row = self.fresh("row")
        with self.loop(f"for {row} in range({loop.turn}):"):
            for statement, name in loop.buffers.items():
                index = [f"{name}_at[{row}, {k}]" for k in range(len(_index(statement)))]
                value = f"{name}_value[{row}]"
                if statement in loop.optional:
                    with self.block(f"if {name}_made[{row}]:"):
                        self.write(statement, index, value)
                else:
                    self.write(statement, index, value)

    # Whole features and values kept from reset

    def clear(self, cells: ir.Cells) -> None:
        """Zeros for a whole feature, so that cells out of use hold them."""
        if cells.axes:
            self.line(f"{self.feature(cells.feature)}[b, :] = 0")

    def cells(self, cells: ir.Cells) -> None:
        """Fill a feature from its formula, but for the cells out of use."""
        feature = self.features[cells.feature]
        array = self.use(array_name(feature))
        if not cells.axes:
            self.cell(feature, f"{array}[b]", cells.value)
            return
        self.hoist([cells.value])
        at = ", ".join(map(axis_name, cells.axes))
        if feature.place == "edge":
            at = f"{self.use('edge_id')}[b, {at}]"
            domains: tuple[ir.Domain, ...] = (ir.Domain("edges", cells.axes),)
        else:
            domains = tuple(ir.Domain("nodes", (axis,)) for axis in cells.axes)
        self.loops(domains, None, lambda: self.cell(feature, f"{array}[b, {at}]", cells.value))

    def cell(self, feature: Feature, target: str, ref: Ref) -> None:
        """One value, unless a policy could not read it; the first such mistake is reported."""
        value, test, what = self.value(ref), "", ""
        if feature.type == "scalar" and not self.program.infos[ref].finite:
            value = self.named(value)
            test, what = f"abs({value}) == INF", "is infinite"
        elif feature.type == "categorical" and not self.fits(feature, ref):
            value = self.named(value)
            last = feature.categories - 1
            test, what = f"{value} < 0 or {value} > {last}", f"is outside 0..{last}"
        if feature.type == "categorical" and self.program.infos[ref].kind == "number":
            value = f"int({value})"
        if not test:
            self.line(f"{target} = {value}")
            return
        code = self.fault_code(feature.span, f"`{feature.name}` {what}")
        with self.block(f"if not ({test}):"):
            self.line(f"{target} = {value}")
        with self.block("elif fault[b] == 0:"):
            self.line(f"fault[b] = {code}")

    def kept(self, code: ir.KeptCode) -> None:
        table = self.use(f"kept{code.number}")
        self.hoist([code.value])
        if code.axis is None:
            self.line(f"{table}[b] = {self.value(code.value)}")
            return
        at = f"{table}[b, {axis_name(code.axis)}]"
        domain = ir.Domain("nodes", (code.axis,))
        self.loops((domain,), None, lambda: self.line(f"{at} = {self.value(code.value)}"))


class _Parallel:
    """A loop on its way: which of its writes wait in buffers until every turn has read."""

    def __init__(self, writer: UpdateWriter, loop: ir.Loop, writes: list[Write]) -> None:
        self.writer, self.domains = writer, loop.domains
        self.turn = writer.fresh("turn")
        sure = [statement for statement in loop.body if isinstance(statement, Write)]
        self.optional = [statement for statement in writes if statement not in sure]
        self.buffered = not self._reads_nothing_written(loop, writes)
        self.buffers = {statement: writer.fresh("buffer") for statement in writes}

    def _reads_nothing_written(self, loop: ir.Loop, writes: list[Write]) -> bool:
        """Then writing at once makes no difference."""
        written = {w.feature for w in writes if isinstance(w, ir.Store)}
        program = self.writer.program
        nodes = (domain.node for domain in loop.domains)
        refs = [ref for ref in (loop.where, *nodes, *_refs(loop.body)) if ref is not None]
        ops = [program.ops[ref] for ref in reachable(program, refs)]
        reads = {op.feature for op in ops if isinstance(op, ir.Read | ir.Marked)}
        edges = any(isinstance(w, ir.StoreEdge) for w in writes)
        return not edges and not reads & written

    def allocate(self) -> None:
        """Room for one write per statement and turn."""
        writer = self.writer
        size = self._size()
        writer.line(f"{self.turn} = 0")
        for statement, name in self.buffers.items():
            kind = writer.program.infos[statement.value].kind
            dtype = _BUFFER.get(kind, "np.int64")
            writer.line(f"{name}_at = np.empty(({size}, {len(_index(statement))}), np.int64)")
            writer.line(f"{name}_value = np.empty({size}, {dtype})")
            if statement in self.optional:
                writer.line(f"{name}_made = np.zeros({size}, np.bool_)")

    def _size(self) -> str:
        """How many turns there can be."""
        writer, first = self.writer, self.domains[0]
        if len(self.domains) == 1 and first.kind in ("nodes", "near"):
            return f"{writer.use('n')}[b]"
        if len(self.domains) == 1 and first.kind == "edges":
            return f"{writer.use('m')}[b]"
        size = writer.fresh("size")
        writer.line(f"{size} = 0")
        writer.loops(self.domains, None, lambda: writer.line(f"{size} += 1"))
        return size


def _index(statement: Write) -> tuple[Ref, ...]:
    if isinstance(statement, ir.Store):
        return statement.index
    return (statement.source, statement.target)


def _writes(body: tuple[ir.Statement, ...]) -> Iterator[Write]:
    for statement in body:
        if isinstance(statement, ir.Branch):
            yield from _writes(statement.then)
            yield from _writes(statement.otherwise)
        elif isinstance(statement, Write):
            yield statement


def _binds(body: tuple[ir.Statement, ...]) -> Iterator[ir.Bind]:
    for statement in body:
        if isinstance(statement, ir.Branch):
            yield from _binds(statement.then)
            yield from _binds(statement.otherwise)
        elif isinstance(statement, ir.Bind):
            yield statement


def _refs(body: tuple[ir.Statement, ...]) -> Iterator[Ref]:
    """Every operation that statements of a loop name."""
    for statement in body:
        match statement:
            case ir.Store() | ir.StoreEdge():
                yield from _index(statement)
                yield statement.value
            case ir.Bind():
                yield statement.value
            case ir.Branch():
                yield statement.condition
                yield from _refs((*statement.then, *statement.otherwise))
            case ir.Loop():
                yield from _refs(statement.body)
