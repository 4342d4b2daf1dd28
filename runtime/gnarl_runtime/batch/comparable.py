"""A problem and a reading in, which numbers along a message can be compared out: names of columns.

Only numbers of one unit meet. What is only compared meets alone, and what is also added meets
in sums of a number of a node and one of an edge, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from gnarl_dsl.language.operators import RELATIVE
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, NODE, PAIR, RATIO
from gnarl_runtime.batch.reading import Reading, Rule


@dataclass(frozen=True)
class EndTerm:
    """A feature of the node that a message comes from, or goes to."""

    feature: str
    source: bool

    def __str__(self) -> str:
        return f"{self.feature}[{'src' if self.source else 'dst'}]"


@dataclass(frozen=True)
class WayTerm:
    """A feature along the message, or `against` it."""

    feature: str
    against: bool = False

    def __str__(self) -> str:
        return f"{self.feature}[{'dst, src' if self.against else 'src, dst'}]"


Term = EndTerm | WayTerm


@dataclass(frozen=True)
class ComparedColumn:
    """Whether a sum is below (-1), equal to (0) or above (1) a number; 0 off the edges."""

    name: str
    left: tuple[Term, ...]
    right: Term
    close: float = 0.0  # share of the larger number by which equal ones may differ


def compared_columns(problem: Problem, reading: Reading) -> Iterator[ComparedColumn]:
    """Every comparison of two numbers, and of sums of two with a third."""
    for unit, ratio in _units(reading).items():
        names = [name for name, own in _measured(reading).items() if own == ((unit, 1),)]
        places = {name: problem.feature(name).place for name in names}
        nodes = [name for name in names if places[name] is NODE]
        ways = [name for name in names if places[name] in (EDGE, PAIR)]
        both = problem.graph.directed or any(places[name] is PAIR for name in ways)
        # Sums are rounded; what is only copied is not, and any monotone map leaves it as it is.
        column = partial(_column, close=RELATIVE if ratio else 0.0)
        for one, other in product(nodes, nodes):
            yield column(EndTerm(one, True), right=EndTerm(other, False))
        for way, against in product(ways, (False, True) if both else (False,)):
            for one, source in product(nodes, (True, False)):
                yield column(WayTerm(way, against), right=EndTerm(one, source))
        if ratio:
            for way, one, other in product(ways, nodes, nodes):
                for source in (True, False):
                    left = EndTerm(one, source), WayTerm(way, not source)
                    yield column(*left, right=EndTerm(other, not source))


def _column(*left: Term, right: Term, close: float) -> ComparedColumn:
    return ComparedColumn(f"{' + '.join(map(str, left))} ? {right}", left, right, close)


def _rules(reading: Reading) -> tuple[Rule, ...]:
    return (*reading.rules, *reading.shown)


def _units(reading: Reading) -> dict[str, bool]:
    """Every unit, and whether its numbers are added, too."""
    return {name: rule.level is RATIO for rule in _rules(reading) for name, _ in rule.powers}


def _measured(reading: Reading) -> dict[str, tuple[tuple[str, int], ...]]:
    """The powers of every feature; those of windows are told apart from the others."""
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for rule in _rules(reading):
        found[rule.feature] = (*found.get(rule.feature, ()), *rule.powers)
    return found
