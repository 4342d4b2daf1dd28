"""What the doctor says: one `Finding` per thing looked at, and how to look without falling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """How a thing is: it works, it could be better, it does not work."""

    OK = "ok"
    NOTE = "note"
    BROKEN = "broken"


@dataclass(frozen=True)
class Finding:
    """A thing, how it is, and what to do about it if it is not as it should be."""

    topic: str
    text: str
    state: State = State.OK
    fix: str = ""


Probe = Callable[[], Iterable[Finding]]


def look(topic: str, probe: Probe, fix: str) -> Iterator[Finding]:
    """What a probe finds; if it fails itself, that is the finding, with the usual fix."""
    try:
        yield from probe()
    except Exception as error:  # whatever is broken here is what was to be found out
        yield Finding(topic, error_text(error), State.BROKEN, fix)


def error_text(error: Exception) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:300]


class Stopwatch:
    """Seconds since it was last asked."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def lap(self) -> float:
        now = time.monotonic()
        passed, self.last = now - self.last, now
        return passed
