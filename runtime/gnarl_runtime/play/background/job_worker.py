"""A task on standard input in, events on standard output out: the process behind one job.

When the input is closed, whoever asked is gone or wants it to end: that is as good as Ctrl-C.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from threading import Lock, Thread
from typing import Any, TextIO

from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.web.replies import finite

_ROOM = "gnarl_runtime.play.background"
WORK = {
    "check": f"{_ROOM}.check_job:check_job",
    "train": f"{_ROOM}.train_job:train_job",
    "resume": f"{_ROOM}.train_job:resume_job",
    "solve": f"{_ROOM}.solve_job:solve_job",
}
_EVERY = 0.1  # seconds between two words about progress


class Told:
    """What the work tells whoever asked for it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.last = 0.0
        self.what = ""
        self.lock = Lock()

    def __call__(self, what: str, done: int, total: int) -> None:
        """How far it is."""
        now = time.monotonic()
        if what != self.what or now - self.last > _EVERY or done >= total:
            self.what, self.last = what, now
            self.say(event="progress", what=what, done=int(done), total=int(total))

    def found(self, **found: Any) -> None:
        """Something that the page shows before the end."""
        self.say(event="found", found=found)

    def say(self, **event: Any) -> None:
        with self.lock:
            print(json.dumps(finite(event)), file=self.stream, flush=True)


Work = Callable[[dict[str, Any], Told], dict[str, Any]]


def main() -> int:
    # What libraries print goes to the server's terminal, not between the events.
    told = Told(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    task = json.loads(sys.stdin.readline())
    Thread(target=_watch, daemon=True).start()
    try:
        module, _, name = WORK[task["kind"]].partition(":")
        work: Work = getattr(import_module(module), name)
        told.say(event="done", result=work(task, told))
    except KeyboardInterrupt:
        told.say(event="stopped")
    except (GnarlError, OSError, LookupError, ValueError) as error:
        told.say(event="failed", message=str(error) or type(error).__name__)
    except InternalError as error:
        told.say(event="failed", message=str(error))
    except Exception:
        traceback.print_exc()
        message = "a bug in GNARL; what went wrong stands in the terminal of the server"
        told.say(event="failed", message=message)
    return 0


def _watch() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # threads of libraries may not hold it back
