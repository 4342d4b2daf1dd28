"""A problem in, the table of its features out, in the columns of the paper's appendix C."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from textwrap import wrap
from typing import NamedTuple

from gnarl_dsl.levels.levels import Measure, default_use, levels_of
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import (
    CATEGORICAL,
    EDGE,
    GRAPH,
    HIDDEN,
    INPUT,
    MASK,
    NODE,
    ORACLE,
    STAGES,
    STATE,
    Place,
    Stage,
)

WIDTH = 100
_GAP = "  "
_MIN_WIDTH = 8
_PROSE, _NARROW_PROSE = 1, 13
_UNSET = "∅"


class FeatureRow(NamedTuple):
    """One line of the table; `hidden` features are never shown to the policy."""

    name: str
    description: str
    stage: Stage
    location: Place
    type: str
    initial: str
    hidden: bool = False
    level: str = ""

    def cells(self) -> tuple[str, ...]:
        covered = self.hidden and self.stage is not HIDDEN
        stage = f"{self.stage.name} (hidden)" if covered else self.stage.name
        place = self.location.name
        return (self.name, self.description, stage, place, self.type, self.level, self.initial)


HEADER = ("Feature", "Description", "Stage", "Location", "Type", "Level", "Initial value")
_LEVEL = HEADER.index("Level")


def table_cells(problem: Problem) -> list[tuple[str, ...]]:
    """The table with its header; levels are those of numbers, so without any there is no column."""
    cells = [HEADER, *(row.cells() for row in feature_rows(problem))]
    if any(row[_LEVEL] for row in cells[1:]):
        return cells
    return [(*row[:_LEVEL], *row[_LEVEL + 1 :]) for row in cells]


def feature_rows(problem: Problem) -> list[FeatureRow]:
    """Inputs, what every problem observes by itself, state, formulas, and what is hidden."""
    measures = levels_of(problem, default_use(problem))
    inputs, *others = (
        [
            _declared_row(problem, f, measures.get(f.name))
            for f in problem.features
            if f.stage is stage
        ]
        for stage in STAGES.values()
    )
    graph, automatic = list(_graph_row(problem)), list(_automatic_rows(problem))
    return [*graph, *inputs, *automatic, *chain.from_iterable(others)]


def _declared_row(problem: Problem, feature: Feature, measure: Measure | None) -> FeatureRow:
    return FeatureRow(
        feature.name,
        feature.doc or "-",
        feature.stage,
        feature.place,
        _type_text(feature),
        _initial_text(problem, feature),
        hidden=not feature.observed,
        level="" if measure is None else level_text(measure),
    )


def level_text(measure: Measure) -> str:
    """`ratio (A)`: the level, and the unit if it has one."""
    return measure.level.name + (f" ({measure.unit})" if measure.unit else "")


def _type_text(feature: Feature) -> str:
    if not feature.categories:
        return feature.type.name
    return f"{feature.type.name}({' | '.join(feature.choices) or feature.categories})"


def _initial_text(problem: Problem, feature: Feature) -> str:
    if feature.source is not None:
        return f"- ({feature.source.label})"
    if feature.initial is None:
        return _UNSET if feature.unset else "-"
    value = problem.text_of(feature.initial.span)
    if feature.stage is ORACLE:
        return value
    names = ", ".join(feature.vars or feature.place.usual)
    return f"{value} {feature.place.everywhere.format(names)}".rstrip()


def _graph_row(problem: Problem) -> Iterator[FeatureRow]:
    """The adjacency matrix, unless an edge input shows it (the paper's rule)."""
    graph = problem.graph
    if graph.mutable:
        yield FeatureRow("edge", "adjacency of the current graph", STATE, EDGE, MASK.name, "-")
    elif not any(f.stage is INPUT and f.place is EDGE for f in problem.features):
        yield FeatureRow("edge", "adjacency of the graph", INPUT, EDGE, MASK.name, "-")


def _automatic_rows(problem: Problem) -> Iterator[FeatureRow]:
    """The phase and the last pick of each phase: the paper's p and ψ_m."""
    taken = {feature.name for feature in problem.features}
    count = len(problem.phases)
    name = "phase" if "p" in taken else "p"
    yield FeatureRow(name, f"phase (P = {count})", STATE, GRAPH, CATEGORICAL.name, "1")
    for number, phase in enumerate(problem.phases, 1):
        text = f"node last picked in phase {phase.name}"
        yield FeatureRow(f"ψ_{number}", text, STATE, NODE, CATEGORICAL.name, _UNSET)
    for number, phase in enumerate(problem.phases[:-1], 1):
        if phase.when is not None:
            text = f"phase {phase.name} has picked in this round"
            yield FeatureRow(f"p_{number}", text, STATE, GRAPH, MASK.name, "0")


# Laying out


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side; the widest are wrapped until a line fits."""
    widths = _fitted_widths(rows)
    lines = []
    for row in rows:
        cells = [wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for index in range(max(map(len, cells))):
            shown = [cell[index] if index < len(cell) else "" for cell in cells]
            padded = (text.ljust(width) for text, width in zip(shown, widths, strict=True))
            lines.append(_GAP.join(padded).rstrip())
    return lines


def _fitted_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Sentences are wrapped before formulas are, and those before anything else."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = WIDTH - len(_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _MIN_WIDTH:
        widest = widths.index(max(widths))
        widths[_PROSE if widths[_PROSE] > _NARROW_PROSE else widest] -= 1
    return widths
