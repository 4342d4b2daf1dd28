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

from gnarl_dsl.brought_names import is_brought
from gnarl_dsl.externs import brought_as
from gnarl_dsl.model import NO_CODE, Code, Trade
from gnarl_runtime.network.actor import Pool
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
    """Rounds of messages along every edge of the pack; with `whole`, also from all of the graph."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.kernel: Kernel = requested_kernel()
        self.rounds = nn.ModuleList(MessageRound(config) for _ in range(config.rounds))
        further = config.rounds - 1 if config.whole else 0
        self.wholes = nn.ModuleList(Whole(config) for _ in range(further))

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        context = Encoding(graphs.graph_raw.index_select(0, graphs.graph), encoded.graph.weight)
        h: Tensor = self.rounds[0](encoded.node, encoded.edge, context, graphs, self.kernel)
        for position, layer in enumerate(self.rounds[1:]):
            h = self.wholes[position](h, graphs) if len(self.wholes) else h
            h = layer(h, encoded.edge, context, graphs, self.kernel)
        return h


class TiedMpnn(nn.Module):  # type: ignore[misc]
    """The same round again and again: each reads the encoding, and the embeddings before it.

    So it may be used for more rounds than it was trained with: `count` says how many it makes.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.kernel: Kernel = requested_kernel()
        self.count = config.played_rounds or config.rounds
        self.round = MessageRound(config)
        # What the encoding adds, to the same sums as `project` and `own` of the round.
        self.again = nn.Linear(config.width, 3 * config.width, bias=False)
        self.whole = Whole(config) if config.whole else None

    def forward(self, encoded: Encoded, graphs: Graphs) -> Tensor:
        context = Encoding(graphs.graph_raw.index_select(0, graphs.graph), encoded.graph.weight)
        start = encoded.node.then(self.again.weight)
        h: Tensor | None = None
        for _ in range(self.count):
            if self.whole is not None and h is not None:
                h = self.whole(h, graphs)
            h = self.round.again(h, start, encoded.edge, context, graphs, self.kernel)
        assert h is not None
        return h


class Whole(nn.Module):  # type: ignore[misc]
    """A message from the whole graph to each of its nodes."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.pool = Pool(config.pooling)
        self.message = nn.Linear(config.width, config.width, bias=False)

    def forward(self, h: Tensor, graphs: Graphs) -> Tensor:
        """Embeddings with what is known of their graph added."""  # (nodes, width)
        known: Tensor = self.message(self.pool(h, graphs))  # (graphs, width)
        return h + known.index_select(0, graphs.graph)


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
        weights = self._weights(self._node_weights(h), edge, context)
        compute = choose_round(kernel, self.own.weight)
        return compute(h if isinstance(h, Tensor) else h.raw, context.raw, weights, graphs)

    def again(
        self,
        h: Tensor | None,
        start: Encoding,
        edge: Encoding,
        context: Encoding,
        graphs: Graphs,
        kernel: Kernel,
    ) -> Tensor:
        """The same with `start` added to what the nodes contribute; no embeddings count as 0."""
        weight, bias = torch.cat([self.project.weight, self.own.weight]), self._node_bias()
        if start.bias is not None:
            bias = bias + start.bias
        columns, own = start.raw, start.weight.t()
        if h is not None:
            columns, own = torch.cat([h, columns], dim=1), torch.cat([weight, own], dim=1)
        compute = choose_round(kernel, self.own.weight)
        return compute(columns, context.raw, self._weights((own, bias), edge, context), graphs)

    def _weights(
        self, node: tuple[Tensor, Tensor], edge: Encoding, context: Encoding
    ) -> RoundWeights:
        """What this round does to the columns of nodes, edges and graphs."""
        heard, per_message = self._heard()
        into, sent = self.context.weight.chunk(2)
        norm = self.norm
        return RoundWeights(
            *node,
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
        bias = self._node_bias()
        if isinstance(h, Tensor):
            return weight, bias
        after = bias if h.bias is None else torch.addmv(bias, weight, h.bias)
        return weight @ h.weight.t(), after

    def _node_bias(self) -> Tensor:
        return torch.cat([self.project.bias, self.own.bias])

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


def _mpnn(config: PolicyConfig) -> nn.Module:
    return TiedMpnn(config) if config.tied else Mpnn(config)


def _gatv2(config: PolicyConfig) -> nn.Module:
    from gnarl_runtime.network.gatv2 import Gatv2

    return Gatv2(config)


def _triplets(config: PolicyConfig) -> nn.Module:
    from gnarl_runtime.network.triplets import Triplets

    return Triplets(config)


# A further processor is a module with the interface above and a line here; or pass an instance
# to Policy.
PROCESSORS: dict[str, Callable[[PolicyConfig], nn.Module]] = {
    "mpnn": _mpnn,
    "gatv2": _gatv2,
    "triplets": _triplets,
}


def make_processor(config: PolicyConfig, code: Code = NO_CODE) -> nn.Module:
    """The processor that a config names; `extern:NAME` is one that somebody brought."""
    if is_brought(config.processor):
        found: nn.Module = brought_as(Trade.PROCESSOR, config.processor, code).function(config)
        return found
    require_one_of("processor", config.processor, tuple(PROCESSORS))
    return PROCESSORS[config.processor](config)
