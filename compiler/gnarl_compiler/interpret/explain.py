"""Why a node is illegal: a state and a node in, the clauses that forbid it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Bindings, Evaluator
from gnarl_compiler.interpret.state import State
from gnarl_dsl import model
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.model.kinds import EDGE
from gnarl_dsl.report.source import Span


@dataclass(frozen=True)
class Reason:
    """A clause of the spec, the let or derived feature it stands in, and what its variables are.

    `holds` is what it is and should not be. Where an `or` offers several ways out, `ways` says
    which one this is of how many, from the outermost `or` on.
    """

    span: Span
    inside: str | None
    bound: tuple[tuple[str, int], ...]
    holds: bool = False
    ways: tuple[tuple[int, int], ...] = ()

    def describe(self, problem: Problem, labels: Sequence[str] = ()) -> str:
        """The clause and its line; nodes by their labels, or by number without any."""
        where = f" in `{self.inside}`" if self.inside else ""
        nodes = [(name, labels[node] if labels else node) for name, node in self.bound]
        names = ", ".join(f"{name} = {node}" for name, node in nodes)
        values = f" with {names}" if names else ""
        line, text = problem.line_of(self.span), problem.text_of(self.span)
        truth = "true" if self.holds else "false"
        ways = ", ".join(f"{one} of {many}" for one, many in self.ways)
        way = f" (way {ways})" if ways else ""
        return f"line {line}{where}: `{text}` is {truth}{values}{way}"


def why_illegal(game: Interpreter, state: State, node: int) -> list[Reason]:
    """The parts of `allow` that rule a node out; nothing for a legal node."""
    allow = game.problem.phases[state.phase].allow
    if allow is None:
        return []
    bound = game.bindings(state, node)
    read = Evaluator(state)
    return [] if read.truth(allow, bound) else _Blame(read, False, None).of(allow, bound)


@dataclass(frozen=True)
class _Blame:
    """Finds the parts of a condition that make it what it is."""

    read: Evaluator
    holds: bool
    inside: str | None

    def of(self, expr: Expr, bound: Bindings) -> list[Reason]:
        """Go into what is made of parts, by `and`, `or`, lets and derived features.

        Anything else is to blame whole.
        """
        match expr:
            case model.Logic():
                return self.parts(expr, bound)
            case model.Unary(op="not") if _has_parts(self.read.problem, expr.operand):
                return replace(self, holds=not self.holds).of(expr.operand, bound)
            case model.LetCall():
                called = self.read.problem.let(expr.name)
                names = [param.name for param in called.params]
                return self.within(expr.name, called.body, names, expr.args, bound)
            case model.Read() if (body := _formula(self.read.problem, expr)) is not None:
                feature = self.read.problem.feature(expr.feature)
                if feature.place is EDGE and not self.joined(expr, bound):
                    return [self.whole(expr, bound)]
                return self.within(expr.feature, body, feature.vars, expr.index, bound)
            case _:
                return [self.whole(expr, bound)]

    def parts(self, expr: model.Logic, bound: Bindings) -> list[Reason]:
        """One false part makes an `and` false, but an `or` only all of them together."""
        guilty = [arg for arg in expr.args if self.read.truth(arg, bound) == self.holds]
        alternatives = (expr.op == "and") == self.holds
        return [
            replace(reason, ways=((number, len(guilty)), *reason.ways)) if alternatives else reason
            for number, arg in enumerate(guilty, start=1)
            for reason in self.of(arg, bound)
        ]

    def within(
        self,
        name: str,
        body: Expr,
        names: Sequence[str],
        args: Sequence[Expr],
        bound: Bindings,
    ) -> list[Reason]:
        values = [self.read.value(arg, bound) for arg in args]
        return replace(self, inside=name).of(body, dict(zip(names, values, strict=False)))

    def joined(self, read: model.Read, bound: Bindings) -> bool:
        source, target = (self.read.node(part, bound) for part in read.index)
        return self.read.has_edge(source, target)

    def whole(self, expr: Expr, bound: Bindings) -> Reason:
        return Reason(expr.span, self.inside, _mentioned(self.read, expr, bound), self.holds)


def _has_parts(problem: Problem, expr: Expr) -> bool:
    return isinstance(expr, model.Logic | model.LetCall) or _formula(problem, expr) is not None


def _formula(problem: Problem, expr: Expr) -> Expr | None:
    """Of a derived feature that is read."""
    if not isinstance(expr, model.Read):
        return None
    feature = problem.feature(expr.feature)
    return feature.initial if feature.stage.computed else None


def _mentioned(read: Evaluator, expr: Expr, bound: Bindings) -> tuple[tuple[str, int], ...]:
    """The bound nodes whose names appear in the clause's own text."""
    words = set(_words(read.problem.text_of(expr.span)))
    nodes = {name: value for name, value in bound.items() if isinstance(value, int)}
    return tuple((name, value) for name, value in nodes.items() if name in words)


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char == "_" else " " for char in text).split()
