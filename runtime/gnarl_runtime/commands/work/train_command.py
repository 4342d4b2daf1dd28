"""The work of `gnarl-train`: a request or a run folder in, a finished run and an exit code out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gnarl_dsl.externs import Given, with_code
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.api.train_policy import (
    Ran,
    Request,
    begin_run,
    choose_defaults,
    clock,
    finish_run,
    look_around,
    show_keys,
    verify_device,
    verify_new,
)
from gnarl_runtime.api.training_texts import recipe_line, standings_table
from gnarl_runtime.api.verdict import verdict_text
from gnarl_runtime.checkpoints.brought import verify_recorded
from gnarl_runtime.commands.options import FAILED, INTERRUPTED, OK
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.training.auto.auto import decide
from gnarl_runtime.training.run_folder import Config, RunFolder
from gnarl_runtime.training.team.processes import joined_team
from gnarl_runtime.training.team.team import Team


def start_command(
    request: Request,
    out: Path,
    minutes: float | None = None,
    extern: Sequence[Given] = (),
) -> int:
    """A new run; of several workers, this is the one that leads."""
    with torch_set_up(request.threads), joined_team(out) as team:
        verify_new(out, FLAGS)
        if request.is_open:
            request, minutes = _choose(request, minutes), None
        request = show_keys(request)
        if request.keys:
            print(f"the network also reads what experts compare: {', '.join(request.keys)}")
        with Progress(request.problem.name) as progress:
            run, config, problem = begin_run(request, out, minutes, progress, FLAGS)
        team.told(_Led(out, tuple(extern)))
        return _run(run, config, problem, team)


@dataclass(frozen=True)
class _Led:
    """Where the run is that the others take part in, and the code that its spec needs."""

    path: Path
    extern: tuple[Given, ...]


def follow_command() -> int:
    """A worker that does not lead: it does its share, and leaves saying so to the one that does."""
    with joined_team() as team:
        led: _Led | None = team.told(None)
        if led is None:
            return OK
        config = RunFolder(led.path).config()
        problem = with_code(config.problem(), led.extern)
        with torch_set_up(config.threads):
            try:
                finish_run(RunFolder(led.path), config, problem, None, team)
            except KeyboardInterrupt:
                return INTERRUPTED
            team.wait()
    return OK


def _choose(request: Request, minutes: float | None) -> Request:
    """A recipe for a problem that has none, and what it was chosen by."""
    with Progress(request.problem.name) as progress:
        standings = look_around(request, progress)
    print(standings_table(request.problem, standings))
    print(decide(request.problem, standings)[1], flush=True)
    with Progress(request.problem.name) as progress:
        request = choose_defaults(request, standings, minutes, progress)
    print(recipe_line(request.recipe), flush=True)
    return request


def resume_command(path: Path, extern: Sequence[Given] = (), accept: bool = False) -> int:
    """Go on with a run, with the code that its spec needs."""
    run = RunFolder(path)
    config = run.config()
    problem = with_code(config.problem(), extern)
    verify_recorded(problem, config.provenance, str(path), accept)
    if run.finished:
        print(f"{path} is finished already; there is nothing left to do")
        with joined_team() as team:
            team.told(None)
        return OK
    verify_device(config.device, FLAGS)
    with torch_set_up(config.threads), joined_team(path) as team:
        team.told(_Led(path, tuple(extern)))
        return _run(run, config, problem, team)


def _run(run: RunFolder, config: Config, problem: Problem, team: Team) -> int:
    try:
        with Progress(problem.name) as progress:
            ran = finish_run(run, config, problem, progress, team)
    except KeyboardInterrupt:
        print(f"\nstopped; go on with: gnarl-train --resume {run.path}", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        raise UsageError(
            f"{error.filename or run.path}: {error.strerror or error}; what was trained until the "
            f"latest saving is kept. Make room, then go on with: gnarl-train --resume {run.path}"
        ) from error
    team.wait()
    ran.draw_curves()
    _say_end(ran)
    if not ran.finished.progress.best:
        return FAILED
    with Progress(problem.name) as progress:
        verdict = ran.judge(progress)
    print(verdict_text(verdict, problem))
    return OK


def _say_end(ran: Ran) -> None:
    progress = ran.finished.progress
    success, reward = progress.best[:2] if progress.best else (0.0, 0.0)
    early = ", stopped early: nothing left to gain" if ran.finished.stopped_early else ""
    spent = f"{clock(progress.seconds)}, CPU time {clock(progress.cpu_seconds)} in all"
    print(f"{progress.done:,} updates in {spent}{early}")
    print(f"best at update {progress.best_at:,}: success {100 * success:.1f}%, reward {reward:.4g}")
    print(f"run folder: {ran.run.path}")
