"""Chains of pointers in, loops in Python out that visit each node once, however many ask.

What a chain comes to at a node follows from what it comes to at the next, so a memo keeps it:
`memo1_known` says per node how much is known, `memo1_value` what, `memo1_path` is the way there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from gnarl_compiler.emit.values import FunctionWriter, axis_name
from gnarl_compiler.ir import ops as ir
from gnarl_compiler.ir.ops import Ref, Unsupported

MEMO = {"known": "int8", "value": "float64", "path": "int64"}  # NumPy types
_UNKNOWN, _UNDERWAY, _ENDS, _CIRCLES = 0, 1, 2, 3
_MOST_LOOPS = 18  # Python takes 20 nested ones


class ChainWriter(FunctionWriter):
    """Adds loops and chains of pointers to the writer of values."""

    _loops = 0
    _made = 0

    @contextmanager
    def loop(self, head: str, *axes: str) -> Iterator[None]:
        if self._loops == _MOST_LOOPS:
            raise Unsupported("quantifiers nested too deeply")
        self._loops += 1
        with self.block(head, axes):
            yield
        self._loops -= 1

    @abstractmethod
    def hoist(self, refs: Iterable[Ref | None]) -> None: ...

    def memo(self, ref: Ref) -> str:
        """The memo of a chain; an empty one, unless there is one that still holds."""
        for memos in reversed(self._memos):
            for other, name in memos.items():
                if self._differ_in_start(ref, other):
                    return name
        self._made += 1
        name = self._memos[-1][ref] = f"memo{self._made}"
        self.line(f"{self.use(f'{name}_known')}[: {self.use('n')}[b]] = {_UNKNOWN}")
        return name

    def _differ_in_start(self, one: Ref, other: Ref) -> bool:
        left, right = self.program.ops[one], self.program.ops[other]
        assert isinstance(left, ir.Chase)
        assert isinstance(right, ir.Chase)
        return left == replace(right, start=left.start)

    def chase(self, ref: Ref, op: ir.Chase) -> str:
        self.hoist([op.following, op.cost])
        memo = self.memo(ref)
        start = self.named(self.value(op.start))
        target = None if op.target is None else self.named(self.value(op.target))
        at, steps, result = axis_name(op.at), self.fresh("steps"), self.fresh()
        self.line(f"{at} = {start}")
        self.line(f"{steps} = 0")
        known = self.use(f"{memo}_known")
        with self.loop(f"while {known}[{at}] == {_UNKNOWN}:", op.at):
            self._step(op, memo, steps, target)
        if op.op == "on_cycle":
            self._close_circle(memo, at, steps)
            self.line(f"{result} = {known}[{start}] == {_ENDS}")
            return result
        self._add_up(op, memo, steps)
        self.line(f"{result} = {self.use(f'{memo}_value')}[{start}]")
        if op.cost is not None and not self.program.infos[op.cost].finite:
            self.valueless(result)
        return result

    def valueless(self, total: str) -> None:
        """inf and -inf among the summands: no value, whatever their order."""
        with self.block(f"if {total} != {total}:"):
            self.line(f"{total} = 0.0")

    def _step(self, op: ir.Chase, memo: str, steps: str, target: str | None) -> None:
        """To the next node, unless the chain ends at this one."""
        known, at, to = f"{memo}_known", axis_name(op.at), self.fresh("to")
        if target is not None:
            with self.block(f"if {at} == {target}:"):
                self._end(memo, at, _ENDS)
        self.line(f"{to} = {self.value(op.following)}")
        if op.op != "on_cycle":
            with self.block(f"if {to} == {at}:"):
                self._end(memo, at, _ENDS if target is None else _CIRCLES)
        self.line(f"{known}[{at}] = {_UNDERWAY}")
        self.line(f"{self.use(f'{memo}_path')}[{steps}] = {at}")
        self.line(f"{steps} += 1")
        self.line(f"{at} = {to}")

    def _end(self, memo: str, at: str, how: int) -> None:
        self.line(f"{memo}_known[{at}] = {how}")
        value = "0.0" if how == _ENDS else "INF"
        self.line(f"{self.use(f'{memo}_value')}[{at}] = {value}")
        self.line("break")

    def _add_up(self, op: ir.Chase, memo: str, steps: str) -> None:
        """Back along the path: a chain that came to no end is infinite from everywhere."""
        known, value, at = f"{memo}_known", self.use(f"{memo}_value"), axis_name(op.at)
        ends, total = self.fresh("ends"), self.fresh("cost")
        self.line(f"{ends} = {known}[{at}] == {_ENDS}")
        self.line(f"{total} = {value}[{at}] if {ends} else INF")
        with self.loop(f"while {steps} > 0:", op.at):
            self.line(f"{steps} -= 1")
            self.line(f"{at} = {self.use(f'{memo}_path')}[{steps}]")
            with self.block(f"if {ends}:"):
                self.line(f"{total} += {'1.0' if op.cost is None else self.number(op.cost)}")
            self.line(f"{value}[{at}] = {total}")
            self.line(f"{known}[{at}] = {_ENDS} if {ends} else {_CIRCLES}")

    def _close_circle(self, memo: str, at: str, steps: str) -> None:
        """Back along the path: what was passed since the chain met itself is on a circle."""
        known, inside, met = f"{memo}_known", self.fresh("inside"), self.fresh("met")
        self.line(f"{inside} = {known}[{at}] == {_UNDERWAY}")
        self.line(f"{met} = {at}")
        with self.loop(f"while {steps} > 0:"):
            self.line(f"{steps} -= 1")
            self.line(f"{at} = {self.use(f'{memo}_path')}[{steps}]")
            self.line(f"{known}[{at}] = {_ENDS} if {inside} else {_CIRCLES}")
            with self.block(f"if {at} == {met}:"):
                self.line(f"{inside} = False")
