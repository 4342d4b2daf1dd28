"""What a program keeps in; out: lines that write a cell and bring up to date what follows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from gnarl_compiler.emit.abi import CHOICES, TallyArrays, array_name, kept_array
from gnarl_compiler.emit.chain_tables import relinked
from gnarl_compiler.emit.values import emit_loops, emit_number, emit_value, hoist, skip
from gnarl_compiler.emit.writer import (
    Function,
    Writer,
    axis_name,
    follow_name,
    found_name,
    table_write_name,
)
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import NEARBY, OTHER, OWN, Program, Written
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.model import Feature
from gnarl_dsl.model.kinds import EDGE, NODE_VALUE, SCALAR, TRUTH


def is_sum(program: Program, code: ir.TallyCode) -> bool:
    """Whether what is kept are numbers that may round; counts are whole."""
    op = program.ops[code.value]
    return isinstance(op, ir.Reduce) and op.op == "sum"


def tally_tables(program: Program, code: ir.TallyCode) -> tuple[str, ...]:
    """The arrays of a tally."""
    arrays = TallyArrays.of(code.number)
    extra = (arrays.grain, arrays.top) if is_sum(program, code) else ()
    return (arrays.total, *extra)


def followed(program: Program) -> Iterator[str]:
    """The features whose writes bring something up to date, in the order of their names."""
    names: set[Written] = {name for code in program.kept for name in code.follows}
    names |= {share.cells for code in program.tallies for share in code.shares}
    names |= {name for p in program.phases if p.mask is not None for name in p.mask.follows}
    yield from sorted(name for name in names if isinstance(name, str))


def is_followed(program: Program, number: int) -> bool:
    """Whether anything is kept that a write to a table changes."""
    shares = any(share.cells == number for code in program.tallies for share in code.shares)
    return shares or any(p.mask is not None and number in p.mask.follows for p in program.phases)


def write_axes(feature: Feature) -> tuple[str, ...]:
    """The nodes of a cell."""
    return (OWN, OTHER) if feature.place is EDGE else (OWN,)


# Writes


def emit_write(writer: Writer, feature: Feature, fill_legal: Function) -> None:
    """Shares off, the cell, tables, shares on, the mask."""
    program, name = writer.program, feature.name
    at = "edge" if feature.place is EDGE else axis_name(OWN)
    cell = f"{writer.use(array_name(feature))}[b, {at}]"
    if feature.type is not SCALAR:  # of floats, 0.0 and -0.0 are equal but not the same
        with writer.block(f"if {cell} == value:"):
            writer.line("return")
    tables = [table for table in program.kept if name in table.follows]
    spread = [table for table in tables if program.spreads(table)]
    with _shares(writer, name), relinked(writer, name):
        writer.line(f"{cell} = value")
        with writer.scope():
            for table in tables:
                if table not in spread:
                    kept = writer.use(kept_array(table.number))
                    writer.line(f"{kept}[b, {axis_name(OWN)}] = {_found(writer, table)}")
    for table in spread:
        _follow(writer, table, nearby=name in table.near)
    _follow_mask(writer, name, fill_legal)


def _follow(writer: Writer, table: ir.KeptCode, nearby: bool) -> None:
    """Bring a table up to date that a write changes elsewhere, too."""
    own = axis_name(OWN)
    follow = writer.shared[follow_name(table.number)]
    writer.line(writer.call(follow, "b", own))
    if not nearby:
        return
    node = writer.program.ops.index(ir.Axis(OWN, NODE_VALUE))
    for way in _ways_back(writer.program, table):
        domain = ir.Domain("near", (NEARBY,), node, way)
        call = writer.call(follow, "b", axis_name(NEARBY))
        emit_loops(writer, (domain,), None, partial(writer.line, call))


def _ways_back(program: Program, table: ir.KeptCode) -> list[Literal["both", "out", "in"]]:
    """Along which edges of a node those are that have it for a neighbour."""
    back: dict[str, Literal["both", "out", "in"]] = {"both": "both", "out": "in", "in": "out"}
    parts = (program.ops[ref] for ref in reachable(program, [table.value]))
    ways = (part.domains[0].direction for part in parts if isinstance(part, ir.Reduce))
    return [back[way] for way in dict.fromkeys(ways)]


def emit_found(writer: Writer, table: ir.KeptCode) -> None:
    writer.line(f"return {emit_value(writer, table.value)}")


def _found(writer: Writer, table: ir.KeptCode) -> str:
    return writer.call(writer.shared[found_name(table.number)], "b", axis_name(OWN))


def emit_refresh(writer: Writer, table: ir.KeptCode) -> None:
    """A cell of a table, found anew."""
    value = _found(writer, table)
    write = writer.shared.get(table_write_name(table.number))
    if write is None:
        cell = f"{writer.use(kept_array(table.number))}[b, {axis_name(OWN)}]"
        writer.line(f"{cell} = {value}")
    else:
        writer.line(writer.call(write, "b", axis_name(OWN), value))


def emit_table_write(writer: Writer, number: int, fill_legal: Function) -> None:
    """The same for a table."""
    cell = f"{writer.use(kept_array(number))}[b, {axis_name(OWN)}]"
    table = writer.program.kept[number]
    whole = writer.program.infos[table.value].kind is TRUTH
    if whole or writer.program.chain_of(table) is not None:  # chains never come to -0.0
        with writer.block(f"if {cell} == value:"):
            writer.line("return")
    with _shares(writer, number):
        writer.line(f"{cell} = value")
    _follow_mask(writer, number, fill_legal)


@contextmanager
def _shares(writer: Writer, cells: Written) -> Iterator[None]:
    """Around a write: what tallies have of the cell is taken off, and added again as it is then."""
    shares = [(c, s) for c in writer.program.tallies for s in c.shares if s.cells == cells]
    with writer.scope():
        for code, share in shares:
            writer.line(f"{_total(writer, code)} -= {emit_number(writer, share.value)}")
    yield
    with writer.scope():
        for code, share in shares:
            _add(writer, code, emit_number(writer, share.value))


def _follow_mask(writer: Writer, cells: Written, fill_legal: Function) -> None:
    for phase in writer.program.phases:
        if phase.mask is not None and cells in phase.mask.follows:
            _emit_mask(writer, phase.mask, cells, fill_legal)


def _total(writer: Writer, code: ir.TallyCode) -> str:
    return f"{writer.use(TallyArrays.of(code.number).total)}[b]"


def _add(writer: Writer, code: ir.TallyCode, value: str) -> None:
    """One more summand; of numbers it is noted what they have in common."""
    if not is_sum(writer.program, code):
        writer.line(f"{_total(writer, code)} += {value}")
        return
    arrays, summand = TallyArrays.of(code.number), writer.named(value)
    writer.line(f"{_total(writer, code)} += {summand}")
    common = f"{writer.use(arrays.grain)}, {writer.use(arrays.top)}"
    writer.line(f"note_summand(b, {summand}, {common})")


def _emit_mask(writer: Writer, mask: ir.MaskCode, feature: Written, fill_legal: Function) -> None:
    legal, choices, own = writer.use("legal"), writer.use(CHOICES), axis_name(OWN)
    turns = [node for name, node in mask.turns if name == feature]
    if turns:
        test = " or ".join(f"{own} == {emit_value(writer, node)}" for node in turns)
        with writer.block(f"if {test}:"):
            writer.line(f"{choices}[b] = {writer.call(fill_legal, 'b')}")
            writer.line("return")
    with writer.scope():
        writer.line(f"allowed = {emit_value(writer, mask.value)}")
    writer.line(f"{choices}[b] += int(allowed) - int({legal}[b, {own}])")
    writer.line(f"{legal}[b, {own}] = allowed")


# Whole tallies


def emit_first_tally(writer: Writer, code: ir.TallyCode) -> None:
    """What a tally comes to after a reset."""
    if not is_sum(writer.program, code):
        writer.line(f"{_total(writer, code)} = {emit_value(writer, code.value)}")
        return
    arrays = TallyArrays.of(code.number)
    writer.line(f"{_total(writer, code)} = 0.0")
    writer.line(f"{writer.use(arrays.grain)}[b] = 1.0")
    writer.line(f"{writer.use(arrays.top)}[b] = 0.0")
    _each_summand(writer, code, lambda value: _add(writer, code, value))


def emit_total(writer: Writer, code: ir.TallyCode) -> None:
    """A sum: as it is kept, or with its summands in their order."""
    arrays, op = TallyArrays.of(code.number), writer.program.ops[code.value]
    assert isinstance(op, ir.Reduce)
    count = writer.use("n" if op.domains[0].kind == "nodes" else "m")
    common = f"{writer.use(arrays.grain)}, {writer.use(arrays.top)}"
    with writer.block(f"if is_lossless(b, {count}[b], {common}):"):
        writer.line(f"return {_total(writer, code)}")
    writer.line("total = 0.0")
    _each_summand(writer, code, lambda value: writer.line(f"total += {value}"))
    writer.line("return total")


def _each_summand(writer: Writer, code: ir.TallyCode, add: Callable[[str], None]) -> None:
    op = writer.program.ops[code.value]
    assert isinstance(op, ir.Reduce)
    assert op.body is not None
    body = op.body
    hoist(writer, [op.where, op.body])

    def inner() -> None:
        skip(writer, op.where, False)
        add(emit_number(writer, body))

    emit_loops(writer, op.domains, None, inner)
