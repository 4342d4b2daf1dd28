"""An environment in, a tally of its steps or labels per second out, by one rule for all.

Random legal picks throughout. Only calls of the contestant are on the clock: its mask, its
step, its reset; choosing a pick is not. The clock runs on wall time, which is cheap to read;
a slice is then scaled by the share of the core that the process got meanwhile, so that other
programs on the machine cost nobody anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.sampling import Sampler
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State

Expert = Callable[[dict[str, Any]], NDArray[np.float64]]
CHECK_EVERY = 32  # single steps between looks at the time
LABELS = 128  # single labels timed together


@dataclass
class Tally:
    """What was counted so far; `inside` and `resets` are seconds on the clock."""

    count: int = 0
    inside: float = 0.0
    resets: float = 0.0

    @property
    def rate(self) -> float:
        """Per second, resets included."""
        return self.count / max(self.inside + self.resets, 1e-12)

    @property
    def rate_between_resets(self) -> float:
        """Per second, resets left out."""
        return self.count / max(self.inside, 1e-12)

    def add(self, other: Tally, share: float) -> None:
        """Add a slice during which the process had this share of the core."""
        self.count += other.count
        self.inside += other.inside * share
        self.resets += other.resets * share


def run_slice(turn: Callable[[Tally], None], seconds: float, total: Tally) -> None:
    """Take turns for some wall time, at least one, and add them up in seconds of a core."""
    own = Tally()
    wall, cpu = perf_counter(), process_time()
    turn(own)
    while perf_counter() - wall < seconds:
        turn(own)
    total.add(own, min((process_time() - cpu) / (perf_counter() - wall), 1.0))


class SinglePlay:
    """A one-graph Gymnasium environment with `action_masks()`: a peer, or ours."""

    def __init__(self, env: Any, seed: int = 0, clock: Callable[[], float] = perf_counter) -> None:
        self.env, self.sampler, self.clock = env, Sampler(seed), clock
        env.reset(seed=seed)

    def turn(self, tally: Tally) -> None:
        """Some steps; a finished episode is followed by a reset."""
        env, one, clock = self.env, self.sampler.one, self.clock
        for _ in range(CHECK_EVERY):
            start = clock()
            legal = env.action_masks()
            masked = clock()
            pick = one(legal, legal)
            picked = clock()
            _, _, terminated, truncated, _ = env.step(pick)
            stepped = clock()
            tally.inside += (masked - start) + (stepped - picked)
            tally.count += 1
            if terminated or truncated:
                env.reset()
                tally.resets += clock() - stepped


class InterpreterPlay:
    """The interpreter on instances drawn beforehand."""

    def __init__(self, game: Interpreter, instances: list[Instance], seed: int = 0) -> None:
        self.game, self.instances, self.sampler = game, instances, Sampler(seed)
        self.episodes = 0
        self.state = self.restart()

    def restart(self) -> State:
        """The first state on the next instance."""
        self.episodes += 1
        return self.game.reset(self.instances[self.episodes % len(self.instances)])

    def turn(self, tally: Tally) -> None:
        """One step."""
        start = perf_counter()
        legal = self.game.mask(self.state)
        masked = perf_counter()
        pick = self.sampler.one(legal, legal)
        picked = perf_counter()
        self.state = self.game.step(self.state, pick).state
        stepped = perf_counter()
        tally.inside += (masked - start) + (stepped - picked)
        tally.count += 1
        if self.state.ended is not None:
            self.state = self.restart()
            tally.resets += perf_counter() - stepped


class BatchPlay:
    """A vector environment; masks, auto-resets and observations are part of its step."""

    def __init__(self, venv: Any, seed: int = 0, clock: Callable[[], float] = perf_counter) -> None:
        self.venv, self.sampler, self.clock = venv, Sampler(seed), clock
        _, info = venv.reset(seed=seed)
        self.legal = info["action_mask"]
        self.ended = np.zeros(venv.num_envs, np.int64)  # episodes that each one has finished
        self.resting = np.zeros(venv.num_envs, np.bool_)  # those that spend the step on a reset
        self.rests = str(venv.metadata["autoreset_mode"]).lower().endswith("next_step")

    def turn(self, tally: Tally) -> None:
        """One step of every environment."""
        picks = self.sampler.rows(self.legal, self.legal)
        start = self.clock()
        _, _, terminated, truncated, info = self.venv.step(picks)
        tally.inside += self.clock() - start
        tally.count += int(np.count_nonzero(~self.resting))
        over = terminated | truncated
        self.ended += over
        self.legal = info["action_mask"]
        if self.rests:
            self.resting = over

    def warm_up(self, seconds: float) -> None:
        """Play until every episode has ended once: a mix of early and late states."""
        wall = perf_counter()
        while perf_counter() - wall < seconds and not self.ended.all():
            self.turn(Tally())


class SingleLabels:
    """A per-observation expert, on the states that following it leads through."""

    def __init__(self, env: Any, prepare: Callable[[Any], Expert], seed: int = 0) -> None:
        self.env, self.prepare, self.sampler = env, prepare, Sampler(seed)
        self.restart(seed)

    def restart(self, seed: int | None = None) -> None:
        """A new graph, and the expert for it; what it may have solved beforehand is free."""
        self.observation, _ = self.env.reset(seed=seed)
        self.expert = self.prepare(self.env)

    def turn(self, tally: Tally) -> None:
        """Walk through some states off the clock, then label them all again on it."""
        seen = [self.walk() for _ in range(LABELS)]
        start = perf_counter()
        for expert, observation in seen:
            expert(observation)
        tally.inside += perf_counter() - start
        tally.count += len(seen)

    def walk(self) -> tuple[Expert, dict[str, Any]]:
        """A state with the expert for its graph, and a step on from there."""
        seen = self.expert, self.observation
        label = self.expert(self.observation)
        pick = self.sampler.one(label > 0, self.env.action_masks())
        self.observation, _, terminated, truncated, _ = self.env.step(pick)
        if terminated or truncated:
            self.restart()
        return seen


class BatchLabels(BatchPlay):
    """The expert of a vector environment, one label for each of its graphs."""

    def turn(self, tally: Tally) -> None:
        """All labels, then a step off the clock."""
        start = perf_counter()
        labels = self.venv.expert()
        tally.inside += perf_counter() - start
        tally.count += len(labels)
        picks = self.sampler.rows(labels > 0, self.legal)
        _, _, terminated, truncated, info = self.venv.step(picks)
        self.ended += terminated | truncated
        self.legal = info["action_mask"]
