"""Graphs of many requests in, one at a time; out: their solutions, found together.

A policy that looks at 64 graphs at once takes little longer than for one. So a thread of its own
takes what waits, waits a moment for more, and solves it as one batch. A graph that spoils a batch
spoils no other: the rest is solved without it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Generic, TypeVar

from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.readers.raw import Imported

S = TypeVar("S")
Solver = Callable[[Sequence[Imported], Attempts], list[S]]
_CELLS = 40_000_000  # of pairs of nodes in a batch: large graphs go in smaller ones


class Full(Exception):
    """More waits than is worth waiting for."""


@dataclass(eq=False)
class _Waiting(Generic[S]):
    graph: Imported
    attempts: Attempts
    answer: Future[S]


@dataclass(frozen=True)
class Limits:
    """Of one server."""

    most: int = 64  # graphs in a batch
    moment: float = 0.004  # seconds that a first graph waits for others
    room: int = 2_000  # graphs that may wait


@dataclass
class Figures:
    """What a batcher has done so far."""

    graphs: int = 0
    batches: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class Batcher(Generic[S]):
    """The queue in front of one policy, and the thread behind it."""

    solve: Solver[S]
    limits: Limits = field(default_factory=Limits)
    figures: Figures = field(default_factory=Figures)

    def __post_init__(self) -> None:
        self.queue: deque[_Waiting[S]] = deque()
        self.changed = Condition()
        self.over = False
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def put(self, graph: Imported, attempts: Attempts) -> Future[S]:
        """The answer, some time; whoever cancels it while it waits saves its work."""
        waiting = _Waiting[S](graph, attempts, Future())
        with self.changed:
            if len(self.queue) >= self.limits.room:
                raise Full
            self.queue.append(waiting)
            self.changed.notify()
        return waiting.answer

    def end(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify()

    def _run(self) -> None:
        while True:
            with self.changed:
                while not self.queue and not self.over:
                    self.changed.wait()
                if self.over:
                    return
                if len(self.queue) < self.limits.most:
                    self.changed.wait_for(self._is_enough, self.limits.moment)
                batch = self._take()
            own = [one for one in batch if one.answer.set_running_or_notify_cancel()]
            if own:
                self._answer(own)

    def _is_enough(self) -> bool:
        return len(self.queue) >= self.limits.most or self.over

    def _take(self) -> list[_Waiting[S]]:
        """The first that waits, and others that are to be solved in the same way."""
        taken: list[_Waiting[S]] = []
        left: deque[_Waiting[S]] = deque()
        largest = 0
        while self.queue and len(taken) < self.limits.most:
            one = self.queue.popleft()
            largest_then = max(largest, one.graph.graph.n)
            fits = largest_then**2 * (len(taken) + 1) <= _CELLS
            if not taken or (one.attempts == taken[0].attempts and fits):
                taken.append(one)
                largest = largest_then
            else:
                left.append(one)
        self.queue.extendleft(reversed(left))
        return taken

    def _answer(self, batch: list[_Waiting[S]]) -> None:
        began = time.monotonic()
        try:
            found = self.solve([one.graph for one in batch], batch[0].attempts)
        except BaseException as error:
            self._after_error(batch, error)
        else:
            for one, solution in zip(batch, found, strict=True):
                one.answer.set_result(solution)
        self.figures.batches += 1
        self.figures.graphs += len(batch)
        self.figures.seconds += time.monotonic() - began

    def _after_error(self, batch: list[_Waiting[S]], error: BaseException) -> None:
        if len(batch) == 1:
            batch[0].answer.set_exception(error)
            return
        for one in batch:
            try:
                one.answer.set_result(self.solve([one.graph], one.attempts)[0])
            except BaseException as own:
                one.answer.set_exception(own)
