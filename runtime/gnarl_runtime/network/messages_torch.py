"""The message network in plain torch: on any device, and what the fused kernel is tested by."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.nn import MessagePassing

from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import MessageWeights
from gnarl_runtime.network.segments import SegmentMax


class TorchMessages(MessagePassing):  # type: ignore[misc]
    """One round of messages; stateless, the weights come with each call."""

    def forward(self, projected: Tensor, weights: MessageWeights, graphs: Graphs) -> Tensor:
        """What every node hears."""  # (nodes, width)
        into, sent = projected.chunk(2, dim=1)
        edges = torch.stack([graphs.src, graphs.dst])
        heard: Tensor = self.propagate(
            edges,
            size=(graphs.nodes, graphs.nodes),
            into=into,
            sent=sent,
            edge_raw=graphs.edge_raw,
            rowptr=graphs.rowptr,
            weights=weights,
        )
        return heard

    def message(self, into_i, sent_j, edge_raw, weights):  # type: ignore[no-untyped-def]
        hidden = torch.addmm(into_i + sent_j, edge_raw, weights.edge).relu()  # (messages, width)
        last = len(weights.layers) - 1
        for position, (weight, bias) in enumerate(weights.layers):
            hidden = torch.addmm(bias, hidden, weight.t())
            if weights.aggregation == "sum" or position < last:
                hidden = hidden.relu()
        return hidden

    def aggregate(self, inputs, index, rowptr, weights):  # type: ignore[no-untyped-def]
        if weights.aggregation == "max":
            return SegmentMax.apply(inputs, index, rowptr)
        return inputs.new_zeros(len(rowptr) - 1, inputs.shape[1]).index_add(0, index, inputs)


def torch_messages(projected: Tensor, weights: MessageWeights, graphs: Graphs) -> Tensor:
    """What every node hears."""  # (nodes, width)
    heard: Tensor = TorchMessages()(projected, weights, graphs)
    return heard
