"""A pack of arrays goes in, the same as tensors on a device comes out."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gnarl_runtime.batch.pack import Packed


@dataclass(frozen=True, eq=False)
class Graphs:
    """The fields of a Packed, with the same names, shapes and meaning."""

    x: Tensor  # (nodes, F)
    edge_raw: Tensor  # (messages, K)
    graph_raw: Tensor  # (graphs, H)
    rowptr: Tensor  # (nodes + 1,)
    src: Tensor  # (messages,)
    dst: Tensor  # (messages,)
    graph: Tensor  # (nodes,)
    offsets: Tensor  # (graphs + 1,)
    legal: Tensor  # (nodes,)
    stop: Tensor | None = None  # (graphs,)

    @property
    def nodes(self) -> int:
        return len(self.graph)

    @property
    def count(self) -> int:
        return len(self.offsets) - 1


def to_graphs(packed: Packed, device: torch.device | str = "cpu") -> Graphs:
    """Tensors that share the memory of the pack, or copies on another device."""
    known = {field.name: getattr(packed, field.name) for field in fields(Graphs)}
    given = {name: values for name, values in known.items() if values is not None}
    return Graphs(**{name: torch.from_numpy(values).to(device) for name, values in given.items()})
