"""Mutants in, what became of each out: killed by which property, lint only, survived, the same.

Killed means by exploring graphs of up to three nodes. What passes that plays random instances, too,
as many as `gnarl_dsl.testing.check_spec` does unless told otherwise; that outcome is `random`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from behaviour import first_difference
from mutants import Mutant
from shipped_specs import shipped

from gnarl_dsl.model import Problem
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.checks.sampling import sample_failures

Outcome = Literal["killed", "random", "lint", "survived", "same"]

SMALL = 4  # nodes up to which a change must show to be counted in the score

QUICK = Options(max_nodes=3, examples=0, jit=False, lints=False, minimise=False, stop_at_first=True)
RANDOM = replace(QUICK, examples=60)
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
    beyond: bool = False  # the change was seen on more than four nodes only


def judge(mutant: Mutant, lints: bool = True) -> Verdict:
    """Check a mutant; one that passes is compared with the original."""
    began = time.process_time()
    outcome, failure = failing(mutant.problem)
    seconds = time.process_time() - began
    if failure is not None and outcome == "killed":
        return verdict_of(mutant, outcome, failure.property, failure.instance.graph.n, seconds)
    change = first_difference(shipped(mutant.spec), mutant.problem)
    beyond = change is not None and change.nodes > SMALL
    if failure is not None:
        nodes = failure.instance.graph.n
        return verdict_of(mutant, outcome, failure.property, nodes, seconds, beyond)
    fresh = new_lints(mutant) if change is not None and lints else frozenset()
    outcome = "same" if change is None else "lint" if fresh else "survived"
    notes = [str(change)] * (change is not None) + [f"new lint: {x}" for x in sorted(fresh)]
    return verdict_of(mutant, outcome, "; ".join(notes), 0, seconds, beyond)


def verdict_of(
    mutant: Mutant, outcome: Outcome, by: str, nodes: int, seconds: float, beyond: bool = False
) -> Verdict:
    described = mutant.describe()
    return Verdict(mutant.spec, mutant.operator, described, outcome, by, nodes, seconds, beyond)


def failing(problem: Problem) -> tuple[Outcome, Failure | None]:
    """The first failure: of small graphs explored whole, then of random instances."""
    failures = check_problem(problem, options_for(problem)).failures
    if failures:
        return "killed", failures[0]
    _, more = sample_failures(problem, RANDOM)
    return "random", more[0] if more else None


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


def score(verdicts: Iterable[Verdict], outcomes: Sequence[Outcome] = ("killed",)) -> float:
    """The share of mutants that change behaviour and have one of these outcomes."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    changed = sum(counts.values()) - counts["same"]
    return sum(counts[outcome] for outcome in outcomes) / changed if changed else 1.0


FOUND: tuple[Outcome, ...] = ("killed", "random")


def table(verdicts: Sequence[Verdict], column: Literal["spec", "operator"]) -> Iterator[str]:
    """Counts by spec or by operator, in Markdown."""
    yield (
        f"| {column} | mutants | same | changed | killed | by random | lint only | survived "
        "| score | with random |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    names = sorted({getattr(verdict, column) for verdict in verdicts})
    for name in names:
        yield _row(name, [v for v in verdicts if getattr(v, column) == name])
    yield _row("**all**", verdicts)


def _row(name: str, verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.outcome for verdict in verdicts)
    same = counts["same"]
    cells = [len(verdicts), same, len(verdicts) - same]
    cells += [counts[o] for o in ("killed", "random", "lint", "survived")]
    small, both = 100 * score(verdicts), 100 * score(verdicts, FOUND)
    return f"| {name} | {' | '.join(map(str, cells))} | {small:.0f} % | {both:.0f} % |"


def killers(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Which property killed how many, and on how many nodes."""
    yield "| property that stopped it | mutants | n = 1 | n = 2 | n = 3 | n = 4 | by random |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    found = [verdict for verdict in verdicts if verdict.outcome in FOUND]
    for name, count in Counter(verdict.by for verdict in found).most_common():
        own = [verdict for verdict in found if verdict.by == name]
        sizes = Counter(verdict.nodes for verdict in own if verdict.outcome == "killed")
        cells = [*(sizes[n] for n in (1, 2, 3, 4)), sum(v.outcome == "random" for v in own)]
        yield f"| {name} | {count} | {' | '.join(map(str, cells))} |"


def listed(verdicts: Sequence[Verdict], outcome: Outcome) -> Iterator[str]:
    """The mutants with an outcome, one line each."""
    for verdict in verdicts:
        if verdict.outcome == outcome:
            by = f" ({verdict.by})" if verdict.by else ""
            yield f"- {verdict.described}{by}"
