"""Mutants in, what became of each out: killed by which property, lint only, survived, the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from behaviour import first_difference
from conftest import shipped
from mutants import Mutant

from gnarl_dsl.model import Problem
from gnarl_runtime.checks.options import Options
from gnarl_runtime.checks.run import check_problem

Outcome = Literal["killed", "lint", "survived", "same"]

QUICK = Options(max_nodes=3, examples=0, jit=False, lints=False, minimise=False, stop_at_first=True)
WITH_LINTS = replace(QUICK, lints=True, stop_at_first=False)


def options_for(problem: Problem) -> Options:
    """Three nodes; four where every graph is complete, since all tours of three are equal."""
    return replace(QUICK, max_nodes=4) if problem.graph.complete else QUICK


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant; `by` is a property, lints, or what differs from the original."""

    spec: str
    operator: str
    described: str
    outcome: Outcome
    by: str
    nodes: int  # of the counterexample
    seconds: float


def judge(mutant: Mutant, lints: bool = True) -> Verdict:
    """Check a mutant; one that passes is compared with the original."""
    began = time.process_time()
    report = check_problem(mutant.problem, options_for(mutant.problem))
    seconds = time.process_time() - began
    outcome: Outcome = "killed"
    by, nodes = "", 0
    if report.failures:
        by, nodes = report.failures[0].property, report.failures[0].instance.graph.n
    else:
        by = first_difference(shipped(mutant.spec), mutant.problem)
        fresh: frozenset[str] = frozenset()
        if by and lints:
            fresh = new_lints(mutant)
        outcome = "lint" if fresh else "survived" if by else "same"
        by = f"{by}; new lint: {', '.join(sorted(fresh))}" if fresh else by
    return Verdict(mutant.spec, mutant.operator, mutant.describe(), outcome, by, nodes, seconds)


def new_lints(mutant: Mutant) -> frozenset[str]:
    """Lints at lines of the spec where the original has none of that name."""
    gone = 0 if mutant.after else 1  # lines below a dropped one have moved up
    moved = {(name, line + gone * (line >= mutant.line)) for name, line in lints_of(mutant.problem)}
    return frozenset(name for name, _ in moved - original_lints(mutant.spec))


def lints_of(problem: Problem) -> frozenset[tuple[str, int]]:
    lints = check_problem(problem, WITH_LINTS).lints
    return frozenset((lint.name, problem.line_of(lint.span) if lint.span else 0) for lint in lints)


@cache
def original_lints(spec: str) -> frozenset[tuple[str, int]]:
    return lints_of(shipped(spec))


# Tables


def score(verdicts: Iterable[Verdict]) -> float:
    """The share of mutants that change behaviour and are killed."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    changed = sum(counts.values()) - counts["same"]
    return counts["killed"] / changed if changed else 1.0


def table(verdicts: Sequence[Verdict], column: Literal["spec", "operator"]) -> Iterator[str]:
    """Counts by spec or by operator, in Markdown."""
    yield f"| {column} | mutants | same | changed | killed | lint only | survived | score |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    names = sorted({getattr(verdict, column) for verdict in verdicts})
    for name in names:
        yield _row(name, [v for v in verdicts if getattr(v, column) == name])
    yield _row("**all**", verdicts)


def _row(name: str, verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.outcome for verdict in verdicts)
    same = counts["same"]
    cells = [len(verdicts), same, len(verdicts) - same]
    cells += [counts["killed"], counts["lint"], counts["survived"]]
    return f"| {name} | {' | '.join(map(str, cells))} | {100 * score(verdicts):.0f} % |"


def killers(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Which property killed how many, and on how many nodes."""
    yield "| property that stopped it | mutants | n = 1 | n = 2 | n = 3 | n = 4 |"
    yield "|---|---:|---:|---:|---:|---:|"
    killed = [verdict for verdict in verdicts if verdict.outcome == "killed"]
    for name, count in Counter(verdict.by for verdict in killed).most_common():
        sizes = Counter(verdict.nodes for verdict in killed if verdict.by == name)
        yield f"| {name} | {count} | {' | '.join(str(sizes[n]) for n in (1, 2, 3, 4))} |"


def listed(verdicts: Sequence[Verdict], outcome: Outcome) -> Iterator[str]:
    """The mutants with an outcome, one line each."""
    for verdict in verdicts:
        if verdict.outcome == outcome:
            by = f" ({verdict.by})" if verdict.by else ""
            yield f"- {verdict.described}{by}"
