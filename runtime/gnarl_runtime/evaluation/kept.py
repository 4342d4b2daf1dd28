"""Parts of an evaluation that were played go in, a file that a repeated command reads comes out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.checkpoints.arrays import CheckpointError, read_arrays, write_arrays
from gnarl_runtime.evaluation.searched import Best
from gnarl_runtime.search.outcomes import Outcomes, Values, blank_outcomes

_EVERY = 10.0  # seconds of playing that a killed process may lose
_METRIC = "metric:"
_REFERENCE = "reference"
_BEST, _PROVEN = "best", "proven"

Part = tuple[str, int]  # what is played, and the number of its first graph


@dataclass(frozen=True, eq=False)
class Played:
    """What came of one part, by player, and the objectives to compare with."""

    outcomes: Mapping[str, Outcomes]
    reference: NDArray[np.float64] | None  # (instances,)
    best: Best | None = None


class Kept:
    """Finished parts; in a file too while a command is under way, if it is given one.

    `of` says which evaluation they are of: what another one has left in the file is not used.
    """

    def __init__(self, file: Path | None = None, of: str = "") -> None:
        self.file, self.of = file, of
        self.parts: dict[Part, Played] = {}
        self.written = time.monotonic()

    def __enter__(self) -> Kept:
        if self.file is not None and self.file.exists():
            try:
                self.parts = _read(self.file, self.of)
            except _NotOurs:
                told = f"note: {self.file} was not written by gnarl-eval, or is damaged"
                print(f"{told}; nothing is kept there if this stops", file=sys.stderr)
                self.file = None
        if self.parts:
            print(f"going on after {self.graphs} graphs, from {self.file}", file=sys.stderr)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Whoever was interrupted, or has no room on the disk, may go on; others need no file."""
        if self.file is None or isinstance(error, OSError):
            return
        if self.parts and isinstance(error, KeyboardInterrupt):
            self._write(self.file)
            told = f"{self.file} has {self.graphs} graphs that were played"
            print(f"\n{told}; the same command goes on after them", file=sys.stderr)
        else:
            self.file.unlink(missing_ok=True)

    @property
    def graphs(self) -> int:
        every = (next(iter(played.outcomes.values())) for played in self.parts.values())
        return sum(len(np.unique(outcomes.instance)) for outcomes in every)

    def find(self, label: str, first: int) -> Played | None:
        return self.parts.get((label, first))

    def add(self, label: str, first: int, played: Played) -> None:
        self.parts[label, first] = played
        if self.file is not None and time.monotonic() - self.written >= _EVERY:
            self._write(self.file)
            self.written = time.monotonic()

    def _write(self, file: Path) -> None:
        arrays = {
            f"{number}/{name}": values
            for number, played in enumerate(self.parts.values())
            for name, values in _arrays_of(played).items()
        }
        write_arrays(file, arrays, json.dumps({"of": self.of, "parts": list(self.parts)}))


class _NotOurs(ValueError):
    """A file that is not to be touched."""


def _read(file: Path, of: str) -> dict[Part, Played]:
    """The parts in a file; none if they are of another evaluation."""
    try:
        arrays, text = read_arrays(file)
        document = json.loads(text)
        if document["of"] != of:
            return {}
        return {
            (label, first): _played(_below(str(number), arrays))
            for number, (label, first) in enumerate(document["parts"])
        }
    except (CheckpointError, ValueError, KeyError, TypeError) as error:
        raise _NotOurs from error


def _arrays_of(played: Played) -> dict[str, Values]:
    """`player/column` for all columns of all players."""
    arrays = {
        f"{name}/{column}": values
        for name, outcomes in played.outcomes.items()
        for column, values in _columns(outcomes).items()
    }
    if played.reference is not None:
        arrays[_REFERENCE] = played.reference
    if played.best is not None:
        arrays |= {_BEST: played.best.objective, _PROVEN: played.best.proven}
    return arrays


def _columns(outcomes: Outcomes) -> dict[str, Values]:
    plain = {name: v for name, v in vars(outcomes).items() if isinstance(v, np.ndarray)}
    metrics = {f"{_METRIC}{name}": values for name, values in outcomes.metrics.items()}
    return {**plain, **metrics, "seconds": np.array([outcomes.seconds])}


def _played(arrays: Mapping[str, Values]) -> Played:
    players = dict.fromkeys(name.partition("/")[0] for name in arrays if "/" in name)
    outcomes = {name: _outcomes(_below(name, arrays)) for name in players}
    best = Best(arrays[_BEST], arrays[_PROVEN]) if _BEST in arrays else None
    return Played(outcomes, arrays.get(_REFERENCE), best)


def _outcomes(columns: Mapping[str, Values]) -> Outcomes:
    plain: dict[str, Any] = {k: v for k, v in columns.items() if not k.startswith(_METRIC)}
    blank = blank_outcomes(plain["instance"], plain["sample"], plain["nodes"], ())
    metrics = {k.removeprefix(_METRIC): v for k, v in columns.items() if k.startswith(_METRIC)}
    return replace(blank, **{**plain, "seconds": float(plain["seconds"][0])}, metrics=metrics)


def _below(name: str, arrays: Mapping[str, Values]) -> dict[str, Values]:
    """The arrays whose names begin so, by the rest of their names."""
    start = f"{name}/"
    return {key.removeprefix(start): a for key, a in arrays.items() if key.startswith(start)}
