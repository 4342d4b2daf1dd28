"""A trial of a study in, its run folder and its score out; one that was begun goes on."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from optuna.trial import TrialState

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.api.asked import FLAGS, Tell, silent
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.api.train_policy import Request, begin_run, finish_run
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.sweeps.studies import OpenStudy, Taken
from gnarl_runtime.sweeps.study_file import recipe_at
from gnarl_runtime.training.loop import Report
from gnarl_runtime.training.run_folder import CONFIG, RunFolder
from gnarl_runtime.training.validate import Scores

SCORES, SECONDS, WHY = "scores", "cpu_seconds", "why"


class Behind(Exception):
    """A trial that is not worth going on with."""


@dataclass(frozen=True)
class Subject:
    """What all trials of a study have in common."""

    problem: Problem
    base: Recipe
    name: str  # of the recipe


def work_on(
    own: OpenStudy, subject: Subject, tell: Tell | None = None, said: Callable[[str], None] = print
) -> int:
    """Trials one after the other until none is left to take; how many were finished."""
    done = 0
    while True:
        with own.taking() as taken:
            if taken is None:
                return done
            began = time.monotonic()
            _run(own, subject, taken, tell or silent)
            done += 1
            said(_line(own, taken.trial.number, time.monotonic() - began))


def _run(own: OpenStudy, subject: Subject, taken: Taken, tell: Tell) -> None:
    trial = taken.trial
    recipe = recipe_at(subject.base, own.plan, own.point(trial), "search")

    def watch(report: Report) -> None:
        if report.scores is not None:
            value = value_of(own, subject.problem, report.scores.order)
            trial.report(value, report.done)
            if own.plan.prune and report.done < report.updates and trial.should_prune():
                raise Behind

    try:
        order, cpu = _train(own, subject, recipe, trial.number, tell, watch)
    except Behind:
        own.study.tell(trial, state=TrialState.PRUNED)
        return
    except Failure as error:
        trial.set_user_attr(WHY, str(error))
        own.study.tell(trial, state=TrialState.FAIL)
        return
    trial.set_user_attr(SCORES, list(order))
    trial.set_user_attr(SECONDS, round(cpu, 1))
    own.study.tell(trial, value_of(own, subject.problem, order))


def _train(
    own: OpenStudy,
    subject: Subject,
    recipe: Recipe,
    number: int,
    tell: Tell,
    watch: Callable[[Report], None],
) -> tuple[tuple[float, ...], float]:
    """The best validation of the run, and the CPU seconds of this process's part of it."""
    path, plan = own.run_of(number), own.plan
    before = time.process_time()
    with torch_set_up(1):
        if (path / CONFIG).is_file():
            run = RunFolder(path)
            config, problem = run.config(), subject.problem
        else:
            _clear(path)
            request = Request(subject.problem, recipe, subject.name, plan.seed)
            run, config, problem = begin_run(request, path, plan.minutes, tell, FLAGS)
        ran = finish_run(run, config, problem, tell, also=watch)
    progress = ran.finished.progress
    if not progress.best:
        raise Failure("no policy could be kept")
    return progress.best, time.process_time() - before


def _clear(path: Path) -> None:
    """What was begun and has no settings yet cannot go on."""
    if path.is_dir():
        shutil.rmtree(path)


def value_of(own: OpenStudy, problem: Problem, order: tuple[float, ...]) -> float:
    """What Optuna compares: one number, success or reward."""
    scores = Scores(order[0], order[1], -order[2])
    value = scores.success if own.plan.goal_of(problem) == "success" else scores.reward
    return value if math.isfinite(value) else -math.inf


def _line(own: OpenStudy, number: int, seconds: float) -> str:
    frozen = own.study.get_trials(deepcopy=False)[number]
    point = ", ".join(f"{name.rpartition('.')[2]} {v}" for name, v in frozen.params.items())
    match frozen.state:
        case TrialState.COMPLETE:
            told = f"{frozen.value:.4g}"
        case TrialState.PRUNED:
            told = "behind the others, ended early"
        case _:
            told = f"failed: {frozen.user_attrs.get(WHY, '')}"
    return f"trial {number}: {told}  ({point}; {seconds:.0f} s)"
