"""Tables of what chains of pointers come to in; out: lines that find them and keep them true.

Per pointer that chains go along, lists say which nodes point to each (`support/links.py`), so a
write finds all whose chains lead through its node, each behind the one that it points to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gnarl_compiler.emit.abi import LEADING, LinkArrays, array_name, kept_array
from gnarl_compiler.emit.values import emit_number, emit_value
from gnarl_compiler.emit.writer import Writer, axis_name, table_write_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import OWN, Program


def chain_tables(program: Program) -> list[ir.KeptCode]:
    return [code for code in program.kept if program.chain_of(code) is not None]


def link_tables(program: Program) -> list[str]:
    """The arrays that list who points where."""
    return [array for links in _links(program).values() for array in links.all]


def _links(program: Program) -> dict[str, LinkArrays]:
    """Those of each pointer that chains go along."""
    names = dict.fromkeys(_pointer(program, code) for code in chain_tables(program))
    return {name: LinkArrays.of(number) for number, name in enumerate(names)}


def _pointer(program: Program, code: ir.KeptCode) -> str:
    pointer = program.ops[_chain(program, code).following]
    assert isinstance(pointer, ir.Read)
    return pointer.feature


def _chain(program: Program, code: ir.KeptCode) -> ir.Chase:
    chain = program.chain_of(code)
    assert chain is not None
    return chain


def _listed(writer: Writer, pointer: str) -> str:
    """A pointer and its lists, as arguments."""
    array = array_name(writer.source.features[pointer])
    return ", ".join(map(writer.use, (array, *_links(writer.program)[pointer].all)))


@contextmanager
def relinked(writer: Writer, feature: str) -> Iterator[None]:
    """Around a write of a pointer: its node is taken off one list and put into another."""
    listed = _listed(writer, feature) if feature in _links(writer.program) else None
    if listed is not None:
        writer.line(f"unlink(b, {axis_name(OWN)}, {listed})")
    yield
    if listed is not None:
        writer.line(f"link(b, {axis_name(OWN)}, {listed})")


def emit_links(writer: Writer) -> None:
    """All lists, from the pointers as they are."""
    for pointer in _links(writer.program):
        writer.line(f"link_all(b, {writer.use('n')}, {_listed(writer, pointer)})")


def emit_first_chain(writer: Writer, code: ir.KeptCode) -> None:
    """Infinite, but for those that lead to an end, from there on."""
    chain, table = _chain(writer.program, code), writer.use(kept_array(code.number))
    nodes = f"{writer.use('n')}[b]"
    writer.line(f"{table}[b, :{nodes}] = INF")
    if chain.target is not None:
        target = writer.named(emit_value(writer, chain.target))
        _from_end(writer, code, target)
        return
    pointer = array_name(writer.source.features[_pointer(writer.program, code)])
    with writer.loop(f"for end in range({nodes}):"):
        writer.skip_if(f"{writer.use(pointer)}[b, end] != end")
        _from_end(writer, code, "end")


def _from_end(writer: Writer, code: ir.KeptCode, end: str) -> None:
    chain, table = _chain(writer.program, code), writer.use(kept_array(code.number))
    at = axis_name(chain.at)
    writer.line(f"{table}[b, {end}] = 0.0")
    with writer.loop(f"for k in range(1, {_leading(writer, code, end, end)}):", chain.at):
        writer.line(f"{at} = {LEADING}[k]")
        writer.line(f"{table}[b, {at}] = {_one_step(writer, code)}")


def _leading(writer: Writer, code: ir.KeptCode, start: str, end: str) -> str:
    """A call that lists the nodes whose chains lead through one; how many they are."""
    links = _links(writer.program)[_pointer(writer.program, code)]
    space = writer.work_space(LEADING, "int64")
    lists = ", ".join(map(writer.use, (links.child, links.after)))
    return f"list_leading(b, {start}, {end}, {lists}, {space})"


def _one_step(writer: Writer, code: ir.KeptCode) -> str:
    """What a chain comes to from a node, by what it comes to from the next."""
    chain, table = _chain(writer.program, code), writer.use(kept_array(code.number))
    step = "1.0" if chain.cost is None else emit_number(writer, chain.cost)
    return f"{table}[b, {emit_value(writer, chain.following)}] + {step}"


def emit_follow(writer: Writer, code: ir.KeptCode) -> None:
    """What the chains through a node come to; of one that circles no end is known."""
    chain, table = _chain(writer.program, code), writer.use(kept_array(code.number))
    own, at = axis_name(OWN), axis_name(chain.at)
    pointer = writer.use(array_name(writer.source.features[_pointer(writer.program, code)]))
    end = "-1" if chain.target is None else emit_value(writer, chain.target)
    if chain.target is not None:
        end = writer.named(end)
        with writer.block(f"if {own} == {end}:"):
            writer.line("return")
    writer.line(f"up = {pointer}[b, {own}]")
    with writer.block(f"if up != {own} and {table}[b, {own}] == INF and {table}[b, up] == INF:"):
        writer.line("return")
    writer.line(f"count = {_leading(writer, code, own, end)}")
    writer.line(f"circles = is_leading(up, {LEADING}, count)")
    write = writer.shared.get(table_write_name(code.number))
    with writer.loop("for k in range(count):", chain.at):
        writer.line(f"{at} = {LEADING}[k]")
        writer.line(f"value = {_one_step(writer, code)}")
        with writer.block(f"if k == 0 and (circles or up == {own}):"):
            at_end = f"0.0 if up == {own} else INF"
            writer.line(f"value = {at_end if chain.target is None else 'INF'}")
        if write is None:
            writer.line(f"{table}[b, {at}] = value")
        else:
            writer.line(writer.call(write, "b", at, "value"))
