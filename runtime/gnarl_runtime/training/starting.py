"""A checkpoint in, the weights that a new run starts from out.

The file is copied into the run folder first, so that the run can be continued, and traced to
where it came from, when the original is gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.arrays import CheckpointError
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy, load_checkpoint
from gnarl_runtime.checkpoints.targets import require_same_signature
from gnarl_runtime.checkpoints.weight_arrays import module_arrays, restore_module
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.network.policy_config import PolicyConfig

START = "start.safetensors"


def policy_from(loaded: TrainedPolicy, problem: Problem) -> Policy:
    """The weights for `problem`, whose features must be those that they were trained on.

    What they do not know yet is when to stop: that begins anew, always from the same weights.
    """
    require_same_signature(loaded.policy, problem, str(loaded.path), learns_to_stop=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        policy = Policy(problem, loaded.meta.policy, reading=loaded.policy.reading)
    restore_module(policy, {**module_arrays(policy), **module_arrays(loaded.policy)})
    return policy


def verify_choices(wanted: PolicyConfig, chosen: Sequence[str], loaded: TrainedPolicy) -> None:
    """Weights have the shape that they have: settings that say otherwise are a mistake."""
    for name in chosen:
        value, found = getattr(wanted, name), getattr(loaded.meta.policy, name)
        if found != value:
            raise CheckpointError(
                f"policy.{name} = {value} was asked for, but the weights of {loaded.path} "
                f"have {found}; leave it out, or start without them"
            )


def origin(loaded: TrainedPolicy, file: Path) -> dict[str, Any]:
    """Where weights came from, for the record of a run."""
    return {
        "file": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "problem_hash": loaded.meta.problem_hash,
        "seed": loaded.meta.seed,
        "updates": loaded.meta.updates,
    }


def start_of(folder: Path, problem: Problem) -> Policy | None:
    """The weights that a run began with; None if it began with random ones."""
    file = folder / START
    return (
        policy_from(load_checkpoint(file, code=problem.code), problem) if file.is_file() else None
    )
