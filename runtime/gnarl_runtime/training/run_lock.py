"""A run folder in, the right to write to it out: one process at a time, and one training of it.

The lock is the operating system's: it ends with the process, however that ends, so a file that
was left behind locks nothing. What stands in it says who has it.
"""

from __future__ import annotations

import os
import socket
import warnings
from pathlib import Path
from typing import IO

from gnarl_dsl.report.failures import Notice, UsageError

try:
    import fcntl
except ImportError:  # no such locks here: whoever trains twice is not told
    fcntl = None  # type: ignore[assignment]

LOCK = "run.lock"


class RunIsBusy(UsageError):
    """Somebody else writes to this folder."""


class RunLock:
    """Held from `take` to `drop`, or to the end of the process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self.file: IO[str] | None = None

    def take(self) -> None:
        """Raise `RunIsBusy` if somebody else has it."""
        while self.file is None:
            file = self.path.open("a+", encoding="utf-8")
            try:
                _lock(file, self.path)
            except BaseException:
                file.close()
                raise
            # Whoever had it may have removed the file since we opened it.
            if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                self.file = file
            else:
                file.close()
        self.file.truncate(0)
        self.file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self.file.flush()

    def drop(self, remove: bool) -> None:
        """Let others write; what marks the folder as a run may stay until there is more in it."""
        if self.file is not None:
            if remove:
                self.path.unlink(missing_ok=True)
            self.file.close()
            self.file = None


def is_free(folder: Path) -> bool:
    """Whether a run began here, and nobody writes to it any more."""
    if not (folder / LOCK).is_file():
        return False
    with (folder / LOCK).open(encoding="utf-8") as file:
        try:
            _lock(file, folder / LOCK)
        except RunIsBusy:
            return False
    return True


def _lock(file: IO[str], path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with path.open(encoding="utf-8", errors="replace") as told:
            who = told.readline(200).strip() or "another process"
        raise RunIsBusy(
            f"{path.parent} is being written to by {who}; wait for it, stop it, or choose another "
            "folder"
        ) from None
    except OSError as error:  # some file systems have none
        told_why = f"{path.parent} cannot be locked ({error.strerror}): do not train there twice"
        warnings.warn(told_why, Notice, stacklevel=3)
