"""A strategy, those who drive it and a pool of instances in, the best episode of each out."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib import import_module

import numpy as np

from gnarl_dsl.brought_names import is_brought
from gnarl_dsl.externs import brought_as
from gnarl_dsl.model import Trade
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.search.arena import Arena
from gnarl_runtime.search.outcomes import Keep, without_ends
from gnarl_runtime.search.players import ReplayPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.strategy import Strategy, verify_drivers
from gnarl_runtime.search.task import (
    Answers,
    Drivers,
    Found,
    Improved,
    Moment,
    Progress,
    Task,
)

_PICKS = Keep(picks=True)


def search(
    strategy: Strategy,
    drivers: Drivers,
    compiled: Compiled,
    pool: Pool,
    *,
    seed: int = 0,
    temperature: float | None = None,
    objective: str | None = None,
    max_rounds: int | None = None,
    slots: int | None = None,
    keep: Keep = _PICKS,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> Found:
    """Look at more than one continuation, as the strategy says, and keep the best.

    `compiled` with metrics, and with the experts among the drivers. `temperature` is that of the
    policy by itself; `slots` changes no answer. `improved` is told what gets better and when.
    """
    verify_drivers(strategy, drivers.policy is not None)
    task = Task(
        drivers,
        compiled,
        pool,
        seed,
        temperature,
        objective,
        max_rounds,
        slots,
        progress or _silent,
        improved or _unmoved,
    )
    Arena(task, 1).warm_up()
    began = time.perf_counter()
    answers = _run(strategy, task)
    seconds = time.perf_counter() - began
    # Played once more for all that is worth knowing of an end; nobody chooses, so it is quick.
    again = ReplayPlayer(answers.picks)
    outcomes = play_with(
        again,
        compiled,
        pool,
        slots=slots,
        objective=objective,
        max_rounds=max_rounds,
        keep=replace(keep, picks=True),
    )
    endless = np.zeros(len(pool), np.bool_) if answers.endless is None else answers.endless
    return Found(
        replace(without_ends(outcomes, endless), seconds=seconds),
        answers.decisions,
        answers.proven,
        answers.history or tuple(() for _ in range(len(pool))),
        answers.ran or strategy,
        endless,
    )


def _run(strategy: Strategy, task: Task) -> Answers:
    if is_brought(strategy.name):
        own = brought_as(Trade.STRATEGY, strategy.name, task.compiled.problem.code)
        found: Answers = own.function(task, None)
        return found
    module, _, name = strategy.kind.home.partition(":")
    answers: Answers = getattr(import_module(module), name)(task, strategy.amount)
    return answers


def _silent(done: float, total: int) -> None:
    """For those who do not want to know."""


def _unmoved(instance: int, moment: Moment) -> None:
    """For those who wait for the end."""
