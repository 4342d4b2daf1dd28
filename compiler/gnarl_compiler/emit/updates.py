"""IR statements in, lines of Python that write one slot out: updates and initial values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from gnarl_compiler.emit.abi import kept_array
from gnarl_compiler.emit.values import (
    emit_loops,
    emit_negation,
    emit_value,
    forget_state,
    hoist,
    skip,
)
from gnarl_compiler.emit.writer import Writer, axis_name, found_name, write_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.model import Feature
from gnarl_dsl.model.kinds import CATEGORICAL, CATEGORY, EDGE, NUMBER, SCALAR, TRUTH
from gnarl_dsl.report.source import Span

_BUFFER = {NUMBER: "np.float64", TRUTH: "np.bool_"}
Write = ir.Store | ir.StoreEdge


@dataclass(frozen=True)
class _Parallel:
    """A loop on its way: every turn reads before any of them writes.

    If `buffered`, the writes wait in buffers, one row per turn; those in `optional` are not made
    in every turn. Otherwise nothing that the loop reads is written, and they are made at once.
    """

    buffered: bool
    turn: str
    buffers: dict[Write, str]
    optional: frozenset[Write]


# Statements


def emit_statements(
    writer: Writer, body: tuple[ir.Statement, ...], loop: _Parallel | None = None
) -> None:
    """Statements in order; `loop` is the one that they are the body of."""
    for statement in body:
        match statement:
            case ir.Store() | ir.StoreEdge():
                _store(writer, statement, loop)
            case ir.Bind():
                writer.line(f"l_{statement.name} = {emit_value(writer, statement.value)}")
            case ir.Branch():
                _branch(writer, statement, loop)
            case ir.Loop():
                _parallel(writer, statement)
            case _:
                assert_never(statement)


def _branch(writer: Writer, statement: ir.Branch, loop: _Parallel | None) -> None:
    test = emit_value if statement.then else emit_negation
    with writer.block(f"if {test(writer, statement.condition)}:"):
        emit_statements(writer, statement.then or statement.otherwise, loop)
    if statement.then and statement.otherwise:
        with writer.block("else:"):
            emit_statements(writer, statement.otherwise, loop)


def _store(writer: Writer, statement: Write, loop: _Parallel | None) -> None:
    index = [emit_value(writer, ref) for ref in _index(statement)]
    value = emit_value(writer, statement.value)
    if loop is not None and loop.buffered:
        _delay(writer, loop, statement, index, value)
        return
    _write(writer, statement, index, value)
    if loop is None:
        forget_state(writer)


def _write(writer: Writer, statement: Write, index: list[str], value: str) -> None:
    """One cell or edge, after the checks that no earlier stage could make."""
    match statement:
        case ir.Store():
            _write_cell(writer, statement, index, value)
        case ir.StoreEdge():
            _write_edge(writer, statement, index, value)
        case _:
            assert_never(statement)


def _write_cell(writer: Writer, statement: ir.Store, index: list[str], value: str) -> None:
    feature, span = writer.source.features[statement.feature], statement.span
    array, name, info = writer.feature(feature.name), feature.name, _info(writer, statement.value)
    if feature.type is SCALAR and not info.finite:
        value = writer.named(value)
        with writer.block(f"if abs({value}) == INF:"):
            _fault(writer, span, f"`{name}` would become infinite, which a policy cannot read")
    if feature.type is CATEGORICAL and not _fits(writer, feature, statement.value):
        value = writer.named(value)
        with writer.block(f"if {value} < 0 or {value} >= {feature.categories}:"):
            _fault(writer, span, f"`{name}` would leave 0..{feature.categories - 1}")
    if feature.type is CATEGORICAL and info.kind is NUMBER:
        value = f"int({value})"
    if feature.place is EDGE:
        edge = writer.fresh("edge")
        writer.line(f"{edge} = {writer.use('edge_id')}[b, {', '.join(index)}]")
        with writer.block(f"if {edge} < 0:"):
            _fault(writer, span, f"`{name}` has no cell between nodes that are not joined")
        index = [*index, edge] if write_name(name) in writer.shared else [edge]
    write = writer.shared.get(write_name(name))
    if write is not None:
        writer.line(writer.call(write, "b", *index, value))
    else:
        writer.line(f"{array}[{', '.join(['b', *index])}] = {value}")


def _fits(writer: Writer, feature: Feature, ref: Ref) -> bool:
    """Whether a value is a category of the feature for sure."""
    op = writer.program.ops[ref]
    if isinstance(op, ir.Const):
        return 0 <= float(op.value) < feature.categories
    return bool(feature.choices) and _info(writer, ref).kind is CATEGORY


def _write_edge(writer: Writer, statement: ir.StoreEdge, ends: list[str], value: str) -> None:
    u, v = (writer.named(end) for end in ends)
    with writer.block(f"if {u} == {v}:"):
        _fault(writer, statement.span, "a node cannot be joined to itself")
    names = ["n", "m", "rowptr", "src", "adjacency"]
    function = "set_edge"
    if any(feature.place is EDGE for feature in writer.source.features.values()):
        function = "set_numbered_edge"
        names.append("edge_id")
    arrays = ", ".join(map(writer.use, names))
    writer.line(f"{function}(b, {u}, {v}, {value}, {writer.program.directed}, {arrays})")


def _fault(writer: Writer, span: Span, what: str) -> None:
    """Report a run-time mistake of the spec and leave the function."""
    writer.line(f"fault[b] = {writer.fault_code(span, what)}")
    writer.line("return")


# Parallel loops: everything is read before anything is written


def _parallel(writer: Writer, statement: ir.Loop) -> None:
    writes = list(_writes(statement.body))
    loop = _Parallel(
        turn=writer.fresh("turn"),
        buffered=not _reads_nothing_written(writer, statement, writes),
        buffers={write: writer.fresh("buffer") for write in writes},
        optional=frozenset(writes) - {s for s in statement.body if isinstance(s, Write)},
    )
    lets = frozenset(bind.name for bind in _binds(statement.body))
    hoist(writer, [statement.where, *(domain.node for domain in statement.domains)])
    hoist(writer, _refs(statement.body), lets)
    if loop.buffered:
        _allocate(writer, loop, statement.domains)

    def inner() -> None:
        skip(writer, statement.where, False)
        emit_statements(writer, statement.body, loop)
        if loop.buffered:
            writer.line(f"{loop.turn} += 1")

    emit_loops(writer, statement.domains, None, inner)
    if loop.buffered:
        _flush(writer, loop)
    forget_state(writer)


def _reads_nothing_written(writer: Writer, loop: ir.Loop, writes: list[Write]) -> bool:
    """Then writing at once makes no difference."""
    written = {write.feature for write in writes if isinstance(write, ir.Store)}
    nodes = (domain.node for domain in loop.domains)
    refs = [ref for ref in (loop.where, *nodes, *_refs(loop.body)) if ref is not None]
    ops = [writer.program.ops[ref] for ref in reachable(writer.program, refs)]
    reads = {op.feature for op in ops if isinstance(op, ir.Read | ir.Marked)}
    edges = any(isinstance(write, ir.StoreEdge) for write in writes)
    return not edges and not reads & written


def _allocate(writer: Writer, loop: _Parallel, domains: tuple[ir.Domain, ...]) -> None:
    """Room for one write per statement and turn."""
    size = _most_turns(writer, domains)
    writer.line(f"{loop.turn} = 0")
    for statement, name in loop.buffers.items():
        dtype = _BUFFER.get(_info(writer, statement.value).kind, "np.int64")
        writer.line(f"{name}_at = np.empty(({size}, {len(_index(statement))}), np.int64)")
        writer.line(f"{name}_value = np.empty({size}, {dtype})")
        if statement in loop.optional:
            writer.line(f"{name}_made = np.zeros({size}, np.bool_)")


def _most_turns(writer: Writer, domains: tuple[ir.Domain, ...]) -> str:
    """How many turns there can be."""
    first = domains[0]
    if len(domains) == 1 and first.kind in ("nodes", "near"):
        return f"{writer.use('n')}[b]"
    if len(domains) == 1 and first.kind == "edges":
        return f"{writer.use('m')}[b]"
    size = writer.fresh("size")
    writer.line(f"{size} = 0")
    emit_loops(writer, domains, None, lambda: writer.line(f"{size} += 1"))
    return size


def _delay(writer: Writer, loop: _Parallel, statement: Write, index: list[str], value: str) -> None:
    """Note a write of this turn, to be made when all turns have read."""
    name = loop.buffers[statement]
    for position, node in enumerate(index):
        writer.line(f"{name}_at[{loop.turn}, {position}] = {node}")
    writer.line(f"{name}_value[{loop.turn}] = {value}")
    if statement in loop.optional:
        writer.line(f"{name}_made[{loop.turn}] = True")


def _flush(writer: Writer, loop: _Parallel) -> None:
    """The writes in order: turn by turn, and within a turn from top to bottom."""
    row = writer.fresh("row")
    with writer.loop(f"for {row} in range({loop.turn}):"):
        for statement, name in loop.buffers.items():
            index = [f"{name}_at[{row}, {k}]" for k in range(len(_index(statement)))]
            value = f"{name}_value[{row}]"
            if statement in loop.optional:
                with writer.block(f"if {name}_made[{row}]:"):
                    _write(writer, statement, index, value)
            else:
                _write(writer, statement, index, value)


# Whole features and values kept from reset


def emit_zeros(writer: Writer, cells: ir.Cells) -> None:
    """Zeros for a whole feature, so that cells out of use hold them."""
    if cells.axes:
        writer.line(f"{writer.feature(cells.feature)}[b, :] = 0")


def emit_cells(writer: Writer, cells: ir.Cells) -> None:
    """Fill a feature from its formula, but for the cells out of use."""
    feature, array = writer.source.features[cells.feature], writer.feature(cells.feature)
    if not cells.axes:
        _cell(writer, feature, f"{array}[b]", cells.value)
        return
    hoist(writer, [cells.value])
    at = ", ".join(map(axis_name, cells.axes))
    if feature.place is EDGE:
        at = f"{writer.use('edge_id')}[b, {at}]"
        domains: tuple[ir.Domain, ...] = (ir.Domain("edges", cells.axes),)
    else:
        domains = tuple(ir.Domain("nodes", (axis,)) for axis in cells.axes)
    target = f"{array}[b, {at}]"
    emit_loops(writer, domains, None, lambda: _cell(writer, feature, target, cells.value))


def _cell(writer: Writer, feature: Feature, target: str, ref: Ref) -> None:
    """One value, unless a policy could not read it; the first such mistake is reported."""
    value, test, what = emit_value(writer, ref), "", ""
    if feature.type is SCALAR and not _info(writer, ref).finite:
        value = writer.named(value)
        test, what = f"abs({value}) == INF", "is infinite"
    elif feature.type is CATEGORICAL and not _fits(writer, feature, ref):
        value = writer.named(value)
        last = feature.categories - 1
        test, what = f"{value} < 0 or {value} > {last}", f"is outside 0..{last}"
    if feature.type is CATEGORICAL and _info(writer, ref).kind is NUMBER:
        value = f"int({value})"
    if not test:
        writer.line(f"{target} = {value}")
        return
    code = writer.fault_code(feature.span, f"`{feature.name}` {what}")
    with writer.block(f"if not ({test}):"):
        writer.line(f"{target} = {value}")
    with writer.block("elif fault[b] == 0:"):
        writer.line(f"fault[b] = {code}")


def emit_kept(writer: Writer, code: ir.KeptCode) -> None:
    """Fill a table."""
    table = writer.use(kept_array(code.number))
    found = writer.shared.get(found_name(code.number))
    if found is None:
        hoist(writer, [code.value])
    if code.axis is None:
        writer.line(f"{table}[b] = {emit_value(writer, code.value)}")
        return
    node = axis_name(code.axis)
    domain = ir.Domain("nodes", (code.axis,))

    def fill() -> None:
        value = writer.call(found, "b", node) if found else emit_value(writer, code.value)
        writer.line(f"{table}[b, {node}] = {value}")

    emit_loops(writer, (domain,), None, fill)


# Parts of statements


def _info(writer: Writer, ref: Ref) -> ir.Info:
    return writer.program.infos[ref]


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
