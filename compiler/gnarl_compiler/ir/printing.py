"""An IR program in, its readable form out: the same program gives the same bytes.

    %7   = exists y_0 in near(%2) : %6                         truth {pick}  state

reads: operation 7 is a truth value that depends on the axis `pick` and on the state. `d@1`
is the feature d after the first write of an update, `edge@0` the graph before any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program, Ref
from gnarl_dsl.language.operators import OPERATORS

_WIDTH = 60


def print_program(program: Program) -> str:
    """The whole program as text."""
    words = ["directed" if program.directed else "undirected", "mutable" * program.mutable]
    lines = [f"program {program.name} ({', '.join(word for word in words if word)})", "", "values"]
    lines += [_entry(program, ref) for ref in range(len(program.ops))]
    for name, section in _sections(program):
        lines += ["", name, *(f"  {line}" for line in section)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _entry(program: Program, ref: Ref) -> str:
    info = program.infos[ref]
    axes = f" {{{', '.join(sorted(info.axes))}}}" if info.axes else ""
    marks = "" if info.finite else "  may be infinite"
    marks += "  may be unset" if info.optional else ""
    text = f"%{ref:<4}= {print_op(program.ops[ref])}"
    return f"  {text:<{_WIDTH}} {ir.KIND_NAMES[info.kind]}{axes}  {info.when}{marks}"


def _sections(program: Program) -> Iterator[tuple[str, list[str]]]:
    if program.kept:
        yield "kept in tables", [_kept(code) for code in program.kept]
    if program.tallies:
        yield "tallies", [line for code in program.tallies for line in _tally(code)]
    for title, cells in (("initial values", program.initial), ("derived", program.derived)):
        if cells:
            yield title, [_cells(entry) for entry in cells]
    for phase in program.phases:
        yield f"phase {phase.name}({ir.PICK})", list(_phase(phase))
    yield "clauses", list(_clauses(program))
    for title, views in (("window", program.windows), ("messages", program.messages)):
        if views:
            yield title, [_view(view) for view in views]
    for expert in program.experts:
        yield f"expert {expert.name}", list(_expert(program, expert))


def _kept(code: ir.KeptCode) -> str:
    names = (f"{name}{' nearby' if name in code.near else ''}" for name in code.follows)
    follows = f" follows {', '.join(names)}" if code.follows else ""
    return f"kept{code.number}{f'[{code.axis}]' if code.axis else ''} = %{code.value}{follows}"


def _written(cells: ir.Written) -> str:
    return cells if isinstance(cells, str) else f"kept{cells}"


def _tally(code: ir.TallyCode) -> Iterator[str]:
    yield f"tally{code.number} = %{code.value}"
    for share in code.shares:
        yield f"  share of {_written(share.cells)}{_list(share.axes, '[]')} %{share.value}"


def _cells(cells: ir.Cells) -> str:
    return f"{cells.feature}{_list(cells.axes, '[]')} = %{cells.value}"


def _phase(phase: ir.PhaseCode) -> Iterator[str]:
    if phase.when is not None:
        yield f"when %{phase.when}"
    yield f"allow {'every node' if phase.allow is None else f'%{phase.allow}'}"
    if phase.mask is not None:
        mask = phase.mask
        turns = "".join(f", turned by {name} at %{node}" for name, node in mask.turns)
        follows = ", ".join(map(_written, mask.follows))
        yield f"mask[{ir.OWN}] = %{mask.value} follows {follows}{turns}"
    if phase.update:
        yield "update"
        yield from _indented(_statements(phase.update))


def _clauses(program: Program) -> Iterator[str]:
    for name in ("horizon", "limit", "terminate", "correct", "valid"):
        ref = getattr(program, name)
        if ref is not None:
            yield f"{name} %{ref}"
    if program.stop is not None:
        yield "may stop" if program.stop.when is None else f"may stop when %{program.stop.when}"
    for kind, entries in (("objective", program.objectives), ("metric", program.metrics)):
        for name, ref in entries:
            yield f"{kind} {name} = %{ref}"
    if program.reward is not None:
        yield f"reward {program.reward.name} {program.reward.kind} %{program.reward.value}"


def _view(view: ir.ViewCode) -> str:
    way = "min" if view.sign > 0 else "max"
    best = "" if view.key is None else f" {way}imising %{view.key} first {view.count}"
    return f"({', '.join(view.axes)}){_where(view.where)}{best}"


def _expert(program: Program, expert: ir.ExpertCode) -> Iterator[str]:
    if expert.greedy is not None:
        yield f"greedy {expert.greedy}"
    for phase, rule in zip(program.phases, expert.rules, strict=False):
        for position, choice in enumerate(rule):
            where = "" if choice.where is None else f" where %{choice.where}"
            keys = [f" {'min' if sign > 0 else 'max'}imising %{key}" for sign, key in choice.keys]
            yield f"{'else' if position else phase.name}: any{where}{''.join(keys)}"


# Statements


def _statements(body: Iterable[ir.Statement]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ir.Store():
                index = _list((f"%{ref}" for ref in statement.index), "[]")
                yield f"{statement.feature}{index} := %{statement.value}"
            case ir.StoreEdge():
                yield f"edge(%{statement.source}, %{statement.target}) := %{statement.value}"
            case ir.Bind():
                yield f"let {statement.name} = %{statement.value}"
            case ir.Branch():
                yield f"if %{statement.condition}"
                yield from _indented(_statements(statement.then))
                if statement.otherwise:
                    yield "else"
                    yield from _indented(_statements(statement.otherwise))
            case ir.Loop():
                yield f"for {_domains(statement.domains)}{_where(statement.where)}"
                yield from _indented(_statements(statement.body))
            case _:
                assert_never(statement)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


# Operations


def print_op(op: ir.Op) -> str:
    """One operation, without its number."""
    match op:
        case ir.Const():
            return f"{op.value!r}"
        case ir.Axis():
            return op.name
        case ir.Local():
            return f"let {op.name}"
        case ir.Pick():
            return f"pick of phase {op.phase}"
        case ir.Last():
            return f"last of phase {op.phase}"
        case ir.Read():
            return f"{op.feature}@{op.version}{_list((f'%{ref}' for ref in op.index), '[]')}"
        case ir.Marked():
            return f"node of {op.feature}@{op.version}"
        case ir.Unset():
            return "unset"
        case ir.Nodes():
            return "n"
        case ir.Edges():
            return f"m@{op.version}"
        case ir.HasEdge():
            return f"edge@{op.version}(%{op.source}, %{op.target})"
        case ir.Degree():
            return f"degree@{op.version}(%{op.node}, {op.direction})"
        case ir.Otherwise():
            return f"%{op.value} otherwise %{op.default}"
        case ir.Unary():
            return f"{op.op} %{op.operand}"
        case ir.Binary() if OPERATORS[op.op].called:
            return f"{op.op}(%{op.left}, %{op.right})"
        case ir.Binary() | ir.Compare():
            return f"%{op.left} {op.op} %{op.right}"
        case ir.Logic():
            return f" {op.op} ".join(f"%{ref}" for ref in op.args)
        case ir.Select():
            return f"if %{op.condition} then %{op.then} else %{op.otherwise}"
        case ir.Reduce():
            body = "" if op.body is None else f" : %{op.body}"
            return f"{op.op} {_domains(op.domains)}{_where(op.where)}{body}"
        case ir.Chase():
            return _chase(op)
        case ir.Reach():
            return _reach(op)
        case ir.Roots():
            return f"roots along {op.at} -> %{op.following}"
        case ir.At():
            return f"%{op.row}[%{op.node}]"
        case ir.Call():
            args = (f"%{arg}" if isinstance(arg, int) else arg for arg in op.args)
            over = f" over {op.at}" if op.at else ""
            over += f", {op.beside}" if op.beside else ""
            return f"{op.function}{_list(args, '()')}{over}"
        case ir.Tallied():
            return f"tally{op.number}"
        case ir.Kept():
            return f"kept{op.number}{'' if op.node is None else f'[%{op.node}]'}"
        case _:
            assert_never(op)


def _chase(op: ir.Chase) -> str:
    target = "" if op.target is None else f" to %{op.target}"
    cost = "" if op.cost is None else f" cost %{op.cost}"
    return f"{op.op} from %{op.start}{target} along {op.at} -> %{op.following}{cost}"


def _reach(op: ir.Reach) -> str:
    way = {True: " to", False: " from"}[op.reverse]
    source = "" if op.source is None else f"{way} %{op.source}"
    edges = f" with edges@{op.version}" if op.of_nodes else ""
    both = " both ways" if op.both else ""
    return f"{op.op}{source} by {_domains(op.domains)}{_where(op.where)}{edges}{both}"


def _domains(domains: Iterable[ir.Domain]) -> str:
    return ", ".join(map(_domain, domains))


def _domain(domain: ir.Domain) -> str:
    names = ", ".join(domain.axes)
    match domain.kind:
        case "nodes":
            return f"{names} in nodes"
        case "edges":
            return f"({names}) in edges@{domain.version}"
        case "near":
            way = "" if domain.direction == "both" else f", {domain.direction}"
            return f"{names} in near@{domain.version}(%{domain.node}{way})"
        case "range":
            return f"{names} in {domain.bounds[0]}..{domain.bounds[1]}"


def _where(ref: Ref | None) -> str:
    return "" if ref is None else f" where %{ref}"


def _list(items: Iterable[str], brackets: str) -> str:
    text = ", ".join(items)
    return f"{brackets[0]}{text}{brackets[1]}" if text else ""
