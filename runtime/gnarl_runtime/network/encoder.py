"""A signature goes in, linear encoders come out: one map into `width` per observed feature.

The maps of one location are summed (the paper's text; its authors' code averages). A sum of
linear maps is one linear map on all columns, so a location has one matrix, whose rows are
initialised as if each feature had a layer of its own. Pointers are features of messages, in
both directions: see Signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor, nn

from gnarl_runtime.batch import signature as sig
from gnarl_runtime.batch.signature import Signature
from gnarl_runtime.network.graphs import Graphs

Column = sig.NodeColumn | sig.MessageColumn | sig.GraphColumn


@dataclass(frozen=True, eq=False)
class Encoding:
    """raw @ weight + bias, multiplied out only when asked.

    A linear layer after it costs next to nothing while it is not: (messages, width) tensors
    are never needed, and the first round reads a few columns per node instead of `width`.
    """

    raw: Tensor  # (rows, columns)
    weight: Tensor  # (columns, width)
    bias: Tensor | None = None  # (width,)

    def dense(self) -> Tensor:
        if self.bias is None:
            return self.raw @ self.weight
        return torch.addmm(self.bias, self.raw, self.weight)  # (rows, width)

    def then(self, weight: Tensor, bias: Tensor | None = None) -> Encoding:
        """This, followed by a linear layer with `weight` (out, width)."""
        if self.bias is None:
            return Encoding(self.raw, self.weight @ weight.t(), bias)
        after = weight @ self.bias if bias is None else torch.addmv(bias, weight, self.bias)
        return Encoding(self.raw, self.weight @ weight.t(), after)


@dataclass(frozen=True, eq=False)
class Encoded:
    """The paper's z_v, z_uv and z_g."""

    node: Encoding  # (nodes, width)
    edge: Encoding  # (messages, width)
    graph: Encoding  # (graphs, width)


class LocationEncoder(nn.Module):  # type: ignore[misc]
    """The summed linear maps of all features of one location."""

    def __init__(self, columns: Sequence[Column], width: int, bias: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(len(columns), width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        start = 0
        for _, group in groupby(columns, key=_source):
            size = len(list(group))
            bound = size**-0.5  # that of torch's linear layer with `size` inputs
            nn.init.uniform_(self.weight[start : start + size], -bound, bound)
            start += size

    def forward(self, raw: Tensor) -> Encoding:
        return Encoding(raw, self.weight, self.bias)


def _source(column: Column) -> object:
    """What a column belongs to: the categories of a feature, or the phases, are one feature."""
    match column:
        case sig.ValueColumn():
            return column.feature, column.against
        case sig.PhaseColumn():
            return type(column)
        case _:
            return column


class Encoder(nn.Module):  # type: ignore[misc]
    """Packs in, encodings of all three locations out."""

    def __init__(self, signature: Signature, width: int) -> None:
        super().__init__()
        measured = [place for place, own in enumerate(signature.node) if sig.is_measured(own)]
        # What is only compared is not read here.
        self.read = measured if len(measured) < len(signature.node) else None
        # One bias is enough: those of edge and graph would be added to the same sum.
        self.node = LocationEncoder([signature.node[place] for place in measured], width, bias=True)
        self.edge = LocationEncoder(signature.edge, width)
        self.graph = LocationEncoder(signature.graph, width)

    def forward(self, graphs: Graphs) -> Encoded:
        x = graphs.x if self.read is None else graphs.x[:, self.read]
        return Encoded(self.node(x), self.edge(graphs.edge_raw), self.graph(graphs.graph_raw))
