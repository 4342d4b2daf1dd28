"""What the clauses of a spec cost per step in, the model's costs and a bound out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gnarl_dsl import model
from gnarl_dsl.check import cost
from gnarl_dsl.check.facts import NO_FACTS, Facts
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span

_PARTS = ("mask", "update", "ending", "observation", "reward")


class Spent(NamedTuple):
    """What one clause costs per step; `part` is the entry of `Costs` it belongs to."""

    part: str
    where: str
    span: Span
    facts: Facts


def total_costs(spent: Iterable[Spent], experts: Mapping[str, Facts]) -> model.Costs:
    """The worst case per part and per expert; a step pays for all parts, not for experts."""
    by_part = {name: [s.facts for s in spent if s.part == name] for name in _PARTS}
    parts: dict[str, Any] = {name: _sum(facts) for name, facts in by_part.items()}
    step = _sum(facts for group in by_part.values() for facts in group)
    costs = tuple((name, cost.to_model(facts.terms)) for name, facts in experts.items())
    return model.Costs.model_construct(step=step, experts=costs, **parts)


def _sum(parts: Iterable[Facts]) -> tuple[model.CostTerm, ...]:
    return cost.to_model(NO_FACTS.plus(*parts).terms)


def verify_bound(spent: Iterable[Spent], found: Collector) -> None:
    """Report every clause that costs more than n cubed."""
    for part in spent:
        terms = part.facts.terms
        if cost.total_degree(terms) > cost.MAX_DEGREE:
            text = cost.describe(cost.to_model(terms))
            found.add("GN601", part.span, where=part.where, cost=text)
