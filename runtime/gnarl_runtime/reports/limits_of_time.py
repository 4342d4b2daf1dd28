"""Seconds in; out: what may still be done, and a listener that breaks off what takes too long.

Processor time counts, so that a busy machine does not make a report shorter.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gnarl_runtime.api.asked import Tell
from gnarl_runtime.search.limits import TookTooLong


class Budget:
    """Processor time of a whole report, of which every part may take a share."""

    def __init__(self, seconds: float, tell: Tell) -> None:
        self.seconds, self.tell = seconds, tell
        self.began, self.started = time.process_time(), time.monotonic()

    @property
    def used(self) -> float:
        return time.process_time() - self.began

    @property
    def passed(self) -> float:
        """By the clock on the wall."""
        return time.monotonic() - self.started

    def verify(self, share: float) -> None:
        """Raise TookTooLong if so much of all the time is over: what follows is not begun."""
        if self.used > share * self.seconds:
            raise TookTooLong

    def until(self, share: float, part: str) -> Tell:
        """A listener that ends a part when so much of all the time is over."""
        self.verify(share)

        def listen(what: str, done: int, total: int) -> None:
            self.tell(f"{part}, {what}", done, total)
            self.verify(share)

        return listen


def counted(tell: Tell, what: str) -> Callable[[float, int], None]:
    """For those who only know how much they have done."""
    return lambda done, total: tell(what, int(1000 * done), 1000 * total)
