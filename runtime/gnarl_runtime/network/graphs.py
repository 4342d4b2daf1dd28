"""A pack of arrays goes in, the same as tensors on a device comes out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from numpy.typing import NDArray
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
    return Graphs(**{name: _moved(values, torch.device(device)) for name, values in given.items()})


def _moved(values: NDArray[Any], device: torch.device) -> Tensor:
    """To a GPU from pinned memory, so that the next pack is made while this one is on its way."""
    tensor = torch.from_numpy(values)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
