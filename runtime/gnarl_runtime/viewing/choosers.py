"""A state goes in, how likely each node is to be picked comes out: expert or chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_compiler.interpret.trace import expert_policy, random_policy

Chances = NDArray[np.float64]  # (nodes,) they add up to 1, or are all 0: nothing to pick


@dataclass(frozen=True)
class Chooser:
    """Somebody who picks nodes; with `best` always a likeliest one, else as the chances say."""

    label: str
    chances: Callable[[State], Chances]
    best: bool = False
    expert: str | None = None  # its name in the spec, if it is one

    def odds(self, chances: Chances) -> Chances:
        """What the pick is drawn from."""
        if not self.best or not chances.any():
            return chances
        certain = np.zeros(len(chances))
        certain[chances.argmax()] = 1.0
        return certain


def expert_chooser(game: Interpreter, name: str | None) -> Chooser:
    """The named expert of the spec, or its first."""
    expert = game.problem.expert(name)
    return Chooser(f"expert {expert.name}", expert_policy(game, expert.name), expert=expert.name)


def random_chooser(game: Interpreter) -> Chooser:
    return Chooser("random picks", random_policy(game))
