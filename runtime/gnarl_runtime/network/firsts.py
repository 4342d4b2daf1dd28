"""Node embeddings in, the same with flags out: is a node the first of those that matter?

Gates, learned from the embeddings, say which nodes of a graph are candidates. Of these, the ones
with the smallest and with the largest value of each ordered column are flagged. Values are
compared as they are, not measured: the answer is right for any number of nodes, however close two
values are, as long as it is known who takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gnarl_runtime.batch import signature as sig
from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.policy_config import PolicyConfig


class Firsts(nn.Module):  # type: ignore[misc]
    """Some gates for either end of each ordered column, and what their flags add."""

    def __init__(self, config: PolicyConfig, signature: sig.Signature) -> None:
        super().__init__()
        self.places = ordered_columns(signature)
        self.gates = config.firsts
        flags = 2 * self.gates * len(self.places)
        self.gate = nn.Linear(config.width, flags)
        self.flag = nn.Linear(flags, config.width, bias=False)

    def forward(self, h: Tensor, graphs: Graphs) -> Tensor:
        """Embeddings with what the flags say added."""  # (nodes, width)
        found: Tensor = self.flag(torch.cat(list(self._flags(self.gate(h), graphs)), dim=1))
        return h + found

    def _flags(self, gates: Tensor, graphs: Graphs) -> Iterator[Tensor]:
        """How sure it is that a node is a candidate, and none before it is."""  # (nodes, gates)
        flag = soft_flags if self.training else hard_flags
        for own, place in zip(gates.split(2 * self.gates, dim=1), self.places, strict=True):
            low, high = own.split(self.gates, dim=1)
            line = line_up(graphs.x[:, place], graphs)
            yield flag(low, line, line.smaller)
            yield flag(high, line, line.larger)


def ordered_columns(signature: sig.Signature) -> list[int]:
    """The columns of nodes whose values stand in an order: numbers, and steps along pointers."""
    return [
        place
        for place, column in enumerate(signature.node)
        if isinstance(column, sig.StepsColumn)
        or (isinstance(column, sig.ValueColumn) and column.ordered)
    ]


@dataclass(frozen=True, eq=False)
class Line:
    """The nodes of each graph by a value; graphs one after the other."""

    order: Tensor  # (nodes,)
    smaller: tuple[Tensor, Tensor]  # (nodes,) each: where, in the line, those before a node are
    larger: tuple[Tensor, Tensor]  # (nodes,) each: where those behind it are


def line_up(values: Tensor, graphs: Graphs) -> Line:
    """Nodes with equal values stand side by side; neither is before the other."""
    order = values.argsort(stable=True)
    order = order[graphs.graph[order].argsort(stable=True)]
    value, graph = values[order], graphs.graph[order]
    fresh = torch.ones_like(graph, dtype=torch.bool)
    fresh[1:] = (value[1:] != value[:-1]) | (graph[1:] != graph[:-1])
    level = torch.empty_like(order)
    level[order] = fresh.cumsum(0) - 1  # of each node
    starts = torch.cat([fresh.nonzero().flatten(), order.new_tensor([len(order)])])
    first, last = graphs.offsets[graphs.graph], graphs.offsets[graphs.graph + 1]
    return Line(order, (first, starts[level]), (starts[level + 1], last))


def _sums(values: Tensor, line: Line, span: tuple[Tensor, Tensor]) -> Tensor:
    """Of the values (nodes, gates) of all nodes in each node's part of the line."""
    upto = values[line.order].double().cumsum(0)  # (nodes, gates)
    upto = torch.cat([upto.new_zeros(1, upto.shape[1]), upto])
    return upto[span[1]] - upto[span[0]]


def soft_flags(gates: Tensor, line: Line, span: tuple[Tensor, Tensor]) -> Tensor:
    """The chance, if each node is a candidate on its own."""  # (nodes, gates)
    log = torch.nn.functional.logsigmoid
    return (log(gates) + _sums(log(-gates), line, span).to(gates)).exp()


def hard_flags(gates: Tensor, line: Line, span: tuple[Tensor, Tensor]) -> Tensor:
    """Yes or no: what chances come to once the gates are sure."""  # (nodes, gates)
    taking_part = gates > 0
    alone = _sums(taking_part, line, span) == 0
    return (taking_part & alone).to(gates)
