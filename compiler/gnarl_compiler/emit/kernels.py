"""The environment of an IR program in, its kernels out: reset, step, observations, judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gnarl_compiler.emit.abi import (
    CORE,
    TURNS,
    VIEWS,
    Abi,
    Fault,
    FeatureArray,
    KeptTable,
    Kernel,
    Role,
    Scratch,
    array_name,
    kept_array,
)
from gnarl_compiler.emit.updates import emit_cells, emit_kept, emit_statements, emit_zeros
from gnarl_compiler.emit.values import emit_number, emit_value, forget_state, hoist
from gnarl_compiler.emit.writer import Function, Source, Writer
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import PICK, Ref
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import GRAPH, NODE
from gnarl_dsl.report.diagnostics import InternalError

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
Body = Callable[[Writer], None]


@dataclass
class Module:
    """The functions of one program on their way, callees first; some of them are kernels."""

    source: Source
    order: Mapping[str, int]  # of arrays among the arguments
    functions: list[Function] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def of(cls, program: ir.Program, problem: Problem) -> Module:
        names = [array_name(feature) for feature in problem.features]
        for name in [*names, *(phase.name for phase in program.phases)]:
            verify_identifier(name)
        kept = [kept_array(code.number) for code in program.kept]
        arrays = [*CORE, *TURNS, *VIEWS, *names, *kept]
        order = {name: position for position, name in enumerate(arrays)}
        return cls(Source.of(program, problem), order)

    @property
    def program(self) -> ir.Program:
        return self.source.program

    def position(self, array: str) -> tuple[int, str]:
        """Where an array stands among the arguments: scratch space comes last."""
        return self.order.get(array, len(self.order)), array

    def abi(self) -> Abi:
        """What callers of the kernels have to know."""
        scratch = {name: kind for f in self.functions for name, kind in f.scratch.items()}
        return Abi(
            kernels=tuple(self.kernels),
            features=tuple(self._features()),
            kept=tuple(self._kept()),
            scratch=tuple(Scratch(name, scratch[name]) for name in sorted(scratch)),
            faults=tuple(self.faults),
        )

    def _features(self) -> Iterator[FeatureArray]:
        used = {array for kernel in self.kernels for array in kernel.arrays}
        for feature in self.source.features.values():
            if (array := array_name(feature)) in used:
                yield FeatureArray(feature.name, feature.stage, array)

    def _kept(self) -> Iterator[KeptTable]:
        for code in self.program.kept:
            kind = self.program.infos[code.value].kind.array
            place = GRAPH if code.axis is None else NODE
            yield KeptTable(kept_array(code.number), kind, place, live=bool(code.follows))


def emit_function(
    module: Module,
    name: str,
    first: Sequence[str],
    doc: str,
    body: Body,
    axes: Sequence[str] = (),
) -> Function:
    """One function with whatever arrays its body turns out to need."""
    verify_identifier(name)
    writer = Writer(module.source, axes, module.faults)
    body(writer)
    arrays = tuple(sorted(writer.arrays, key=module.position))
    head = f"def {name}({', '.join([*first, *arrays])}):"
    text = "\n".join(["@njit", head, f'    """{doc}"""', *writer.lines])
    made = Function(name, tuple(first), arrays, writer.scratch, writer.stops, text)
    module.functions.append(made)
    return made


def emit_kernel(
    module: Module, role: Role, subject: str, first: Sequence[str], doc: str, body: Body
) -> None:
    """A function that callers may call."""
    made = emit_function(module, role.of(subject), first, doc, body)
    module.kernels.append(Kernel(role, subject, made.first, made.arrays))


def over_slots(slot: Body) -> Body:
    """The same for each of some slots."""

    def body(writer: Writer) -> None:
        with writer.block("for b in slots:"):
            slot(writer)

    return body


def verify_identifier(name: str) -> None:
    """Only such names reach generated code."""
    if not _IDENTIFIER.match(name):
        raise InternalError(f"{name!r} cannot be an identifier")


# Parts that kernels call


def emit_update(module: Module, phase: ir.PhaseCode) -> Function | None:
    if not phase.update:
        return None
    return emit_function(
        module,
        f"update_{phase.name}",
        ["b", PICK, "fault"],
        f"What picking a node in phase {phase.name} does.",
        lambda writer: emit_statements(writer, phase.update),
        [PICK],
    )


def emit_fill_legal(module: Module) -> Function:
    def body(writer: Writer) -> None:
        legal, phase = writer.use("legal"), writer.use("phase")
        writer.line("count = 0")
        for number, code in enumerate(module.program.phases):
            test = "if" if number == 0 else "elif"
            with writer.block(f"{test} {phase}[b] == {number}:"):
                hoist(writer, [code.allow])
                with writer.loop(f"for pick in range({writer.use('n')}[b]):", PICK):
                    allowed = "True" if code.allow is None else emit_value(writer, code.allow)
                    writer.line(f"allowed = {allowed}")
                    writer.line(f"{legal}[b, pick] = allowed")
                    writer.line("count += allowed")
        writer.line("return count")

    doc = "Mark the legal nodes; how many there are."
    return emit_function(module, "fill_legal", ["b"], doc, body)


def emit_turn(module: Module) -> Function | None:
    """Only where phases may be skipped."""
    phases = module.program.phases
    if not module.program.may_skip:
        return None

    def body(writer: Writer) -> None:
        for number, code in enumerate(phases):
            with writer.block(f"if number <= {number}:"):
                if code.when is None:
                    writer.line(f"return {number}")
                    continue
                with writer.block(f"if {emit_value(writer, code.when)}:"):
                    writer.line(f"return {number}")
        writer.line(f"return {len(phases)}")

    doc = "The first phase from `number` on that is not skipped; their number if all are."
    return emit_function(module, "turn", ["b", "number"], doc, body)


def emit_ending(module: Module, fill_legal: Function, turn: Function | None) -> Function:
    terminate, stop = module.program.terminate, module.program.stop

    def body(writer: Writer) -> None:
        rounds = writer.use("rounds")
        writer.line(f"{writer.use('legal')}[b, :] = False")
        if turn is not None:
            writer.line(f"{writer.use('picked')}[b, :] = False")
            writer.line(f"number = {writer.call(turn, 'b', '0')}")
            some = f"number < {len(module.program.phases)}"
            writer.line(f"{writer.use('phase')}[b] = number if {some} else 0")
        if terminate is not None:
            with writer.block(f"if {emit_value(writer, terminate)}:"):
                writer.line("return TERMINATED")
        for bound, code in (("horizon", "TERMINATED"), ("limit", "TRUNCATED")):
            with writer.block(f"if {rounds}[b] >= {writer.use(bound)}[b] - 1e-9:"):
                writer.line(f"return {code}")
        opens = "" if turn is None else f"{some} and "
        with writer.block(f"if {opens}{writer.call(fill_legal, 'b')} > 0:"):
            if stop is not None:
                when = "True" if stop.when is None else emit_value(writer, stop.when)
                writer.line(f"{writer.use('legal')}[b, -1] = {when}")
            writer.line("return RUNNING")
        writer.line("return TERMINATED")

    return emit_function(module, "ending", ["b"], "Whether and how the episode has ended.", body)


def emit_pay(module: Module) -> Function | None:
    reward = module.program.reward
    if reward is None:
        return None

    def body(writer: Writer) -> None:
        if reward.kind == "terminal":
            with writer.block(f"if {writer.use('ended')}[b] == RUNNING:"):
                writer.line("return 0.0")
        value = emit_number(writer, reward.value)
        if reward.kind != "potential":
            writer.line(f"return {value}")
            return
        kept = writer.use("potential")
        writer.line(f"value = {value}")
        writer.line(f"gain = minus(value, {kept}[b])")
        writer.line(f"{kept}[b] = value")
        writer.line("return gain")

    return emit_function(module, "pay", ["b"], f"The reward `{reward.name}` of a round.", body)


# Kernels


def emit_reset(module: Module, ending: Function) -> None:
    program = module.program

    def slot(writer: Writer) -> None:
        _emit_first_values(writer, program)
        for array, value in (("phase", "0"), ("rounds", "0")):
            writer.line(f"{writer.use(array)}[b] = {value}")
        writer.line(f"{writer.use('last')}[b, :] = -1")
        writer.line(f"{writer.use('horizon')}[b] = {emit_value(writer, program.horizon)}")
        limit = "INF" if program.limit is None else emit_value(writer, program.limit)
        writer.line(f"{writer.use('limit')}[b] = {limit}")
        forget_state(writer)
        writer.line(f"{writer.use('ended')}[b] = {writer.call(ending, 'b')}")
        potential = "0.0"
        if program.reward is not None and program.reward.kind == "potential":
            potential = emit_value(writer, program.reward.value)
        writer.line(f"{writer.use('potential')}[b] = {potential}")

    doc = "Start the episodes of some slots."
    emit_kernel(module, Role.RESET, "", ["slots", "fault"], doc, over_slots(slot))


def _emit_first_values(writer: Writer, program: ir.Program) -> None:
    """Tables of what is known, then the state, then the tables that follow it."""
    for code in program.kept:
        if not code.follows:
            emit_kept(writer, code)
    for cells in program.initial:
        emit_zeros(writer, cells)
        emit_cells(writer, cells)
    for code in program.kept:
        if code.follows:
            emit_kept(writer, code)
    for cells in program.derived:
        emit_zeros(writer, cells)


def emit_step(
    module: Module,
    updates: list[Function | None],
    fill_legal: Function,
    ending: Function,
    pay: Function | None,
    turn: Function | None,
) -> None:
    last_phase = len(module.program.phases) - 1

    def slot(writer: Writer) -> None:
        ended, legal, nodes = (writer.use(name) for name in ("ended", "legal", "n"))
        writer.line("rewards[b] = 0.0")
        writer.line("fault[b] = 0")
        writer.skip_if(f"{ended}[b] != RUNNING")
        writer.line("pick = actions[b]")
        if module.program.stop is not None:
            _emit_stop(writer, module, pay)
        with writer.block(f"if pick < 0 or pick >= {nodes}[b] or not {legal}[b, pick]:"):
            writer.line("fault[b] = ILLEGAL")
            writer.line("continue")
        writer.line(f"at = {writer.use('phase')}[b]")
        for number, update in enumerate(updates):
            if update is not None:
                with writer.block(f"if at == {number}:"):
                    writer.line(writer.call(update, "b", "pick", "fault"))
        if any(map(can_stop, updates)):
            writer.skip_if("fault[b] != 0")
        writer.line(f"{writer.use('last')}[b, at] = pick")
        goes_on, following = f"at < {last_phase}", "at + 1"
        if turn is not None:
            writer.line(f"{writer.use('picked')}[b, at] = True")
            writer.line(f"number = {writer.call(turn, 'b', following)}")
            goes_on, following = f"number <= {last_phase}", "number"
        if last_phase > 0:
            with writer.block(f"if {goes_on}:"):
                writer.line(f"{writer.use('phase')}[b] = {following}")
                if module.program.stop is not None:
                    writer.line(f"{legal}[b, -1] = False")
                with writer.block(f"if {writer.call(fill_legal, 'b')} == 0:"):
                    writer.line("fault[b] = DEAD_END")
                writer.line("continue")
        writer.line(f"{writer.use('phase')}[b] = 0")
        writer.line(f"{writer.use('rounds')}[b] += 1")
        writer.line(f"{ended}[b] = {writer.call(ending, 'b')}")
        if pay is not None:
            writer.line(f"rewards[b] = {writer.call(pay, 'b')}")

    def body(writer: Writer) -> None:
        with writer.block(f"for b in range(len({writer.use('n')})):"):
            slot(writer)

    doc = "Apply one pick per slot; what is wrong with it goes to fault."
    emit_kernel(module, Role.STEP, "", ["actions", "rewards", "fault"], doc, body)


def _emit_stop(writer: Writer, module: Module, pay: Function | None) -> None:
    """The last column of the legal picks is to end the episode; no round passes."""
    legal, reward = writer.use("legal"), module.program.reward
    with writer.block(f"if pick == {legal}.shape[1] - 1 and {legal}[b, pick]:"):
        writer.line(f"{legal}[b, :] = False")
        writer.line(f"{writer.use('ended')}[b] = TERMINATED")
        if pay is not None and reward is not None and reward.kind == "terminal":
            writer.line(f"rewards[b] = {writer.call(pay, 'b')}")
        writer.line("continue")


def can_stop(update: Function | None) -> bool:
    """Whether an update reports mistakes of the spec."""
    return update is not None and update.stops


def emit_observe(module: Module) -> None:
    program = module.program

    def slot(writer: Writer) -> None:
        for cells in program.derived:
            if program.mutable and len(cells.axes) == 2:
                emit_zeros(writer, cells)  # there may be fewer edges than before
            emit_cells(writer, cells)
        if not program.derived:
            writer.line("pass")

    doc = "Bring derived features up to date."
    emit_kernel(module, Role.OBSERVE, "", ["slots", "fault"], doc, over_slots(slot))


def emit_judges(module: Module) -> None:
    """Kernels that fill one value per slot."""
    program = module.program
    for clause, ref in (("correct", program.correct), ("valid", program.valid)):
        if ref is not None:
            _emit_judge(module, Role.JUDGE, clause, f"Whether the state is {clause}.", ref)
    for name, ref in program.objectives:
        _emit_judge(module, Role.OBJECTIVE, name, f"The objective `{name}`.", ref)
    for name, ref in program.metrics:
        _emit_judge(module, Role.METRIC, name, f"The metric `{name}`.", ref)


def _emit_judge(module: Module, role: Role, subject: str, doc: str, ref: Ref) -> None:
    def slot(writer: Writer) -> None:
        writer.line(f"out[b] = {emit_value(writer, ref)}")

    emit_kernel(module, role, subject, ["slots", "out"], doc, over_slots(slot))
