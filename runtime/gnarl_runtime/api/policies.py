"""What a user gives for a policy in, the policy with a problem to play out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from gnarl_compiler.build.generate import Unsupported
from gnarl_dsl.externs import Given, read_code, with_code
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Code, Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_runtime.checkpoints.brought import verify_recorded
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy, load_checkpoint, make_meta
from gnarl_runtime.checkpoints.pretrained import find_pretrained, pretrained_names
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.targets import require_same_signature, with_params
from gnarl_runtime.network.fused.kernel_library import message_threads, share_messages
from gnarl_runtime.network.policy import Policy, prepare_torch
from gnarl_runtime.training.auto.keys import as_read_by

# A trained policy, a run folder or a checkpoint in it, the name of shipped weights, or a policy
# of one's own, which has no problem by itself.
PolicyLike = TrainedPolicy | Policy | str | Path
Params = Mapping[str, str | float]


def load_policy(
    given: PolicyLike,
    problem: Spec | None = None,
    params: Params | None = None,
    extern: Sequence[Given] | Code | None = None,
    accept: bool = False,
) -> TrainedPolicy:
    """The policy, with the problem that it was trained on unless a spec or params say otherwise.

    `extern` is the code that the spec needs; `accept` other code than in training.
    """
    code = extern if isinstance(extern, Code) else read_code(extern or ())
    trained = _policy(given, problem, code)
    if problem is not None:
        wanted = as_read_by(trained.policy, problem_of(problem, params))
        trained = replace(trained, problem=wanted)
    elif params:
        texts = {name: str(value) for name, value in params.items()}
        trained = replace(trained, problem=with_params(trained.problem, texts))
    if code.found:
        trained = replace(trained, problem=with_code(trained.problem, code))
    where = str(trained.path or "the policy")
    verify_recorded(trained.problem, trained.meta.provenance, where, accept)
    require_same_signature(trained.policy, trained.problem, str(trained.path or "the policy"))
    return trained


def _policy(given: PolicyLike, problem: Spec | None, code: Code) -> TrainedPolicy:
    if isinstance(given, TrainedPolicy):
        return given
    if isinstance(given, Policy):
        if problem is None:
            raise UsageError("a policy without its training has no problem; expected problem=SPEC")
        return _untrained(given, problem_of(problem))
    if not isinstance(given, str | Path):
        raise UsageError(
            f"found {type(given).__name__}; expected a trained policy, a run folder, a checkpoint "
            f"or the name of shipped weights: {', '.join(pretrained_names())}"
        )
    return load_checkpoint(checkpoint_of(given), code=code)


def checkpoint_of(given: str | Path) -> Path:
    """A run folder or a checkpoint that is there, or else the shipped weights of that name."""
    path, names = Path(given), pretrained_names()
    if path.exists() or len(path.parts) != 1 or path.suffix:
        return path
    if str(given) in names:
        return find_pretrained(str(given))
    fix = did_you_mean(str(given), names) or f"Shipped weights: {', '.join(names)}."
    raise UsageError(f"{given}: no such run folder or checkpoint is there\n{fix}")


def _untrained(policy: Policy, problem: Problem) -> TrainedPolicy:
    """A network of one's own: nobody knows how it was trained."""
    recipe = Recipe(policy=policy.config)
    return TrainedPolicy(policy, problem, make_meta(problem, recipe, 0, 0, {}, {"training": "own"}))


@contextmanager
def torch_set_up(threads: int) -> Iterator[None]:
    """Set torch up for small graphs, and put it back afterwards: the process may be a notebook."""
    before, flushed = torch.get_num_threads(), _flushes_denormals()
    shared = message_threads()
    prepare_torch(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        share_messages(shared)
        torch.set_flush_denormal(flushed)


def _flushes_denormals() -> bool:
    return float(torch.full((1,), 1e-39) * 1.0) == 0.0


@contextmanager
def compiled_or_told(problem: Problem) -> Iterator[None]:
    """Name the problem that the compiled backend cannot serve."""
    try:
        yield
    except Unsupported as error:
        raise Failure(f"{problem.name} cannot be compiled: {error}") from error
