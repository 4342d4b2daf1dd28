"""A trainer and a run folder in, a finished run out: update, validate, save, report, resume."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.checkpoints.brought import KEY
from gnarl_runtime.checkpoints.checkpoint import BEST, Meta, load_checkpoint, make_meta
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import is_finite
from gnarl_runtime.training.chain import ChainTrainer
from gnarl_runtime.training.events import EventWriter
from gnarl_runtime.training.run_folder import LAST, Config, Progress, RunError, RunFolder
from gnarl_runtime.training.team.team import ALONE, Team
from gnarl_runtime.training.trainer import Trainer
from gnarl_runtime.training.validate import Scores, Validator

SAVE_EVERY = 30.0  # seconds
REPORT_EVERY = 0.5
PERFECT = 2  # validations without a mistake in a row that end a run early
_KEPT = ("start", KEY)  # what a checkpoint repeats of where its run comes from


class Diverged(Failure):
    """Training that can only go on with numbers that are none."""


@dataclass(frozen=True)
class Report:
    """What a person watching wants to know."""

    done: int
    updates: int
    rate: float  # updates per second, of those that are like the next one
    left: float  # seconds, estimated
    then: str  # what follows when these are over
    metrics: Mapping[str, float]  # means since the last report
    scores: Scores | None  # if a validation has just been made
    best: tuple[float, ...]


Watcher = Callable[[Report], None]


@dataclass(frozen=True)
class Finished:
    """How a run ended."""

    progress: Progress
    stopped_early: bool


class Interrupts:
    """Ctrl-C waits for the end of an update, since half of one could not be continued.

    A second Ctrl-C does not wait.
    """

    def __init__(self) -> None:
        self.asked = False
        self.before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


@dataclass(frozen=True)
class Pace:
    """When a stretch of updates began in this process."""

    done: int
    clock: float

    def rate(self, done: int, now: float) -> float:
        """Updates per second since then."""
        return max(done - self.done, 1) / max(now - self.clock, 1e-9)


class Means:
    """Means of metrics between two reports."""

    def __init__(self) -> None:
        self.seen: dict[str, list[float]] = {}

    def add(self, metrics: Mapping[str, float]) -> None:
        """Not every update has every metric: some end no episode."""
        for name, value in metrics.items():
            self.seen.setdefault(name, []).append(value)

    def take(self) -> dict[str, float]:
        means = {name: sum(values) / len(values) for name, values in self.seen.items()}
        self.seen = {}
        return means


class Loop:
    """One process's part of a run."""

    def __init__(
        self,
        trainer: Trainer,
        run: RunFolder,
        config: Config,
        problem: Problem,
        validator: Validator | None,
        team: Team = ALONE,
    ) -> None:
        """Of a team, one process validates, writes and reports; the others have no validator."""
        self.team = team
        self.trainer, self.run, self.config = trainer, run, config
        self.problem, self.validator = problem, validator
        self.recipe: Recipe = config.recipe
        self.progress = Progress()
        self.means = Means()
        self._latest_scores: Mapping[str, float] = {}
        self.began = self.saved = self.reported = time.monotonic()
        self.stretch = trainer.stretch
        self.before = self.cpu_before = 0.0  # seconds of earlier processes
        self.others = 0.0  # CPU seconds of the other workers of this part of the run
        self.pace = Pace(0, self.began)

    def resume(self) -> None:
        """Continue from the latest state, if there is one."""
        state = self.run.load_state()
        if state is not None:
            arrays, self.progress = state
            self.trainer.restore(arrays, self.progress.done)
            if not is_finite(self.trainer.policy):
                raise RunError(f"cannot continue: the weights in {self.run.path} are not finite")
        self.team.wait()  # until everybody has read what is about to be written
        if self.team.leads:
            self.run.forget_after(self.progress.done)
        self.before = self.progress.seconds
        self.cpu_before = self.progress.cpu_seconds

    def train(self, watch: Watcher) -> Finished:
        """Update until the end, or until somebody presses Ctrl-C; then what there is is saved."""
        self.began = time.monotonic()
        self.pace = Pace(self.trainer.done, self.began)
        with self._events() as events, Interrupts() as interrupts:
            while self.trainer.done < self.trainer.updates and not self._is_over():
                self._follow_pace()
                self._go_on_from_the_best()
                metrics = self.trainer.update()
                self._require_finite(metrics)
                self.means.add(metrics)
                if self._after_update(watch, events, interrupts.asked):
                    self._save()
                    raise KeyboardInterrupt
        self._save()
        if self.team.leads:
            self.run.save_weights(LAST, self.trainer, self._meta(self._latest_scores))
        return Finished(self.progress, self.trainer.done < self.trainer.updates)

    def _go_on_from_the_best(self) -> None:
        """What a part has made worse is no start for the next one."""
        trainer, best_at = self.trainer, self.progress.best_at
        if isinstance(trainer, ChainTrainer) and 0 < best_at < trainer.done == self.stretch.begin:
            best = load_checkpoint(self.run.path / BEST, code=self.problem.code)
            trainer.better = best.policy.to(self.config.device)

    def _require_finite(self, metrics: Mapping[str, float]) -> None:
        """Numbers that are none spread, and nothing brings them back: stop at the first."""
        loss = metrics.get("loss", 0.0)
        if math.isfinite(loss) and is_finite(self.trainer.policy):
            return
        what = "the weights are" if math.isfinite(loss) else f"the loss is {loss},"
        kept = f"; the best weights so far are in {self.run.path}" if self.progress.best else ""
        rates = ", ".join(
            f"{part}.lr = {getattr(self.recipe, part).lr:g}" for part in self.recipe.parts
        )
        raise Diverged(
            f"{what} not finite after update {self.trainer.done:,}: training has come apart and "
            f"was stopped{kept}. Try a lower learning rate (now {rates}), smaller inputs, or "
            "policy.layer_norm=true"
        )

    def _follow_pace(self) -> None:
        """Updates of another kind take another time."""
        if self.trainer.stretch != self.stretch:
            self.stretch = self.trainer.stretch
            self.pace = Pace(self.trainer.done, time.monotonic())

    def _events(self) -> AbstractContextManager[EventWriter | None]:
        return closing(EventWriter(self.run.path / "events")) if self.team.leads else nullcontext()

    def _after_update(self, watch: Watcher, events: EventWriter | None, asked: bool) -> bool:
        """Validate, report and save where it is time; whether somebody wants to stop."""
        done, now = self.trainer.done, time.monotonic()
        late = self.team.leads and now - self.saved > SAVE_EVERY
        # What hangs on a clock or on a key is decided together: saving takes everybody.
        wish, save, cpu = self.team.sums(asked, late, time.process_time())
        self.others = cpu - time.process_time()
        self._clock(now)
        self.progress = replace(self.progress, done=done)
        due = self._is_due(done)
        scores = self._validate() if due else None
        if events is not None and (scores or now - self.reported > REPORT_EVERY):
            self._report(watch, events, scores)
        if due or save:
            self._save()
        return wish > 0

    def _is_due(self, done: int) -> bool:
        """Whether to validate now; parts that others follow are validated at their end only.

        What follows may undo what was learned, so each of these ends may be the best.
        """
        ahead = self.trainer.stretch
        regular = not ahead.then and (done - ahead.begin) % self.recipe.validate_every == 0
        return regular or done in (ahead.begin, self.trainer.updates)

    def _clock(self, now: float) -> None:
        seconds = self.before + now - self.began
        spent = self.cpu_before + self.others + time.process_time()
        self.progress = replace(self.progress, seconds=seconds, cpu_seconds=spent)

    def _validate(self) -> Scores:
        own: Scores | None = None
        if self.validator is not None:
            own = self.validator.scores(self.trainer.best_policy())
        scores = self.team.told(own)
        assert scores is not None  # the leader's
        perfect = self.progress.perfect + 1 if scores.success == 1.0 else 0
        flat = self.progress.flat + 1 if scores.order == self.progress.latest else 0
        self._latest_scores = scores.metrics
        self.progress = replace(self.progress, perfect=perfect, flat=flat, latest=scores.order)
        done = self.trainer.done
        if self._better(scores, done):
            self.progress = replace(self.progress, best=scores.order, best_at=done)
            if self.team.leads:
                self.run.save_best(self.trainer, self._meta(scores.metrics))
        return scores

    def _better(self, scores: Scores, done: int) -> bool:
        """Whether to keep these weights; of equals the later, which have learned from more."""
        settled = self.recipe.validation.settled * self.trainer.updates
        if not self.progress.best or self.progress.best_at < settled <= done:
            return True
        return scores.order >= tuple(self.progress.best)

    def _is_over(self) -> bool:
        flat = self.recipe.validation.flat
        return self._is_perfect() or 0 < flat <= self.progress.flat

    def _is_perfect(self) -> bool:
        """Nothing is left to gain: right on every graph, in episodes that cannot be shorter."""
        ends = self.problem.terminate is not None or self.problem.may_stop
        fixed = not ends and self.problem.correct is not None
        wanted = self.recipe.validation.stop_when_perfect
        return wanted and fixed and self.progress.perfect >= PERFECT

    def _meta(self, scores: Mapping[str, float]) -> Meta:
        config = self.config
        kept = {name: config.provenance[name] for name in _KEPT if name in config.provenance}
        made = {**provenance(), **kept}
        return make_meta(self.problem, config.recipe, config.seed, self.trainer.done, scores, made)

    def _report(self, watch: Watcher, events: EventWriter, scores: Scores | None) -> None:
        now, done = time.monotonic(), self.trainer.done
        means = self.means.take()
        self._clock(now)
        spent_so_far = {name: getattr(self.progress, name) for name in ("seconds", "cpu_seconds")}
        entry = {"update": done, **spent_so_far, **means}
        entry |= {
            f"valid_{name}": value for name, value in (scores.metrics if scores else {}).items()
        }
        self.run.append_metrics(entry)
        events.add(entry)
        self.reported = now
        stretch, rate = self.stretch, self.pace.rate(done, now)
        left = (stretch.end - done) / rate
        updates, best = self.trainer.updates, self.progress.best
        watch(Report(done, updates, rate, left, stretch.then, means, scores, best))

    def _save(self) -> None:
        arrays = self.trainer.arrays()  # of everybody
        if self.team.leads:
            self.run.save_state(arrays, self.progress)
        self.saved = time.monotonic()
