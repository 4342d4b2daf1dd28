"""A policy and a problem in, whether they fit out; a problem and params in, another problem out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.batch.signature import differences, signature_of
from gnarl_runtime.checkpoints.spec_texts import SpecTextError, params_of, problem_from, texts_of
from gnarl_runtime.network.policy import Policy


def with_params(problem: Problem, params: Mapping[str, str]) -> Problem:
    """The problem checked again with some params changed."""
    try:
        changed = problem_from(texts_of(problem), {**params_of(problem), **params})
    except SpecTextError as error:
        chosen = ", ".join(f"{name}={value}" for name, value in params.items())
        raise UsageError(f"-p {chosen}: {error}") from error
    return changed.model_copy(update={"code": problem.code})


def require_same_signature(
    policy: Policy, problem: Problem, path: str, learns_to_stop: bool = False
) -> None:
    """A Failure that lists what differs, if the policy cannot read this problem's states.

    One that is going to be trained may learn to end episodes, which it could not do before.
    """
    wanted = signature_of(problem)
    if learns_to_stop and not policy.signature.stops:
        wanted = replace(wanted, stops=False)
    found = differences(policy.signature, wanted)
    if found:
        listed = "\n".join(f"  {line}" for line in found)
        raise Failure(
            f"{path} was trained for another problem than {problem.name}; what its network reads "
            f"(the first) differs from the spec (the second):\n{listed}"
        )
