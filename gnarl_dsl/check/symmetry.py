"""A formula over an undirected edge in, whether swapping its ends changes it out.

Two formulas are equal here if they are equal after sorting the arguments of commutative
operations. That misses some equalities, never claims a false one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from gnarl_dsl import model
from gnarl_dsl.check.context import Context
from gnarl_dsl.language.operators import OPERATORS

Key = tuple[object, ...]
# What a variable stands for: a marker for a bound one, the key of its value for a local let.
Names = Mapping[str, Key]
_FORTH, _BACK = (("end", 1), ("end", 2)), (("end", 2), ("end", 1))
_MIRROR = {"<": ">", "<=": ">="}
# Beside the names, how many quantifiers are open: it tells variables of one name apart.
_DEPTH = "\0depth"


def is_symmetric(context: Context, x: str, y: str, expr: model.Expr) -> bool:
    """Whether the formula stays the same when x and y trade places."""
    forth, back = ({x: ends[0], y: ends[1]} for ends in (_FORTH, _BACK))
    return _key(context, expr, forth) == _key(context, expr, back)


def is_symmetric_over(
    context: Context, part: model.Quantifier | model.Reach | model.ForEach, position: int
) -> bool:
    """Whether a quantifier or loop is the same when one binder's two names trade places."""
    forth, back = (_binding(context, part, {}, {position: ends}) for ends in (_FORTH, _BACK))
    return forth == back


def writes_alike(context: Context, loop: model.ForEach, x: str, y: str) -> bool:
    """Whether the rounds for `x, y` and for `y, x` write the same into their edge's cells."""
    forth, back = ({x: ends[0], y: ends[1]} for ends in (_FORTH, _BACK))
    if _block(context, loop.body, forth) == _block(context, loop.body, back):
        return True
    values = {*_edge_values(context, loop.body, forth), *_edge_values(context, loop.body, back)}
    return len({cell for cell, _ in values}) == len(values)


def _edge_values(
    context: Context, body: Sequence[model.Statement], names: Names
) -> Iterator[tuple[str, Key]]:
    known = dict(names)
    for statement in body:
        match statement:
            case model.Bind():
                known[statement.name] = _key(context, statement.value, known)
            case model.When():
                yield from _edge_values(context, statement.then, known)
                yield from _edge_values(context, statement.otherwise, known)
            case model.SetEdge():
                yield "", _key(context, statement.value, known)
            case model.Assign() if context.names.is_edge_feature(statement.feature):
                yield statement.feature, _key(context, statement.value, known)
            case model.Assign() | model.ForEach():
                pass
            case _:
                assert_never(statement)


# Expressions


def _key(context: Context, expr: model.Expr, names: Names) -> Key:
    match expr:
        case model.Variable():
            return names.get(expr.name, ("free", expr.name))
        case model.Read():
            return _cell(context, expr.feature, expr.index, names)
        case model.HasEdge():
            return ("edge", _sorted(context, [expr.source, expr.target], names))
        case model.Logic():
            return (expr.op, _sorted(context, expr.args, names))
        case model.Compare():
            return _compare(context, expr, names)
        case model.Arithmetic():
            return _arithmetic(context, expr, names)
        case model.Unary(op=op) if op in OPERATORS and OPERATORS[op].even:
            return (op, _unsigned(context, expr.operand, names))
        case model.LetCall():
            return _let_call(context, expr, names)
        case model.Quantifier() | model.Reach():
            return _binding(context, expr, names, {})
        case _:  # nothing in it may change places
            return _plain(context, expr, names)


def _plain(context: Context, expr: model.Expr, names: Names) -> Key:
    """Any other node: its own fields in order, its parts by key."""
    parts: list[object] = [expr.kind]
    for name, value in expr:
        if name in ("span", "kind"):
            continue
        if isinstance(value, model.Expression):
            parts.append(_key(context, value, names))  # type: ignore[arg-type]
        elif isinstance(value, tuple):
            parts.append(tuple(_key(context, item, names) for item in value))
        else:
            parts.append(value)
    return tuple(parts)


def _sorted(context: Context, parts: Sequence[model.Expr], names: Names) -> Key:
    return tuple(sorted((_key(context, part, names) for part in parts), key=repr))


def _cell(context: Context, feature: str, index: Sequence[model.Expr], names: Names) -> Key:
    if context.names.is_edge_feature(feature) or context.names.features[feature].type.apart:
        return ("cell", feature, _sorted(context, index, names))
    return ("cell", feature, tuple(_key(context, part, names) for part in index))


def _compare(context: Context, expr: model.Compare, names: Names) -> Key:
    left, right = _key(context, expr.left, names), _key(context, expr.right, names)
    if expr.op in ("==", "!=", "~="):
        return (expr.op, tuple(sorted((left, right), key=repr)))
    if expr.op in _MIRROR:
        return (_MIRROR[expr.op], right, left)
    return (expr.op, left, right)


def _arithmetic(context: Context, expr: model.Arithmetic, names: Names) -> Key:
    if expr.op in ("+", "-"):
        return ("sum", _terms(context, expr, names, 1))
    if OPERATORS[expr.op].associative:
        return (expr.op, _sorted(context, _operands(expr, expr.op), names))
    return (expr.op, _key(context, expr.left, names), _key(context, expr.right, names))


def _terms(context: Context, expr: model.Expr, names: Names, sign: int) -> Key:
    """The signed summands of nested + and -, sorted."""
    waiting, terms = [(expr, sign)], []
    while waiting:
        part, s = waiting.pop()
        if isinstance(part, model.Arithmetic) and part.op in ("+", "-"):
            waiting += [(part.left, s), (part.right, s if part.op == "+" else -s)]
        elif isinstance(part, model.Unary) and part.op == "neg":
            waiting.append((part.operand, -s))
        else:
            terms.append((s, _key(context, part, names)))
    return tuple(sorted(terms, key=repr))


def _unsigned(context: Context, expr: model.Expr, names: Names) -> Key:
    return min(_terms(context, expr, names, 1), _terms(context, expr, names, -1), key=repr)


def _let_call(context: Context, expr: model.LetCall, names: Names) -> Key:
    args = [_key(context, arg, names) for arg in expr.args]
    if len(args) == 2 and _is_symmetric_let(context, expr.name):
        args.sort(key=repr)
    return ("let", expr.name, tuple(args))


def _is_symmetric_let(context: Context, name: str) -> bool:
    info, memory = context.lets.get(name), context.symmetric_lets
    if info is None or len(info.params) != 2:
        return False
    if name not in memory:
        x, y = (param.name for param in info.params)
        memory[name] = is_symmetric(context, x, y, info.body.expr)
    return memory[name]


# Binders


def _binding(
    context: Context,
    part: model.Quantifier | model.Reach | model.ForEach,
    names: Names,
    ends: Mapping[int, tuple[Key, Key]],
) -> Key:
    """Key of a quantifier or loop; `ends` marks the two names of the binders in question."""
    depth = len(names.get(_DEPTH, ())) + 1
    inner: dict[str, Key] = {**names, _DEPTH: ("",) * depth}
    domains: list[object] = []
    for position, binder in enumerate(part.binders):
        domains.append(_domain(context, binder.domain, inner))
        for place, name in enumerate(binder.names):
            marks = ends.get(position)
            inner[name] = marks[place] if marks else ("bound", depth, position, place)
    where = _key(context, part.where, inner) if part.where else None
    if isinstance(part, model.ForEach):
        return ("for", tuple(domains), where, _block(context, part.body, inner))
    if isinstance(part, model.Reach):
        alike = part.both_ways and context.names.is_undirected
        asked = tuple(_key(context, node, names) for node in part.nodes)
        nodes = tuple(sorted(asked, key=repr)) if alike else asked
        return (part.op, tuple(domains), where, nodes)
    body = _key(context, part.body, inner) if part.body else None
    return (part.op, tuple(domains), where, body)


def _domain(context: Context, domain: model.Domain, names: Names) -> Key:
    match domain:
        case model.NearDomain():
            return ("near", domain.direction, _key(context, domain.node, names))
        case model.RangeDomain():
            return ("range", domain.first, domain.last)
        case model.NodesDomain() | model.EdgesDomain():
            return (domain.kind,)
        case _:
            assert_never(domain)


# Statements


def _block(context: Context, body: Sequence[model.Statement], names: Names) -> Key:
    """Order matters only among writes of one cell: reads come before all writes."""
    known, keys, cells = dict(names), list[Key](), list[Key]()
    for statement in body:
        if isinstance(statement, model.Bind):
            known[statement.name] = _key(context, statement.value, known)
            continue
        key = _statement(context, statement, known)
        keys.append(key)
        cells.append(key[:2] if key[0] == "write" else ("several",))
    independent = len(set(cells)) == len(cells)
    return tuple(sorted(keys, key=repr) if independent else keys)


def _statement(context: Context, statement: model.Statement, names: Names) -> Key:
    match statement:
        case model.Assign():
            cell = _cell(context, statement.feature, statement.index, names)
            return ("write", cell, _key(context, statement.value, names))
        case model.SetEdge():
            ends = _sorted(context, [statement.source, statement.target], names)
            return ("write", ("edge", ends), _key(context, statement.value, names))
        case model.When():
            return (
                "when",
                _key(context, statement.condition, names),
                _block(context, statement.then, names),
                _block(context, statement.otherwise, names),
            )
        case model.ForEach():
            return _binding(context, statement, names, {})
        case model.Bind():
            return ("bind", _key(context, statement.value, names))
        case _:
            assert_never(statement)


def _operands(expr: model.Expr, op: str) -> list[model.Expr]:
    """The operands of nested uses of one operator."""
    waiting: list[model.Expr] = [expr]
    operands: list[model.Expr] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, model.Arithmetic) and part.op == op:
            waiting += [part.left, part.right]
        else:
            operands.append(part)
    return operands
