"""A graph of networkx, PyTorch Geometric or NumPy goes in, an instance comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import EDGE, GRAPH, NODE, PAIR, PLACES, Place
from gnarl_runtime.instances.cells import Values
from gnarl_runtime.instances.instance_checks import InstanceError, verify_instance
from gnarl_runtime.readers.raw import WEIGHT, Imported, RawGraph, build_instance


def instance_from(
    problem: Problem, graph: Any, /, *, seed: int = 0, number: int = 0, **inputs: Any
) -> Imported:
    """An instance of the problem on a graph of another library, or on a matrix (n, n).

    Attributes become inputs by name. `inputs` come first: a value per node, a matrix or a value
    per edge (in the graph's own order), or a node for a `mask_one`. What is missing is drawn if
    it can be, with `seed` and `number`; `Imported.notes` says so.
    """
    if isinstance(graph, Instance):
        if inputs:
            raise InstanceError(f"{', '.join(inputs)}: an Instance has its inputs already")
        verify_instance(problem, graph, "the instance")
        return Imported(
            graph.graph, graph.inputs, graph.tags, graph.oracles, tuple(range(graph.graph.n))
        )
    raw = raw_graph(problem, graph)
    return build_instance(problem, raw, given=inputs, seed=seed, number=number)


def raw_graph(problem: Problem, graph: Any) -> RawGraph:
    """The graph and everything that hangs on it."""
    if isinstance(graph, Graph):
        return RawGraph("the graph", tuple(range(graph.n)), graph.edges(), graph.directed)
    if hasattr(graph, "edge_index"):
        return _from_pyg(problem, graph)
    if hasattr(graph, "is_directed") and hasattr(graph, "nodes") and hasattr(graph, "edges"):
        return _from_networkx(graph)
    if isinstance(graph, np.ndarray | list | tuple):
        return _from_matrix(problem, np.asarray(graph))
    raise InstanceError(
        f"cannot read a graph from {type(graph).__name__}; expected a networkx graph, a PyG Data, "
        "a matrix (n, n) or an Instance"
    )


# networkx


def _from_networkx(graph: Any) -> RawGraph:
    labels = list(graph.nodes)
    position = {label: k for k, label in enumerate(labels)}
    edges = list(graph.edges(data=True))
    ends = [[position[u], position[v]] for u, v, _ in edges]
    return RawGraph(
        "the networkx graph",
        labels,
        np.array(ends, np.int64).reshape(-1, 2),
        directed=bool(graph.is_directed()),
        edge_values=_columns([data for _, _, data in edges]),
        node_values=_columns([data for _, data in graph.nodes(data=True)]),
        graph_values=dict(graph.graph),
    )


def _columns(rows: list[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Every attribute that some row has, with nothing where it is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): [row.get(name) for row in rows] for name in names}


# PyTorch Geometric


def _from_pyg(problem: Problem, data: Any) -> RawGraph:
    """Attributes by the names of inputs and oracles; `edge_attr` and `x` are nameless weights."""
    ends = _array(data.edge_index)
    if ends.ndim != 2 or len(ends) != 2 or ends.dtype.kind not in "iu":
        raise InstanceError(f"edge_index has shape {ends.shape}, expected whole numbers (2, edges)")
    n = int(data.num_nodes or 0)
    if ends.size and not 0 <= ends.min() <= ends.max() < n:
        raise InstanceError(f"edge_index names node {ends.max()}, but there are {n} nodes from 0")
    values = _pyg_values(problem, data)
    return RawGraph(
        "the PyG graph",
        tuple(range(n)),
        ends.T.astype(np.int64),
        directed=True,  # an undirected graph has both directions there
        edge_values=values[EDGE],
        node_values=values[NODE],
        graph_values={**values[GRAPH], **values[PAIR]},
    )


def _pyg_values(problem: Problem, data: Any) -> dict[Place, dict[str, Values]]:
    """What the attributes give, by place and name."""
    values: dict[Place, dict[str, Values]] = {place: {} for place in PLACES.values()}
    for feature in problem.features:
        if feature.stage.steady and feature.name in data:
            array = _array(data[feature.name])
            one = feature.type.single and array.size == 1
            values[GRAPH if one else feature.place][feature.name] = array
    for place, names in ((EDGE, ("edge_attr", "edge_weight")), (NODE, ("x",))):
        for name in names:
            if name in data and data[name] is not None:
                values[place].setdefault(WEIGHT, _single(_array(data[name]), name))
    return values


def _array(tensor: Any) -> Values:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _single(array: Values, name: str) -> Values:
    """A column (k,) or (k, 1); with more columns nobody knows which is which."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise InstanceError(
            f"{name} has shape {array.shape}, expected one column; likely fix: pass each input by "
            f"its name, as in instance_from(problem, data, A=data.{name}[:, 0])"
        )
    return array


# Matrices


def _from_matrix(problem: Problem, matrix: Values) -> RawGraph:
    """Truths are edges; numbers are weights, 0 where there is no edge (unless all are there)."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise InstanceError(
            f"expected a square matrix of truth values or numbers, found {matrix.dtype} of shape "
            f"{matrix.shape}"
        )
    directed = problem.graph.directed
    there = matrix != 0
    if problem.graph.complete and matrix.dtype.kind != "b":
        there = ~np.eye(len(matrix), dtype=np.bool_)
    if not directed and (matrix != matrix.T).any():
        u, v = np.argwhere(matrix != matrix.T)[0]
        raise InstanceError(
            f"the matrix is {matrix[u, v]} at [{u}, {v}] but {matrix[v, u]} at [{v}, {u}]; "
            f"expected a symmetric one, since {problem.name} is about an undirected graph"
        )
    ends = np.argwhere(there if directed else np.triu(there)).astype(np.int64)
    weights = {} if matrix.dtype.kind == "b" else {WEIGHT: matrix[ends[:, 0], ends[:, 1]]}
    return RawGraph("the matrix", tuple(range(len(matrix))), ends, edge_values=weights)
