"""Kinds of features are single objects, wherever a problem has travelled."""

from __future__ import annotations

import copy
import pickle

import pytest
from shipped_specs import SHIPPED, shipped

from gnarl_dsl.model.kinds import PLACES, STAGES, TYPES, VALUES, Named

KINDS = [*PLACES.values(), *STAGES.values(), *TYPES.values(), *VALUES.values()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{type(kind).__name__} {kind}")
def test_copies_are_the_one_object(kind: Named) -> None:
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert copy.copy(kind) is kind
    assert copy.deepcopy(kind) is kind


@pytest.mark.parametrize("name", SHIPPED)
def test_a_problem_from_another_process_has_the_same_kinds(name: str) -> None:
    problem = shipped(name)
    arrived = pickle.loads(pickle.dumps(problem))
    for here, there in zip(problem.features, arrived.features, strict=True):
        assert here.type is there.type
        assert here.place is there.place
        assert here.stage is there.stage
