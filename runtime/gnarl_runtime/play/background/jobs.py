"""Tasks in, processes out: what they tell is kept until a page asks for it.

A process reads its task from standard input and tells events on standard output, a line each. It
ends itself when its input is closed, so it does not outlive a server that was killed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, Literal

from gnarl_runtime.web.replies import Refused

RUNNING = 2  # at once: a machine has more to do
KEPT = 24
WORKER = "gnarl_runtime.play.background.job_worker"
_PATIENCE = 15.0  # seconds for what is to be saved
State = Literal["running", "done", "failed", "stopped"]


@dataclass(eq=False)
class Job:
    """One task, and what was told of it."""

    id: str
    kind: str
    title: str
    process: subprocess.Popen[str]
    state: State = "running"
    what: str = "starting"
    done: int = 0
    total: int = 0
    message: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)  # found on the way
    result: dict[str, Any] | None = None
    stopping: bool = False

    def summary(self) -> dict[str, Any]:
        told = ("id", "kind", "title", "state", "what", "done", "total", "message", "stopping")
        return {name: getattr(self, name) for name in told}


class Jobs:
    """All tasks since the server began; the oldest that are over are forgotten."""

    def __init__(self) -> None:
        self.known: OrderedDict[str, Job] = OrderedDict()
        self.lock = Lock()

    def start(self, kind: str, title: str, task: dict[str, Any]) -> Job:
        with self.lock:
            running = [job for job in self.known.values() if job.state == "running"]
            if len(running) >= RUNNING:
                names = " and ".join(job.title for job in running)
                raise Refused(f"{names}: still at work; stop one of them first", 409)
            job = Job(str(len(self.known) + 1), kind, title, _spawn())
            self.known[job.id] = job
            over = [job.id for job in self.known.values() if job.state != "running"]
            for old in over[: max(0, len(self.known) - KEPT)]:
                self.known[old].events.clear()
        assert job.process.stdin is not None
        job.process.stdin.write(json.dumps({"kind": kind, **task}) + "\n")
        job.process.stdin.flush()
        Thread(target=self._follow, args=(job,), daemon=True).start()
        return job

    def job(self, id: str) -> Job:
        with self.lock:
            if id not in self.known:
                raise Refused("that task is not known any more", 410)
            return self.known[id]

    def summaries(self) -> list[dict[str, Any]]:
        with self.lock:
            return [job.summary() for job in self.known.values()]

    def stop(self, id: str) -> None:
        """Ask it to end; what can be saved is saved first."""
        job = self.job(id)
        job.stopping = True
        _close(job.process)

    def end(self) -> None:
        """All of them, when the server ends."""
        with self.lock:
            running = [job.process for job in self.known.values() if job.state == "running"]
        for process in running:
            _close(process)
        for process in running:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _follow(self, job: Job) -> None:
        assert job.process.stdout is not None
        for line in job.process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            with self.lock:
                _take(job, event)
        code = job.process.wait()
        with self.lock:
            if job.state == "running":
                job.state = "stopped" if job.stopping else "failed"
                job.message = job.message or f"its process ended with {code}"


def _take(job: Job, event: dict[str, Any]) -> None:
    match event.get("event"):
        case "progress":
            job.what, job.done, job.total = event["what"], event["done"], event["total"]
        case "found":
            job.events.append(event["found"])
        case "done":
            job.state, job.result = "done", event["result"]
        case "failed":
            job.state, job.message = "failed", event["message"]
        case "stopped":
            job.state, job.message = "stopped", event.get("message", "")


def _spawn() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,  # Ctrl-C in the terminal is the server's, which tells the others
    )


def _close(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None and not process.stdin.closed:
        process.stdin.close()
