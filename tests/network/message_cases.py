"""Random ragged graphs and message networks, and a slow definition to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from gnarl_runtime.network.graphs import Graphs
from gnarl_runtime.network.messages import MessageWeights
from gnarl_runtime.network.policy_config import Aggregation


@dataclass(frozen=True, eq=False)
class MessageCase:
    """One call of a message network; `leaves` are what has a gradient."""

    graphs: Graphs
    weights: MessageWeights
    projected: Tensor

    @property
    def leaves(self) -> list[Tensor]:
        layers = [tensor for layer in self.weights.layers for tensor in layer]
        return [self.projected, self.weights.edge, *layers]


@dataclass(frozen=True)
class Shape:
    """What a case looks like."""

    nodes: int
    messages: int
    columns: int
    width: int
    aggregation: Aggregation
    depth: int
    seed: int


SHAPES = st.builds(
    Shape,
    nodes=st.integers(1, 9),
    messages=st.integers(0, 80),
    columns=st.integers(1, 11),
    width=st.sampled_from([32, 64, 96]),
    aggregation=st.sampled_from(["max", "sum"]),
    depth=st.sampled_from([2, 3]),
    seed=st.integers(0, 10_000),
)


def make_case(shape: Shape, whole: bool = False) -> MessageCase:
    """Numbers of all sizes, or `whole` ones, with which sums are exact and ties are common."""
    rng = np.random.default_rng(shape.seed)

    def numbers(*size: int) -> Tensor:
        if whole:
            return torch.from_numpy(rng.integers(-1, 2, size).astype(np.float32))
        return torch.from_numpy(rng.normal(size=size).astype(np.float32))

    inner = shape.depth - (1 if shape.aggregation == "max" else 2)
    scale = 1.0 if whole else shape.width**-0.5
    layers = [
        (scale * numbers(shape.width, shape.width), numbers(shape.width)) for _ in range(inner)
    ]
    graphs = random_graphs(shape, rng, numbers(shape.messages, shape.columns))
    weights = MessageWeights(numbers(shape.columns, shape.width), tuple(layers), shape.aggregation)
    case = MessageCase(graphs, weights, numbers(shape.nodes, 2 * shape.width))
    for leaf in case.leaves:
        leaf.requires_grad_()
    return case


def random_graphs(shape: Shape, rng: np.random.Generator, edge_raw: Tensor) -> Graphs:
    """Any ends at all: nodes that hear nothing, loops, the same message twice."""
    dst = np.sort(rng.integers(shape.nodes, size=shape.messages))
    src = rng.integers(shape.nodes, size=shape.messages)
    rowptr = np.searchsorted(dst, np.arange(shape.nodes + 1))
    nothing = torch.zeros(shape.nodes, 0)
    return Graphs(
        x=nothing,
        edge_raw=edge_raw,
        graph_raw=torch.zeros(1, 0),
        rowptr=torch.from_numpy(rowptr.astype(np.int64)),
        src=torch.from_numpy(src.astype(np.int64)),
        dst=torch.from_numpy(dst.astype(np.int64)),
        graph=torch.zeros(shape.nodes, dtype=torch.int64),
        offsets=torch.tensor([0, shape.nodes]),
        legal=torch.ones(shape.nodes, dtype=torch.bool),
    )


def gradients(case: MessageCase, heard: Tensor) -> list[Tensor]:
    """Slopes of a sum in which every number has another weight."""
    factors = torch.arange(heard.numel(), dtype=heard.dtype).reshape(heard.shape) % 7 - 3
    found = torch.autograd.grad((heard * factors).sum(), case.leaves, allow_unused=True)
    return [
        torch.zeros_like(leaf) if grad is None else grad
        for leaf, grad in zip(case.leaves, found, strict=True)
    ]


def by_definition(case: MessageCase) -> Tensor:
    """What nodes hear, message by message in double precision; 0 where nothing arrives."""
    width, rows = case.weights.edge.shape[1], list[Tensor]()
    into, sent = case.projected.double().split(width, dim=1)
    for v in range(case.graphs.nodes):
        start, end = case.graphs.rowptr[v : v + 2].tolist()
        own = [message(case, e, into[v], sent) for e in range(start, end)]
        if not own:
            rows.append(torch.zeros(width, dtype=torch.float64))
        elif case.weights.aggregation == "max":
            rows.append(torch.stack(own).amax(0))
        else:
            rows.append(torch.stack(own).sum(0))
    return torch.stack(rows)


def message(case: MessageCase, e: int, into: Tensor, sent: Tensor) -> Tensor:
    """One message."""  # (width,)
    weights = case.weights
    along = case.graphs.edge_raw[e].double() @ weights.edge.double()
    value = torch.relu(into + sent[int(case.graphs.src[e])] + along)
    for position, (weight, bias) in enumerate(weights.layers):
        value = weight.double() @ value + bias.double()
        if weights.aggregation == "sum" or position < len(weights.layers) - 1:
            value = torch.relu(value)
    return value
