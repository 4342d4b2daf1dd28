"""A Recording and places go in, what the page shows comes out, as its script reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.state import Change
from gnarl_compiler.interpret.trace import describe_changes
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import GRAPH, NODE, ORACLE, PAIR
from gnarl_runtime.viewing.places import ASPECT, Places
from gnarl_runtime.viewing.recording import (
    Moment,
    Recording,
    labels_of,
    pointers_from,
)
from gnarl_runtime.viewing.source_marks import Line, phase_lines, written_lines

Pair = tuple[int, int]
Weighed = tuple[tuple[int, float], ...]  # nodes with their chances
_LEAST = 5e-4  # a smaller chance is not told


@dataclass(frozen=True)
class Column:
    """A feature; `choices` are the names of a categorical.

    `value` says what to draw: what a cell holds, and whether there is one `single` of them.
    """

    name: str
    stage: str
    type: str
    value: str
    single: bool
    doc: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class PhaseInfo:
    """A phase and its lines in the spec."""

    name: str
    variable: str
    allow: tuple[Line, ...]
    update: tuple[Line, ...]
    expert: tuple[Line, ...]


@dataclass(frozen=True)
class SourceFile:
    name: str
    text: str


@dataclass(frozen=True)
class Weights:
    """A number per edge, in the order of the edges."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Frame:
    """One state and the pick in it; `pick` None: the last one."""

    round: int
    phase: int
    picks: tuple[int, ...]
    pick: int | None
    legal: tuple[int, ...]
    chances: Weighed
    advice: Weighed | None
    nodes: tuple[Any, ...]  # per node feature: a value per node, or the node of a mask_one
    graph: tuple[Any, ...]  # per graph feature
    masks: tuple[tuple[Pair, ...], ...]  # per mask of edges or pairs: where it is true
    added: tuple[Pair, ...]  # edges that were not there at the start
    removed: tuple[Pair, ...]
    changes: tuple[str, ...]
    written: tuple[Line, ...]
    why_not: tuple[Pair, ...]  # an illegal node and the number of a reason
    reward: str
    total: str
    objectives: tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    """What stays the same through all episodes on an instance."""

    problem: str
    doc: str
    aspect: float
    directed: bool
    complete: bool
    labels: tuple[str, ...]
    places: tuple[tuple[float, float], ...]
    edges: tuple[Pair, ...]
    weights: Weights | None
    node_features: tuple[Column, ...]
    graph_features: tuple[Column, ...]
    masks: tuple[Column, ...]
    phases: tuple[PhaseInfo, ...]
    sources: tuple[SourceFile, ...]
    reward: str | None
    objectives: tuple[str, ...]
    horizon: str


@dataclass(frozen=True)
class Page:
    """Everything the page shows."""

    scene: Scene
    subtitle: str
    player: str
    adviser: str | None
    reasons: tuple[str, ...]
    ending: str
    frames: tuple[Frame, ...]


def page_of(recording: Recording, places: Places, subtitle: str) -> Page:
    """The page of a recording."""
    problem, instance = recording.problem, recording.instance
    reasons = Numbered()
    frames = tuple(frame_of(problem, instance, moment, reasons) for moment in recording.moments)
    return Page(
        scene=scene_of(
            *(problem, instance, places, recording.adviser, recording.reward, recording.horizon)
        ),
        subtitle=subtitle,
        player=recording.player,
        adviser=recording.adviser,
        reasons=tuple(reasons.known),
        ending=ending_of(recording),
        frames=frames,
    )


def scene_of(
    problem: Problem,
    instance: Instance,
    places: Places,
    adviser: str | None,
    reward: str | None,
    horizon: float,
) -> Scene:
    """A problem on an instance, beside the lines of the expert that is asked."""
    graph = instance.graph
    shown = _shown(problem)
    complete = graph.n > 2 and graph.m * (1 if graph.directed else 2) == graph.n * (graph.n - 1)
    return Scene(
        problem=problem.name,
        doc=problem.doc,
        aspect=ASPECT,
        directed=graph.directed,
        complete=complete,
        labels=labels_of(instance),
        places=tuple((round(float(x), 4), round(float(y), 4)) for x, y in places),
        edges=_pairs(graph.edges()),
        weights=_weights(problem, instance),
        node_features=(*_columns(_of_nodes(shown)), *map(_from_pick, _of_rows(shown))),
        graph_features=_columns(_of_graph(shown)),
        masks=_columns(_of_pairs(shown)),
        phases=_phases(problem, adviser),
        sources=tuple(
            SourceFile(PurePath(source.name).name, source.text) for source in problem.sources
        ),
        reward=reward,
        objectives=tuple(entry.name for entry in problem.objectives),
        horizon=_text(horizon),
    )


def ending_of(recording: Recording) -> str:
    """`terminated after 11 rounds, valid, not correct`."""
    last = recording.moments[-1]
    rounds = last.round if recording.ended else last.round - 1
    words = [f"{recording.ended or 'left'} after {rounds} round{'s' * (rounds != 1)}"]
    words += [recording.stopped] if recording.stopped else []
    for name, truth in (("valid", recording.valid), ("correct", recording.correct)):
        if truth is not None:
            words.append(name if truth else f"not {name}")
    return ", ".join(words)


class Numbered:
    """Texts by number: the same reason is given in many frames."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


# Features: which are shown where


def _shown(problem: Problem) -> list[Feature]:
    return [feature for feature in problem.features if feature.stage is not ORACLE]


def _of_nodes(features: Sequence[Feature]) -> list[Feature]:
    """All that is shown as a value: points are where the nodes stand."""
    return [f for f in features if f.place is NODE and not f.type.apart]


def _of_graph(features: Sequence[Feature]) -> list[Feature]:
    return [f for f in features if f.place is GRAPH]


def _of_pairs(features: Sequence[Feature]) -> list[Feature]:
    """Masks only: a picture of a graph has no room for a table of n by n numbers."""
    return [f for f in features if f.width == 2 and f.is_truth]


def _of_rows(features: Sequence[Feature]) -> list[Feature]:
    """Pointers of pairs and edges, of which the row of a pick is shown as arrows."""
    return [f for f in features if f.points_between]


def _from_pick(feature: Feature) -> Column:
    (column,) = _columns([feature])
    return replace(column, name=f"{feature.name}[pick, ·]")


def _columns(features: Sequence[Feature]) -> tuple[Column, ...]:
    return tuple(
        Column(
            *(f.name, f.stage.name, f.type.name, f.type.value.name, f.single),
            doc=f.doc,
            choices=f.choices,
        )
        for f in features
    )


def _phases(problem: Problem, expert: str | None) -> tuple[PhaseInfo, ...]:
    marks = [phase_lines(problem, phase, expert) for phase in problem.phases]
    return tuple(
        PhaseInfo(phase.name, phase.variable, own.allow, own.update, own.expert)
        for phase, own in zip(problem.phases, marks, strict=True)
    )


def _weights(problem: Problem, instance: Instance) -> Weights | None:
    """The first input that gives every edge a number."""
    inputs, graph = instance.inputs, instance.graph
    for feature in problem.features:
        if feature.name in inputs and feature.is_number and feature.width == 2:
            values = inputs[feature.name][tuple(graph.edges().T)]
            return Weights(feature.name, tuple(_number(v) for v in values))
    return None


# Frames


def frame_of(problem: Problem, instance: Instance, moment: Moment, reasons: Numbered) -> Frame:
    """A moment of an episode on an instance."""
    made = moment.decision
    before, now = instance.graph.adjacency, moment.adjacency
    directed = instance.graph.directed
    shown = _shown(problem)
    return Frame(
        round=moment.round,
        phase=moment.phase,
        picks=moment.picks,
        pick=made.pick if made else None,
        legal=tuple(np.flatnonzero(moment.legal).tolist()),
        chances=_weighed(made.chances) if made else (),
        advice=None if moment.advice is None else _weighed(moment.advice),
        nodes=(
            *(_values(f, moment) for f in _of_nodes(shown)),
            *(tuple(pointers_from(f, moment)) for f in _of_rows(shown)),
        ),
        graph=tuple(_values(f, moment) for f in _of_graph(shown)),
        masks=tuple(_true_pairs(f, moment, directed) for f in _of_pairs(shown)),
        added=_where(now & ~before, directed),
        removed=_where(before & ~now, directed),
        changes=changes_of(problem, instance, made.changes) if made else (),
        written=written_lines(problem, made.changes) if made else (),
        why_not=tuple((node, reasons(text)) for node, text in made.why_not) if made else (),
        reward=_text(made.reward) if made else "",
        total=_text(moment.total),
        objectives=tuple(map(_text, moment.objectives)),
    )


def changes_of(
    problem: Problem, instance: Instance, changes: tuple[Change, ...]
) -> tuple[str, ...]:
    """What a pick changed, in words."""
    return tuple(describe_changes(problem, changes, labels_of(instance)))


def _values(feature: Feature, moment: Moment) -> Any:
    """A value, or one per node."""
    values = moment.features[feature.name]
    if values.ndim == 0:
        return _value(feature, values.item())
    return tuple(_value(feature, value) for value in values.tolist())


def _value(feature: Feature, value: Any) -> float | int:
    return _number(value) if feature.is_number else int(value)


def _number(value: Any) -> float:
    return float(f"{float(value):.6g}")


def _text(value: float) -> str:
    return f"{value + 0.0:.4g}" if math.isfinite(value) else str(value)


def _weighed(chances: NDArray[np.float64]) -> Weighed:
    nodes = np.flatnonzero(chances >= _LEAST).tolist()
    return tuple((node, round(float(chances[node]), 4)) for node in nodes)


def _true_pairs(feature: Feature, moment: Moment, directed: bool) -> tuple[Pair, ...]:
    values = moment.features[feature.name].astype(np.bool_)
    if feature.place is PAIR:
        return _where(values, True)
    return _where(values & moment.adjacency, directed)


def _where(mask: NDArray[np.bool_], ordered: bool) -> tuple[Pair, ...]:
    return _pairs(np.argwhere(mask if ordered else np.triu(mask)))


def _pairs(ends: NDArray[np.integer]) -> tuple[Pair, ...]:
    return tuple((int(u), int(v)) for u, v in ends)
