"""Quantifiers, chains of pointers and registered functions in, loops in Python out.

What does not change inside a loop is computed before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from gnarl_compiler import ir
from gnarl_compiler.emit_values import FunctionWriter, axis_name
from gnarl_compiler.ir import Ref, Unsupported

_STARTS = {"exists": "False", "forall": "True", "min": "INF", "max": "-INF"}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MOST_LOOPS = 18  # Python takes 20 nested ones
_EXACT = 2**53  # up to here whole numbers and floats are the same


class LoopWriter(FunctionWriter):
    """Adds everything that repeats to the writer of values."""

    _loops = 0

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
                waiting += ir.operands(op)
            elif not isinstance(op, ir.Const | ir.Axis | ir.Local):
                steady.append(ref)
        for ref in sorted(steady):
            self.keep(ref, self.value(ref))

    def _is_steady(self, ref: Ref, changing: frozenset[str]) -> bool:
        if not self.program.infos[ref].axes <= self.bound_axes():
            return False
        ops = (self.program.ops[below] for below in self.below(ref)) if changing else ()
        return not any(isinstance(op, ir.Local) and op.name in changing for op in ops)

    # Loops over domains

    @contextmanager
    def loop(self, head: str, *axes: str) -> Iterator[None]:
        if self._loops == _MOST_LOOPS:
            raise Unsupported("quantifiers nested too deeply")
        self._loops += 1
        with self.block(head, axes):
            yield
        self._loops -= 1

    def loops(
        self, domains: tuple[ir.Domain, ...], stop: str | None, inner: Callable[[], None]
    ) -> None:
        """Nested loops over the domains; `stop` is tested after each inner one."""
        if not domains:
            inner()
            return
        first, rest = domains[0], domains[1:]

        def nested() -> None:
            self.loops(rest, stop, inner)
            if rest and stop:
                with self.block(f"if {stop}:"):
                    self.line("break")

        self._domain_loop(first, stop, nested)

    def _domain_loop(self, domain: ir.Domain, stop: str | None, inner: Callable[[], None]) -> None:
        axis = domain.axes[0]
        match domain.kind:
            case "nodes":
                with self.loop(f"for {axis_name(axis)} in range({self.use('n')}[b]):", axis):
                    inner()
            case "range":
                low, high = domain.bounds
                if max(-low, high) > _EXACT:
                    raise Unsupported("a range of numbers beyond 2^53")
                with self.loop(f"for {axis_name(axis)} in range({low}, {high + 1}):", axis):
                    inner()
            case "near":
                self._near_loop(domain, axis, inner)
            case "edges":
                self._edge_loop(domain, stop, inner)

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

    def _edge_loop(self, domain: ir.Domain, stop: str | None, inner: Callable[[], None]) -> None:
        """Directed edges by rows of the matrix, undirected ones from their smaller end."""
        x, y = map(axis_name, domain.axes)
        with self.loop(f"for {x} in range({self.use('n')}[b]):", *domain.axes):
            if self.program.directed:
                with self.loop(f"for {y} in range({self.use('n')}[b]):"):
                    self.skip_if(f"not joined({self.use('adjacency')}, b, {x}, {y})")
                    inner()
            else:
                arc, rows = self.fresh("arc"), self.use("rowptr")
                with self.loop(f"for {arc} in range({rows}[b, {x}], {rows}[b, {x} + 1]):"):
                    self.line(f"{y} = {self.use('src')}[b, {arc}]")
                    self.skip_if(f"{y} <= {x}")
                    inner()
            if stop:
                with self.block(f"if {stop}:"):
                    self.line("break")

    def skip_if(self, condition: str) -> None:
        """Skip the rest of the loop's body."""
        with self.block(f"if {condition}:"):
            self.line("continue")

    def skip(self, condition: Ref | None, holds: bool) -> None:
        """Skip the rest where a condition holds (or does not), one part of it after the other."""
        if condition is None:
            return
        op = self.program.ops[condition]
        known = self.known(condition) is not None
        if isinstance(op, ir.Unary) and not known:
            self.skip(op.operand, not holds)
        elif isinstance(op, ir.Logic) and op.op == ("or" if holds else "and") and not known:
            for arg in op.args:
                self.skip(arg, holds)
        else:
            self.skip_if(self.value(condition) if holds else self.negation(condition))

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

        def inner() -> None:
            self.skip(op.where, False)
            self._accumulate(op, result)

        self.loops(op.domains, stop, inner)
        if op.op == "sum" and op.body is not None and not self.program.infos[op.body].finite:
            self._valueless(result)
        return result

    def _valueless(self, total: str) -> None:
        """inf and -inf among the summands: no value, whatever their order."""
        with self.block(f"if {total} != {total}:"):
            self.line(f"{total} = 0.0")

    def _accumulate(self, op: ir.Reduce, result: str) -> None:
        if op.op == "count" or op.body is None:
            self.line(f"{result} += 1.0")
            return
        match op.op:
            case "exists" | "forall":
                self.skip(op.body, op.op == "forall")
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

    # Chains of pointers

    def chase(self, op: ir.Chase) -> str:
        self.hoist([op.following, op.cost])
        start = self.named(self.value(op.start))
        target = None if op.target is None else self.named(self.value(op.target))
        result, at, to = self.fresh(), axis_name(op.at), axis_name(op.to)
        self.line(f"{result} = {'False' if op.op == 'on_cycle' else 'INF'}")
        self.line(f"{at} = {start}")
        head = f"for _ in range({self.use('n')}[b]):"
        if op.op == "on_cycle":
            with self.loop(head, op.at, op.to):
                self.line(f"{at} = {self.value(op.following)}")
                with self.block(f"if {at} == {start}:"):
                    self.line(f"{result} = True")
                    self.line("break")
            return result
        total, mark = self.fresh("cost"), self.fresh("mark")
        self.line(f"{total} = 0.0")
        self.line(f"{mark} = {mark}_next = {mark}_steps = -1")
        with self.loop(head, op.at, op.to):
            self._chain_step(op, (at, to, total, result), target)
            self._leave_circle(at, mark)
        if op.cost is not None and not self.program.infos[op.cost].finite:
            self._valueless(result)
        return result

    def _chain_step(
        self, op: ir.Chase, names: tuple[str, str, str, str], target: str | None
    ) -> None:
        at, to, total, result = names
        if target is not None:
            with self.block(f"if {at} == {target}:"):
                self.line(f"{result} = {total}")
                self.line("break")
        self.line(f"{to} = {self.value(op.following)}")
        with self.block(f"if {to} == {at}:"):
            if target is None:
                self.line(f"{result} = {total}")
            self.line("break")
        self.line(f"{total} += {'1.0' if op.cost is None else self.number(op.cost)}")
        self.line(f"{at} = {to}")

    def _leave_circle(self, at: str, mark: str) -> None:
        """Stop at a node met before (Brent): a circle never ends, and is known after a few turns.

        The mark moves to where the chain is after 1, 2, 4, … steps.
        """
        with self.block(f"if {at} == {mark}:"):
            self.line("break")
        self.line(f"{mark}_steps += 1")
        with self.block(f"if {mark}_steps >= {mark}_next:"):
            self.line(f"{mark} = {at}")
            self.line(f"{mark}_next = 2 * {mark}_steps + 1")

    # Registered functions

    def call(self, op: ir.Call) -> str:
        if op.function == "critical_fraction":
            arrays = ", ".join(self.use(name) for name in ("n", "rowptr", "src", "tags"))
            return f"critical_fraction(b, {op.args[0] == 'targeted'}, {arrays})"
        if op.function == "is_dfs_forest" and isinstance(op.args[0], int) and op.at is not None:
            row = self._pointers(op.args[0], op.at)
            return f"is_dfs_forest(b, {row}, {self.use('adjacency')})"
        raise Unsupported(f"{op.function} on values that change during an episode")

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
