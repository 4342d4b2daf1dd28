"""What the checker knows of an expression: its type, what it reads and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.cost import Terms
from gnarl_dsl.model.kinds import CATEGORY, NODE_VALUE, NUMBER, TRUTH, Value
from gnarl_dsl.report.source import Span

_MAX_WITNESSES = 8


class Unstored(Enum):
    """What an expression can be that no cell ever holds."""

    CHOICE = "a choice"  # a word of an enum parameter, known now
    POISON = "unknown"  # already reported; it fits everywhere


Kind = Value | Unstored
CHOICE, POISONED = Unstored.CHOICE, Unstored.POISON


@dataclass(frozen=True, slots=True)
class Type:
    """`whole`: a number that is always a whole one (or infinite); `optional`: may be unset.

    `choices` are the names of a category or enum parameter.
    """

    kind: Kind
    whole: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    categories: int = 0

    @property
    def numbered(self) -> bool:
        """Whether it is a category without names, which is a number to formulas."""
        return self.kind is CATEGORY and not self.choices

    @property
    def numeric(self) -> bool:
        return self.kind is NUMBER or self.numbered

    @property
    def value(self) -> Value:
        """What a variable of this type holds; of what holds nothing, a number."""
        return self.kind if isinstance(self.kind, Value) else NUMBER

    def __str__(self) -> str:
        if self.kind is CHOICE:
            return f"{CHOICE.value} of {' | '.join(self.choices)}"
        if self.kind is CATEGORY:
            return f"{CATEGORY.noun} ({' | '.join(self.choices) or f'0..{self.categories - 1}'})"
        noun = self.kind.noun if isinstance(self.kind, Value) else self.kind.value
        return f"{noun} that may be unset" if self.optional else noun


SCALAR = Type(NUMBER)
WHOLE = Type(NUMBER, whole=True)
MASK = Type(TRUTH)
NODE = Type(NODE_VALUE)
MAYBE_NODE = Type(NODE_VALUE, optional=True)
POISON = Type(POISONED)


def merge_types(left: Type, right: Type) -> Type | None:
    """The type of a value that is one of two; None if they have nothing in common."""
    if left.numeric and right.numeric and left.kind is not right.kind:
        return SCALAR
    if left.kind is not right.kind or left.choices != right.choices:
        return None
    whole, optional = left.whole and right.whole, left.optional or right.optional
    return Type(left.kind, whole, optional, left.choices, left.categories)


@dataclass(frozen=True, slots=True)
class Witness:
    """A place where something was read, and the lets it was read through."""

    name: str
    span: Span
    via: tuple[str, ...] = ()

    def path(self) -> str:
        return " → ".join(f"`{name}`" for name in (*self.via, self.name))


class Row(NamedTuple):
    """Answers for all nodes at once, and the variables that they depend on."""

    terms: Terms
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """`repeats` is the number of rounds of the ranges in it (`1..k`), which cost no n or m.

    What is `hidden` is a part of the `state`. A `Row` is paid for where its variables are bound.
    """

    oracle: tuple[Witness, ...] = ()
    state: tuple[Witness, ...] = ()
    hidden: tuple[Witness, ...] = ()
    terms: Terms = cost.CONSTANT
    repeats: int = 1
    rows: frozenset[Row] = frozenset()

    @property
    def cost(self) -> Terms:
        """Of everything."""
        return cost.add(self.terms, *(row.terms for row in self.rows))

    def plus(self, *others: Facts) -> Facts:
        """Everything read by any part; costs added."""
        parts = (self, *others)
        oracle, state, hidden = (
            tuple(w for part in parts for w in getattr(part, kind))[:_MAX_WITNESSES]
            for kind in ("oracle", "state", "hidden")
        )
        terms = cost.add(*(part.terms for part in parts))
        repeats = max(part.repeats for part in parts)
        rows = frozenset().union(*(part.rows for part in parts))
        return Facts(oracle, state, hidden, terms, repeats, rows)

    def times(self, size: Terms, repeats: int = 1, names: Iterable[str] | None = None) -> Facts:
        """For all values of some variables; rows that depend on none of them are found once."""
        once = {r for r in self.rows if names is not None and r.names.isdisjoint(names)}
        each = cost.add(self.terms, *(row.terms for row in self.rows - once))
        terms, rows = cost.multiply(each, size), frozenset(once)
        return replace(self, terms=terms, repeats=self.repeats * repeats, rows=rows)

    def given(self, arguments: Mapping[str, frozenset[str]]) -> Facts:
        """With the variables of arguments in the place of parameters."""

        def named(row: Row) -> frozenset[str]:
            return frozenset(n for name in row.names for n in arguments.get(name, (name,)))

        return replace(self, rows=frozenset(Row(row.terms, named(row)) for row in self.rows))

    def through(self, name: str, span: Span) -> Facts:
        """The same reads, seen from a call of the let `name` at `span`."""
        oracle, state, hidden = (
            _seen(witnesses, name, span) for witnesses in (self.oracle, self.state, self.hidden)
        )
        return replace(self, oracle=oracle, state=state, hidden=hidden)


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
        return self.type.kind is POISONED


def poison(span: Span, *parts: Typed) -> Typed:
    """What stands for a reported expression; what its parts read is still known."""
    facts = NO_FACTS.plus(*(part.facts for part in parts)) if parts else NO_FACTS
    return Typed(model.Boolean.model_construct(span=span, value=False), POISON, facts)
