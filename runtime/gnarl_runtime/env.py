"""A problem goes in, a Gymnasium environment comes out: one graph, one pick per step.

It runs on the interpreter and shows what the network reads (`Signature`), padded to a fixed
size so that any reinforcement-learning library can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gnarl_compiler.interpret import Interpreter
from gnarl_compiler.state import IllegalPick, State
from gnarl_dsl.model import Problem
from gnarl_runtime.batch import Batch
from gnarl_runtime.draws import Source
from gnarl_runtime.layout import BatchLayout, layout_of
from gnarl_runtime.pack import pack

Observation = dict[str, Any]  # arrays; Gymnasium's Dict spaces promise no more


@dataclass(frozen=True)
class Sizes:
    """The fixed sizes of an observation."""

    nodes: int
    messages: int


class GnarlEnv(gymnasium.Env[Observation, np.int64]):
    """Episodes of a problem on instances drawn from one of its splits, or given to `reset`.

    `illegal` says what a forbidden pick does: "raise" an error, or "end" the episode without
    a reward. Dict observations, with N and M the most nodes and messages:

        nodes       (N, F) float32   columns of `signature.node`
        node_mask   (N,)   int8      which rows of `nodes` are in use
        edges       (M, K) float32   columns of `signature.edge`
        edge_index  (2, M) int64     source and destination of each message
        edge_mask   (M,)   int8      which columns of `edge_index` are in use
        graph       (H,)   float32   columns of `signature.graph`
        action_mask (N,)   int8      which nodes may be picked
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (Gymnasium's own type)

    def __init__(
        self,
        problem: Problem,
        split: str = "train",
        instances: str | None = None,
        max_nodes: int | None = None,
        reward: str | None = None,
        illegal: Literal["raise", "end"] = "raise",
        render_mode: str | None = None,
    ) -> None:
        if illegal not in ("raise", "end"):
            raise ValueError(f'illegal must be "raise" or "end", found {illegal!r}')
        if render_mode not in (None, "ansi"):
            raise ValueError(f'render_mode must be None or "ansi", found {render_mode!r}')
        self.problem, self.illegal, self.render_mode = problem, illegal, render_mode
        self.game = Interpreter(problem, reward)
        self.source = Source(problem, split, instances)
        nodes = self.source.largest() if max_nodes is None else max_nodes
        self.batch = Batch.allocate(layout_of(problem, 1, nodes))
        self.signature = self.batch.layout.signature
        self.sizes = Sizes(nodes, most_messages(self.batch.layout))
        self.observation_space = self._space()
        self.action_space = spaces.Discrete(nodes)
        self.episodes = 0
        self.state: State | None = None
        self.over = False  # by a forbidden pick, which leaves the state as it was

    def _space(self) -> spaces.Dict:
        nodes, messages, columns = self.sizes.nodes, self.sizes.messages, self.signature
        return spaces.Dict(
            {
                "nodes": _numbers(nodes, len(columns.node)),
                "node_mask": spaces.MultiBinary(nodes),
                "edges": _numbers(messages, len(columns.edge)),
                "edge_index": spaces.Box(0, nodes - 1, (2, messages), np.int64),
                "edge_mask": spaces.MultiBinary(messages),
                "graph": _numbers(len(columns.graph)),
                "action_mask": spaces.MultiBinary(nodes),
            }
        )

    # The Gymnasium interface

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; `options={"instance": …}` plays that one instead of drawing."""
        super().reset(seed=seed)
        if seed is not None:
            self.episodes = 0
        instance = (options or {}).get("instance")
        if instance is None:
            # The next of the seed's: the same whatever was picked in earlier episodes.
            instance = self.source.draw(self.np_random_seed, self.episodes)
            self.episodes += 1
        self.state, self.over = self.game.reset(instance), False
        self.batch.load_state(0, self.state)
        return self._observation(), self._info({})

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pick a node; a dead end, where nothing can be picked, also terminates."""
        state = self._running()
        try:
            move = self.game.step(state, int(action))
        except IllegalPick:
            if self.illegal == "raise":
                raise
            self.over = True
            self.batch.legal[0] = False
            return self._observation(), 0.0, True, False, self._info({"illegal": True})
        self.state = move.state
        self.batch.load_state(0, move.state)
        truncated = move.state.ended == "truncated"
        terminated = not truncated and not self.batch.legal[0].any()
        info = self._result(move.state) if terminated or truncated else {}
        return self._observation(), move.reward, terminated, truncated, self._info(info)

    def action_masks(self) -> NDArray[np.bool_]:
        """Which nodes may be picked now, as sb3-contrib's maskable algorithms ask for it."""
        return np.array(self.batch.legal[0])  # (N,)

    def render(self) -> str | None:
        """The state as text."""
        if self.render_mode is None:
            return None
        return "no episode" if self.state is None else describe_state(self.state, self.game)

    # Parts

    def _running(self) -> State:
        if self.state is None or self.over or self.state.ended is not None:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() before step()")
        return self.state

    def _result(self, state: State) -> dict[str, Any]:
        return {
            "correct": self.game.correct(state),
            "valid": self.game.valid(state),
            "dead_end": state.ended is None,
        }

    def _info(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), **extra}

    def _observation(self) -> Observation:
        packed, sizes = pack(self.batch, [0]), self.sizes
        ends = np.stack([packed.src, packed.dst])  # (2, messages)
        return {
            "nodes": _padded(packed.x, sizes.nodes),
            "node_mask": _padded(np.ones(len(packed.x), np.int8), sizes.nodes),
            "edges": _padded(packed.edge_raw, sizes.messages),
            "edge_index": _padded(ends.T, sizes.messages).T.copy(),
            "edge_mask": _padded(np.ones(len(packed.src), np.int8), sizes.messages),
            "graph": packed.graph_raw[0],
            "action_mask": self.batch.legal[0].astype(np.int8),
        }


def most_messages(layout: BatchLayout) -> int:
    """The most messages that a graph of this layout can have."""
    nodes, arcs = layout.nodes, 2 * layout.edges
    if layout.signature.all_pairs:
        return nodes * nodes
    return min(nodes * nodes, arcs + nodes + 2 * nodes * len(layout.signature.pointers))


def _numbers(*shape: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def _padded(values: NDArray[Any], length: int) -> NDArray[Any]:
    """The same rows followed by rows of zeros."""
    room = np.zeros((length, *values.shape[1:]), values.dtype)
    room[: len(values)] = values
    return room


def describe_state(state: State, game: Interpreter) -> str:
    """A state in a few lines: where the episode stands, then every observed feature."""
    phases = game.problem.phases
    standing = state.ended or f"phase {phases[state.phase].name}"
    last = ", ".join(
        f"{phase.name} {'-' if node < 0 else node}"
        for phase, node in zip(phases, state.last, strict=True)
    )
    head = f"{game.problem.name}: {state.n} nodes, round {state.rounds}, {standing}; last: {last}"
    values = game.observation(state)
    lines = [f"  {name} = {_short(values[name])}" for name in values if values[name].ndim < 2]
    return "\n".join([head, *lines])


def _short(values: NDArray[Any]) -> str:
    if values.dtype == np.bool_ and values.ndim:
        return "{" + ", ".join(str(v) for v in np.flatnonzero(values)) + "}"
    return np.array2string(values, precision=3, separator=", ", max_line_width=10**6)
