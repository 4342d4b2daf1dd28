"""Encodings go in, node embeddings come out, by attention: GATv2 of torch_geometric."""

from __future__ import annotations

from torch import Tensor, nn, stack
from torch_geometric.nn import GATv2Conv

from gnarl_runtime.network.encoder import Encoded
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy_config import PolicyConfig


class Gatv2(nn.Module):  # type: ignore[misc]
    """Rounds of attention along every edge of the pack; `aggregation` has no meaning here."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.width
        # The pack has its self-loops already, with features of their own.
        self.rounds = nn.ModuleList(
            GATv2Conv(width, width, edge_dim=width, add_self_loops=False, residual=True)
            for _ in range(config.rounds)
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(width) if config.layer_norm else nn.Identity() for _ in self.rounds
        )

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        edges, along = encoded.edge.dense(), stack([graphs.src, graphs.dst])
        h = encoded.node.dense()
        context = encoded.graph.dense().index_select(0, graphs.graph)
        for layer, norm in zip(self.rounds, self.norms, strict=True):
            h = norm(layer(h + context, along, edges).relu())
        return h  # (nodes, width)
