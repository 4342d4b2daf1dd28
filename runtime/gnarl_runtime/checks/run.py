"""A problem and options go in, a Report comes out: explored, sampled, linted, minimised."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gnarl_dsl.model import Problem
from gnarl_dsl.syntax.waivers import Waiver
from gnarl_runtime.checks.explore.small_graphs import MOST_NODES
from gnarl_runtime.checks.exploring import Exploration, unplayable
from gnarl_runtime.checks.findings.findings import Failure, Lint, Report
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.findings.wishes import Options, Progress
from gnarl_runtime.checks.properties.found import Collector


def check_problem(
    problem: Problem, options: Options | None = None, progress: Progress | None = None
) -> Report:
    """Everything that can be said about a spec within the budgets of the options.

    Experts that are made for each instance have nothing of their own that could be wrong: `best of`
    is one of its members, which are checked, and what `search` finds ends validly or is not used.
    """
    report = _check(problem.without_planned(), options or Options(), progress)
    return replace(report, problem=problem)


def _check(problem: Problem, options: Options, progress: Progress | None) -> Report:
    began = time.monotonic()
    most = MOST_NODES[problem.graph.directed]
    options = replace(options, max_nodes=min(options.max_nodes, most))
    found = Exploration(problem, options, progress)
    _check_externs(found)
    if found.collector.failing:  # everything else would only repeat it
        return _report(found, 0, (), began)
    found.run()
    _check_playable(found)
    _check_standings(found)
    examples = 0
    if options.examples and not found.finished:
        examples = _sample(found)
    notes = tuple(_check_idle(found))
    lints = _lints(found) if options.lints and not found.finished else ()
    return _report(found, examples, (*notes, *lints), began)


def _report(found: Exploration, examples: int, lints: tuple[Lint, ...], began: float) -> Report:
    failures, waived = found.collector.waivers.split(_minimised(found))
    whole = examples > 0 and found.options.only is None and not failures
    return Report(
        problem=found.problem,
        sizes=tuple(found.sizes[n] for n in sorted(found.sizes)),
        experts=found.figures.experts(),
        examples=examples,
        failures=failures,
        lints=(*lints, *_about_waivers(found.collector.waivers, waived, whole)),
        seconds=time.monotonic() - began,
        waived=waived,
    )


def _about_waivers(
    waivers: Waivers, waived: tuple[tuple[Failure, Waiver], ...], whole: bool
) -> Iterator[Lint]:
    """What is wrong with comments that waive something; `whole`: everything was looked for."""
    yield from waivers.unknown()
    if whole:
        yield from waivers.in_vain(tuple(waiver for _, waiver in waived))


def _check_externs(found: Exploration) -> None:
    """Code that was brought and answers now this, now that."""
    if not found.problem.externs or found.options.only not in (None, "extern"):
        return
    from gnarl_runtime.checks.properties.extern_answers import extern_failures

    for failure in extern_failures(found.problem, found.options.seed):
        found.collector.add(failure)


def _check_playable(found: Exploration) -> None:
    """A spec whose episodes are all over at their start has nothing to play."""
    if found.collector.failing or not unplayable(found.spaces):
        return
    space = next(space for space in found.spaces if space.board.nodes > 1 and len(space))
    phase = found.problem.phases[0]
    span = phase.allow.span if phase.allow else phase.span
    what = "every small instance is over before its first pick"
    found.collector.add(Failure("dead-end", what, space.board.instances[0], (), span))


def _check_standings(found: Exploration) -> None:
    """Experts that play no better than chance; one that is silent or fails is told that first."""
    broken = {failure.expert for failure in found.collector.kept.values()}
    for failure in found.standings.failures():
        if failure.expert in found.experts and failure.expert not in broken:
            found.collector.add(failure)


def _check_idle(found: Exploration) -> Iterator[Lint]:
    """Parts of the spec that never matter; told only where nothing else is wrong.

    What matters on larger graphs only is not idle, so random plays have the last word.
    """
    if found.collector.failing or found.options.only not in (None, "idle"):
        return
    from gnarl_runtime.checks.properties.idle import IdleParts, wander

    parts = IdleParts(found.problem)
    for space in sorted(found.spaces, key=lambda space: -space.board.nodes):
        parts.add(space)
    if parts.waiting and found.options.examples:
        parts.add(wander(found.problem, found.options.seed))
    for failure in parts.failures():
        found.collector.add(failure)
    yield from parts.notes()


def _sample(found: Exploration) -> int:
    # Sampling and lints are read here so that exploring alone stays light.
    from gnarl_runtime.checks.sampling import sample_failures

    examples, failures = sample_failures(found.problem, found.options, found.progress)
    for failure in failures:
        found.collector.add(failure)
    return examples


def _lints(found: Exploration) -> tuple[Lint, ...]:
    from gnarl_runtime.checks.lints.lints import find_lints

    others = find_lints(found.problem, found.spaces, found.options)
    cut = found.figures.late()
    if any(lint.name == "short-limit" for lint in others):
        cut = ()  # said already, with figures of larger graphs
    return (*found.figures.off_paths(), *cut, *others)


def _minimised(found: Exploration) -> tuple[Failure, ...]:
    """The failures, each with the smallest witness that can be found."""
    failures, only = found.collector.failures(), found.options.only
    if found.options.minimise:
        from gnarl_runtime.checks.witness.late import told_apart

        waivers = found.collector.waivers
        small = (told_apart(found.problem, _minimised_one(found, f)) for f in failures)
        counted = zip(small, failures, strict=True)
        failures = _joined((replace(one, count=f.count) for one, f in counted), waivers)
    return tuple(failure for failure in failures if only in (None, failure.property))


def _minimised_one(found: Exploration, failure: Failure) -> Failure:
    """Nobody is shown the witness of what is waived."""
    from gnarl_runtime.checks.witness.shrink import minimise

    if found.collector.waivers.of(failure.property, failure.span) is not None:
        return failure
    return minimise(found.problem, failure)


def _joined(failures: Iterable[Failure], waivers: Waivers) -> tuple[Failure, ...]:
    """One of each property and expert, after some have turned out to be of another property."""
    collector = Collector(waivers)
    for failure in failures:
        collector.add(failure)
    return collector.failures()
