"""A problem in; out: its probes, as CLRS calls what a trajectory is made of, and their values.

A probe is an input, a hint (there at every step) or an output; it lies on nodes, edges or the graph
and is a scalar, a categorical, a mask, a mask_one or a pointer. Every feature that a network may
read is a probe, the nodes that were picked last are hints, and outputs are what `correct` judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model import Assign, Feature, Problem
from gnarl_dsl.model.kinds import (
    CATEGORICAL,
    DERIVED,
    INPUT,
    POINT,
    STATE,
)
from gnarl_dsl.model.parts import features_named, parts_behind, parts_inside

Values = NDArray[Any]
Stage = Literal["input", "hint", "output"]
Location = Literal["node", "edge", "graph"]
Kind = Literal["scalar", "categorical", "mask", "mask_one", "pointer"]


@dataclass(frozen=True)
class Probe:
    """One of them; a categorical has so many classes."""

    name: str
    stage: Stage
    location: Location
    kind: Kind
    classes: int = 0

    def shape(self, nodes: int) -> tuple[int, ...]:
        """Of its values at one step of one episode."""
        width = {"node": 1, "edge": 2, "graph": 0}[self.location]
        return (nodes,) * width + ((self.classes,) if self.kind == "categorical" else ())


@dataclass(frozen=True)
class FeatureProbe:
    """A probe that shows a feature: its values, or one coordinate of points."""

    probe: Probe
    feature: Feature
    axis: int = 0

    def values(self, dense: Values, nodes: int) -> Values:
        """What the interpreter has, (n,), (n, n) or (), as CLRS has it."""
        feature, kind = self.feature, self.probe.kind
        if feature.type is POINT:
            return np.asarray(dense.imag if self.axis else dense.real, np.float64)
        if kind == "categorical":
            return np.eye(self.probe.classes)[dense.astype(np.int64)]
        if kind == "mask_one":
            return one_hot(int(dense), nodes)
        return np.asarray(dense, np.int64 if kind == "pointer" else np.float64)


def one_hot(node: int, nodes: int) -> Values:
    """A mark on one node, or on none where it is below 0."""
    marks = np.zeros(nodes)
    if node >= 0:
        marks[node] = 1
    return marks


def input_probes(problem: Problem) -> list[FeatureProbe]:
    """Inputs, and what is worked out from them once and for all."""
    return [p for f in _given(problem) for p in _shown(f, f.name, "input")]


def _given(problem: Problem) -> list[Feature]:
    moved = written(problem)
    return [
        f
        for f in problem.features
        if f.stage is INPUT or (f.stage is STATE and f.name not in moved)
    ]


def written(problem: Problem) -> set[str]:
    """The features that some update writes."""
    return {
        part.feature
        for phase in problem.phases
        for part in parts_inside(phase.update)
        if isinstance(part, Assign)
    }


def hint_probes(problem: Problem) -> list[FeatureProbe]:
    """Everything that a network reads besides the inputs; `_h` tells a hint from its output."""
    ends, moved = {feature.name for feature in output_features(problem)}, written(problem)
    return [
        probe
        for f in problem.features
        if f.stage is DERIVED or (f.stage is STATE and f.name in moved)
        for probe in _shown(f, f"{f.name}_h" if f.name in ends else f.name, "hint")
    ]


def output_probes(problem: Problem) -> list[FeatureProbe]:
    return [p for f in output_features(problem) for p in _shown(f, f.name, "output")]


def output_features(problem: Problem) -> list[Feature]:
    """The state that `correct` judges, or else the first objective; without either, all of it."""
    moved = written(problem)
    judges = [problem.correct, *(goal.value for goal in problem.objectives[:1])]
    for judge in judges:
        if judge is None:
            continue
        named = {name for part in parts_behind(problem, judge) for name in features_named(part)}
        found = [f for f in problem.features if f.stage is STATE and f.name in named & moved]
        if found:
            return found
    return [f for f in problem.features if f.stage is STATE and f.name in moved]


def _shown(feature: Feature, name: str, stage: Stage) -> Iterator[FeatureProbe]:
    """The probe of a feature; two of points."""
    if feature.type is POINT:
        for axis, letter in enumerate("xy"):
            probe = Probe(f"{name}_{letter}", stage, "node", "scalar")
            yield FeatureProbe(probe, feature, axis)
        return
    location: Location = "edge" if feature.width == 2 else "node" if feature.width else "graph"
    if feature.marks:  # a node, whether CLRS would mark it or point to it from the graph
        yield FeatureProbe(Probe(name, stage, "node", "mask_one"), feature)
    elif feature.type is CATEGORICAL:
        kind = Probe(name, stage, location, "categorical", feature.categories)
        yield FeatureProbe(kind, feature)
    else:
        kinds: dict[str, Kind] = {"pointer": "pointer", "scalar": "scalar"}
        yield FeatureProbe(
            Probe(name, stage, location, kinds.get(feature.type.name, "mask")), feature
        )


# What CLRS has besides features


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or with a line behind it if a feature is called so."""
    return free_name(f"{wanted}_", taken) if wanted in taken else wanted
