"""The environment of an IR program in, its kernels out: reset, step, observations, judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gnarl_compiler.emit.updates import UpdateWriter
from gnarl_compiler.emit.values import FunctionWriter, array_name, formula_sizes
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref
from gnarl_dsl.model import Problem
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.source import Span

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CORE = (
    *("n", "m", "rowptr", "src", "adjacency", "edge_id", "tags", "phase", "last", "rounds"),
    *("horizon", "limit", "potential", "ended", "legal"),
)


@dataclass(frozen=True)
class Function:
    """One emitted function: its parameters before the arrays, and the arrays."""

    name: str
    first: tuple[str, ...]
    arrays: tuple[str, ...]
    text: str

    def call(self, writer: FunctionWriter, *first: str) -> str:
        """A call from another function, which then needs the same arrays."""
        return f"{self.name}({', '.join([*first, *map(writer.use, self.arrays)])})"


class KernelEmitter:
    """Emits functions of one program, callees first."""

    def __init__(self, program: ir.Program, problem: Problem) -> None:
        self.program = program
        self.problem = problem
        self.functions: list[Function] = []
        self.faults: list[tuple[Span, str]] = []
        self.sizes = formula_sizes(program)
        self.scratch: set[str] = set()
        names = [array_name(f) for f in problem.features]
        kept = [f"kept{code.number}" for code in program.kept]
        self.order = {name: i for i, name in enumerate([*_CORE, *names, *kept])}
        for name in [*names, *(phase.name for phase in program.phases)]:
            verify_identifier(name)

    def function(
        self,
        name: str,
        first: Sequence[str],
        doc: str,
        body: Callable[[UpdateWriter], None],
        axes: Sequence[str] = (),
    ) -> Function:
        """Write one function with whatever arrays its body turns out to need."""
        writer = UpdateWriter(self.program, self.problem, self.sizes, axes, self.faults)
        body(writer)
        self.scratch |= {name for name in writer.arrays if is_scratch(name)}
        arrays = tuple(sorted(writer.arrays, key=self.position))
        head = f"def {verify_identifier(name)}({', '.join([*first, *arrays])}):"
        text = "\n".join(["@njit", head, f'    """{doc}"""', *writer.lines])
        made = Function(name, tuple(first), arrays, text)
        self.functions.append(made)
        return made

    def position(self, array: str) -> tuple[int, str]:
        """Where an array stands among the arguments: scratch space comes last."""
        return self.order.get(array, len(self.order)), array

    def over_slots(
        self, name: str, more: list[str], doc: str, slot: Callable[[UpdateWriter], None]
    ) -> Function:
        def body(writer: UpdateWriter) -> None:
            with writer.block("for b in slots:"):
                slot(writer)

        return self.function(name, ["slots", *more], doc, body)

    # Parts

    def update(self, phase: ir.PhaseCode) -> Function | None:
        if not phase.update:
            return None
        return self.function(
            f"update_{phase.name}",
            ["b", PICK, "fault"],
            f"What picking a node in phase {phase.name} does.",
            lambda writer: writer.statements(phase.update),
            [PICK],
        )

    def fill_legal(self) -> Function:
        def body(writer: UpdateWriter) -> None:
            legal, phase = writer.use("legal"), writer.use("phase")
            writer.line("count = 0")
            for number, code in enumerate(self.program.phases):
                test = "if" if number == 0 else "elif"
                with writer.block(f"{test} {phase}[b] == {number}:"):
                    writer.hoist([code.allow])
                    with writer.loop(f"for pick in range({writer.use('n')}[b]):", PICK):
                        allowed = "True" if code.allow is None else writer.value(code.allow)
                        writer.line(f"allowed = {allowed}")
                        writer.line(f"{legal}[b, pick] = allowed")
                        writer.line("count += allowed")
            writer.line("return count")

        return self.function("fill_legal", ["b"], "Mark the legal nodes; how many there are.", body)

    def ending(self, fill_legal: Function) -> Function:
        def body(writer: UpdateWriter) -> None:
            rounds = writer.use("rounds")
            writer.line(f"{writer.use('legal')}[b, :] = False")
            if self.program.terminate is not None:
                with writer.block(f"if {writer.value(self.program.terminate)}:"):
                    writer.line("return TERMINATED")
            for bound, code in (("horizon", "TERMINATED"), ("limit", "TRUNCATED")):
                with writer.block(f"if {rounds}[b] >= {writer.use(bound)}[b] - 1e-9:"):
                    writer.line(f"return {code}")
            with writer.block(f"if {fill_legal.call(writer, 'b')} > 0:"):
                writer.line("return RUNNING")
            writer.line("return TERMINATED")

        return self.function("ending", ["b"], "Whether and how the episode has ended.", body)

    def pay(self) -> Function | None:
        reward = self.program.reward
        if reward is None:
            return None

        def body(writer: UpdateWriter) -> None:
            if reward.kind == "terminal":
                with writer.block(f"if {writer.use('ended')}[b] == RUNNING:"):
                    writer.line("return 0.0")
            value = writer.number(reward.value)
            if reward.kind != "potential":
                writer.line(f"return {value}")
                return
            kept = writer.use("potential")
            writer.line(f"value = {value}")
            writer.line(f"gain = minus(value, {kept}[b])")
            writer.line(f"{kept}[b] = value")
            writer.line("return gain")

        return self.function("pay", ["b"], f"The reward `{reward.name}` of a round.", body)

    # Kernels

    def reset(self, ending: Function) -> Function:
        program = self.program

        def slot(writer: UpdateWriter) -> None:
            for code in program.kept:
                if not code.follows:
                    writer.kept(code)
            for cells in program.initial:
                writer.clear(cells)
                writer.cells(cells)
            for code in program.kept:
                if code.follows:
                    writer.kept(code)
            for cells in program.derived:
                writer.clear(cells)
            for array, value in (("phase", "0"), ("rounds", "0")):
                writer.line(f"{writer.use(array)}[b] = {value}")
            writer.line(f"{writer.use('last')}[b, :] = -1")
            writer.line(f"{writer.use('horizon')}[b] = {writer.value(program.horizon)}")
            limit = "INF" if program.limit is None else writer.value(program.limit)
            writer.line(f"{writer.use('limit')}[b] = {limit}")
            writer.forget_state()
            writer.line(f"{writer.use('ended')}[b] = {ending.call(writer, 'b')}")
            potential = "0.0"
            if program.reward is not None and program.reward.kind == "potential":
                potential = writer.value(program.reward.value)
            writer.line(f"{writer.use('potential')}[b] = {potential}")

        return self.over_slots("reset", ["fault"], "Start the episodes of some slots.", slot)

    def step(
        self,
        updates: list[Function | None],
        fill_legal: Function,
        ending: Function,
        pay: Function | None,
    ) -> Function:
        last_phase = len(self.program.phases) - 1

        def slot(writer: UpdateWriter) -> None:
            ended, legal, nodes = (writer.use(name) for name in ("ended", "legal", "n"))
            writer.line("rewards[b] = 0.0")
            writer.line("fault[b] = 0")
            writer.skip_if(f"{ended}[b] != RUNNING")
            writer.line("pick = actions[b]")
            with writer.block(f"if pick < 0 or pick >= {nodes}[b] or not {legal}[b, pick]:"):
                writer.line("fault[b] = ILLEGAL")
                writer.line("continue")
            writer.line(f"at = {writer.use('phase')}[b]")
            for number, update in enumerate(updates):
                if update is not None:
                    with writer.block(f"if at == {number}:"):
                        writer.line(update.call(writer, "b", "pick", "fault"))
            if any(map(can_fault, updates)):
                writer.skip_if("fault[b] != 0")
            writer.line(f"{writer.use('last')}[b, at] = pick")
            if last_phase > 0:
                with writer.block(f"if at < {last_phase}:"):
                    writer.line(f"{writer.use('phase')}[b] = at + 1")
                    with writer.block(f"if {fill_legal.call(writer, 'b')} == 0:"):
                        writer.line("fault[b] = DEAD_END")
                    writer.line("continue")
            writer.line(f"{writer.use('phase')}[b] = 0")
            writer.line(f"{writer.use('rounds')}[b] += 1")
            writer.line(f"{ended}[b] = {ending.call(writer, 'b')}")
            if pay is not None:
                writer.line(f"rewards[b] = {pay.call(writer, 'b')}")

        def body(writer: UpdateWriter) -> None:
            with writer.block(f"for b in range(len({writer.use('n')})):"):
                slot(writer)

        doc = "Apply one pick per slot; what is wrong with it goes to fault."
        return self.function("step", ["actions", "rewards", "fault"], doc, body)

    def observe(self) -> Function:
        def slot(writer: UpdateWriter) -> None:
            for cells in self.program.derived:
                if self.program.mutable and len(cells.axes) == 2:
                    writer.clear(cells)  # there may be fewer edges than before
                writer.cells(cells)
            if not self.program.derived:
                writer.line("pass")

        return self.over_slots("observe", ["fault"], "Bring derived features up to date.", slot)

    def judges(self) -> None:
        """Kernels that fill one value per slot."""
        values: list[tuple[str, str, Ref]] = []
        for clause in ("correct", "valid"):
            ref = getattr(self.program, clause)
            if ref is not None:
                values.append((f"judge_{clause}", f"Whether the state is {clause}.", ref))
        for name, ref in self.program.objectives:
            values.append((f"objective_{name}", f"The objective `{name}`.", ref))
        for name, ref in self.program.metrics:
            values.append((f"metric_{name}", f"The metric `{name}`.", ref))
        for name, doc, ref in values:
            self.over_slots(name, ["out"], doc, partial(_fill_out, ref))


def _fill_out(ref: Ref, writer: UpdateWriter) -> None:
    writer.line(f"out[b] = {writer.value(ref)}")


def is_scratch(array: str) -> bool:
    """Whether an array is space to work in, the same for every slot."""
    return array.startswith("memo")


def can_fault(update: Function | None) -> bool:
    return update is not None and "fault[b] = " in update.text


def verify_identifier(name: str) -> str:
    """Only such names reach generated code."""
    if not _IDENTIFIER.match(name):
        raise InternalError(f"{name!r} cannot be an identifier")
    return name
