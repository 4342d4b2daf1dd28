"""An IR program in; out: which of its values are lets that become functions, and their names.

A let with a loop in it is a function if it is asked for in several places. Equal ones are one,
whatever the nodes are that they are given: `useful(x)` and `useful(last(from))`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Program, Ref
from gnarl_compiler.ir.walk import reachable, roots
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE_VALUE

# What looks at a whole graph has work space of its own, a local value is known where it is bound.
_APART = (ir.Chase, ir.Reach, ir.Roots, ir.Call, ir.Local, ir.Tallied)


@dataclass(frozen=True)
class LetCall:
    """A value that a function finds: its name, its parameters and what it is given for them."""

    let: str
    function: str
    params: tuple[str, ...]
    args: tuple[Ref, ...]


def let_functions(program: Program, problem: Problem) -> Mapping[Ref, LetCall]:
    """The values that functions find."""
    alike: dict[tuple[object, ...], list[ir.Called]] = {}
    for called in program.lets:
        if _can_be_function(program, called):
            alike.setdefault((called.let, *_form(program, called)), []).append(called)
    asked = [reachable(program, [root]) for root in dict.fromkeys(roots(program))]
    found: dict[Ref, LetCall] = {}
    taken: dict[str, int] = {}
    for group in alike.values():
        if sum(called.value in parts for called in group for parts in asked) < 2:
            continue
        let = group[0].let
        taken[let] = taken.get(let, 0) + 1
        function = f"let_{let}" if taken[let] == 1 else f"let_{let}_{taken[let]}"
        names = [param.name for param in problem.let(let).params]
        for called in group:
            given = [k for k, arg in enumerate(called.args) if arg in _nodes(program, called)]
            params = tuple(f"v_{names[k]}" for k in given)
            args = tuple(called.args[k] for k in given)
            found[called.value] = LetCall(let, function, params, args)
    return found


def _nodes(program: Program, called: ir.Called) -> tuple[Ref, ...]:
    """What a function is given: nodes, and nothing twice; all else is part of what it does."""
    nodes = (arg for arg in called.args if program.infos[arg].kind is NODE_VALUE)
    return tuple(dict.fromkeys(nodes))


def _can_be_function(program: Program, called: ir.Called) -> bool:
    """Whether it has a loop, and none that is the same for several of the nodes it is given."""
    given = _nodes(program, called)
    free = {axis for arg in given for axis in program.infos[arg].axes}
    parts = reachable(program, [called.value])
    ops = [program.ops[part] for part in parts]
    inner = {axis for op in ops if isinstance(op, ir.Reduce) for axis in ir.own_axes(op)}
    loops = [part for part in parts if isinstance(program.ops[part], ir.Reduce)]
    own = all(_is_own(program.infos[loop].axes, free, inner) for loop in loops)
    whole = program.infos[called.value].axes <= free and len(set(called.args)) == len(called.args)
    set_nodes = not any(program.infos[arg].optional for arg in given)
    apart = any(isinstance(op, _APART) for op in ops)
    return bool(loops) and own and whole and set_nodes and not apart


def _is_own(axes: frozenset[str], free: set[str], inner: set[str]) -> bool:
    return free <= axes or bool(axes & inner)


def _form(program: Program, called: ir.Called) -> tuple[object, ...]:
    """What a let does, whatever it is given and whatever its axes are called."""
    numbers = {arg: -1 - k for k, arg in enumerate(_nodes(program, called))}
    axes: dict[str, str] = {}
    lines: list[object] = []

    def axis(name: str) -> str:
        return axes.setdefault(name, f"axis{len(axes)}")

    def visit(part: Ref) -> int:
        if part not in numbers:
            op = program.ops[part]
            if isinstance(op, ir.Reduce):
                domains = (replace(d, axes=tuple(map(axis, d.axes))) for d in op.domains)
                op = replace(op, domains=tuple(domains))
            if isinstance(op, ir.Axis):
                op = replace(op, name=axis(op.name))
            lines.append(ir.map_operands(op, visit))
            numbers[part] = len(lines) - 1
        return numbers[part]

    visit(called.value)
    return tuple(lines)


def calls_in_order(found: Mapping[Ref, LetCall]) -> Iterator[tuple[Ref, LetCall]]:
    """One value for each function, those first that others ask."""
    seen: set[str] = set()
    for ref in sorted(found):
        if found[ref].function not in seen:
            seen.add(found[ref].function)
            yield ref, found[ref]
