"""A problem in, a native Gymnasium vector environment out: many graphs in one call."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from gnarl_compiler.support.endings import TERMINATED, TRUNCATED
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.actions import checked_actions
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.final_observations import final_observations
from gnarl_runtime.envs.interpreted import illegal_pick
from gnarl_runtime.envs.observations import Observation, live_views, observation_space, steady_names

Info = dict[str, Any]
_NONE = np.zeros(0, np.int64)


class GraphVectorEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """Finished episodes restart in the same step; their last observation is in the info.

    `copy=False` returns live arrays that the next step overwrites: the fastest way, for
    clients that are done with an observation before they step. Otherwise an observation stays
    as it is; what only a reset can change (inputs, edges) is copied at resets, and read-only.
    """

    def __init__(
        self, engine: Engine, illegal: Literal["raise", "end"] = "raise", copy: bool = True
    ) -> None:
        if illegal not in ("raise", "end"):
            raise UsageError(f'illegal must be "raise" or "end", found {illegal!r}')
        layout = engine.batch.layout
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        self.engine, self.illegal, self.copy = engine, illegal, copy
        self.num_envs = engine.slots
        self.single_observation_space = observation_space(layout)
        self.single_action_space = spaces.Discrete(layout.choices)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._views = live_views(engine)
        self._steady = steady_names(engine)
        self._since_reset: Observation = {}  # copies of the steady ones
        self.max_nodes = layout.nodes

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_views", "_since_reset")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._views, self._since_reset = live_views(self.engine), {}

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, Info]:
        """Start every episode anew; a seed also restarts the order of instances."""
        if isinstance(seed, list):
            raise ValueError("this vector environment takes one seed for all, not a list")
        super().reset(seed=seed)
        if seed is not None:
            self.engine.seed(seed)
        self.engine.reset()
        self._since_reset = {}
        return self._observation(), self._info()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """One pick per environment."""
        engine = self.engine
        picks = checked_actions(actions, self.num_envs)
        illegal = engine.step(picks)
        ended = engine.batch.ended
        wrong = engine.kernels.illegal() if illegal else _NONE
        if illegal:
            self._end_illegal(wrong, picks)
        terminated, truncated = ended == TERMINATED, ended == TRUNCATED
        rewards = engine.rewards.copy()
        finished = engine.finished()
        extra = self._restart(finished, wrong) if len(finished) else {}
        return self._observation(), rewards, terminated, truncated, {**self._info(), **extra}

    def expert(self, name: str | None = None) -> NDArray[np.float64]:
        """The expert's distribution (num_envs, actions) in the current states."""
        return self.engine.expert(name)

    def action_masks(self) -> NDArray[np.bool_]:
        return self.engine.batch.legal.copy()

    # Parts

    def _end_illegal(self, wrong: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        if self.illegal == "raise":
            slot = int(wrong[0])
            raise illegal_pick(self.engine.batch, slot, int(actions[slot]))
        self.engine.batch.ended[wrong] = TERMINATED

    def _restart(self, finished: NDArray[np.int64], wrong: NDArray[np.int64]) -> Info:
        """Final observations and judgements of the finished episodes, then new ones."""
        engine = self.engine
        final = final_observations(self._views, finished, self.num_envs)
        mask = np.zeros(self.num_envs, np.bool_)
        mask[finished] = True
        illegal = np.zeros(self.num_envs, np.bool_)
        illegal[wrong] = True
        facts = {
            "correct": engine.judge("correct", finished) & ~illegal,
            "valid": engine.judge("valid", finished) & ~illegal,
            "rounds": np.where(mask, engine.batch.rounds, 0),
            "illegal": illegal,
        }
        info = {**facts, **{f"_{name}": mask for name in facts}}
        engine.reset(finished)
        self._since_reset = {}
        extra = {"final_obs": final, "_final_obs": mask, "final_info": info, "_final_info": mask}
        return {**extra, "illegal": illegal} if len(wrong) else extra

    def _observation(self) -> Observation:
        if not self.copy:
            return self._views
        if not self._since_reset:
            self._since_reset = {name: self._views[name].copy() for name in self._steady}
            for values in self._since_reset.values():
                values.setflags(write=False)
        kept = self._since_reset
        return {n: kept[n] if n in kept else view.copy() for n, view in self._views.items()}

    def _info(self) -> Info:
        legal = self.engine.batch.legal
        return {"action_mask": legal.copy() if self.copy else legal}
