"""The command of a contestant in, an object that asks it and waits for its answers out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.machine import ROOT

# One core for each: the others have pools of threads of their own.
ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class Failed(Exception):
    """What went wrong over there."""


class Contestant:
    """A process with serve.py's loop; it inherits the core that this one is pinned to."""

    def __init__(self, python: Path, module: str, arguments: Sequence[str] = ()) -> None:
        self.process = subprocess.Popen(
            [str(python), "-m", f"benchmarks.foreign.{module}", *arguments],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, do: str, **what: Any) -> dict[str, Any]:
        """Its answer; Failed with its message if it has none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed("its process has ended")
        told: dict[str, Any] = json.loads(line)
        if "failed" in told:
            raise Failed(told["failed"])
        return told

    def __enter__(self) -> Contestant:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
