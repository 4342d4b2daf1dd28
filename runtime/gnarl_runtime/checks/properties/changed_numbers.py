"""A problem, its measures and an instance in, the same with other numbers that decide the same out.

A unit that is only compared is bent, others are multiplied by a power of two, which costs no digit.
Params that have a unit go along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl import model
from gnarl_dsl.levels.gather import reads_oracle
from gnarl_dsl.levels.levels import Measures
from gnarl_dsl.model import Model, Problem
from gnarl_dsl.model.kinds import INPUT, ORDINAL

Values = NDArray[Any]


@dataclass(frozen=True)
class Change:
    """What happens to the numbers of each unit: `factors` by unit, the others are bent."""

    measures: Measures
    factors: Mapping[str, float]

    def of(self, name: str, values: Values) -> Values:
        """A feature's values after the change."""
        measure = self.measures.get(name)
        if measure is None or not measure.powers:
            return values
        if measure.level is ORDINAL:
            return np.asarray(bent(values))
        return np.asarray(values * self._factor(measure.powers))

    def _factor(self, powers: tuple[tuple[str, int], ...]) -> float:
        factor = 1.0
        for name, power in powers:
            factor *= self.factors[name] ** power
        return factor

    def instance(self, problem: Problem, given: Instance) -> Instance:
        inputs = {
            feature.name: self.of(feature.name, np.asarray(given.inputs[feature.name]))
            for feature in problem.features
            if feature.stage is INPUT
        }
        return replace(given, inputs=inputs)

    def problem(self, problem: Problem) -> Problem:
        """The problem whose params are measured in the same units as the changed numbers."""
        changed: Problem = _rescaled(problem, self)
        return changed


def bent(values: Values) -> Values:
    """Strictly increasing, and 0 stays 0; small multiples of powers of two stay exact."""
    return np.asarray(values * np.abs(values) * 4.0 + values)


def change_for(measures: Measures, factor: float) -> Change:
    """Every other unit is multiplied by the factor, the rest by its inverse."""
    units = dict.fromkeys(name for measure in measures.values() for name, _ in measure.powers)
    factors = {name: factor if at % 2 == 0 else 1 / factor for at, name in enumerate(units)}
    return Change(measures, factors)


def deciding(problem: Problem) -> Problem:
    """Without the ends that only judge, which may be others for other numbers."""
    ends = problem.terminate
    judged = ends is not None and reads_oracle(problem, ends)
    gone = {"limit": None} | ({"terminate": None} if judged else {})
    return problem.model_copy(update=gone)


def _rescaled(part: Any, change: Change) -> Any:
    """A part of a problem with its params in other units; itself where there are none."""
    if type(part) is tuple:
        items = tuple(_rescaled(item, change) for item in part)
        same = all(new is old for new, old in zip(items, part, strict=True))
        return part if same else items
    if isinstance(part, model.Number) and part.unit:
        value = float(change.of(part.unit, np.asarray(part.value)))
        return part.model_copy(update={"value": value})
    if not isinstance(part, Model):
        return part
    inside = {name: _rescaled(value, change) for name, value in vars(part).items()}
    changed = {name: new for name, new in inside.items() if new is not getattr(part, name)}
    return part.model_copy(update=changed) if changed else part
