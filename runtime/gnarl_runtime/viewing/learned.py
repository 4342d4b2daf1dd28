"""A trained policy goes in, a Chooser that asks it about states of the interpreter comes out."""

from __future__ import annotations

import numpy as np
import torch

from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.network.policy import Policy, log_chances, verify_numbers
from gnarl_runtime.viewing.choosers import Chances, Chooser


def learned_chooser(policy: Policy, problem: Problem, nodes: int) -> Chooser:
    """The policy on graphs of so many nodes; it takes its best pick, as in an evaluation."""
    batch = Batch.allocate(layout_of(problem, 1, nodes))

    def chances(state: State) -> Chances:
        load_state(batch, 0, state)
        packed = pack(batch, [0], policy.signature)
        with torch.inference_mode():
            output = policy(packed)
            verify_numbers(output)
            logs = log_chances(output, packed)
        found: Chances = np.zeros((1, batch.layout.choices))
        packed.spread_choices(logs.double().exp().cpu().numpy(), found)
        ends = found[0, nodes:]
        return np.concatenate([found[0, : state.n], ends])

    return Chooser("trained policy", chances, best=True)
