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

from gnarl_compiler.instance import Instance
from gnarl_compiler.instances import choose_split, draw_instance, families
from gnarl_compiler.interpret import Interpreter
from gnarl_compiler.state import State
from gnarl_compiler.streams import stream
from gnarl_dsl.model import Problem
from gnarl_runtime.batch import Batch
from gnarl_runtime.layout import layout_of
from gnarl_runtime.pack import Packed, pack
from gnarl_runtime.policy import Policy

Progress = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Recipe:
    """How long and with what the policy is trained; graph sizes come from the spec."""

    updates: int = 1200
    graphs: int = 128  # per update
    players: int = 64  # episodes played side by side
    updates_per_step: int = 6  # updates between two steps of all players
    states: int = 16384  # remembered; the oldest are overwritten
    learning_rate: float = 3e-3
    width: int = 64
    rounds: int = 2
    nodes: int | None = None  # play on graphs of this size instead of the split's


@dataclass(frozen=True, eq=False)
class Memory:
    """Labelled states: slots of a batch and the expert's distribution in each."""

    batch: Batch
    labels: NDArray[np.float32]  # (slots, N)
    slots: int

    def sample(
        self, count: int, stored: int, rng: np.random.Generator
    ) -> tuple[Packed, NDArray[np.float32]]:
        """Random states as a pack, and their labels in the order of its nodes."""
        chosen = rng.integers(min(stored, self.slots), size=count)
        packed = pack(self.batch, chosen)
        node = np.arange(len(packed.graph)) - packed.offsets[packed.graph]
        return packed, self.labels[chosen[packed.graph], node]


class Players:
    """Episodes side by side; a finished one is replaced by a fresh instance."""

    def __init__(self, problem: Problem, recipe: Recipe, seed: int) -> None:
        self.problem, self.recipe, self.seed = problem, recipe, seed
        self.game = Interpreter(problem, _cheapest_reward(problem))
        self.family = families(choose_split(problem, "train"))[0]
        self.rng = stream(seed, "imitation")
        self.drawn = 0
        self.states = [self.fresh() for _ in range(recipe.players)]

    def fresh(self) -> State:
        self.drawn += 1
        instance = draw_instance(
            self.problem, self.family, self.seed, self.drawn, self.recipe.nodes
        )
        return self.game.reset(instance)

    def step(self, policy: Policy, memory: Memory, stored: int) -> int:
        """Label and remember every state, then move on; the number of states stored so far."""
        first = stored
        labels = [self.game.expert(state) for state in self.states]
        for state, label in zip(self.states, labels, strict=True):
            # A state without a label is remembered too: it weighs nothing.
            memory.batch.load_state(stored % memory.slots, state)
            memory.labels[stored % memory.slots, : state.n] = label
            stored += 1
        slots = np.arange(first, stored) % memory.slots
        chances = chances_of(policy, memory.batch, slots)
        for k, (chance, label) in enumerate(zip(chances, labels, strict=True)):
            self.states[k] = self.move(self.states[k], chance, label)
        return stored

    def move(
        self, state: State, chance: NDArray[np.float64], label: NDArray[np.float64]
    ) -> State:
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


def _cheapest_reward(problem: Problem) -> str | None:
    """Imitation needs no reward: one that is paid once costs the least to compute."""
    return next((reward.name for reward in problem.rewards if reward.kind != "potential"), None)


def chances_of(
    policy: Policy, batch: Batch, slots: NDArray[np.integer]
) -> list[NDArray[np.float64]]:
    """The policy's distribution over the nodes of each slot."""
    packed = pack(batch, slots)
    with torch.inference_mode():
        log_chance = policy(packed).double()
    chance = log_chance.exp().numpy()
    parts = np.split(chance, packed.offsets[1:-1])
    return [part / part.sum() for part in parts]


def divergence(log_chance: Tensor, label: Tensor, graphs: int) -> Tensor:
    """Mean KL of the policy from the expert; a state without a label weighs nothing."""
    meant = label > 0
    wanted = label[meant]
    return (wanted * (wanted.log() - log_chance[meant])).sum() / graphs


def imitate(problem: Problem, recipe: Recipe, seed: int, progress: Progress) -> Policy:
    """Train a policy; `progress` hears of every update: its number, the states, the loss."""
    torch.manual_seed(seed)
    players = Players(problem, recipe, seed)
    memory = _memory(problem, recipe)
    policy = Policy(memory.batch.layout.signature, recipe.width, recipe.rounds)
    optimiser = torch.optim.Adam(policy.parameters(), recipe.learning_rate, betas=(0.9, 0.99))
    stored = 0
    for update in range(recipe.updates):
        if update % recipe.updates_per_step == 0:
            stored = players.step(policy, memory, stored)
        for group in optimiser.param_groups:
            group["lr"] = recipe.learning_rate * _cosine(update / recipe.updates)
        packed, label = memory.sample(recipe.graphs, stored, players.rng)
        loss = divergence(policy(packed), torch.from_numpy(label), packed.graphs)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        progress(update + 1, stored, float(loss.detach()))
    return policy


def _memory(problem: Problem, recipe: Recipe) -> Memory:
    nodes = recipe.nodes or largest_size(problem, "train")
    batch = Batch.allocate(layout_of(problem, recipe.states, nodes))
    return Memory(batch, np.zeros((recipe.states, nodes), np.float32), recipe.states)


def largest_size(problem: Problem, split: str) -> int:
    """The most nodes that an instance of a split can have."""
    sizes = [arg.values for arg in choose_split(problem, split).args if arg.name == "n"]
    return int(max(max(values) for values in sizes))


def _cosine(done: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * done))


def solve(problem: Problem, policy: Policy, instances: list[Instance]) -> list[State]:
    """Play the policy's best pick on every instance; the last states."""
    game = Interpreter(problem, _cheapest_reward(problem))
    states = [game.reset(instance) for instance in instances]
    nodes = max(instance.graph.n for instance in instances)
    batch = Batch.allocate(layout_of(problem, len(states), nodes))
    while active := [k for k, s in enumerate(states) if s.ended is None]:
        for k in active:
            batch.load_state(k, states[k])
        for k, chance in zip(active, chances_of(policy, batch, np.array(active)), strict=True):
            states[k] = game.apply(states[k], int(chance.argmax())).state
    return states
