"""Encodings go in, node embeddings come out: the processors, behind one interface.

The paper's equation is h = U(z_v, max or sum of M(z_v, z_u, z_uv)), with no latent carried
from step to step. Where it is silent this follows the MPNN it modifies (the CLRS benchmark's):
M adds linear maps of receiver, sender, edge and graph, then applies further layers, relu
between layers; U is relu(linear(h) + linear(messages)). There is no residual connection and no
layer norm unless asked for. Round 1 reads z, each further round the embeddings before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn

from gnarl_dsl.externs import brought_as, is_brought
from gnarl_dsl.model import NO_CODE, Code, Trade
from gnarl_runtime.network.encoder import Encoded, Encoding
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import Kernel, MessageWeights, requested_kernel, use_fused
from gnarl_runtime.network.policy_config import PolicyConfig, require_one_of
from gnarl_runtime.network.rounds import NormWeights, Round, RoundWeights, torch_round


class Processor(Protocol):
    """A torch module that turns encodings into one embedding per node."""

    def __call__(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        """Embeddings (nodes, width); graphs of a pack must not influence each other."""
        ...


class Mpnn(nn.Module):  # type: ignore[misc]
    """Rounds of messages along every edge of the pack."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.kernel: Kernel = requested_kernel()
        self.rounds = nn.ModuleList(MessageRound(config) for _ in range(config.rounds))

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        context = Encoding(graphs.graph_raw.index_select(0, graphs.graph), encoded.graph.weight)
        h: Encoding | Tensor = encoded.node
        for layer in self.rounds:
            h = layer(h, encoded.edge, context, graphs, self.kernel)
        assert isinstance(h, Tensor)
        return h


class MessageRound(nn.Module):  # type: ignore[misc]
    """One round: every node hears its neighbours and updates its embedding."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.width
        self.aggregation = config.aggregation
        # What a node, and the graph, contribute to messages: first as receiver, then as sender.
        self.project = nn.Linear(width, 2 * width)
        self.context = nn.Linear(width, 2 * width, bias=False)
        self.edge = nn.Linear(width, width, bias=False)
        self.message = nn.ModuleList(
            nn.Linear(width, width) for _ in range(config.message_depth - 1)
        )
        self.own = nn.Linear(width, width)
        self.heard = nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width) if config.layer_norm else nn.Identity()

    def forward(
        self,
        h: Encoding | Tensor,
        edge: Encoding,
        context: Encoding,
        graphs: Graphs,
        kernel: Kernel,
    ) -> Tensor:
        """New node embeddings from old ones, or from the encoding."""  # (nodes, width)
        weights = self._weights(h, edge, context)
        compute = choose_round(kernel, self.own.weight)
        return compute(h if isinstance(h, Tensor) else h.raw, context.raw, weights, graphs)

    def _weights(self, h: Encoding | Tensor, edge: Encoding, context: Encoding) -> RoundWeights:
        """What this round does to the columns of `h`, edges and graphs."""
        heard, per_message = self._heard()
        into, sent = self.context.weight.chunk(2)
        norm = self.norm
        return RoundWeights(
            *self._node_weights(h),
            context=context.weight @ (into + sent).t(),
            message=MessageWeights(
                edge.then(self.edge.weight).weight, self._inner_layers(), self.aggregation
            ),
            heard=heard,
            per_message=per_message,
            norm=NormWeights(norm.weight, norm.bias, norm.eps)
            if isinstance(norm, nn.LayerNorm)
            else None,
        )

    def _node_weights(self, h: Encoding | Tensor) -> tuple[Tensor, Tensor]:
        """Receiver, sender, own: (3 * width, columns) and (3 * width,)."""
        weight = torch.cat([self.project.weight, self.own.weight])
        bias = torch.cat([self.project.bias, self.own.bias])
        if isinstance(h, Tensor):
            return weight, bias
        after = bias if h.bias is None else torch.addmv(bias, weight, h.bias)
        return weight @ h.weight.t(), after

    def _inner_layers(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """The layers that are applied to each message: all, but the last of a sum."""
        kept = self.message if self.aggregation == "max" else self.message[:-1]
        return tuple((layer.weight, layer.bias) for layer in kept)

    def _heard(self) -> tuple[Tensor, Tensor | None]:
        """What the update does to the aggregated messages, and what it gets for each of them."""
        if self.aggregation == "max":
            return self.heard.weight, None
        # The sum of a linear layer over messages is the layer of the sum, its bias per message.
        last = self.message[-1]
        return self.heard.weight @ last.weight, self.heard.weight @ last.bias


def choose_round(kernel: Kernel, like: Tensor) -> Round:
    """The fused kernels where they work on such values (rows, width), the torch path elsewhere."""
    if use_fused(kernel, like):
        from gnarl_runtime.network.fused.round_kernel import fused_round

        return fused_round
    return torch_round


def _gatv2(config: PolicyConfig) -> nn.Module:
    from gnarl_runtime.network.gatv2 import Gatv2

    return Gatv2(config)


# A further processor is a module with the interface above and a line here; or pass an instance
# to Policy.
PROCESSORS: dict[str, Callable[[PolicyConfig], nn.Module]] = {
    "mpnn": Mpnn,
    "gatv2": _gatv2,
}


def make_processor(config: PolicyConfig, code: Code = NO_CODE) -> nn.Module:
    """The processor that a config names; `extern:NAME` is one that somebody brought."""
    if is_brought(config.processor):
        found: nn.Module = brought_as(Trade.PROCESSOR, config.processor, code).function(config)
        return found
    require_one_of("processor", config.processor, tuple(PROCESSORS))
    return PROCESSORS[config.processor](config)
