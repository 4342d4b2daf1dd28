"""An environment that `torchrun` has set in, a team of processes out."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from gnarl_dsl.report.failures import Failure
from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.team.started import is_worker
from gnarl_runtime.training.team.team import ALONE, Learn, Team, Work

R = TypeVar("R")

# Somebody who does not answer in the middle of an update is lost; while one process draws
# instances or validates, the others wait for as long as that takes.
PATIENCE = timedelta(seconds=60)
_LONG = timedelta(days=7)


class WorkerLost(Failure):
    """Another process of the team is gone."""


class Processes:
    """One of several processes. Fulfils `Team`."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        # What is told beside gradients is small and in memory; gloo carries it everywhere.
        self.talk = distributed.new_group(timeout=PATIENCE, backend="gloo")
        self.rest = distributed.new_group(timeout=_LONG, backend="gloo")

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def sums(self, *values: float) -> list[float]:
        told = torch.tensor(values, dtype=torch.float64)
        distributed.all_reduce(told, group=self.talk)
        found: list[float] = told.tolist()
        return found

    def everyone(self, value: R) -> list[R]:
        found: list[Any] = [None] * self.size
        distributed.all_gather_object(found, value, group=self.talk)
        return found

    def told(self, value: R) -> R:
        found = [value]
        distributed.broadcast_object_list(found, src=0, group=self.rest)
        return found[0]

    def gathered(self, arrays: Arrays) -> Arrays:
        parts: list[Any] | None = [None] * self.size if self.leads else None
        distributed.gather_object(arrays, parts, dst=0, group=self.talk)
        if parts is None:
            return arrays
        return {name: _joined([part[name] for part in parts]) for name in arrays}

    def learning(self, policy: Policy) -> Learn:
        return _Shared(policy).run

    def wait(self) -> None:
        distributed.barrier(group=self.rest)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if np.ndim(parts[0]) else parts[0]


class _Worked(nn.Module):  # type: ignore[misc]
    """Work on a policy as a module, so that DDP sees everything that a loss was made from."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, work: Work[Any]) -> Any:
        return work(self.policy)


class _Shared:
    """Built at the first use: until then a policy may move to its device, or be restored."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.parallel: DistributedDataParallel | None = None

    def run(self, work: Work[Any]) -> Any:
        if self.parallel is None:
            # Which weights a loss needs differs: no critic in imitation, other rounds every time.
            self.parallel = DistributedDataParallel(
                _Worked(self.policy), find_unused_parameters=True, forward_sync_buffers=False
            )
        return self.parallel(work)


def local_device(device: str) -> str:
    """Processes of one machine take a GPU each."""
    if device == "cuda" and is_worker():
        return f"cuda:{int(os.environ.get('LOCAL_RANK', '0'))}"
    return device


@contextmanager
def joined_team(run: Path | None = None) -> Iterator[Team]:
    """The team that this process belongs to; alone, if nobody said otherwise."""
    if not is_worker():
        yield ALONE
        return
    signal.signal(signal.SIGTERM, lambda number, frame: _stop(run))
    distributed.init_process_group(_backend(), timeout=PATIENCE)
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
        distributed.destroy_process_group()
    except RuntimeError as error:
        if not _is_loss(error):
            raise
        told = str(error).splitlines()[0]
        raise WorkerLost(f"another worker is gone ({told}){_going_on(run)}") from None


def _backend() -> str:
    """Gradients go where they are; what is told beside them is told by the CPU."""
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"


def _stop(run: Path | None) -> None:
    """`torchrun` ends the others when one is lost."""
    if run is not None:
        print(f"gnarl-train: stopped from outside{_going_on(run)}", file=sys.stderr, flush=True)
    os._exit(128 + signal.SIGTERM)


def _going_on(run: Path | None) -> str:
    return "" if run is None else f"; go on with: gnarl-train --resume {run}"


_SIGNS = ("Connection closed by peer", "Connection reset", "imed out", "gloo", "NCCL")


def _is_loss(error: RuntimeError) -> bool:
    return any(sign in str(error) for sign in _SIGNS)
