"""A batch and a reading in, the numbers of its slots as the network reads them out.

What hangs on inputs alone is kept per slot until the inputs there are others, whoever put them
there. Zero is always in the table of ranks, and has the code 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model.kinds import EDGE, INPUT, ORDINAL, PAIR
from gnarl_runtime.batch import read_kernels as kernels
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.reading import Reading, Rule, UnitInputs

Index = NDArray[np.int64]
Values = NDArray[Any]


@dataclass(frozen=True)
class DrawnRanks:
    """For training: how far ranks are apart is drawn for each instance, in a share of them.

    Small graphs have few ranks, so that a network would never see close values.
    """

    seed: int
    share: float


@dataclass(frozen=True, eq=False)
class _Cells:
    """Where the cells of some slots are in an array (slots, cells)."""

    slots: Index
    rows: Index  # (K,)
    columns: Index  # (K,)
    stride: int

    def some(self, chosen: NDArray[np.bool_]) -> _Cells:
        return _Cells(self.slots[chosen], self.rows[chosen], self.columns[chosen], self.stride)

    def of(self, position: int, values: Values) -> Values:
        """The values of one of the slots, row by row."""
        rows, columns = int(self.rows[position]), int(self.columns[position])
        row = values[self.slots[position]]
        if rows == 1:
            return np.asarray(row[:columns])
        return np.asarray(row.reshape(-1, self.stride)[:rows, :columns].ravel())


def _cells(batch: Batch, name: str, slots: Index) -> _Cells:
    feature = batch.layout.problem.feature(name)
    n, ones = batch.n[slots].astype(np.int64), np.ones(len(slots), np.int64)
    if feature.single:
        return _Cells(slots, ones, ones, 1)
    if feature.place is PAIR:
        return _Cells(slots, n, n, batch.layout.nodes)
    columns = batch.m[slots].astype(np.int64) if feature.place is EDGE else n
    return _Cells(slots, ones, columns, 1)


def _read_type(values: Values) -> np.dtype[Any]:
    """Of numbers as the network reads them: single precision."""
    return np.dtype(np.complex64 if np.iscomplexobj(values) else np.float32)


def _flat(values: Values) -> Values:
    return values.reshape(len(values), -1)


class _Unit:
    """What is known of a unit in each slot of a batch: its scale or its ranks."""

    def __init__(self, batch: Batch, own: UnitInputs, ordinal: bool) -> None:
        slots = len(batch.n)
        self.own, self.ordinal = own, ordinal
        given = {name: _flat(batch.features[name]) for name in own.inputs}
        shapes = {name: values.shape for name, values in given.items()}
        self.seen = {
            name: np.zeros(values.shape, _read_type(values)) for name, values in given.items()
        }
        self.sizes = np.full((slots, 2), -1, np.int64)  # n and m that were seen
        self.scale = np.ones(slots)
        room = 1 + sum(cells for _, cells in shapes.values()) if ordinal else 0
        self.table = np.zeros((slots, room))
        self.codes = np.zeros((slots, room), np.float32)
        self.length = np.zeros(slots, np.int64)

    def refresh(self, batch: Batch, slots: Index, drawn: DrawnRanks | None) -> NDArray[np.bool_]:
        """Look at the inputs again; where they are others than before, of the slots."""
        cells = {name: _cells(batch, name, slots) for name in self.own.inputs}
        found = np.stack([batch.n[slots], batch.m[slots]], axis=1)
        stale = np.asarray((self.sizes[slots] != found).any(axis=1))
        self.sizes[slots] = found
        for name, where in cells.items():
            values = _flat(batch.features[name])
            place = (where.slots, where.rows, where.columns, where.stride)
            kernels.note_changes(*place, values, self.seen[name], stale)
        if stale.any():
            fresh = {name: where.some(stale) for name, where in cells.items()}
            if self.ordinal:
                self._rank(batch, slots[stale], fresh, drawn)
            else:
                self._measure(batch, slots[stale], fresh)
        return stale

    def _measure(self, batch: Batch, slots: Index, cells: Mapping[str, _Cells]) -> None:
        """The mean absolute value of what is not 0, of points the distance to their middle."""
        total, count = np.zeros(len(slots)), np.zeros(len(slots), np.int64)
        for name, where in cells.items():
            place = (where.slots, where.rows, where.columns, where.stride)
            if batch.layout.problem.feature(name).type.apart:
                kernels.add_spread(where.slots, where.columns, batch.features[name], total, count)
                continue
            kernels.add_sizes(*place, _flat(batch.features[name]), total, count)
        self.scale[slots] = np.where(count > 0, total / np.maximum(count, 1), 1.0)

    def _rank(
        self, batch: Batch, slots: Index, cells: Mapping[str, _Cells], drawn: DrawnRanks | None
    ) -> None:
        for position, slot in enumerate(slots):
            given = [where.of(position, self.seen[name]) for name, where in cells.items()]
            table = np.unique(np.concatenate([np.zeros(1, np.float32), *given]))
            codes = _codes(len(table), None if drawn is None else _stream(drawn, table))
            self.length[slot] = len(table)
            self.table[slot, : len(table)] = table
            self.codes[slot, : len(table)] = codes - codes[np.searchsorted(table, 0.0)]


def _stream(drawn: DrawnRanks, table: NDArray[np.float32]) -> np.random.Generator | None:
    """By the seed and the values themselves, so that an instance always looks the same."""
    digest = hashlib.blake2b(table.tobytes(), digest_size=8).digest()
    random = stream(drawn.seed, "ranks", int.from_bytes(digest, "little"))
    return random if random.random() < drawn.share else None


def _codes(count: int, random: np.random.Generator | None) -> NDArray[np.float64]:
    """Ascending from 0 to 1: as far apart as each other, or like sorted draws of one law."""
    gaps = np.ones(count - 1) if random is None else random.exponential(size=count - 1)
    upto = np.concatenate([np.zeros(1), np.cumsum(gaps)])
    return np.asarray(upto / max(upto[-1], np.finfo(np.float64).tiny))


class ReadTables:
    """The numbers of a batch as one reading has them."""

    def __init__(self, batch: Batch, reading: Reading, drawn: DrawnRanks | None = None) -> None:
        self.reading, self.drawn = reading, drawn
        ordinal = {rule.powers[0][0] for rule in reading.rules if rule.level is ORDINAL}
        self.units = {own.name: _Unit(batch, own, own.name in ordinal) for own in reading.units}
        self.read = {
            rule.feature: np.zeros(values.shape, _read_type(values))
            for rule in reading.rules
            for values in (batch.features[rule.feature],)
        }
        self.factor = np.ones(len(batch.n))

    def features(self, batch: Batch, slots: Index) -> Mapping[str, Values]:
        """Every feature of the batch, valid in these slots."""
        stale = {name: unit.refresh(batch, slots, self.drawn) for name, unit in self.units.items()}
        for rule in self.reading.rules:
            where = _cells(batch, rule.feature, slots)
            if batch.layout.problem.feature(rule.feature).stage is INPUT:
                changed = np.logical_or.reduce([stale[name] for name, _ in rule.powers])
                if not changed.any():
                    continue
                where = where.some(changed)
            self._fill(batch, rule, where)
        return {**batch.features, **self.read}

    def _fill(self, batch: Batch, rule: Rule, where: _Cells) -> None:
        place = (where.slots, where.rows, where.columns, where.stride)
        values, out = _flat(batch.features[rule.feature]), _flat(self.read[rule.feature])
        if rule.level is ORDINAL:
            unit = self.units[rule.powers[0][0]]
            kernels.rank_values(*place, values, unit.table, unit.codes, unit.length, out)
            return
        self.factor[where.slots] = 1.0
        for name, power in rule.powers:
            self.factor[where.slots] *= self.units[name].scale[where.slots] ** -power
        if batch.layout.problem.feature(rule.feature).type.apart:
            out[where.slots] = values[where.slots] * self.factor[where.slots, None]
            return
        kernels.scale_values(*place, values, self.factor, out)


def features_read(
    batch: Batch, slots: Index, reading: Reading, drawn: DrawnRanks | None
) -> Mapping[str, Values]:
    """The features of a batch as the network reads them in these slots."""
    if not reading.rules:
        return batch.features
    key = (reading, drawn)
    if key not in batch.tables:
        batch.tables[key] = ReadTables(batch, reading, drawn)
    tables: ReadTables = batch.tables[key]
    return tables.features(batch, slots)
