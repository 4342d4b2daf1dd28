"""The environment of an IR program in, its kernels out: reset, step, observations, judgements."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from textwrap import dedent
from typing import Literal

from gnarl_compiler.emit.abi import (
    CHOICES,
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
from gnarl_compiler.emit.chain_tables import (
    emit_first_chain,
    emit_follow,
    emit_links,
    link_tables,
)
from gnarl_compiler.emit.imports import helpers_apart
from gnarl_compiler.emit.lets import LetCall, calls_in_order
from gnarl_compiler.emit.updates import emit_cells, emit_kept, emit_statements, emit_zeros
from gnarl_compiler.emit.upkeep import (
    emit_first_tally,
    emit_found,
    emit_refresh,
    emit_table_write,
    emit_total,
    emit_write,
    followed,
    is_followed,
    is_sum,
    tally_tables,
    write_axes,
)
from gnarl_compiler.emit.values import (
    MEMO,
    emit_chain,
    emit_joined,
    emit_loops,
    emit_number,
    emit_value,
    forget_state,
    hoist,
)
from gnarl_compiler.emit.writer import (
    Function,
    Source,
    Writer,
    axis_name,
    follow_name,
    found_name,
    table_write_name,
    total_name,
    write_name,
)
from gnarl_compiler.externs.find import twin_name, twin_of
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import OWN, PICK, Ref
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, GRAPH, NODE, NODE_VALUE
from gnarl_dsl.report.diagnostics import InternalError

FOUND = "find_kept"  # the function that finds all that writes keep
_ARRAY_MAKERS = {"empty", "zeros", "ones", "copy", "astype"}  # of NumPy, as far as they are emitted
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
    shared: dict[str, Function] = field(default_factory=dict)  # what others call, by name

    @classmethod
    def of(cls, program: ir.Program, problem: Problem) -> Module:
        names = [array_name(feature) for feature in problem.features]
        for name in [*names, *(phase.name for phase in program.phases)]:
            verify_identifier(name)
        kept = [kept_array(code.number) for code in program.kept]
        kept += [array for code in program.tallies for array in tally_tables(program, code)]
        kept += link_tables(program)
        arrays = [*CORE, *TURNS, *VIEWS, *names, *kept, CHOICES]
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
        used = {array for kernel in self.kernels for array in kernel.arrays}
        spaces = {name: kind for f in self.functions for name, kind in f.scratch.items()}
        scratch = {name: kind for name, kind in spaces.items() if name in used}
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
        for tally in self.program.tallies:
            for array in tally_tables(self.program, tally):
                yield KeptTable(array, "float64", GRAPH, live=True)
        for array in link_tables(self.program):
            yield KeptTable(array, "int64", NODE, live=True)
        if self.program.phases[0].mask is not None:
            yield KeptTable(CHOICES, "int64", GRAPH, live=True)


def emit_function(
    module: Module,
    name: str,
    first: Sequence[str],
    doc: str,
    body: Body,
    axes: Sequence[str] = (),
    kernel: bool = False,
) -> Function:
    """One function with whatever arrays its body turns out to need.

    What kernels call becomes a part of them, unless it makes arrays, which have to be counted.
    """
    verify_identifier(name)
    writer = Writer(module.source, axes, module.faults, module.shared)
    body(writer)
    arrays = tuple(sorted(writer.arrays, key=module.position))
    head = f"def {name}({', '.join([*first, *arrays])}):"
    inlined = not kernel and may_be_inlined(writer, module.functions)
    decorator = "@inlined" if inlined else "@njit"
    text = "\n".join([decorator, head, f'    """{doc}"""', *writer.lines])
    made = Function(name, tuple(first), arrays, writer.scratch, writer.stops, inlined, text)
    module.functions.append(made)
    return made


def may_be_inlined(writer: Writer, functions: Sequence[Function]) -> bool:
    """Whether a function makes no arrays, raises nothing, and calls only what may be inlined.

    The functions of the room `support` and those of a module say so by how they are decorated.
    """
    tree = ast.parse(dedent("\n".join(writer.lines)))
    if any(isinstance(node, ast.Raise) for node in ast.walk(tree)):
        return False
    problem = writer.source.problem
    asked = {op.function for op in writer.program.ops if isinstance(op, ir.Call)}
    twins = {twin_name(problem, name) for name in asked if twin_of(problem, name) is not None}
    apart = {made.name for made in functions if not made.inlined} | helpers_apart() | twins
    return not called_names(tree) & (_ARRAY_MAKERS | apart)


def called_names(tree: ast.AST) -> set[str]:
    """The last part of every name that is called."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in called}


def emit_kernel(
    module: Module, role: Role, subject: str, first: Sequence[str], doc: str, body: Body
) -> None:
    """A function that callers may call."""
    made = emit_function(module, role.of(subject), first, doc, body, kernel=True)
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


def emit_chains(module: Module) -> None:
    """What follows pointers that are the same wherever a chain is asked for."""
    program = module.program
    kept = {code.value for code in program.kept if program.spreads(code)}
    for ref, op in enumerate(program.ops):
        if not isinstance(op, ir.Chase) or ref in kept:
            continue
        name = module.source.chains[ref]
        parts = [part for part in (op.following, op.cost) if part is not None]
        reached = (program.ops[part] for part in reachable(program, parts))
        here = all(program.infos[part].axes <= {op.at} for part in parts)
        whole = (ir.Local, ir.Reduce, ir.Chase, ir.Reach, ir.Roots, ir.Call)
        if name in module.shared or not here or any(isinstance(o, whole) for o in reached):
            continue
        ends = ["start"] if op.target is None else ["start", "target"]
        doc = f"What {op.op} comes to from a node, and from all on the way."
        body = partial(_follow, op=op)
        made = emit_function(module, name, ["b", *ends], doc, body, [op.at])
        module.shared[name] = made


def emit_lets(module: Module) -> None:
    """Lets that several formulas ask for."""
    for ref, let in calls_in_order(module.source.lets):
        body, doc = partial(_emit_let, ref=ref, let=let), f"The let `{let.let}`."
        axes = sorted(module.program.infos[ref].axes)
        made = emit_function(module, let.function, ["b", *let.params], doc, body, axes)
        module.shared[let.function] = made


def _emit_let(writer: Writer, ref: Ref, let: LetCall) -> None:
    for param, arg in zip(let.params, let.args, strict=True):
        writer.keep(arg, param)
    writer.line(f"return {emit_value(writer, ref)}")


def _follow(writer: Writer, op: ir.Chase) -> None:
    target = None if op.target is None else "target"
    writer.line(f"return {emit_chain(writer, op, MEMO, 'start', target)}")


def emit_upkeep(module: Module, fill_legal: Function) -> None:
    """What writes cells that something follows, and what reads sums that are kept."""
    for code in module.program.tallies:
        if is_sum(module.program, code):
            name, doc = total_name(code), "A sum that writes keep; in order where order matters."
            made = emit_function(module, name, ["b"], doc, partial(emit_total, code=code))
            module.shared[name] = made
    for table in module.program.kept:
        if table.follows and module.program.chain_of(table) is None:
            name, doc = found_name(table.number), "What a table should have at a node."
            body = partial(emit_found, table=table)
            made = emit_function(module, name, ["b", axis_name(OWN)], doc, body, [OWN])
            module.shared[name] = made
        if module.program.spreads(table):
            _emit_spreading(module, table, fill_legal)
    for name in followed(module.program):
        feature = module.source.features[name]
        first = ["b", *map(axis_name, write_axes(feature)), *["edge"] * (feature.place is EDGE)]
        doc = f"Write a cell of {name} and bring up to date what follows it."
        body = partial(emit_write, feature=feature, fill_legal=fill_legal)
        made = emit_function(
            module, write_name(name), [*first, "value"], doc, body, write_axes(feature)
        )
        module.shared[write_name(name)] = made


def _emit_spreading(module: Module, code: ir.KeptCode, fill_legal: Function) -> None:
    """What writes a table, if something follows it, and what brings it up to date from a node."""
    if is_followed(module.program, code.number):
        name, doc = table_write_name(code.number), "Write to a table and what follows it."
        body = partial(emit_table_write, number=code.number, fill_legal=fill_legal)
        made = emit_function(module, name, ["b", axis_name(OWN), "value"], doc, body, [OWN])
        module.shared[name] = made
    chain, name = module.program.chain_of(code), follow_name(code.number)
    if chain is None:
        doc, body = "Bring a table up to date at a node.", partial(emit_refresh, table=code)
    else:
        doc = f"Find {chain.op} anew for a node and for all whose chains lead through it."
        body = partial(emit_follow, code=code)
    module.shared[name] = emit_function(module, name, ["b", axis_name(OWN)], doc, body, [OWN])


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
        phase = writer.use("phase")
        writer.line("count = 0")
        for number, code in enumerate(module.program.phases):
            test = "if" if number == 0 else "elif"
            with writer.block(f"{test} {phase}[b] == {number}:"):
                _fill_mask(writer, code.allow)
        writer.line("return count")

    doc = "Mark the legal nodes; how many there are."
    return emit_function(module, "fill_legal", ["b"], doc, body)


def _fill_mask(writer: Writer, allow: Ref | None) -> None:
    legal, nodes = writer.use("legal"), f"{writer.use('n')}[b]"
    if allow is None:
        writer.line(f"{legal}[b, :{nodes}] = True")
        writer.line(f"count = {nodes}")
        return
    hoist(writer, [allow])
    near = _near_pick(writer.program, allow)
    if near is None:
        with writer.loop(f"for pick in range({nodes}):", PICK):
            _mark(writer, (allow,))
    else:
        writer.line(f"{legal}[b, :] = False")
        domain = ir.Domain("near", (PICK,), near.node, near.direction)
        emit_loops(writer, (domain,), None, partial(_mark, writer, near.rest))


def _mark(writer: Writer, allow: tuple[Ref, ...]) -> None:
    """Whether a node is legal: all of these conditions hold."""
    cell = f"{writer.use('legal')}[b, pick]"
    if not allow:
        writer.line(f"{cell} = True")
        writer.line("count += 1")
        return
    writer.line(f"allowed = {emit_joined(writer, 'and', allow)}")
    writer.line(f"{cell} = allowed")
    writer.line("count += allowed")


@dataclass(frozen=True)
class _NearPick:
    """A condition that only neighbours of a node can meet, and what else they have to."""

    node: Ref
    direction: Literal["both", "out", "in"]
    rest: tuple[Ref, ...]


def _near_pick(program: ir.Program, allow: Ref) -> _NearPick | None:
    """What a mask along the edges of one node comes to; arcs are listed by where they lead."""
    op = program.ops[allow]
    parts = op.args if isinstance(op, ir.Logic) and op.op == "and" else (allow,)
    for part in parts:
        edge = program.ops[part]
        if not isinstance(edge, ir.HasEdge):
            continue
        rest = tuple(ref for ref in parts if ref != part)
        ends = (edge.source, edge.target) if program.directed else (edge.target, edge.source)
        for pick, node in (ends, ends[::-1] if not program.directed else ends):
            picked = program.ops[pick] == ir.Axis(PICK, NODE_VALUE)
            if picked and not program.infos[node].axes:
                return _NearPick(node, "in" if program.directed else "both", rest)
    return None


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
    """Of an ended episode no node is legal; masks of others are filled whole, or kept by writes."""
    terminate, stop = module.program.terminate, module.program.stop
    kept = module.program.phases[0].mask is not None

    def body(writer: Writer) -> None:
        rounds = writer.use("rounds")
        clear = f"{writer.use('legal')}[b, :] = False"

        def end(code: str) -> None:
            writer.line(clear)
            writer.line(f"return {code}")

        if turn is not None:
            writer.line(f"{writer.use('picked')}[b, :] = False")
            writer.line(f"number = {writer.call(turn, 'b', '0')}")
            some = f"number < {len(module.program.phases)}"
            writer.line(f"{writer.use('phase')}[b] = number if {some} else 0")
        if terminate is not None:
            with writer.block(f"if {emit_value(writer, terminate)}:"):
                end("TERMINATED")
        for bound, code in (("horizon", "TERMINATED"), ("limit", "TRUNCATED")):
            with writer.block(f"if {rounds}[b] >= {writer.use(bound)}[b] - 1e-9:"):
                end(code)
        opens = "" if turn is None else f"{some} and "
        count = f"{writer.use(CHOICES)}[b]" if kept else writer.call(fill_legal, "b")
        with writer.block(f"if {opens}{count} > 0:"):
            if stop is not None:
                when = "True" if stop.when is None else emit_value(writer, stop.when)
                writer.line(f"{writer.use('legal')}[b, -1] = {when}")
            writer.line("return RUNNING")
        end("TERMINATED")

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


def emit_reset(module: Module, fill_legal: Function, ending: Function) -> None:
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
        writer.line(f"{writer.use('legal')}[b, :] = False")
        if program.phases[0].mask is not None:
            writer.line(f"{writer.use(CHOICES)}[b] = {writer.call(fill_legal, 'b')}")
        writer.line(f"{writer.use('ended')}[b] = {writer.call(ending, 'b')}")
        potential = "0.0"
        if program.reward is not None and program.reward.kind == "potential":
            potential = emit_value(writer, program.reward.value)
        writer.line(f"{writer.use('potential')}[b] = {potential}")

    doc = "Start the episodes of some slots."
    emit_kernel(module, Role.RESET, "", ["slots", "fault"], doc, over_slots(slot))


def emit_recount(module: Module) -> None:
    """For whoever has the state of an episode and not what is kept of it, as an older run has."""
    program, found = module.program, module.shared.get(FOUND)
    masked = program.phases[0].mask is not None
    if not (program.kept or found or masked):
        return

    def slot(writer: Writer) -> None:
        for code in program.kept:
            if not code.follows:
                emit_kept(writer, code)
        if found is not None:
            writer.line(writer.call(found, "b"))
        if masked:
            writer.line(f"{writer.use(CHOICES)}[b] = 0")
            with writer.loop(f"for v in range({writer.use('n')}[b]):"):
                writer.line(f"{writer.use(CHOICES)}[b] += {writer.use('legal')}[b, v]")

    doc = "Find anew, in the middle of episodes, what is kept from step to step."
    emit_kernel(module, Role.RECOUNT, "", ["slots"], doc, over_slots(slot))


def emit_all_found(module: Module) -> None:
    """Of a state everything that writes keep, for resets and for `recount`."""
    program = module.program
    tables = [code for code in program.kept if code.follows]
    if not (tables or program.tallies):
        return

    def body(writer: Writer) -> None:
        emit_links(writer)
        for code in tables:
            first = emit_kept if program.chain_of(code) is None else emit_first_chain
            first(writer, code)
        for tally in program.tallies:
            emit_first_tally(writer, tally)

    doc = "Find all that writes keep up to date."
    module.shared[FOUND] = emit_function(module, FOUND, ["b"], doc, body)


def _emit_first_values(writer: Writer, program: ir.Program) -> None:
    """Tables of what is known, then the state, then the tables that follow it."""
    for code in program.kept:
        if not code.follows:
            emit_kept(writer, code)
    for cells in program.initial:
        emit_zeros(writer, cells)
        emit_cells(writer, cells)
    found = writer.shared.get(FOUND)
    if found is not None:
        writer.line(writer.call(found, "b"))
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
