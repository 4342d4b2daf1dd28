"""A tool and its arguments in, its answer out, or why there is none: too large or too slow."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from gnarl_dsl.report.source import MAX_BYTES

MODULE = "gnarl_runtime.machines.tool_work"


@dataclass(frozen=True)
class Limits:
    """What one call may take."""

    seconds: float = 60.0
    answer: int = 200_000  # characters
    spec: int = MAX_BYTES // 5  # characters
    calls: int = 2  # at the same time; others wait


class Workers:
    """Runs every call in a process of its own, which ends with its time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.free = asyncio.Semaphore(limits.calls)

    async def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        spec = str(arguments.get("spec", ""))
        if len(spec) > self.limits.spec:
            raise ToolError(
                f"the spec has {len(spec):,} characters, of {self.limits.spec:,} at most"
            )
        async with self.free:
            text = await self._run(name, json.dumps(arguments).encode())
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            raise ToolError(str(answer["error"]))
        if len(text) > self.limits.answer:
            told = f"the answer has {len(text):,} characters, of {self.limits.answer:,} at most"
            raise ToolError(f"{told}; ask for fewer nodes, or without reasons")
        return answer

    async def _run(self, name: str, given: bytes) -> str:
        """What the process says, within its time."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE, name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(given), self.limits.seconds)
        except TimeoutError:
            seconds = self.limits.seconds
            raise ToolError(
                f"not done after {seconds:g} s, and ended; try something smaller"
            ) from None
        finally:
            if process.returncode is None:
                _end(process)
                await process.wait()
        if process.returncode:
            last = err.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise ToolError(f"{name} failed: {last[0][:300]}")
        return out.decode()


def _end(process: asyncio.subprocess.Process) -> None:
    """It and whatever it has started."""
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
