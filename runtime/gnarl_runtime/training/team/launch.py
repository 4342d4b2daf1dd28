"""A command line and a number of workers in, as many processes of `gnarl-train` out: torchrun's."""

from __future__ import annotations

import logging
import os
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.training.team.processes import WorkerLost


def launch_workers(argv: Sequence[str], workers: int, threads: int, out: Path) -> int:
    """What `torchrun --nproc-per-node WORKERS -m gnarl_runtime.commands.train ARGV` does."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if workers > 8 * (cores or 1):
        raise UsageError(f"--workers {workers}: this machine has {cores} cores; expected fewer")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL + 1)
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=workers,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(),
    )
    command = ["-m", "gnarl_runtime.commands.train", *argv]
    try:
        elastic_launch(config, sys.executable)(*command)
    except ChildFailedError as error:
        return _told(error, out)
    except (SignalException, KeyboardInterrupt):
        raise KeyboardInterrupt from None
    return 0


def _told(error: ChildFailedError, out: Path) -> int:
    """The exit code of the first worker that failed; one that was killed could say nothing."""
    rank, failure = error.get_first_failure()
    if failure.exitcode > 0:
        return int(failure.exitcode)
    raise WorkerLost(
        f"worker {rank} was lost (killed by {failure.signal_name()}), so the others were stopped; "
        f"go on with: gnarl-train --resume {out}, with any number of --workers"
    )
