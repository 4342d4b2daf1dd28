"""Rows of values in, one result per segment (a graph, or the messages into a node) out."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class SegmentMax(torch.autograd.Function):  # type: ignore[misc]
    """The largest value per segment and channel, 0 for an empty segment.

    Ties: the first of the largest gets the whole gradient, as in the fused kernel, which
    remembers one winner per segment and channel.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, segment: Tensor, offsets: Tensor) -> Tensor:
        best = torch.segment_reduce(values, "max", offsets=offsets, axis=0, unsafe=True)
        best = best.masked_fill_((offsets[1:] == offsets[:-1])[:, None], 0.0)
        ctx.save_for_backward(values, best, segment, offsets)
        return best  # (segments, width)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        values, best, segment, offsets = ctx.saved_tensors
        if not len(values):
            return torch.zeros_like(values), None, None
        won = values == best.index_select(0, segment)
        count = won.cumsum(0, dtype=torch.int32)  # (rows, width)
        start = offsets[:-1].clamp_max(len(values) - 1)
        before = count.index_select(0, start) - won.index_select(0, start).int()
        first = won & (count - before.index_select(0, segment) == 1)
        return grads[0].index_select(0, segment) * first, None, None


def segment_mean(values: Tensor, segment: Tensor, offsets: Tensor) -> Tensor:
    """The mean per segment and channel."""  # (segments, width)
    sizes = (offsets[1:] - offsets[:-1]).clamp_min(1).to(values.dtype)
    total = values.new_zeros(len(sizes), values.shape[1]).index_add(0, segment, values)
    return total / sizes[:, None]


def segment_log_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Log-probabilities within each segment; a score of -inf has none."""  # (nodes,)
    start = scores.new_full((segments,), -torch.inf)
    top = start.scatter_reduce(0, segment, scores.detach(), "amax")
    # A graph without a legal node has no distribution: all of it stays -inf, without NaN.
    shifted = scores - top.nan_to_num(neginf=0.0)[segment]
    total = scores.new_zeros(segments).index_add(0, segment, shifted.exp())
    return shifted - total.clamp_min(1e-30).log()[segment]


def segment_argmax(scores: Tensor, segment: Tensor, offsets: Tensor) -> Tensor:
    """The place of the best score within each segment, the first of several.

    -1 where every score is -inf.
    """  # (segments,)
    segments = len(offsets) - 1
    top = scores.new_full((segments,), -torch.inf).scatter_reduce(0, segment, scores, "amax")
    winners = ((scores == top[segment]) & (scores > -torch.inf)).nonzero().flatten()
    first = torch.searchsorted(segment[winners], torch.arange(segments, device=scores.device))
    places = winners[first.clamp_max(max(len(winners) - 1, 0))] if len(winners) else first
    return torch.where(top > -torch.inf, places - offsets[:-1], -1)


def segment_sample(scores: Tensor, segment: Tensor, offsets: Tensor, uniform: Tensor) -> Tensor:
    """A place within each segment drawn by softmax of the scores, -1 where all are -inf.

    `uniform` (segments,) holds one number in [0, 1) per segment, so that whoever draws them
    decides which stream a segment's choice comes from.
    """  # (segments,)
    segments = len(offsets) - 1
    chance = segment_log_softmax(scores.double(), segment, segments).exp()
    upto = torch.cat([chance.new_zeros(1), chance.cumsum(0)])  # (nodes + 1,)
    low, high = upto[offsets[:-1]], upto[offsets[1:]]
    wanted = low + uniform.to(upto) * (high - low)
    # The last place with a chance ends exactly at `high`: rounding must not step over it.
    wanted = torch.minimum(wanted, torch.nextafter(high, low))
    places = torch.searchsorted(upto[1:], wanted, right=True) - offsets[:-1]
    return torch.where(high > low, places, -1)
