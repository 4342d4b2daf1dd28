"""A `.gnarl.npz` file goes in, checked instances come out; every fault names its member."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gnarl_compiler.graph import Graph
from gnarl_compiler.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_runtime.instance_cells import Ends, Values, cell_count, cell_type, to_dense
from gnarl_runtime.instance_checks import InstanceError, verify_instance
from gnarl_runtime.instance_files import (
    FORMAT,
    META,
    VERSION,
    Column,
    InstanceFile,
    Provenance,
    column_of,
    hash_bytes,
    hash_meta,
)

MAX_NODES = 10_000  # per graph: an instance holds matrices
MAX_COUNT = 10_000_000
MAX_BYTES = 2 << 30  # of all members, unpacked
MAX_META = 16 << 20
MAX_DENSE = 16 << 30  # of all matrices, in memory
_HEADER = 1024  # more than an npy header of ours takes

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    KeyError,
    OSError,
)


def read_archive(path: Path, problem: Problem) -> InstanceFile:
    """Everything in a file, checked against the problem."""
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise InstanceError(
                f"{path}: not a whole .gnarl.npz file ({error}); copy or write it again"
            ) from error
        with archive:
            return _Reader(str(path), archive, problem).read()


class _Reader:
    """One open file."""

    def __init__(self, path: str, archive: zipfile.ZipFile, problem: Problem) -> None:
        self.path, self.archive, self.problem = path, archive, problem
        self.entries = {entry.filename: entry for entry in archive.infolist()}
        total = sum(entry.file_size for entry in archive.infolist())
        if total > MAX_BYTES:
            raise self.error("", f"unpacks to {total:,} bytes, more than {MAX_BYTES:,}")
        self.meta = self._meta()

    def error(self, member: str, what: str) -> InstanceError:
        place = f"{self.path}: {member}" if member else self.path
        return InstanceError(f"{place}: {what}")

    def read(self) -> InstanceFile:
        columns = self._columns()
        instances = list(self._instances(columns))
        for number, instance in enumerate(instances):
            verify_instance(self.problem, instance, f"{self.path}: instance {number}")
        meta = self.meta
        return InstanceFile(
            instances=instances,
            problem=self.field("problem", str),
            problem_hash=self.field("problem_hash", str),
            content=self.field("content", str),
            spec=tuple((str(name), str(text)) for name, text in self._pairs()),
            versions={str(k): str(v) for k, v in self.field("versions", dict).items()},
            provenance=self._provenance(meta.get("provenance")),
            notes=tuple(self._notes()),
        )

    # The description

    def _meta(self) -> dict[str, Any]:
        content = self.content(META, MAX_META)
        try:
            meta = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self.error(META, f"is not JSON ({error})") from error
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise self.error(META, f'expected "format": "{FORMAT}"; is this an instance file?')
        if meta.get("version") != VERSION:
            found = meta.get("version")
            raise self.error(META, f"has version {found!r}, this program reads {VERSION}")
        if meta.get("content") != hash_meta(meta):
            raise self.error(META, "does not match its own hash: the file was changed or damaged")
        return meta

    def field[T](self, name: str, kind: type[T]) -> T:
        ...

    def _pairs(self) -> list[tuple[str, str]]:
        ...
