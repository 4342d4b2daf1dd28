"""Node embeddings in, their maximum per graph or distances to a point of it out, compiled."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnarl_runtime.network.fused.kernel_library import loaded, refuse_second_order


def fused_largest(values: Tensor, offsets: Tensor) -> Tensor:
    """The largest value per segment and channel, as SegmentMax."""  # (segments, width)
    best: Tensor = FusedLargest.apply(values, offsets)
    return best


class FusedLargest(torch.autograd.Function):  # type: ignore[misc]
    """SegmentMax of segments.py by the kernel, with its gradient."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        values, offsets = values.contiguous(), offsets.contiguous()
        best = values.new_empty(len(offsets) - 1, values.shape[1])
        winner = torch.empty(best.shape, dtype=torch.int32)
        loaded().largest(*best.shape, *_addresses(offsets, values, best, winner))
        ctx.rows = len(values)
        ctx.save_for_backward(winner)
        return best

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        refuse_second_order()
        (winner,) = ctx.saved_tensors
        slope = slopes[0].contiguous()
        into = slope.new_zeros(ctx.rows, winner.shape[1])
        loaded().largest_backward(*winner.shape, *_addresses(slope, winner, into))
        return into, None


def fused_distances(rows: Tensor, points: Tensor, offsets: Tensor, least: float) -> Tensor:
    """Of each row to the point (segments, width) of its segment; `least` as in C."""  # (rows,)
    found: Tensor = FusedDistances.apply(rows, points, offsets, least)
    return found


class FusedDistances(torch.autograd.Function):  # type: ignore[misc]
    """Euclidean distances, with their gradients."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, points: Tensor, offsets: Tensor, least: float) -> Tensor:
        rows, points, offsets = rows.contiguous(), points.contiguous(), offsets.contiguous()
        out = rows.new_empty(len(rows))
        loaded().distances(*points.shape, *_addresses(offsets, rows, points), least, out.data_ptr())
        ctx.save_for_backward(rows, points, offsets, out)
        return out

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, Tensor, None, None]:
        refuse_second_order()
        rows, points, offsets, out = ctx.saved_tensors
        slope = slopes[0].contiguous()
        into = torch.empty_like(rows), torch.zeros_like(points)
        tables = _addresses(offsets, rows, points, out, slope, *into)
        loaded().distances_backward(*points.shape, *tables)
        return *into, None, None


def _addresses(*tensors: Tensor) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]
