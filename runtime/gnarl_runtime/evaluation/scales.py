"""Graphs in any units go in, the same in the units of the spec's own instances come out.

A network only knows numbers as large as those it was trained on; a distance in metres means
nothing to one that saw the unit square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, family_of
from gnarl_compiler.instances.generators import GenerationError
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import INPUT

_DRAWN = 8  # instances to learn the usual units from
_FAR = 3.0  # times larger or smaller than usual is worth a note


def usual_scales(problem: Problem) -> dict[str, float]:
    """The largest magnitude of each scalar input in instances of the spec's training split."""
    own = [f for f in problem.features if f.stage is INPUT]
    names = [f.name for f in own if f.is_number or f.type.apart]
    if not names or not problem.instances:
        return {}
    try:
        split = choose_split(problem, "train")
        drawn = [draw_instance(problem, family_of(split, k), 0, k) for k in range(_DRAWN)]
    except (GenerationError, LookupError):  # values from files only, or no such split
        return {}
    return {name: max(largest(instance, name) for instance in drawn) for name in names}


def largest(instance: Instance, name: str) -> float:
    """The largest magnitude of an input; of points, how far any is from their middle."""
    values = instance.inputs[name]
    if np.iscomplexobj(values):
        values = values - values.mean()
    return float(np.abs(values).max(initial=0.0))


def factors(problem: Problem, instance: Instance, usual: dict[str, float]) -> dict[str, float]:
    """What each scalar input has to be divided by to become as large as usual."""
    own = {name: largest(instance, name) for name in usual}
    return {name: own[name] / usual[name] for name in usual if own[name] > 0 < usual[name]}


def rescaled(problem: Problem, instances: Sequence[Instance]) -> list[Instance]:
    """The instances with every scalar input brought to its usual size."""
    usual = usual_scales(problem)
    return [_rescale(instance, factors(problem, instance, usual)) for instance in instances]


def _rescale(instance: Instance, by: dict[str, float]) -> Instance:
    inputs = dict(instance.inputs)
    for name, factor in by.items():
        values: NDArray[Any] = np.asarray(inputs[name])
        inputs[name] = values / factor  # rounded by the instance
    return replace(instance, inputs=inputs, oracles={})


def unusual_scales(
    problem: Problem, instances: Sequence[Instance], known: Sequence[str] = ()
) -> list[str]:
    """A sentence per input that is much larger or smaller than in training.

    Those that are `known` are read alike in all scales.
    """
    usual, notes = usual_scales(problem), []
    for name in (name for name in usual if name not in known):
        own = max(largest(instance, name) for instance in instances)
        if usual[name] > 0 and own > 0 and not 1 / _FAR <= own / usual[name] <= _FAR:
            notes.append(
                f"`{name}` is up to {own:.4g} here, but up to {usual[name]:.4g} in training"
            )
    return notes
