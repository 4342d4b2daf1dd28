"""Projections of nodes and the weights of a message network in, what every node hears out.

A message from u to v is a network applied to (v, u, edge, graph). Its first layer is linear,
so it splits: `projected` holds what v and u contribute, computed once per node; raw edge
columns contribute through a matrix with one row each. All ways to compute the rest agree:

    hidden = relu(receiver[v] + sender[u] + edge_raw @ edge)
    max:  layers with a relu between them, then the largest per channel
    sum:  layers with a relu after each, then the sum (the last layer commutes with it, and is
          the caller's)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy_config import Aggregation, require_one_of

Kernel = Literal["auto", "torch", "fused"]
VARIABLE = "GNARL_KERNEL"


@dataclass(frozen=True, eq=False)
class MessageWeights:
    """A message network without the part of its first layer that nodes have."""

    edge: Tensor  # (columns, width)
    layers: tuple[tuple[Tensor, Tensor], ...]  # weight (width, width), bias (width,)
    aggregation: Aggregation


# projected (nodes, 2 * width): what a node contributes as receiver, then as sender
Messages = Callable[[Tensor, MessageWeights, Graphs], Tensor]


def requested_kernel() -> Kernel:
    """What GNARL_KERNEL asks for; `auto` if it is not set."""
    asked = os.environ.get(VARIABLE) or "auto"
    require_one_of(f"the environment variable {VARIABLE}", asked, ("auto", "torch", "fused"))
    kernel: Kernel = "auto" if asked == "auto" else "torch" if asked == "torch" else "fused"
    return kernel


def use_fused(kernel: Kernel, values: Tensor) -> bool:
    """Whether the fused kernel works on such values (rows, width); raises if it must and cannot."""
    if kernel == "torch":
        return False
    from gnarl_runtime.network.fused.kernel_library import obstacle

    found = obstacle(values)
    if found is not None and kernel == "fused":
        raise RuntimeError(f"{VARIABLE}=fused: {found}; likely fix: unset {VARIABLE}")
    return found is None


def choose_messages(kernel: Kernel, projected: Tensor) -> Messages:
    """The fused kernel where it works and nobody asked otherwise, the torch path elsewhere."""
    if use_fused(kernel, projected[:, : projected.shape[1] // 2]):
        from gnarl_runtime.network.fused.message_kernel import fused_messages

        return fused_messages
    # torch_geometric takes seconds to import, which the fused kernel need not wait for.
    from gnarl_runtime.network.messages_torch import torch_messages

    return torch_messages
