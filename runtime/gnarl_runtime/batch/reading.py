"""A problem and what decides in it in, how a network reads its numbers out; needs no NumPy.

What is only compared is read as its rank in the instance, what can be scaled as a multiple of the
instance's own scale, everything else as it is. Where the network reads a part that does not grow
with the graph, that part's own scale takes the place of the instance's. Weights go with the reading
they were trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gnarl_dsl.levels.levels import Use, levels_of, units_of
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ABSOLUTE, GRAPH, ORDINAL, Level


@dataclass(frozen=True)
class UnitInputs:
    """A unit and the inputs that have it: scale and ranks come from these alone."""

    name: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """How one feature is read: by its level, in powers of units."""

    feature: str
    level: Level
    powers: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Reading:
    """Features without a rule are read as they are."""

    rules: tuple[Rule, ...] = ()
    units: tuple[UnitInputs, ...] = ()
    shown: tuple[Rule, ...] = ()  # by the scale of what the window shows, after the others
    shown_units: tuple[UnitInputs, ...] = ()

    @property
    def ruled(self) -> frozenset[str]:
        """The features that are not read as they are."""
        return frozenset(rule.feature for rule in (*self.rules, *self.shown))


PLAIN = Reading()


def reading_of(problem: Problem, use: Use) -> Reading:
    """The reading that changes no decision of this use."""
    measures = levels_of(problem, use)
    units = [UnitInputs(*unit) for unit in units_of(problem, measures).items()]
    rules = [
        Rule(name, measure.level, measure.powers)
        for name, measure in measures.items()
        if measure.level is not ABSOLUTE
    ]
    shown = _shown(problem, rules, units)
    return Reading(
        tuple(_within(rules, {unit.name for unit in units if unit not in shown})),
        tuple(unit for unit in units if unit not in shown),
        tuple(_within(rules, {unit.name for unit in shown})),
        shown,
    )


def _shown(problem: Problem, rules: list[Rule], units: list[UnitInputs]) -> tuple[UnitInputs, ...]:
    """The units whose scale is that of a window: if it has a number, and something to measure."""
    if all(window.nearest is None for window in problem.windows):
        return ()
    ranked = {rule.powers[0][0] for rule in rules if rule.level is ORDINAL}
    return tuple(
        unit
        for unit in units
        if unit.name not in ranked
        and any(problem.feature(name).place is not GRAPH for name in unit.inputs)
    )


def _within(rules: list[Rule], units: set[str]) -> Iterator[Rule]:
    """What of the rules is about some units."""
    for rule in rules:
        powers = tuple((name, power) for name, power in rule.powers if name in units)
        if powers:
            yield Rule(rule.feature, rule.level, powers)
