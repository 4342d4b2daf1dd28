"""What is to be drawn in, the names of its shards out: they alone say what is done already."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ORACLE
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.instances.instance_files import hash_bytes

Tell = Callable[[str, int, int], None]  # who wants to know how far a job is

SIZE = 1_000  # instances in a shard
ENDING = ".gnarl.npz"
_NAME = re.compile(r"(?P<own>.+-[0-9a-f]{12}-seed\d+)-(?P<first>\d{9})\+(?P<count>\d+)\.gnarl\.npz")


def silent(step: str, done: int, total: int) -> None:
    """For those who do not want to know."""


@dataclass(frozen=True)
class Shard:
    """Instances `first` to `first + count - 1` of a plan."""

    first: int
    count: int
    name: str


@dataclass(frozen=True)
class DrawPlan:
    """Instances of a split, as `draw_pool` draws them."""

    problem: Problem
    count: int
    seed: int = 0
    split: str = "train"
    instances: str | None = None
    nodes: int | tuple[int, int] | None = None
    oracles: tuple[str, ...] = ()
    size: int = SIZE

    @property
    def own(self) -> str:
        """What all shards of a plan are called; other rules or other draws have other names."""
        told = [self.problem.hash, self.split, self.instances, self.nodes, sorted(self.oracles)]
        digest = hash_bytes(json.dumps(told).encode())[:12]
        return f"{self.problem.name}-{digest}-seed{self.seed}"

    @property
    def shards(self) -> list[Shard]:
        return [self._shard(first) for first in range(0, self.count, self.size)]

    def _shard(self, first: int) -> Shard:
        count = min(self.size, self.count - first)
        return Shard(first, count, f"{self.own}-{first:09}+{count}{ENDING}")


def all_oracles(problem: Problem) -> tuple[str, ...]:
    return tuple(f.name for f in problem.features if f.stage is ORACLE)


def shard_files(folder: Path) -> list[Path]:
    """The shards in a folder, in the order of their instances; they must be of one plan."""
    found = sorted(_shards(folder), key=lambda entry: entry[1:])
    if not found:
        raise UsageError(
            f"{folder} holds no shards; expected what gnarl-draw SPEC --out {folder} writes"
        )
    owns = {own for _, own, _ in found}
    if len(owns) > 1:
        first, second = sorted(owns)[:2]
        raise UsageError(
            f"{folder} holds shards of different draws ({first}, {second}); expected those of one, "
            "since a pool has one kind of instances"
        )
    return [path for path, _, _ in found]


def _shards(folder: Path) -> Iterator[tuple[Path, str, int]]:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; expected one with shards of gnarl-draw")
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is not None and path.is_file():
            yield path, match["own"], int(match["first"])
