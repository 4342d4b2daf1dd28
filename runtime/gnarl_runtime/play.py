"""A policy and instances go in, episodes played by its best picks come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gnarl_compiler.instance import Instance
from gnarl_compiler.interpret import Interpreter
from gnarl_compiler.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.batch import Batch
from gnarl_runtime.layout import layout_of
from gnarl_runtime.pack import pack
from gnarl_runtime.policy import Policy, log_chances


@dataclass(frozen=True)
class Played:
    """An episode: its last state, all picks in order, and whether the answer is right."""

    state: State
    picks: tuple[int, ...]  # (steps,)
    correct: bool


def cheapest_reward(problem: Problem) -> str | None:
    """A reward that is quick to compute, for those who need none."""
    return next((reward.name for reward in problem.rewards if reward.kind != "potential"), None)


def distributions(policy: Policy, batch: Batch, slots: Sequence[int]) -> list[NDArray[np.float64]]:
    """The policy's distribution over the nodes of each slot; every slot has a legal node."""
    packed = pack(batch, slots)
    with torch.inference_mode():
        chance = log_chances(policy(packed), packed).double().exp().numpy()  # (nodes,)
    parts = np.split(chance, packed.offsets[1:-1])
    return [part / part.sum() for part in parts]


def play_best(
    problem: Problem,
    policy: Policy,
    instances: Sequence[Instance],
    progress: Callable[[int], None] = lambda steps: None,
) -> list[Played]:
    """Play the policy's best pick on all instances at once; `progress` hears of every step."""
    game = Interpreter(problem, cheapest_reward(problem))
    nodes = max(instance.graph.n for instance in instances)
    batch = Batch.allocate(layout_of(problem, len(instances), nodes))
    states = [game.reset(instance) for instance in instances]
    picks: list[list[int]] = [[] for _ in instances]
    _load(batch, states, range(len(states)))
    steps = 0
    while active := [k for k in range(len(states)) if batch.legal[k].any()]:
        for k, chance in zip(active, distributions(policy, batch, active), strict=True):
            picks[k].append(int(chance.argmax()))
            states[k] = game.apply(states[k], picks[k][-1]).state
        _load(batch, states, active)
        steps += 1
        progress(steps)
    played = zip(states, picks, strict=True)
    return [Played(s, tuple(p), s.ended is not None and game.correct(s)) for s, p in played]


def _load(batch: Batch, states: Sequence[State], slots: Sequence[int]) -> None:
    for slot in slots:
        batch.load_state(slot, states[slot])
