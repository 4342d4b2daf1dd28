"""IR operations in, lines of Python that compute them for one slot out.

One recursion: formulas, quantifiers, chains of pointers and registered functions contain each
other. The parts of `and`, `or` and `if` are computed only where they are needed. What does not
change inside a loop is computed before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import assert_never

from gnarl_compiler.emit.abi import CALLS, TallyArrays, kept_array
from gnarl_compiler.emit.writer import Part, Writer, axis_name, total_name
from gnarl_compiler.externs.find import twin_name, twin_of
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref, Unsupported
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.language.operators import COMPARISONS, OPERATORS, Operand
from gnarl_dsl.language.signatures import CHOICE, NODE_POINTER, ArgKind
from gnarl_dsl.model.kinds import CATEGORY, EDGE, INPUT, NODE_VALUE, NUMBER, SCALAR, TRUTH
from gnarl_dsl.report.diagnostics import InternalError

_LONG_TEXT = 100
_LARGE_FORMULA = 300  # operations, with what is shared counted each time
_LIGHT = 6  # operations
_LOOP = 60.0  # operations that make it worth asking something else first
_FEW_STEPS = 32  # room at first
_EXACT = 2**53  # up to here whole numbers and floats are the same
_STARTS = {"exists": "False", "forall": "True", "min": "INF", "max": "-INF"}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_EDGE_READERS = {
    NUMBER: "edge_number",
    TRUTH: "edge_truth",
    CATEGORY: "edge_category",
    NODE_VALUE: "edge_node",
}
_ROWS = {NUMBER: "float64", TRUTH: "bool_", CATEGORY: "int64", NODE_VALUE: "int64"}
Filters = Sequence[tuple[Ref, bool]]


def emit_value(writer: Writer, ref: Ref) -> str:
    """A Python expression for an operation; loops go to lines above it."""
    known = writer.known(ref)
    if known is not None:
        return known
    call = _let_call(writer, ref)
    if call is not None:
        return writer.keep(ref, call)
    text = _emit_op(writer, ref)
    return writer.keep(ref, text) if len(text) > _LONG_TEXT else text


def _let_call(writer: Writer, ref: Ref) -> str | None:
    """A call of the function that finds a value, if there is one."""
    let = writer.source.lets.get(ref)
    function = None if let is None else writer.shared.get(let.function)
    if let is None or function is None:
        return None
    return writer.call(function, "b", *(emit_value(writer, arg) for arg in let.args))


def emit_number(writer: Writer, ref: Ref) -> str:
    """The value as a float: the numbers of categories are stored as integers."""
    text = emit_value(writer, ref)
    return f"float({text})" if writer.program.infos[ref].kind is CATEGORY else text


def _emit_op(writer: Writer, ref: Ref) -> str:
    op = writer.program.ops[ref]
    match op:
        case ir.Const():
            return _constant(op)
        case ir.Axis():
            name = axis_name(op.name)
            return name if op.kind is NODE_VALUE else f"float({name})"
        case ir.Local():
            return f"l_{op.name}"
        case ir.Pick(optional=True):
            made = f"{writer.use('picked')}[b, {op.phase}]"
            return f"({writer.use('last')}[b, {op.phase}] if {made} else -1)"
        case ir.Pick() | ir.Last():
            return f"{writer.use('last')}[b, {op.phase}]"
        case ir.Read():
            return _read(writer, op)
        case ir.Marked():
            return f"{writer.feature(op.feature)}[b]"
        case ir.Unset():
            return "-1"
        case ir.Nodes() | ir.Edges():
            return f"float({writer.use('n' if isinstance(op, ir.Nodes) else 'm')}[b])"
        case ir.HasEdge():
            u, v = emit_value(writer, op.source), emit_value(writer, op.target)
            return f"joined({writer.use('adjacency')}, b, {u}, {v})"
        case ir.Degree():
            return _degree(writer, op)
        case ir.Otherwise():
            value = writer.keep(op.value, emit_value(writer, op.value))
            return f"({value} if {value} >= 0 else {emit_value(writer, op.default)})"
        case ir.Unary():
            return _unary(writer, op)
        case ir.Binary():
            return _operator(writer, op.op, op.left, op.right)
        case ir.Compare():
            return _compare(writer, op)
        case ir.Logic():
            return _logic(writer, op)
        case ir.Select():
            return _select(writer, ref, op)
        case ir.Reduce():
            return writer.keep(ref, _reduce(writer, op))
        case ir.Chase():
            return writer.keep(ref, _chase(writer, ref, op))
        case ir.Reach():
            return writer.keep(ref, _reach(writer, op))
        case ir.Roots():
            return writer.keep(ref, f"roots_of({_pointers(writer, op.following, op.at)})")
        case ir.At():
            return f"{emit_value(writer, op.row)}[{emit_value(writer, op.node)}]"
        case ir.Call():
            return writer.keep(ref, emit_call(writer, op))
        case ir.Tallied():
            return _tallied(writer, ref, writer.program.tallies[op.number])
        case ir.Kept():
            table = writer.use(kept_array(op.number))
            return (
                f"{table}[b]" if op.node is None else f"{table}[b, {emit_value(writer, op.node)}]"
            )
        case _:
            assert_never(op)


def _tallied(writer: Writer, ref: Ref, code: ir.TallyCode) -> str:
    """A count as it stands; a sum is a function, which looks whether it may be used."""
    known = writer.shared.get(total_name(code))
    if known is not None:
        return writer.keep(ref, writer.call(known, "b"))
    return f"{writer.use(TallyArrays.of(code.number).total)}[b]"


def _read(writer: Writer, op: ir.Read) -> str:
    feature, array = writer.source.features[op.feature], writer.feature(op.feature)
    index = [emit_value(writer, ref) for ref in op.index]
    if feature.place is EDGE:
        function = _EDGE_READERS[feature.type.cell]
        if feature.type is SCALAR and _is_complete(writer):
            return f"complete_number({array}, {writer.use('n')}, b, {', '.join(index)})"
        return f"{function}({array}, {writer.use('edge_id')}, b, {', '.join(index)})"
    if feature.type.apart:
        return f"points_apart({array}, b, {', '.join(index)})"
    cell = f"{array}[{', '.join(['b', *index])}]"
    # Inputs are stored as float32, which they are; arithmetic is float64. (Compiled, `float`
    # of a float32 is still a float32.)
    return f"np.float64({cell})" if feature.type is SCALAR and feature.stage is INPUT else cell


def _is_complete(writer: Writer) -> bool:
    graph = writer.source.problem.graph
    return graph.complete and not graph.directed


def _degree(writer: Writer, op: ir.Degree) -> str:
    node = emit_value(writer, op.node)
    if op.direction == "out":
        return f"float(out_degree({writer.use('adjacency')}, b, {node}))"
    rows = writer.use("rowptr")
    return f"float({rows}[b, {node} + 1] - {rows}[b, {node}])"


def _unary(writer: Writer, op: ir.Unary) -> str:
    if op.op == "not":
        return f"(not {emit_value(writer, op.operand)})"
    return _operator(writer, op.op, op.operand)


def _operator(writer: Writer, name: str, *refs: Ref) -> str:
    """Guarded against having no value, unless that cannot happen."""
    operator = OPERATORS[name]
    texts = tuple(emit_number(writer, ref) for ref in refs)
    return operator.emitted(texts, tuple(_operand(writer, ref) for ref in refs))


def _operand(writer: Writer, ref: Ref) -> Operand:
    op = writer.program.ops[ref]
    known = float(op.value) if isinstance(op, ir.Const) else None
    return Operand(writer.program.infos[ref].bound, known)


def _compare(writer: Writer, op: ir.Compare) -> str:
    """A comparison with an unset node is false, whatever the sign."""
    comparison, sides = COMPARISONS[op.op], (op.left, op.right)
    if comparison.called:
        return comparison.kernel.format(*(emit_number(writer, side) for side in sides))
    texts = [emit_value(writer, side) for side in sides]
    infos = [writer.program.infos[side] for side in sides]
    guards = [f"{text} >= 0" for text, info in zip(texts, infos, strict=True) if info.optional]
    return f"({' and '.join([*guards, comparison.kernel.format(*texts)])})"


# Conditions: a part that needs lines of its own gets them where it matters


def _aside(writer: Writer, ref: Ref) -> Part:
    """A value one level further in, without writing its lines yet."""
    with writer.aside() as part:
        part.text = emit_value(writer, ref)
    return part


def _logic(writer: Writer, op: ir.Logic) -> str:
    _share(writer, op.args)
    return emit_joined(writer, op.op, _loops_last(writer, op.args))


def _loops_last(writer: Writer, args: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """What needs a loop only where the rest leaves it open; the order makes no other difference."""

    def work(ref: Ref) -> float:
        known = 0.0 if writer.known(ref) is not None else writer.source.costs.of(ref).usual
        return known if known > _LOOP else 0.0

    return tuple(sorted(args, key=work))


def emit_joined(writer: Writer, word: str, refs: tuple[Ref, ...]) -> str:
    """`a and b and …`, or the same with `or`."""
    return _joined(writer, [emit_value(writer, refs[0])], word, refs[1:])


def _joined(writer: Writer, texts: list[str], word: str, rest: tuple[Ref, ...]) -> str:
    """`a and b and …`; the first part that needs lines starts a block for the rest."""
    for position, ref in enumerate(rest):
        part = _aside(writer, ref)
        if not part.lines:
            texts.append(part.text)
            continue
        result = writer.fresh()
        writer.line(f"{result} = {f' {word} '.join(texts)}")
        head = f"if {result}:" if word == "and" else f"if not {result}:"
        with writer.block(head, known=part.known):
            writer.lines += part.lines
            remaining = _joined(writer, [part.text], word, rest[position + 1 :])
            writer.line(f"{result} = {remaining}")
        return result
    return texts[0] if len(texts) == 1 else f"({f' {word} '.join(texts)})"


def _select(writer: Writer, ref: Ref, op: ir.Select) -> str:
    _share(writer, (op.then, op.otherwise))
    condition = emit_value(writer, op.condition)
    then, other = _aside(writer, op.then), _aside(writer, op.otherwise)
    texts = [_typed(writer, ref, part, of) for part, of in ((then, op.then), (other, op.otherwise))]
    if not then.lines and not other.lines:
        return f"({texts[0]} if {condition} else {texts[1]})"
    result = writer.fresh()
    for head, part, text in ((f"if {condition}:", then, texts[0]), ("else:", other, texts[1])):
        with writer.block(head):
            writer.lines += part.lines
            writer.line(f"{result} = {text}")
    return result


def _typed(writer: Writer, ref: Ref, part: Part, of: Ref) -> str:
    """A value in the one Python type of its kind, so that branches agree."""
    infos = writer.program.infos
    mixed = infos[ref].kind is NUMBER and infos[of].kind is CATEGORY
    return f"float({part.text})" if mixed else part.text


def _share(writer: Writer, refs: Sequence[Ref]) -> None:
    """Compute ahead what several parts need, if writing it out in each would be long."""
    if sum(writer.source.sizes[ref] for ref in refs) < _LARGE_FORMULA:
        return
    seen: set[Ref] = set()
    shared: set[Ref] = set()
    for ref in refs:
        own = set(below(writer, ref))
        shared |= own & seen
        seen |= own
    for ref in sorted(shared):
        if writer.source.sizes[ref] >= _LARGE_FORMULA // 10 and writer.known(ref) is None:
            writer.keep(ref, emit_value(writer, ref))


def below(writer: Writer, ref: Ref) -> Iterator[Ref]:
    """The operations of a formula that can be computed here."""
    waiting, seen = [ref], set[Ref]()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if writer.program.infos[current].axes <= writer.bound_axes:
            yield current
        waiting += ir.operands(writer.program.ops[current])


def _constant(op: ir.Const) -> str:
    if op.kind is TRUTH:
        return "True" if op.value else "False"
    if op.kind is CATEGORY:
        return str(int(op.value))
    if math.isinf(float(op.value)):
        return "INF" if op.value > 0 else "(-INF)"
    text = repr(float(op.value))
    return f"({text})" if op.value < 0 else text


# Before a loop


def hoist(
    writer: Writer, refs: Iterable[Ref | None], changing: frozenset[str] = frozenset()
) -> None:
    """Compute what a loop about to start needs and does not change.

    `changing` names the local lets that are bound inside it.
    """
    waiting = [ref for ref in refs if ref is not None]
    seen: set[Ref] = set()
    steady: list[Ref] = []
    while waiting:
        ref = waiting.pop()
        if ref in seen or writer.known(ref) is not None:
            continue
        seen.add(ref)
        op = writer.program.ops[ref]
        if not _is_steady(writer, ref, changing):
            if isinstance(op, ir.Chase) and _is_steady_chain(writer, op, changing):
                _memo(writer, ref)
            if not _is_found(writer, ref):
                waiting += ir.operands(op)
        elif not isinstance(op, ir.Const | ir.Axis | ir.Local):
            steady.append(ref)
    for ref in sorted(steady):
        writer.keep(ref, emit_value(writer, ref))


def _is_found(writer: Writer, ref: Ref) -> bool:
    """Whether a function finds it."""
    let = writer.source.lets.get(ref)
    return let is not None and let.function in writer.shared


def _is_steady_chain(writer: Writer, op: ir.Chase, changing: frozenset[str]) -> bool:
    """Whether a chain only starts elsewhere in each turn."""
    parts = [ref for ref in (op.following, op.target, op.cost) if ref is not None]
    return all(_is_steady(writer, ref, changing, op.at) for ref in parts)


def _is_steady(writer: Writer, ref: Ref, changing: frozenset[str], but: str = "") -> bool:
    if not writer.program.infos[ref].axes - {but} <= writer.bound_axes:
        return False
    ops = (writer.program.ops[part] for part in below(writer, ref)) if changing else ()
    return not any(isinstance(op, ir.Local) and op.name in changing for op in ops)


# Loops over domains


def emit_loops(
    writer: Writer,
    domains: tuple[ir.Domain, ...],
    stop: str | None,
    inner: Callable[[], None],
    filters: Filters = (),
) -> None:
    """Nested loops over the domains; `stop` is tested after each inner one.

    Each of the filters skips what it rules out in the outermost loop that can tell.
    """
    if not domains:
        inner()
        return
    first, rest = domains[0], domains[1:]

    def nested(left: Filters) -> None:
        emit_loops(writer, rest, stop, inner, _filtered(writer, left))
        if rest and stop:
            with writer.block(f"if {stop}:"):
                writer.line("break")

    _domain_loop(writer, first, stop, nested, filters)


def _filtered(writer: Writer, filters: Filters) -> Filters:
    """Skip what can be told here; what is left to be told further in."""
    early = [f for f in filters if writer.program.infos[f[0]].axes <= writer.bound_axes]
    for ref, holds in early:
        skip(writer, ref, holds)
    return [f for f in filters if f not in early]


def _domain_loop(
    writer: Writer,
    domain: ir.Domain,
    stop: str | None,
    inner: Callable[[Filters], None],
    filters: Filters,
) -> None:
    axis = domain.axes[0]
    match domain.kind:
        case "nodes":
            with writer.loop(f"for {axis_name(axis)} in range({writer.use('n')}[b]):", axis):
                inner(filters)
        case "range":
            low, high = domain.bounds
            if max(-low, high) > _EXACT:
                raise Unsupported("a range of numbers beyond 2^53")
            with writer.loop(f"for {axis_name(axis)} in range({low}, {high + 1}):", axis):
                inner(filters)
        case "near":
            _near_loop(writer, domain, axis, lambda: inner(filters))
        case "edges":
            _edge_loop(writer, domain, stop, inner, filters)


def _near_loop(writer: Writer, domain: ir.Domain, axis: str, inner: Callable[[], None]) -> None:
    assert domain.node is not None
    node, name = emit_value(writer, domain.node), axis_name(axis)
    if domain.direction == "out":
        node = writer.named(node)
        with writer.loop(f"for {name} in range({writer.use('n')}[b]):", axis):
            writer.skip_if(f"not joined({writer.use('adjacency')}, b, {node}, {name})")
            inner()
        return
    node = writer.named(node)
    arc, rows = writer.fresh("arc"), writer.use("rowptr")
    with writer.loop(f"for {arc} in range({rows}[b, {node}], {rows}[b, {node} + 1]):", axis):
        writer.line(f"{name} = {writer.use('src')}[b, {arc}]")
        inner()


def _edge_loop(
    writer: Writer,
    domain: ir.Domain,
    stop: str | None,
    inner: Callable[[Filters], None],
    filters: Filters,
) -> None:
    """Directed edges by rows of the matrix, undirected ones from their smaller end."""
    x, y = map(axis_name, domain.axes)
    source, target = domain.axes
    with writer.loop(f"for {x} in range({writer.use('n')}[b]):", source):
        left = _filtered(writer, filters)
        if writer.program.directed:
            with writer.loop(f"for {y} in range({writer.use('n')}[b]):", target):
                writer.skip_if(f"not joined({writer.use('adjacency')}, b, {x}, {y})")
                inner(left)
        else:
            arc, rows = writer.fresh("arc"), writer.use("rowptr")
            with writer.loop(f"for {arc} in range({rows}[b, {x}], {rows}[b, {x} + 1]):", target):
                writer.line(f"{y} = {writer.use('src')}[b, {arc}]")
                writer.skip_if(f"{y} <= {x}")
                inner(left)
        if stop:
            with writer.block(f"if {stop}:"):
                writer.line("break")


def skip(writer: Writer, condition: Ref | None, holds: bool) -> None:
    """Skip the rest where a condition holds (or does not), one part of it after the other."""
    for ref, wanted in _parts(writer, condition, holds):
        writer.skip_if(emit_value(writer, ref) if wanted else emit_negation(writer, ref))


def _parts(writer: Writer, condition: Ref | None, holds: bool) -> list[tuple[Ref, bool]]:
    """Parts of a condition, any of which is enough for it to hold (or not)."""
    if condition is None:
        return []
    if _is_found(writer, condition):
        return [(condition, holds)]
    op = writer.program.ops[condition]
    if writer.known(condition) is None and isinstance(op, ir.Unary):  # only `not` is a condition
        return _parts(writer, op.operand, not holds)
    joint = isinstance(op, ir.Logic) and op.op == ("or" if holds else "and")
    if isinstance(op, ir.Logic) and joint and writer.known(condition) is None:
        return [part for arg in op.args for part in _parts(writer, arg, holds)]
    return [(condition, holds)]


def emit_negation(writer: Writer, ref: Ref) -> str:
    """The opposite of a condition; nothing is ever NaN, so `<` is the opposite of `>=`."""
    op = writer.program.ops[ref]
    if _is_found(writer, ref):
        return f"not {emit_value(writer, ref)}"
    if writer.known(ref) is None and isinstance(op, ir.Unary):
        return emit_value(writer, op.operand)
    if writer.known(ref) is None and isinstance(op, ir.Compare) and op.op in _OPPOSITES:
        optional = any(writer.program.infos[side].optional for side in (op.left, op.right))
        if not optional:
            return (
                f"{emit_value(writer, op.left)} {_OPPOSITES[op.op]} {emit_value(writer, op.right)}"
            )
    return f"not {emit_value(writer, ref)}"


# Quantifiers


def _reduce(writer: Writer, op: ir.Reduce) -> str:
    hoist(writer, [op.where, op.body, *(domain.node for domain in op.domains)])
    if op.op in ("argmin", "argmax"):
        return _best_node(writer, op)
    result = writer.fresh()
    writer.line(f"{result} = {_STARTS.get(op.op, '0.0')}")
    stop = {"exists": result, "forall": f"not {result}"}.get(op.op)

    filters = _parts(writer, op.where, False)
    if op.op in ("exists", "forall"):
        filters += _parts(writer, op.body, op.op == "forall")
    if _is_light(writer, op):
        emit_loops(writer, op.domains, stop, lambda: _add_or_not(writer, op, result))
    else:
        early = [f for f in filters if writer.program.infos[f[0]].axes <= writer.bound_axes]
        left = [f for f in filters if f not in early]
        with _unless(writer, early):
            emit_loops(writer, op.domains, stop, lambda: _accumulate(writer, op, result), left)
    if op.op == "sum" and op.body is not None and not writer.program.infos[op.body].finite:
        _valueless(writer, result)
    return result


@contextmanager
def _unless(writer: Writer, filters: Filters) -> Iterator[None]:
    """Lines that are skipped where a filter rules out everything."""
    tests = [emit_negation(writer, r) if holds else emit_value(writer, r) for r, holds in filters]
    if not tests:
        yield
        return
    with writer.block(f"if {' and '.join(tests)}:"):
        yield


def _is_light(writer: Writer, op: ir.Reduce) -> bool:
    """Whether adding 0 is cheaper than a branch that nobody can predict."""
    if op.op not in ("sum", "count") or op.where is None:
        return False
    if op.op == "count" and _parts(writer, op.where, False) == [(op.where, False)]:
        return True
    refs = [ref for ref in (op.where, op.body) if ref is not None]
    parts = [writer.program.ops[ref] for ref in reachable(writer.program, refs)]
    reads = [part for part in parts if isinstance(part, ir.Read)]
    near = all(writer.source.features[read.feature].place.width < 2 for read in reads)
    light = (ir.Const, ir.Axis, ir.Read, ir.Unary, ir.Kept)
    return near and len(parts) <= _LIGHT and all(isinstance(part, light) for part in parts)


def _add_or_not(writer: Writer, op: ir.Reduce, result: str) -> None:
    assert op.where is not None
    summand = "1.0" if op.body is None else emit_number(writer, op.body)
    writer.line(f"{result} += {summand} if {emit_value(writer, op.where)} else 0.0")


def _accumulate(writer: Writer, op: ir.Reduce, result: str) -> None:
    if op.op == "count" or op.body is None:
        writer.line(f"{result} += 1.0")
        return
    match op.op:
        case "exists" | "forall":
            writer.line(f"{result} = {op.op == 'exists'}")
            writer.line("break")
        case "sum":
            writer.line(f"{result} += {emit_number(writer, op.body)}")
        case "min" | "max":
            writer.line(f"{result} = {op.op}({result}, {emit_number(writer, op.body)})")
        case "argmin" | "argmax":
            raise InternalError("a node is not accumulated")
        case _:
            assert_never(op.op)


def _best_node(writer: Writer, op: ir.Reduce) -> str:
    """Two rounds: the best key, then among its ties the lowest hidden rank."""
    assert op.body is not None
    body, sign = op.body, "" if op.op == "argmin" else "-"
    best, result, tags = writer.fresh("best"), writer.fresh(), writer.use("tags")
    node = axis_name(op.domains[0].axes[0])

    def find() -> None:
        skip(writer, op.where, False)
        writer.line(f"{best} = min({best}, {sign}{emit_number(writer, body)})")

    def choose() -> None:
        skip(writer, op.where, False)
        near = f"nearly({sign}{emit_number(writer, body)}, {best})"
        rank = f"{tags}[b, {node}] < {tags}[b, {result}]"
        with writer.block(f"if {near} and ({result} < 0 or {rank}):"):
            writer.line(f"{result} = {node}")

    writer.line(f"{best} = INF")
    emit_loops(writer, op.domains, None, find)
    writer.line(f"{result} = -1")
    emit_loops(writer, op.domains, None, choose)
    return result


# Registered functions


def emit_call(writer: Writer, op: ir.Call) -> str:
    """The twin of a function, on what its registration says that it is given.

    What somebody brought without one is called back, with everything it is given in one row.
    """
    problem = writer.source.problem
    twin = twin_of(problem, op.function)
    if twin is None and problem.extern(op.function) is not None:
        return _call_back(writer, op)
    if twin is None:
        raise Unsupported(f"{op.function} on values that change during an episode")
    args = [
        _argument(writer, arg, kind, op)
        for arg, kind in zip(op.args, op.signature.args, strict=True)
    ]
    arrays = [writer.use(name) for name in twin.arrays]
    name = twin_name(problem, op.function)
    return f"{name}({', '.join(['b', *args, *arrays])})"


def _argument(writer: Writer, arg: Ref | str, kind: ArgKind, op: ir.Call) -> str:
    """A word by its position, whole features as a row or a matrix, one value as it is."""
    if isinstance(arg, str) and kind is not CHOICE:
        return f"{writer.feature(arg)}[b, :{writer.use('n')}[b]].astype(np.complex128)"
    if isinstance(arg, str):
        return str(op.signature.choices.index(arg))
    if kind is NODE_POINTER and op.at is not None:
        return _pointers(writer, arg, op.at)
    if kind.type is not None:
        return _whole_feature(writer, arg, kind, op)
    return emit_number(writer, arg)


def _whole_feature(writer: Writer, ref: Ref, kind: ArgKind, op: ir.Call) -> str:
    """The values of a feature on nodes (n,) or at every two of them (n, n), in a new array."""
    nodes, values = f"{writer.use('n')}[b]", writer.fresh("row")
    axes = [axis for axis in (op.at, op.beside) if axis is not None][: kind.places[0].width]
    assert kind.type is not None
    shape = nodes if len(axes) == 1 else f"({nodes}, {nodes})"
    hoist(writer, [ref])
    writer.line(f"{values} = np.empty({shape}, np.{_ROWS[kind.type.value]})")
    _fill(writer, axes, lambda names: f"{values}[{', '.join(names)}]", ref)
    return values


def _fill(
    writer: Writer, axes: Sequence[str], cell: Callable[[Sequence[str]], str], ref: Ref
) -> None:
    """Write a value for all nodes that the axes stand for."""
    nodes = f"{writer.use('n')}[b]"
    with ExitStack() as loops:
        for axis in axes:
            loops.enter_context(writer.loop(f"for {axis_name(axis)} in range({nodes}):", axis))
        writer.line(f"{cell([axis_name(axis) for axis in axes])} = {emit_value(writer, ref)}")


def _call_back(writer: Writer, op: ir.Call) -> str:
    """Values one after the other, then the rows and matrices, as numbers; one number comes back."""
    nodes = f"{writer.use('n')}[b]"
    given = list(zip(op.args, op.signature.args, strict=True))
    whole = [(arg, kind) for arg, kind in given if kind.type is not None]
    single = [arg for arg, kind in given if kind.type is None]
    hoist(writer, [arg for arg, _ in given if isinstance(arg, int)])
    sizes = [f"2 * {nodes}" if isinstance(arg, str) else _size(nodes, k) for arg, k in whole]
    row, start = writer.fresh("given"), writer.fresh("start")
    writer.line(f"{row} = np.empty({' + '.join([str(len(single)), *sizes])}, np.float64)")
    for place, arg in enumerate(single):
        writer.line(f"{row}[{place}] = {emit_number(writer, int(arg))}")
    if whole:
        writer.line(f"{start} = {len(single)}")
    for (arg, kind), size in zip(whole, sizes, strict=True):
        if isinstance(arg, str):
            _points(writer, arg, row, start)
            writer.line(f"{start} += {size}")
            continue
        axes = [axis for axis in (op.at, op.beside) if axis is not None][: kind.places[0].width]

        def cell(names: Sequence[str]) -> str:
            return f"{row}[{start} + {f' * {nodes} + '.join(names)}]"

        _fill(writer, axes, cell, int(arg))
        writer.line(f"{start} += {size}")
    number = [extern.name for extern in writer.source.problem.externs].index(op.function)
    arrays = f"{writer.use(CALLS)}, {writer.use('adjacency')}"
    answer = f"called_back({arrays}, {number}, b, {row})"
    return f"{answer} != 0.0" if op.signature.type.cell is TRUTH else answer


def _size(nodes: str, kind: ArgKind) -> str:
    return nodes if kind.places[0].width == 1 else f"{nodes} * {nodes}"


def _points(writer: Writer, feature: str, row: str, start: str) -> None:
    """Two numbers for each node."""
    points, node = writer.feature(feature), writer.fresh("node")
    with writer.loop(f"for {node} in range({writer.use('n')}[b]):"):
        for offset, part in enumerate(("real", "imag")):
            writer.line(f"{row}[{start} + 2 * {node} + {offset}] = {points}[b, {node}].{part}")


def _pointers(writer: Writer, ref: Ref, axis: str) -> str:
    """A pointer of every node: a row of a feature, or a new array."""
    op = writer.program.ops[ref]
    nodes = f"{writer.use('n')}[b]"
    index = [writer.program.ops[part] for part in op.index] if isinstance(op, ir.Read) else []
    if isinstance(op, ir.Read) and index == [ir.Axis(axis, NODE_VALUE)]:
        return f"{writer.feature(op.feature)}[b, :{nodes}]"
    row, name = writer.fresh("row"), axis_name(axis)
    hoist(writer, [ref])
    writer.line(f"{row} = np.empty({nodes}, np.int64)")
    with writer.loop(f"for {name} in range({nodes}):", axis):
        writer.line(f"{row}[{name}] = {emit_value(writer, ref)}")
    return row


# Chains of pointers: loops that visit each node once, however many ask.
#
# What a chain comes to at a node follows from what it comes to at the next, so a memo keeps it:
# `memo1_known` says per node how much is known, `memo1_value` what, `memo1_path` is the way there.

MEMO = "memo"  # of a function that follows chains: what it is given
_MEMO = {"known": "int8", "value": "float64", "path": "int64"}  # NumPy types
_UNKNOWN, _UNDERWAY, _ENDS, _CIRCLES = 0, 1, 2, 3


def _memo(writer: Writer, ref: Ref) -> str:
    """The memo of a chain; an empty one, unless there is one that still holds."""
    for other, name in writer.memos():
        if _differ_in_start(writer, ref, other):
            return name
    name = writer.new_memo(ref)
    writer.line(f"{_space(writer, name, 'known')}[: {writer.use('n')}[b]] = {_UNKNOWN}")
    return name


def _space(writer: Writer, memo: str, part: str) -> str:
    """One of the arrays of a memo."""
    return writer.work_space(f"{memo}_{part}", _MEMO[part])


def _differ_in_start(writer: Writer, one: Ref, other: Ref) -> bool:
    left, right = writer.program.ops[one], writer.program.ops[other]
    assert isinstance(left, ir.Chase)
    assert isinstance(right, ir.Chase)
    chains = writer.source.chains
    return chains[one] == chains[other] and left.target == right.target


def _chase(writer: Writer, ref: Ref, op: ir.Chase) -> str:
    """A call of the function that follows such chains, if they do not depend on where it is."""
    chain = writer.shared.get(writer.source.chains[ref])
    if chain is None:
        hoist(writer, [op.following, op.cost])
    memo = _memo(writer, ref)
    start = writer.named(emit_value(writer, op.start))
    target = None if op.target is None else writer.named(emit_value(writer, op.target))
    if chain is None:
        return emit_chain(writer, op, memo, start, target)
    ends = [start] if target is None else [start, target]
    own = {f"{MEMO}_{part}": partial(_space, writer, memo, part) for part in _MEMO}
    arrays = [own[name]() if name in own else writer.use(name) for name in chain.arrays]
    return f"{chain.name}({', '.join(['b', *ends, *arrays])})"


def emit_chain(writer: Writer, op: ir.Chase, memo: str, start: str, target: str | None) -> str:
    """Lines that follow a chain until something is known of it."""
    at, steps, result = axis_name(op.at), writer.fresh("steps"), writer.fresh()
    writer.line(f"{at} = {start}")
    writer.line(f"{steps} = 0")
    known = _space(writer, memo, "known")
    with writer.loop(f"while {known}[{at}] == {_UNKNOWN}:", op.at):
        _step(writer, op, memo, steps, target)
    if op.op == "on_cycle":
        _close_circle(writer, memo, at, steps)
        writer.line(f"{result} = {known}[{start}] == {_ENDS}")
        return result
    _add_up(writer, op, memo, steps)
    writer.line(f"{result} = {_space(writer, memo, 'value')}[{start}]")
    if op.cost is not None and not writer.program.infos[op.cost].finite:
        _valueless(writer, result)
    return result


def _valueless(writer: Writer, total: str) -> None:
    """inf and -inf among the summands: no value, whatever their order."""
    with writer.block(f"if {total} != {total}:"):
        writer.line(f"{total} = 0.0")


def _step(writer: Writer, op: ir.Chase, memo: str, steps: str, target: str | None) -> None:
    """To the next node, unless the chain ends at this one."""
    known, at, to = f"{memo}_known", axis_name(op.at), writer.fresh("to")
    if target is not None:
        with writer.block(f"if {at} == {target}:"):
            _end(writer, memo, at, _ENDS)
    writer.line(f"{to} = {emit_value(writer, op.following)}")
    if op.op != "on_cycle":
        with writer.block(f"if {to} == {at}:"):
            _end(writer, memo, at, _ENDS if target is None else _CIRCLES)
    writer.line(f"{known}[{at}] = {_UNDERWAY}")
    writer.line(f"{_space(writer, memo, 'path')}[{steps}] = {at}")
    writer.line(f"{steps} += 1")
    writer.line(f"{at} = {to}")


def _end(writer: Writer, memo: str, at: str, how: int) -> None:
    writer.line(f"{memo}_known[{at}] = {how}")
    value = "0.0" if how == _ENDS else "INF"
    writer.line(f"{_space(writer, memo, 'value')}[{at}] = {value}")
    writer.line("break")


def _add_up(writer: Writer, op: ir.Chase, memo: str, steps: str) -> None:
    """Back along the path: a chain that came to no end is infinite from everywhere."""
    known, value, at = f"{memo}_known", _space(writer, memo, "value"), axis_name(op.at)
    ends, total = writer.fresh("ends"), writer.fresh("cost")
    writer.line(f"{ends} = {known}[{at}] == {_ENDS}")
    writer.line(f"{total} = {value}[{at}] if {ends} else INF")
    with writer.loop(f"while {steps} > 0:", op.at):
        writer.line(f"{steps} -= 1")
        writer.line(f"{at} = {_space(writer, memo, 'path')}[{steps}]")
        with writer.block(f"if {ends}:"):
            writer.line(f"{total} += {'1.0' if op.cost is None else emit_number(writer, op.cost)}")
        writer.line(f"{value}[{at}] = {total}")
        writer.line(f"{known}[{at}] = {_ENDS} if {ends} else {_CIRCLES}")


def _close_circle(writer: Writer, memo: str, at: str, steps: str) -> None:
    """Back along the path: what was passed since the chain met itself is on a circle."""
    known, inside, met = f"{memo}_known", writer.fresh("inside"), writer.fresh("met")
    writer.line(f"{inside} = {known}[{at}] == {_UNDERWAY}")
    writer.line(f"{met} = {at}")
    with writer.loop(f"while {steps} > 0:"):
        writer.line(f"{steps} -= 1")
        writer.line(f"{at} = {_space(writer, memo, 'path')}[{steps}]")
        writer.line(f"{known}[{at}] = {_ENDS} if {inside} else {_CIRCLES}")
        with writer.block(f"if {at} == {met}:"):
            writer.line(f"{inside} = False")


# What can be reached: nodes of a part of the graph and steps between them, listed for each row


def _reach(writer: Writer, op: ir.Reach) -> str:
    hoist(writer, [op.where, op.source, *(domain.node for domain in op.domains)])
    inside, steps, count = (writer.fresh(stem) for stem in ("inside", "steps", "count"))
    nodes = f"{writer.use('n')}[b]"
    axes = [axis_name(axis) for domain in op.domains for axis in domain.axes]
    filters = _parts(writer, op.where, False)

    def note() -> None:
        _note_step(writer, steps, count, axes)

    if op.of_nodes:
        writer.line(f"{inside} = np.zeros({nodes}, np.bool_)")
        mark = f"{inside}[{axes[0]}] = True"
        emit_loops(writer, op.domains, None, lambda: writer.line(mark), filters)
        graph = f"{writer.use('rowptr')}, {writer.use('src')}"
        writer.line(f"{steps}, {count} = steps_inside({inside}, b, {graph}, {op.both})")
    else:
        writer.line(f"{inside} = np.ones({nodes}, np.bool_)")
        writer.line(f"{steps}, {count} = np.empty(({_FEW_STEPS}, 2), np.int64), 0")
        emit_loops(writer, op.domains, None, note, filters)
    given = f"{inside}, {steps}, {count}"
    match op.op:
        case "distance":
            assert op.source is not None
            return f"steps_from({emit_value(writer, op.source)}, {given}, {op.both}, {op.reverse})"
        case "component":
            return f"components_of({given}, b, {writer.use('tags')})"
        case "acyclic":
            return f"has_no_cycle({given}, {op.both})"


def _note_step(writer: Writer, steps: str, count: str, axes: Sequence[str]) -> None:
    writer.line(f"{steps} = with_room({steps}, {count})")
    for place, axis in enumerate(axes):
        writer.line(f"{steps}[{count}, {place}] = {axis}")
    writer.line(f"{count} += 1")


# After a write


def forget_state(writer: Writer) -> None:
    """Only what was known at reset still holds."""
    writer.forget(lambda ref: writer.program.infos[ref].when == "state")
