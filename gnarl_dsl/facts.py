"""What the checker knows of an expression besides its type: what it reads and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnarl_dsl import cost, model
from gnarl_dsl.cost import Terms
from gnarl_dsl.source import Span
from gnarl_dsl.types import Type


@dataclass(frozen=True, slots=True)
class Witness:
    """The first place where something was read, and the lets it was read through."""

    name: str
    span: Span
    via: tuple[str, ...] = ()

    def path(self) -> str:
        return " → ".join(f"`{name}`" for name in (*self.via, self.name))


@dataclass(frozen=True, slots=True)
class Facts:
    oracle: Witness | None = None
    state: Witness | None = None
    terms: Terms = cost.CONSTANT

    def plus(self, *others: Facts) -> Facts:
        """Everything read by any part; costs added."""
        oracle, state, terms = self.oracle, self.state, [self.terms]
        for other in others:
            oracle = oracle or other.oracle
            state = state or other.state
            terms.append(other.terms)
        return Facts(oracle, state, cost.add(*terms))

    def times(self, size: Terms) -> Facts:
        return replace(self, terms=cost.multiply(self.terms, size))

    def through(self, name: str, span: Span) -> Facts:
        """The same reads, seen from a call of the let `name` at `span`."""
        return Facts(_seen(self.oracle, name, span), _seen(self.state, name, span), self.terms)


def _seen(witness: Witness | None, name: str, span: Span) -> Witness | None:
    return witness and Witness(witness.name, span, (name, *witness.via)[:8])


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
