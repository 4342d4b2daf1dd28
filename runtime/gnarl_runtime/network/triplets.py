"""Encodings go in, node embeddings come out: messages that also know of third nodes.

As the TripletMPNN of Ibarz et al. (2022): for every message j → i a few numbers are computed with
each node k of the graph, from the embeddings of the three and the encodings between them, and the
largest over all k are part of the message. The cost grows with the cube of the nodes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gnarl_runtime.network.encoder import Encoded
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy_config import PolicyConfig

FEW = 8  # numbers per triplet


class Triplets(nn.Module):  # type: ignore[misc]
    """Rounds of messages with triplets; `aggregation` has no meaning here: it is max."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.rounds = nn.ModuleList(TripletRound(config.width) for _ in range(config.rounds))
        self.norms = nn.ModuleList(
            nn.LayerNorm(config.width) if config.layer_norm else nn.Identity() for _ in self.rounds
        )

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        edges, h = encoded.edge.dense(), encoded.node.dense()
        context = encoded.graph.dense().index_select(0, graphs.graph)
        for layer, norm in zip(self.rounds, self.norms, strict=True):
            h = norm(layer(h + context, edges, graphs))
        return h  # (nodes, width)


class TripletRound(nn.Module):  # type: ignore[misc]
    """One round: what is between two nodes by way of a third, then messages."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.nodes = nn.Linear(width, 3 * FEW)  # of i, j and k
        self.ways = nn.Linear(width, 3 * FEW, bias=False)  # j → i, j → k and k → i
        self.third = nn.Linear(FEW, width)
        self.sender, self.receiver = nn.Linear(width, width), nn.Linear(width, width)
        self.along = nn.Linear(width, width)
        self.message = nn.Linear(width, width)
        self.own, self.heard = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h: Tensor, edges: Tensor, graphs: Graphs) -> Tensor:
        third = torch.relu(self.third(self._largest(h, edges, graphs)))  # (messages, width)
        ends = self.sender(h)[graphs.src] + self.receiver(h)[graphs.dst]
        told = torch.relu(self.message(torch.relu(ends + self.along(edges) + third)))
        heard = torch.zeros_like(h)  # nothing that is told is below 0
        at = graphs.dst[:, None].expand_as(told)
        heard = heard.scatter_reduce(0, at, told, "amax")
        return torch.relu(self.own(h) + self.heard(heard))

    def _largest(self, h: Tensor, edges: Tensor, graphs: Graphs) -> Tensor:
        """The largest over all k of what j, i and k come to, per message."""  # (messages, FEW)
        place = torch.arange(graphs.nodes, device=h.device) - graphs.offsets[graphs.graph]
        most = int((graphs.offsets[1:] - graphs.offsets[:-1]).max())
        here, j, i = graphs.graph[graphs.dst], place[graphs.src], place[graphs.dst]
        nodes = h.new_zeros(graphs.count, most, 3 * FEW)
        nodes[graphs.graph, place] = self.nodes(h)
        ways = h.new_zeros(graphs.count, most, most, 3 * FEW)
        ways[here, j, i] = self.ways(edges)
        direct, first, second = ways.split(FEW, dim=-1)
        to, by, via = nodes.split(FEW, dim=-1)
        absent = h.new_full((graphs.count, most), -torch.inf)
        absent[graphs.graph, place] = 0.0
        # (graphs, j, i, k, FEW) would be too large at once: a graph at a time.
        found = [
            (
                first[g][:, None]
                + second[g].transpose(0, 1)[None]
                + (via[g] + absent[g][:, None])[None, None]
            ).amax(2)
            for g in range(graphs.count)
        ]
        largest = torch.stack(found) + direct + by[:, :, None] + to[:, None]
        return largest[here, j, i]
