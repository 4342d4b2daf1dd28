"""A problem and a recipe go in, a policy that imitates the expert comes out.

Many episodes are played side by side. Every visited state is labelled by the expert *in that
state*, whoever led there (DAgger), kept in a slot of a batch, and learned from again and
again: the interpreter is slow, so its states are reused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_compiler.interpret import Interpreter
from gnarl_compiler.state import State
from gnarl_compiler.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.batch import Batch
from gnarl_runtime.draws import Source
from gnarl_runtime.layout import layout_of
from gnarl_runtime.pack import Packed, pack
from gnarl_runtime.play import cheapest_reward, distributions
from gnarl_runtime.policy import Policy, PolicyConfig, log_chances


@dataclass(frozen=True)
class Recipe:
    """How long and with what the policy is trained; graph sizes come from the spec."""

    updates: int = 400
    graphs: int = 128  # per update
    players: int = 64  # episodes played side by side
    updates_per_step: int = 6  # updates between two steps of all players
    states: int = 8192  # remembered; the oldest are overwritten
    learning_rate: float = 3e-3
    width: int = 64
    rounds: int = 2
    nodes: int | None = None  # play on graphs of this size instead of the split's


@dataclass(frozen=True)
class Report:
    """Where training stands after an update."""

    update: int
    states: int
    loss: float


class Memory:
    """Labelled states: slots of a batch and the expert's distribution in each."""

    def __init__(self, problem: Problem, states: int, nodes: int) -> None:
        self.batch = Batch.allocate(layout_of(problem, states, nodes))
        self.labels = np.zeros((states, nodes), np.float32)  # (slots, N)
        self.stored = 0

    def store(self, state: State, label: NDArray[np.float64]) -> int:
        """Keep a state; the slot it went to. Without a label it will weigh nothing."""
        slot = self.stored % len(self.labels)
        self.batch.load_state(slot, state)
        self.labels[slot, : state.n] = label
        self.stored += 1
        return slot

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Packed, NDArray[np.float32]]:
        """Random states as a pack, and their labels in the order of its nodes."""
        chosen = rng.integers(min(self.stored, len(self.labels)), size=count)
        packed = pack(self.batch, chosen)
        node = np.arange(len(packed.graph)) - packed.offsets[packed.graph]
        return packed, self.labels[chosen[packed.graph], node]


class Players:
    """Episodes side by side; a finished one is replaced by a fresh instance."""

    def __init__(self, source: Source, count: int, seed: int) -> None:
        self.source, self.seed = source, seed
        self.game = Interpreter(source.problem, cheapest_reward(source.problem))
        self.rng = stream(seed, "imitation")
        self.drawn = 0
        self.states = [self.fresh() for _ in range(count)]

    def fresh(self) -> State:
        number, self.drawn = self.drawn, self.drawn + 1
        return self.game.reset(self.source.draw(self.seed, number))

    def step(self, policy: Policy, memory: Memory) -> None:
        """Label and remember every state, then pick a node in each."""
        labels = [self.game.expert(state) for state in self.states]
        slots = [memory.store(*pair) for pair in zip(self.states, labels, strict=True)]
        chances = distributions(policy, memory.batch, slots)
        moves = zip(self.states, chances, labels, strict=True)
        self.states = [self.move(*move) for move in moves]

    def move(self, state: State, chance: NDArray[np.float64], label: NDArray[np.float64]) -> State:
        """A pick by the expert (1 in 4), drawn from the policy (1 in 4) or its best (2 in 4)."""
        turn = self.rng.random()
        if turn < 0.25 and label.any():
            node = int(self.rng.choice(state.n, p=label))
        elif turn < 0.5:
            node = int(self.rng.choice(state.n, p=chance))
        else:
            node = int(chance.argmax())
        after = self.game.apply(state, node).state
        over = after.ended is not None or self.game.is_dead_end(after)
        return self.fresh() if over else after


def imitate(
    problem: Problem, recipe: Recipe, seed: int, progress: Callable[[Report], None]
) -> Policy:
    """A trained policy; `progress` hears of every update."""
    torch.manual_seed(seed)
    source = Source(problem, "train", nodes=recipe.nodes)
    players = Players(source, recipe.players, seed)
    memory = Memory(problem, recipe.states, source.largest())
    policy = Policy(problem, PolicyConfig(width=recipe.width, rounds=recipe.rounds))
    optimiser = torch.optim.Adam(policy.parameters(), recipe.learning_rate, betas=(0.9, 0.99))
    cosine = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda update: 0.5 + 0.5 * math.cos(math.pi * update / recipe.updates)
    )
    for update in range(recipe.updates):
        if update % recipe.updates_per_step == 0:
            players.step(policy, memory)
        packed, label = memory.sample(recipe.graphs, players.rng)
        chances = log_chances(policy(packed), packed)
        loss = divergence(chances, torch.from_numpy(label), packed.graphs)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        cosine.step()
        progress(Report(update + 1, memory.stored, float(loss.detach())))
    return policy


def divergence(log_chance: Tensor, label: Tensor, graphs: int) -> Tensor:
    """Mean KL of the policy from the expert; a state without a label weighs nothing."""
    meant = label > 0
    wanted = label[meant]
    return (wanted * (wanted.log() - log_chance[meant])).sum() / graphs
