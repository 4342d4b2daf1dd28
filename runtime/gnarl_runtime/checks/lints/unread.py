"""A problem goes in, the features that none of its formulas reads come out."""

from __future__ import annotations

from collections.abc import Iterator

from gnarl_dsl import model
from gnarl_dsl.model import Feature, Model, Problem
from gnarl_dsl.model.kinds import INPUT


def unread_features(problem: Problem) -> Iterator[Feature]:
    """Inputs and states that nothing depends on; a derived feature is made for the policy."""
    read = set(_reads(problem))
    for feature in problem.features:
        if (feature.stage is INPUT or feature.stage.written) and feature.name not in read:
            yield feature


def _reads(problem: Problem) -> Iterator[str]:
    for name, part in vars(problem).items():
        if name not in ("sources", "costs", "instances"):
            yield from _names(part)


def _names(part: object, target: str = "") -> Iterator[str]:
    """Features that a part of a problem reads; an assignment's own target does not count."""
    if isinstance(part, tuple):
        for item in part:
            yield from _names(item, target)
    if not isinstance(part, Model):
        return
    match part:
        case model.Read() | model.OneNode() | model.FeatureRef():
            if part.feature != target:
                yield part.feature
        case model.Chase():
            yield from (part.pointer, part.weight or "")
    inner = part.feature if isinstance(part, model.Assign) else target
    for value in vars(part).values():
        yield from _names(value, inner)
