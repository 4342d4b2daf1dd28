"""A pack of graphs goes in, a log-probability per node comes out: encode, process, act.

Nothing here knows a problem or a size: the columns come from the Signature, and the same
weights read graphs of any number of nodes. No latent is carried from step to step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from gnarl_runtime.pack import Packed
from gnarl_runtime.signature import Signature


class Policy(nn.Module):  # type: ignore[misc]
    """Encoders, L rounds of messages with max aggregation, and a proto-action actor."""

    def __init__(self, signature: Signature, width: int = 64, rounds: int = 2) -> None:
        super().__init__()
        # A sum of one linear map per feature is one linear map on all columns of a location.
        self.encode_node = nn.Linear(len(signature.node), width)
        self.encode_graph = nn.Linear(len(signature.graph), width)
        self.rounds = nn.ModuleList(MessageRound(len(signature.edge), width) for _ in range(rounds))
        self.proto_action = nn.Linear(width, width)
        self.log_temperature = nn.Parameter(torch.zeros(()))

    def forward(self, packed: Packed) -> Tensor:
        """Log-probabilities of picking each node, -inf where it is illegal."""  # (nodes,)
        graph = torch.from_numpy(packed.graph)
        scores = self.scores(packed, graph)
        legal = torch.from_numpy(packed.legal)
        return segment_log_softmax(scores.masked_fill(~legal, -torch.inf), graph, packed.graphs)

    def scores(self, packed: Packed, graph: Tensor) -> Tensor:
        """Closeness of each node to its graph's proto-action, in units of the temperature."""
        h = self.encode_node(torch.from_numpy(packed.x))  # (nodes, width)
        context = self.encode_graph(torch.from_numpy(packed.graph_raw))[graph]  # (nodes, width)
        for layer in self.rounds:
            h = layer(h, context, packed)
        offsets = torch.from_numpy(packed.offsets)
        pooled = SegmentMax.apply(h, graph, offsets)  # (graphs, width)
        distance = (h - self.proto_action(pooled)[graph]).square().sum(1).add(1e-12).sqrt()
        return -distance / self.log_temperature.exp()  # (nodes,)


class MessageRound(nn.Module):  # type: ignore[misc]
    """One round: a message along every edge of the pack, the largest per node and channel.

    The first layer of the message network is linear in (receiver, sender, edge, graph), so
    it is computed per node where it can be, and only added up per message.
    """

    def __init__(self, edge_columns: int, width: int) -> None:
        super().__init__()
        self.receiver = nn.Linear(width, width)
        self.sender = nn.Linear(width, width, bias=False)
        self.edge = nn.Linear(edge_columns, width, bias=False)
        self.context = nn.Linear(width, width, bias=False)
        self.message = nn.Linear(width, width)
        self.own = nn.Linear(width, width)
        self.heard = nn.Linear(width, width, bias=False)

    def forward(self, h: Tensor, context: Tensor, packed: Packed) -> Tensor:
        """New node embeddings from old ones."""  # (nodes, width)
        src, dst = torch.from_numpy(packed.src), torch.from_numpy(packed.dst)
        into = self.receiver(h) + self.context(context)  # (nodes, width)
        # In place: the only tensors with a row per message, and most of the time goes here.
        hidden = self.edge(torch.from_numpy(packed.edge_raw))  # (messages, width)
        hidden.add_(into.index_select(0, dst)).add_(self.sender(h).index_select(0, src)).relu_()
        messages = self.message(hidden)  # (messages, width)
        best = SegmentMax.apply(messages, dst, torch.from_numpy(packed.rowptr))
        return (self.own(h) + self.heard(best)).relu()


class SegmentMax(torch.autograd.Function):  # type: ignore[misc]
    """The largest value per segment and channel; ties share the gradient.

    torch.segment_reduce has this forward, but its own backward is several times slower.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, segment: Tensor, offsets: Tensor) -> Tensor:
        best = torch.segment_reduce(values, "max", offsets=offsets, axis=0, unsafe=True)
        ctx.save_for_backward(values, best, segment)
        return best  # (segments, width)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        values, best, segment = ctx.saved_tensors
        won = (values == best.index_select(0, segment)).to(values.dtype)
        ties = torch.zeros_like(best).index_add_(0, segment, won)
        return won * (grads[0] / ties).index_select(0, segment), None, None


def segment_log_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Log-probabilities within each segment; a score of -inf has none."""  # (nodes,)
    start = torch.full((segments,), -torch.inf)
    top = start.scatter_reduce(0, segment, scores.detach(), "amax")
    # A graph without a legal node has no distribution: all of it stays -inf, without NaN.
    shifted = scores - top.nan_to_num(neginf=0.0)[segment]
    total = torch.zeros(segments).index_add(0, segment, shifted.exp())
    return shifted - total.clamp_min(1e-30).log()[segment]
