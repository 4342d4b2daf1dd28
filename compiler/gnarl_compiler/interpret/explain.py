"""Why a node is illegal: a state and a node in, the clauses that forbid it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Bindings, Evaluator
from gnarl_compiler.interpret.state import State
from gnarl_dsl import model
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.report.source import Span


@dataclass(frozen=True)
class Reason:
    """A clause of the spec that is false, the let it stands in, and what its variables are."""

    span: Span
    let: str | None
    bound: tuple[tuple[str, int], ...]

    def describe(self, problem: Problem, labels: Sequence[str] = ()) -> str:
        """The clause and its line; nodes by their labels, or by number without any."""
        where = f" in `{self.let}`" if self.let else ""
        nodes = [(name, labels[node] if labels else node) for name, node in self.bound]
        names = ", ".join(f"{name} = {node}" for name, node in nodes)
        values = f" with {names}" if names else ""
        line, text = problem.line_of(self.span), problem.text_of(self.span)
        return f"line {line}{where}: `{text}` is false{values}"


def why_illegal(game: Interpreter, state: State, node: int) -> list[Reason]:
    """The parts of `allow` that rule a node out; nothing for a legal node."""
    allow = game.problem.phases[state.phase].allow
    if allow is None:
        return []
    bound = game.bindings(state, node)
    read = Evaluator(state)
    return [] if read.truth(allow, bound) else _false_parts(read, allow, bound, None)


def _false_parts(read: Evaluator, expr: Expr, bound: Bindings, let: str | None) -> list[Reason]:
    """Go into `and` and lets, where one part is to blame; anything else is to blame whole."""
    match expr:
        case model.Logic(op="and"):
            false = [arg for arg in expr.args if not read.truth(arg, bound)]
            return [reason for arg in false for reason in _false_parts(read, arg, bound, let)]
        case model.LetCall():
            called = read.problem.let(expr.name)
            values = [read.value(arg, bound) for arg in expr.args]
            names = [param.name for param in called.params]
            inner = dict(zip(names, values, strict=True))
            return _false_parts(read, called.body, inner, expr.name)
        case _:
            return [Reason(expr.span, let, _mentioned(read, expr, bound))]


def _mentioned(read: Evaluator, expr: Expr, bound: Bindings) -> tuple[tuple[str, int], ...]:
    """The bound nodes whose names appear in the clause's own text."""
    words = set(_words(read.problem.text_of(expr.span)))
    nodes = {name: value for name, value in bound.items() if isinstance(value, int)}
    return tuple((name, value) for name, value in nodes.items() if name in words)


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
