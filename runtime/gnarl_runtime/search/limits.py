"""Seconds in, a listener out that breaks off playing which takes longer."""

from __future__ import annotations

import time
from collections.abc import Callable


class TookTooLong(Exception):
    """Playing was broken off; whoever set the limit knows how to do without."""


def within(seconds: float) -> Callable[[float, int], None]:
    """For `progress` of what plays: processor time counts from now on, whoever plays."""
    began = time.process_time()

    def listen(done: float, total: int) -> None:
        if time.process_time() - began > seconds:
            raise TookTooLong

    return listen
