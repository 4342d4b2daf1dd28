"""Trajectories of one problem: in arrays, in one NumPy archive, and back (docs/clrs_export.md).

An archive is a plain `.npz` file, so that `numpy.load` reads it without GNARL. Reading one runs
nothing that is in it.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.trajectories.handing_over import to_clrs, to_pyg
from gnarl_runtime.trajectories.probes import Kind, Location, Probe, Stage, Values

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
_BROKEN = (  # what reading a damaged archive can raise
    *(OSError, ValueError, EOFError, RuntimeError, MemoryError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
_ABOUT = ("problem", "hash", "expert", "seed", "nodes")
_SHAPES = {"input": "(B, …)", "hint": "(T, B, …)", "output": "(B, …)"}


@dataclass(frozen=True, eq=False)
class Trajectories:
    """B episodes on graphs of n nodes; hints have a row for every state, T in the longest.

    Behind the end of an episode its hints are 0, as in CLRS.
    """

    problem: str
    hash: str
    expert: str
    seed: int
    nodes: int
    inputs: dict[Probe, Values]  # (B, …)
    hints: dict[Probe, Values]  # (T, B, …)
    outputs: dict[Probe, Values]  # (B, …)
    lengths: NDArray[np.int64]  # (B,) states of each episode, the first and the last included
    correct: NDArray[np.bool_]  # (B,) whether its end is right, as the spec says it

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def probes(self) -> list[Probe]:
        return [*self.inputs, *self.hints, *self.outputs]

    @property
    def by_stage(self) -> dict[Stage, dict[Probe, Values]]:
        return {"input": self.inputs, "hint": self.hints, "output": self.outputs}

    def save(self, path: Path | str) -> None:
        """Write the archive."""
        _write(Path(path), self)

    def clrs(self) -> Any:
        """The same as a `clrs.Feedback`, for what reads DeepMind's samplers; needs that package."""
        return to_clrs(self.by_stage, self.lengths)

    def pyg(self) -> Iterator[Any]:
        """One `torch_geometric.data.Data` per episode; needs PyTorch Geometric."""
        return to_pyg(self.by_stage, self.lengths)


class ProbeFileError(Failure, ValueError):
    """A file that holds no trajectories, or not all of what it says."""


def _write(path: Path, found: Trajectories) -> None:
    """The whole archive, or nothing."""
    arrays = {
        f"{stage}/{probe.name}": values
        for stage, group in found.by_stage.items()
        for probe, values in group.items()
    }
    about = {name: getattr(found, name) for name in _ABOUT}
    listed = [
        {
            "name": p.name,
            "stage": p.stage,
            "location": p.location,
            "type": p.kind,
            "classes": p.classes,
        }
        for p in found.probes
    ]
    text = json.dumps({"format": "gnarl-clrs", "version": VERSION, **about, "probes": listed})
    room = io.BytesIO()
    arrays |= {"about": np.array(text), "lengths": found.lengths, "correct": found.correct}
    np.savez_compressed(room, allow_pickle=False, **arrays)
    write_whole(path, room.getvalue())


def read_trajectories(path: Path | str) -> Trajectories:
    """What `Trajectories.save` wrote, or a ProbeFileError that says what is wrong."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise ProbeFileError(f"there is no {path}; gnarl-export --clrs SPEC writes one") from None
    except _BROKEN as error:
        raise ProbeFileError(f"{path} is no archive of trajectories: {error}") from error
    about = _about(arrays, path)
    groups: dict[str, dict[Probe, Values]] = {stage: {} for stage in get_args(Stage)}
    for probe in _probes(about, path):
        groups[probe.stage][probe] = _member(arrays, f"{probe.stage}/{probe.name}", path)
    found = Trajectories(
        **{name: about[name] for name in _ABOUT},
        inputs=groups["input"],
        hints=groups["hint"],
        outputs=groups["output"],
        lengths=_member(arrays, "lengths", path),
        correct=_member(arrays, "correct", path),
    )
    _verify(found, path)
    return found


def _member(arrays: dict[str, Values], name: str, path: Path | str) -> Values:
    if name not in arrays:
        raise ProbeFileError(f"{path}: the array `{name}` is missing; write the archive again")
    return arrays[name]


def _about(arrays: dict[str, Values], path: Path | str) -> dict[str, Any]:
    try:
        about = json.loads(str(_member(arrays, "about", path)))
        known = about["format"] == "gnarl-clrs" and all(name in about for name in _ABOUT)
    except (ValueError, TypeError, KeyError):
        known = False
    if not known:
        raise ProbeFileError(f"{path} is no archive of trajectories: `about` says something else")
    if about["version"] != VERSION:
        raise ProbeFileError(
            f"{path} has version {about['version']}, known is {VERSION}; a newer GNARL reads it"
        )
    return dict(about)


def _probes(about: dict[str, Any], path: Path | str) -> list[Probe]:
    try:
        found = [
            Probe(p["name"], p["stage"], p["location"], p["type"], p["classes"])
            for p in about["probes"]
        ]
    except (KeyError, TypeError) as error:
        raise ProbeFileError(f"{path}: its list of probes cannot be read ({error})") from error
    for probe in found:
        known = (get_args(Stage), get_args(Location), get_args(Kind))
        for word, words in zip((probe.stage, probe.location, probe.kind), known, strict=True):
            if word not in words:
                raise ProbeFileError(
                    f"{path}: probe {probe.name}: found `{word}`, expected {', '.join(words)}"
                )
    return found


def _verify(found: Trajectories, path: Path | str) -> None:
    """Every array has the shape that its probe says."""
    count, longest = len(found.lengths), int(found.lengths.max(initial=0))
    for probe in found.probes:
        values = found.by_stage[probe.stage][probe]
        lead = (longest, count) if probe.stage == "hint" else (count,)
        expected = (*lead, *probe.shape(found.nodes))
        if values.shape != expected:
            raise ProbeFileError(
                f"{path}: `{probe.stage}/{probe.name}` has shape {values.shape}, expected "
                f"{expected}, which is {_SHAPES[probe.stage]}"
            )
