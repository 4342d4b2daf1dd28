"""The message network by a compiled kernel: same values and gradients as the torch path.

Written in C rather than Numba by measurement: docs/kernel.md has the figures.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnarl_runtime.network.fused.kernel_library import (
    Gradients,
    Network,
    loaded,
    refuse_second_order,
)
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import MessageWeights


def fused_messages(
    projected: Tensor, weights: MessageWeights, graphs: Graphs, variant: str | None = None
) -> Tensor:
    """What every node hears."""  # (nodes, width)
    tensors = [tensor for layer in weights.layers for tensor in layer]
    is_max = weights.aggregation == "max"
    learning = torch.is_grad_enabled() and any(
        tensor.requires_grad for tensor in (projected, weights.edge, *tensors)
    )
    if learning:
        heard: Tensor = FusedMessages.apply(
            graphs, is_max, variant, projected, weights.edge, *tensors
        )
        return heard
    return KernelCall(graphs, is_max, variant, projected, weights.edge, tensors).hear(False)[0]


class FusedMessages(torch.autograd.Function):  # type: ignore[misc]
    """The kernel with its gradients. Not differentiable twice."""

    @staticmethod
    def forward(
        ctx: Any,
        graphs: Graphs,
        is_max: bool,
        variant: str | None,
        projected: Tensor,
        edge: Tensor,
        *layers: Tensor,
    ) -> Tensor:
        heard, winner = KernelCall(graphs, is_max, variant, projected, edge, layers).hear(is_max)
        ctx.fixed = graphs, is_max, variant
        ctx.save_for_backward(projected, edge, *layers, *([] if winner is None else [winner]))
        return heard

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Any, ...]:
        refuse_second_order()
        graphs, is_max, variant = ctx.fixed
        saved = ctx.saved_tensors
        winner = saved[-1] if is_max else None
        projected, edge, *layers = saved[:-1] if is_max else saved
        call = KernelCall(graphs, is_max, variant, projected, edge, layers)
        return (None, None, None, *call.gradients(slopes[0], winner))


class KernelCall:
    """One use of the kernel: keeps the tensors whose addresses it has passed on."""

    def __init__(
        self,
        graphs: Graphs,
        is_max: bool,
        variant: str | None,
        projected: Tensor,
        edge: Tensor,
        layers: Any,
    ) -> None:
        self.library, self.is_max = loaded(variant), is_max
        if projected.stride(1) != 1:
            projected = projected.contiguous()
        self.given = [projected, edge.contiguous(), *(t.contiguous() for t in layers)]
        turned = [layer.t().contiguous() for layer in layers[::2]]
        fixed = [t.contiguous() for t in (graphs.rowptr, graphs.src, graphs.edge_raw)]
        self.kept = [*fixed, *turned]
        self.network = self._network(fixed, turned)

    def _network(self, fixed: list[Tensor], turned: list[Tensor]) -> Network:
        projected, edge, *layers = self.given
        rowptr, src, edge_raw = (tensor.data_ptr() for tensor in fixed)
        network = Network(
            nodes=len(projected),
            width=edge.shape[1],
            columns=len(edge),
            stride=projected.stride(0),
            rowptr=rowptr,
            src=src,
            projected=projected.data_ptr(),
            edge_raw=edge_raw,
            edge=edge.data_ptr(),
            is_max=int(self.is_max),
        )
        for name, weight, back, bias in zip("ab", layers[::2], turned, layers[1::2], strict=False):
            setattr(network, name, weight.data_ptr())
            setattr(network, f"{name}_turned", back.data_ptr())
            setattr(network, f"{name}_bias", bias.data_ptr())
        return network

    def hear(self, note_winners: bool) -> tuple[Tensor, Tensor | None]:
        """What nodes hear (nodes, width), and which message won each channel."""
        projected, edge = self.given[:2]
        heard = projected.new_empty(len(projected), edge.shape[1])
        winner = torch.empty(heard.shape, dtype=torch.int32) if note_winners else None
        address = None if winner is None else winner.data_ptr()
        library = self.library
        status = library.hear(self.network, heard.data_ptr(), address, library.threads)
        require_memory(status)
        return heard, winner

    def gradients(
        self, slopes: Tensor, winner: Tensor | None, into_projected: Tensor | None = None
    ) -> list[Tensor]:
        """Gradients of all that was given, in order; that of projections in a table of theirs."""
        slopes, projected = slopes.contiguous(), self.given[0]
        if into_projected is None:
            rows, width = projected.shape
            into_projected = projected.new_empty(rows, projected.stride(0))[:, :width]
        into_projected.zero_()
        grads = [into_projected, *(torch.zeros_like(tensor) for tensor in self.given[1:])]
        names = ("projected", "edge", "a", "a_bias", "b", "b_bias")
        into = Gradients(**dict(zip(names, (g.data_ptr() for g in grads), strict=False)))
        address = None if winner is None else winner.data_ptr()
        status = self.library.hear_backward(self.network, slopes.data_ptr(), address, into)
        require_memory(status)
        return grads


def require_memory(status: int) -> None:
    if status:
        raise MemoryError("the message kernel found no memory for its scratch tables")
