"""A task and slots in; out: episodes that a search starts, moves, copies and judges in them."""

from __future__ import annotations

import hashlib
from contextlib import suppress

import numpy as np
import torch
from numpy.typing import NDArray

from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_dsl.model.kinds import INPUT
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.episode_arrays import moving_arrays
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.network.policy import Policy, verify_numbers
from gnarl_runtime.network.segments import segment_log_softmax
from gnarl_runtime.search.better import Worth, worth_of
from gnarl_runtime.search.players import STOP, Index
from gnarl_runtime.search.rollout import choose_slots, objective_kernel, raise_illegal
from gnarl_runtime.search.task import Task

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Arena:
    """Slots of an engine that are empty until an episode is started in them."""

    def __init__(self, task: Task, slots: int) -> None:
        self.task = task
        self.engine = Engine(task.compiled, task.pool, slots)
        self.engine.batch.ended[:] = TERMINATED
        self.moving = moving_arrays(self.engine)
        self.objective = objective_kernel(self.engine, task.objective)
        self.has_answer = self.engine.problem.correct is not None
        # How many states fit through the network at once.
        self.fit = max(1, task.slots or choose_slots(task.compiled, task.pool))

    def warm_up(self) -> None:
        """One pick whose result nobody reads: code is loaded or compiled before a clock starts."""
        first = np.zeros(1, np.int64)
        self.start(first, first)
        if self.running(first).all():
            self.log_chances(first)
            for name in self.task.drivers.experts:
                self.engine.expert(name, slots=first)
            with suppress(SpecRunError):  # where a pick fails, whoever means it will hear of it
                self.step(first, self.legal[first].argmax(axis=1))
            self.engine.kernels.fault[:] = 0
        self.worth(first, first)

    @property
    def legal(self) -> Truths:
        return self.engine.batch.legal  # (slots, N)

    def running(self, slots: Index) -> Truths:
        return np.asarray(self.engine.batch.ended[slots] == RUNNING)

    def start(self, slots: Index, instances: Index) -> None:
        """New episodes on these instances of the pool."""
        self.engine.load(slots, instances)
        if self.task.max_rounds is not None:
            limit = self.engine.batch.limit
            limit[slots] = np.minimum(limit[slots], self.task.max_rounds)

    def clear(self, slots: Index) -> None:
        """Nobody wants to know how these go on."""
        self.engine.batch.ended[slots] = TERMINATED

    def copy(self, source: Index, target: Index) -> None:
        """Episodes into slots in which the same instances have been started."""
        for values in self.moving:
            values[target] = values[source]

    def step(self, slots: Index, picks: Index) -> None:
        """One pick for each of the running episodes; STOP ends one."""
        actions = np.full(self.engine.slots, STOP, np.int64)
        actions[slots] = picks
        self.engine.batch.ended[slots[picks == STOP]] = TERMINATED
        self.engine.step(actions)
        raise_illegal(self.engine)

    def worth(self, slots: Index, steps: Index) -> Worth:
        """Of episodes that have ended, after so many picks."""
        engine = self.engine
        valid = engine.judge("valid", slots)[slots]
        right = engine.judge("correct", slots)[slots] if self.has_answer else valid
        if self.objective is None:
            return worth_of(valid, right, None, steps)
        out = np.zeros(engine.slots)
        engine.kernels.run(self.objective, slots, out)
        return worth_of(valid, right, out[slots], steps)

    def log_chances(self, slots: Index, temperature: float = 1.0) -> Floats:
        """Of everything to be picked next, by the policy, or by chance where there is none."""
        policy, choices = self.task.drivers.policy, self.legal.shape[1]
        if policy is None:
            return uniform_log_chances(self.legal[slots])
        out = np.full((len(slots), choices), -np.inf)  # (K, N)
        for start in range(0, len(slots), self.fit):
            part = slice(start, start + self.fit)
            _policy_log_chances(policy, self.engine, slots[part], temperature, out[part])
        return out


def uniform_log_chances(legal: Truths) -> Floats:
    """Every legal node is as likely as any other."""  # (K, N)
    count = legal.sum(axis=1, keepdims=True)
    return np.asarray(np.where(legal, -np.log(np.maximum(count, 1)), -np.inf))


def _policy_log_chances(
    policy: Policy, engine: Engine, slots: Index, temperature: float, out: Floats
) -> None:
    packed = pack(engine.batch, slots, policy.signature)
    with torch.inference_mode():
        output = policy(packed)
        verify_numbers(output)
        logits = output.logits
        graph = torch.from_numpy(packed.choice_graph).to(logits.device)
        found = segment_log_softmax(logits.double() / temperature, graph, packed.graphs)
    packed.spread_choices(found.cpu().numpy(), out)


def instance_keys(pool: Pool) -> Index:
    """A number for each instance by what it is: the same wherever it stands in a pool."""
    batch = pool.batch
    inputs = [f.name for f in batch.layout.stored() if f.stage is INPUT]
    keys = []
    for slot, n in enumerate(batch.n.tolist()):
        digest = hashlib.blake2b(batch.tags[slot, :n].tobytes(), digest_size=8)
        arcs = int(batch.rowptr[slot, n])
        digest.update(batch.rowptr[slot, : n + 1].tobytes())
        digest.update(batch.src[slot, :arcs].tobytes())
        for name in inputs:
            digest.update(np.ascontiguousarray(batch.read_feature(slot, name)).tobytes())
        keys.append(int.from_bytes(digest.digest(), "little", signed=True))
    return np.array(keys, np.int64)  # (I,)
