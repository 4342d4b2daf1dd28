"""A problem goes in, the lines of its spec that each phase runs come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gnarl_compiler.interpret.state import Change
from gnarl_dsl import model
from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span

Line = tuple[int, int]  # which file, and which of its lines, from 1


@dataclass(frozen=True)
class PhaseLines:
    """Where a phase says what may be picked, what a pick does, and what the expert would do."""

    allow: tuple[Line, ...]
    update: tuple[Line, ...]
    expert: tuple[Line, ...]


def phase_lines(problem: Problem, phase: model.Phase, expert: str | None) -> PhaseLines:
    """The lines of one phase; `expert` names the one that is asked, if any."""
    return PhaseLines(
        allow=lines_of(problem, (part.span for part in (phase.when, phase.allow) if part)),
        update=lines_of(problem, (statement.span for statement in phase.update)),
        expert=lines_of(problem, _expert_spans(problem, phase, expert)),
    )


def written_lines(problem: Problem, changes: Iterable[Change]) -> tuple[Line, ...]:
    """The lines that changed something."""
    return lines_of(problem, (c.span for c in changes if c.before != c.after))


def lines_of(problem: Problem, spans: Iterable[Span]) -> tuple[Line, ...]:
    """Every line that one of the spans touches, in order, once."""
    return tuple(sorted({line for span in spans for line in _lines(problem, span)}))


def _lines(problem: Problem, span: Span) -> Iterator[Line]:
    text = problem.sources[span.file].text
    first = problem.line_of(span)
    more = text[span.start : span.end].rstrip().count("\n")
    return ((span.file, line) for line in range(first, first + more + 1))


def _expert_spans(problem: Problem, phase: model.Phase, expert: str | None) -> list[Span]:
    if expert is None:
        return []
    chosen = problem.expert(expert)
    match chosen:
        case model.GreedyExpert() | model.SearchExpert() | model.BestExpert():
            return [chosen.span]
        case model.RuleExpert():
            rules = [rule for rule in chosen.phases if rule.phase == phase.name]
            return [entry.span for rule in rules for entry in rule.alternatives]
