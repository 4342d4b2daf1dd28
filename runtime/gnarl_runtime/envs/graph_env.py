"""A problem in, a Gymnasium environment out: one graph at a time, in compiled kernels."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gnarl_compiler.support.endings import ILLEGAL, RUNNING, TRUNCATED
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.actions import checked_action, checked_choice
from gnarl_runtime.envs.draw_state import describe_state, draw_state
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.interpreted import illegal_pick, state_of
from gnarl_runtime.envs.observations import Observation, live_views, observation_space

RENDER_MODES = ("ansi", "rgb_array")


class GraphEnv(gymnasium.Env[Observation, np.int64]):
    """Episodes of a problem on the instances of a pool; observations are always fresh arrays."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        engine: Engine,
        illegal: Literal["raise", "end"] = "raise",
        render_mode: str | None = None,
    ) -> None:
        if illegal not in ("raise", "end"):
            raise UsageError(f'illegal must be "raise" or "end", found {illegal!r}')
        if render_mode not in (None, *RENDER_MODES):
            known = " or ".join(f'"{mode}"' for mode in RENDER_MODES)
            raise UsageError(f"render_mode must be None or {known}, found {render_mode!r}")
        layout = engine.batch.layout
        self.engine, self.illegal, self.render_mode = engine, illegal, render_mode
        self.observation_space: spaces.Dict = observation_space(layout)  # type: ignore[assignment]
        self.action_space = spaces.Discrete(layout.choices)
        self._rows = _rows(engine)
        self._action = np.zeros(1, np.int64)
        self._started = False

    @property
    def problem(self) -> Any:
        """The checked problem behind the environment."""
        return self.engine.problem

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._rows = _rows(self.engine)

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
        return self._observation(), {"action_mask": self.action_masks()}

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pick a node, or end the episode where the spec lets one: the last action."""
        engine, batch = self.engine, self.engine.batch
        if not self._started or batch.ended[0] != RUNNING:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() before step()")
        node = checked_action(action)
        if not 0 <= node < batch.layout.choices:  # beyond 64 bits, for example
            return self._illegal(node)
        self._action[0] = node
        engine.step(self._action)
        if engine.kernels.fault[0] == ILLEGAL:
            return self._illegal(node)
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        ended = int(batch.ended[0])
        if ended != RUNNING:
            only = engine.environments
            info |= {word: bool(engine.judge(word, only)[0]) for word in ("correct", "valid")}
            info["rounds"] = int(batch.rounds[0])
        truncated = ended == TRUNCATED
        reward = float(engine.rewards[0])
        return self._observation(), reward, ended != RUNNING and not truncated, truncated, info

    def _illegal(self, node: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self.illegal == "raise":
            raise illegal_pick(self.engine.batch, 0, node)
        self._started = False
        mask = np.zeros_like(self.engine.batch.legal[0])
        return self._observation(), 0.0, True, False, {"action_mask": mask, "illegal": True}

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions there are now, as sb3-contrib's maskable algorithms ask for it."""
        legal: NDArray[np.bool_] = self.engine.batch.legal[0].copy()  # (actions,)
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

    def _observation(self) -> Observation:
        return {name: row.copy() for name, row in self._rows.items()}


def _rows(engine: Engine) -> Observation:
    """The only slot's part of every array of an observation."""
    return {name: view[0] for name, view in live_views(engine).items()}
