"""IR operations in, lines of Python that compute them for one slot out.

A function under construction keeps, per open block, the names of values that are computed
already. Values that do not depend on a loop are computed before it; the parts of `and`, `or`
and `if` are computed only where they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import assert_never

from gnarl_compiler import ir
from gnarl_compiler.ir import Ref
from gnarl_dsl.model import Feature, Problem

_PREFIX = {"input": "i", "state": "s", "derived": "d", "oracle": "o"}
_CHECKED = {"+": "plus", "-": "minus", "*": "times"}
_HEAVY = (ir.Reduce, ir.Chase, ir.Call)


class Unsupported(Exception):
    """Something the compiled backend cannot do; the interpreter can."""


def array_name(feature: Feature) -> str:
    """The name of a feature's array: its stage's letter and its own name."""
    return f"{_PREFIX[feature.stage]}_{feature.name}"


class FunctionWriter:
    """Lines of one generated function, and the arrays it needs."""

    def __init__(self, program: ir.Program, problem: Problem, axes: dict[str, str]) -> None:
        self.program = program
        self.features = {feature.name: feature for feature in problem.features}
        self.lines: list[str] = []
        self.arrays: set[str] = set()
        self._level = 1
        self._axes = [dict(axes)]
        self._known: list[dict[Ref, str]] = [{}]
        self._count = 0

    # Lines and blocks

    def line(self, text: str) -> None:
        self.lines.append("    " * self._level + text)

    @contextmanager
    def block(self, head: str, axes: dict[str, str] | None = None) -> Iterator[None]:
        """An indented block; what is computed inside is forgotten behind it."""
        self.line(head)
        self._level += 1
        self._known.append({})
        self._axes.append({**self._axes[-1], **(axes or {})})
        yield
        self._axes.pop()
        self._known.pop()
        self._level -= 1

    def fresh(self, stem: str = "tmp") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def use(self, array: str) -> str:
        self.arrays.add(array)
        return array

    def forget_state(self) -> None:
        """After a write, only what was known at reset still holds."""
        for known in self._known:
            for ref in [r for r in known if self.program.infos[r].when == "state"]:
                del known[ref]

    def feature(self, name: str) -> str:
        return self.use(array_name(self.features[name]))

    # Values

    def value(self, ref: Ref) -> str:
        """A Python expression for an operation; loops go to lines above it."""
        for known in reversed(self._known):
            if ref in known:
                return known[ref]
        text = self._text(ref)
        if isinstance(self.program.ops[ref], _HEAVY) or len(text) > 100:
            text = self.keep(ref, text)
        return text

    def keep(self, ref: Ref, text: str) -> str:
        """Give a value a name in the current block."""
        if text.isidentifier():
            self._known[-1][ref] = text
            return text
        name = self.fresh()
        self.line(f"{name} = {text}")
        self._known[-1][ref] = name
        return name

    def _text(self, ref: Ref) -> str:
        op = self.program.ops[ref]
        match op:
            case ir.Const():
                return _constant(op)
            case ir.Axis():
                name = self._axes[-1][op.name]
                return name if op.kind == "node" else f"float({name})"
            case ir.Local():
                return op.name
            case ir.Pick() | ir.Last():
                return f"{self.use('last')}[b, {op.phase}]"
            case ir.Read():
                return self._read(op)
            case ir.Marked():
                return f"{self.feature(op.feature)}[b]"
            case ir.Nodes():
                return f"float({self.use('n')}[b])"
            case ir.Edges():
                return f"float({self.use('m')}[b])"
            case ir.HasEdge():
                u, v = self.value(op.source), self.value(op.target)
                return f"joined({self.use('adjacency')}, b, {u}, {v})"
            case ir.Degree():
                return self._degree(op)
            case ir.Otherwise():
                value = self.keep(op.value, self.value(op.value))
                return f"({value} if {value} >= 0 else {self.value(op.default)})"
            case ir.Unary():
                return self._unary(op)
            case ir.Binary():
                return self._binary(op)
            case ir.Compare():
                return self._compare(op)
            case ir.Logic():
                return self._logic(op)
            case ir.Select():
                return self._select(ref, op)
            case ir.Reduce():
                return self._reduce(op)
            case ir.Chase():
                return self._chase(op)
            case ir.Call():
                return self._call(op)
            case ir.Kept():
                table = self.use(f"kept{op.number}")
                return f"{table}[b]" if op.node is None else f"{table}[b, {self.value(op.node)}]"
            case _:
                assert_never(op)

    def _read(self, op: ir.Read) -> str:
        feature, array = self.features[op.feature], self.feature(op.feature)
        index = [self.value(ref) for ref in op.index]
        if feature.place == "edge":
            reader = {"mask": "edge_truth", "categorical": "edge_category"}
            function = reader.get(feature.type, "edge_number")
            return f"{function}({array}, {self.use('edge_id')}, b, {', '.join(index)})"
        return f"{array}[{', '.join(['b', *index])}]"

    def _degree(self, op: ir.Degree) -> str:
        node = self.value(op.node)
        if op.direction == "out":
            return f"float(out_degree({self.use('adjacency')}, b, {node}))"
        rows = self.use("rowptr")
        return f"float({rows}[b, {node} + 1] - {rows}[b, {node}])"

    def _unary(self, op: ir.Unary) -> str:
        operand = self.value(op.operand)
        match op.op:
            case "not":
                return f"(not {operand})"
            case "neg":
                return f"(-{operand})"
            case "abs":
                return f"abs({operand})"
            case "ceil":
                return f"ceiling({operand})"
            case "floor":
                return f"flooring({operand})"

    def _binary(self, op: ir.Binary) -> str:
        left, right = self.value(op.left), self.value(op.right)
        if op.op in ("min", "max"):
            return f"{op.op}({left}, {right})"
        if op.op == "/":
            return f"divide({left}, {right})"
        infos = self.program.infos
        if infos[op.left].finite and infos[op.right].finite:
            return f"({left} {op.op} {right})"
        return f"{_CHECKED[op.op]}({left}, {right})"

    def _compare(self, op: ir.Compare) -> str:
        left, right = self.value(op.left), self.value(op.right)
        if op.op == "~=":
            return f"nearly({left}, {right})"
        infos = self.program.infos
        guards = [
            f"{text} >= 0"
            for ref, text in ((op.left, left), (op.right, right))
            if infos[ref].optional
        ]
        return f"({' and '.join([*guards, f'{left} {op.op} {right}'])})"

    def _logic(self, op: ir.Logic) -> str:
        """`a and b`; if a part needs lines of its own, they run only if it matters."""
        first, rest = op.args[0], op.args[1:]
        texts = [self.value(first)]
        for position, ref in enumerate(rest):
            text, lines = self._try(ref)
            if lines:
                return self._guarded(op, f" {op.op} ".join(texts), rest[position:])
            texts.append(text)
        return f"({f' {op.op} '.join(texts)})"

    def _guarded(self, op: ir.Logic, so_far: str, rest: tuple[Ref, ...]) -> str:
        result = self.fresh()
        self.line(f"{result} = bool({so_far})")
        with self.block(f"if {result}:" if op.op == "and" else f"if not {result}:"):
            remaining = rest[0] if len(rest) == 1 else None
            if remaining is not None:
                self.line(f"{result} = bool({self.value(remaining)})")
            else:
                self.line(f"{result} = bool({self._logic(ir.Logic(op.op, rest))})")
        return result

    def _try(self, ref: Ref) -> tuple[str, list[str]]:
        """The text of a value and the lines it would need, without writing them."""
        mark, count = len(self.lines), self._count
        self._known.append({})
        text = self.value(ref)
        self._known.pop()
        lines = self.lines[mark:]
        del self.lines[mark:]
        if lines:
            self._count = count
        return text, lines

    def _select(self, ref: Ref, op: ir.Select) -> str:
        condition = self.value(op.condition)
        then, then_lines = self._try(op.then)
        other, other_lines = self._try(op.otherwise)
        if not then_lines and not other_lines:
            return f"({self.typed(ref, then)} if {condition} else {self.typed(ref, other)})"
        result = self.fresh()
        with self.block(f"if {condition}:"):
            self.line(f"{result} = {self.typed(ref, self.value(op.then))}")
        with self.block("else:"):
            self.line(f"{result} = {self.typed(ref, self.value(op.otherwise))}")
        return result

    def typed(self, ref: Ref, text: str) -> str:
        """A value in the one Python type of its kind, so that branches agree."""
        return {"number": f"float({text})", "truth": f"bool({text})"}.get(
            self.program.infos[ref].kind, f"int({text})"
        )

    # Loops

    def hoist(self, refs: list[Ref | None]) -> None:
        """Compute loops that do not depend on the loop about to start."""
        waiting = [ref for ref in refs if ref is not None]
        seen: set[Ref] = set()
        while waiting:
            ref = waiting.pop()
            if ref in seen:
                continue
            seen.add(ref)
            op = self.program.ops[ref]
            free = self.program.infos[ref].axes
            if isinstance(op, _HEAVY) and free <= self._axes[-1].keys():
                self.value(ref)
            else:
                waiting += ir.operands(op)

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
        axes = {axis: axis for axis in domain.axes}
        nodes = f"{self.use('n')}[b]"
        match domain.kind:
            case "nodes":
                with self.block(f"for {domain.axes[0]} in range({nodes}):", axes):
                    inner()
            case "range":
                low, high = domain.bounds
                with self.block(f"for {domain.axes[0]} in range({low}, {high + 1}):", axes):
                    inner()
            case "near":
                self._near_loop(domain, axes, inner)
            case "edges":
                self._edge_loop(domain, axes, stop, inner)

    def _near_loop(
        self, domain: ir.Domain, axes: dict[str, str], inner: Callable[[], None]
    ) -> None:
        assert domain.node is not None
        node, axis = self.value(domain.node), domain.axes[0]
        if domain.direction == "out":
            test = f"joined({self.use('adjacency')}, b, {node}, {axis})"
            with self.block(f"for {axis} in range({self.use('n')}[b]):", axes):
                with self.block(f"if not {test}:"):
                    self.line("continue")
                inner()
            return
        arc, rows = self.fresh("arc"), self.use("rowptr")
        head = f"for {arc} in range({rows}[b, {node}], {rows}[b, {node} + 1]):"
        with self.block(head, axes):
            self.line(f"{axis} = {self.use('src')}[b, {arc}]")
            inner()

    def _edge_loop(
        self, domain: ir.Domain, axes: dict[str, str], stop: str | None, inner: Callable[[], None]
    ) -> None:
        """Directed edges by rows of the matrix, undirected ones from their smaller end."""
        x, y = domain.axes
        with self.block(f"for {x} in range({self.use('n')}[b]):", axes):
            if self.program.directed:
                with self.block(f"for {y} in range({self.use('n')}[b]):"):
                    test = f"joined({self.use('adjacency')}, b, {x}, {y})"
                    with self.block(f"if not {test}:"):
                        self.line("continue")
                    inner()
            else:
                arc, rows = self.fresh("arc"), self.use("rowptr")
                head = f"for {arc} in range({rows}[b, {x}], {rows}[b, {x} + 1]):"
                with self.block(head):
                    self.line(f"{y} = {self.use('src')}[b, {arc}]")
                    with self.block(f"if {y} <= {x}:"):
                        self.line("continue")
                    inner()
            if stop:
                with self.block(f"if {stop}:"):
                    self.line("break")

    def unless(self, where: Ref | None) -> None:
        """Skip the rest of the loop's body where the condition does not hold."""
        if where is not None:
            with self.block(f"if not {self.value(where)}:"):
                self.line("continue")

    def _reduce(self, op: ir.Reduce) -> str:
        self.hoist([op.where, op.body, *(domain.node for domain in op.domains)])
        if op.op in ("argmin", "argmax"):
            return self._best_node(op)
        result = self.fresh()
        start = {
            "exists": "False",
            "forall": "True",
            "min": "INF",
            "max": "-INF",
        }.get(op.op, "0.0")
        self.line(f"{result} = {start}")
        stop = {"exists": result, "forall": f"not {result}"}.get(op.op)

        def inner() -> None:
            self.unless(op.where)
            self._accumulate(op, result)

        self.loops(op.domains, stop, inner)
        if op.op == "sum" and op.body is not None and not self.program.infos[op.body].finite:
            # inf and -inf among the summands: no value, whatever their order.
            with self.block(f"if {result} != {result}:"):
                self.line(f"{result} = 0.0")
        return result

    def _accumulate(self, op: ir.Reduce, result: str) -> None:
        if op.op == "count" or op.body is None:
            self.line(f"{result} += 1.0")
            return
        body = self.value(op.body)
        match op.op:
            case "exists" | "forall":
                with self.block(f"if {body}:" if op.op == "exists" else f"if not {body}:"):
                    self.line(f"{result} = {op.op == 'exists'}")
                    self.line("break")
            case "sum":
                self.line(f"{result} += {body}")
            case _:
                self.line(f"{result} = {op.op}({result}, float({body}))")

    def _best_node(self, op: ir.Reduce) -> str:
        """Two rounds: the best key, then among its ties the lowest hidden rank."""
        assert op.body is not None
        best, result, tags = self.fresh("best"), self.fresh(), self.use("tags")
        sign = "" if op.op == "argmin" else "-"
        node = op.domains[0].axes[0]
        body = op.body

        def find() -> None:
            self.unless(op.where)
            self.line(f"{best} = min({best}, {sign}float({self.value(body)}))")

        def choose() -> None:
            self.unless(op.where)
            near = f"nearly({sign}float({self.value(body)}), {best})"
            rank = f"{tags}[b, {node}] < {tags}[b, {result}]"
            with self.block(f"if {near} and ({result} < 0 or {rank}):"):
                self.line(f"{result} = {node}")

        self.line(f"{best} = INF")
        self.loops(op.domains, None, find)
        self.line(f"{result} = -1")
        self.loops(op.domains, None, choose)
        return result

    def _chase(self, op: ir.Chase) -> str:
        self.hoist([op.following, op.cost])
        start = self.value(op.start)
        target = None if op.target is None else self.keep(op.target, self.value(op.target))
        result, at, to = self.fresh(), self.fresh("at"), self.fresh("to")
        cycle = op.op == "on_cycle"
        self.line(f"{result} = {'False' if cycle else 'INF'}")
        total = self.fresh("cost")
        self.line(f"{at} = {start}")
        if not cycle:
            self.line(f"{total} = 0.0")
        with self.block(f"for _ in range({self.use('n')}[b]):", {op.at: at, op.to: to}):
            if cycle:
                self._cycle_step(op, at, start, result)
            else:
                self._chain_step(op, (at, to, total, result), target)
        return result

    def _cycle_step(self, op: ir.Chase, at: str, start: str, result: str) -> None:
        self.line(f"{at} = {self.value(op.following)}")
        with self.block(f"if {at} == {start}:"):
            self.line(f"{result} = True")
            self.line("break")

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
        cost = "1.0" if op.cost is None else self.value(op.cost)
        self.line(f"{total} += {cost}")
        self.line(f"{at} = {to}")

    # Registered functions

    def _call(self, op: ir.Call) -> str:
        if op.function == "critical_fraction":
            arrays = ", ".join(self.use(name) for name in ("n", "rowptr", "src", "tags"))
            return f"critical_fraction(b, {op.args[0] == 'targeted'}, {arrays})"
        if op.function == "is_dfs_forest":
            pointer = self.features[str(op.args[0])]
            if pointer.stage != "derived":
                arrays = f"{self.use('n')}, {self.use('adjacency')}"
                return f"is_dfs_forest(b, {self.feature(pointer.name)}, {arrays})"
        raise Unsupported(f"{op.function} on values that change during an episode")


def _constant(op: ir.Const) -> str:
    if op.kind == "truth":
        return "True" if op.value else "False"
    if op.kind == "category":
        return str(int(op.value))
    if math.isinf(float(op.value)):
        return "INF" if op.value > 0 else "(-INF)"
    text = repr(float(op.value))
    return f"({text})" if op.value < 0 else text
