"""A problem in, a Gymnasium environment out: one graph at a time, in compiled kernels."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING, TRUNCATED
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.actions import checked_action, checked_choice
from gnarl_runtime.envs.draw_state import describe_state, draw_state
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.interpreted import illegal_pick, state_of
from gnarl_runtime.envs.observations import Observation, copies_of, live_views, observation_space

RENDER_MODES = ("ansi", "rgb_array")


class GraphEnv(gymnasium.Env[Observation, np.int64]):
    """Episodes of a problem on the instances of a pool.

    Observations and masks are fresh arrays: they belong to who asked, share nothing with others,
    and stay as they are whatever is done afterwards. `copy=False` hands out live observations,
    which the next step overwrites: for clients that are done with one before they step, or that
    copy it themselves, as stable-baselines3 does.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        engine: Engine,
        illegal: Literal["raise", "end"] = "raise",
        render_mode: str | None = None,
        copy: bool = True,
    ) -> None:
        if illegal not in ("raise", "end"):
            raise UsageError(f'illegal must be "raise" or "end", found {illegal!r}')
        if render_mode not in (None, *RENDER_MODES):
            known = " or ".join(f'"{mode}"' for mode in RENDER_MODES)
            raise UsageError(f"render_mode must be None or {known}, found {render_mode!r}")
        layout = engine.batch.layout
        self.engine, self.illegal, self.copy = engine, illegal, copy
        self.render_mode = render_mode
        self.observation_space: spaces.Dict = observation_space(layout)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(layout.choices)
        self._action = np.zeros(1, np.int64)
        self._verdict = np.zeros(1, np.bool_)
        self._running = False  # whether a step may be made
        self._started = False  # whether there is an episode to be seen
        self._look()

    @property
    def problem(self) -> Any:
        """The checked problem behind the environment."""
        return self.engine.problem

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_observation", "_reward", "_legal", "_clauses", "_play")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look()

    def _look(self) -> None:
        """The only slot's part of every array that is handed out."""
        engine = self.engine
        rows = {name: view[0] for name, view in live_views(engine).items()}
        self._observation = copies_of(rows) if self.copy else lambda: rows
        self._legal = engine.batch.legal[0]
        self._reward = engine.rewards.item
        self._play = engine.stepper(self._action, self._verdict)
        known = engine.compiled.artifact.abi.has
        self._clauses = [
            (clause, Role.JUDGE.of(clause) if known(Role.JUDGE.of(clause)) else None)
            for clause in ("correct", "valid")
        ]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; `options={"instance": k}` plays instance k of the pool."""
        super().reset(seed=seed)
        if seed is not None:
            self.engine.seed(seed)
        chosen = (options or {}).get("instance")
        if chosen is None:
            self.engine.reset()
        else:
            number = checked_choice(chosen, len(self.engine.pool), "instance")
            self.engine.load(np.zeros(1, np.int64), np.array([number], np.int64))
        self._started = True
        self._running = self.engine.batch.ended.item(0) == RUNNING
        return self._observation(), {"action_mask": self._legal.copy()}

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pick a node, or end the episode where the spec lets one: the last action."""
        if not self._running:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() before step()")
        engine, node = self.engine, action if type(action) is int else checked_action(action)
        if not 0 <= node < len(self._legal):  # beyond 64 bits, for example
            return self._illegal(node)
        self._action[0] = node
        if self._play():
            engine.kernels.raise_faults()  # unless the pick is what is wrong
            return self._illegal(node)
        info: dict[str, Any] = {"action_mask": self._legal.copy()}
        ended = engine.batch.ended.item(0)
        if ended == RUNNING:
            return self._observation(), self._reward(0), False, False, info
        self._running, truncated = False, ended == TRUNCATED
        info |= {clause: self._judged(kernel) for clause, kernel in self._clauses}
        info["rounds"] = engine.batch.rounds.item(0)
        return self._observation(), self._reward(0), not truncated, truncated, info

    def _judged(self, kernel: str | None) -> bool:
        """What a clause says at the end; true if there is no such clause."""
        if kernel is None:
            return True
        self.engine.kernels.judge(kernel, self.engine.environments, self._verdict)
        return bool(self._verdict[0])

    def _illegal(self, node: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self.illegal == "raise":
            raise illegal_pick(self.engine.batch, 0, node)
        self._running = self._started = False
        mask = np.zeros_like(self.engine.batch.legal[0])
        return self._observation(), 0.0, True, False, {"action_mask": mask, "illegal": True}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions there are now, as sb3-contrib's maskable algorithms ask for it."""
        legal: NDArray[np.bool_] = self._legal.copy()  # (actions,)
        return legal

    def expert(self, name: str | None = None) -> NDArray[np.float64]:
        """The expert's distribution over actions in the current state."""
        distribution: NDArray[np.float64] = self.engine.expert(name)[0]  # (actions,)
        return distribution

    def render(self) -> Any:
        """The state as text (`ansi`) or as a picture (`rgb_array`)."""
        if self.render_mode is None or not self._started:
            return None
        state = state_of(self.engine.batch, 0)
        return describe_state(state) if self.render_mode == "ansi" else draw_state(state)
