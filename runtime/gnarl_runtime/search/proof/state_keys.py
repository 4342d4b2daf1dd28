"""Slots of an engine in, a key per slot out: equal where the live part of the state is equal."""

from __future__ import annotations

import hashlib
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model.kinds import EDGE
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.search.proof.futures import (
    Address,
    LastPick,
    Live,
    MarkedNode,
    RoundPick,
    Settling,
)

_KEY = 16  # bytes: two of a million million states have the same key once in 10^14 times
_NOBODY = -1

Rows = NDArray[np.uint8]


class StateKeys:
    """The live part of what is in the first slots of an engine, as keys."""

    def __init__(self, engine: Engine, live: Live) -> None:
        self.engine, self.live, self.batch = engine, live, engine.batch

    def of_first(self, count: int) -> list[bytes]:
        """(count,) one key each."""
        parts = [_as_bytes(values) for values in self._values(count)]
        whole = np.ascontiguousarray(np.concatenate(parts, axis=1))  # (count, bytes)
        width, data = whole.shape[1], whole.tobytes()
        made = hashlib.blake2b
        return [
            made(data[start : start + width], digest_size=_KEY).digest()
            for start in range(0, count * width, width)
        ]

    def _values(self, count: int) -> list[NDArray[Any]]:
        batch, live = self.batch, self.live
        phase = batch.phase[:count]
        found: list[NDArray[Any]] = [phase, batch.rounds[:count]]
        found += [batch.last[:count, k] for k in live.last]
        found += [np.where(phase > k, batch.last[:count, k], _NOBODY) for k in live.picks]
        if self.engine.problem.may_skip:
            found.append(batch.picked[:count])
        found += [batch.features[name][:count] for name in live.whole]
        found += [self._open_cells(name, own, count) for name, own in live.settling.items()]
        if self.engine.problem.graph.mutable:
            found += [batch.adjacency[:count], batch.edge_id[:count]]
        return found

    def _open_cells(self, name: str, settling: Settling, count: int) -> NDArray[Any]:
        """The values of a feature, 0 in cells that nobody will read or write again."""
        feature, values = self.engine.problem.feature(name), self.batch.features[name][:count]
        nodes = self._open_nodes(settling, count)  # (count, N)
        if feature.place is EDGE:
            ends = self.engine.ends[0]  # (E, 2), the same in all slots
            cells = nodes[:, ends[:, 0]] & nodes[:, ends[:, 1]]
        elif feature.width == 2:
            cells = nodes[:, :, None] & nodes[:, None, :]
        else:
            cells = nodes
        return np.where(cells, values, np.zeros((), values.dtype))

    def _open_nodes(self, settling: Settling, count: int) -> NDArray[np.bool_]:
        opened = ~self.batch.features[settling.mask][:count]
        rows = np.arange(count)
        for address in settling.addresses:
            node = self._node(address, count)
            known = node >= 0
            opened[rows[known], node[known]] = True
        return np.asarray(opened)

    def _node(self, address: Address, count: int) -> NDArray[np.int32]:
        """Where an address points to; -1: nowhere yet."""  # (count,)
        batch = self.batch
        match address:
            case LastPick():
                last = batch.last[:count, address.phase]
                if address.default is None:
                    return last
                return np.where(last >= 0, last, batch.features[address.default][:count])
            case RoundPick():
                picked = batch.last[:count, address.phase]
                return np.where(batch.phase[:count] > address.phase, picked, _NOBODY)
            case MarkedNode():
                found: NDArray[np.int32] = batch.features[address.feature][:count]
                return found
        assert_never(address)


def _as_bytes(values: NDArray[Any]) -> Rows:
    """Rows of bytes; a zero is a zero, whatever its sign."""
    if values.dtype.kind == "f":
        values = values + 0.0
    flat = np.ascontiguousarray(values).reshape(len(values), -1)
    return flat.view(np.uint8)
