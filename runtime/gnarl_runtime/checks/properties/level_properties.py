"""A problem, a use and small instances in, decisions that hang on more than their level says out.

The same picks are made where all numbers are changed as the levels allow: what is legal, where
picks lead and what the expert answers must stay. That guards the analysis of the spec itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.levels.levels import Measure, Measures, Use, default_use, levels_of
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import ABSOLUTE, HIDDEN
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.explore.board import Board, Index
from gnarl_runtime.checks.explore.explore import explore
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.changed_numbers import Change, change_for, deciding
from gnarl_runtime.checks.properties.found import Found
from gnarl_runtime.checks.properties.renaming import Twin, Values

LEVELS_OF_NODES = (3,)
FACTORS = (8.0, 0.125)
_TRANSITIONS = 800


def uses_of(problem: Problem) -> list[Use]:
    """The experts, those together that make the same of all numbers; or what is gained."""
    if not problem.experts:
        return [default_use(problem)]
    alike: dict[tuple[Measure, ...], list[str]] = {}
    for expert in problem.experts:
        measures = levels_of(problem, Use((expert.name,)))
        levels = tuple(replace(measure, why=None) for measure in measures.values())
        alike.setdefault(levels, []).append(expert.name)
    return [Use(tuple(names)) for names in alike.values()]


def check_levels(
    problem: Problem, use: Use, instances: Sequence[Instance]
) -> Iterator[tuple[Space, Found]]:
    """Follow the same picks after every change; nothing to do where all is absolute."""
    measures = levels_of(problem, use)
    if not instances or all(measure.level is ABSOLUTE for measure in measures.values()):
        return
    bare = deciding(problem)
    artifact = artifact_of(bare, jit=False)
    space = explore(
        bare, instances, states=_TRANSITIONS, transitions=_TRANSITIONS, artifact=artifact
    )
    if not len(space):
        return
    view = View(space)
    for factor in FACTORS:
        for found in _changed(view, use, change_for(measures, factor)):
            yield space, found
    view.close()


def _changed(view: View, use: Use, change: Change) -> Iterator[Found]:
    space = view.space
    told = ", ".join(_told(change.measures))
    other, odd = _ChangedTwin(space, change).follow()
    for what, states in odd:
        yield Found("level-broken", states, f"although {told}, {what}", None)
    if any(len(states) for _, states in odd):
        return
    for name in use.experts:
        expert = view.problem.expert(name)
        here, there = view.expert(name).distribution, other.expert(name)
        states = np.flatnonzero((here != there).any(axis=1))
        what = f"although {told}, the expert `{name}` answers otherwise"
        yield Found("level-broken", states, what, expert.span, name)


def _told(measures: Measures) -> Iterator[str]:
    for name, measure in measures.items():
        if measure.level is not ABSOLUTE:
            yield f"`{name}` is {measure.level} and was changed as that allows"


class _ChangedTwin(Twin):
    """The instances of a space with other numbers, under the same names."""

    def __init__(self, space: Space, change: Change) -> None:
        board, problem = space.board, change.problem(space.problem)
        artifact = board.artifact if problem is space.problem else artifact_of(problem, jit=False)
        instances = [change.instance(problem, instance) for instance in board.instances]
        same = np.tile(np.arange(board.nodes), (len(instances), 1))
        super().__init__(space, Board(problem, instances, artifact), same)
        self.change = change

    @cached_property
    def fields(self) -> dict[str, Feature | None]:
        """What decides and what is decided; what was gained and what is hidden is for judges."""
        shown = {name: f for name, f in super().fields.items() if name != "potential"}
        return {name: f for name, f in shown.items() if f is None or f.stage is not HIDDEN}

    def _arrive(self, before, depth, odd):  # type: ignore[no-untyped-def]
        found: list[tuple[str, Index]] = []
        rows = super()._arrive(before, depth, found)
        odd += [(what, states) for what, states in found if what == "a pick leads elsewhere"]
        return rows

    def _both(
        self, name: str, feature: Feature | None, here: Values, there: Values, owner: Index
    ) -> tuple[Values, Values]:
        """Numbers of a state must have been changed like those of the inputs."""
        if feature is not None:
            return self.change.of(feature.name, here), there
        return here, there
