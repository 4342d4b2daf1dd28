"""A formula over an undirected edge in, whether swapping its ends changes it out.

Two formulas are equal here if they are equal after sorting the arguments of commutative
operations. That misses some equalities, never claims a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gnarl_dsl import model

Key = tuple[object, ...]
# What a variable stands for: a marker for a bound one, the key of its value for a local let.
Names = Mapping[str, Key]
_FORTH, _BACK = (("end", 1), ("end", 2)), (("end", 2), ("end", 1))
_MIRROR = {"<": ">", "<=": ">="}
_ASSOCIATIVE = ("*", "min", "max")
# Beside the names, how many quantifiers are open: it tells variables of one name apart.
_DEPTH = "\0depth"


class Canonical:
    """Builds comparable keys; `is_edge_feature` and `let_of` look up the declarations."""

    def __init__(
        self,
        is_edge_feature: Callable[[str], bool],
        let_of: Callable[[str], tuple[tuple[str, ...], model.Expr] | None],
    ) -> None:
        self._is_edge_feature = is_edge_feature
        self._let_of = let_of
        self._symmetric_lets: dict[str, bool] = {}

    def is_symmetric(self, x: str, y: str, expr: model.Expr) -> bool:
        """Whether the formula stays the same when x and y trade places."""
        forth, back = ({x: ends[0], y: ends[1]} for ends in (_FORTH, _BACK))
        return self.key(expr, forth) == self.key(expr, back)

    def is_symmetric_over(self, part: model.Quantifier | model.ForEach, position: int) -> bool:
        """Whether a quantifier or loop is the same when one binder's two names trade places."""
        forth, back = (self._binding(part, {}, {position: ends}) for ends in (_FORTH, _BACK))
        return forth == back

    def writes_alike(self, loop: model.ForEach, x: str, y: str) -> bool:
        """Whether the rounds for `x, y` and for `y, x` write the same into their edge's cells."""
        forth, back = ({x: ends[0], y: ends[1]} for ends in (_FORTH, _BACK))
        if self._block(loop.body, forth) == self._block(loop.body, back):
            return True
        values = {*self._edge_values(loop.body, forth), *self._edge_values(loop.body, back)}
        return len({cell for cell, _ in values}) == len(values)

    def _edge_values(
        self, body: Sequence[model.Statement], names: Names
    ) -> Iterator[tuple[str, Key]]:
        known = dict(names)
        for statement in body:
            match statement:
                case model.Bind():
                    known[statement.name] = self.key(statement.value, known)
                case model.When():
                    yield from self._edge_values(statement.then, known)
                    yield from self._edge_values(statement.otherwise, known)
                case model.SetEdge():
                    yield "", self.key(statement.value, known)
                case model.Assign() if self._is_edge_feature(statement.feature):
                    yield statement.feature, self.key(statement.value, known)
                case _:
                    pass

    # Expressions

    def key(self, expr: model.Expr, names: Names) -> Key:
        match expr:
            case model.Variable():
                return names.get(expr.name, ("free", expr.name))
            case model.Read():
                return self._cell(expr.feature, expr.index, names)
            case model.HasEdge():
                return ("edge", self._sorted([expr.source, expr.target], names))
            case model.Logic():
                return (expr.op, self._sorted(expr.args, names))
            case model.Compare():
                return self._compare(expr, names)
            case model.Arithmetic():
                return self._arithmetic(expr, names)
            case model.Unary(op="abs"):
                return ("abs", self._unsigned(expr.operand, names))
            case model.LetCall():
                return self._let_call(expr, names)
            case model.Quantifier():
                return self._binding(expr, names, {})
            case _:
                return self._plain(expr, names)

    def _plain(self, expr: model.Expr, names: Names) -> Key:
        """Any other node: its own fields in order, its parts by key."""
        parts: list[object] = [expr.kind]
        for name, value in expr:
            if name in ("span", "kind"):
                continue
            if isinstance(value, model.Expression):
                parts.append(self.key(value, names))  # type: ignore[arg-type]
            elif isinstance(value, tuple):
                parts.append(tuple(self.key(item, names) for item in value))
            else:
                parts.append(value)
        return tuple(parts)

    def _sorted(self, parts: Sequence[model.Expr], names: Names) -> Key:
        return tuple(sorted((self.key(part, names) for part in parts), key=repr))

    def _cell(self, feature: str, index: Sequence[model.Expr], names: Names) -> Key:
        if self._is_edge_feature(feature):
            return ("cell", feature, self._sorted(index, names))
        return ("cell", feature, tuple(self.key(part, names) for part in index))

    def _compare(self, expr: model.Compare, names: Names) -> Key:
        left, right = self.key(expr.left, names), self.key(expr.right, names)
        if expr.op in ("==", "!=", "~="):
            return (expr.op, tuple(sorted((left, right), key=repr)))
        if expr.op in _MIRROR:
            return (_MIRROR[expr.op], right, left)
        return (expr.op, left, right)

    def _arithmetic(self, expr: model.Arithmetic, names: Names) -> Key:
        if expr.op in ("+", "-"):
            return ("sum", self._terms(expr, names, 1))
        if expr.op in _ASSOCIATIVE:
            return (expr.op, self._sorted(_operands(expr, expr.op), names))
        return (expr.op, self.key(expr.left, names), self.key(expr.right, names))

    def _terms(self, expr: model.Expr, names: Names, sign: int) -> Key:
        """The signed summands of nested + and -, sorted."""
        waiting, terms = [(expr, sign)], []
        while waiting:
            part, s = waiting.pop()
            if isinstance(part, model.Arithmetic) and part.op in ("+", "-"):
                waiting += [(part.left, s), (part.right, s if part.op == "+" else -s)]
            elif isinstance(part, model.Unary) and part.op == "neg":
                waiting.append((part.operand, -s))
            else:
                terms.append((s, self.key(part, names)))
        return tuple(sorted(terms, key=repr))

    def _unsigned(self, expr: model.Expr, names: Names) -> Key:
        return min(self._terms(expr, names, 1), self._terms(expr, names, -1), key=repr)

    def _let_call(self, expr: model.LetCall, names: Names) -> Key:
        args = [self.key(arg, names) for arg in expr.args]
        if len(args) == 2 and self._is_symmetric_let(expr.name):
            args.sort(key=repr)
        return ("let", expr.name, tuple(args))

    def _is_symmetric_let(self, name: str) -> bool:
        if name not in self._symmetric_lets:
            self._symmetric_lets[name] = False
            known = self._let_of(name)
            if known is not None and len(known[0]) == 2:
                (x, y), body = known
                self._symmetric_lets[name] = self.is_symmetric(x, y, body)
        return self._symmetric_lets[name]

    # Binders

    def _binding(
        self,
        part: model.Quantifier | model.ForEach,
        names: Names,
        ends: Mapping[int, tuple[Key, Key]],
    ) -> Key:
        """Key of a quantifier or loop; `ends` marks the two names of the binders in question."""
        depth = len(names.get(_DEPTH, ())) + 1
        inner: dict[str, Key] = {**names, _DEPTH: ("",) * depth}
        domains: list[object] = []
        for position, binder in enumerate(part.binders):
            domains.append(self._domain(binder.domain, inner))
            for place, name in enumerate(binder.names):
                marks = ends.get(position)
                inner[name] = marks[place] if marks else ("bound", depth, position, place)
        where = self.key(part.where, inner) if part.where else None
        if isinstance(part, model.ForEach):
            return ("for", tuple(domains), where, self._block(part.body, inner))
        body = self.key(part.body, inner) if part.body else None
        return (part.op, tuple(domains), where, body)

    def _domain(self, domain: model.Domain, names: Names) -> Key:
        match domain:
            case model.NearDomain():
                return ("near", domain.direction, self.key(domain.node, names))
            case model.RangeDomain():
                return ("range", domain.first, domain.last)
            case _:
                return (domain.kind,)

    # Statements

    def _block(self, body: Sequence[model.Statement], names: Names) -> Key:
        """Order matters only among writes of one cell: reads come before all writes."""
        known, keys, cells = dict(names), list[Key](), list[Key]()
        for statement in body:
            if isinstance(statement, model.Bind):
                known[statement.name] = self.key(statement.value, known)
                continue
            key = self._statement(statement, known)
            keys.append(key)
            cells.append(key[:2] if key[0] == "write" else ("several",))
        independent = len(set(cells)) == len(cells)
        return tuple(sorted(keys, key=repr) if independent else keys)

    def _statement(self, statement: model.Statement, names: Names) -> Key:
        match statement:
            case model.Assign():
                cell = self._cell(statement.feature, statement.index, names)
                return ("write", cell, self.key(statement.value, names))
            case model.SetEdge():
                ends = self._sorted([statement.source, statement.target], names)
                return ("write", ("edge", ends), self.key(statement.value, names))
            case model.When():
                return (
                    "when",
                    self.key(statement.condition, names),
                    self._block(statement.then, names),
                    self._block(statement.otherwise, names),
                )
            case model.ForEach():
                return self._binding(statement, names, {})
            case model.Bind():
                return ("bind", self.key(statement.value, names))


def _operands(expr: model.Expr, op: str) -> list[model.Expr]:
    """The operands of nested `*`, `min` or `max`."""
    waiting: list[model.Expr] = [expr]
    operands: list[model.Expr] = []
    while waiting:
        part = waiting.pop()
        if isinstance(part, model.Arithmetic) and part.op == op:
            waiting += [part.left, part.right]
        else:
            operands.append(part)
    return operands
