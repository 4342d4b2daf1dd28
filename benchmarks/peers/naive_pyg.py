"""The same policy as a torch_geometric user would write it: what the fused kernel is measured by.

Encodings are multiplied out, a message is a network on the concatenation of both ends and the
edge, and the library aggregates. Weights are copied from ours, so results must agree.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing, global_max_pool
from torch_geometric.utils import scatter

from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy import Policy


class NaiveRound(MessagePassing):  # type: ignore[misc]
    """One round of messages with max or sum aggregation."""

    def __init__(self, ours: Any) -> None:
        super().__init__(aggr=ours.aggregation)
        width = ours.own.in_features
        self.first = nn.Linear(3 * width, width)
        self.context = nn.Linear(width, width, bias=False)
        self.own, self.heard, self.message_layers = ours.own, ours.heard, ours.message
        self.norm = ours.norm
        ends = [*ours.project.weight.chunk(2), ours.edge.weight]
        with torch.no_grad():
            self.first.weight.copy_(torch.cat(ends, dim=1))
            self.first.bias.copy_(sum(ours.project.bias.chunk(2)))
            self.context.weight.copy_(sum(ours.context.weight.chunk(2)))

    def forward(self, h: Tensor, edge_index: Tensor, edge: Tensor, context: Tensor) -> Tensor:
        """New embeddings from old ones."""  # (nodes, width)
        heard = self.propagate(edge_index, h=h, edge=edge, context=self.context(context))
        return self.norm(torch.relu(self.own(h) + self.heard(heard)))

    def message(self, h_i, h_j, edge, context_i):  # type: ignore[no-untyped-def]
        hidden = self.first(torch.cat([h_i, h_j, edge], dim=1)) + context_i
        for layer in self.message_layers:
            hidden = layer(torch.relu(hidden))
        return hidden


class NaivePolicy(nn.Module):  # type: ignore[misc]
    """Encoder, rounds, pooling, actor and critic with the weights of a Policy."""

    def __init__(self, ours: Policy) -> None:
        super().__init__()
        self.encoder, self.actor, self.critic = ours.encoder, ours.actor, ours.critic
        self.rounds = nn.ModuleList(NaiveRound(layer) for layer in ours.processor.rounds)
        self.pooling = ours.config.pooling

    def forward(self, graphs: Graphs) -> tuple[Tensor, Tensor]:
        """Masked scores (nodes,) and values (graphs,)."""
        encoded = self.encoder(graphs)
        h, edge = encoded.node.dense(), encoded.edge.dense()
        context = encoded.graph.dense()[graphs.graph]
        edge_index = torch.stack([graphs.src, graphs.dst])
        for layer in self.rounds:
            h = layer(h, edge_index, edge, context)
        pooled = self.pool(h, graphs.graph)
        wanted = self.actor.proto_action(pooled)[graphs.graph]
        distance = (h - wanted).square().sum(1).add(1e-12).sqrt()
        scores = -distance / self.actor.log_temperature.exp()
        return scores.masked_fill(~graphs.legal, -torch.inf), self.critic(pooled)

    def pool(self, h: Tensor, graph: Tensor) -> Tensor:
        """One embedding per graph."""  # (graphs, width)
        if self.pooling == "max":
            best: Tensor = global_max_pool(h, graph)
            return best
        mean: Tensor = scatter(h, graph, dim=0, reduce="mean")
        return mean
