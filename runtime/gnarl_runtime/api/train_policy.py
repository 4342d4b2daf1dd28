"""A spec in, a trained policy out, with its run folder if one is asked for."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from gnarl_compiler.instances.draw import choose_split
from gnarl_dsl.externs import Given
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.api.asked import PYTHON, Spelling, Tell, silent, verify_training
from gnarl_runtime.api.policies import PolicyLike, compiled_or_told, load_policy, torch_set_up
from gnarl_runtime.api.recipe_choice import choose_recipe, verify_recipe
from gnarl_runtime.api.verdict import Verdict, judge, write_verdict
from gnarl_runtime.checkpoints.arrays import CheckpointError
from gnarl_runtime.checkpoints.brought import recorded
from gnarl_runtime.checkpoints.checkpoint import BEST, TrainedPolicy, load_checkpoint
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import AUTO, policy_settings, set_keys
from gnarl_runtime.training.auto.auto import Wish, choose_recipe_for
from gnarl_runtime.training.auto.choice import Choice, Standing
from gnarl_runtime.training.auto.keys import as_read_by, with_keys
from gnarl_runtime.training.auto.standings import find_standings
from gnarl_runtime.training.curves import draw_curves
from gnarl_runtime.training.loop import Finished, Loop, Report, Watcher
from gnarl_runtime.training.run_folder import Config, RunError, RunFolder, make_config, may_begin
from gnarl_runtime.training.starting import origin, policy_from, start_of, verify_choices
from gnarl_runtime.training.team.processes import local_device
from gnarl_runtime.training.team.team import ALONE, Team
from gnarl_runtime.training.trainers import make_trainer
from gnarl_runtime.training.validate import Scores, Validator, make_validator

MINUTES = 5.0  # of training where nobody says how long
VALIDATIONS = 16  # in a run whose recipe was chosen
FLAT = 8  # of these in a row without any change that end it
CALIBRATION = 4.0  # seconds of updates, at most, from which the time of one is known
_CALIBRATED = 0.02  # of the time there is
_CALIBRATED_ON = 1_000  # instances at most: drawing more takes time and changes no update's


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
    changes: Mapping[str, Any] = field(default_factory=dict)  # what was set, whatever is chosen
    choice: Choice | None = None  # what the recipe was chosen by, once it is
    workers: int = 1  # processes that share the graphs
    keys: tuple[str, ...] | None = None  # of experts, in the problem; None: nobody looked yet

    @property
    def is_open(self) -> bool:
        """Whether the recipe is still to be chosen."""
        return self.recipe_name == AUTO and self.choice is None


@dataclass(frozen=True)
class Ran:
    """A run that came to its end."""

    run: RunFolder
    config: Config
    problem: Problem
    finished: Finished

    def policy(self) -> TrainedPolicy:
        """The weights that did best on the validation graphs."""
        if not self.finished.progress.best:
            raise Failure(f"{self.run.path}: no policy could be kept")
        trained = load_checkpoint(self.run.path / BEST, code=self.problem.code)
        return replace(trained, problem=self.problem)

    def judge(self, progress: Tell | None = None) -> Verdict:
        """How the policy does beside others on fresh graphs; kept in the run folder."""
        config, seconds = self.config, self.finished.progress.seconds
        policy = self.policy().policy
        verdict = judge(policy, self.problem, config.recipe, config.seed, progress, seconds)
        write_verdict(self.run.path, verdict)
        return verdict

    def draw_curves(self) -> None:
        title = f"{self.problem.name}, seed {self.config.seed}"
        draw_curves(self.run.metrics(), self.run.path / "curves.png", title)


def train(
    spec: Spec,
    *,
    recipe: str | Path | Recipe | None = None,
    overrides: Mapping[str, Any] | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    minutes: float | None = None,
    start: PolicyLike | None = None,
    threads: int = 1,
    device: str = "cpu",
    extern: Sequence[Given] = (),
    progress: Tell | None = None,
) -> TrainedPolicy:
    """Train a policy by the recipe of a spec, as `gnarl-train` does.

    spec       a file, the name of a shipped spec, or a problem
    recipe     a TOML file or the name of a shipped recipe; None takes the one for the problem, and
               "auto", or None where there is none, chooses one by a short race
    overrides  changes to the recipe, such as {"lr": 1e-3, "bc.updates": 150}
    seed       of everything random
    out        the run folder, new or empty; None keeps the result in memory only
    minutes    as many updates as fit into that time, instead of the recipe's (auto: 5)
    start      weights to start from: as for `evaluate`
    threads    of the policy on a CPU
    device     of the policy, such as "cuda"
    extern     code for what the spec declares as `extern`: files, modules, functions
    progress   is told (what is being done, done, total)

    Params that a recipe sets hold for a spec given by its file or name; a problem has its own.
    A run with `out` that was interrupted goes on with `gnarl-train --resume`.
    """
    verify_training(PYTHON, minutes, threads, seed)
    changes = dict(overrides or {})
    problem = problem_of(spec, extern=extern)
    name, chosen = choose_recipe(problem, recipe, changes, "overrides")
    if chosen.params and not isinstance(spec, Problem):
        problem = problem_of(spec, chosen.params, problem.code)
    verify_recipe(problem, chosen, name)
    settings = policy_settings(changes, "overrides")
    with tempfile.TemporaryDirectory(prefix="gnarl-") as scratch, torch_set_up(threads):
        weights = None if start is None else _file_of(start, problem, Path(scratch))
        request = Request(problem, chosen, name, seed, threads, device, weights, settings, changes)
        folder = Path(out or f"{scratch}/run")
        verify_new(folder, PYTHON)
        if request.is_open:
            standings = look_around(request, progress)
            request = choose_defaults(request, standings, minutes, progress)
            minutes = None
        run = begin_run(request, folder, minutes, progress, PYTHON)
        ran = finish_run(*run, progress)
        trained = ran.policy()
        if out is None:
            return replace(trained, path=None)
        ran.draw_curves()
        ran.judge(progress)
        return trained


def _file_of(start: PolicyLike, problem: Problem, scratch: Path) -> Path:
    """A file with the weights, which the run keeps a copy of."""
    trained = load_policy(start, problem)
    return trained.path or trained.save(scratch / "given.safetensors")


# Runs


def begin_run(
    request: Request, out: Path, minutes: float | None, progress: Tell | None, spell: Spelling
) -> tuple[RunFolder, Config, Problem]:
    """A new run folder; nothing is trained yet."""
    verify_device(request.device, spell)
    verify_new(out, spell)
    request = show_keys(request)
    loaded = _given_weights(request)
    if loaded is not None:
        recipe = request.recipe.model_copy(update={"policy": loaded.meta.policy})
        problem = as_read_by(loaded.policy, request.problem)
        request = replace(request, recipe=recipe, problem=problem)
    if minutes is not None:
        (progress or silent)("measuring the time of an update", 0, 1)
        request = replace(request, recipe=fit_to_minutes(request, minutes))
    began = {"start": origin(loaded, loaded.path)} if loaded and loaded.path else {}
    shared = {"workers": request.workers} if request.workers > 1 else {}
    config = make_config(
        request.problem,
        request.recipe,
        request.recipe_name,
        request.seed,
        request.threads,
        request.device,
        minutes,
        {**provenance(), **recorded(request.problem, request.recipe), **began, **shared},
        request.choice,
    )
    return RunFolder.create(out, config, loaded.path if loaded else None), config, request.problem


def verify_new(out: Path, spell: Spelling) -> None:
    """A UsageError if there is anything where a run folder is to be."""
    if not may_begin(out):
        raise UsageError(f"{out} is there already; {_another(out, spell)}")


def _another(out: Path, spell: Spelling) -> str:
    return f"use --resume {out}, or another --out" if spell.flags else "expected another out"


def show_keys(request: Request) -> Request:
    """With what experts compare as features, if that is wanted; weights read what they read."""
    if request.keys is not None or request.weights is not None or not request.recipe.data.keys:
        return request
    problem, keys = with_keys(request.problem)
    return replace(request, problem=problem, keys=keys)


def _given_weights(request: Request) -> TrainedPolicy | None:
    """The weights to start from, if any; they must fit what is to be trained."""
    if request.weights is None:
        return None
    try:
        loaded = load_checkpoint(request.weights, code=request.problem.code)
        verify_choices(request.recipe.policy, request.chosen, loaded)
        policy_from(loaded, as_read_by(loaded.policy, request.problem))
    except CheckpointError as error:
        raise UsageError(str(error)) from None
    return loaded


def verify_device(device: str, spell: Spelling) -> None:
    """A UsageError unless torch can use it."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise UsageError(f"{spell.value('device', device)} cannot be used: {first}") from None


def finish_run(
    run: RunFolder,
    config: Config,
    problem: Problem,
    progress: Tell | None,
    team: Team = ALONE,
    also: Watcher | None = None,
) -> Ran:
    """Train to the end, from where the run stands; Ctrl-C saves first, then it is raised.

    All processes of a `team` call this; one of them writes. `also` is told what a report says.
    """
    with run.held() if team.leads else nullcontext():
        return _finish(run, config, problem, progress, team, also)


def _finish(
    run: RunFolder,
    config: Config,
    problem: Problem,
    progress: Tell | None,
    team: Team,
    also: Watcher | None,
) -> Ran:
    (progress or silent)("compiling, drawing instances", 0, 1)
    drawing = _drawing(progress or silent)
    _compile_first(config, problem, team)
    try:
        # A saved state brings its own weights.
        weights = None if run.has_state else start_of(run.path, problem)
        trainer = make_trainer(
            *(problem, config.recipe, config.seed, weights),
            progress=drawing,
            team=team,
        )
        validator = _validator(config, problem, drawing) if team.leads else None
    except LookupError as error:
        raise Failure(str(error)) from None
    device = local_device(config.device)
    trainer.policy.to(device)
    trainer.best_policy().to(device)
    loop = Loop(trainer, run, config, problem, validator, team)
    try:
        loop.resume()
    except (RunError, ValueError) as error:
        raise Failure(str(error)) from None
    watch = watching(progress or silent, config.choice)

    def both(report: Report) -> None:
        watch(report)
        if also is not None:
            also(report)

    return Ran(run, config, problem, loop.train(both))


def _compile_first(config: Config, problem: Problem, team: Team) -> None:
    """One process fills the cache of compiled kernels; those that begin together would race."""
    if team.size > 1 and team.leads:
        request = Request(problem, config.recipe, config.recipe_name, config.seed)
        for part in config.recipe.parts:
            make_trainer(problem, _calibrated_on(request, part, few=2), config.seed).update()
    team.wait()


def _validator(config: Config, problem: Problem, progress: Callable[[int, int], None]) -> Validator:
    return make_validator(problem, config.recipe, config.seed, progress)


def _drawing(tell: Tell) -> Callable[[int, int], None]:
    return lambda done, total: tell("drawing instances", done, total)


# Recipes that nobody gave


def look_around(request: Request, progress: Tell | None = None) -> list[Standing]:
    """How well chance and the experts play the validation graphs."""
    tell = progress or silent
    tell("compiling, drawing instances", 0, 1)
    with compiled_or_told(request.problem):
        return find_standings(request.problem, request.recipe, request.seed, tell)


def choose_defaults(
    request: Request,
    standings: Sequence[Standing],
    minutes: float | None = None,
    progress: Tell | None = None,
) -> Request:
    """The request with a recipe for the time there is; what the user has set stays."""
    minutes = minutes or MINUTES
    wanted = {"data.keys": bool(request.problem.objectives), **request.changes}
    request = show_keys(replace(request, recipe=set_keys(request.recipe, wanted)))
    wish = Wish(request.problem, request.recipe, request.seed, minutes)
    chosen = choose_recipe_for(wish, standings, progress or silent)
    recipe = set_keys(chosen.recipe, request.changes)
    choice = chosen.choice.model_copy(update={"keys": request.keys or ()})
    request = replace(request, recipe=recipe, choice=choice)
    (progress or silent)("measuring the time of an update", 0, 1)
    return replace(request, recipe=_fit_shares(request, chosen.shares, minutes))


def _fit_shares(request: Request, shares: Sequence[float], minutes: float) -> Recipe:
    """As many updates of each part as fit into its share of the time."""
    recipe, changed = request.recipe, {}
    for name, share in zip(recipe.parts, shares, strict=True):
        count = max(1, int(share * 60 * minutes / seconds_per_update(request, name, minutes)))
        changed[name] = getattr(recipe, name).model_copy(update={"updates": count})
    last = changed[recipe.parts[-1]].updates
    often = {"every": max(1, last // VALIDATIONS), "flat": FLAT, "stop_when_perfect": True}
    validation = recipe.validation.model_copy(update=often)
    return recipe.model_copy(update={**changed, "validation": validation})


# What is told on the way


def watching(tell: Tell, choice: Choice | None = None) -> Watcher:
    """Reports in, one line each to whoever listens; scores stay until there are newer ones."""
    rival = choice.free if choice else None
    latest: list[Scores] = []

    def watch(report: Report) -> None:
        if report.scores is not None:
            latest[:] = [report.scores]
        line = describe(report, latest[0] if latest else None, rival)
        tell(line, report.done, report.updates)

    return watch


def describe(report: Report, scores: Scores | None = None, rival: Standing | None = None) -> str:
    """One line about where a run stands."""
    parts = [f"update {report.done:,}/{report.updates:,}"]
    parts += [f"loss {report.metrics['loss']:.4g}"] if "loss" in report.metrics else []
    if scores is not None:
        beside = f" ({rival.name} {100 * rival.success:.1f}%)" if rival else ""
        parts.append(f"valid {100 * scores.success:.1f}%{beside}")
        beside = f" ({rival.name} {rival.reward:.4g})" if rival else ""
        parts.append(f"reward {scores.reward:.4g}{beside}")
    parts.append(f"{report.metrics.get('states', 0.0) * report.rate:,.0f} states/s")
    parts.append(f"{clock(report.left)} left")
    parts += [report.then] if report.then else []
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """3725 -> 1:02:05."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# Time


def fit_to_minutes(request: Request, minutes: float) -> Recipe:
    """The recipe with as many updates as fit, those of its parts in the same proportion."""
    recipe = request.recipe
    parts = {name: getattr(recipe, name) for name in recipe.parts}
    whole = sum(
        part.updates * seconds_per_update(request, name, minutes) for name, part in parts.items()
    )
    share = 60 * minutes / whole
    changed = {
        name: part.model_copy(update={"updates": max(1, int(part.updates * share))})
        for name, part in parts.items()
    }
    return recipe.model_copy(update=changed)


def seconds_per_update(request: Request, part: str, minutes: float) -> float:
    """Measured once, on a trainer of that part of the recipe that is thrown away."""
    trainer = make_trainer(request.problem, _calibrated_on(request, part), request.seed)
    trainer.update()
    enough = min(CALIBRATION, _CALIBRATED * 60 * minutes)
    began, count = time.monotonic(), 0
    while not count or time.monotonic() - began < (enough if count > 1 else CALIBRATION):
        trainer.update()
        count += 1
    return (time.monotonic() - began) / count


def _calibrated_on(request: Request, part: str, few: int = _CALIBRATED_ON) -> Recipe:
    """That part of the recipe alone, on a few instances, with the graphs of one worker."""
    recipe = request.recipe
    line = choose_split(request.problem, "train", recipe.data.instances)
    few = min(recipe.data.pool or line.count, few)
    close = min(recipe.data.boundary_pool, few)
    data = recipe.data.model_copy(update={"pool": few, "boundary_pool": close})
    own = getattr(recipe, part)
    graphs = {"graphs": -(-own.graphs // request.workers)}
    part_alone = {"trainer": part, "data": data, part: own.model_copy(update=graphs)}
    return recipe.model_copy(update=part_alone)
