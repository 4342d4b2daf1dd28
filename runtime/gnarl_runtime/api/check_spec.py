"""A spec in, a report out: whether it describes the problem that was meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from gnarl_compiler.build.generate import Unsupported
from gnarl_dsl.externs import Given
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure as Failed
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import PYTHON, Spelling, Tell, verify_checking, verify_choice
from gnarl_runtime.checks.explore.small_graphs import MOST_NODES
from gnarl_runtime.checks.findings.findings import Failure, Lint, Property, Report
from gnarl_runtime.checks.findings.wishes import PLAIN_NODES, Options
from gnarl_runtime.checks.report.report_json import document
from gnarl_runtime.checks.report.report_text import report_text
from gnarl_runtime.checks.run import check_problem


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What a check of a spec found; `str()` is the text of `gnarl-check`."""

    found: Report
    options: Options

    @property
    def problem(self) -> Problem:
        return self.found.problem

    @property
    def ok(self) -> bool:
        """Whether everything holds; lints may still have something to say."""
        return self.found.passed

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What is broken: `property`, `message`, and the smallest counterexample."""
        return self.found.failures

    @property
    def lints(self) -> tuple[Lint, ...]:
        """What is legal but probably not meant."""
        return self.found.lints

    @property
    def seconds(self) -> float:
        return self.found.seconds

    def __str__(self) -> str:
        return report_text(self.found, self.options)

    def to_json(self) -> str:
        """The document of `gnarl-check --format json`."""
        return document([self.found], self.options)


def check(
    spec: Spec,
    *,
    max_nodes: int = 4,
    examples: int = 500,
    states: int = 200_000,
    seed: int = 0,
    fast: bool = False,
    lenient: bool = False,
    only: str | None = None,
    expert: str | None = None,
    extern: Sequence[Given] = (),
    progress: Tell | None = None,
) -> CheckReport:
    """Check that a spec describes the problem that was meant, as `gnarl-check` does.

    spec       a file, the name of a shipped spec, or a problem
    max_nodes  every graph of up to that size is explored
    examples   random larger instances to play
    states     budget of one instance
    seed       of random instances and hidden ranks
    fast       nothing compiled, up to 3 nodes, no random instances
    lenient    experts need to know their own path only
    only       report one property only, such as "dead-end"
    expert     check one expert only
    extern     code for what the spec declares as `extern`: files, modules, functions
    progress   is told (what is being done, done, total)

    A spec that can be read but is broken is no exception: see `ok` and `failures`.
    """
    verify_checking(PYTHON, max_nodes, examples, states, seed)
    problem = problem_of(spec, extern=extern)
    options = make_options(max_nodes, examples, states, seed, fast, lenient, only, expert)
    verify_wishes(problem, options, max_nodes, PYTHON)
    return run_check(problem, options, progress)


def make_options(
    max_nodes: int,
    examples: int,
    states: int,
    seed: int,
    fast: bool,
    lenient: bool,
    only: str | None,
    expert: str | None,
) -> Options:
    """Budgets and wishes; a fast check compiles nothing and stays small."""
    return Options(
        max_nodes=min(max_nodes, PLAIN_NODES) if fast else max_nodes,
        examples=0 if fast else examples,
        states=states,
        seed=seed,
        jit=not fast,
        only=only,
        expert=expert,
        lenient=lenient,
    )


def verify_wishes(problem: Problem, options: Options, max_nodes: int, spell: Spelling) -> None:
    """A UsageError unless the problem has what is asked about."""
    verify_choice(spell, "only", options.only, list(get_args(Property)))
    verify_choice(spell, "expert", options.expert, [expert.name for expert in problem.own_experts])
    most = MOST_NODES[problem.graph.directed]
    if max_nodes > most:
        raise UsageError(
            f"{spell.value('max_nodes', max_nodes)}: {problem.name} is about directed graphs, of "
            f"which those of up to {most} nodes can be listed"
        )


def run_check(problem: Problem, options: Options, progress: Tell | None = None) -> CheckReport:
    """The check itself."""
    try:
        return CheckReport(check_problem(problem, options, progress), options)
    except Unsupported as error:
        raise Failed(f"{problem.name} cannot be compiled: {error}") from error
