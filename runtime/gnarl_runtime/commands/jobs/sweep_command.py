"""The work of `gnarl-sweep`: a checked study in, processes that work on it, and its outcome out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.sweeps.outcome import rows_of, table_text, write_outcome
from gnarl_runtime.sweeps.studies import OpenStudy, open_study
from gnarl_runtime.sweeps.study_file import StudyPlan
from gnarl_runtime.sweeps.trials import Subject, work_on

LOCAL = "local"


@dataclass(frozen=True)
class Sweep:
    """What the flags come to."""

    file: Path
    plan: StudyPlan
    problem: Problem
    base: Recipe
    name: str  # of the recipe
    out: Path
    storage: str | None

    def open(self, worker: int = 0) -> OpenStudy:
        """Samplers of several processes draw different points."""
        return open_study(self.plan, self.out, self.storage, self.plan.seed + 7919 * worker)

    @property
    def subject(self) -> Subject:
        return Subject(self.problem, self.base, self.name)


def sweep_command(sweep: Sweep, jobs: int, slurm: Sequence[str] | None, table: bool) -> int:
    own = sweep.open()
    if not table:
        print(_begin_text(own), flush=True)
        if slurm:
            _submit(sweep, jobs, slurm)
        elif jobs > 1:
            _side_by_side(sweep, jobs)
        else:
            _work(sweep, 0)
    return _tell(sweep)


def _begin_text(own: OpenStudy) -> str:
    plan, whole = own.plan, own.plan.grid_size
    part = ""
    if plan.sampler == "grid" and plan.count < whole:
        part = f" of the {whole:,} points of the grid ({100 * plan.count / whole:.3g} %)"
    beside = ", and one beside them" if plan.beside else ""
    return f"{plan.count} trials{part}{beside}; {own.left} to do, in {own.folder}"


def _work(sweep: Sweep, worker: int) -> int:
    """One process, until nothing is left to take."""
    with Progress(sweep.problem.name) as progress:
        return work_on(sweep.open(worker), sweep.subject, progress, progress.say)


def _side_by_side(sweep: Sweep, jobs: int) -> None:
    """joblib's processes; each compiles, or finds what another has compiled."""
    from joblib import Parallel, delayed

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    Parallel(n_jobs=jobs, backend="loky")(delayed(_work)(sweep, w) for w in range(jobs))


def _submit(sweep: Sweep, jobs: int, settings: Sequence[str]) -> None:
    """submitit's jobs; waits for their end, which may be left with Ctrl-C: they go on."""
    import submitit

    local = LOCAL in settings
    folder = sweep.out / "jobs"
    executor = submitit.AutoExecutor(folder, cluster=LOCAL if local else "slurm")
    wanted = _slurm_settings([text for text in settings if text != LOCAL])
    executor.update_parameters(**{"timeout_min": 24 * 60, **wanted})
    with executor.batch():
        handed = [executor.submit(_work, sweep, worker) for worker in range(jobs)]
    print(f"handed over: {', '.join(job.job_id for job in handed)}; their output is in {folder}")
    for job in handed:
        job.result()


def _slurm_settings(texts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            told = "expected KEY=VALUE, such as --slurm partition=cpu, or --slurm local"
            raise UsageError(f"--slurm {text}: {told}")
        key = name if name in ("timeout_min", "mem_gb", "cpus_per_task") else f"slurm_{name}"
        found[key] = int(value) if value.isdecimal() else value
    return found


def _tell(sweep: Sweep) -> int:
    own = sweep.open()
    rows = rows_of(own, sweep.problem)
    if not rows:
        print("no trial is finished yet")
        return OK
    write_outcome(own, sweep.subject, str(sweep.file))
    print(table_text(own, rows, sweep.problem))
    print(f"folder of the study: {own.folder} (trials.md, trials.json, parallel.png, best.toml)")
    if own.left:
        print(f"{own.left} trials are still to do or under way elsewhere")
    return OK if any(row.scores for row in rows) else FAILED
