"""A checkpoint, and perhaps another spec or params, go in; a policy and its problem come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.spec_arguments import load_problem
from gnarl_runtime.batch.signature import differences, signature_of
from gnarl_runtime.checkpoints.arrays import CheckpointError
from gnarl_runtime.checkpoints.checkpoint import Meta, describe, load_checkpoint
from gnarl_runtime.checkpoints.spec_texts import SpecTextError, params_of, problem_from, texts_of
from gnarl_runtime.network.policy import Policy


@dataclass(frozen=True, eq=False)
class Target:
    """A policy, the problem it is to be played on, and where the policy came from."""

    policy: Policy
    problem: Problem
    checkpoint: Path
    meta: Meta

    def temperature(self, given: float | None) -> float | None:
        """At which picks are drawn, None for the best: what is given, else what the recipe says."""
        return (self.meta.recipe.temperature if given is None else given) or None

    def provenance(self) -> dict[str, Any]:
        """What decides the policy and the problem."""
        return {
            "problem": self.problem.name,
            "spec_hash": self.problem.hash,
            "params": {param.name: param.value for param in self.problem.params},
            "checkpoint": str(self.checkpoint),
            "recipe": self.meta.recipe.model_dump(mode="json"),
            "training": describe(self.meta),
        }


def load_target(path: str, spec: str | None, params: Mapping[str, str]) -> Target:
    """The policy of a checkpoint, with its own problem unless a spec or params say otherwise."""
    try:
        loaded = load_checkpoint(path)
    except CheckpointError as error:
        raise Failure(str(error)) from error
    problem: Problem = loaded.problem
    if spec is not None:
        problem = load_problem(spec, params)
    elif params:
        problem = with_params(problem, params)
    require_same_signature(loaded.policy, problem, path)
    return Target(loaded.policy, problem, loaded.path, loaded.meta)


def with_params(problem: Problem, params: Mapping[str, str]) -> Problem:
    """The problem checked again with some params changed."""
    try:
        return problem_from(texts_of(problem), {**params_of(problem), **params})
    except SpecTextError as error:
        chosen = ", ".join(f"{name}={value}" for name, value in params.items())
        raise UsageError(f"-p {chosen}: {error}") from error


def require_same_signature(policy: Policy, problem: Problem, path: str) -> None:
    """A Failure that lists what differs, if the policy cannot read this problem's states."""
    found = differences(policy.signature, signature_of(problem))
    if found:
        listed = "\n".join(f"  {line}" for line in found)
        raise Failure(
            f"{path} was trained for another problem than {problem.name}; what its network reads "
            f"(the first) differs from the spec (the second):\n{listed}"
        )
