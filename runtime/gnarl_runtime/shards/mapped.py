"""A folder of shards in, all of its instances as one pool out, larger than memory if need be.

The shards are unpacked once into plain arrays beside them, laid out as a batch is. A pool on these
reads from disk what an episode needs; what has been read is given back now and then.
"""

from __future__ import annotations

import mmap
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import BatchLayout, layout_of
from gnarl_runtime.instances.instance_files import Provenance, hash_bytes, read_instances
from gnarl_runtime.instances.pool_arrays import Copier, Index
from gnarl_runtime.instances.pools import Pool, pool_of
from gnarl_runtime.shards.plan import Tell, shard_files, silent

_GIVEN_BACK = 128 << 20  # bytes that may be read before they are given back


class MappedPool(Pool):
    """A pool whose arrays are files."""

    def copier(self, batch: Batch) -> Copier:
        if not self._copiers or self._copiers[0].target is not batch:
            self._copiers[:] = [_MappedCopier(self.batch, batch)]
        return self._copiers[0]


class _MappedCopier(Copier):
    """Counts what it reads: pages are dropped now and then, and read again when they are needed."""

    def __init__(self, source: Batch, target: Batch) -> None:
        super().__init__(source, target)
        row = sum(array.nbytes for array in _arrays(source)) / max(source.layout.slots, 1)
        self.every = max(1, int(_GIVEN_BACK / max(row, 1)))
        self.read = 0

    def copy(self, picks: Index, slots: Index) -> Any:
        found = super().copy(picks, slots)
        self.read += len(picks)
        if self.read >= self.every:
            self.read = 0
            _give_back(self.source)
        return found


def _arrays(batch: Batch) -> list[NDArray[Any]]:
    own = [getattr(batch, spec.name) for spec in batch.layout.core()]
    return [*own, *batch.features.values()]


def _give_back(batch: Batch) -> None:
    for array in _arrays(batch):
        mapped = getattr(array, "_mmap", None)
        if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


def shard_pool(
    problem: Problem, folder: Path, oracles: Sequence[str] = (), tell: Tell = silent
) -> Pool:
    """All instances of a folder, mapped from disk."""
    files = shard_files(folder)
    place = folder / f"mapped-{_digest(problem, files, oracles)}"
    try:
        with FileLock(folder / ".mapped.lock"):
            if not place.is_dir():
                _unpack(problem, files, tuple(oracles), place, tell)
    except OSError as error:
        raise Failure(
            f"{folder}: {error.strerror or error}; shards are unpacked beside them once, which "
            "needs room and the right to write there"
        ) from None
    batch = _mapped(problem, place, tuple(oracles), "c")
    count = f"{len(files)} shards of {folder}"
    return MappedPool(batch, Provenance(recipe=count))


def _digest(problem: Problem, files: Sequence[Path], oracles: Sequence[str]) -> str:
    told = [problem.hash, *sorted(oracles), *(f"{p.name} {p.stat().st_size}" for p in files)]
    return hash_bytes("\n".join(told).encode())[:12]


def _unpack(
    problem: Problem, files: Sequence[Path], oracles: tuple[str, ...], place: Path, tell: Tell
) -> None:
    """Beside its place first: half of it is never taken for the whole."""
    parts = place.with_name(f"{place.name}.part-{os.getpid()}")
    try:
        parts.mkdir()
        sizes = [_sizes(path) for path in files]
        slots = sum(len(n) for n, _ in sizes)
        nodes, edges = max(int(n.max()) for n, _ in sizes), max(int(m.max()) for _, m in sizes)
        np.save(parts / "room.npy", np.array([slots, nodes, edges]))
        whole = _mapped(problem, parts, oracles, "w+")
        start = 0
        for done, path in enumerate(files):
            start += _copy(problem, path, oracles, whole, start)
            tell("unpacking shards", done + 1, len(files))
        for array in _arrays(whole):
            if isinstance(array, np.memmap):
                array.flush()
        del whole
        os.replace(parts, place)
    finally:
        shutil.rmtree(parts, ignore_errors=True)


def _sizes(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes and edges of each graph, from the file alone; reading it all checks them later."""
    try:
        with np.load(path, allow_pickle=False) as found:
            return found["nodes"], found["edges"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is damaged ({error}); delete it and draw it again") from None


def _copy(problem: Problem, path: Path, oracles: tuple[str, ...], whole: Batch, start: int) -> int:
    """The instances of a shard into their slots; oracles that it does not bring are solved."""
    part = pool_of(problem, read_instances(path, problem), oracles)
    own = np.arange(len(part))
    Copier(part.batch, whole).copy(own, start + own)
    return len(own)


def _mapped(problem: Problem, place: Path, oracles: tuple[str, ...], mode: str) -> Batch:
    """A batch whose arrays are the files of a folder."""
    slots, nodes, edges = map(int, np.load(place / "room.npy"))
    layout = layout_of(problem, slots, nodes, edges, oracles)
    core: dict[str, Any] = {
        spec.name: _array(place, f"core.{spec.name}", spec, mode) for spec in layout.core()
    }
    own = {
        spec.name: _array(place, f"feature.{spec.name}", spec, mode) for spec in layout.features()
    }
    return replace(Batch.allocate(_one_slot(layout)), layout=layout, features=own, **core)


def _one_slot(layout: BatchLayout) -> BatchLayout:
    return replace(layout, slots=1)


def _array(place: Path, name: str, spec: Any, mode: str) -> NDArray[Any]:
    path = place / f"{name}.npy"
    if 0 in spec.shape:
        return np.zeros(spec.shape, spec.dtype)
    if mode == "w+":
        return np.lib.format.open_memmap(path, "w+", np.dtype(spec.dtype), spec.shape)
    found = np.lib.format.open_memmap(path, mode)
    if found.shape != tuple(spec.shape) or found.dtype != np.dtype(spec.dtype):
        raise Failure(f"{place} does not fit {path.name}; delete that folder, it is made again")
    return found
