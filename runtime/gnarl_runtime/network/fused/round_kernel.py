"""One round of messages by compiled kernels: same values and gradients as `torch_round`.

Products of whole tables, and what is between them in place and row by row. One table
(nodes, 3 * width) holds what messages are made of and, at last, each node's update.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnarl_runtime.network.fused.kernel_library import (
    WIDTH_STEP,
    Update,
    loaded,
    refuse_second_order,
)
from gnarl_runtime.network.fused.message_kernel import KernelCall, require_memory
from gnarl_runtime.network.fused.product_kernel import add_product, multiply
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.rounds import NormWeights, RoundWeights


@dataclass(frozen=True, eq=False)
class _Given:
    """What has no gradient."""

    context: Tensor  # (nodes, H)
    graphs: Graphs
    is_max: bool
    least: float
    variant: str | None


@dataclass(frozen=True, eq=False)
class _Made:
    """What backward needs of the way forward."""

    whole: Tensor  # (nodes, 3 * width) receiver, sender, update before its relu
    heard: Tensor  # (nodes, width)
    winner: Tensor | None  # (nodes, width)
    stats: Tensor  # (nodes, 2) of the norm


Weights = tuple[Tensor | None, ...]
# node, bias, context, edge, heard, per_message, gain, offset; then those of inner layers
BEFORE_LAYERS = 8


def fused_round(
    nodes: Tensor,
    context: Tensor,
    weights: RoundWeights,
    graphs: Graphs,
    variant: str | None = None,
) -> Tensor:
    """New embeddings from columns of nodes (nodes, columns) and of their graphs (nodes, H)."""
    is_max, norm = weights.message.aggregation == "max", weights.norm
    given = _Given(context, graphs, is_max, norm.least if norm else 0.0, variant)
    flat = _flat(weights)
    known = (nodes, *_present(flat))
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in known):
        new: Tensor = FusedRound.apply(given, nodes, *flat)
        return new
    return _forward(given, nodes, flat, learning=False)[0]


def _flat(weights: RoundWeights) -> Weights:
    """All that may have a gradient, in the order of `Weights`."""
    message = weights.message
    return (
        *(weights.node, weights.bias, weights.context, message.edge, weights.heard),
        *(weights.per_message, *_norm_tensors(weights.norm)),
        *(tensor for layer in message.layers for tensor in layer),
    )


def _norm_tensors(norm: NormWeights | None) -> tuple[Tensor | None, Tensor | None]:
    return (None, None) if norm is None else (norm.gain.contiguous(), norm.offset.contiguous())


class FusedRound(torch.autograd.Function):  # type: ignore[misc]
    """A round with its gradients. Not differentiable twice."""

    @staticmethod
    def forward(ctx: Any, given: _Given, nodes: Tensor, *weights: Tensor | None) -> Tensor:
        new, made = _forward(given, nodes, weights, learning=True)
        ctx.given = given
        ctx.save_for_backward(nodes, made.whole, made.heard, made.winner, made.stats, *weights)
        return new

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Any, ...]:
        refuse_second_order()
        nodes, whole, heard, winner, stats, *weights = ctx.saved_tensors
        made = _Made(whole, heard, winner, stats)
        return None, *_backward(
            ctx.given, nodes, tuple(weights), made, slopes[0], ctx.needs_input_grad[1]
        )


def _forward(
    given: _Given, nodes: Tensor, weights: Weights, learning: bool
) -> tuple[Tensor, _Made]:
    node, bias, context, _, heard_weight = _present(weights[:5])
    width = len(heard_weight)
    whole = nodes.new_empty(len(nodes), 3 * width)
    add_product(bias, nodes, node.t(), whole, given.variant)
    if len(context):
        whole[:, :width].addmm_(given.context, context)
    heard, winner = _messages(given, whole, weights).hear(given.is_max and learning)
    update = whole[:, 2 * width :]
    add_product(update, heard, heard_weight.t(), update, given.variant)
    new, stats = whole.new_empty(heard.shape), whole.new_empty(len(whole), 2)
    loaded(given.variant).finish(_update(given, whole, weights), stats.data_ptr(), new.data_ptr())
    return new, _Made(whole, heard, winner, stats)


def _backward(
    given: _Given,
    nodes: Tensor,
    weights: Weights,
    made: _Made,
    slopes: Tensor,
    nodes_too: bool,
) -> tuple[Tensor | None, ...]:
    """Gradients of `nodes` and of all weights, in order."""
    node, _, _, _, heard_weight = _present(weights[:5])
    width = len(heard_weight)
    into = torch.empty_like(made.whole)
    per_message, gain, offset = _finish_backward(given, made, weights, slopes.contiguous(), into)
    update = into[:, 2 * width :]  # (nodes, width) from here on a slope, as the rest of `into`
    call = _messages(given, made.whole, weights)
    heard = multiply(update, heard_weight, given.variant)
    _, edge, *layers = call.gradients(heard, made.winner, into[:, : 2 * width])
    finished = zip((per_message, gain, offset), weights[5:BEFORE_LAYERS], strict=True)
    return (
        _nodes_slope(into, node, given.variant) if nodes_too else None,
        (nodes.t() @ into).t(),  # some times faster than the other way round if columns are few
        into.sum(0),
        given.context.t() @ into[:, :width],
        edge,
        update.t() @ made.heard,
        *(slope if weight is not None else None for slope, weight in finished),
        *layers,
    )


def _nodes_slope(into: Tensor, node: Tensor, variant: str | None) -> Tensor:
    """Of embeddings, which have `width` columns, or of raw columns, if somebody wants it."""
    fits = node.shape[1] % WIDTH_STEP == 0
    return multiply(into, node, variant) if fits else into @ node


def _finish_backward(
    given: _Given, made: _Made, weights: Weights, slopes: Tensor, into: Tensor
) -> list[Tensor]:
    """Fills the last third of `into`; slopes of per_message, gain and offset."""
    update, width = _update(given, made.whole, weights), slopes.shape[1]
    sums = slopes.new_zeros(3, width)
    status = loaded(given.variant).finish_backward(
        update,
        made.stats.data_ptr(),
        slopes.data_ptr(),
        into[:, 2 * width :].data_ptr(),
        sums.data_ptr(),
    )
    require_memory(status)
    return list(sums)


def _messages(given: _Given, whole: Tensor, weights: Weights) -> KernelCall:
    edge, *layers = _present((weights[3], *weights[BEFORE_LAYERS:]))
    projected = whole[:, : 2 * edge.shape[1]]
    return KernelCall(given.graphs, given.is_max, given.variant, projected, edge, layers)


def _update(given: _Given, whole: Tensor, weights: Weights) -> Update:
    """For finish.c; the tensors must outlive the call."""
    width = whole.shape[1] // 3
    per_message, gain, offset = (
        None if tensor is None else tensor.data_ptr() for tensor in weights[5:BEFORE_LAYERS]
    )
    return Update(
        nodes=len(whole),
        width=width,
        stride=whole.stride(0),
        before=whole[:, 2 * width :].data_ptr(),
        rowptr=given.graphs.rowptr.data_ptr(),
        per_message=per_message,
        gain=gain,
        offset=offset,
        least=given.least,
    )


def _present(tensors: Weights) -> list[Tensor]:
    return [tensor for tensor in tensors if tensor is not None]
