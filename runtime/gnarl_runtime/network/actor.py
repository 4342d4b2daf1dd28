"""Node embeddings and a pooled one go in, scores of nodes and a value per graph come out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnarl_runtime.network.fused.pooled_kernel import fused_distances, fused_largest
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import Kernel, requested_kernel, use_fused
from gnarl_runtime.network.policy_config import Actor, Pooling
from gnarl_runtime.network.segments import SegmentMax, segment_mean

LEAST = 1e-12  # the root has no slope at 0, where a node and its proto-action meet


class Pool(nn.Module):  # type: ignore[misc]
    """One embedding per graph from those of its nodes."""

    def __init__(self, kind: Pooling) -> None:
        super().__init__()
        self.kind = kind
        self.kernel: Kernel = requested_kernel()

    def forward(self, h: Tensor, graphs: Graphs) -> Tensor:
        """The largest or the mean per channel."""  # (graphs, width)
        if self.kind == "mean":
            return segment_mean(h, graphs.graph, graphs.offsets)
        if use_fused(self.kernel, h):
            return fused_largest(h, graphs.offsets)
        best: Tensor = SegmentMax.apply(h, graphs.graph, graphs.offsets)
        return best


class ProtoActor(nn.Module):  # type: ignore[misc]
    """Nodes score by closeness to a proto-action (the paper, App. A.1), or by their product."""

    def __init__(self, width: int, kind: Actor = "distance") -> None:
        super().__init__()
        self.kind = kind
        self.proto_action = nn.Linear(width, width)
        self.log_temperature = nn.Parameter(torch.zeros(()))
        self.kernel: Kernel = requested_kernel()

    def forward(self, h: Tensor, pooled: Tensor, graphs: Graphs) -> Tensor:
        """Minus the distance, or the product, in units of the learned temperature."""  # (nodes,)
        wanted = self.proto_action(pooled)
        if self.kind == "product":
            score = (h * wanted.index_select(0, graphs.graph)).sum(1) * h.shape[1] ** -0.5
        else:
            score = -self.distance(h, wanted, graphs)
        return score * torch.exp(-self.log_temperature)

    def distance(self, h: Tensor, wanted: Tensor, graphs: Graphs) -> Tensor:
        """Of each node to the point (graphs, width) of its graph."""  # (nodes,)
        if use_fused(self.kernel, h):
            return fused_distances(h, wanted, graphs.offsets, LEAST)
        gap = h - wanted.index_select(0, graphs.graph)
        return gap.square().sum(1).add(LEAST).sqrt()


class Stopper(nn.Module):  # type: ignore[misc]
    """The score of ending the episode, from the pooled embedding; at first as a node at 0."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, pooled: Tensor) -> Tensor:
        scores: Tensor = self.layers(pooled)
        return scores.squeeze(1)  # (graphs,)


class Critic(nn.Module):  # type: ignore[misc]
    """An estimate of the return from the pooled embedding; the paper gives it no size."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, pooled: Tensor) -> Tensor:
        values: Tensor = self.layers(pooled)
        return values.squeeze(1)  # (graphs,)
