"""Instances and the names of oracles go in, their values come out: solved once, kept on disk.

One file holds the cells of one oracle for a group of instances, followed by a digest. A file
that is missing, cut short or damaged is solved again and replaced; several processes may do so
at once, since a file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler import algorithms
from gnarl_compiler.build.cache import private_cache
from gnarl_compiler.build.files import write_whole
from gnarl_compiler.externs.find import brought_identity
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import Episode
from gnarl_compiler.support.unkept import tell_unkept
from gnarl_dsl.externs import with_installed
from gnarl_dsl.model import Feature, Problem
from gnarl_runtime.instances.cells import Values, cell_type, to_cells
from gnarl_runtime.instances.instance_checks import InstanceError

GROUP = 64  # instances per file: what an interruption can lose
_DIGEST = 16  # bytes

Tick = Callable[[int], None]  # called with the number of an instance


def solve_oracles(
    problem: Problem,
    instances: Sequence[Instance],
    names: Sequence[str],
    numbers: Sequence[int] | NDArray[np.int64],
    tick: Tick,
) -> dict[str, Values]:
    """The cells of each oracle for all instances, one after the other.

    `numbers` are how messages call the instances; `tick` hears the number of each one solved.
    """
    solved: dict[str, list[Values]] = {name: [] for name in names}
    problem = with_installed(problem) if names else problem
    identity = problem.hash + algorithms_hash() + brought_identity(problem) if names else ""
    for start in range(0, len(instances) if names else 0, GROUP):
        part = slice(start, start + GROUP)
        work = _Group(problem, identity, instances[part], numbers[part], tick)
        for name in names:
            solved[name].append(work.column(problem.feature(name)))
    return {name: np.concatenate(parts) for name, parts in solved.items()}


class _Group:
    """Some instances and what was solved for them so far."""

    def __init__(
        self,
        problem: Problem,
        identity: str,
        instances: Sequence[Instance],
        numbers: Sequence[int] | NDArray[np.int64],
        tick: Tick,
    ) -> None:
        self.problem, self.instances, self.numbers, self.tick = problem, instances, numbers, tick
        self.content = hash_instances(instances, identity)
        self.edges = [instance.graph.edges() for instance in instances]
        self.readers = [_reader(problem, instance) for instance in instances]

    def column(self, feature: Feature) -> Values:
        """The cells of one oracle, from the cache if they are there."""
        key = hashlib.blake2b(f"{self.content}|{feature.name}".encode(), digest_size=16)
        path = private_cache("oracles") / f"{key.hexdigest()}.npy"
        sizes = [feature.cells(i.graph.n, i.graph.m) for i in self.instances]
        known = read_column(path, feature, sum(sizes))
        if known is not None:
            return known
        column = np.concatenate(list(self._solved(feature)))
        write_column(path, column)
        return column

    def _solved(self, feature: Feature) -> Iterator[Values]:
        for k, read in enumerate(self.readers):
            number = int(self.numbers[k])
            yield to_cells(feature, self._solve(feature, read, number), self.edges[k])
            self.tick(number)

    def _solve(self, feature: Feature, read: Evaluator, number: int) -> Values:
        where = f"instance {number}: the oracle `{feature.name}`"
        if feature.initial is None and feature.name not in read.state.episode.oracles:
            raise InstanceError(
                f"{where} has no formula in {self.problem.name} and the instance does not bring "
                "it; expected its values in `Instance.oracles`"
            )
        try:
            return read.stored(feature.name)
        except (ValueError, ArithmeticError) as error:
            raise InstanceError(f"{where} cannot be computed: {error}") from error


def _reader(problem: Problem, instance: Instance) -> Evaluator:
    """Formulas at the start of an episode; oracles need no more than inputs and graph."""
    episode = Episode(problem, instance, dict(instance.oracles), math.inf, math.inf)
    return Evaluator(Interpreter(problem).blank_state(episode))


# What a column belongs to


def hash_instances(instances: Sequence[Instance], salt: str = "") -> str:
    """One text for the contents of instances: graphs, tags, inputs and oracles they bring."""
    digest = hashlib.blake2b(salt.encode(), digest_size=16)
    for instance in instances:
        graph = instance.graph
        digest.update(f"|{graph.n} {graph.directed}".encode())
        digest.update(np.packbits(graph.adjacency).tobytes())
        digest.update(instance.tags.astype("<u8").tobytes())
        for name, values in sorted([*instance.inputs.items(), *instance.oracles.items()]):
            digest.update(f"|{name} {values.dtype.kind} {values.shape}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


@cache
def algorithms_hash() -> str:
    """The versions of the registered algorithms: their text and the libraries they call."""
    import networkx
    import scipy

    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(algorithms.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{np.__version__} {scipy.__version__} {networkx.__version__}".encode())
    return digest.hexdigest()


# Files


def read_column(path: Path, feature: Feature, length: int) -> Values | None:
    """The column in a cache file, or nothing if it is not there or not whole."""
    column = read_whole_array(path)
    fits = column is not None and column.shape == (length,) and column.dtype == cell_type(feature)
    return column if fits else None


def read_whole_array(path: Path) -> Values | None:
    """The array in a cache file, or nothing if it is not there or not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        return None
    array: Values = np.lib.format.read_array(io.BytesIO(body), allow_pickle=False)
    return array


def write_column(path: Path, column: Values) -> None:
    """Keep a column; without a place to write, it is solved again next time."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, column, allow_pickle=False)
    body = buffer.getvalue()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        digest = hashlib.blake2b(body, digest_size=_DIGEST).digest()
        write_whole(path, body + digest, durable=False)
    except OSError as error:
        tell_unkept(error)
