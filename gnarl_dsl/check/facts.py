"""What the checker knows of an expression besides its type: what it reads and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.cost import Terms
from gnarl_dsl.check.types import Type
from gnarl_dsl.report.source import Span

_MAX_WITNESSES = 8


@dataclass(frozen=True, slots=True)
class Witness:
    """A place where something was read, and the lets it was read through."""

    name: str
    span: Span
    via: tuple[str, ...] = ()

    def path(self) -> str:
        return " → ".join(f"`{name}`" for name in (*self.via, self.name))


@dataclass(frozen=True, slots=True)
class Facts:
    """`repeats` is the number of rounds of the ranges in it (`1..k`), which cost no n or m."""

    oracle: tuple[Witness, ...] = ()
    state: tuple[Witness, ...] = ()
    terms: Terms = cost.CONSTANT
    repeats: int = 1

    def plus(self, *others: Facts) -> Facts:
        """Everything read by any part; costs added."""
        oracle, state, repeats = self.oracle, self.state, self.repeats
        for other in others:
            oracle = (oracle + other.oracle)[:_MAX_WITNESSES]
            state = (state + other.state)[:_MAX_WITNESSES]
            repeats = max(repeats, other.repeats)
        return Facts(
            oracle, state, cost.add(self.terms, *(other.terms for other in others)), repeats
        )

    def times(self, size: Terms, repeats: int = 1) -> Facts:
        return replace(self, terms=cost.multiply(self.terms, size), repeats=self.repeats * repeats)

    def through(self, name: str, span: Span) -> Facts:
        """The same reads, seen from a call of the let `name` at `span`."""
        oracle, state = _seen(self.oracle, name, span), _seen(self.state, name, span)
        return Facts(oracle, state, self.terms, self.repeats)


def _seen(witnesses: tuple[Witness, ...], name: str, span: Span) -> tuple[Witness, ...]:
    """One call is one place, whatever it reads behind the let; the first read stands for all."""
    return tuple(Witness(w.name, span, (name, *w.via)[:8]) for w in witnesses[:1])


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class Typed:
    """A checked expression."""

    expr: model.Expr
    type: Type
    facts: Facts = NO_FACTS

    @property
    def is_poison(self) -> bool:
        return self.type.kind == "poison"
