"""Windows and messages of an IR program in, kernels that mark them per slot out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.emit.kernels import Module, emit_kernel
from gnarl_compiler.emit.values import emit_value, hoist, skip
from gnarl_compiler.emit.writer import Writer, axis_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.walk import reachable


def emit_views(module: Module) -> None:
    """Nothing where the network reads all."""
    program = module.program
    if program.windows:
        _emit_window(module)
    if program.messages:
        changing = program.mutable or any(follows_state(program, v) for v in program.messages)
        _emit_messages(module, "" if changing or program.windows else "reset")


def follows_state(program: ir.Program, view: ir.ViewCode) -> bool:
    """Whether picks can change it."""
    parts = [ref for ref in (view.where, view.key) if ref is not None]
    return any(program.infos[ref].when == "state" for ref in reachable(program, parts))


def _emit_window(module: Module) -> None:
    program = module.program

    def body(writer: Writer) -> None:
        _work_space(writer, program.windows)
        with writer.block("for b in slots:"):
            window = writer.use("window")
            writer.line(f"{window}[b, :] = False")
            for view in program.windows:
                _window(writer, view)
            legal, nodes = writer.use("legal"), writer.use("n")
            writer.line(f"show_legal(b, {nodes}, {legal}, {window})")

    doc = "Mark the nodes that the network reads."
    emit_kernel(module, Role.WINDOW, "", ["slots"], doc, body)


def _work_space(writer: Writer, views: tuple[ir.ViewCode, ...]) -> None:
    if any(view.key is not None for view in views):
        size = f"{writer.use('tags')}.shape[1]"
        writer.line(f"found = np.zeros({size}, np.int64)")
        writer.line(f"score = np.zeros({size}, np.float64)")


def _window(writer: Writer, view: ir.ViewCode) -> None:
    (axis,) = view.axes
    node, window = axis_name(axis), writer.use("window")
    with writer.scope():
        hoist(writer, [view.where, view.key])
        if view.key is not None:
            writer.line("count = 0")
        with writer.loop(f"for {node} in range({writer.use('n')}[b]):", axis):
            skip(writer, view.where, False)
            if view.key is None:
                writer.line(f"{window}[b, {node}] = True")
            else:
                _note(writer, view, node)
        if view.key is not None:
            tags = writer.use("tags")
            writer.line(f"show_first({view.count}, count, found, score, b, {tags}, {window})")


def _note(writer: Writer, view: ir.ViewCode, node: str) -> None:
    """One more node to choose from, and how good it is."""
    assert view.key is not None
    writer.line(f"score[count] = {'' if view.sign > 0 else '-'}{emit_value(writer, view.key)}")
    writer.line(f"found[count] = {node}")
    writer.line("count += 1")


def _emit_messages(module: Module, when: str) -> None:
    program = module.program

    def body(writer: Writer) -> None:
        _work_space(writer, program.messages)
        if program.windows:
            writer.line(f"shown = np.zeros({writer.use('window')}.shape[1], np.int64)")
        with writer.block("for b in slots:"):
            _clear(writer)
            for view in program.messages:
                _messages(writer, view)

    doc = "Mark from whom each node hears."
    emit_kernel(module, Role.MESSAGES, when, ["slots"], doc, body)


def _clear(writer: Writer) -> None:
    """Nobody hears anybody; what stands in the rows of nodes that are not shown is never read."""
    heard = writer.use("heard")
    if writer.program.windows:
        nodes, window = writer.use("n"), writer.use("window")
        writer.line(f"many = list_shown(b, {nodes}, {window}, shown, {heard})")
    else:
        writer.line(f"{heard}[b, :, :] = 0")


def _messages(writer: Writer, view: ir.ViewCode) -> None:
    sender, receiver = view.axes
    u, v, heard = axis_name(sender), axis_name(receiver), writer.use("heard")
    both = writer.program.directed
    with writer.scope():
        hoist(writer, [view.where, view.key])
        with _each_receiver(writer, receiver):
            hoist(writer, [view.where, view.key])
            if view.key is not None:
                writer.line("count = 0")
            with _each_sender(writer, sender, v):
                skip(writer, view.where, False)
                if view.key is None:
                    writer.line(f"hear({heard}, b, {u}, {v}, {both})")
                else:
                    _note(writer, view, u)
            if view.key is not None:
                tags = writer.use("tags")
                given = f"{view.count}, count, found, score, b, {tags}"
                writer.line(f"hear_first({given}, {heard}, {v}, {both})")


@contextmanager
def _each_receiver(writer: Writer, axis: str) -> Iterator[None]:
    if not writer.program.windows:
        with writer.loop(f"for {axis_name(axis)} in range({writer.use('n')}[b]):", axis):
            yield
        return
    with writer.loop("for to in range(many):", axis):
        writer.line(f"{axis_name(axis)} = shown[to]")
        yield


@contextmanager
def _each_sender(writer: Writer, axis: str, receiver: str) -> Iterator[None]:
    """Along the edges into a node; where all are joined, a small window has fewer nodes."""
    u = axis_name(axis)
    if writer.program.windows and writer.source.problem.graph.complete:
        with writer.loop("for at in range(many):", axis):
            writer.line(f"{u} = shown[at]")
            writer.skip_if(f"{u} == {receiver}")
            yield
        return
    rows, sources = writer.use("rowptr"), writer.use("src")
    arcs = f"for arc in range({rows}[b, {receiver}], {rows}[b, {receiver} + 1]):"
    with writer.loop(arcs, axis):
        writer.line(f"{u} = {sources}[b, arc]")
        if writer.program.windows:
            writer.skip_if(f"not {writer.use('window')}[b, {u}]")
        yield
