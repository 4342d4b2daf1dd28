"""Log-probabilities of picks and an expert's distribution in, how far apart they are out."""

from __future__ import annotations

from typing import Literal, assert_never

import torch
from torch import Tensor

from gnarl_runtime.batch.pack import Packed

Kind = Literal["set", "kl", "ce"]


def imitation_loss(
    kind: Kind, log_chance: Tensor, label: Tensor, packed: Packed
) -> tuple[Tensor, int]:
    """The mean over labelled graphs, and their number; a graph without a label weighs nothing.

    `set`: -log of the probability of picking any of the expert's nodes. `kl`: the policy's
    divergence from the expert's distribution. `ce`: the same without the expert's entropy.
    """
    meant = label > 0  # (choices,)
    graph = torch.from_numpy(packed.choice_graph).to(label.device)[meant]
    wanted, chance = label[meant].to(log_chance), log_chance[meant]
    labelled = int(torch.unique_consecutive(graph).numel())
    match kind:
        case "set":
            total = _log_sums(chance, graph, packed.graphs)
            loss = -total[torch.unique_consecutive(graph)].sum()
        case "kl":
            loss = (wanted * (wanted.log() - chance)).sum()
        case "ce":
            loss = -(wanted * chance).sum()
        case _:
            assert_never(kind)
    return loss / max(labelled, 1), labelled


def _log_sums(values: Tensor, segment: Tensor, segments: int) -> Tensor:
    """log(sum(exp(values))) per segment, -inf for an empty one."""  # (segments,)
    start = values.new_full((segments,), -torch.inf)
    top = start.scatter_reduce(0, segment, values.detach(), "amax").nan_to_num(neginf=0.0)
    total = values.new_zeros(segments).index_add(0, segment, (values - top[segment]).exp())
    return total.log() + top
