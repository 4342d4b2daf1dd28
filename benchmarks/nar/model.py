"""Probes in, predictions of the next hints and of the outputs out: encode, process, decode.

As in the CLRS benchmark: linear encoders, summed where probes have one location, a processor along
the edges with an embedding of every node that is carried from step to step, and decoders by type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from gnarl_runtime.trajectories.probes import Probe

Probes = Mapping[Probe, Tensor]
_FEW = 8  # numbers per triplet


class Nar(nn.Module):  # type: ignore[misc]
    """The network for some probes."""

    def __init__(
        self, inputs: list[Probe], hints: list[Probe], outputs: list[Probe], width: int, kind: str
    ) -> None:
        super().__init__()
        self.hints, self.outputs = hints, outputs
        self.width = width
        read = [*inputs, *hints]
        self.encoders = nn.ModuleDict({key(p): nn.Linear(columns(p), width) for p in read})
        told = [*hints, *outputs]
        self.decoders = nn.ModuleDict({key(p): decoder(p, width) for p in told})
        self.process = PROCESSORS[kind](width)

    def start(self, given: Probes) -> Tensor:
        """The embeddings before the first step."""
        some = next(values for probe, values in given.items() if probe.location == "node")
        return some.new_zeros(*some.shape[:2], self.width)

    def forward(
        self, given: Probes, hints: Probes, hidden: Tensor, adjacency: Tensor
    ) -> tuple[dict[Probe, Tensor], Tensor]:
        """One step: what is told of every hint and output, and the new embeddings."""
        batch, nodes = adjacency.shape[:2]
        node = hidden.new_zeros(batch, nodes, self.width)
        edge = hidden.new_zeros(batch, nodes, nodes, self.width)
        whole = hidden.new_zeros(batch, self.width)
        for probe, values in (*given.items(), *hints.items()):
            encoded = self.encoders[key(probe)](
                values if probe.kind == "categorical" else values[..., None]
            )
            if probe.kind == "pointer" or probe.location == "edge":
                edge = edge + encoded
            elif probe.location == "node":
                node = node + encoded
            else:
                whole = whole + encoded
        hidden = self.process(torch.cat([node, hidden], -1), edge, whole, adjacency)
        told = {
            probe: self.decoders[key(probe)](torch.cat([node, hidden], -1), edge)
            for probe in (*self.hints, *self.outputs)
        }
        return told, hidden


def key(probe: Probe) -> str:
    return f"{probe.stage}:{probe.name}"


def columns(probe: Probe) -> int:
    return probe.classes if probe.kind == "categorical" else 1


class Mpnn(nn.Module):  # type: ignore[misc]
    """Messages along the edges, of which the largest count."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.sender, self.receiver = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.along, self.context = nn.Linear(width, width), nn.Linear(width, width)
        self.message = nn.Sequential(
            nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.own, self.heard = nn.Linear(2 * width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, z: Tensor, edge: Tensor, whole: Tensor, adjacency: Tensor) -> Tensor:
        told = self.message(self.terms(z, edge, whole))  # (B, from, to, width)
        absent = ~adjacency[..., None]
        heard = told.masked_fill(absent, -1e6).amax(1)
        return self.norm(torch.relu(self.own(z) + self.heard(heard)))

    def terms(self, z: Tensor, edge: Tensor, whole: Tensor) -> Tensor:
        ends = self.sender(z)[:, :, None] + self.receiver(z)[:, None]
        return ends + self.along(edge) + self.context(whole)[:, None, None]


class TripletMpnn(Mpnn):
    """Messages that also know the largest of what any third node comes to."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.nodes = nn.Linear(2 * width, 3 * _FEW)
        self.ways = nn.Linear(width, 3 * _FEW)
        self.third = nn.Linear(_FEW, width)

    def terms(self, z: Tensor, edge: Tensor, whole: Tensor) -> Tensor:
        direct, first, second = self.ways(edge).split(_FEW, -1)
        by, to, via = self.nodes(z).split(_FEW, -1)
        # (B, i, j, k, few): from i by way of k to j.
        largest = (first[:, :, None] + (second.transpose(1, 2) + via[:, None])[:, None]).amax(3)
        triplets = largest + direct + by[:, :, None] + to[:, None]
        return super().terms(z, edge, whole) + torch.relu(self.third(triplets))


PROCESSORS: Mapping[str, Callable[[int], nn.Module]] = {"mpnn": Mpnn, "triplets": TripletMpnn}


# What is told of a probe


def decoder(probe: Probe, width: int) -> nn.Module:
    if probe.kind == "pointer" or probe.location == "edge":
        return PairDecoder(width)
    return (
        NodeDecoder(width, columns(probe))
        if probe.location == "node"
        else GraphDecoder(width, columns(probe))
    )


class NodeDecoder(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.told = nn.Linear(2 * width, count)

    def forward(self, z: Tensor, edge: Tensor) -> Tensor:
        told = self.told(z)
        return told if told.shape[-1] > 1 else told[..., 0]


class GraphDecoder(NodeDecoder):
    def forward(self, z: Tensor, edge: Tensor) -> Tensor:
        return super().forward(z.amax(1), edge)


class PairDecoder(nn.Module):  # type: ignore[misc]
    """A number for every pair of nodes: to which of them the first points."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
        self.along, self.told = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, z: Tensor, edge: Tensor) -> Tensor:
        both = torch.maximum(self.one(z)[:, :, None], self.other(z)[:, None] + self.along(edge))
        return self.told(both)[..., 0]


def losses(told: Probes, right: Probes) -> Iterable[Tensor]:
    """The mean loss per episode of every probe."""  # (B,)
    for probe, wanted in right.items():
        own = told[probe]
        match probe.kind:
            case "pointer":
                found = nn.functional.cross_entropy(
                    own.flatten(0, 1), wanted.flatten(), reduction="none"
                )
            case "mask_one":
                found = nn.functional.cross_entropy(own, wanted, reduction="none")
            case "categorical":
                shares = wanted.movedim(-1, 1)
                found = nn.functional.cross_entropy(own.movedim(-1, 1), shares, reduction="none")
            case "mask":
                found = nn.functional.binary_cross_entropy_with_logits(
                    own, wanted, reduction="none"
                )
            case _:
                found = (own - wanted) ** 2
        yield found.reshape(len(wanted), -1).mean(1)


def as_read(hints: Probes) -> dict[Probe, Tensor]:
    """Right hints, with a row of its own for whom a pointer points to."""
    return {
        probe: nn.functional.one_hot(values, values.shape[-1]).float()
        if probe.kind == "pointer"
        else values
        for probe, values in hints.items()
    }


def as_hints(told: Probes, hints: list[Probe], hard: bool) -> dict[Probe, Tensor]:
    """What was told, as hints that the next step reads: softened in training, decided in play."""
    found: dict[Probe, Tensor] = {}
    for probe in hints:
        own = told[probe]
        match probe.kind:
            case "pointer" | "mask_one" | "categorical":
                sharp = nn.functional.one_hot(own.argmax(-1), own.shape[-1]).float()
                found[probe] = sharp if hard else own.softmax(-1)
            case "mask":
                found[probe] = (own > 0).float() if hard else own.sigmoid()
            case _:
                found[probe] = own
    return found


def answers(told: Probes, outputs: list[Probe]) -> dict[Probe, Tensor]:
    """What was told of the outputs, decided."""
    return {probe: _decided(probe, told[probe]) for probe in outputs}


def _decided(probe: Probe, told: Tensor) -> Tensor:
    match probe.kind:
        case "pointer":
            return told.argmax(-1)
        case "mask":
            return (told > 0).float()
        case _:
            return told
