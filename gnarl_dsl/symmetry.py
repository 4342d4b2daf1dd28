"""A formula over an undirected edge in, whether swapping its ends changes it out.

Two formulas are equal here if they are equal after sorting the arguments of commutative
operations. That misses some equalities, never claims a false one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gnarl_dsl import model

Key = tuple[object, ...]
Names = Mapping[str, str]
_MIRROR = {"<": ">", "<=": ">="}


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

    def is_symmetric(self, x: str, y: str, parts: Sequence[model.Expr | None]) -> bool:
        """Whether every part stays the same when x and y trade places."""
        forth, back = {x: "#1", y: "#2"}, {x: "#2", y: "#1"}
        return all(self.key(part, forth) == self.key(part, back) for part in parts if part)

    def statements_symmetric(self, x: str, y: str, body: Sequence[model.Statement]) -> bool:
        forth, back = {x: "#1", y: "#2"}, {x: "#2", y: "#1"}
        return self._block(body, forth) == self._block(body, back)

    def _block(self, body: Sequence[model.Statement], names: Names) -> Key:
        return tuple(sorted((self._statement(s, names) for s in body), key=repr))

    def _statement(self, statement: model.Statement, names: Names) -> Key:
        match statement:
            case model.Assign():
                cell = self._cell(statement.feature, statement.index, names)
                return ("assign", cell, self.key(statement.value, names))
            case model.SetEdge():
                ends = self._sorted([statement.source, statement.target], names)
                return ("edge", ends, self.key(statement.value, names))
            case model.Bind():
                return ("bind", statement.name, self.key(statement.value, names))
            case model.When():
                return (
                    "when",
                    self.key(statement.condition, names),
                    self._block(statement.then, names),
                    self._block(statement.otherwise, names),
                )
            case model.ForEach():
                return ("for", self._block(statement.body, names))

    def key(self, expr: model.Expr, names: Names) -> Key:
        match expr:
            case model.Variable():
                return ("var", names.get(expr.name, expr.name))
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
                return self._quantifier(expr, names)
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
        left, right = self.key(expr.left, names), self.key(expr.right, names)
        if expr.op == "/":
            return ("/", left, right)
        return (expr.op, tuple(sorted((left, right), key=repr)))

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
                self._symmetric_lets[name] = self.is_symmetric(x, y, [body])
        return self._symmetric_lets[name]

    def _quantifier(self, expr: model.Quantifier, names: Names) -> Key:
        inner = dict(names)
        domains: list[object] = []
        for binder in expr.binders:
            domains.append(self._domain(binder.domain, inner))
            for name in binder.names:
                inner[name] = f"@{len(inner)}"
                # A marker per binding keeps the numbers apart when a name is bound again.
                inner[f"\0{len(inner)}"] = ""
        parts = tuple(self.key(part, inner) if part else None for part in (expr.where, expr.body))
        return (expr.op, tuple(domains), parts)

    def _domain(self, domain: model.Domain, names: Names) -> Key:
        match domain:
            case model.NearDomain():
                return ("near", domain.direction, self.key(domain.node, names))
            case model.RangeDomain():
                return ("range", domain.first, domain.last)
            case _:
                return (domain.kind,)
