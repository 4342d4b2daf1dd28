"""A request in, training from start to end with a display out: what `gnarl-train` runs."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.checkpoints.arrays import CheckpointError
from gnarl_runtime.checkpoints.checkpoint import Loaded, load_checkpoint
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.commands.options import FAILED, INTERRUPTED, OK
from gnarl_runtime.commands.work.display import Display, clock
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.training.curves import draw_curves
from gnarl_runtime.training.loop import Finished, Loop
from gnarl_runtime.training.run_folder import Config, RunError, RunFolder, make_config
from gnarl_runtime.training.starting import origin, policy_from, start_of, verify_choices
from gnarl_runtime.training.trainers import make_trainer
from gnarl_runtime.training.validate import make_validator

CALIBRATION = 4.0  # seconds of updates from which the time of one is known


@dataclass(frozen=True)
class Request:
    """What is to be trained."""

    problem: Problem
    recipe: Recipe
    recipe_name: str
    seed: int = 0
    threads: int = 1
    device: str = "cpu"
    weights: Path | None = None  # to start from, instead of random ones
    chosen: tuple[str, ...] = ()  # settings of the policy; others are those of the weights


def start(request: Request, out: Path, minutes: float | None = None) -> int:
    """A new run."""
    _prepare(request.device, request.threads)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already; use --resume {out}, or another --out")
    loaded = _given_weights(request)
    if loaded is not None:
        recipe = request.recipe.model_copy(update={"policy": loaded.meta.policy})
        request = replace(request, recipe=recipe)
    with Display() as display:
        if minutes is not None:
            display.stage("measuring the time of an update …")
            request = replace(request, recipe=fit_to_minutes(request, minutes))
        config = make_config(
            request.problem,
            request.recipe,
            request.recipe_name,
            request.seed,
            request.threads,
            request.device,
            minutes,
            {**provenance(), **({"start": origin(loaded)} if loaded else {})},
        )
        run = RunFolder.create(out, config, loaded.path if loaded else None)
        return _run(run, config, request.problem, display)


def _given_weights(request: Request) -> Loaded | None:
    """The weights to start from, if any; they must fit what is to be trained."""
    if request.weights is None:
        return None
    try:
        loaded = load_checkpoint(request.weights)
        verify_choices(request.recipe.policy, request.chosen, loaded)
        policy_from(loaded, request.problem)
    except CheckpointError as error:
        raise UsageError(str(error)) from None
    return loaded


def resume(path: Path) -> int:
    """Go on with a run."""
    run = RunFolder(path)
    try:
        config = run.config()
        problem = config.problem()
    except RunError as error:
        raise UsageError(str(error)) from None
    if run.finished:
        print(f"{path} is finished already; there is nothing left to do")
        return OK
    _prepare(config.device, config.threads)
    with Display() as display:
        return _run(run, config, problem, display)


def _prepare(device: str, threads: int) -> None:
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"--device {device} cannot be used: {first}") from None
    prepare_torch(threads)


def _run(run: RunFolder, config: Config, problem: Problem, display: Display) -> int:
    display.stage("compiling, drawing instances …")
    try:
        # A saved state brings its own weights.
        weights = None if run.has_state else start_of(run.path, problem)
        trainer = make_trainer(problem, config.recipe, config.seed, weights)
        validator = make_validator(problem, config.recipe, config.seed)
    except (InstanceError, LookupError, CheckpointError) as error:
        raise Failure(str(error)) from None
    trainer.policy.to(config.device)
    trainer.best_policy().to(config.device)
    loop = Loop(trainer, run, config, problem, validator)
    try:
        loop.resume()
    except (RunError, ValueError) as error:
        raise Failure(str(error)) from None
    try:
        finished = loop.train(display.watch)
    except KeyboardInterrupt:
        print(f"\nstopped; go on with: gnarl-train --resume {run.path}", file=sys.stderr)
        return INTERRUPTED
    draw_curves(run.metrics(), run.path / "curves.png", f"{problem.name}, seed {config.seed}")
    _say_end(run, finished)
    return OK if finished.progress.best else FAILED


def _say_end(run: RunFolder, finished: Finished) -> None:
    progress = finished.progress
    success, reward = progress.best[:2] if progress.best else (0.0, 0.0)
    early = ", stopped early: nothing left to gain" if finished.stopped_early else ""
    spent = f"{clock(progress.seconds)}, CPU time {clock(progress.cpu_seconds)} in all"
    print(f"{progress.done:,} updates in {spent}{early}")
    print(f"best at update {progress.best_at:,}: success {100 * success:.1f}%, reward {reward:.4g}")
    print(f"run folder: {run.path}")


def fit_to_minutes(request: Request, minutes: float) -> Recipe:
    """The recipe with as many updates as fit, those of its parts in the same proportion."""
    recipe = request.recipe
    parts = {name: getattr(recipe, name) for name in recipe.trainer.split("+")}
    whole = sum(part.updates * seconds_per_update(request, name) for name, part in parts.items())
    share = 60 * minutes / whole
    changed = {
        name: part.model_copy(update={"updates": max(1, int(part.updates * share))})
        for name, part in parts.items()
    }
    return recipe.model_copy(update=changed)


def seconds_per_update(request: Request, part: str) -> float:
    """Measured once, on a trainer of that part of the recipe that is thrown away."""
    recipe = request.recipe.model_copy(update={"trainer": part})
    trainer = make_trainer(request.problem, recipe, request.seed)
    trainer.update()
    began, count = time.monotonic(), 0
    while time.monotonic() - began < CALIBRATION or count < 2:
        trainer.update()
        count += 1
    return (time.monotonic() - began) / count
