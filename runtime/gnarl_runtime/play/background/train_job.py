"""A spec in, a trained policy in a run folder out: the work of `gnarl-train`, told meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnarl_dsl.externs import read_code, with_code
from gnarl_dsl.model import Problem
from gnarl_runtime.api.asked import FLAGS, verify_training
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.api.recipe_choice import choose_recipe, verify_recipe
from gnarl_runtime.api.train_policy import (
    Request,
    begin_run,
    choose_defaults,
    finish_run,
    look_around,
)
from gnarl_runtime.api.training_texts import recipe_line, standings_table
from gnarl_runtime.api.verdict import verdict_text
from gnarl_runtime.checkpoints.brought import verify_recorded
from gnarl_runtime.play.background.job_worker import Told
from gnarl_runtime.play.background.task_spec import problem_of_task
from gnarl_runtime.training.auto.auto import decide
from gnarl_runtime.training.run_folder import Config, RunError, RunFolder


def train_job(task: dict[str, Any], told: Told) -> dict[str, Any]:
    """A new run, by the recipe that suits the problem."""
    minutes = None if task["minutes"] is None else float(task["minutes"])
    verify_training(FLAGS, minutes, 1, int(task["seed"]))
    problem = problem_of_task(task)
    name, recipe = choose_recipe(problem, None, {}, "--set")
    if recipe.params:
        problem = problem_of_task(task, recipe.params)
    verify_recipe(problem, recipe, name)
    request = Request(problem, recipe, name, int(task["seed"]))
    with torch_set_up(1):
        if request.is_open:
            standings = look_around(request, told)
            told.found(text=standings_table(problem, standings))
            told.found(text=decide(problem, standings)[1])
            request = choose_defaults(request, standings, minutes, told)
            told.found(text=recipe_line(request.recipe))
            minutes = None
        run, config, problem = begin_run(request, Path(task["out"]), minutes, told, FLAGS)
        return _trained(run, config, problem, told)


def resume_job(task: dict[str, Any], told: Told) -> dict[str, Any]:
    """Go on with a run that was stopped."""
    run = RunFolder(Path(task["out"]))
    config = run.config()
    if run.finished:
        raise RunError("this run is finished already; there is nothing left to do")
    code = read_code(task["extern"]) if task["extern"] else None
    problem = with_code(config.problem(), code)
    verify_recorded(problem, config.provenance, run.path.name, False)
    with torch_set_up(config.threads):
        return _trained(run, config, problem, told)


def _trained(run: RunFolder, config: Config, problem: Problem, told: Told) -> dict[str, Any]:
    ran = finish_run(run, config, problem, told)
    ran.draw_curves()
    text = verdict_text(ran.judge(told), problem) if ran.finished.progress.best else ""
    return {"run": run.path.name, "text": text, "early": ran.finished.stopped_early}
