"""Graph files and graphs of other libraries go in, instances of a problem come out.

By the ending of the file's name:

    .gnarl.npz          instance sets (instance_files.py)
    .json               node-link data of networkx
    .edges .txt         lines `u v` or `u v weight`, or a header
    .csv .tsv           the same, or a header with `x` and `y`, then a line per node
    .graphml            GraphML
    .tsp .atsp          TSPLIB
    .vrp                CVRPLIB
    .graph .metis       METIS
    .gr .col .dimacs    DIMACS and PACE
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gnarl_dsl.model import Problem
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.instances.instance_files import read_instance_file
from gnarl_runtime.readers.dimacs import read_dimacs
from gnarl_runtime.readers.edges import read_edge_list
from gnarl_runtime.readers.graphml import read_graphml
from gnarl_runtime.readers.metis import read_metis
from gnarl_runtime.readers.node_link import read_node_link
from gnarl_runtime.readers.objects import instance_from
from gnarl_runtime.readers.points import is_table, read_points
from gnarl_runtime.readers.raw import Imported, RawGraph, build_instance
from gnarl_runtime.readers.repair import repair_graph
from gnarl_runtime.readers.tsplib import read_tsplib
from gnarl_runtime.readers.vrp import read_vrp

__all__ = ["Imported", "InstanceError", "instance_from", "read_graphs"]


def _read_table(path: Path) -> RawGraph:
    return read_points(path) if is_table(path) else read_edge_list(path)


_READERS: dict[str, Callable[[Path], list[RawGraph]]] = {
    ".json": read_node_link,
    ".edges": lambda path: [read_edge_list(path)],
    ".txt": lambda path: [read_edge_list(path)],
    ".csv": lambda path: [_read_table(path)],
    ".tsv": lambda path: [_read_table(path)],
    ".graphml": read_graphml,
    ".gr": lambda path: [read_dimacs(path)],
    ".col": lambda path: [read_dimacs(path)],
    ".dimacs": lambda path: [read_dimacs(path)],
    ".graph": lambda path: [read_metis(path)],
    ".metis": lambda path: [read_metis(path)],
}
_DISTANCES = {".tsp": read_tsplib, ".atsp": read_tsplib, ".vrp": read_vrp}


def read_graphs(
    path: str | Path,
    problem: Problem,
    *,
    seed: int = 0,
    rounded: bool = False,
    repair: bool = False,
) -> list[Imported]:
    """The graphs of a file as instances; their `notes` say what was drawn or left out.

    Inputs that the file does not give are drawn with `seed` if the spec says how. `rounded`
    rounds the distances of a TSPLIB or CVRPLIB file to whole numbers, as published optima have
    them. `repair` removes loops and repeated edges, and all but the largest part if the problem
    wants a connected graph; otherwise these are errors.
    """
    path = Path(path)
    if path.name.endswith(".npz"):
        return _from_set(path, problem)
    ending = path.suffix.lower()
    if ending in _DISTANCES:
        graphs = [_DISTANCES[ending](path, rounded)]
        if rounded and any(feature.type.apart for feature in problem.features):
            raise InstanceError(
                f"{path}: {problem.name} reads points, whose distances cannot be rounded; likely "
                "fix: read the file without `rounded`"
            )
    elif ending in _READERS:
        graphs = _READERS[ending](path)
    else:
        known = ", ".join([".gnarl.npz", *_READERS, *_DISTANCES])
        raise InstanceError(f"{path}: unknown kind of file `{ending}`; expected one of {known}")
    built = []
    for number, graph in enumerate(graphs):
        fit, notes = repair_graph(problem, graph) if repair else (graph, ())
        built.append(build_instance(problem, fit, seed=seed, number=number, notes=notes))
    return built


def _from_set(path: Path, problem: Problem) -> list[Imported]:
    file = read_instance_file(path, problem)
    return [
        Imported(i.graph, i.inputs, i.tags, i.oracles, tuple(range(i.graph.n)), file.notes)
        for i in file.instances
    ]
