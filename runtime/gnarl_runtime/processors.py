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

from gnarl_runtime.encoder import Encoded, Encoding
from gnarl_runtime.graphs import Graphs
from gnarl_runtime.messages import Kernel, MessageWeights, choose_messages, requested_kernel
from gnarl_runtime.policy_config import PolicyConfig, require_one_of


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
        # A column of ones turns the bias into one more row of a product that is needed anyway.
        columns = torch.nn.functional.pad(graphs.graph_raw, (0, 1), value=1.0)  # (graphs, H + 1)
        context = Encoding(columns.index_select(0, graphs.graph), encoded.graph.weight)
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
        projected = self._projected(h, context)
        along = edge.then(self.edge.weight).weight  # (columns, width)
        weights = MessageWeights(along, self._inner_layers(), self.aggregation)
        heard = choose_messages(kernel, projected)(projected, weights, graphs)
        new: Tensor = self.norm(self._add_heard(_linear(h, self.own), heard, graphs).relu_())
        return new

    def _projected(self, h: Encoding | Tensor, context: Encoding) -> Tensor:
        """What each node contributes to messages; context.raw ends with a column of ones."""
        turned = self.project.weight.t()
        bias = self.project.bias
        if not isinstance(h, Tensor) and h.bias is not None:
            bias = torch.addmv(bias, self.project.weight, h.bias)
        aside = torch.cat([context.weight @ self.context.weight.t(), bias[None]])  # (H + 1, 2w)
        if isinstance(h, Tensor):
            return (h @ turned).addmm_(context.raw, aside)  # (nodes, 2 * width)
        whole = torch.cat([h.raw, context.raw], dim=1)  # (nodes, F + H + 1)
        return whole @ torch.cat([h.weight @ turned, aside])

    def _inner_layers(self) -> tuple[tuple[Tensor, Tensor], ...]:
        """The layers that are applied to each message: all, but the last of a sum."""
        kept = self.message if self.aggregation == "max" else self.message[:-1]
        return tuple((layer.weight, layer.bias) for layer in kept)

    def _add_heard(self, own: Tensor, heard: Tensor, graphs: Graphs) -> Tensor:
        """`own`, changed in place: copies of (nodes, width) would cost as much as a product."""
        if self.aggregation == "max":
            return own.addmm_(heard, self.heard.weight.t())
        # The sum of a linear layer over messages is the layer of the sum, its bias per message.
        last = self.message[-1]
        messages = (graphs.rowptr[1:] - graphs.rowptr[:-1]).to(heard.dtype)  # (nodes,)
        per_message = self.heard.weight @ last.bias  # (width,)
        own = own.addr_(messages, per_message)
        return own.addmm_(heard, (self.heard.weight @ last.weight).t())


def _linear(h: Encoding | Tensor, layer: nn.Linear) -> Tensor:
    """A layer applied to embeddings, or folded into the encoding before it."""
    if isinstance(h, Tensor):
        return torch.addmm(layer.bias, h, layer.weight.t())
    return h.then(layer.weight, layer.bias).dense()


def _gatv2(config: PolicyConfig) -> nn.Module:
    from gnarl_runtime.processor_gatv2 import Gatv2

    return Gatv2(config)


# A further processor is a module with the interface above and a line here; or pass an instance
# to Policy.
PROCESSORS: dict[str, Callable[[PolicyConfig], nn.Module]] = {"mpnn": Mpnn, "gatv2": _gatv2}


def make_processor(config: PolicyConfig) -> nn.Module:
    """The processor that a config names."""
    require_one_of("processor", config.processor, tuple(PROCESSORS))
    return PROCESSORS[config.processor](config)
