"""Seconds in; out: what may still be done, and a listener that breaks off what takes too long."""

from __future__ import annotations

import time
from collections.abc import Callable

from gnarl_runtime.api.asked import Tell
from gnarl_runtime.search.limits import TookTooLong


class Budget:
    """Wall time of a whole report, of which every part may take a share."""

    def __init__(self, seconds: float, tell: Tell) -> None:
        self.seconds, self.tell = seconds, tell
        self.began = time.monotonic()

    @property
    def used(self) -> float:
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        return max(0.0, self.seconds - self.used)

    def until(self, share: float, part: str) -> Tell:
        """A listener that ends a part when so much of all the time is over."""
        end = self.began + share * self.seconds

        def listen(what: str, done: int, total: int) -> None:
            self.tell(f"{part}, {what}", done, total)
            if time.monotonic() > end:
                raise TookTooLong

        return listen


def counted(tell: Tell, what: str) -> Callable[[float, int], None]:
    """For those who only know how much they have done."""
    return lambda done, total: tell(what, int(1000 * done), 1000 * total)
