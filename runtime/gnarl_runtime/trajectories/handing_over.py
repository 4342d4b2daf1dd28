"""Probes and their values in, what other libraries read out: CLRS's feedback, PyG's graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.report.failures import Failure
from gnarl_runtime.trajectories.probes import Probe, Stage, Values

ByStage = Mapping[Stage, Mapping[Probe, Values]]


class LibraryMissing(Failure, ImportError):
    """Somebody else's package that is not installed here."""


def _library(name: str, called: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise LibraryMissing(
            f"{called} is not installed here ({error}); the arrays of `inputs`, `hints` and "
            "`outputs` need nothing but NumPy"
        ) from error


def to_clrs(found: ByStage, lengths: NDArray[np.int64]) -> Any:
    """A `clrs.Feedback` of `clrs.DataPoint`s: what its samplers yield and its models take."""
    samplers = _library("clrs._src.samplers", "the package of CLRS (dm-clrs)")
    probing = import_module("clrs._src.probing")
    points = {
        stage: [
            probing.DataPoint(probe.name, probe.location, probe.kind, values)
            for probe, values in group.items()
        ]
        for stage, group in found.items()
    }
    features = samplers.Features(points["input"], points["hint"], lengths)
    return samplers.Feedback(features, points["output"])


def to_pyg(found: ByStage, lengths: NDArray[np.int64]) -> Iterator[Any]:
    """A graph per episode, with inputs, outputs and hints as attributes `input_pos`, `hint_d` ….

    `edge_index` is the graph of `adj` with its loops, or all pairs where there is none; edge probes
    have a value per edge. Hints begin with the dimension of time.
    """
    data = _library("torch_geometric.data", "PyTorch Geometric")
    torch = import_module("torch")
    for number, length in enumerate(lengths.tolist()):
        edges = _edges(found["input"], number)
        graph = data.Data(edge_index=torch.from_numpy(edges), num_nodes=int(edges.max()) + 1)
        for stage, group in found.items():
            for probe, values in group.items():
                own = values[:length, number] if stage == "hint" else values[number]
                if probe.location == "edge":
                    own = own[..., edges[0], edges[1], :] if probe.classes else own[..., *edges]
                graph[f"{stage}_{probe.name}"] = torch.from_numpy(np.ascontiguousarray(own))
        yield graph


def _edges(inputs: Mapping[Probe, Values], number: int) -> NDArray[np.int64]:
    """Both ends of every edge (2, E), loops included."""
    for probe, values in inputs.items():
        if probe.name.rstrip("_") == "adj":
            return np.stack(np.nonzero(values[number])).astype(np.int64)
    nodes = max(values.shape[1] for probe, values in inputs.items() if probe.location == "node")
    return np.stack(np.nonzero(np.ones((nodes, nodes)))).astype(np.int64)
