"""A pack of graphs goes in, a score per node and a value per graph come out: encode, process, act.

Nothing here knows a problem or a size: the columns come from the Signature, and the same
weights read graphs of any number of nodes. No latent is carried from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnarl_dsl.model import NO_CODE, Problem
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.batch.pack import Packed
from gnarl_runtime.batch.reading import PLAIN, Reading
from gnarl_runtime.batch.signature import Signature, signature_of
from gnarl_runtime.network.actor import Critic, Pool, ProtoActor, Stopper
from gnarl_runtime.network.encoder import Encoder
from gnarl_runtime.network.firsts import Firsts, ordered_columns
from gnarl_runtime.network.freed_memory import keep_freed_memory
from gnarl_runtime.network.graphs import Graphs, to_graphs
from gnarl_runtime.network.messages import Kernel, requested_kernel
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.network.processors import Mpnn, TiedMpnn, make_processor
from gnarl_runtime.network.segments import segment_argmax, segment_log_softmax, segment_sample

__all__ = [
    "NotANumber",
    "Output",
    "Policy",
    "PolicyConfig",
    "argmax",
    "log_chances",
    "prepare_torch",
    "sample",
    "segment_log_softmax",
    "verify_numbers",
]


@dataclass(frozen=True, eq=False)
class Output:
    """What a policy says about a pack."""

    logits: Tensor  # (choices,) one per node, -inf where it is illegal; with `may stop` one more
    values: Tensor  # (graphs,)
    pooled: Tensor  # (graphs, width) what the critic read

    def detached(self) -> Output:
        """The same numbers, from which no gradient goes back."""
        return Output(self.logits.detach(), self.values.detach(), self.pooled.detach())


class Policy(nn.Module):  # type: ignore[misc]
    """Encoders, a processor, a proto-action actor and a critic."""

    def __init__(
        self,
        problem: Problem | Signature,
        config: PolicyConfig | None = None,
        processor: nn.Module | None = None,
        reading: Reading = PLAIN,
    ) -> None:
        """`processor`: one's own instead of the one that the config names.

        `reading` is how numbers of a problem are read; a Signature says so itself.
        """
        super().__init__()
        self.config = config or PolicyConfig()
        code = problem.code if isinstance(problem, Problem) else NO_CODE
        if isinstance(problem, Problem):
            problem = signature_of(problem, self.config.chains, reading, self.config.compares)
        self.signature = problem
        self.encoder = Encoder(self.signature, self.config.width)
        self.processor = make_processor(self.config, code) if processor is None else processor
        # Without an ordered column there is nobody to be first.
        able = self.config.firsts and ordered_columns(self.signature)
        self.firsts = Firsts(self.config, self.signature) if able else None
        self.pool = Pool(self.config.pooling)
        self.actor = ProtoActor(self.config.width, self.config.actor)
        self.critic = Critic(self.config.width)
        self.stop = Stopper(self.config.width) if self.signature.stops else None

    def forward(self, packed: Packed | Graphs) -> Output:
        """Scores of all nodes and values of all graphs; illegal nodes are out before a softmax."""
        graphs = to_graphs(packed, self.device) if isinstance(packed, Packed) else packed
        self._verify_columns(graphs)
        h = self.processor(self.encoder(graphs), graphs)  # (nodes, width)
        h = h if self.firsts is None else self.firsts(h, graphs)
        pooled = self.pool(h, graphs)  # (graphs, width)
        scores = self.actor(h, pooled, graphs)
        logits = scores.masked_fill(~graphs.legal, -torch.inf)
        if self.stop is not None:
            logits = self._with_stop(logits, self.stop(pooled), graphs)
        return Output(logits, self.critic(pooled), pooled)

    def _with_stop(self, logits: Tensor, stop: Tensor, graphs: Graphs) -> Tensor:
        """Behind the nodes of each graph, the score of ending its episode."""  # (choices,)
        if graphs.stop is None:
            raise ValueError("the states do not say whether the episode may be ended")
        ends = graphs.offsets[1:] + torch.arange(graphs.count, device=logits.device)
        rows = torch.arange(graphs.nodes, device=logits.device) + graphs.graph
        order = torch.argsort(torch.cat([rows, ends]))
        return torch.cat([logits, stop.masked_fill(~graphs.stop, -torch.inf)])[order]

    def _verify_columns(self, graphs: Graphs) -> None:
        """The kernels would read past the end of a row."""
        found, wanted = graphs.x.shape[1], len(self.signature.node)
        if found != wanted:
            raise ValueError(
                f"expected {wanted} columns per node, found {found}; "
                "likely fix: pack(batch, slots, policy.signature)"
            )

    def use_kernel(self, kernel: Kernel) -> None:
        """Choose how messages are computed, instead of what GNARL_KERNEL said."""
        for module in self.modules():
            if isinstance(module, Mpnn | TiedMpnn | Pool | ProtoActor):
                module.kernel = kernel

    def use_rounds(self, count: int) -> None:
        """Choose how many tied rounds there are; other rounds are as many as their weights."""
        for module in self.modules():
            if isinstance(module, TiedMpnn):
                module.count = count

    @property
    def reading(self) -> Reading:
        """How states are to be packed for it."""
        return self.signature.reading

    @property
    def device(self) -> torch.device:
        device: torch.device = self.encoder.node.weight.device
        return device


class NotANumber(Failure):
    """Scores by which no node can be chosen."""


def verify_numbers(output: Output) -> None:
    """Raise NotANumber where a score is none, before anything is picked by it."""
    if bool((output.logits != output.logits).any()):
        raise NotANumber(
            "the network's scores are not numbers on these graphs: its inputs are far from "
            "those it was trained on, or its weights have come apart"
        )


def log_chances(output: Output, packed: Packed) -> Tensor:
    """Log-probabilities of the choices, per graph; -inf where one is illegal."""  # (choices,)
    graph = torch.from_numpy(packed.choice_graph).to(output.logits.device)
    return segment_log_softmax(output.logits, graph, packed.graphs)


def argmax(output: Output, packed: Packed) -> Tensor:
    """The best pick of each graph, as its instance numbers it; -1 if none is legal."""  # (graphs,)
    return _picks(segment_argmax(output.logits, *_segments(output, packed)), packed)


def sample(output: Output, packed: Packed, uniform: Tensor, temperature: float = 1.0) -> Tensor:
    """A pick of each graph drawn from the policy, as its instance numbers it; -1 if none is legal.

    `uniform` (graphs,) in [0, 1); a low temperature favours the best (the paper's lambda).
    """  # (graphs,)
    scores = output.logits.double() / temperature
    places = segment_sample(scores, *_segments(output, packed), uniform.to(scores.device))
    return _picks(places, packed)


def _picks(places: Tensor, packed: Packed) -> Tensor:
    """Which picks stand at these places of each graph; -1 stays."""  # (graphs,)
    if packed.stop is None and (packed.node is None or not len(packed.node)):
        return places
    rows = torch.from_numpy(packed.choice_offsets[:-1]).to(places.device) + places
    picks = torch.from_numpy(packed.choices).to(places.device)
    return torch.where(places < 0, -1, picks[rows.clamp(0, len(picks) - 1)])


def _segments(output: Output, packed: Packed) -> tuple[Tensor, Tensor]:
    device = output.logits.device
    segments = packed.choice_graph, packed.choice_offsets
    graph, offsets = (torch.from_numpy(values).to(device) for values in segments)
    return graph, offsets


def prepare_torch(threads: int) -> None:
    """Set up this process for training or inference.

    The threads share the messages of large graphs in our kernels, and torch has one: its products
    depend on its threads in their last bits. Without our kernels torch has all of them.
    """
    from gnarl_runtime.network.fused.kernel_library import share_messages

    # Products of tiny numbers are several hundred times slower than those of zeros.
    torch.set_flush_denormal(True)
    shared = requested_kernel() != "torch" and share_messages(threads)
    torch.set_num_threads(1 if shared else threads)
    keep_freed_memory()
