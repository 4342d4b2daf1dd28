"""Quantifiers and registered functions in, loops in Python out.

What does not change inside a loop is computed before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.emit.chains import ChainWriter
from gnarl_compiler.emit.values import axis_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref, Unsupported
from gnarl_compiler.ir.walk import reachable
from gnarl_dsl.language.signatures import NODE_POINTER, ArgKind, FunctionSignature

_STARTS = {"exists": "False", "forall": "True", "min": "INF", "max": "-INF"}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
Filters = Sequence[tuple[Ref, bool]]
_LIGHT = 6  # operations
_EXACT = 2**53  # up to here whole numbers and floats are the same


class LoopWriter(ChainWriter):
    """Adds everything that repeats to the writer of values."""

    # Before a loop

    def hoist(self, refs: Iterable[Ref | None], changing: frozenset[str] = frozenset()) -> None:
        """Compute what a loop about to start needs and does not change.

        `changing` names the local lets that are bound inside it.
        """
        waiting = [ref for ref in refs if ref is not None]
        seen: set[Ref] = set()
        steady: list[Ref] = []
        while waiting:
            ref = waiting.pop()
            if ref in seen or self.known(ref) is not None:
                continue
            seen.add(ref)
            op = self.program.ops[ref]
            if not self._is_steady(ref, changing):
                if isinstance(op, ir.Chase) and self._is_steady_chain(op, changing):
                    self.memo(ref)
                waiting += ir.operands(op)
            elif not isinstance(op, ir.Const | ir.Axis | ir.Local):
                steady.append(ref)
        for ref in sorted(steady):
            self.keep(ref, self.value(ref))

    def _is_steady_chain(self, op: ir.Chase, changing: frozenset[str]) -> bool:
        """Whether a chain only starts elsewhere in each turn."""
        parts = [ref for ref in (op.following, op.target, op.cost) if ref is not None]
        return all(self._is_steady(ref, changing, op.at) for ref in parts)

    def _is_steady(self, ref: Ref, changing: frozenset[str], but: str = "") -> bool:
        if not self.program.infos[ref].axes - {but} <= self.bound_axes():
            return False
        ops = (self.program.ops[below] for below in self.below(ref)) if changing else ()
        return not any(isinstance(op, ir.Local) and op.name in changing for op in ops)

    # Loops over domains

    def loops(
        self,
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
            self.loops(rest, stop, inner, self._filtered(left))
            if rest and stop:
                with self.block(f"if {stop}:"):
                    self.line("break")

        self._domain_loop(first, stop, nested, filters)

    def _filtered(self, filters: Filters) -> Filters:
        """Skip what can be told here; what is left to be told further in."""
        early = [f for f in filters if self.program.infos[f[0]].axes <= self.bound_axes()]
        for ref, holds in early:
            self.skip(ref, holds)
        return [f for f in filters if f not in early]

    def _domain_loop(
        self,
        domain: ir.Domain,
        stop: str | None,
        inner: Callable[[Filters], None],
        filters: Filters,
    ) -> None:
        axis = domain.axes[0]
        match domain.kind:
            case "nodes":
                with self.loop(f"for {axis_name(axis)} in range({self.use('n')}[b]):", axis):
                    inner(filters)
            case "range":
                low, high = domain.bounds
                if max(-low, high) > _EXACT:
                    raise Unsupported("a range of numbers beyond 2^53")
                with self.loop(f"for {axis_name(axis)} in range({low}, {high + 1}):", axis):
                    inner(filters)
            case "near":
                self._near_loop(domain, axis, lambda: inner(filters))
            case "edges":
                self._edge_loop(domain, stop, inner, filters)

    def _near_loop(self, domain: ir.Domain, axis: str, inner: Callable[[], None]) -> None:
        assert domain.node is not None
        node, name = self.value(domain.node), axis_name(axis)
        if domain.direction == "out":
            node = self.named(node)
            with self.loop(f"for {name} in range({self.use('n')}[b]):", axis):
                self.skip_if(f"not joined({self.use('adjacency')}, b, {node}, {name})")
                inner()
            return
        node = self.named(node)
        arc, rows = self.fresh("arc"), self.use("rowptr")
        with self.loop(f"for {arc} in range({rows}[b, {node}], {rows}[b, {node} + 1]):", axis):
            self.line(f"{name} = {self.use('src')}[b, {arc}]")
            inner()

    def _edge_loop(
        self,
        domain: ir.Domain,
        stop: str | None,
        inner: Callable[[Filters], None],
        filters: Filters,
    ) -> None:
        """Directed edges by rows of the matrix, undirected ones from their smaller end."""
        x, y = map(axis_name, domain.axes)
        source, target = domain.axes
        with self.loop(f"for {x} in range({self.use('n')}[b]):", source):
            left = self._filtered(filters)
            if self.program.directed:
                with self.loop(f"for {y} in range({self.use('n')}[b]):", target):
                    self.skip_if(f"not joined({self.use('adjacency')}, b, {x}, {y})")
                    inner(left)
            else:
                arc, rows = self.fresh("arc"), self.use("rowptr")
                with self.loop(f"for {arc} in range({rows}[b, {x}], {rows}[b, {x} + 1]):", target):
                    self.line(f"{y} = {self.use('src')}[b, {arc}]")
                    self.skip_if(f"{y} <= {x}")
                    inner(left)
            if stop:
                with self.block(f"if {stop}:"):
                    self.line("break")

    def skip_if(self, condition: str) -> None:
        """Skip the rest of the loop's body."""
        with self.block(f"if {condition}:"):
            self.line("continue")

    def skip(self, condition: Ref | None, holds: bool) -> None:
        """Skip the rest where a condition holds (or does not), one part of it after the other."""
        for ref, wanted in self.parts(condition, holds):
            self.skip_if(self.value(ref) if wanted else self.negation(ref))

    def parts(self, condition: Ref | None, holds: bool) -> list[tuple[Ref, bool]]:
        """Parts of a condition, any of which is enough for it to hold (or not)."""
        if condition is None:
            return []
        op = self.program.ops[condition]
        if self.known(condition) is None and isinstance(op, ir.Unary):
            return self.parts(op.operand, not holds)
        joint = isinstance(op, ir.Logic) and op.op == ("or" if holds else "and")
        if isinstance(op, ir.Logic) and joint and self.known(condition) is None:
            return [part for arg in op.args for part in self.parts(arg, holds)]
        return [(condition, holds)]

    def negation(self, ref: Ref) -> str:
        """The opposite of a condition; nothing is ever NaN, so `<` is the opposite of `>=`."""
        op = self.program.ops[ref]
        if self.known(ref) is None and isinstance(op, ir.Unary):
            return self.value(op.operand)
        if self.known(ref) is None and isinstance(op, ir.Compare) and op.op in _OPPOSITES:
            optional = any(self.program.infos[side].optional for side in (op.left, op.right))
            if not optional:
                return f"{self.value(op.left)} {_OPPOSITES[op.op]} {self.value(op.right)}"
        return f"not {self.value(ref)}"

    # Quantifiers

    def reduce(self, op: ir.Reduce) -> str:
        self.hoist([op.where, op.body, *(domain.node for domain in op.domains)])
        if op.op in ("argmin", "argmax"):
            return self._best_node(op)
        result = self.fresh()
        self.line(f"{result} = {_STARTS.get(op.op, '0.0')}")
        stop = {"exists": result, "forall": f"not {result}"}.get(op.op)

        filters = self.parts(op.where, False)
        if op.op in ("exists", "forall"):
            filters += self.parts(op.body, op.op == "forall")
        if self._is_light(op):
            self.loops(op.domains, stop, lambda: self._add_or_not(op, result))
        else:
            self.loops(op.domains, stop, lambda: self._accumulate(op, result), filters)
        if op.op == "sum" and op.body is not None and not self.program.infos[op.body].finite:
            self.valueless(result)
        return result

    def _is_light(self, op: ir.Reduce) -> bool:
        """Whether adding 0 is cheaper than a branch that nobody can predict."""
        if op.op not in ("sum", "count") or op.where is None:
            return False
        if op.op == "count" and self.parts(op.where, False) == [(op.where, False)]:
            return True
        refs = [ref for ref in (op.where, op.body) if ref is not None]
        parts = [self.program.ops[ref] for ref in reachable(self.program, refs)]
        reads = [part for part in parts if isinstance(part, ir.Read)]
        near = all(self.features[read.feature].place in ("node", "graph") for read in reads)
        light = (ir.Const, ir.Axis, ir.Read, ir.Unary, ir.Kept)
        return near and len(parts) <= _LIGHT and all(isinstance(part, light) for part in parts)

    def _add_or_not(self, op: ir.Reduce, result: str) -> None:
        assert op.where is not None
        summand = "1.0" if op.body is None else self.number(op.body)
        self.line(f"{result} += {summand} if {self.value(op.where)} else 0.0")

    def _accumulate(self, op: ir.Reduce, result: str) -> None:
        if op.op == "count" or op.body is None:
            self.line(f"{result} += 1.0")
            return
        match op.op:
            case "exists" | "forall":
                self.line(f"{result} = {op.op == 'exists'}")
                self.line("break")
            case "sum":
                self.line(f"{result} += {self.number(op.body)}")
            case _:
                self.line(f"{result} = {op.op}({result}, {self.number(op.body)})")

    def _best_node(self, op: ir.Reduce) -> str:
        """Two rounds: the best key, then among its ties the lowest hidden rank."""
        assert op.body is not None
        body, sign = op.body, "" if op.op == "argmin" else "-"
        best, result, tags = self.fresh("best"), self.fresh(), self.use("tags")
        node = axis_name(op.domains[0].axes[0])

        def find() -> None:
            self.skip(op.where, False)
            self.line(f"{best} = min({best}, {sign}{self.number(body)})")

        def choose() -> None:
            self.skip(op.where, False)
            near = f"nearly({sign}{self.number(body)}, {best})"
            rank = f"{tags}[b, {node}] < {tags}[b, {result}]"
            with self.block(f"if {near} and ({result} < 0 or {rank}):"):
                self.line(f"{result} = {node}")

        self.line(f"{best} = INF")
        self.loops(op.domains, None, find)
        self.line(f"{result} = -1")
        self.loops(op.domains, None, choose)
        return result

    # Registered functions

    def call(self, op: ir.Call) -> str:
        """The twin of a function, on what its registration says that it is given."""
        algorithm = ALGORITHMS[op.function]
        if algorithm.twin is None:
            raise Unsupported(f"{op.function} on values that change during an episode")
        args = [
            self._argument(arg, kind, algorithm.signature, op.at)
            for arg, kind in zip(op.args, algorithm.signature.args, strict=True)
        ]
        arrays = [self.use(name) for name in algorithm.twin.arrays]
        return f"{algorithm.twin.name}({', '.join(['b', *args, *arrays])})"

    def _argument(
        self, arg: Ref | str, kind: ArgKind, signature: FunctionSignature, at: str | None
    ) -> str:
        """A word by its position, pointers as a row, a node or a number as it is."""
        if isinstance(arg, str):
            return str(signature.choices.index(arg))
        if kind is NODE_POINTER and at is not None:
            return self._pointers(arg, at)
        return self.number(arg)

    def _pointers(self, ref: Ref, axis: str) -> str:
        """A pointer of every node: a row of a feature, or a new array."""
        op = self.program.ops[ref]
        nodes = f"{self.use('n')}[b]"
        index = [self.program.ops[part] for part in op.index] if isinstance(op, ir.Read) else []
        if isinstance(op, ir.Read) and index == [ir.Axis(axis, "node")]:
            return f"{self.feature(op.feature)}[b, :{nodes}]"
        row, name = self.fresh("row"), axis_name(axis)
        self.hoist([ref])
        self.line(f"{row} = np.empty({nodes}, np.int64)")
        with self.loop(f"for {name} in range({nodes}):", axis):
            self.line(f"{row}[{name}] = {self.value(ref)}")
        return row
