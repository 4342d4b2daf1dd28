"""An IR program in, the text of one Python module of batched kernels out.

The same program gives the same bytes. Only identifiers made from names that match a strict
pattern and the `repr` of strings reach the text: nothing from a spec can become code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from gnarl_compiler import ir
from gnarl_compiler.emit_updates import UpdateWriter
from gnarl_compiler.emit_values import FunctionWriter, array_name
from gnarl_compiler.ir import PICK, Ref
from gnarl_dsl import __version__
from gnarl_dsl.diagnostics import InternalError
from gnarl_dsl.model import Problem

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_CORE = (
    *("n", "m", "rowptr", "src", "adjacency", "edge_id", "tags", "phase", "last", "rounds"),
    *("horizon", "limit", "potential", "ended", "legal"),
)
_GRAPH = ("m", "rowptr", "src", "adjacency")


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


class ModuleEmitter:
    """Emits the functions of one program, callees first."""

    def __init__(self, program: ir.Program, problem: Problem) -> None:
        self.program = program
        self.problem = problem
        self.functions: list[Function] = []
        self.faults: list[tuple[int, str]] = []
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
        axes: dict[str, str] | None = None,
    ) -> Function:
        """Write one function with whatever arrays its body turns out to need."""
        writer = UpdateWriter(self.program, self.problem, axes or {}, self.faults)
        body(writer)
        arrays = tuple(sorted(writer.arrays, key=self.order.__getitem__))
        head = f"def {verify_identifier(name)}({', '.join([*first, *arrays])}):"
        text = "\n".join(["@njit", head, f'    """{doc}"""', *writer.lines])
        made = Function(name, tuple(first), arrays, text)
        self.functions.append(made)
        return made

    # Parts

    def value_function(self, name: str, doc: str, ref: Ref) -> Function:
        return self.function(name, ["b"], doc, lambda w: w.line(f"return {w.value(ref)}"))

    def updates(self) -> list[Function | None]:
        return [self.update(phase) if phase.update else None for phase in self.program.phases]

    def update(self, phase: ir.PhaseCode) -> Function:
        return self.function(
            f"update_{phase.name}",
            ["b", PICK, "fault"],
            f"What picking a node in phase {phase.name} does.",
            lambda writer: writer.statements(phase.update),
            {PICK: PICK},
        )

    def fill_legal(self) -> Function:
        def body(writer: UpdateWriter) -> None:
            legal, phase = writer.use("legal"), writer.use("phase")
            writer.line("count = 0")
            for number, code in enumerate(self.program.phases):
                test = "if" if number == 0 else "elif"
                with writer.block(f"{test} {phase}[b] == {number}:"):
                    if code.allow is not None:
                        writer.hoist([code.allow])
                    with writer.block(f"for pick in range({writer.use('n')}[b]):", {PICK: PICK}):
                        allowed = "True" if code.allow is None else writer.value(code.allow)
                        writer.line(f"allowed = {allowed}")
                        writer.line(f"{legal}[b, pick] = allowed")
                        with writer.block("if allowed:"):
                            writer.line("count += 1")
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
            value = writer.value(reward.value)
            if reward.kind != "potential":
                writer.line(f"return float({value})")
                return
            kept = writer.use("potential")
            writer.line(f"value = float({value})")
            writer.line(f"gain = minus(value, {kept}[b])")
            writer.line(f"{kept}[b] = value")
            writer.line("return gain")

        return self.function("pay", ["b"], f"The reward `{reward.name}` of a round.", body)

    # Kernels

    def reset(self, ending: Function) -> Function:
        program = self.program

        def slot(writer: UpdateWriter) -> None:
            for code in program.kept:
                writer.kept(code)
            for cells in program.initial:
                writer.cells(cells)
            for array, value in (("phase", "0"), ("rounds", "0")):
                writer.line(f"{writer.use(array)}[b] = {value}")
            writer.line(f"{writer.use('last')}[b, :] = -1")
            writer.line(f"{writer.use('horizon')}[b] = {writer.value(program.horizon)}")
            limit = "INF" if program.limit is None else writer.value(program.limit)
            writer.line(f"{writer.use('limit')}[b] = {limit}")
            writer.forget_state()
            writer.line(f"{writer.use('ended')}[b] = {ending.call(writer, 'b')}")
            writer.line(f"{writer.use('potential')}[b] = 0.0")
            if program.reward is not None and program.reward.kind == "potential":
                value = writer.value(program.reward.value)
                writer.line(f"{writer.use('potential')}[b] = {value}")

        return self.over_slots("reset", ["fault"], "Start the episodes of some slots.", slot)

    def over_slots(
        self, name: str, more: list[str], doc: str, slot: Callable[[UpdateWriter], None]
    ) -> Function:
        def body(writer: UpdateWriter) -> None:
            with writer.block("for b in slots:"):
                slot(writer)

        return self.function(name, ["slots", *more], doc, body)

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
            with writer.block(f"if {ended}[b] != RUNNING:"):
                writer.line("continue")
            writer.line("pick = actions[b]")
            with writer.block(f"if pick < 0 or pick >= {nodes}[b] or not {legal}[b, pick]:"):
                writer.line("fault[b] = ILLEGAL")
                writer.line("continue")
            writer.line(f"at = {writer.use('phase')}[b]")
            self.apply_update(writer, updates)
            writer.line(f"{writer.use('last')}[b, at] = pick")
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

    def apply_update(self, writer: UpdateWriter, updates: list[Function | None]) -> None:
        for number, update in enumerate(updates):
            if update is not None:
                with writer.block(f"if at == {number}:"):
                    writer.line(update.call(writer, "b", "pick", "fault"))

    def expert(self, code: ir.ExpertCode) -> Function:
        def slot(writer: UpdateWriter) -> None:
            writer.line("out[b, :] = 0.0")
            with writer.block(f"if {writer.use('ended')}[b] != RUNNING:"):
                writer.line("continue")
            writer.line("count = 0")
            for number, rule in enumerate(code.rules):
                with writer.block(f"if {writer.use('phase')}[b] == {number}:"):
                    for position, choice in enumerate(rule):
                        writer.choice(choice, first=position == 0)
            with writer.each_node("if chosen[pick]:"):
                writer.line("out[b, pick] = 1.0 / count")

        def body(writer: UpdateWriter) -> None:
            size = f"{writer.use('legal')}.shape[1]"
            writer.line(f"chosen = np.zeros({size}, np.bool_)")
            writer.line(f"score = np.zeros({size}, np.float64)")
            with writer.block("for b in slots:"):
                writer.line("chosen[:] = False")
                slot(writer)

        doc = f"The distribution of the expert `{code.name}` over nodes."
        return self.function(f"expert_{code.name}", ["slots", "out"], doc, body)

    # Greedy experts

    def mutable_arrays(self) -> set[str]:
        """What a pick can change."""
        own = {array_name(f) for f in self.problem.features if f.stage == "state"}
        graph = set(_GRAPH) if self.program.mutable else set()
        return own | graph | {"last", "phase", "legal"}

    def reach(
        self,
        number: int,
        objective: Function,
        updates: list[Function | None],
        fill_legal: Function,
        further: Function | None,
        name: str,
    ) -> Function:
        """The best objective at the end of the round after a pick in phase `number`."""

        def body(writer: UpdateWriter) -> None:
            callees = [f for f in (objective, updates[number], fill_legal, further) if f]
            needed = {array for callee in callees for array in callee.arrays}
            for array in sorted(needed & self.mutable_arrays(), key=self.order.__getitem__):
                writer.line(f"{writer.use(array)} = {array}.copy()")
            update = updates[number]
            if update is not None:
                writer.line(update.call(writer, "0", "pick", "fault"))
            if "last" in needed:
                writer.line(f"{writer.use('last')}[0, {number}] = pick")
            if further is None:
                writer.line(f"return {objective.call(writer, '0')}")
                return
            writer.line(f"{writer.use('phase')}[0] = {number + 1}")
            writer.line(fill_legal.call(writer, "0"))
            writer.line("best = -INF")
            with writer.block(f"for following in range({writer.use('n')}[0]):"):
                writer.line(f"if not {writer.use('legal')}[0, following]:")
                writer.line("    continue")
                call = further.call(writer, "following", "fault")
                writer.line(f"best = max(best, {call})")
            writer.line("return best")

        doc = f"The best `{name}` that a pick in phase {number + 1} can lead to."
        return self.function(f"reach_{name}_{number}", ["pick", "fault"], doc, body)

    def greedy(
        self, code: ir.ExpertCode, updates: list[Function | None], fill_legal: Function
    ) -> Function:
        name = str(code.greedy)
        ref = next(ref for objective, ref in self.program.objectives if objective == name)
        label = f"{name}_{code.name}"
        objective = self.value_function(f"value_{label}", f"The objective `{name}`.", ref)
        reaches: list[Function] = []
        for number in reversed(range(len(self.program.phases))):
            further = reaches[0] if reaches else None
            reach = self.reach(number, objective, updates, fill_legal, further, label)
            reaches.insert(0, reach)

        def body(writer: UpdateWriter) -> None:
            writer.line(f"score = np.zeros({writer.use('legal')}.shape[1], np.float64)")
            writer.line("fault = np.zeros(1, np.int32)")
            with writer.block("for b in slots:"):
                writer.line("out[b, :] = 0.0")
                with writer.block(f"if {writer.use('ended')}[b] != RUNNING:"):
                    writer.line("continue")
                self.greedy_scores(writer, reaches)

        doc = f"The distribution of the expert `{code.name}`, greedy on `{name}`."
        return self.function(f"expert_{code.name}", ["slots", "out"], doc, body)

    def greedy_scores(self, writer: UpdateWriter, reaches: list[Function]) -> None:
        legal, nodes = writer.use("legal"), writer.use("n")
        writer.line("best = -INF")
        with writer.block(f"for pick in range({nodes}[b]):"):
            with writer.block(f"if not {legal}[b, pick]:"):
                writer.line("continue")
            for number, reach in enumerate(reaches):
                slices = ", ".join(f"{writer.use(array)}[b : b + 1]" for array in reach.arrays)
                with writer.block(f"if {writer.use('phase')}[b] == {number}:"):
                    writer.line(f"score[pick] = {reach.name}(pick, fault, {slices})")
            writer.line("best = max(best, score[pick])")
        writer.line("count = 0")
        test = f"if {legal}[b, pick] and nearly(-score[pick], -best):"
        with writer.block(f"for pick in range({nodes}[b]):"), writer.block(test):
            writer.line("count += 1")
        with writer.block(f"for pick in range({nodes}[b]):"), writer.block(test):
            writer.line("out[b, pick] = 1.0 / count")

    # The module

    def emit(self) -> str:
        program = self.program
        updates = self.updates()
        fill_legal = self.fill_legal()
        ending = self.ending(fill_legal)
        pay = self.pay()
        self.reset(ending)
        self.step(updates, fill_legal, ending, pay)
        for code in program.experts:
            if code.greedy is None:
                self.expert(code)
            else:
                self.greedy(code, updates, fill_legal)
        self.over_slots(
            "observe", ["fault"], "Bring the derived features up to date.", self.observe_slot
        )
        self.judges()
        return self.module_text()

    def observe_slot(self, writer: UpdateWriter) -> None:
        writer.line(f"nodes = {writer.use('n')}[b]")
        for cells in self.program.derived:
            writer.cells(cells)

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

    def module_text(self) -> str:
        problem = self.problem
        params = ", ".join(f"{p.name} = {p.value}" for p in problem.params) or "none"
        header = (
            f"Kernels of the problem {problem.name}, spec {problem.hash}, params: {params}.\n\n"
            f"Generated by gnarl-dsl {__version__}; do not edit. Arrays are described in "
            "docs/batch.md;\na feature's array is named after it, with the first letter of its "
            "stage in front."
        )
        arguments = "\n".join(
            f"    {f.name!r}: {f.arrays!r}," for f in self.functions if f.first[0] != "b"
        )
        kept = "\n".join(
            f"    ({f'kept{code.number}'!r}, {self.program.infos[code.value].kind!r}, "
            f"{'node' if code.axis else 'graph'!r}),"
            for code in self.program.kept
        )
        faults = "\n".join(f"    {fault!r}," for fault in self.faults)
        tables = f"ARGUMENTS = {{\n{arguments}\n}}\nKEPT = (\n{kept}\n)\nFAULTS = (\n{faults}\n)"
        code = "\n\n\n".join(function.text for function in self.functions)
        return f"{header!r}\n\n{_IMPORTS}\n\n{tables}\n\n\n{code}\n"


def _fill_out(ref: Ref, writer: UpdateWriter) -> None:
    writer.line(f"out[b] = {writer.value(ref)}")


_IMPORTS = """import numpy as np

from gnarl_compiler.support import (
    DEAD_END, ILLEGAL, INF, RUNNING, TERMINATED, TRUNCATED,
    ceiling, critical_fraction, divide, edge_category, edge_number, edge_truth, flooring,
    is_dfs_forest, joined, minus, nearly, njit, out_degree, plus, set_edge, times,
)"""


def verify_identifier(name: str) -> str:
    """Only such names reach generated code."""
    if not _IDENTIFIER.match(name):
        raise InternalError(f"{name!r} cannot be an identifier")
    return name


def emit_module(program: ir.Program, problem: Problem) -> str:
    """The text of the module for a program."""
    return ModuleEmitter(program, problem).emit()
