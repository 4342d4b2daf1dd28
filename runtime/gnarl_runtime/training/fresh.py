"""A problem, a recipe and a seed in, a policy that has learned nothing yet out."""

from __future__ import annotations

import math

import numpy as np
import torch

from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_reading import reading_for
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.team.team import ALONE, Team


def fresh_policy(problem: Problem, recipe: Recipe, seed: int) -> Policy:
    """A policy whose weights depend on the seed only; torch's own stream is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(stream(seed, "weights").integers(2**63)))
        return Policy(problem, recipe.policy, reading=reading_for(problem, recipe))


def vary_rounds(policy: Policy, seed: int, done: int) -> None:
    """Tied rounds for the next update: how many there are differs, so that any number will do."""
    config = policy.config
    if config.tied:
        least = config.least_rounds or config.rounds
        policy.use_rounds(int(stream(seed, "rounds", done).integers(least, config.rounds + 1)))


def scale_scores(policy: Policy, engine: Engine, spread: float, team: Team = ALONE) -> None:
    """Choose the temperature so that scores of legal nodes deviate by `spread` within a graph.

    Of the graphs of all processes: each has an engine with a share of them.
    """
    packed = pack(engine.batch, engine.environments, policy.signature)
    graph = packed.choice_graph[packed.choice_legal]
    with torch.no_grad():
        logits = policy(packed).logits.double().cpu().numpy()[packed.choice_legal]
        count = np.maximum(np.bincount(graph, minlength=packed.graphs), 1)  # (graphs,)
        mean = np.bincount(graph, logits, packed.graphs) / count
        squares, nodes = team.sums(np.square(logits - mean[graph]).sum(), len(logits))
        found = math.sqrt(squares / nodes)
        if found > 0:  # nodes that all look the same have no scale
            policy.actor.log_temperature += math.log(found / spread)
