"""Graphs of a user's own in, instances of a problem out; their nodes keep their names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import MOST_GRAPHS, PYTHON, verify_between, verify_input, verify_seed
from gnarl_runtime.instances.instance_checks import verify_instance
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.readers.objects import instance_from, raw_graph
from gnarl_runtime.readers.raw import Imported, build_instance
from gnarl_runtime.readers.read import read_graphs
from gnarl_runtime.readers.repair import repair_graph


def own_graphs(
    problem: Problem, given: Any, *, seed: int = 0, rounded: bool = False, repair: bool = False
) -> list[Imported]:
    """One graph or a list of them: networkx, PyG, matrices, instances, or paths of graph files.

    `rounded` and `repair` as for `read_graphs`.
    """
    several = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 3)
    found: list[Imported] = []
    for item in given if several else [given]:
        if isinstance(item, str | Path):
            found += _from_file(problem, item, seed, rounded, repair)
        else:
            found.append(_from_object(problem, item, seed, len(found), repair))
    if not found:
        raise UsageError("found no graphs; expected at least one")
    return found


def _from_file(
    problem: Problem, path: str | Path, seed: int, rounded: bool, repair: bool
) -> list[Imported]:
    if Path(path).is_dir():
        return _from_folder(problem, Path(path))
    verify_input(str(path), path)
    try:
        return read_graphs(path, problem, seed=seed, rounded=rounded, repair=repair)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _from_folder(problem: Problem, folder: Path) -> list[Imported]:
    """All instances of a folder that gnarl-draw has filled."""
    from gnarl_runtime.shards.plan import shard_files

    return [graph for path in shard_files(folder) for graph in read_graphs(path, problem)]


def _from_object(problem: Problem, graph: object, seed: int, number: int, repair: bool) -> Imported:
    if isinstance(graph, Imported):
        verify_instance(problem, graph, "the instance")
        return graph
    if not repair or isinstance(graph, Instance):
        return instance_from(problem, graph, seed=seed, number=number)
    fit, notes = repair_graph(problem, raw_graph(problem, graph))
    return build_instance(problem, fit, seed=seed, number=number, notes=notes)


def draw(
    spec: Spec,
    count: int = 1,
    nodes: int | tuple[int, int] | None = None,
    seed: int = 0,
    *,
    split: str = "train",
    instances: str | None = None,
) -> list[Instance]:
    """Random instances of a problem, the same for the same seed.

    spec       a file, the name of a shipped spec, or a problem
    count      how many
    nodes      size of the graphs, or (smallest, largest); None takes the spec's own sizes
    split      which split of the instance set to draw from
    instances  the name of an instance set of the spec; None takes the first
    """
    verify_between(PYTHON, "count", count, 1, MOST_GRAPHS)
    verify_seed(PYTHON, seed)
    pool = draw_pool(
        problem_of(spec), count=count, nodes=nodes, seed=seed, split=split, instances=instances
    )
    return [pool.instance(number) for number in range(count)]


def notes_of(instances: Iterable[Instance]) -> tuple[str, ...]:
    """What was drawn or left out where graphs were read, each once."""
    read = (instance for instance in instances if isinstance(instance, Imported))
    return tuple(dict.fromkeys(note for instance in read for note in instance.notes))
