"""A problem in, the experts out that know no answer: what a policy may lean on, and must beat."""

from __future__ import annotations

from gnarl_compiler.describe.oracle_reads import oracles_read_by
from gnarl_dsl.model import GreedyExpert, OwnExpert, Problem


def free_experts(problem: Problem) -> tuple[str, ...]:
    """The names of the experts that read no oracle, in the order of the spec.

    Those that are made for each instance are not among them: they follow others, or need a search.
    """
    return tuple(expert.name for expert in problem.own_experts if not _looks(problem, expert))


def _looks(problem: Problem, expert: OwnExpert) -> bool:
    if isinstance(expert, GreedyExpert):
        return bool(oracles_read_by(problem, problem.objective(expert.objective).value))
    return expert.reads_oracle
