"""`time:S`: how many decisions fit into S seconds per graph is measured once, then `work:N`."""

from __future__ import annotations

import time
from dataclasses import replace

from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Answers, Task
from gnarl_runtime.search.work import Work, search_work

_SHARE, _LONGEST = 0.1, 1.0  # of the time, and seconds at most, to measure


def search_time(task: Task, amount: float | None) -> Answers:
    """Only the `work:N` that it comes to is promised to repeat."""
    seconds = float(amount or 1.0)
    measuring = min(_SHARE * seconds, _LONGEST)
    decisions = max(1, round(decisions_per_second(task, measuring) * (seconds - measuring)))
    answers = search_work(task, decisions)
    return replace(answers, ran=Strategy("work", decisions))


def decisions_per_second(task: Task, seconds: float) -> float:
    """Of all graphs together, in a short run like the real one."""
    quiet = replace(task, progress=lambda done, total: None, improved=lambda number, moment: None)
    # No chain ends by itself before the clock does.
    work = Work(quiet, 10**12)
    began = time.perf_counter()
    work.run(seconds)
    return work.decisions / (time.perf_counter() - began)
