"""A failure in, whether generated code, run uncompiled, departs from the interpreter out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import IllegalPick, SpecRunError, State
from gnarl_compiler.support.endings import RUNNING, TERMINATED, TRUNCATED, SpecFault
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.checks.explore.artifacts import artifact_of, batch_for, instance_pool
from gnarl_runtime.checks.findings.findings import Failure

_SLOT = np.zeros(1, np.int64)
_ENDED = {None: RUNNING, "terminated": TERMINATED, "truncated": TRUNCATED}


def backend_differs(problem: Problem, failure: Failure) -> bool:
    """Whether masks, states, rewards, endings or experts differ anywhere along the picks."""
    game = Interpreter(problem)
    artifact = artifact_of(problem, jit=False)
    pool = instance_pool(problem, artifact, [failure.instance])
    kernels = Kernels(artifact, batch_for(pool, [0]))
    rewards = np.zeros(1)
    try:
        state = game.reset(failure.instance)
        with np.errstate(all="ignore"):
            kernels.run("reset", _SLOT, kernels.fault)
            for pick in failure.picks:
                if kernels.fault[0] > 0 or not _same(game, state, kernels):
                    return True
                move = game.step(state, pick)
                kernels.run("step", np.array([pick]), rewards, kernels.fault)
                if move.reward != rewards[0]:
                    return True
                state = move.state
            return bool(kernels.fault[0] > 0) or not _same(game, state, kernels)
    except (SpecRunError, SpecFault, IllegalPick):
        return False


def _same(game: Interpreter, state: State, kernels: Kernels) -> bool:
    batch, n = kernels.batch, state.n
    seen = (batch.ended[0], batch.phase[0], batch.rounds[0], tuple(batch.last[0]))
    if seen != (_ENDED[state.ended], state.phase, state.rounds, state.last):
        return False
    if not np.array_equal(batch.legal[0, :n], game.mask(state)):
        return False
    return (
        np.array_equal(batch.read_adjacency(0), state.adjacency)
        and _same_features(game, state, kernels)
        and all(_same_expert(game, state, kernels, e.name) for e in game.problem.experts)
        and _same_values(game, state, kernels)
    )


def _same_features(game: Interpreter, state: State, kernels: Kernels) -> bool:
    kernels.run("observe", _SLOT, np.zeros(1, np.int32))
    seen = game.observation(state)
    return all(np.array_equal(kernels.batch.read_feature(0, k), v) for k, v in seen.items())


def _same_expert(game: Interpreter, state: State, kernels: Kernels, name: str) -> bool:
    out = np.zeros(kernels.batch.legal.shape)
    kernels.run(Role.EXPERT.of(name), _SLOT, out)
    return np.array_equal(out[0, : state.n], game.expert(state, name))


def _same_values(game: Interpreter, state: State, kernels: Kernels) -> bool:
    problem = game.problem
    found: dict[str, float] = {
        Role.OBJECTIVE.of(o.name): game.objective(state, o.name) for o in problem.objectives
    }
    if problem.correct is not None:
        found[Role.JUDGE.of("correct")] = game.correct(state)
    if problem.valid is not None:
        found[Role.JUDGE.of("valid")] = game.valid(state)
    return all(_value(kernels, name) == value for name, value in found.items())


def _value(kernels: Kernels, kernel: str) -> float:
    out: NDArray[np.float64] = np.zeros(1)
    kernels.run(kernel, _SLOT, out)
    return float(out[0])
