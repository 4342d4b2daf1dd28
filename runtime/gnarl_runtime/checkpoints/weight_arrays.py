"""A network or an optimizer in, named arrays that hold its state out; and back, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gnarl_runtime.checkpoints.arrays import Arrays


def module_arrays(module: nn.Module) -> Arrays:
    """Copies of the weights by name."""
    state = module.state_dict()
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in state.items()}


def is_finite(module: nn.Module) -> bool:
    """Whether every weight is a number."""
    with torch.no_grad():
        weights = [w.detach() for w in module.parameters() if w.is_floating_point()]
        return bool(torch.stack(torch._foreach_norm(weights, math.inf)).isfinite().all())


def restore_module(module: nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put weights back; names and shapes must be those of the module."""
    module.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in arrays.items()})


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """Copies of what the optimizer remembers, as `parameter.quantity`; none before a first step."""
    return {
        f"{parameter}.{name}": np.array(torch.as_tensor(value).detach().cpu().numpy())
        for parameter, kept in optimizer.state_dict()["state"].items()
        for name, value in kept.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put back what was remembered; the settings of the optimizer stay its own."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, values in arrays.items():
        parameter, _, quantity = name.partition(".")
        state.setdefault(int(parameter), {})[quantity] = torch.from_numpy(np.array(values))
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
