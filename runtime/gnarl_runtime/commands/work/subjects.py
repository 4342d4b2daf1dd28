"""A run, a checkpoint or a spec as a command line names it goes in, what to play comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gnarl_dsl.externs import Given
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, resolve_spec

if TYPE_CHECKING:
    from gnarl_runtime.network.policy import Policy

CHECKPOINTS = ".safetensors"


@dataclass(frozen=True, eq=False)
class Subject:
    """A problem, and the policy that was trained for it if there is one."""

    problem: Problem
    policy: Policy | None


def is_checkpoint(name: str) -> bool:
    """Whether this is a run folder or a file of weights rather than a spec."""
    return Path(name).is_dir() or name.endswith(CHECKPOINTS)


def verify_subject(name: str) -> None:
    """Raise a UsageError if there is nothing of that name."""
    if name == "-" or (is_checkpoint(name) and Path(name).exists()):
        return
    if name.endswith(CHECKPOINTS):
        raise UsageError(f"there is no {name}; expected a run folder, a checkpoint or a spec")
    try:
        resolve_spec(name)
    except UsageError as error:
        raise UsageError(f"{error}\nA run folder or a checkpoint in it would do, too.") from error


def load_subject(
    name: str,
    params: Mapping[str, str],
    extern: Sequence[Given] = (),
    accept: bool = False,
    allow_costly: bool = False,
) -> Subject:
    """The problem with these params; torch is loaded for a checkpoint only."""
    if not is_checkpoint(name):
        return Subject(load_problem(name, params, allow_costly, extern), None)
    from gnarl_runtime.api.policies import load_policy

    trained = load_policy(name, None, params, extern, accept)
    return Subject(trained.problem, trained.policy)
