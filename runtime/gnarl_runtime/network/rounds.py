"""Embeddings in, those after one round of messages out: its weights, folded, and the torch path.

The first layer of messages and a node's own share of its update are linear in the same columns,
so they are one product: receiver, sender, own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import MessageWeights


@dataclass(frozen=True, eq=False)
class NormWeights:
    """Of a layer norm."""

    gain: Tensor  # (width,)
    offset: Tensor  # (width,)
    least: float  # added to the variance


@dataclass(frozen=True, eq=False)
class RoundWeights:
    """What a round does to columns of nodes and of graphs."""

    node: Tensor  # (3 * width, columns) receiver, sender, own
    bias: Tensor  # (3 * width,)
    context: Tensor  # (graph columns, width) what they add to messages
    message: MessageWeights
    heard: Tensor  # (width, width)
    per_message: Tensor | None  # (width,) what the update gets for every message
    norm: NormWeights | None


Round = Callable[[Tensor, Tensor, RoundWeights, Graphs], Tensor]


def torch_round(nodes: Tensor, context: Tensor, weights: RoundWeights, graphs: Graphs) -> Tensor:
    """New embeddings from columns of nodes (nodes, columns) and of their graphs (nodes, H)."""
    # torch_geometric takes seconds to import, which the fused kernel need not wait for.
    from gnarl_runtime.network.messages_torch import torch_messages

    width = len(weights.heard)
    whole = torch.addmm(weights.bias, nodes, weights.node.t())  # (nodes, 3 * width)
    receiver, sender, own = whole.split(width, dim=1)
    projected = torch.cat([receiver + context @ weights.context, sender], dim=1)
    heard = torch_messages(projected, weights.message, graphs)
    update = torch.addmm(own, heard, weights.heard.t())
    if weights.per_message is not None:
        messages = graphs.rowptr.diff().to(update.dtype)  # (nodes,)
        update = update + messages[:, None] * weights.per_message
    new, norm = update.relu(), weights.norm
    if norm is None:
        return new
    return torch.nn.functional.layer_norm(new, (width,), norm.gain, norm.offset, norm.least)
