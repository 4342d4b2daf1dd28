"""Per-step cost as a polynomial in n, m and the degree: of clauses in, of a problem out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gnarl_dsl.model import Costs, CostTerm
from gnarl_dsl.model.kinds import EDGE, Place
from gnarl_dsl.report.diagnostics import Collector
from gnarl_dsl.report.source import Span

Terms = frozenset[tuple[int, int, int]]

CONSTANT: Terms = frozenset({(0, 0, 0)})
NODES: Terms = frozenset({(1, 0, 0)})
EDGES: Terms = frozenset({(0, 1, 0)})
DEGREE: Terms = frozenset({(0, 0, 1)})
MAX_DEGREE = 3
_PARTS = ("mask", "update", "ending", "observation", "reward")


def cells(place: Place) -> Terms:
    """How many cells a feature has there."""
    return EDGES if place is EDGE else frozenset({(place.width, 0, 0)})


def add(*parts: Terms) -> Terms:
    """The dominant terms of a sum."""
    return _dominant(term for part in parts for term in part)


def multiply(left: Terms, right: Terms) -> Terms:
    """The dominant terms of a product; a sum of degrees over all nodes is m."""
    return _dominant(_merge(a, b) for a in left for b in right)


def _merge(a: tuple[int, int, int], b: tuple[int, int, int]) -> tuple[int, int, int]:
    n, m, d = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    paired = min(n, d)
    return (n - paired, m + paired, d - paired)


def _dominant(terms: Iterable[tuple[int, int, int]]) -> Terms:
    kept = set(terms)
    return frozenset(t for t in kept if not any(o != t and _covers(o, t) for o in kept))


def _covers(big: tuple[int, int, int], small: tuple[int, int, int]) -> bool:
    """Whether big grows at least as fast as small on every graph, as far as exponents tell."""
    (bn, bm, bd), (sn, sm, sd) = big, small
    # A degree is at most n; an edge count is not bounded below by n.
    return bm >= sm and bn >= sn and bn - sn + bd >= sd


def total_degree(terms: Terms) -> int:
    """The exponent of n in the worst case, where m is n squared and a degree is n."""
    return max((n + 2 * m + d for n, m, d in terms), default=0)


def to_model(terms: Terms) -> tuple[CostTerm, ...]:
    ordered = sorted(terms, reverse=True)
    return tuple(CostTerm.model_construct(nodes=n, edges=m, degree=d) for n, m, d in ordered)


def describe(terms: Iterable[CostTerm]) -> str:
    """`O(n + m)` from the model's terms."""
    texts = [_describe_term(term) for term in terms]
    return f"O({' + '.join(texts) or '1'})"


def _describe_term(term: CostTerm) -> str:
    parts = []
    for name, power in (("n", term.nodes), ("m", term.edges), ("deg", term.degree)):
        if power:
            parts.append(name if power == 1 else f"{name}^{power}")
    return " ".join(parts) or "1"


# What the clauses of a spec spend


class Spent(NamedTuple):
    """What one clause costs per step; `part` is the entry of `Costs` it belongs to."""

    part: str
    where: str
    span: Span
    terms: Terms


def total_costs(spent: Iterable[Spent], experts: Mapping[str, Terms]) -> Costs:
    """The worst case per part and per expert; a step pays for all parts, not for experts."""
    by_part = {name: [s.terms for s in spent if s.part == name] for name in _PARTS}
    parts: dict[str, Any] = {name: _sum(terms) for name, terms in by_part.items()}
    step = _sum(terms for group in by_part.values() for terms in group)
    costs = tuple((name, to_model(terms)) for name, terms in experts.items())
    return Costs.model_construct(step=step, experts=costs, **parts)


def _sum(parts: Iterable[Terms]) -> tuple[CostTerm, ...]:
    return to_model(add(CONSTANT, *parts))


def verify_bound(spent: Iterable[Spent], found: Collector) -> None:
    """Report every clause that costs more than n cubed."""
    for part in spent:
        if total_degree(part.terms) > MAX_DEGREE:
            text = describe(to_model(part.terms))
            found.add("GN601", part.span, where=part.where, cost=text)
