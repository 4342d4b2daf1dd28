"""A plan and a place in, an Optuna study with all of its trials waiting out.

Every trial is put in line when a study is made, so that there are as many as were asked for
however many processes work on them. Who works on a trial holds a lock on it, which the operating
system lets go of when the process is gone, however it went: others then take the trial up again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from filelock import FileLock, Timeout
from optuna.storages import BaseStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import Trial, TrialState

from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.sweeps.study_file import Point, Range, StudyPlan

JOURNAL = "journal.log"
_QUEUED, _PLAN, _BESIDE = "queued", "plan", "beside"
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


@dataclass(frozen=True)
class Taken:
    """A trial that this process works on."""

    trial: Trial
    lock: FileLock


@dataclass(frozen=True)
class OpenStudy:
    """A study and the folder of its runs."""

    plan: StudyPlan
    study: optuna.Study
    folder: Path

    def run_of(self, number: int) -> Path:
        return self.folder / "trials" / f"{number:04}"

    @contextmanager
    def taking(self) -> Iterator[Taken | None]:
        """The next trial that nobody works on; None if there is none left."""
        with FileLock(self.folder / "taking.lock"):
            taken = self._abandoned() or self._waiting()
        try:
            yield taken
        finally:
            if taken is not None:
                taken.lock.release()

    def _abandoned(self) -> Taken | None:
        """A trial that somebody began who is gone."""
        for frozen in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            lock = self._lock(frozen.number)
            if lock is not None:
                return Taken(Trial(self.study, frozen._trial_id), lock)
        return None

    def _waiting(self) -> Taken | None:
        if not self.study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            return None
        trial = self.study.ask()
        lock = self._lock(trial.number)
        if lock is None:
            raise Failure(f"{self.run_of(trial.number)} is locked by another study")
        return Taken(trial, lock)

    def _lock(self, number: int) -> FileLock | None:
        path = self.run_of(number).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        return lock

    def point(self, trial: Trial) -> Point:
        """What is to be tried: what was put in line, or what the sampler draws."""
        return {name: _suggest(trial, name, v) for name, v in self.plan.search.items()}

    @property
    def beside(self) -> int | None:
        """The number of the trial that is told beside."""
        found: int | None = self.study.user_attrs.get(_BESIDE)
        return found

    @property
    def left(self) -> int:
        waiting = (TrialState.WAITING, TrialState.RUNNING)
        return len(self.study.get_trials(deepcopy=False, states=waiting))


def _suggest(trial: Trial, name: str, values: Range | tuple[Any, ...]) -> Any:
    if not isinstance(values, Range):
        return trial.suggest_categorical(name, values)
    if values.whole:
        step = int(values.step or 1)
        return trial.suggest_int(name, int(values.low), int(values.high), step=step, log=values.log)
    return trial.suggest_float(name, values.low, values.high, step=values.step, log=values.log)


def open_study(plan: StudyPlan, folder: Path, storage: str | None, seed: int) -> OpenStudy:
    """The study in a folder, or in a database; made if it is not there yet."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "taking.lock"):
        study = optuna.create_study(
            study_name=folder.resolve().name,
            storage=_storage(folder, storage),
            sampler=_sampler(plan, seed),
            pruner=optuna.pruners.MedianPruner() if plan.prune else optuna.pruners.NopPruner(),
            direction="maximize",
            load_if_exists=True,
        )
        _put_in_line(study, plan, folder)
    return OpenStudy(plan, study, folder)


def _storage(folder: Path, url: str | None) -> BaseStorage:
    if url is None:
        return JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    try:
        return RDBStorage(url)
    except Exception as error:  # of whichever database and driver
        told = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(
            f"--storage {url.partition('@')[0].partition('://')[0]}://...: {told}; expected the "
            "URL of a database, such as postgresql+psycopg://user@host/name, with its driver "
            "installed"
        ) from None


def _sampler(plan: StudyPlan, seed: int) -> optuna.samplers.BaseSampler:
    if plan.sampler == "tpe":
        return optuna.samplers.TPESampler(seed=seed, constant_liar=True)
    return optuna.samplers.RandomSampler(seed=seed)


def _put_in_line(study: optuna.Study, plan: StudyPlan, folder: Path) -> None:
    """Once; a study that has begun must be of the same plan."""
    told = json.loads(plan.model_dump_json())
    if (known := study.user_attrs.get(_PLAN)) is None:
        study.set_user_attr(_PLAN, told)
    elif known != told:
        changed = next(name for name in told if known.get(name) != told[name])
        raise UsageError(
            f"{folder} holds another study: `{changed}` differs from when it was begun; expected "
            "the same file, or another --out"
        )
    if study.user_attrs.get(_QUEUED):
        return
    for point in plan.points[len(study.get_trials(deepcopy=False)) :]:
        study.enqueue_trial(point)
    if plan.beside in plan.points:
        study.set_user_attr(_BESIDE, plan.points.index(plan.beside))
    elif plan.beside:
        study.set_user_attr(_BESIDE, len(study.get_trials(deepcopy=False)))
        study.enqueue_trial(plan.beside)
    study.set_user_attr(_QUEUED, True)
