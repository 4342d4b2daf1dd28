"""A problem and what decides in it in, how a network reads its numbers out; needs no NumPy.

What is only compared is read as its rank in the instance, what can be scaled as a multiple of the
instance's own scale, everything else as it is. Weights go with the reading they were trained on.
"""

from __future__ import annotations

from dataclasses import dataclass

from gnarl_dsl.levels.levels import Use, levels_of, units_of
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ABSOLUTE, Level


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


PLAIN = Reading()


def reading_of(problem: Problem, use: Use) -> Reading:
    """The reading that changes no decision of this use."""
    measures = levels_of(problem, use)
    units = units_of(problem, measures)
    return Reading(
        tuple(
            Rule(name, measure.level, measure.powers)
            for name, measure in measures.items()
            if measure.level is not ABSOLUTE
        ),
        tuple(UnitInputs(name, inputs) for name, inputs in units.items()),
    )
