"""Cases in, decisions per CPU second out: the contestants of training.py, by turns."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

from torch import nn

import gnarl_dsl as gnarl
from benchmarks.peers.naive_pyg import NaivePolicy
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import Packed
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe
from gnarl_runtime.network.graphs import to_graphs
from gnarl_runtime.network.policy import Output, Policy, prepare_torch
from gnarl_runtime.training.fresh import fresh_policy
from gnarl_runtime.training.imitation.imitation import ImitationTrainer
from gnarl_runtime.training.ppo.ppo import PpoTrainer
from gnarl_runtime.training.trainer import Trainer

if TYPE_CHECKING:
    from benchmarks.speed.training import Case

SEED = 0
FEWER = 8  # times, of updates of the slow contestant


class PlainPolicy(nn.Module):  # type: ignore[misc]
    """The torch_geometric network where a trainer expects a Policy."""

    def __init__(self, ours: Policy) -> None:
        super().__init__()
        self.network = NaivePolicy(ours)

    def forward(self, packed: Packed) -> Output:
        logits, values = self.network(to_graphs(packed))
        return Output(logits, values, values[:, None])  # nobody reads what the critic read


def measure_case(case: Case, repetitions: int, with_pyg: bool) -> dict[str, list[float]]:
    """Decisions per CPU second of every contestant, a list of repetitions each."""
    prepare_torch(1)
    problem, recipe = gnarl.load(case.spec), recipe_of(case)
    trainers = {"fused": trainer_for(problem, recipe, fresh_policy(problem, recipe, SEED))}
    if with_pyg:
        plain = PlainPolicy(fresh_policy(problem, recipe, SEED))
        trainers["pyg"] = trainer_for(problem, recipe, plain)
    rates: dict[str, list[float]] = {name: [] for name in trainers}
    for trainer in trainers.values():
        trainer.update()  # code is loaded or compiled
    for _ in range(repetitions):
        for name, trainer in trainers.items():
            updates = case.updates if name == "fused" else max(1, case.updates // FEWER)
            rates[name].append(rate(trainer, updates))
    return rates


def recipe_of(case: Case) -> Recipe:
    """A shipped recipe or the defaults, with the case's changes."""
    recipe = load_recipe(case.recipe) if case.recipe else Recipe()
    return change_recipe(recipe, case.changes)


def trainer_for(problem: Problem, recipe: Recipe, policy: nn.Module) -> Trainer:
    """A trainer whose policy is given."""
    kind = ImitationTrainer if recipe.trainer == "bc" else PpoTrainer
    return kind(problem, recipe, SEED, policy)


def rate(trainer: Trainer, updates: int) -> float:
    """Decisions learned from per second of CPU time."""
    began = process_time()
    states = sum(trainer.update()["states"] for _ in range(updates))
    return states / (process_time() - began)
